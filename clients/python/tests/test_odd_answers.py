"""Answers as no Winterdock gives them, but something between might: each is refused, and none hangs."""

from __future__ import annotations

import socket
import threading
import unittest
from typing import List

from winterdock import ApiError, AsyncClient, Client

HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
CHUNKED = HEAD + b"transfer-encoding: chunked\r\n\r\n"

#: Each with the code that it becomes.
ODD = [
    (b"", "network"),
    (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "network"),
    (b"HTTP/1.1 abc\r\n\r\n", "network"),
    (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200_000 + b"\r\n\r\n", "network"),
    (HEAD + b"content-length: 10\r\n\r\n{}", "network"),
    (CHUNKED + b"-5\r\n{}\r\n0\r\n\r\n", "network"),
    (CHUNKED + b"zz\r\n{}\r\n0\r\n\r\n", "network"),
    (CHUNKED + b"2\r\n{}", "network"),
    (CHUNKED + b"2\r\n{}\r\n", "network"),
    (HEAD + b"\r\n<html>", "unexpected"),
    (HEAD + b"content-length: 3\r\n\r\n\xff\xfe{", "unexpected"),
    (b"HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/\r\ncontent-length: 0\r\n\r\n", "unexpected"),
    (b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 4\r\n\r\noops", "unexpected"),
    (b'HTTP/1.1 404 Not Found\r\ncontent-length: 8\r\n\r\n{"a": 1}', "unexpected"),
]

#: Odd, and right.
FINE = [
    b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n" + HEAD + b"content-length: 2\r\n\r\n{}",
    CHUNKED + b"1;name=value\r\n{\r\n1\r\n}\r\n0\r\ntrailer: x\r\n\r\n",
    HEAD + b"\r\n{}",
    b"HTTP/1.0 200 OK\r\ncontent-length: 2\r\n\r\n{}",
]


class OddServer:
    """Answers each connection with the same bytes, and closes it."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        while True:
            connection, _ = self._listener.accept()
            with connection:
                request = connection.recv(65_536)
                if not request:
                    return
                connection.sendall(self._answer)

    def close(self) -> None:
        socket.create_connection(self._listener.getsockname()).close()
        self._thread.join()
        self._listener.close()


class OddAnswers(unittest.IsolatedAsyncioTestCase):
    def serve(self, answer: bytes) -> OddServer:
        server = OddServer(answer)
        self.addCleanup(server.close)
        return server

    async def test_each_is_refused_by_both_halves_with_the_same_code(self) -> None:
        for answer, code in ODD:
            with self.subTest(answer=answer[:60]):
                url = self.serve(answer).url
                found: List[str] = []
                try:
                    Client(url, "key", retries=0).get_settings()
                except ApiError as error:
                    found.append(error.code)
                try:
                    await AsyncClient(url, "key", retries=0).get_settings()
                except ApiError as error:
                    found.append(error.code)
                self.assertEqual(found, [code, code])

    async def test_what_is_odd_and_right_is_read(self) -> None:
        for answer in FINE:
            with self.subTest(answer=answer[:60]):
                url = self.serve(answer).url
                if b" 103 " not in answer:
                    self.assertEqual(Client(url, "key", retries=0).get_settings(), {})
                self.assertEqual(await AsyncClient(url, "key", retries=0).get_settings(), {})
