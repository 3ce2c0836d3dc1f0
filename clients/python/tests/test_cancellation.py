"""Who stops waiting for a script stops it on the server; many streams cost no threads; TLS is checked."""

from __future__ import annotations

import asyncio
import os
import signal
import ssl
import subprocess
import tempfile
import threading
import unittest
from typing import Any, List

from winterdock import ApiError, AsyncClient, AsyncSandbox, Client, Sandbox

from .bad_network import BadNetwork
from .server import ADMIN_KEY, ENDLESS, KEY, URL


class AsyncCancellation(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.dock = AsyncClient()
        self.addAsyncCleanup(self.dock.aclose)
        self.box = await AsyncSandbox.create(client=self.dock)

    async def is_over(self) -> None:
        # Calls run one at a time: this one runs only when the endless one is over.
        self.assertEqual((await self.box.commands.run("ls")).stdout, "")

    async def test_a_cancelled_run_with_callbacks_stops_the_script(self) -> None:
        begun = asyncio.Event()
        running = asyncio.create_task(self.box.commands.run(ENDLESS, on_stdout=lambda _: begun.set()))
        await begun.wait()
        running.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await running
        await self.is_over()

    async def test_a_cancelled_run_without_callbacks_stops_the_script(self) -> None:
        await self.box.resume()
        running = asyncio.create_task(self.box.commands.run(ENDLESS))
        while (await self.box.info())["calls"] == 0:
            await asyncio.sleep(0.02)
        running.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await running
        await self.is_over()

    async def test_a_run_that_is_waited_for_only_so_long_stops_the_script(self) -> None:
        await self.box.resume()
        with self.assertRaises(asyncio.TimeoutError):
            await asyncio.wait_for(self.box.commands.run(ENDLESS), 0.5)
        await self.is_over()

    async def test_a_loop_that_is_left_without_a_block_stops_the_script(self) -> None:
        async for event in self.dock.exec_stream(self.box.id, {"command": ENDLESS}):
            if event["event"] == "stdout":
                break
        await self.is_over()

    async def test_a_stream_is_closed_while_another_task_waits_for_it(self) -> None:
        stream = self.dock.exec_stream(self.box.id, {"command": ENDLESS})
        begun = asyncio.Event()

        async def read() -> List[str]:
            seen: List[str] = []
            async for event in stream:
                seen.append(event["event"])
                if event["event"] == "stdout":
                    begun.set()
            return seen

        reading = asyncio.create_task(read())
        await begun.wait()
        await stream.aclose()
        self.assertEqual(await reading, ["woke", "stdout"])
        await self.is_over()

    async def test_a_callback_may_be_async_and_is_awaited_before_the_next_piece(self) -> None:
        told: List[str] = []

        async def slowly(text: str) -> None:
            await asyncio.sleep(0.05)
            told.append(text)

        await self.box.commands.run("echo one; sleep 0.02; echo two", on_stdout=slowly)
        self.assertEqual("".join(told), "one\ntwo\n")

    async def test_a_hundred_streams_cost_no_threads(self) -> None:
        # The server takes a hundred followers of a run and no more, one that is just leaving among them.
        script = "read line; sleep 0.4; for i in 1 2 3; do echo $i; done"
        runs = [(await self.box.runs.start(script, stdin="x\n")).id for _ in range(2)]
        # By name: to look one up takes a thread, which all share.
        named = AsyncClient(URL.replace("127.0.0.1", "localhost"))
        self.addAsyncCleanup(named.aclose)
        before = threading.active_count()
        most = before

        async def follow(run: str) -> str:
            nonlocal most
            output = b""
            async with named.follow_run(self.box.id, run) as events:
                async for event in events:
                    most = max(most, threading.active_count())
                    if event["event"] == "stdout":
                        output += event["bytes"]
            return output.decode()

        outputs = await asyncio.gather(*(follow(run) for run in runs * 50))
        self.assertEqual(outputs, ["1\n2\n3\n"] * 100)
        self.assertLessEqual(most, before + 1)


class AsyncUploads(unittest.IsolatedAsyncioTestCase):
    async def test_an_upload_may_come_from_an_async_iterator(self) -> None:
        async with await AsyncSandbox.create() as box:

            async def pieces() -> Any:
                for piece in (b"one ", b"", b"two"):
                    await asyncio.sleep(0)
                    yield piece

            await box.files.write("note", pieces())
            self.assertEqual(await box.files.read("note"), "one two")

    async def test_a_client_is_used_by_one_loop_after_the_other(self) -> None:
        dock = AsyncClient(URL, KEY)

        async def use() -> None:
            await dock.me()
            await dock.aclose()

        def in_a_loop_of_its_own() -> None:
            asyncio.run(use())

        await dock.me()
        await asyncio.get_running_loop().run_in_executor(None, in_a_loop_of_its_own)
        await dock.me()
        await dock.aclose()


class SyncCancellation(unittest.TestCase):
    def setUp(self) -> None:
        self.dock = Client()
        self.addCleanup(self.dock.close)
        self.box = Sandbox.create(client=self.dock)

    def is_over(self) -> None:
        self.assertEqual(self.box.commands.run("ls").stdout, "")

    def interrupt(self) -> None:
        """Ctrl-C, once a script runs."""
        main = threading.main_thread().ident or 0

        def soon() -> None:
            with Client() as other:
                while other.get_instance(self.box.id)["calls"] == 0:
                    pass
            signal.pthread_kill(main, signal.SIGINT)

        thread = threading.Thread(target=soon)
        thread.start()
        self.addCleanup(thread.join)

    def test_an_interrupted_run_stops_the_script(self) -> None:
        for given in ({}, {"on_stdout": lambda _: None}):
            self.box.resume()
            self.interrupt()
            with self.assertRaises(KeyboardInterrupt):
                self.box.commands.run(ENDLESS, **given)  # type: ignore[call-overload]
            self.is_over()

    def test_a_loop_that_is_left_without_a_block_stops_the_script(self) -> None:
        for event in self.dock.exec_stream(self.box.id, {"command": ENDLESS}):
            if event["event"] == "stdout":
                break
        self.is_over()

    def test_a_stream_is_closed_while_another_thread_waits_for_it(self) -> None:
        stream = self.dock.exec_stream(self.box.id, {"command": ENDLESS})
        begun = threading.Event()
        seen: List[str] = []

        def read() -> None:
            for event in stream:
                seen.append(event["event"])
                if event["event"] == "stdout":
                    begun.set()

        reading = threading.Thread(target=read)
        reading.start()
        begun.wait()
        stream.close()
        reading.join()
        self.assertEqual(seen, ["woke", "stdout"])
        self.is_over()

    def test_several_threads_use_one_client(self) -> None:
        failed: List[BaseException] = []

        def use() -> None:
            try:
                for _ in range(20):
                    self.assertEqual(self.dock.get_instance(self.box.id)["id"], self.box.id)
            except BaseException as error:
                failed.append(error)

        threads = [threading.Thread(target=use) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failed, [])


class Tls(unittest.IsolatedAsyncioTestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.certificate, key = (os.path.join(folder.name, name) for name in ("cert.pem", "key.pem"))
        making = "openssl req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=test -addext subjectAltName=IP:127.0.0.1"
        files = ["-keyout", key, "-out", self.certificate]
        subprocess.run([*making.split(), *files], check=True, capture_output=True)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(self.certificate, key)
        self.network = BadNetwork(URL, context)
        self.addCleanup(self.network.close)

    def test_a_certificate_that_nobody_vouches_for_is_refused_and_one_that_is_trusted_is_taken(self) -> None:
        with self.assertRaisesRegex(ApiError, "CERTIFICATE_VERIFY_FAILED"):
            Client(self.network.url, ADMIN_KEY, retries=0).me()
        trusting = ssl.create_default_context(cafile=self.certificate)
        with Client(self.network.url, ADMIN_KEY, ssl_context=trusting) as dock:
            for _ in range(2):
                self.assertEqual(dock.me()["role"], "admin")

    def test_pieces_go_up_over_a_new_connection_with_tls(self) -> None:
        trusting = ssl.create_default_context(cafile=self.certificate)
        with Client() as plain, Client(self.network.url, KEY, ssl_context=trusting) as dock:
            box = Sandbox.create(client=plain)
            box.client = dock
            for name in ("a", "b"):
                dock.put_file(box.id, "workspace", name, (b"x" * 1000 for _ in range(300)))
                self.assertEqual(plain.stat_file(box.id, "workspace", name).size, 300_000)
                # The next one begins with a connection of its own.
                dock.close()

    async def test_and_so_it_is_with_asyncio(self) -> None:
        with self.assertRaisesRegex(ApiError, "CERTIFICATE_VERIFY_FAILED"):
            await AsyncClient(self.network.url, ADMIN_KEY, retries=0).me()
        trusting = ssl.create_default_context(cafile=self.certificate)
        async with AsyncClient(self.network.url, ADMIN_KEY, ssl_context=trusting) as dock:
            for _ in range(2):
                self.assertEqual((await dock.me())["role"], "admin")
            box = await AsyncSandbox.create(tenant="acme", client=dock)
            for name in ("a", "b"):
                await box.files.write(name, (b"x" * 1000 for _ in range(300)))
                self.assertEqual(len(await box.files.read(name)), 300_000)
                await dock.aclose()
