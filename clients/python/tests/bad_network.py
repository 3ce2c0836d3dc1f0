"""For tests: a network in front of a real server that loses requests, loses answers and breaks streams when told to."""

from __future__ import annotations

import http.client
import http.server
import socket
import ssl
import threading
from typing import Any, List, Optional
from urllib.parse import urlsplit


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""

    def _body(self) -> bytes:
        if "chunked" not in self.headers.get("transfer-encoding", ""):
            return self.rfile.read(int(self.headers.get("content-length", "0")))
        pieces: List[bytes] = []
        while True:
            size = int(self.rfile.readline(), 16)
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
            if size == 0:
                return b"".join(pieces)

    def _hang_up(self) -> None:
        self.close_connection = True
        self.connection.shutdown(socket.SHUT_RDWR)

    def _refuse(self, status: int, code: str, retry_after: Optional[str]) -> None:
        body = b'{"code": "%s", "status": %d, "detail": "It is so.", "request_id": "r"}' % (code.encode(), status)
        self.send_response(status)
        self.send_header("content-type", "application/problem+json")
        self.send_header("content-length", str(len(body)))
        if retry_after is not None:
            self.send_header("retry-after", retry_after)
        self.end_headers()
        self.wfile.write(body)

    def _relay(self) -> None:
        network: BadNetwork = self.server.network  # type: ignore[attr-defined]
        network.seen.append(f"{self.command} {self.path}")
        network.headers.append(dict(self.headers.items()))
        mishap = network.next.pop(0) if network.next else None
        body = self._body()
        if mishap == "lose":
            return self._hang_up()
        if mishap == "busy":
            return self._refuse(503, "capacity", "1")
        if mishap == "busy-mute":
            return self._refuse(503, "capacity", None)
        if mishap == "unverified":
            return self._refuse(409, "unverified", "1")
        if mishap == "limited":
            return self._refuse(429, "rate_limited", "1")
        onward = http.client.HTTPConnection(network.host, network.port)
        try:
            onward.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
            for name, value in self.headers.items():
                if name.lower() not in ("transfer-encoding", "content-length"):
                    onward.putheader(name, value)
            if body or self.command in ("POST", "PUT", "PATCH"):
                onward.putheader("content-length", str(len(body)))
            onward.endheaders(body)
            answer = onward.getresponse()
            if mishap == "mute":
                answer.read()
                return self._hang_up()
            self.send_response_only(answer.status)
            for name, value in answer.headers.items():
                if name.lower() not in ("transfer-encoding", "connection", "keep-alive"):
                    self.send_header(name, value)
            is_chunked = answer.length is None
            if is_chunked:
                self.send_header("transfer-encoding", "chunked")
            self.end_headers()
            while True:
                data = answer.read1(65_536) if is_chunked else answer.read(65_536)
                if mishap == "cut":
                    half = data[: (len(data) + 1) // 2]
                    self.wfile.write(b"%x\r\n%b" % (len(data), half) if is_chunked else half)
                    return self._hang_up()
                if is_chunked:
                    self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))
                else:
                    self.wfile.write(data)
                if not data:
                    return
        except OSError:
            # The other side went away; so does this one.
            self.close_connection = True
        finally:
            onward.close()

    do_GET = do_HEAD = do_POST = do_PUT = do_PATCH = do_DELETE = _relay


class BadNetwork:
    """Mishaps of the coming requests, in order, are in `next`; then everything passes.

    `lose`: it never arrives; `mute`: it arrives, its answer is lost; `busy`: 503 with a `Retry-After` of a second;
    `busy-mute`: 503 without one; `limited`: 429; `unverified`: 409, with nothing
    done yet; `cut`: its answer breaks off within its first bytes.
    """

    def __init__(self, target: str, context: Optional[ssl.SSLContext] = None) -> None:
        parts = urlsplit(target)
        self.host, self.port = parts.hostname or "", parts.port or 80
        self.next: List[str] = []
        self.seen: List[str] = []
        self.headers: List[Any] = []
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._server.daemon_threads = True
        self._server.network = self  # type: ignore[attr-defined]
        if context is not None:
            self._server.socket = context.wrap_socket(self._server.socket, server_side=True)
        scheme = "http" if context is None else "https"
        self.url = f"{scheme}://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
