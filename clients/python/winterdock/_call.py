"""The parts of a call: its line of the table, its options, its bytes, and when it is sent again. Pure."""

from __future__ import annotations

import io
import os
import random
import threading
from dataclasses import dataclass
from typing import IO, Any, Callable, Dict, Generic, Iterable, Iterator, List, Mapping, NamedTuple, Optional, Tuple
from typing import Literal, TypeVar, Union

from ._errors import ApiError

T = TypeVar("T")

Volume = Literal["workspace", "memory", "tmp"]

#: Called with the bytes transferred so far and the total, None when unknown.
Progress = Callable[[int, Optional[int]], object]

#: Bytes of one piece of an upload or a download.
PIECE = 65_536


class CallLine(NamedTuple):
    """One line of the table of calls, as the route table of the server has it."""

    method: str
    #: With `:name` parameters; a last `*` is the path of a file.
    path: str
    #: `either`: bytes when bytes are given, else JSON.
    body: Optional[Literal["json", "bytes", "either"]]
    query: bool
    answer: Literal["json", "page", "text", "download", "events", "written", "nothing"]


@dataclass(frozen=True)
class CallOptions:
    """What every call may be told."""

    #: Additional headers, such as `X-Request-Id` or `If-Modified-Since`.
    headers: Optional[Mapping[str, str]] = None
    #: `If-Match`: only when the file's `ETag` is this one. It makes a write safe to repeat.
    if_match: Optional[str] = None
    #: `If-None-Match`: only when the file's `ETag` is another; `*`: only when there is none.
    if_none_match: Optional[str] = None
    #: `Idempotency-Key`: the server carries the request out once, and answers it as before when it is sent again. It
    #: makes any call safe to repeat whose body and answer are no streams. A random UUID for each request.
    idempotency_key: Optional[str] = None
    #: Part of a file, in bytes: its first and its last; None for the last one is the rest.
    range: Optional[Tuple[int, Optional[int]]] = None
    #: Called as an upload or a download proceeds.
    on_progress: Optional[Progress] = None
    #: How often to try again what is safe to repeat; 0 never. Default: the client's.
    retries: Optional[int] = None
    #: Seconds without a byte until the call fails with `network`. Default: the client's.
    timeout: Optional[float] = None


NO_OPTIONS = CallOptions()


class Written(NamedTuple):
    """How a file was written."""

    #: Whether the file is new.
    created: bool
    #: Its version now.
    etag: Optional[str]


class FileStat(NamedTuple):
    """A file without its bytes."""

    size: int
    etag: Optional[str]
    content_type: str
    #: Epoch seconds, or None when the server does not send it.
    mtime: Optional[float]


class Page(Generic[T]):
    """One page of a list."""

    def __init__(self, items: List[T], next: Optional[str], count: Optional[str], truncated: bool) -> None:
        self.items = items
        #: The `cursor` of the next page, or None at the end.
        self.next = next
        #: The total, when the list gives one: exact, or a lower bound.
        self.total = None if count is None else int(count.rstrip("+"))
        self.total_is_exact = count is not None and not count.endswith("+")
        #: Whether the list was cut without a further page.
        self.truncated = truncated


class Hold:
    """What ends a stream from outside: the connection that it uses now. Several threads may use it."""

    def __init__(self) -> None:
        self.closed = False
        self._lock = threading.Lock()
        self._abort: Optional[Callable[[], None]] = None

    def take(self, abort: Callable[[], None]) -> None:
        """A connection is used from now on; `abort` ends it."""
        with self._lock:
            self._abort = abort
            if self.closed:
                abort()

    def release(self) -> None:
        """The connection belongs to other calls now."""
        with self._lock:
            self._abort = None

    def close(self) -> None:
        """Ends it."""
        with self._lock:
            self.closed = True
            if self._abort is not None:
                self._abort()


def is_upload(value: object) -> bool:
    """Whether a value is bytes to send, and not what JSON is made of."""
    return value is not None and not isinstance(value, (Mapping, list, tuple, int, float))


def whole_bytes(upload: object) -> Optional[bytes]:
    """The bytes of an upload that is not read piece by piece: these can be sent again."""
    if isinstance(upload, str):
        return upload.encode("utf-8")
    return bytes(upload) if isinstance(upload, (bytes, bytearray, memoryview)) else None


def size_of(upload: object) -> Optional[int]:
    """Length in bytes of what is left of an open file, or None when unknown."""
    if isinstance(upload, io.TextIOBase):
        raise TypeError("A file to upload must be opened in binary mode.")
    try:
        at = upload.tell()  # type: ignore[attr-defined]
        end = upload.seek(0, os.SEEK_END)  # type: ignore[attr-defined]
        upload.seek(at)  # type: ignore[attr-defined]
    except (AttributeError, OSError, ValueError):
        # Not a file, or one that cannot be wound back: a pipe, a socket.
        return None
    return int(end) - int(at)


def pieces_of(upload: Union[bytes, IO[bytes], Iterable[bytes]]) -> Iterator[bytes]:
    """The bytes of an upload, piece by piece. A file is read as it is sent."""
    if isinstance(upload, bytes):
        for at in range(0, len(upload), PIECE):
            yield upload[at : at + PIECE]
    elif hasattr(upload, "read"):
        while True:
            piece = upload.read(PIECE)
            if not piece:
                return
            yield piece
    else:
        yield from upload


def backoff(attempt: int) -> float:
    """Seconds from 0.2 on, doubled each time, with up to half as jitter so that clients do not return all at once."""
    return float(min(0.2 * 2 ** (attempt - 1), 30.0) * (0.5 + random.random() / 2))


def is_repeatable(line: CallLine, options: CallOptions, can_resend: bool) -> bool:
    """Whether a call is idempotent: reads, deletions, writes that name the version they replace, what has a key."""
    if not can_resend:
        return False
    if options.idempotency_key is not None:
        return True
    return line.method in ("GET", "HEAD", "DELETE") or (line.method == "PUT" and options.if_match is not None)


def is_found(line: CallLine, options: CallOptions) -> bool:
    """Whether asking again finds what was done, and does nothing twice."""
    return line.method in ("GET", "HEAD") or options.idempotency_key is not None


def is_undone(error: ApiError) -> bool:
    """Whether the server says that it has done nothing yet and will soon: such a call is safe to repeat."""
    return error.code == "unverified" or (error.code == "not_replicated" and not is_committed(error))


def is_committed(error: ApiError) -> bool:
    """Whether the server says that it did it, and cannot vouch for it yet."""
    problem = error.problem or {}
    return error.code == "not_replicated" and problem.get("committed") == "local"


def wait_for_retry(error: ApiError, attempt: int) -> Optional[float]:
    """Seconds to wait before the next attempt, or None for none."""
    if error.code == "network":
        return backoff(attempt)
    if error.status not in (429, 503) and not is_undone(error):
        return None
    if error.retry_after is None or error.retry_after > 30:
        return None
    return max(error.retry_after, backoff(attempt))


def checked_headers(given: Mapping[str, str]) -> Dict[str, str]:
    """Headers that can be sent, by their names in lower case. Raises `validation` for what would end its line."""
    checked: Dict[str, str] = {}
    for name, value in given.items():
        text = f"{name}{value}"
        if not name or any(sign in text for sign in "\r\n\0") or any(ord(sign) > 255 for sign in text):
            raise ApiError("validation", f"The header {name!r} cannot be sent.", hint="Nothing was sent.")
        checked[name.lower()] = value
    return checked


def keep_alive_seconds(headers: Any) -> float:
    """How long an idle connection is kept, from its last answer: a little less than the server does."""
    for part in str(headers.get("keep-alive", "")).split(","):
        name, _, value = part.strip().partition("=")
        if name.lower() == "timeout" and value.isdigit():
            return max(0.0, float(value) - 2)
    return 3.0
