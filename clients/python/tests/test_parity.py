"""Both clients have each operation of the server, with the arguments that the route table gives it."""

import inspect
import json
import os
import unittest
from typing import Any, List, Tuple

import winterdock._async.commands
import winterdock._async.files
import winterdock._async.runs
import winterdock._sync.commands
import winterdock._sync.files
import winterdock._sync.runs
from winterdock import AsyncClient, AsyncSandbox, Client, Sandbox, types
from winterdock._table import CALLS

#: What the route table says, printed by the test that starts these: names in snake case with their arguments.
OPERATIONS = json.loads(os.environ["WINTERDOCK_OPERATIONS"])

#: The methods of the client for TypeScript, and the members of its handle by part, in snake case.
METHODS = json.loads(os.environ["WINTERDOCK_METHODS"])
HANDLE = json.loads(os.environ["WINTERDOCK_HANDLE"])


class Parity(unittest.TestCase):
    def test_every_operation_is_a_method_of_both_clients_with_its_arguments(self) -> None:
        self.assertGreater(len(OPERATIONS), 100)
        self.assertEqual(set(CALLS), {name for name in OPERATIONS})
        for kind in (Client, AsyncClient):
            for name, arguments in OPERATIONS.items():
                taken = list(inspect.signature(getattr(kind, name)).parameters)
                self.assertEqual(taken, ["self", *arguments, "options"], f"{kind.__name__}.{name}")

    def test_streams_and_bytes_have_their_names_in_both_clients_and_nothing_else_is_there(self) -> None:
        for kind in (Client, AsyncClient):
            names = {name for name in dir(kind) if not name.startswith("_")}
            self.assertEqual(names - {"url", "close", "aclose"}, set(METHODS), kind.__name__)

    def test_the_sandbox_in_the_hand_has_the_names_of_the_other_one(self) -> None:
        halves: List[Any] = [winterdock._sync, winterdock._async]
        for half, prefix in zip(halves, ("", "Async")):
            parts = {
                "sandbox": getattr(winterdock, f"{prefix}Sandbox"),
                "commands": getattr(half.commands, f"{prefix}SandboxCommands"),
                "files": getattr(half.files, f"{prefix}SandboxFiles"),
                "runs": getattr(half.runs, f"{prefix}SandboxRuns"),
                "run": getattr(half.runs, f"{prefix}BackgroundRun"),
            }
            self.assertEqual(set(parts), set(HANDLE))
            for part, kind in parts.items():
                names = {name for name in dir(kind) if not name.startswith("_")}
                self.assertEqual(names - {"close", "aclose"}, set(HANDLE[part]), part)

    def test_what_a_sandbox_can_be_created_with_is_what_the_server_takes(self) -> None:
        taken = set(inspect.signature(Sandbox.create).parameters) - {"client", "options"}
        # Another name of `idle_to_suspend_s`.
        self.assertEqual(taken, set(types.CreateInput.__annotations__) - {"timeout_secs"})

    def test_sync_and_async_have_the_same_names_and_arguments(self) -> None:
        pairs: List[Tuple[Any, Any]] = [(Client, AsyncClient), (Sandbox, AsyncSandbox)]
        for part in ("commands", "files", "runs"):
            sync, other = getattr(winterdock._sync, part), getattr(winterdock._async, part)
            name = f"Sandbox{part.capitalize()}"
            pairs.append((getattr(sync, name), getattr(other, f"Async{name}")))
        for sync, other in pairs:
            methods = [name for name in dir(other) if not name.startswith("_")]
            named = sorted(name.replace("aclose", "close") for name in methods)
            self.assertEqual(named, [name for name in dir(sync) if not name.startswith("_")])
            for name in methods:
                one, two = getattr(sync, name.replace("aclose", "close")), getattr(other, name)
                if callable(one):
                    names = [list(inspect.signature(each).parameters) for each in (one, two)]
                    self.assertEqual(names[0], names[1], name)
