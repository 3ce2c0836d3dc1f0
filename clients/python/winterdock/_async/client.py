"""The client: a method for every operation, and the streams."""

from __future__ import annotations

import base64
import ssl
from email.utils import parsedate_to_datetime
from typing import Any, AsyncGenerator, Dict, Mapping, Optional, Sequence, cast

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
from .calls import AsyncCalls
from .pages import AsyncPages
from .streams import AsyncStream, call_events, follow_events, follow_logs, follow_run
from .transport import AsyncCall, AsyncKey, AsyncTransport


class AsyncClient(AsyncCalls):
    """Every operation of a server, by its name in the OpenAPI document in snake case.

    Without `url` and `key` it takes `WINTERDOCK_URL` and `WINTERDOCK_KEY` of the environment, else this machine's
    port 3000; an empty key is none. `retries`: of what is safe to repeat, 2 without it. `timeout`: seconds without a
    byte until a call fails; without it, it waits. Raises ValueError when the address is none; calls raise ApiError.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        key: Optional[AsyncKey] = None,
        *,
        headers: Optional[Mapping[str, str]] = None,
        retries: Optional[int] = None,
        timeout: Optional[float] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        self._transport = AsyncTransport(url, key, headers, retries, timeout, ssl_context)

    @property
    def url(self) -> str:
        """The server's address, without a trailing slash."""
        return self._transport.url

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Closes connections that nothing uses. The client can be used again."""
        await self._transport.aclose()

    async def _answer(
        self,
        name: str,
        parameters: Sequence[str],
        body: object,
        query: object,
        options: Optional[CallOptions],
    ) -> Any:
        asked = cast("Optional[Mapping[str, object]]", query)
        return await self._transport.answer(
            AsyncCall(CALLS[name], parameters, options or NO_OPTIONS, query=asked, body=body)
        )

    def _pages(
        self,
        name: str,
        parameters: Sequence[str],
        body: object,
        query: object,
        options: Optional[CallOptions],
    ) -> AsyncPages[Any]:
        asked = dict(cast("Optional[Mapping[str, object]]", query) or {})

        async def read(cursor: Optional[str]) -> Page[Any]:
            at = asked if cursor is None else {**asked, "cursor": cursor}
            return cast("Page[Any]", await self._answer(name, parameters, body, at, options))

        return AsyncPages(read)

    async def exec_bytes(
        self, id: str, input: ExecStreamInput, *, options: Optional[CallOptions] = None
    ) -> ExecBytesAnswer:
        """Runs a script to its end, with bytes in and out. Never sent again."""
        body = {**exec_body(input), "encoding": "base64"}
        answer: Dict[str, Any] = await self._answer("exec_in_instance", (id,), body, None, options)
        for stream in ("stdout", "stderr"):
            answer.pop(f"{stream}_encoding", None)
            answer[stream] = base64.b64decode(answer[stream])
        return cast("ExecBytesAnswer", answer)

    def exec_stream(
        self, id: str, input: ExecStreamInput, *, options: Optional[CallOptions] = None
    ) -> AsyncStream[ExecEvent]:
        """Runs a script and yields its events as they come; the last one is `exit`. Closing it stops the script."""

        async def events(hold: Hold) -> AsyncGenerator[ExecEvent, None]:
            found = call_events(self._transport, "exec_in_instance", (id,), exec_body(input), options, "exit", hold)
            try:
                async for event, value in found:
                    yield exec_event(event, value)
            finally:
                await found.aclose()

        return AsyncStream(events)

    def _workbook_stream(
        self, name: str, parameters: Sequence[str], body: object, options: Optional[CallOptions]
    ) -> AsyncStream[WorkbookEvent]:
        async def events(hold: Hold) -> AsyncGenerator[WorkbookEvent, None]:
            found = call_events(self._transport, name, parameters, body or {}, options, "result", hold)
            try:
                async for event, value in found:
                    yield {"event": event, **value}
            finally:
                await found.aclose()

        return AsyncStream(events)

    def call_component_stream(
        self,
        id: str,
        component: str,
        input: Optional[types.ComponentCallInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncStream[WorkbookEvent]:
        """Calls a component and yields what it does and logs; the last event is `result`. Closing it stops the call."""
        return self._workbook_stream("call_component", (id, component), input, options)

    def call_workflow_stream(
        self,
        id: str,
        input: Optional[types.WorkflowCallInput] = None,
        *,
        options: Optional[CallOptions] = None,
    ) -> AsyncStream[WorkbookEvent]:
        """Runs the workflow and yields what its components do; the last event is `result`. Closing it stops it."""
        return self._workbook_stream("call_workflow", (id,), input, options)

    def stream_events(
        self, query: Optional[types.StreamQuery] = None, *, options: Optional[CallOptions] = None
    ) -> AsyncStream[types.Event]:
        """Yields every line of the ledger that fits, from `last_event_id` on or else from now; reconnects itself."""
        return AsyncStream(lambda hold: follow_events(self._transport, query, options, hold))

    def follow_run(
        self, id: str, run: str, *, offset: int = 0, options: Optional[CallOptions] = None
    ) -> AsyncStream[RunEvent]:
        """Yields the output of a run from `offset` on, and at last `exit`; connects again at the next byte.

        Closing it does not stop the run.
        """
        return AsyncStream(lambda hold: follow_run(self._transport, (id, run), offset, options, hold))

    def follow_instance_logs(
        self, id: str, query: Optional[types.LogsQuery] = None, *, options: Optional[CallOptions] = None
    ) -> AsyncStream[LogEvent]:
        """Yields the newest lines that a sandbox printed, the oldest of them first, and then those that it prints.

        A `gap` is where lines are missing. Connects again after the last line. With `cursor` it begins after that line.
        """
        return AsyncStream(
            lambda hold: follow_logs(self._transport, "list_instance_logs", id, query, options, hold)
        )

    def follow_tenant_logs(
        self, tenant: str, query: Optional[types.LogsQuery] = None, *, options: Optional[CallOptions] = None
    ) -> AsyncStream[LogEvent]:
        """As `follow_instance_logs`, of all sandboxes of a tenant together."""
        return AsyncStream(
            lambda hold: follow_logs(self._transport, "list_tenant_logs", tenant, query, options, hold)
        )

    async def stat_file(
        self, id: str, volume: Volume, path: str, *, options: Optional[CallOptions] = None
    ) -> FileStat:
        """Looks at a file without its bytes. Raises `not_found` when there is none."""
        line = CALLS["get_file"]._replace(method="HEAD")
        try:
            response = await self._transport.send(AsyncCall(line, (id, volume, path), options or NO_OPTIONS))
        except ApiError as error:
            if error.code == "unexpected" and error.status >= 400:
                # The answer to HEAD has no body that says why: that to GET has one.
                await (await self.get_file(id, volume, path, options=options)).aclose()
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
