"""Printed by `npm run client:calls`. Not to be written by hand.

Watches a folder by looking at it again and again.

Looking wakes nothing and is no activity, so a sandbox that is watched falls asleep as any other, and is watched on
while it sleeps.
"""

from __future__ import annotations

import time
from typing import Generator, Dict, Iterator, NamedTuple, Optional

from .._call import CallOptions, Hold
from .._errors import ApiError
from .._results import VolumePath, WatchedChange
from .client import Client
from .streams import Stream
from .wire import sleep

#: Largest page of a listing.
PAGE = 500
#: So many seconds after a second was first seen, nothing is written in it any more.
SECOND_IS_OVER = 2.0
#: Most files of the newest second that are asked for their version at one look.
MOST_ASKED = 64


class Seen(NamedTuple):
    """A file at a look."""

    size: int
    mtime: float
    #: Its version; None when its time alone tells.
    etag: Optional[str]


class FolderLook:
    """The files at and below a path as they are at one moment.

    Times have whole seconds: files of the newest second are asked for their version too, until a look after it.
    """

    def __init__(self, client: Client, sandbox: str, place: VolumePath, options: Optional[CallOptions]) -> None:
        self._client = client
        self._sandbox = sandbox
        self._place = place
        self._options = options
        self._newest = -1.0
        self._newest_since = 0.0
        self._is_settled = False

    def look(self) -> Dict[str, Seen]:
        volume, top = self._place
        files: Dict[str, Seen] = {}
        listed = self._client.list_files(
            self._sandbox, volume, {"prefix": top, "limit": PAGE}, options=self._options
        )
        for file in listed:
            path = file["path"]
            if top == "/" or path == top or path.startswith(f"{top}/"):
                files[path] = Seen(file["size"], file["mtime"], None)
        newest = max((seen.mtime for seen in files.values()), default=-1.0)
        asked_from = newest if self._is_settled else min(newest, self._newest)
        if newest != self._newest:
            self._newest = newest
            self._newest_since = time.monotonic()
            self._is_settled = False
        if not self._is_settled:
            asked = [path for path, seen in files.items() if seen.mtime >= asked_from]
            for path in asked[:MOST_ASKED]:
                files[path] = files[path]._replace(etag=self._etag(path))
        self._is_settled = time.monotonic() - self._newest_since >= SECOND_IS_OVER
        return files

    def _etag(self, path: str) -> Optional[str]:
        try:
            stat = self._client.stat_file(self._sandbox, self._place.volume, path, options=self._options)
        except ApiError as error:
            # It went since the listing: the next look tells.
            if error.status == 404:
                return None
            raise
        return stat.etag


def _is_changed(before: Seen, now: Seen) -> bool:
    if (before.size, before.mtime) != (now.size, now.mtime):
        return True
    return before.etag is not None and now.etag is not None and before.etag != now.etag


def _changes(volume_path: VolumePath, before: Dict[str, Seen], now: Dict[str, Seen]) -> Iterator[WatchedChange]:
    for path in sorted({*before, *now}):
        shown = VolumePath(volume_path.volume, path).shell()
        old, seen = before.get(path), now.get(path)
        if seen is None:
            yield {"type": "removed", "path": shown, "size": None}
        elif old is None:
            yield {"type": "created", "path": shown, "size": seen.size}
        elif _is_changed(old, seen):
            yield {"type": "changed", "path": shown, "size": seen.size}


def watch_folder(
    client: Client, sandbox: str, folder: VolumePath, interval: float, options: Optional[CallOptions]
) -> Stream[WatchedChange]:
    """Begins to watch: returns when the first look was had, so that every later change is told."""
    if folder.volume == "memory":
        raise ApiError(
            "validation",
            "What is below /memory cannot be watched.",
            hint="Each read of it is a line of the ledger: list it when you need to.",
        )
    looking = FolderLook(client, sandbox, folder, options)
    first = looking.look()

    def changes(hold: Hold) -> Generator[WatchedChange, None, None]:
        before = first
        while not hold.closed:
            sleep(interval)
            now = looking.look()
            for change in _changes(folder, before, now):
                yield change
            before = now

    return Stream(changes)
