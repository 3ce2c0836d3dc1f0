"""The sandbox object, against a real server."""

from __future__ import annotations

import unittest
from typing import Any, List

from winterdock import ApiError, AsyncClient, AsyncSandbox, CallOptions

from .bad_network import BadNetwork
from .server import ADMIN_KEY, ENDLESS, KEY, URL, new_id


class AsyncSandboxCase(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self) -> None:
        self.admin = AsyncClient(key=ADMIN_KEY)
        self.addAsyncCleanup(self.admin.aclose)
        self.dock = AsyncClient()
        self.addAsyncCleanup(self.dock.aclose)

    async def test_a_sandbox_is_made_by_the_key_of_the_environment_lives_sleeps_wakes_and_is_deleted(self) -> None:
        box = await AsyncSandbox.create(labels={"of": "whole-life"}, client=self.dock)
        info = await box.info()
        self.assertEqual((info["tenant"], info["state"]), ("acme", "created"))
        result = await box.commands.run("echo hello > note; cat note; echo no >&2; exit 3")
        self.assertEqual(result[:6], (3, "hello\n", "no\n", "/workspace", False, False))
        self.assertEqual(result.woke, "cold")
        self.assertEqual((await box.suspend(reason="lunch"))["state"], "suspended")
        self.assertEqual(await box.files.read("note"), "hello\n")
        self.assertEqual((await box.info())["state"], "suspended")
        self.assertEqual((await box.resume())["instance"]["state"], "active")
        kept = await box.snapshot(tag="v1")
        second = await AsyncSandbox.from_snapshot(kept["id"], name=new_id(), client=self.dock)
        self.assertEqual(await second.files.read("/workspace/note"), "hello\n")
        self.assertEqual((await AsyncSandbox.connect(second.id, client=self.dock)).id, second.id)
        await self.admin.create_blueprint({"name": box.id, "from_instance": box.id})
        third = await AsyncSandbox.from_blueprint(box.id, client=self.dock)
        self.assertEqual(await third.files.read("note"), "hello\n")
        labelled = AsyncSandbox.list({"limit": 1, "label": "of:whole-life"}, client=self.dock)
        listed = [one["id"] async for one in labelled]
        self.assertIn(box.id, listed)
        await box.delete()
        await box.delete()
        for id, code in ((box.id, "gone"), ("nobody", "not_found")):
            with self.assertRaises(ApiError) as raised:
                await AsyncSandbox.connect(id, client=self.dock)
            self.assertEqual(raised.exception.code, code)

    async def test_leaving_the_block_suspends_it_and_what_need_not_be_suspended_is_left_alone(self) -> None:
        async with await AsyncSandbox.create() as box:
            self.assertEqual((await box.commands.run("echo kept > note")).exit_code, 0)
        self.assertEqual((await self.dock.get_instance(box.id))["state"], "suspended")
        with self.assertRaises(KeyError):
            async with await AsyncSandbox.connect(box.id) as again:
                self.assertEqual((await again.commands.run("cat note")).stdout, "kept\n")
                raise KeyError
        self.assertEqual((await self.dock.get_instance(box.id))["state"], "suspended")
        async with await AsyncSandbox.create():
            pass
        async with await AsyncSandbox.create() as gone:
            await gone.delete()

    async def test_a_key_of_no_one_tenant_is_told_to_say_whose_sandbox_it_is_to_be(self) -> None:
        with self.assertRaises(ApiError) as raised:
            await AsyncSandbox.create(client=self.admin)
        self.assertEqual(raised.exception.code, "validation")
        self.assertIn("tenant='acme'", raised.exception.hint or "")
        box = await AsyncSandbox.create(tenant="blue", client=self.admin)
        self.assertEqual((await box.info())["tenant"], "blue")

    async def test_making_a_sandbox_of_an_id_twice_makes_one_and_never_takes_another_for_it(self) -> None:
        id, dock = new_id(), self.dock
        one = await AsyncSandbox.create(id, policy="minimal", labels={"a": "b"}, client=dock)
        await one.files.write("note", "kept")
        again = await AsyncSandbox.create(id, policy="minimal", labels={"a": "c"}, client=dock)
        self.assertEqual(await again.files.read("note"), "kept")
        with self.assertRaisesRegex(ApiError, "policy is minimal") as raised:
            await AsyncSandbox.create(id, policy="posix", client=dock)
        self.assertEqual((raised.exception.code, raised.exception.status), ("conflict", 409))
        with self.assertRaisesRegex(ApiError, "tenant is acme"):
            await AsyncSandbox.create(id, tenant="blue", client=self.admin)
        theirs = await AsyncSandbox.create(new_id(), tenant="blue", client=self.admin)
        await one.delete()
        for taken in (theirs.id, id):
            with self.assertRaises(ApiError) as raised:
                await AsyncSandbox.create(taken, policy="minimal", client=dock)
            self.assertEqual(raised.exception.code, "conflict")

    async def test_a_lost_request_and_a_lost_answer_of_its_making_make_one_sandbox(self) -> None:
        network = BadNetwork(URL)
        self.addCleanup(network.close)
        tenant = new_id()
        dock = AsyncClient(network.url, ADMIN_KEY)
        self.addAsyncCleanup(dock.aclose)
        network.next[:] = ["lose", "mute"]
        box = await AsyncSandbox.create(tenant=tenant, client=dock)
        self.assertEqual(len([line for line in network.seen if line.startswith("POST")]), 3)
        made = (await dock.list_instances({"tenant": tenant})).items
        self.assertEqual([one["id"] for one in made], [box.id])
        network.next[:] = ["lose"] * 3
        with self.assertRaises(ApiError) as raised:
            await AsyncSandbox.create(tenant=tenant, client=dock)
        self.assertEqual(raised.exception.code, "network")

    async def test_output_is_told_as_it_comes_with_no_character_cut_and_is_whole_at_the_end(self) -> None:
        box = await AsyncSandbox.create(client=self.dock)
        texts: List[str] = []
        errors: List[str] = []
        result = await box.commands.run(
            'echo "$WHO in $PWD"; cat; printf "\\377" >&2',
            cwd="/tmp",
            env={"WHO": "ü"},
            stdin="given\n".encode(),
            on_stdout=texts.append,
            on_stderr=errors.append,
        )
        self.assertEqual("".join(texts), "ü in /tmp\ngiven\n")
        self.assertEqual(errors, ["\ufffd"])
        self.assertEqual(result[:4], (0, "".join(texts), "\ufffd", "/tmp"))
        # Without callbacks too: bytes that are no text are replaced, not given in base64.
        self.assertEqual((await box.commands.run('printf "a\\377"')).stdout, "a\ufffd")
        self.assertEqual((await box.commands.run("cat", stdin="ü")).stdout, "ü")

    async def test_a_callback_that_raises_stops_the_script_and_a_time_limit_ends_it(self) -> None:
        box = await AsyncSandbox.create(client=self.dock)

        def full(_: str) -> None:
            raise OSError("full")

        with self.assertRaisesRegex(OSError, "full"):
            await box.commands.run(ENDLESS, on_stdout=full)
        # Calls run one at a time: this one runs only when the endless one is over.
        self.assertEqual((await box.commands.run("ls")).stdout, "")
        self.assertTrue((await box.commands.run("sleep 30", timeout=0.2)).timed_out)

    async def test_a_background_script_goes_on_by_itself_is_followed_and_stopped(self) -> None:
        box = await AsyncSandbox.create(client=self.dock)
        run = await box.commands.run("echo one; echo two >&2; exit 4", background=True, cwd="/tmp")
        told: List[str] = []
        result = await run.wait(on_stdout=told.append)
        self.assertEqual(result[:7], (4, "one\n", "two\n", "done", None, False, 0))
        self.assertEqual("".join(told), "one\n")
        found = await (await AsyncSandbox.connect(box.id, client=self.dock)).runs.get(run.id).info()
        self.assertEqual((found["state"], found["cwd"]), ("done", "/tmp"))
        endless = await box.runs.start(ENDLESS)
        async with endless.follow() as events:
            async for event in events:
                if event["event"] == "stdout":
                    break
        self.assertEqual((await endless.info())["state"], "running")
        self.assertEqual((await endless.stop())["state"], "stopped")
        ended = await endless.wait()
        self.assertEqual((ended.stdout, ended.state), ("begun\n", "stopped"))
        self.assertEqual([one["id"] for one in (await box.runs.list()).items], [endless.id, run.id])

    async def test_files_are_those_of_the_shell_by_its_paths(self) -> None:
        box = await AsyncSandbox.create(client=self.dock)
        files = box.files
        written = await files.write("a/ü.txt", "text")
        self.assertTrue(written.created and written.etag)
        await files.write("/memory/m", b"\xff\x00")
        await files.make_dir("/workspace/empty")
        await box.commands.run("ln -s a link")
        self.assertEqual((await box.commands.run("cat a/ü.txt; ls /memory")).stdout, "textm\n")
        self.assertEqual(await files.read("/memory/m", format="bytes"), b"\xff\x00")
        part = CallOptions(range=(2, None))
        async with await files.read("../workspace/./a/ü.txt", format="stream", options=part) as stream:
            self.assertEqual(await stream.read(), b"xt")
        listed = [(one["name"], one["kind"], one["path"]) for one in await files.list()]
        self.assertEqual(
            listed,
            [("a", "dir", "/workspace/a"), ("empty", "dir", "/workspace/empty"), ("link", "link", "/workspace/link")],
        )
        self.assertEqual([(one["size"], one["path"]) for one in await files.list("a")], [(4, "/workspace/a/ü.txt")])
        for path in ("a", "a/ü.txt", "empty", "link", "/memory/m", "/tmp"):
            self.assertTrue(await files.exists(path), path)
        for path in ("b", "a/b", "a/ü.txt/b", "/tmp/x"):
            self.assertFalse(await files.exists(path), path)
        await files.rename("a/ü.txt", "/workspace/b")
        self.assertEqual(await files.read("b"), "text")
        for path in ("b", "a", "link"):
            await files.remove(path)
        await files.write("full/x", "")
        await self.refused("conflict", files.remove, "full")
        await files.remove("full", recursive=True)
        self.assertEqual([one["name"] for one in await files.list()], ["empty"])
        await self.refused("validation", files.rename, "b", "/tmp/b")
        await self.refused("not_found", files.remove, "gone")
        await self.refused("not_found", files.read, "gone")
        await self.refused("validation", files.read, "/etc/passwd")
        none = CallOptions(if_none_match="*")
        self.assertTrue((await files.write("b", "", options=none)).created)
        with self.assertRaises(ApiError) as raised:
            await files.write("b", "", options=none)
        self.assertEqual(raised.exception.code, "precondition_failed")
        await box.delete()
        await self.refused("gone", files.exists, "b")

    async def refused(self, code: str, method: Any, *given: str) -> None:
        with self.assertRaises(ApiError) as raised:
            await method(*given)
        self.assertEqual(raised.exception.code, code)

    async def test_a_watch_tells_every_change_after_it_began_also_within_one_second_and_wakes_nothing(self) -> None:
        box = await AsyncSandbox.create(client=self.dock)
        await box.files.write("src/a", "one")
        await box.files.write("srcs", "beside")
        async with await box.files.watch("src", interval=0.02) as changes:
            # The server's clock stands still: time and size stay the same.
            await box.files.write("src/a", "two")
            changed = await changes.__anext__()
            self.assertEqual(changed, {"type": "changed", "path": "/workspace/src/a", "size": 3})
            await box.files.write("srcs", "not told")
            await box.commands.run("echo x > src/deep; rm src/a")
            told = [await changes.__anext__(), await changes.__anext__()]
            self.assertEqual(
                told,
                [
                    {"type": "removed", "path": "/workspace/src/a", "size": None},
                    {"type": "created", "path": "/workspace/src/deep", "size": 2},
                ],
            )
            await box.suspend()
        async with await box.files.watch("src/deep", interval=0.02) as changes:
            self.assertEqual((await box.info())["state"], "suspended")
            await box.files.remove("src/deep")
            self.assertEqual((await changes.__anext__())["type"], "removed")
        await self.refused("validation", box.files.watch, "/memory")

    async def test_it_takes_its_server_and_key_from_the_client(self) -> None:
        dock = AsyncClient(URL, KEY)
        self.addAsyncCleanup(dock.aclose)
        self.assertIs((await AsyncSandbox.create(client=dock)).client, dock)
