# The connections of http.client: see python-network-module.ts.
import errno, io, json, os, socket

_DEVICE = "/dev/.network"
_MOST = 7_900_000
_ERRORS = {"connect": ConnectionRefusedError, "timeout": TimeoutError, "broken": ConnectionResetError,
           "aborted": ConnectionAbortedError, "profile": PermissionError, "refused": PermissionError, "limit": PermissionError}
_CODES = {"connect": errno.ECONNREFUSED, "broken": errno.ECONNRESET, "aborted": errno.ECONNABORTED,
          "profile": errno.ENETUNREACH, "refused": errno.EACCES, "limit": errno.EAGAIN}


def _failure(kind, message):
    if kind == "resolve":
        return socket.gaierror(socket.EAI_NONAME, message)
    if kind == "timeout":
        return TimeoutError(message)
    if kind in ("malformed", "too_large"):
        return OSError(message)
    return _ERRORS.get(kind, OSError)(_CODES.get(kind, errno.EIO), message)


def _exchange(request, body):
    head = json.dumps(request).encode()
    if len(head) + len(body) > _MOST:
        raise OSError("the request has more than %d bytes" % _MOST)
    rest = (4 + len(head) + len(body)).to_bytes(4, "big") + len(head).to_bytes(4, "big") + head + body
    fd = os.open(_DEVICE, os.O_RDWR)
    try:
        while rest:
            rest = rest[os.write(fd, rest):]
    finally:
        os.close(fd)
    pages, more = [], True
    while more:
        fd = os.open(_DEVICE, os.O_RDONLY)
        try:
            page = b"".join(iter(lambda: os.read(fd, 1 << 20), b""))
        finally:
            os.close(fd)
        more = page[:1] == b"\x01"
        pages.append(page[1:])
    answer = b"".join(pages)
    size = int.from_bytes(answer[:4], "big")
    meta = json.loads(answer[4:4 + size])
    if "failure" in meta:
        raise _failure(meta["failure"], meta["message"])
    return meta, answer[4 + size:]


def _unchunked(data):
    parts = []
    while data:
        line, _, data = data.partition(b"\r\n")
        size = int(line.split(b";")[0], 16)
        if size == 0:
            break
        parts.append(data[:size])
        data = data[size + 2:]
    return b"".join(parts)


class _Channel:
    """What http.client takes for a socket: it collects a request until it is whole."""

    def __init__(self, scheme, host, port, timeout):
        self._origin = "%s://%s:%d" % (scheme, "[%s]" % host if ":" in host else host, port)
        self._timeout = timeout
        self._parts = []
        self._answer = None

    def sendall(self, data, flags=0):
        self._parts.append(bytes(data))
        whole = b"".join(self._parts)
        head, end, body = whole.partition(b"\r\n\r\n")
        if not end:
            self._parts = [whole]
            return
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = [[name.strip(), value.strip()] for name, _, value in (line.partition(":") for line in lines)]
        given = {name.lower(): value for name, value in headers}
        if given.get("transfer-encoding", "").lower() == "chunked":
            if not body.endswith(b"0\r\n\r\n"):
                return
            body = _unchunked(body)
        elif len(body) < int(given.get("content-length") or 0):
            return
        self._parts = []
        method, target, _ = first.split(" ", 2)
        url = target if "://" in target.split("?")[0] else self._origin + target
        timeout = self._timeout if isinstance(self._timeout, (int, float)) else None
        meta, content = _exchange({"url": url, "method": method, "headers": headers, "timeout": timeout}, body)
        empty = method == "HEAD" or meta["status"] in (204, 304)
        out = ["HTTP/1.1 %d %s" % (meta["status"], meta["reason"])]
        out += ["%s: %s" % (name, value) for name, value in meta["headers"] if empty or name != "content-length"]
        if not empty:
            out.append("content-length: %d" % len(content))
        self._answer = ("\r\n".join(out) + "\r\n\r\n").encode("latin-1") + (b"" if empty else content)

    send = sendall

    def makefile(self, mode="r", *args, **options):
        answer, self._answer = self._answer, None
        return io.BufferedReader(io.BytesIO(answer or b""))

    def settimeout(self, timeout):
        self._timeout = timeout

    def gettimeout(self):
        return self._timeout

    def setsockopt(self, *args):
        pass

    def shutdown(self, how):
        pass

    def close(self):
        pass

    def fileno(self):
        return -1


def _connect(scheme):
    def connect(self):
        timeout = socket.getdefaulttimeout() if self.timeout is socket._GLOBAL_DEFAULT_TIMEOUT else self.timeout
        self.sock = _Channel(scheme, self.host, self.port, timeout)
        if self._tunnel_host:
            raise PermissionError(errno.EACCES, "there is no proxy: the server sends requests itself")
    return connect


class HTTPSConnection(client.HTTPConnection):
    """Like HTTPConnection, over TLS. The server verifies the certificate, whatever the context says."""

    default_port = client.HTTPS_PORT
    connect = _connect("https")

    def __init__(self, host, port=None, *, timeout=socket._GLOBAL_DEFAULT_TIMEOUT, source_address=None, context=None, blocksize=8192):
        super().__init__(host, port, timeout, source_address, blocksize=blocksize)
        self._context = context


HTTPSConnection.__module__ = "http.client"
client.HTTPConnection.connect = _connect("http")
client.HTTPSConnection = HTTPSConnection
client._create_https_context = lambda version: None
if "HTTPSConnection" not in client.__all__:
    client.__all__.append("HTTPSConnection")
