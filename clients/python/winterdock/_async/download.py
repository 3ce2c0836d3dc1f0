"""The bytes of an answer, as they come or at once."""

from __future__ import annotations

import re
from typing import AsyncIterator, List, Optional
from urllib.parse import unquote

from .._call import CallOptions
from .._errors import BrokenConnection, network_error
from .wire import AsyncResponse


def _filename_of(disposition: str) -> Optional[str]:
    extended = re.search(r"filename\*=UTF-8''([^;]+)", disposition, re.IGNORECASE)
    if extended is not None:
        return unquote(extended[1])
    plain = re.search(r'filename="?([^";]+)"?', disposition, re.IGNORECASE)
    return None if plain is None else plain[1]


class AsyncDownload:
    """An answer that is bytes. They can be read once; what is not read is closed, best by leaving a `with`."""

    def __init__(self, url: str, response: AsyncResponse, options: CallOptions) -> None:
        #: 200, 206 for a range, 304 (without bytes) when `if_none_match` names the current version.
        self.status = response.status
        self.headers = response.headers
        self.content_type: str = response.headers.get("content-type", "application/octet-stream")
        length = response.headers.get("content-length")
        #: Length in bytes, when the server sends it.
        self.size: Optional[int] = None if length is None else int(length)
        self.etag: Optional[str] = response.headers.get("etag")
        #: The name that the server gives it.
        self.filename = _filename_of(response.headers.get("content-disposition", ""))
        self._url = url
        self._response = response
        self._options = options
        self._received = 0

    async def __aenter__(self) -> AsyncDownload:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    def __aiter__(self) -> AsyncIterator[bytes]:
        return self

    async def __anext__(self) -> bytes:
        """The next bytes. Fails with `network` when the connection breaks, never ends early."""
        try:
            piece = await self._response.read_some()
        except BaseException as error:
            self._response.abort()
            if isinstance(error, BrokenConnection):
                raise network_error(self._url, error) from error.__cause__
            raise
        if not piece:
            raise StopAsyncIteration
        self._received += len(piece)
        if self._options.on_progress is not None:
            self._options.on_progress(self._received, self.size)
        return piece

    async def read(self) -> bytes:
        """All bytes, in memory."""
        pieces: List[bytes] = []
        async for piece in self:
            pieces.append(piece)
        return b"".join(pieces)

    async def text(self) -> str:
        """All bytes as UTF-8; what is none becomes U+FFFD."""
        return (await self.read()).decode("utf-8", "replace")

    async def aclose(self) -> None:
        """Closes the connection, unless everything was read."""
        self._response.abort()
