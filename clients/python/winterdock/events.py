"""The events of streams: scripts, runs, components and workflows. Each is a dict that says by `event` which it is."""

from __future__ import annotations

import base64
from typing import Any, Dict, List, Literal, Mapping, Optional, TypedDict, Union, cast

from .types import ExecInput, PrintedLine, SandboxRun

Woke = Literal["hot", "warm", "cold"]


class WokeEvent(TypedDict):
    """How the sandbox woke, and from which state."""

    event: Literal["woke"]
    woke: Woke
    took_ms: float


class OutputEvent(TypedDict):
    """A piece of output: its bytes, and the text that they are; None when they are no UTF-8."""

    event: Literal["stdout", "stderr"]
    text: Optional[str]
    bytes: bytes


class ExitEvent(TypedDict):
    """How a script ended."""

    event: Literal["exit"]
    exit_code: int
    cwd: str
    timed_out: bool
    truncated: bool
    took_ms: float
    woke: Woke


ExecEvent = Union[WokeEvent, OutputEvent, ExitEvent]


class _ExecStreamRequired(TypedDict):
    command: str


class ExecStreamInput(_ExecStreamRequired, total=False):
    """What to run. `stdin` may be text or any bytes."""

    cwd: str
    env: Dict[str, str]
    stdin: Union[str, bytes]
    timeout_ms: int


class ExecBytesAnswer(TypedDict):
    """The result of a script, with the outputs as bytes."""

    exit_code: int
    stdout: bytes
    stderr: bytes
    cwd: str
    timed_out: bool
    truncated: bool
    took_ms: float
    woke: Woke


class RunStateEvent(TypedDict):
    """A run as it stands: `exit` is the last event. `next`: the offset after it."""

    event: Literal["run", "exit"]
    run: SandboxRun
    next: int


class RunOutputEvent(TypedDict):
    """A piece of a run's output."""

    event: Literal["stdout", "stderr"]
    bytes: bytes
    next: int


class RunGapEvent(TypedDict):
    """Output of a run that is no longer there."""

    event: Literal["gap"]
    dropped: int
    next: int


RunEvent = Union[RunStateEvent, RunOutputEvent, RunGapEvent]


class LogLineEvent(TypedDict):
    """A line that a sandbox printed."""

    event: Literal["line"]
    line: PrintedLine


class LogGapEvent(TypedDict):
    """Lines are missing here; `dropped` is None when nobody knows how many."""

    event: Literal["gap"]
    dropped: Optional[int]


LogEvent = Union[LogLineEvent, LogGapEvent]

#: Of a component or a workflow: `woke`, `running`, `log`, `component`, and last `result` with the whole answer.
WorkbookEvent = Dict[str, Any]


def exec_body(given: Mapping[str, Any]) -> ExecInput:
    """The input of a script as the contract has it."""
    body = dict(given)
    stdin = body.pop("stdin", None)
    if isinstance(stdin, str):
        body["stdin"] = stdin
    elif stdin is not None:
        body["stdin_base64"] = base64.b64encode(stdin).decode("ascii")
    return cast("ExecInput", body)


def piece_bytes(piece: Mapping[str, Any]) -> bytes:
    """The bytes of a piece of output."""
    text: str = piece["text"]
    return text.encode("utf-8") if piece.get("encoding") is None else base64.b64decode(text)


def exec_event(event: str, value: Dict[str, Any]) -> ExecEvent:
    """An event of a script from its name and its data."""
    if event not in ("stdout", "stderr"):
        return cast("ExecEvent", {"event": event, **value})
    data = piece_bytes(value)
    text: Optional[str]
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        # Bytes that are no UTF-8 have no text.
        text = None
    return cast("ExecEvent", {"event": event, "text": text, "bytes": data})


def run_event(event: str, value: Dict[str, Any], next: int) -> Optional[RunEvent]:
    """An event of a run, or None for one that this client does not know."""
    if event in ("run", "exit"):
        return cast("RunEvent", {"event": event, "run": value, "next": next})
    if event == "gap":
        return {"event": "gap", "dropped": value["dropped"], "next": next}
    if event in ("stdout", "stderr"):
        return cast("RunEvent", {"event": event, "bytes": piece_bytes(value), "next": next})
    return None


def joined_text(pieces: List[bytes]) -> str:
    """Output as text; what is no UTF-8 becomes U+FFFD."""
    return b"".join(pieces).decode("utf-8", "replace")
