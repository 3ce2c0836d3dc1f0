"""Connections of the async client: HTTP/1.1 over the streams of asyncio. Knows nothing of calls, keys or retries."""

from __future__ import annotations

import asyncio
import inspect
import io
import re
import socket
import ssl
import time
from contextlib import contextmanager
from email.message import Message
from http.client import HTTPException, parse_headers
from typing import (
    IO,
    AsyncIterable,
    AsyncIterator,
    Awaitable,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Tuple,
    TypeVar,
    Union,
)
from urllib.parse import urlsplit

from .._call import PIECE, Hold, Progress, keep_alive_seconds, pieces_of
from .._errors import BrokenConnection

T = TypeVar("T")

#: How long the addresses of a name are used.
ADDRESS_SECONDS = 30.0

#: Bytes to send. What is read piece by piece can be sent once; the rest may be sent again when that is safe.
AsyncUpload = Union[bytes, bytearray, memoryview, str, IO[bytes], Iterable[bytes], AsyncIterable[bytes]]


async def sleep(seconds: float) -> None:
    """Waits."""
    await asyncio.sleep(seconds)


async def settled(value: Union[T, Awaitable[T]]) -> T:
    """What a callback returned, or what that becomes."""
    if inspect.isawaitable(value):
        return await value
    return value


@contextmanager
def _noting_breaks() -> Iterator[None]:
    try:
        yield
    except asyncio.TimeoutError as error:
        raise BrokenConnection("timed out") from error
    except asyncio.LimitOverrunError as error:
        raise BrokenConnection("The head of the answer is too long") from error
    except (OSError, EOFError, HTTPException, ValueError) as error:
        raise BrokenConnection(str(error)) from error


async def _within(timeout: Optional[float], work: Awaitable[T]) -> T:
    return await (work if timeout is None else asyncio.wait_for(work, timeout))


async def _pieces(upload: AsyncUpload) -> AsyncIterator[bytes]:
    if hasattr(upload, "__aiter__"):
        async for piece in upload:
            yield piece
    else:
        for piece in pieces_of(upload):  # type: ignore[arg-type]
            yield piece


class _Connection:
    """One connection, of one event loop."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer
        self.loop = asyncio.get_running_loop()

    def is_alive(self) -> bool:
        return not (self.writer.is_closing() or self.reader.at_eof() or self.reader.exception() is not None)

    def abort(self) -> None:
        if not self.loop.is_closed():
            self.writer.transport.abort()


class AsyncWire:
    """The connections to one server."""

    def __init__(self, url: str, context: Optional[ssl.SSLContext]) -> None:
        parts = urlsplit(url)
        self._host = parts.hostname or ""
        self._is_secure = parts.scheme == "https"
        self._port = parts.port or (443 if self._is_secure else 80)
        usual = 443 if self._is_secure else 80
        host = f"[{self._host}]" if ":" in self._host else self._host
        self._authority = host if self._port == usual else f"{host}:{self._port}"
        self._context = context
        self._idle: List[Tuple[_Connection, float]] = []
        self._lookup: Optional[asyncio.Future[List[str]]] = None
        self._looked_up = 0.0

    def _idle_here(self) -> Optional[Tuple[_Connection, float]]:
        """Takes the idle connection that was used last. Those of other loops are not touched."""
        loop = asyncio.get_running_loop()
        for at in range(len(self._idle) - 1, -1, -1):
            if self._idle[at][0].loop is loop:
                return self._idle.pop(at)
            if self._idle[at][0].loop.is_closed():
                del self._idle[at]
        return None

    async def _take(self, timeout: Optional[float]) -> _Connection:
        while True:
            found = self._idle_here()
            if found is None:
                break
            connection, until = found
            if time.monotonic() < until and connection.is_alive():
                return connection
            connection.abort()
        with _noting_breaks():
            return await _within(timeout, self._connect())

    async def _addresses(self) -> List[str]:
        """The addresses of the server. To look them up takes a thread: calls that come together share one."""
        loop = asyncio.get_running_loop()
        lookup = self._lookup
        is_ours = lookup is not None and lookup.get_loop() is loop
        if lookup is None or not is_ours or time.monotonic() - self._looked_up > ADDRESS_SECONDS:

            async def look_up() -> List[str]:
                found = await loop.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM)
                return list(dict.fromkeys(str(address[0]) for *_, address in found))

            lookup = self._lookup = asyncio.ensure_future(look_up())
            self._looked_up = time.monotonic()
        try:
            # Who is cancelled leaves the others what they wait for.
            return await asyncio.shield(lookup)
        except OSError:
            self._lookup = None
            raise

    async def _connect(self) -> _Connection:
        if self._is_secure and self._context is None:
            self._context = ssl.create_default_context()
        context = self._context if self._is_secure else None
        name = self._host if self._is_secure else None
        failed: OSError = OSError("The name has no address")
        for address in await self._addresses():
            try:
                return _Connection(
                    *await asyncio.open_connection(
                        address, self._port, ssl=context, server_hostname=name, limit=PIECE
                    )
                )
            except OSError as error:
                failed = error
        self._lookup = None
        raise failed

    def give_back(self, connection: _Connection, seconds: float) -> None:
        """Keeps a connection for the next call."""
        self._idle.append((connection, time.monotonic() + seconds))

    async def request(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: Optional[AsyncUpload] = None,
        *,
        size: Optional[int] = None,
        on_progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
        hold: Optional[Hold] = None,
    ) -> AsyncResponse:
        """Sends a request and reads the head of its answer. `size`: of the body; without it, it goes in chunks."""
        connection = await self._take(timeout)
        if hold is not None:
            hold.take(connection.abort)
        lines = [f"{method} {target} HTTP/1.1", f"host: {self._authority}"]
        lines.extend(f"{name}: {value}" for name, value in headers.items())
        if body is not None:
            lines.append("transfer-encoding: chunked" if size is None else f"content-length: {size}")
        try:
            connection.writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
            head = asyncio.ensure_future(_read_head(connection.reader))
            try:
                is_whole = body is None or await _send_body(connection, head, body, size, on_progress, timeout)
                with _noting_breaks():
                    status, found, version = await _within(timeout, head)
            finally:
                head.cancel()
            return AsyncResponse(self, connection, method, status, found, is_whole and version >= "HTTP/1.1", hold, timeout)
        except BaseException:
            connection.abort()
            raise

    async def aclose(self) -> None:
        """Closes what is idle in this loop."""
        while True:
            found = self._idle_here()
            if found is None:
                return
            found[0].abort()

    def __del__(self) -> None:
        # A client that nobody has any more needs no closing.
        for connection, _ in self._idle:
            if not connection.loop.is_closed():
                connection.loop.call_soon_threadsafe(connection.abort)


async def _read_head(reader: asyncio.StreamReader) -> Tuple[int, Message, str]:
    while True:
        head = await reader.readuntil(b"\r\n\r\n")
        first, _, rest = head.partition(b"\r\n")
        version, _, words = first.decode("latin-1").partition(" ")
        if not version.startswith("HTTP/1.") or not words[:3].isdigit():
            raise HTTPException("The answer is not HTTP")
        # Answers before the answer, as 103, are passed over.
        if int(words[:3]) >= 200:
            return int(words[:3]), parse_headers(io.BytesIO(rest)), version


async def _send_body(
    connection: _Connection,
    head: asyncio.Future[Tuple[int, Message, str]],
    body: AsyncUpload,
    size: Optional[int],
    on_progress: Optional[Progress],
    timeout: Optional[float],
) -> bool:
    """Sends a body; False when the server answered, or hung up, before its end."""
    sent = 0
    async for piece in _pieces(body):
        if not piece:
            continue
        if size is not None and sent + len(piece) > size:
            raise ValueError(f"The upload has more than its {size} bytes.")
        if head.done():
            return False
        connection.writer.write(piece if size is not None else b"%x\r\n%b\r\n" % (len(piece), piece))
        drained = asyncio.ensure_future(connection.writer.drain())
        try:
            done, _ = await asyncio.wait((drained, head), timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            if not done:
                raise BrokenConnection("timed out")
        finally:
            if not drained.done():
                drained.cancel()
        if drained.cancelled() or not drained.done() or drained.exception() is not None:
            # It answered, or it hung up: the answer that says why may lie there already.
            return False
        sent += len(piece)
        if on_progress is not None:
            on_progress(sent, size)
    if size is not None and sent < size:
        raise ValueError(f"The upload ended after {sent} of {size} bytes.")
    if size is None:
        connection.writer.write(b"0\r\n\r\n")
    return True


class AsyncResponse:
    """An answer whose body is read as it comes."""

    def __init__(
        self,
        wire: AsyncWire,
        connection: _Connection,
        method: str,
        status: int,
        headers: Message,
        may_be_kept: bool,
        hold: Optional[Hold],
        timeout: Optional[float],
    ) -> None:
        self.status = status
        self.headers = headers
        self._wire = wire
        self._connection = connection
        self._hold = hold
        self._timeout = timeout
        self._reader = connection.reader
        self._is_done = False
        self._is_chunked = headers.get("transfer-encoding", "").lower().strip() == "chunked"
        #: What is left of the body, or of its chunk; None: until the connection ends.
        self._left: Optional[int] = 0
        length = headers.get("content-length")
        if method == "HEAD" or status in (204, 304):
            self._is_chunked = False
        elif not self._is_chunked:
            self._left = int(length) if length is not None and length.isascii() and length.isdigit() else None
        self._may_be_kept = (
            may_be_kept and self._left is not None and "close" not in headers.get("connection", "").lower()
        )
        if self._left == 0 and not self._is_chunked:
            self._finish()

    def _finish(self) -> None:
        self._is_done = True
        if self._hold is not None:
            self._hold.release()
        if self._may_be_kept:
            self._wire.give_back(self._connection, keep_alive_seconds(self.headers))
        else:
            self._connection.writer.close()

    async def read_some(self, timeout: Optional[float] = None) -> bytes:
        """The next bytes; none at the end. Raises BrokenConnection when it ends too early."""
        if self._is_done:
            return b""
        with _noting_breaks():
            data = await _within(self._timeout if timeout is None else timeout, self._next())
        if not self._is_chunked and (not data or self._left == 0):
            self._finish()
        return data

    async def _next(self) -> bytes:
        if self._left is None:
            return await self._reader.read(PIECE)
        if self._is_chunked and self._left == 0:
            size = (await self._reader.readuntil(b"\r\n")).split(b";")[0].strip()
            if re.fullmatch(rb"[0-9A-Fa-f]{1,15}", size) is None:
                raise HTTPException("A chunk has no size")
            self._left = int(size, 16)
            if self._left == 0:
                # Trailers say nothing here.
                while (await self._reader.readuntil(b"\r\n")) != b"\r\n":
                    pass
                self._finish()
                return b""
        data = await self._reader.read(min(PIECE, self._left))
        if not data:
            raise EOFError("The connection ended within the answer")
        self._left -= len(data)
        if self._is_chunked and self._left == 0:
            await self._reader.readexactly(2)
        return data

    async def read_all(self) -> bytes:
        """The whole body."""
        pieces: List[bytes] = []
        while True:
            piece = await self.read_some()
            if not piece:
                return b"".join(pieces)
            pieces.append(piece)

    def abort(self) -> None:
        """Closes the connection unless the body is read. Several times do no harm."""
        if not self._is_done:
            self._is_done = True
            self._connection.abort()
