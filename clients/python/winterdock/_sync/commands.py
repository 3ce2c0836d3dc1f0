"""Printed by `npm run client:calls`. Not to be written by hand.

`box.commands`: scripts in the sandbox's shell."""

from __future__ import annotations

import base64
from typing import Any, Callable, Dict, Literal, Optional, Union, cast, overload

from .. import types
from .._call import CallOptions
from .._errors import ApiError
from .._results import CollectedOutput, CommandResult, command_result, given, milliseconds
from ..events import ExecStreamInput
from .client import Client
from .runs import BackgroundRun, SandboxRuns
from .wire import settled

OnOutput = Callable[[str], object]


class SandboxCommands:
    """Runs scripts to their end, or begins them in the background."""

    def __init__(self, client: Client, sandbox: str, runs: SandboxRuns) -> None:
        self._client = client
        self._sandbox = sandbox
        self._runs = runs

    @overload
    def run(
        self,
        command: str,
        *,
        background: Literal[True],
        cwd: Optional[str] = None,
        env: Optional[Dict[str, str]] = None,
        stdin: Optional[str] = None,
        timeout: Optional[float] = None,
        options: Optional[CallOptions] = None,
    ) -> BackgroundRun: ...

    @overload
    def run(
        self,
        command: str,
        *,
        on_stdout: Optional[OnOutput] = None,
        on_stderr: Optional[OnOutput] = None,
        cwd: Optional[str] = None,
        env: Optional[Dict[str, str]] = None,
        stdin: Optional[Union[str, bytes]] = None,
        timeout: Optional[float] = None,
        background: Literal[False] = False,
        options: Optional[CallOptions] = None,
    ) -> CommandResult: ...

    def run(
        self,
        command: str,
        *,
        on_stdout: Optional[OnOutput] = None,
        on_stderr: Optional[OnOutput] = None,
        cwd: Optional[str] = None,
        env: Optional[Dict[str, str]] = None,
        stdin: Optional[Union[str, bytes]] = None,
        timeout: Optional[float] = None,
        background: bool = False,
        options: Optional[CallOptions] = None,
    ) -> Union[CommandResult, BackgroundRun]:
        """Runs a script to its end. Wakes a sleeping sandbox.

        The callbacks get the output as it comes, as text in which what is no UTF-8 is replaced; one that raises stops
        the script, and so does a call that is cancelled or interrupted. `timeout`: seconds from its turn on, else the
        time that the policy gives a call. Never sent again: a lost connection is `network`.

        With `background` it is begun on the server and goes on by itself.
        """
        if background:
            if isinstance(stdin, bytes) or on_stdout is not None or on_stderr is not None:
                raise TypeError("In the background stdin is text, and output is followed: run.wait(on_stdout=…).")
            return self._runs.start(command, cwd=cwd, env=env, stdin=stdin, timeout=timeout, options=options)
        body: Any = given(command=command, cwd=cwd, env=env, stdin=stdin, timeout_ms=milliseconds(timeout))
        output = CollectedOutput()
        if on_stdout is None and on_stderr is None and not isinstance(stdin, bytes):
            answer = self._client.exec_in_instance(
                self._sandbox, cast("types.ExecInput", body), options=options
            )
            output.add("stdout", _bytes_of(answer["stdout"], answer.get("stdout_encoding")))
            output.add("stderr", _bytes_of(answer["stderr"], answer.get("stderr_encoding")))
            return command_result(answer, output)
        stream = self._client.exec_stream(self._sandbox, cast("ExecStreamInput", body), options=options)
        with stream:
            for event in stream:
                if event["event"] == "exit":
                    return command_result(event, output)
                if event["event"] != "woke":
                    text = output.add(event["event"], event["bytes"])
                    told = on_stdout if event["event"] == "stdout" else on_stderr
                    if told is not None:
                        settled(told(text))
        raise ApiError("unexpected", "A script ended without its exit.")


def _bytes_of(output: str, encoding: Optional[str]) -> bytes:
    return output.encode("utf-8", "replace") if encoding is None else base64.b64decode(output)
