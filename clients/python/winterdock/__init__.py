"""Winterdock from Python: sandboxes in your hand, and every operation of the server, sync and async.

    from winterdock import Sandbox

    with Sandbox.create() as box:
        print(box.commands.run("echo hello").stdout)
"""

from . import events, types
from ._async.client import AsyncClient
from ._async.download import AsyncDownload
from ._async.pages import AsyncPages
from ._async.runs import AsyncBackgroundRun
from ._async.sandbox import AsyncSandbox
from ._async.streams import AsyncStream
from ._call import CallOptions, FileStat, Page, Volume, Written
from ._errors import ApiError
from ._results import BackgroundResult, CommandResult, FileEntry, WatchedChange
from ._sync.client import Client
from ._sync.download import Download
from ._sync.pages import Pages
from ._sync.runs import BackgroundRun
from ._sync.sandbox import Sandbox
from ._sync.streams import Stream
from ._version import VERSION as __version__

__all__ = [
    "ApiError",
    "AsyncBackgroundRun",
    "AsyncClient",
    "AsyncDownload",
    "AsyncPages",
    "AsyncSandbox",
    "AsyncStream",
    "BackgroundResult",
    "BackgroundRun",
    "CallOptions",
    "Client",
    "CommandResult",
    "Download",
    "FileEntry",
    "FileStat",
    "Page",
    "Pages",
    "Sandbox",
    "Stream",
    "Volume",
    "WatchedChange",
    "Written",
    "__version__",
    "events",
    "types",
]
