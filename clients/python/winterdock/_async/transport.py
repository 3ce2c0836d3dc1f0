"""Sends calls and reads their answers: addresses, keys, bodies, and retries. Knows no operation by name."""

from __future__ import annotations

import json
import ssl
from dataclasses import dataclass
from typing import Any, Awaitable, Callable, Dict, Mapping, Optional, Sequence, Tuple, Union
from urllib.parse import unquote_plus
import re

from .. import _version
from .._address import DEFAULT_URL, address_in, path_of, search_of, whereabouts
from .._call import (
    CallLine,
    CallOptions,
    Hold,
    Page,
    Written,
    checked_headers,
    is_repeatable,
    is_upload,
    size_of,
    is_committed,
    is_found,
    is_undone,
    wait_for_retry,
    whole_bytes,
)
from .._errors import ApiError, BrokenConnection, network_error, refusal, unexpected_answer
from .download import AsyncDownload
from .wire import AsyncResponse, AsyncWire, settled, sleep

#: A key, or what gives one before each call.
AsyncKey = Union[str, Callable[[], Union[str, Awaitable[str]]]]

RETRIES = 2


@dataclass
class AsyncCall:
    """A call with everything it takes."""

    line: CallLine
    parameters: Sequence[str]
    options: CallOptions
    query: Optional[Mapping[str, object]] = None
    body: object = None
    #: What the answer should be, when the line does not say it.
    accept: Optional[str] = None
    hold: Optional[Hold] = None


class AsyncTransport:
    """The way to one server."""

    def __init__(
        self,
        url: Optional[str],
        key: Optional[AsyncKey],
        headers: Optional[Mapping[str, str]],
        retries: Optional[int],
        timeout: Optional[float],
        ssl_context: Optional[ssl.SSLContext],
    ) -> None:
        found_url, found_key = whereabouts()
        self.url = address_in(url or found_url or DEFAULT_URL)
        self._base = re.sub(r"^[a-z]+://[^/]+", "", self.url)
        self._key: Optional[AsyncKey] = found_key if key is None else key
        self._headers = dict(headers or {})
        self._retries = RETRIES if retries is None else retries
        self._timeout = timeout
        self._wire = AsyncWire(self.url, ssl_context)

    async def aclose(self) -> None:
        """Closes connections that nothing uses."""
        await self._wire.aclose()

    async def send(self, call: AsyncCall) -> AsyncResponse:
        """The server's answer to a call that it took. Raises ApiError."""
        response, _ = await self._attempts(call, False)
        if response is None:
            raise network_error(self.url, BrokenConnection("no answer"))
        return response

    async def answer(self, call: AsyncCall) -> Any:
        """The answer in the shape that the call's line says."""
        kind = call.line.answer
        is_stream = kind in ("download", "events")
        response, body = await self._attempts(call, not is_stream)
        if response is None or kind == "nothing":
            return None
        if is_stream:
            return AsyncDownload(self.url, response, call.options)
        if kind == "text":
            return body.decode("utf-8", "replace")
        if kind == "written":
            return Written(response.status == 201, response.headers.get("etag"))
        value = _json_of(self.url, response, body)
        if kind == "json":
            return value
        if not isinstance(value, list):
            raise unexpected_answer(self.url, response.status, response.headers)
        link = re.search(r'<[^>]*[?&]cursor=([^&>]+)[^>]*>;\s*rel="next"', response.headers.get("link", ""))
        return Page(
            value,
            None if link is None else unquote_plus(link[1]),
            response.headers.get("x-total-count"),
            response.headers.get("x-truncated") == "true",
        )

    async def _headers_of(self, call: AsyncCall) -> Dict[str, str]:
        options = call.options
        headers = {"user-agent": f"winterdock-python/{_version.VERSION}", **checked_headers(self._headers)}
        headers.update(checked_headers(options.headers or {}))
        key = await settled(self._key() if callable(self._key) else self._key)
        if key:
            headers["authorization"] = f"Bearer {key}"
        if call.accept is not None:
            headers["accept"] = call.accept
        if options.if_match is not None:
            headers["if-match"] = options.if_match
        if options.if_none_match is not None:
            headers["if-none-match"] = options.if_none_match
        if options.idempotency_key is not None:
            headers["idempotency-key"] = options.idempotency_key
        if options.range is not None:
            first, last = options.range
            headers["range"] = f"bytes={first}-{'' if last is None else last}"
        return checked_headers(headers)

    async def _attempt(self, call: AsyncCall, is_read: bool) -> Tuple[AsyncResponse, bytes]:
        line, options, body = call.line, call.options, call.body
        target = f"{self._base}{path_of(line.path, call.parameters)}{search_of(call.query)}"
        headers = await self._headers_of(call)
        size: Optional[int] = None
        if line.body == "json" or (line.body == "either" and not is_upload(body)):
            if body is not None:
                headers["content-type"] = "application/json"
                body = _json_bytes(body)
                size = len(body)
        elif line.body is not None:
            headers.setdefault("content-type", "application/octet-stream")
            whole = whole_bytes(b"" if body is None else body)
            size = size_of(body) if whole is None else len(whole)
            body = body if whole is None else whole
        if body is None and line.method in ("POST", "PUT", "PATCH"):
            headers["content-length"] = "0"
        try:
            response = await self._wire.request(
                line.method,
                target,
                headers,
                body,  # type: ignore[arg-type]
                size=size,
                on_progress=options.on_progress if line.body != "json" else None,
                timeout=self._timeout if options.timeout is None else options.timeout,
                hold=call.hold,
            )
            is_good = 200 <= response.status < 300 or response.status == 304
            try:
                data = await response.read_all() if is_read or not is_good else b""
            except BaseException:
                response.abort()
                raise
        except BrokenConnection as error:
            raise network_error(self.url, error) from error.__cause__
        if not is_good:
            raise refusal(self.url, response.status, response.headers, data)
        return response, data

    async def _attempts(self, call: AsyncCall, is_read: bool) -> Tuple[Optional[AsyncResponse], bytes]:
        """Sends a call, and again where that is safe. No answer: it seems that an earlier attempt did it."""
        line, options = call.line, call.options
        can_resend = not is_upload(call.body) or whole_bytes(call.body) is not None
        retries = self._retries if options.retries is None else options.retries
        is_safe = is_repeatable(line, options, can_resend)
        was_lost = False
        attempt = 1
        while True:
            try:
                return await self._attempt(call, is_read)
            except ApiError as error:
                # The answer to an earlier attempt was lost, and it seems that one did it.
                if was_lost and line.method == "DELETE" and error.status in (404, 410):
                    return None, b""
                was_lost = was_lost or error.code == "network"
                may_resend = is_safe or (can_resend and is_undone(error))
                if is_committed(error) and not is_found(line, options):
                    may_resend = False
                wait = wait_for_retry(error, attempt) if may_resend and attempt <= retries else None
                if wait is None or (call.hold is not None and call.hold.closed):
                    raise
            await sleep(wait)
            attempt += 1


def _json_bytes(value: object) -> bytes:
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8")
    except UnicodeEncodeError:
        # Half a pair of surrogates can be written in JSON, and not in UTF-8.
        return json.dumps(value, allow_nan=False).encode("ascii")


def _json_of(url: str, response: AsyncResponse, body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError as error:
        raise unexpected_answer(url, response.status, response.headers) from error
