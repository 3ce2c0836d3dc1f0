"""What sends nothing: addresses, events out of bytes, types."""

import ast
import pathlib
import pickle
import random
import sys
import typing
import unittest

from winterdock import ApiError, types
from winterdock._address import address_in, path_of, search_of, whereabouts
from winterdock._call import is_repeatable, wait_for_retry, CallOptions
from winterdock._results import CollectedOutput, volume_path_of
from winterdock._server_sent import ServerSentParser
from winterdock._table import CALLS

PACKAGE = pathlib.Path(types.__file__).parent


class Addresses(unittest.TestCase):
    def test_an_address_is_normalised_and_what_is_none_is_refused(self) -> None:
        self.assertEqual(address_in("localhost:3000"), "http://localhost:3000")
        self.assertEqual(address_in("HTTPS://Dock.Example:443/a/"), "https://dock.example/a")
        self.assertEqual(address_in("http://[::1]:80"), "http://[::1]")
        for wrong in ("ftp://a", "http://a:b@c", "http://", "http://a b", "http://a:99999", "http://a\r\nb", ""):
            with self.assertRaises(ValueError, msg=wrong):
                address_in(wrong)
        self.assertEqual(whereabouts({"WINTERDOCK_URL": "", "WINTERDOCK_KEY": "k"}), (None, "k"))

    def test_parameters_are_encoded_and_those_that_would_lead_elsewhere_are_refused(self) -> None:
        file = "/api/instances/:id/volumes/:volume/*"
        path = path_of(file, ["a/b", "tmp", "/a b/ü?#%"])
        self.assertEqual(path, "/api/instances/a%2Fb/volumes/tmp/a%20b/%C3%BC%3F%23%25")
        for id, name in (("", "a"), ("..", "a"), ("a", "/a/../b"), ("a", "a//b"), ("a", "")):
            with self.assertRaises(ApiError) as raised:
                path_of(file, [id, "tmp", name])
            self.assertEqual((raised.exception.code, raised.exception.status), ("validation", 0))
        with self.assertRaises(ApiError):
            path_of(file, ["a", "tmp", "\ud800"])
        self.assertEqual(search_of({"a": None, "b": True, "c": "ü &", "d": 0}), "?b=true&c=%C3%BC+%26&d=0")
        self.assertEqual(search_of(None), "")

    def test_paths_are_those_of_the_shell(self) -> None:
        self.assertEqual(volume_path_of("a/../b/./c"), ("workspace", "/b/c"))
        self.assertEqual(volume_path_of("/memory"), ("memory", "/"))
        self.assertEqual(volume_path_of("/tmp/x").shell(), "/tmp/x")
        for wrong in ("/etc/passwd", "../..", "/", "/workspaces/a"):
            with self.assertRaises(ApiError):
                volume_path_of(wrong)


class Streams(unittest.TestCase):
    TEXT = (
        "\ufeff: hello\n\nevent: stdout\ndata: ü\ndata:  two\nid: 7\r\n\r\nretry: 250\rdata\r\r"
        "id: a\0b\nnonsense: 1\ndata: last\n\ndata: never ended"
    )

    def test_events_are_the_same_however_their_bytes_are_cut(self) -> None:
        data = self.TEXT.replace("\ufeff", "").encode()
        whole = ServerSentParser()
        expected = whole.feed(data)
        self.assertEqual(
            [tuple(event) for event in expected],
            [("stdout", "ü\n two", "7"), ("message", "", "7"), ("message", "last", "7")],
        )
        self.assertEqual(whole.retry, 0.25)
        for seed in range(200):
            chance = random.Random(seed)
            parser, found, at = ServerSentParser(), [], 0
            while at < len(data):
                size = chance.choice((1, 2, 3, 7, 40))
                found.extend(parser.feed(data[at : at + size]))
                at += size
            self.assertEqual(found, expected, seed)

    def test_a_long_line_in_many_pieces_is_read_in_linear_time(self) -> None:
        parser = ServerSentParser()
        parser.feed(b"data: ")
        for _ in range(20_000):
            self.assertEqual(parser.feed(b"x" * 100), [])
        self.assertEqual(len(parser.feed(b"\n\n")[0].data), 2_000_000)

    def test_a_character_that_is_cut_between_two_pieces_is_put_together(self) -> None:
        output = CollectedOutput()
        self.assertEqual(output.add("stdout", "ü".encode()[:1]), "")
        self.assertEqual(output.add("stdout", "ü".encode()[1:] + b"\xff"), "ü\ufffd")
        self.assertEqual(output.text("stdout"), "ü\ufffd")


class Errors(unittest.TestCase):
    def test_an_error_crosses_processes_with_all_it_says(self) -> None:
        error = ApiError("capacity", "Full.", status=503, hint="Wait.", retry_after=2, problem={"a": 1})
        other = pickle.loads(pickle.dumps(error))
        self.assertEqual(other.__dict__, error.__dict__)
        self.assertEqual(str(other), "capacity: Full. Wait.")

    def test_what_is_sent_again_and_when(self) -> None:
        plain, matched = CallOptions(), CallOptions(if_match='"1"')
        repeated = {name for name, line in CALLS.items() if is_repeatable(line, plain, True)}
        self.assertEqual({CALLS[name].method for name in repeated}, {"GET", "DELETE"})
        self.assertTrue(is_repeatable(CALLS["put_file"], matched, True))
        self.assertFalse(is_repeatable(CALLS["put_file"], matched, False))
        self.assertIsNone(wait_for_retry(ApiError("conflict", "", status=409, retry_after=1), 1))
        self.assertIsNone(wait_for_retry(ApiError("capacity", "", status=503), 1))
        self.assertIsNone(wait_for_retry(ApiError("capacity", "", status=503, retry_after=31), 1))
        self.assertGreaterEqual(wait_for_retry(ApiError("capacity", "", status=503, retry_after=1), 1) or 0, 1)


class Package(unittest.TestCase):
    def test_it_imports_nothing_but_the_standard_library_and_itself(self) -> None:
        names = getattr(sys, "stdlib_module_names", None)
        if names is None:
            self.skipTest("This Python does not name its standard library.")
        for path in PACKAGE.rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text("utf-8"))):
                if isinstance(node, ast.Import):
                    for alias in node.names:
                        self.assertIn(alias.name.split(".")[0], names, path)
                elif isinstance(node, ast.ImportFrom) and node.level == 0:
                    self.assertIn((node.module or "").split(".")[0], names, path)

    def test_every_type_can_be_resolved_as_libraries_do_that_validate(self) -> None:
        found = [value for value in vars(types).values() if isinstance(value, type)]
        classes = [value for value in found if value.__module__ == types.__name__]
        self.assertGreater(len(classes), 150)
        for one in classes:
            typing.get_type_hints(one)
        self.assertEqual(types.CreateInput.__required_keys__, {"tenant"})
        self.assertIn("labels", types.CreateInput.__optional_keys__)
        self.assertIn("from", types.Event.__required_keys__)
