"""For tests: the server that the tests are started with."""

import itertools
import os
import secrets

URL = os.environ["WINTERDOCK_URL"]
#: A key of the tenant acme.
KEY = os.environ["WINTERDOCK_KEY"]
ADMIN_KEY = os.environ["WINTERDOCK_ADMIN_KEY"]
#: Largest file that the server takes, in bytes.
MAX_FILE = int(os.environ["WINTERDOCK_MAX_FILE"])

ENDLESS = "echo begun; while true; do sleep 0.05; done; echo never > ended"

_counter = itertools.count()
_run = secrets.token_hex(3)


def new_id() -> str:
    """An id that no other test has."""
    return f"py-{_run}-{next(_counter)}"
