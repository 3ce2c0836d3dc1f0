"""`box.files`: files by the paths that the sandbox's shell has."""

from __future__ import annotations

import builtins
from typing import Any, Literal, Optional, Union, cast, overload

from .._call import CallOptions, Written
from .._errors import ApiError
from .._results import HOME, FileEntry, WatchedChange, given, volume_path_of
from .client import AsyncClient
from .download import AsyncDownload
from .streams import AsyncStream
from .watch import watch_folder
from .wire import AsyncUpload

#: A page of a folder, as large as the server gives it.
PAGE = 500


class AsyncSandboxFiles:
    """Paths are those of the shell: `/workspace/a`, `/memory/a`, `/tmp/a`, or relative to `/workspace`.

    Reading wakes nothing; writing wakes a sleeping sandbox, and is on disk when it is answered.
    """

    def __init__(self, client: AsyncClient, sandbox: str) -> None:
        self._client = client
        self._sandbox = sandbox

    @overload
    async def read(
        self, path: str, *, format: Literal["text"] = "text", options: Optional[CallOptions] = None
    ) -> str: ...

    @overload
    async def read(self, path: str, *, format: Literal["bytes"], options: Optional[CallOptions] = None) -> bytes: ...

    @overload
    async def read(
        self, path: str, *, format: Literal["stream"], options: Optional[CallOptions] = None
    ) -> AsyncDownload: ...

    async def read(
        self,
        path: str,
        *,
        format: Literal["text", "bytes", "stream"] = "text",
        options: Optional[CallOptions] = None,
    ) -> Union[str, bytes, AsyncDownload]:
        """A file's text, or with `format` its bytes, or them as they come. Raises `not_found`."""
        volume, inside = volume_path_of(path)
        file = await self._client.get_file(self._sandbox, volume, inside, options=options)
        if format == "stream":
            return file
        return await file.read() if format == "bytes" else await file.text()

    async def write(self, path: str, content: AsyncUpload, *, options: Optional[CallOptions] = None) -> Written:
        """Writes a file, and makes the folders above it. `if_match` and `if_none_match` make it conditional."""
        volume, inside = volume_path_of(path)
        return await self._client.put_file(self._sandbox, volume, inside, content, options=options)

    async def list(self, path: str = HOME, *, options: Optional[CallOptions] = None) -> builtins.list[FileEntry]:
        """What lies directly in a folder, folders first. Raises `not_found`."""
        folder = volume_path_of(path)
        entries: builtins.list[FileEntry] = []
        items = self._client.list_folder(
            self._sandbox, folder.volume, {"path": folder.path, "limit": PAGE}, options=options
        )
        async for item in items:
            entries.append(cast("FileEntry", {**item, "path": folder.below(item["name"]).shell()}))
        return entries

    async def exists(self, path: str, *, options: Optional[CallOptions] = None) -> bool:
        """Whether a file, folder or link is there."""
        volume, inside = volume_path_of(path)
        if inside == "/":
            return True
        try:
            await self._client.stat_file(self._sandbox, volume, inside, options=options)
            return True
        except ApiError as error:
            if error.code not in ("not_found", "conflict"):
                raise
        try:
            await self._client.list_folder(self._sandbox, volume, {"path": inside, "limit": 1}, options=options)
            return True
        except ApiError as error:
            # What is no file, and cannot be listed for being no folder, is a link.
            if error.code == "conflict":
                return True
            if error.code != "not_found":
                raise
        # A sandbox that is not there is `not_found` too.
        await self._client.get_instance(self._sandbox, options=options)
        return False

    async def make_dir(self, path: str, *, options: Optional[CallOptions] = None) -> None:
        """Makes a folder and those above it. Raises `conflict` when something is there."""
        volume, inside = volume_path_of(path)
        await self._client.make_folder(self._sandbox, volume, {"path": inside}, options=options)

    async def rename(self, source: str, target: str, *, options: Optional[CallOptions] = None) -> None:
        """Moves a file or folder within its volume. Raises `conflict` when something is at `target`."""
        old, new = volume_path_of(source), volume_path_of(target)
        if old.volume != new.volume:
            raise ApiError(
                "validation",
                f'"{source}" and "{target}" are in two volumes.',
                hint="The shell's mv moves between them.",
            )
        await self._client.move_file(self._sandbox, old.volume, {"from": old.path, "to": new.path}, options=options)

    async def remove(self, path: str, *, recursive: bool = False, options: Optional[CallOptions] = None) -> None:
        """Removes a file, an empty folder, or with `recursive` a folder with all in it. Raises `not_found`."""
        volume, inside = volume_path_of(path)
        try:
            if inside != "/":
                return await self._client.delete_file(self._sandbox, volume, inside, options=options)
        except ApiError as error:
            if error.code not in ("not_found", "conflict"):
                raise
        query: Any = given(path=inside, recursive="true" if recursive else None)
        await self._client.delete_folder(self._sandbox, volume, query, options=options)

    async def watch(
        self, path: str = HOME, *, interval: float = 1.0, options: Optional[CallOptions] = None
    ) -> AsyncStream[WatchedChange]:
        """Tells of each file at and below `path` that is created, changed or removed.

        It watches when this returns: every later change is told, those of a moment together. It looks every
        `interval` seconds; what comes and goes between two looks is not seen. `/memory` is refused.
        """
        return await watch_folder(self._client, self._sandbox, volume_path_of(path), interval, options)
