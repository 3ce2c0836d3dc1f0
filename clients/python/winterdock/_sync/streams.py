"""Printed by `npm run client:calls`. Not to be written by hand.

Answers that come while something runs: scripts, components, runs and the ledger."""

from __future__ import annotations

import dataclasses
import json
import random
from typing import (
    Any,
    Generator,
    Iterator,
    Callable,
    Dict,
    Generic,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    TypeVar,
)

from .. import types
from .._call import NO_OPTIONS, CallOptions, Hold, backoff
from .._errors import ApiError, BrokenConnection, network_error, problem_error
from .._server_sent import ServerSent, ServerSentParser
from .._table import CALLS
from ..events import LogEvent, RunEvent, run_event
from .transport import Call, Transport
from .wire import Response, sleep

T = TypeVar("T")

#: The server sends a beat every 15 s: a connection silent for longer than this is dead.
SILENCE_SECONDS = 45.0
EVENTS = "text/event-stream"


class Stream(Generic[T]):
    """Yields events as they come. Closing it, or leaving its `with`, closes the connection."""

    def __init__(self, make: Callable[[Hold], Generator[T, None, None]]) -> None:
        self._hold = Hold()
        self._events = make(self._hold)

    def __enter__(self) -> Stream[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[T]:
        return self

    def __next__(self) -> T:
        try:
            return self._events.__next__()
        except ApiError:
            if self._hold.closed:
                raise StopIteration from None
            raise

    def close(self) -> None:
        """Ends it; also while another task or thread waits for its next event, which then ends too."""
        self._hold.close()
        try:
            self._events.close()
        except (RuntimeError, ValueError):
            # Another one is within it, and leaves it now that the connection is closed.
            pass


def _server_sent(
    response: Response, parser: ServerSentParser, silence: Optional[float] = None
) -> Generator[ServerSent, None, None]:
    while True:
        data = response.read_some(silence)
        if not data:
            return
        for sent in parser.feed(data):
            yield sent


def _rest_of(response: Response) -> None:
    """Reads the end of a stream after its last event, so that the connection can be used again."""
    try:
        while response.read_some(1.0):
            pass
    except BrokenConnection:
        # The events are whole; the connection is closed below.
        pass


def call_events(
    transport: Transport,
    name: str,
    parameters: Sequence[str],
    body: object,
    options: Optional[CallOptions],
    last: str,
    hold: Hold,
) -> Generator[Tuple[str, Dict[str, Any]], None, None]:
    """Sends a call and yields its events as they come; `last` is the name of the last one.

    Closing it closes the connection, which stops the call. A lost connection is `network`, never an early end; it is
    never sent again.
    """
    call = Call(CALLS[name], parameters, options or NO_OPTIONS, body=body, accept=EVENTS, hold=hold)
    response = transport.send(call)
    try:
        for event, data, _ in _server_sent(response, ServerSentParser()):
            value = json.loads(data)
            if event == "error":
                raise problem_error(value)
            if event == last:
                _rest_of(response)
            yield event, value
            if event == last:
                return
    except BrokenConnection as error:
        raise network_error(transport.url, error) from error.__cause__
    finally:
        response.abort()
    raise ApiError(
        "network",
        "The connection ended before the command did.",
        hint="What ran until then is kept. Look at the files before running it again.",
    )


def _connections(
    transport: Transport,
    call: Call,
    last_id: Callable[[], Optional[int]],
    parser_of: Callable[[], ServerSentParser],
    retry_of: Callable[[int], float],
) -> Generator[ServerSent, None, None]:
    """The events of one connection after the other, each from the last id on, until it is closed."""
    is_connected = False
    failures = 0
    while True:
        last = last_id()
        headers = dict(call.options.headers or {})
        if last is not None:
            headers["last-event-id"] = str(last)
        options = dataclasses.replace(
            call.options, headers=headers, retries=0 if is_connected else call.options.retries
        )
        lost: Optional[ApiError] = None
        try:
            response = transport.send(dataclasses.replace(call, options=options))
            is_connected = True
            failures = 0
            try:
                for sent in _server_sent(response, parser_of(), SILENCE_SECONDS):
                    if sent.event == "error":
                        raise problem_error(json.loads(sent.data))
                    yield sent
            except BrokenConnection as error:
                raise network_error(transport.url, error) from error.__cause__
            finally:
                response.abort()
        except ApiError as error:
            passes = error.code == "network" or error.status == 429 or error.status >= 500
            if not is_connected or not passes or (call.hold is not None and call.hold.closed):
                raise
            lost = error
        failures += 1
        sleep(max(retry_of(failures), (lost.retry_after or 0.0) if lost is not None else 0.0))


def follow_run(
    transport: Transport,
    parameters: Tuple[str, str],
    offset: int,
    options: Optional[CallOptions],
    hold: Hold,
) -> Generator[RunEvent, None, None]:
    """What a run wrote and writes, from `offset` on, without a gap or a repeat that it does not tell, to its end."""
    at: List[int] = [offset]
    call = Call(CALLS["get_run_output"], parameters, options or NO_OPTIONS, accept=EVENTS, hold=hold)
    connections = _connections(
        transport, call, lambda: at[0], ServerSentParser, lambda failures: backoff(failures + 1)
    )
    try:
        for event, data, number in connections:
            at[0] = int(number)
            found = run_event(event, json.loads(data), at[0])
            if found is not None:
                yield found
            if event == "exit":
                return
    finally:
        connections.close()


def follow_logs(
    transport: Transport,
    name: str,
    of: str,
    query: Optional[Mapping[str, Any]],
    options: Optional[CallOptions],
    hold: Hold,
) -> Generator[LogEvent, None, None]:
    """The newest lines that fit, then those that are printed, without a repeat, and a gap where some are missing."""
    fitting = dict(query or {})
    start = fitting.pop("cursor", None)
    last: List[Optional[int]] = [None if start is None else int(start)]
    begun: List[bool] = [False]

    def last_id() -> Optional[int]:
        if not begun[0]:
            begun[0] = True
            return last[0]
        # What was missed meanwhile: the most that the server gives.
        fitting["limit"] = 1000
        return last[0] or 0

    call = Call(CALLS[name], (of,), options or NO_OPTIONS, query=fitting, accept=EVENTS, hold=hold)
    connections = _connections(
        transport, call, last_id, ServerSentParser, lambda failures: backoff(failures + 1)
    )
    try:
        for event, data, _ in connections:
            value = json.loads(data)
            if event == "gap":
                yield {"event": "gap", "dropped": value["dropped"]}
            if event != "line" or (last[0] is not None and value["seq"] <= last[0]):
                continue
            last[0] = value["seq"]
            yield {"event": "line", "line": value}
    finally:
        connections.close()


def follow_events(
    transport: Transport,
    query: Optional[Mapping[str, Any]],
    options: Optional[CallOptions],
    hold: Hold,
) -> Generator[types.Event, None, None]:
    """Every line of the ledger that fits, from `last_event_id` on or else from now, without a gap or a repeat."""
    given = options or NO_OPTIONS
    fitting = dict(query or {})
    start = fitting.pop("last_event_id", None)
    if start is None:
        # The newest line, so that a connection which breaks before its first line misses none.
        newest = Call(CALLS["list_events"], (), given, query={"limit": 1})
        items: List[types.Event] = (transport.answer(newest)).items
        start = items[0]["seq"] if items else 0
    at: List[int] = [int(start)]
    parser: List[ServerSentParser] = [ServerSentParser()]

    def renewed() -> ServerSentParser:
        retry = parser[0].retry
        parser[0] = ServerSentParser()
        parser[0].retry = retry
        return parser[0]

    def wait(failures: int) -> float:
        retry = 2.0 if parser[0].retry is None else parser[0].retry
        return retry * random.random() if failures == 1 else backoff(failures + 2)

    call = Call(CALLS["stream_events"], (), given, query=fitting, hold=hold)
    connections = _connections(transport, call, lambda: at[0], renewed, wait)
    try:
        for event, data, _ in connections:
            if event != "message":
                continue
            line: types.Event = json.loads(data)
            if line["seq"] <= at[0]:
                continue
            at[0] = line["seq"]
            yield line
    finally:
        connections.close()
