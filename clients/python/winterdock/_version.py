"""The version of this package: that of the server that it is made with."""

VERSION = "0.1.0"
