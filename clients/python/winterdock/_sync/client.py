"""Printed by `npm run client:calls`. Not to be written by hand.

The client: a method for every operation, and the streams."""

from __future__ import annotations

import base64
import ssl
from email.utils import parsedate_to_datetime
from typing import Any, Generator, Dict, Mapping, Optional, Sequence, cast

from .. import types
from .._call import NO_OPTIONS, CallOptions, FileStat, Hold, Page, Volume
from .._errors import ApiError
from .._table import CALLS
from ..events import (
    ExecBytesAnswer,
    ExecEvent,
    ExecStreamInput,
    LogEvent,
    RunEvent,
    WorkbookEvent,
    exec_body,
    exec_event,
)
from .calls import Calls
from .pages import Pages
from .streams import Stream, call_events, follow_events, follow_logs, follow_run
from .transport import Call, Key, Transport


class Client(Calls):
    """Every operation of a server, by its name in the OpenAPI document in snake case.

    Without `url` and `key` it takes `WINTERDOCK_URL` and `WINTERDOCK_KEY` of the environment, else this machine's
    port 3000; an empty key is none. `retries`: of what is safe to repeat, 2 without it. `timeout`: seconds without a
    byte until a call fails; without it, it waits. Raises ValueError when the address is none; calls raise ApiError.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        key: Optional[Key] = None,
        *,
        headers: Optional[Mapping[str, str]] = None,
        retries: Optional[int] = None,
        timeout: Optional[float] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        self._transport = Transport(url, key, headers, retries, timeout, ssl_context)

    @property
    def url(self) -> str:
        """The server's address, without a trailing slash."""
        return self._transport.url

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes connections that nothing uses. The client can be used again."""
        self._transport.close()

    def _answer(
        self,
        name: str,
        parameters: Sequence[str],
        body: object,
        query: object,
        options: Optional[CallOptions],
    ) -> Any:
        asked = cast("Optional[Mapping[str, object]]", query)
        return self._transport.answer(
            Call(CALLS[name], parameters, options or NO_OPTIONS, query=asked, body=body)
        )

    def _pages(
        self,
        name: str,
        parameters: Sequence[str],
        body: object,
        query: object,
        options: Optional[CallOptions],
    ) -> Pages[Any]:
        asked = dict(cast("Optional[Mapping[str, object]]", query) or {})

        def read(cursor: Optional[str]) -> Page[Any]:
            at = asked if cursor is None else {**asked, "cursor": cursor}
            return cast("Page[Any]", self._answer(name, parameters, body, at, options))

        return Pages(read)

    def exec_bytes(
        self, id: str, input: ExecStreamInput, *, options: Optional[CallOptions] = None
    ) -> ExecBytesAnswer:
        """Runs a script to its end, with bytes in and out. Never sent again."""
        body = {**exec_body(input), "encoding": "base64"}
        answer: Dict[str, Any] = self._answer("exec_in_instance", (id,), body, None, options)
        for stream in ("stdout", "stderr"):
            answer.pop(f"{stream}_encoding", None)
            answer[stream] = base64.b64decode(answer[stream])
        return cast("ExecBytesAnswer", answer)

    def exec_stream(
        self, id: str, input: ExecStreamInput, *, options: Optional[CallOptions] = None
    ) -> Stream[ExecEvent]:
        """Runs a script and yields its events as they come; the last one is `exit`. Closing it stops the script."""

        def events(hold: Hold) -> Generator[ExecEvent, None, None]:
            found = call_events(self._transport, "exec_in_instance", (id,), exec_body(input), options, "exit", hold)
            try:
                for event, value in found:
                    yield exec_event(event, value)
            finally:
                found.close()

        return Stream(events)

    def _workbook_stream(
        self, name: str, parameters: Sequence[str], body: object, options: Optional[CallOptions]
    ) -> Stream[WorkbookEvent]:
        def events(hold: Hold) -> Generator[WorkbookEvent, None, None]:
            found = call_events(self._transport, name, parameters, body or {}, options, "result", hold)
            try:
                for event, value in found:
                    yield {"event": event, **value}
            finally:
                found.close()

        return Stream(events)

    def call_component_stream(
        self,
        id: str,
        component: str,
        input: Optional[types.ComponentCallInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> Stream[WorkbookEvent]:
        """Calls a component and yields what it does and logs; the last event is `result`. Closing it stops the call."""
        return self._workbook_stream("call_component", (id, component), input, options)

    def call_workflow_stream(
        self,
        id: str,
        input: Optional[types.WorkflowCallInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> Stream[WorkbookEvent]:
        """Runs the workflow and yields what its components do; the last event is `result`. Closing it stops it."""
        return self._workbook_stream("call_workflow", (id,), input, options)

    def stream_events(
        self, query: Optional[types.StreamQuery] = None, *, options: Optional[CallOptions] = None
    ) -> Stream[types.Event]:
        """Yields every line of the ledger that fits, from `last_event_id` on or else from now; reconnects itself."""
        return Stream(lambda hold: follow_events(self._transport, query, options, hold))

    def follow_run(
        self, id: str, run: str, *, offset: int = 0, options: Optional[CallOptions] = None
    ) -> Stream[RunEvent]:
        """Yields the output of a run from `offset` on, and at last `exit`; connects again at the next byte.

        Closing it does not stop the run.
        """
        return Stream(lambda hold: follow_run(self._transport, (id, run), offset, options, hold))

    def follow_instance_logs(
        self, id: str, query: Optional[types.LogsQuery] = None, *, options: Optional[CallOptions] = None
    ) -> Stream[LogEvent]:
        """Yields the newest lines that a sandbox printed, the oldest of them first, and then those that it prints.

        A `gap` is where lines are missing. Connects again after the last line. With `cursor` it begins after that line.
        """
        return Stream(
            lambda hold: follow_logs(self._transport, "list_instance_logs", id, query, options, hold)
        )

    def follow_tenant_logs(
        self, tenant: str, query: Optional[types.LogsQuery] = None, *, options: Optional[CallOptions] = None
    ) -> Stream[LogEvent]:
        """As `follow_instance_logs`, of all sandboxes of a tenant together."""
        return Stream(
            lambda hold: follow_logs(self._transport, "list_tenant_logs", tenant, query, options, hold)
        )

    def stat_file(
        self, id: str, volume: Volume, path: str, *, options: Optional[CallOptions] = None
    ) -> FileStat:
        """Looks at a file without its bytes. Raises `not_found` when there is none."""
        line = CALLS["get_file"]._replace(method="HEAD")
        try:
            response = self._transport.send(Call(line, (id, volume, path), options or NO_OPTIONS))
        except ApiError as error:
            if error.code == "unexpected" and error.status >= 400:
                # The answer to HEAD has no body that says why: that to GET has one.
                (self.get_file(id, volume, path, options=options)).close()
            raise
        response.abort()
        headers = response.headers
        mtime: Optional[float]
        try:
            mtime = parsedate_to_datetime(headers.get("last-modified", "")).timestamp()
        except (TypeError, ValueError):
            # Not sent, or no date.
            mtime = None
        return FileStat(
            int(headers.get("content-length", "0")),
            headers.get("etag"),
            headers.get("content-type", "application/octet-stream"),
            mtime,
        )
