"""Printed by `npm run client:calls`. Not to be written by hand.

Runs of a sandbox: scripts that outlive the request that began them."""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, cast

from .. import types
from .._call import CallOptions
from .._results import CollectedOutput, BackgroundResult, given, milliseconds, background_result
from ..events import RunEvent
from .client import Client
from .pages import Pages
from .streams import Stream
from .wire import settled


class BackgroundRun:
    """A script that runs on the server, whoever listens."""

    def __init__(self, client: Client, sandbox: str, id: str) -> None:
        self.id = id
        self._client = client
        self._sandbox = sandbox

    def info(self, *, options: Optional[CallOptions] = None) -> types.SandboxRun:
        """How it stands now."""
        return self._client.get_run(self._sandbox, self.id, options=options)

    def follow(self, *, offset: int = 0, options: Optional[CallOptions] = None) -> Stream[RunEvent]:
        """Its output from `offset` on as it comes, and at last `exit`. Closing it does not stop the run."""
        return self._client.follow_run(self._sandbox, self.id, offset=offset, options=options)

    def wait(
        self,
        *,
        on_stdout: Optional[Callable[[str], object]] = None,
        on_stderr: Optional[Callable[[str], object]] = None,
        offset: int = 0,
        options: Optional[CallOptions] = None,
    ) -> BackgroundResult:
        """Waits for its end, and gives all its output; the callbacks get it as it comes."""
        output = CollectedOutput()
        dropped = 0
        last: Optional[types.SandboxRun] = None
        with self.follow(offset=offset, options=options) as events:
            for event in events:
                if event["event"] == "run" or event["event"] == "exit":
                    last = event["run"]
                elif event["event"] == "gap":
                    dropped += event["dropped"]
                else:
                    text = output.add(event["event"], event["bytes"])
                    told = on_stdout if event["event"] == "stdout" else on_stderr
                    if told is not None:
                        settled(told(text))
        return background_result(last or self.info(options=options), output, dropped)

    def stop(self, *, options: Optional[CallOptions] = None) -> types.SandboxRun:
        """Stops it, and answers with its end. What its commands wrote until then stays."""
        return self._client.stop_run(self._sandbox, self.id, options=options)


class SandboxRuns:
    """`box.runs`."""

    def __init__(self, client: Client, sandbox: str) -> None:
        self._client = client
        self._sandbox = sandbox

    def start(
        self,
        command: str,
        *,
        cwd: Optional[str] = None,
        env: Optional[Dict[str, str]] = None,
        stdin: Optional[str] = None,
        timeout: Optional[float] = None,
        options: Optional[CallOptions] = None,
    ) -> BackgroundRun:
        """Begins a script that goes on when this program ends. Wakes a sleeping sandbox. Never sent again."""
        body: Any = given(command=command, cwd=cwd, env=env, stdin=stdin, timeout_ms=milliseconds(timeout))
        run = self._client.start_run(self._sandbox, cast("types.StartRunInput", body), options=options)
        return self.get(run["id"])

    def get(self, id: str) -> BackgroundRun:
        """A run by its id. Asks nothing: `info()` raises `not_found` when there is none."""
        return BackgroundRun(self._client, self._sandbox, id)

    def list(
        self, query: Optional[types.RunsQuery] = None, *, options: Optional[CallOptions] = None
    ) -> Pages[types.SandboxRun]:
        """The runs, newest first: those under way, and as many ended ones as the server keeps."""
        return self._client.list_runs(self._sandbox, query, options=options)
