"""Printed by `npm run client:calls`. Not to be written by hand.

The client against a real server."""

from __future__ import annotations

import io
import os
import unittest
from typing import Any, List, Tuple

from winterdock import ApiError, Client, CallOptions

from .bad_network import BadNetwork
from .server import ADMIN_KEY, ENDLESS, KEY, MAX_FILE, URL, new_id


class ClientCase(unittest.TestCase):
    def setUp(self) -> None:
        self.dock = Client()
        self.addCleanup(self.dock.close)
        self.box = new_id()

    def test_a_sandbox_lives_its_whole_life(self) -> None:
        dock, id = self.dock, self.box
        made = dock.create_instance({"id": id, "tenant": "acme", "labels": {"team": "red"}})
        self.assertEqual((made["id"], made["state"], made["labels"]), (id, "created", {"team": "red"}))
        answer = dock.exec_in_instance(id, {"command": "echo hello > note; cat note"})
        self.assertEqual((answer["exit_code"], answer["stdout"], answer["woke"]), (0, "hello\n", "cold"))
        self.assertEqual((dock.patch_instance(id, {"name": id}))["name"], id)
        evaluated = dock.eval_in_instance(id, {"language": "js", "code": "6 * 7"})
        self.assertEqual(evaluated["value"], 42)
        self.assertEqual((dock.suspend_instance(id, {"reason": "lunch"}))["state"], "suspended")
        self.assertEqual((dock.freeze_instance(id))["state"], "frozen")
        self.assertEqual((dock.resume_instance(id))["instance"]["state"], "active")
        events = (dock.list_instance_events(id, {"type": "transition", "limit": 1})).items
        self.assertEqual((events[0]["from"], events[0]["to"]), ("frozen", "active"))
        dock.archive_instance(id)
        dock.delete_instance(id)
        with self.assertRaises(ApiError) as raised:
            dock.get_instance(id)
        self.assertEqual((raised.exception.code, raised.exception.status), ("gone", 410))

    def test_files_go_in_and_out_as_bytes_with_their_versions_parts_and_conditions(self) -> None:
        dock, id = self.dock, self.box
        dock.create_instance({"id": id, "tenant": "acme"})
        odd = "/a b/ü?#%.bin"
        data = bytes(at % 251 for at in range(300_000))
        first = dock.put_file(id, "workspace", odd, data)
        self.assertTrue(first.created and first.etag)
        got = dock.get_file(id, "workspace", odd)
        self.assertEqual((got.size, got.etag, got.filename), (len(data), first.etag, "ü?#%.bin"))
        self.assertEqual(got.read(), data)
        part = dock.get_file(id, "workspace", odd, options=CallOptions(range=(250, 252)))
        self.assertEqual((part.status, part.read()), (206, bytes([250, 0, 1])))
        same = dock.get_file(id, "workspace", odd, options=CallOptions(if_none_match=first.etag))
        self.assertEqual((same.status, same.read()), (304, b""))
        stat = dock.stat_file(id, "workspace", odd)
        self.assertEqual((stat.size, stat.etag), (len(data), first.etag))
        self.assertGreater(stat.mtime or 0, 0)
        second = dock.put_file(id, "workspace", odd, "tëxt", options=CallOptions(if_match=first.etag))
        self.assertFalse(second.created)
        with self.assertRaises(ApiError) as raised:
            dock.put_file(id, "workspace", odd, "other", options=CallOptions(if_match=first.etag))
        self.assertEqual((raised.exception.code, raised.exception.status), ("precondition_failed", 412))
        dock.move_file(id, "workspace", {"from": odd, "to": "/plain"})
        self.assertEqual((dock.get_file(id, "workspace", "plain")).text(), "tëxt")
        self.assertEqual([one["volume"] for one in dock.list_volumes(id)], ["workspace", "memory", "tmp"])
        found = (dock.search_files(id, {"q": "xt", "in": "content"})).items
        self.assertEqual([(one["path"], one["line"]) for one in found], [("/plain", 1)])
        self.assertEqual((dock.query_files(id, {"sql": "SELECT ? AS one", "params": [1]}))["rows"], [[1]])
        dock.delete_file(id, "workspace", "/plain")
        with self.assertRaises(ApiError) as raised:
            dock.stat_file(id, "workspace", "/plain")
        self.assertEqual((raised.exception.code, raised.exception.status), ("not_found", 404))

    def test_an_upload_may_be_a_file_or_pieces_of_unknown_length_and_tells_its_progress(self) -> None:
        dock, id = self.dock, self.box
        dock.create_instance({"id": id, "tenant": "acme"})
        piece = b"\x07" * 65_536
        steps: List[Tuple[int, Any]] = []
        noting = CallOptions(on_progress=lambda sent, total: steps.append((sent, total)))
        dock.put_file(id, "workspace", "/s", (piece for _ in range(12)), options=noting)
        self.assertEqual(steps[-1], (12 * 65_536, None))
        file = io.BytesIO(b"skipped" + piece * 12)
        file.seek(7)
        dock.put_file(id, "workspace", "/b", file, options=noting)
        self.assertEqual(steps[-1], (12 * 65_536, 12 * 65_536))
        steps.clear()
        back = dock.get_file(id, "workspace", "/s", options=noting)
        self.assertEqual(back.read(), piece * 12)
        self.assertGreater(len(steps), 1)
        self.assertEqual(steps[-1], (12 * 65_536, 12 * 65_536))
        with dock.get_file(id, "workspace", "/s") as left:
            for _ in left:
                break
        with open(__file__, "rb") as source:
            dock.put_file(id, "workspace", "/me", source)
        self.assertEqual((dock.stat_file(id, "workspace", "/me")).size, os.path.getsize(__file__))
        with self.assertRaises(TypeError):
            with open(__file__, encoding="utf-8") as text:
                dock.put_file(id, "workspace", "/me", text)  # type: ignore[arg-type]
        dock.put_file(id, "workspace", "/none", b"")
        self.assertEqual((dock.get_file(id, "workspace", "/none")).read(), b"")

    def test_an_upload_that_is_refused_while_it_is_sent_says_why(self) -> None:
        self.dock.create_instance({"id": self.box, "tenant": "acme"})
        piece = b"x" * 65_536
        for size in (b"x" * (MAX_FILE + 1), (piece for _ in range(MAX_FILE // 65_536 * 4))):
            with self.assertRaises(ApiError) as raised:
                self.dock.put_file(self.box, "workspace", "/large", size)
            self.assertEqual((raised.exception.code, raised.exception.status), ("too_large", 413))

    def test_a_list_is_one_page_and_everything_when_iterated(self) -> None:
        dock = self.dock
        label = f"part:{self.box}"
        ids = [new_id() for _ in range(5)]
        for id in ids:
            dock.create_instance({"id": id, "tenant": "acme", "labels": {"part": self.box}})
        page = dock.list_instances({"label": label, "sort": "created", "limit": 2})
        self.assertEqual((len(page.items), page.total, page.total_is_exact), (2, 5, True))
        more = dock.list_instances({"label": label, "sort": "created", "limit": 2, "cursor": page.next or ""})
        self.assertNotIn(page.items[0]["id"], [one["id"] for one in more.items])
        found = [one["id"] for one in dock.list_instances({"label": label, "limit": 2})]
        self.assertEqual(sorted(found), sorted(ids))

    def test_a_script_tells_what_it_does_while_it_does_it_and_how_it_ended(self) -> None:
        self.dock.create_instance({"id": self.box, "tenant": "acme"})
        told: List[Any] = []
        command = "echo one; echo two >&2; printf '\\377'; cd /tmp; exit 3"
        for event in self.dock.exec_stream(self.box, {"command": command}):
            told.append(event)
        self.assertEqual((told[0]["event"], told[0]["woke"]), ("woke", "cold"))
        self.assertEqual([told[-1][name] for name in ("event", "exit_code", "cwd")], ["exit", 3, "/tmp"])
        said = [(one["event"], one["text"], one["bytes"]) for one in told[1:-1]]
        self.assertIn(("stderr", "two\n", b"two\n"), said)
        self.assertEqual(b"".join(one[2] for one in said if one[0] == "stdout"), b"one\n\xff")
        data = bytes(range(256)) * 40
        answer = self.dock.exec_bytes(self.box, {"command": "cat; cat missing", "stdin": data})
        self.assertEqual(answer["stdout"], data)
        self.assertIn(b"missing", answer["stderr"])

    def test_leaving_a_stream_stops_the_script(self) -> None:
        self.dock.create_instance({"id": self.box, "tenant": "acme"})
        with self.dock.exec_stream(self.box, {"command": ENDLESS}) as events:
            for event in events:
                if event["event"] == "stdout":
                    break
        # Calls run one at a time: this one runs only when the endless one is over.
        self.assertEqual((self.dock.exec_in_instance(self.box, {"command": "ls"}))["stdout"], "")

    def test_a_stream_that_is_closed_after_its_end_leaves_the_connections_of_others_alone(self) -> None:
        self.dock.create_instance({"id": self.box, "tenant": "acme"})
        stream = self.dock.exec_stream(self.box, {"command": "true"})
        for _ in stream:
            pass
        download = self.dock.get_instance(self.box)
        stream.close()
        self.assertEqual((self.dock.get_instance(self.box))["id"], download["id"])

    def test_a_refusal_carries_its_code_status_hint_request_id_and_all_the_server_says_of_it(self) -> None:
        self.dock.create_instance({"id": self.box, "tenant": "acme"})
        with self.assertRaises(ApiError) as raised:
            self.dock.freeze_instance(self.box, {}, options=CallOptions(headers={"X-Request-Id": "my-own"}))
        error = raised.exception
        self.assertEqual((error.code, error.status, error.request_id), ("invalid_transition", 409, "my-own"))
        problem = error.problem or {}
        self.assertEqual([problem[name] for name in ("from", "to", "allowed")], ["created", "frozen", ["active"]])
        stranger = Client(key="another")
        self.addCleanup(stranger.close)
        with self.assertRaises(ApiError) as raised:
            stranger.list_instances()
        self.assertEqual((raised.exception.code, raised.exception.status), ("unauthorized", 401))
        self.assertTrue(raised.exception.hint)
        with self.assertRaises(ApiError) as raised:
            self.dock.exec_stream("nobody", {"command": "true"}).__next__()
        self.assertEqual(raised.exception.code, "not_found")
        with self.assertRaises(ApiError) as raised:
            self.dock.get_instance(self.box, options=CallOptions(headers={"X-A": "b\r\nX-C: d"}))
        self.assertEqual((raised.exception.code, raised.exception.status), ("validation", 0))

    def test_a_run_is_followed_from_any_byte_and_closing_does_not_stop_it(self) -> None:
        self.dock.create_instance({"id": self.box, "tenant": "acme"})
        run = (self.dock.start_run(self.box, {"command": "echo begun; sleep 0.3; echo ended"}))["id"]
        with self.dock.follow_run(self.box, run) as events:
            for event in events:
                if event["event"] == "stdout":
                    break
        told = [event for event in self.dock.follow_run(self.box, run, offset=6)]
        self.assertEqual(b"".join(one["bytes"] for one in told if one["event"] == "stdout"), b"ended\n")
        self.assertEqual(told[-1]["event"], "exit")
        self.assertEqual(told[-1]["next"], 12)

    def test_the_ledger_is_followed_from_a_line_on_without_a_gap(self) -> None:
        dock = Client(key=ADMIN_KEY)
        self.addCleanup(dock.close)
        start = (dock.list_events({"limit": 1})).items[0]["seq"]
        for _ in range(3):
            dock.create_instance({"id": new_id(), "tenant": self.box})
        found: List[str] = []
        with dock.stream_events({"tenant": self.box, "last_event_id": start}) as lines:
            for line in lines:
                found.append(line["type"])
                if len(found) == 3:
                    break
        self.assertEqual(len(found), 3)

    def test_the_rest_of_the_table_and_a_key_that_is_made_for_each_call(self) -> None:
        asked: List[str] = []

        def key() -> str:
            asked.append("key")
            return ADMIN_KEY

        keyed = Client(f"{URL}/", key)
        self.addCleanup(keyed.close)
        before = keyed.get_settings()
        changed = keyed.patch_settings({"idle_to_suspend_s": before["idle_to_suspend_s"] + 1})
        self.assertEqual(changed, {**before, "idle_to_suspend_s": before["idle_to_suspend_s"] + 1})
        self.assertEqual(len(asked), 2)
        self.assertEqual(keyed.health(), {"status": "ok"})
        self.assertIn("winterdock_instances", keyed.metrics())
        self.assertEqual((keyed.openapi())["openapi"], "3.1.0")
        dry = keyed.start_job({"verb": "freeze", "filter": {"tenant": "nobody"}, "dry_run": True})
        self.assertIn("will", dry)


class BadNetworkCase(unittest.TestCase):
    def setUp(self) -> None:
        self.network = BadNetwork(URL)
        self.addCleanup(self.network.close)
        self.dock = Client(self.network.url, KEY)
        self.addCleanup(self.dock.close)
        self.box = new_id()

    def test_what_is_safe_is_sent_again_and_what_is_not_is_not(self) -> None:
        self.network.next[:] = ["lose"]
        with self.assertRaises(ApiError) as raised:
            self.dock.create_instance({"id": self.box, "tenant": "acme"})
        self.assertEqual((raised.exception.code, raised.exception.status), ("network", 0))
        self.dock.create_instance({"id": self.box, "tenant": "acme"})
        self.assertEqual(len(self.network.seen), 2)
        self.network.next[:] = ["lose", "mute"]
        self.assertEqual((self.dock.get_instance(self.box))["id"], self.box)
        self.network.next[:] = ["busy"]
        self.assertEqual((self.dock.get_instance(self.box))["id"], self.box)
        self.network.next[:] = ["busy-mute"]
        with self.assertRaises(ApiError) as raised:
            self.dock.get_instance(self.box)
        self.assertEqual((raised.exception.code, raised.exception.status), ("capacity", 503))
        self.network.next[:] = ["lose"] * 3
        with self.assertRaises(ApiError) as raised:
            self.dock.get_instance(self.box)
        self.assertEqual(raised.exception.code, "network")
        self.network.next[:] = ["lose"]
        with self.assertRaises(ApiError):
            self.dock.get_instance(self.box, options=CallOptions(retries=0))

    def test_a_call_of_which_nothing_is_done_yet_is_sent_again_whatever_it_does(self) -> None:
        self.dock.create_instance({"id": self.box, "tenant": "acme"})
        self.dock.put_file(self.box, "workspace", "/a", b"a")
        self.network.next[:] = ["unverified"]
        self.assertGreater(len((self.dock.ship_instance(self.box, {})).read()), 100)
        self.assertEqual(self.network.seen[-1], self.network.seen[-2])

    def test_a_deletion_whose_answer_was_lost_is_done(self) -> None:
        self.dock.create_instance({"id": self.box, "tenant": "acme"})
        self.dock.put_file(self.box, "workspace", "/a", b"a")
        self.network.next[:] = ["mute"]
        self.dock.delete_file(self.box, "workspace", "/a")
        self.assertEqual(self.network.seen[-1], self.network.seen[-2])
        with self.assertRaises(ApiError) as raised:
            self.dock.delete_file(self.box, "workspace", "/a")
        self.assertEqual(raised.exception.code, "not_found")

    def test_an_answer_that_breaks_off_is_a_network_error_and_never_an_early_end(self) -> None:
        self.dock.create_instance({"id": self.box, "tenant": "acme"})
        self.dock.put_file(self.box, "workspace", "/a", b"a" * 200_000)
        self.network.next[:] = ["cut"]
        download = self.dock.get_file(self.box, "workspace", "/a")
        with self.assertRaises(ApiError) as raised:
            download.read()
        self.assertEqual(raised.exception.code, "network")
        self.network.next[:] = ["cut"]
        with self.assertRaises(ApiError) as raised:
            for _ in self.dock.exec_stream(self.box, {"command": "echo one; sleep 1"}):
                pass
        self.assertEqual(raised.exception.code, "network")
        self.network.next[:] = ["cut"]
        self.assertEqual((self.dock.get_instance(self.box))["id"], self.box)

    def test_followers_connect_again_at_the_next_byte(self) -> None:
        self.dock.create_instance({"id": self.box, "tenant": "acme"})
        run = (self.dock.start_run(self.box, {"command": "echo one; sleep 0.2; echo two"}))["id"]
        before = len(self.network.seen)
        self.network.next[:] = ["cut", "mute", "cut"]
        output = b""
        for event in self.dock.follow_run(self.box, run, options=CallOptions(retries=3)):
            if event["event"] == "stdout":
                output += event["bytes"]
        self.assertEqual(output, b"one\ntwo\n")
        self.assertGreaterEqual(len(self.network.seen) - before, 4)

    def test_a_log_is_followed_over_broken_connections_without_a_repeat(self) -> None:
        self.dock.create_instance({"id": self.box, "tenant": "acme"})
        self.dock.exec_in_instance(self.box, {"command": "echo zero"})
        self.dock.start_run(self.box, {"command": "for n in 1 2 3; do echo $n; sleep 0.4; done"})
        self.network.next[:] = ["cut", "cut"]
        found: List[str] = []
        with self.dock.follow_instance_logs(self.box, options=CallOptions(retries=3)) as events:
            for event in events:
                if event["event"] == "line":
                    found.append(event["line"]["text"])
                if found[-1:] == ["3"]:
                    break
        self.assertEqual(found, ["zero", "1", "2", "3"])

    def test_a_silent_server_is_given_up_after_the_timeout(self) -> None:
        self.dock.create_instance({"id": self.box, "tenant": "acme"})
        with self.assertRaises(ApiError) as raised:
            self.dock.exec_in_instance(self.box, {"command": "sleep 20"}, options=CallOptions(timeout=0.3))
        self.assertEqual(raised.exception.code, "network")
        self.assertIn("timed out", raised.exception.message)
        with self.assertRaises(ApiError) as raised:
            for _ in self.dock.exec_stream(self.box, {"command": "sleep 20"}, options=CallOptions(timeout=0.3)):
                pass
        self.assertEqual(raised.exception.code, "network")
        self.assertIn("timed out", raised.exception.message)

    def test_text_that_is_no_unicode_arrives_as_json_has_it(self) -> None:
        made = self.dock.create_instance({"id": self.box, "tenant": "acme", "labels": {"a": "\ud800ü"}})
        self.assertEqual(made["labels"]["a"].encode("utf-8", "replace")[-2:], "ü".encode())

    def test_another_server_is_unexpected_and_none_is_network(self) -> None:
        with self.assertRaises(ApiError) as raised:
            Client(f"{URL}/elsewhere", KEY).get_instance("a")
        self.assertIn(raised.exception.code, ("unexpected", "not_found"))
        with self.assertRaises(ApiError) as raised:
            Client("http://127.0.0.1:9", KEY, retries=0).get_instance("a")
        self.assertEqual((raised.exception.code, raised.exception.status), ("network", 0))
