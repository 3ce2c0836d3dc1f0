"""Connections of the sync client, over `http.client`. Knows nothing of calls, keys or retries."""

from __future__ import annotations

import select
import socket
import ssl
import threading
import time
from contextlib import contextmanager
from email.message import Message
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import IO, Iterable, Iterator, List, Mapping, Optional, Tuple, TypeVar, Union
from urllib.parse import urlsplit

from .._call import PIECE, Hold, Progress, keep_alive_seconds, pieces_of
from .._errors import BrokenConnection

T = TypeVar("T")

#: Bytes to send. What is read piece by piece can be sent once; the rest may be sent again when that is safe.
Upload = Union[bytes, bytearray, memoryview, str, IO[bytes], Iterable[bytes]]


def sleep(seconds: float) -> None:
    """Waits."""
    time.sleep(seconds)


def settled(value: T) -> T:
    """What a callback returned."""
    return value


@contextmanager
def _noting_breaks() -> Iterator[None]:
    try:
        yield
    except (OSError, HTTPException, ValueError) as error:
        # ValueError: the connection was closed from outside while it was read.
        raise BrokenConnection(str(error)) from error


def _is_readable(sock: socket.socket) -> bool:
    """Whether there is something to read, which may be the end: of an idle connection, that it is dead."""
    if hasattr(select, "poll"):
        poll = select.poll()
        poll.register(sock, select.POLLIN)
        return bool(poll.poll(0))
    return bool(select.select([sock], [], [], 0)[0])


class Wire:
    """The connections to one server. Several threads may use it."""

    def __init__(self, url: str, context: Optional[ssl.SSLContext]) -> None:
        parts = urlsplit(url)
        self._host = parts.hostname or ""
        self._port = parts.port
        self._is_secure = parts.scheme == "https"
        self._context = context
        self._lock = threading.Lock()
        self._idle: List[Tuple[HTTPConnection, float]] = []

    def _take(self, timeout: Optional[float]) -> HTTPConnection:
        while True:
            with self._lock:
                if not self._idle:
                    break
                connection, until = self._idle.pop()
            if time.monotonic() < until and connection.sock is not None and not _is_readable(connection.sock):
                connection.sock.settimeout(timeout)
                return connection
            connection.close()
        made: HTTPConnection
        if self._is_secure:
            if self._context is None:
                self._context = ssl.create_default_context()
            made = HTTPSConnection(self._host, self._port, timeout=timeout, context=self._context)
        else:
            made = HTTPConnection(self._host, self._port, timeout=timeout)
        with _noting_breaks():
            made.connect()
        return made

    def give_back(self, connection: HTTPConnection, seconds: float) -> None:
        """Keeps a connection for the next call."""
        with self._lock:
            self._idle.append((connection, time.monotonic() + seconds))

    def request(
        self,
        method: str,
        target: str,
        headers: Mapping[str, str],
        body: Optional[Upload] = None,
        *,
        size: Optional[int] = None,
        on_progress: Optional[Progress] = None,
        timeout: Optional[float] = None,
        hold: Optional[Hold] = None,
    ) -> Response:
        """Sends a request and reads the head of its answer. `size`: of the body; without it, it goes in chunks."""
        connection = self._take(timeout)
        sock = connection.sock
        if hold is not None:
            hold.take(lambda: _shut_down(sock))
        try:
            with _noting_breaks():
                connection.putrequest(method, target, skip_accept_encoding=True)
                for name, value in headers.items():
                    connection.putheader(name, value.encode("latin-1"))
                if body is not None:
                    connection.putheader(*(("Transfer-Encoding", "chunked") if size is None else ("Content-Length", str(size))))
                connection.endheaders()
            is_whole = body is None or self._send_body(connection, sock, body, size, on_progress)
            with _noting_breaks():
                return Response(self, connection, sock, connection.getresponse(), is_whole, hold)
        except BaseException:
            _abort(connection, sock)
            raise

    def _send_body(
        self,
        connection: HTTPConnection,
        sock: socket.socket,
        body: Upload,
        size: Optional[int],
        on_progress: Optional[Progress],
    ) -> bool:
        """Sends a body; False when the server answered, or hung up, before its end."""
        sent = 0
        for piece in pieces_of(body):  # type: ignore[arg-type]
            if not piece:
                continue
            if size is not None and sent + len(piece) > size:
                raise ValueError(f"The upload has more than its {size} bytes.")
            try:
                # TLS has something to read that is no answer: tickets of the session.
                if not self._is_secure and _is_readable(sock):
                    return False
                connection.send(piece if size is not None else b"%x\r\n%b\r\n" % (len(piece), piece))
            except (BrokenPipeError, ConnectionResetError):
                # The answer that says why may lie there already.
                return False
            except OSError as error:
                raise BrokenConnection(str(error)) from error
            sent += len(piece)
            if on_progress is not None:
                on_progress(sent, size)
        if size is not None and sent < size:
            raise ValueError(f"The upload ended after {sent} of {size} bytes.")
        if size is None:
            with _noting_breaks():
                connection.send(b"0\r\n\r\n")
        return True

    def close(self) -> None:
        """Closes what is idle."""
        with self._lock:
            idle, self._idle = self._idle, []
        for connection, _ in idle:
            connection.close()

    def __del__(self) -> None:
        # A client that nobody has any more needs no closing.
        for connection, _ in self._idle:
            connection.close()


def _shut_down(sock: Optional[socket.socket]) -> None:
    """Ends a connection at once, also one that another thread reads: that one then closes it."""
    if sock is not None:
        try:
            # Of the plain socket: that of TLS would take from the reading thread what it reads with.
            socket.socket.shutdown(sock, socket.SHUT_RDWR)
        except OSError:
            # It is closed already.
            pass


def _abort(connection: HTTPConnection, sock: Optional[socket.socket]) -> None:
    """Ends and closes a connection."""
    _shut_down(sock)
    connection.close()


class Response:
    """An answer whose body is read as it comes."""

    def __init__(
        self,
        wire: Wire,
        connection: HTTPConnection,
        sock: socket.socket,
        response: HTTPResponse,
        is_whole: bool,
        hold: Optional[Hold],
    ) -> None:
        self.status = response.status
        self.headers: Message = response.headers
        self._wire = wire
        self._connection = connection
        self._sock = sock
        self._hold = hold
        self._response = response
        self._left = response.length
        self._may_be_kept = is_whole and not response.will_close
        self._is_done = False
        if self._left == 0:
            response.read()
            self._finish()

    def _finish(self) -> None:
        self._is_done = True
        if self._hold is not None:
            self._hold.release()
        if self._may_be_kept:
            self._wire.give_back(self._connection, keep_alive_seconds(self.headers))
        else:
            self._connection.close()

    def read_some(self, timeout: Optional[float] = None) -> bytes:
        """The next bytes; none at the end. Raises BrokenConnection when it ends too early."""
        if self._is_done:
            return b""
        with _noting_breaks():
            if timeout is not None:
                self._sock.settimeout(timeout)
            if self._left is None:
                data = self._response.read1(PIECE)
            else:
                data = self._response.read(min(PIECE, self._left))
                self._left -= len(data)
        if self._left is not None and not data:
            self.abort()
            raise BrokenConnection("The connection ended within the answer")
        if not data or self._left == 0:
            self._finish()
        return data

    def read_all(self) -> bytes:
        """The whole body."""
        pieces: List[bytes] = []
        while True:
            piece = self.read_some()
            if not piece:
                return b"".join(pieces)
            pieces.append(piece)

    def abort(self) -> None:
        """Closes the connection unless the body is read. Several times do no harm."""
        if not self._is_done:
            self._is_done = True
            _abort(self._connection, self._sock)
            self._response.close()
