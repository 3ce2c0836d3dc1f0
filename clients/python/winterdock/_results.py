"""What the sandbox object answers with, and the paths that it takes. Pure."""

from __future__ import annotations

import codecs
from typing import Any, Dict, List, Literal, Mapping, NamedTuple, Optional, TypedDict, cast

from ._call import Volume
from ._errors import ApiError
from .events import Woke
from .types import FolderItem, SandboxRun

#: Where commands begin, and what a relative path is relative to.
HOME = "/workspace"


class CommandResult(NamedTuple):
    """How a script ended. An exit code other than 0 is a result, not an error."""

    exit_code: int
    #: Its output as text; what is no UTF-8 is replaced.
    stdout: str
    stderr: str
    #: Where it ended.
    cwd: str
    timed_out: bool
    #: The output was longer than an answer holds.
    truncated: bool
    took_ms: float
    #: Where the sandbox woke from.
    woke: Woke


class BackgroundResult(NamedTuple):
    """How a background script ended."""

    #: None when it did not come to an end of its own: see `state`.
    exit_code: Optional[int]
    stdout: str
    stderr: str
    #: `done`; `stopped`, `failed` or `lost` (the server was restarted): `reason` says why.
    state: Literal["queued", "running", "done", "stopped", "failed", "lost"]
    reason: Optional[str]
    timed_out: bool
    #: Bytes of the outputs that the server no longer had.
    dropped: int
    took_ms: Optional[float]


class FileEntry(FolderItem):
    """A file, folder or link."""

    #: Its whole path, as the shell has it.
    path: str


class WatchedChange(TypedDict):
    """What happened to a file. A move is a removal and a creation."""

    type: Literal["created", "changed", "removed"]
    #: As the shell has it.
    path: str
    #: Bytes; None for what is gone.
    size: Optional[int]


class VolumePath(NamedTuple):
    """A file's place in the contract: its volume, and its path in it."""

    volume: Volume
    path: str

    def shell(self) -> str:
        """The path as the shell has it."""
        return f"/{self.volume}" if self.path == "/" else f"/{self.volume}{self.path}"

    def below(self, name: str) -> VolumePath:
        """Something directly in this folder."""
        return VolumePath(self.volume, f"/{name}" if self.path == "/" else f"{self.path}/{name}")


def volume_path_of(path: str) -> VolumePath:
    """Reads a path as the shell does; `.` and `..` are resolved.

    Raises `validation`, and nothing is sent, for a path outside the three volumes.
    """
    parts: List[str] = []
    for part in (path if path.startswith("/") else f"{HOME}/{path}").split("/"):
        if part == "..":
            del parts[-1:]
        elif part not in ("", "."):
            parts.append(part)
    if parts and parts[0] in ("workspace", "memory", "tmp"):
        return VolumePath(cast("Volume", parts[0]), f"/{'/'.join(parts[1:])}")
    raise ApiError(
        "validation",
        f'"{path}" is in none of /workspace, /memory and /tmp.',
        hint="A relative path is one in /workspace.",
    )


class CollectedOutput:
    """Both outputs of a script; a character that is cut between two pieces is put together again."""

    def __init__(self) -> None:
        self._decoders = {name: codecs.getincrementaldecoder("utf-8")("replace") for name in ("stdout", "stderr")}
        self._texts: Dict[str, List[str]] = {"stdout": [], "stderr": []}

    def add(self, stream: str, data: bytes) -> str:
        """Adds a piece and gives the text that it completes."""
        text = self._decoders[stream].decode(data)
        self._texts[stream].append(text)
        return text

    def text(self, stream: str) -> str:
        """Everything that was added to one of them."""
        self._texts[stream].append(self._decoders[stream].decode(b"", True))
        return "".join(self._texts[stream])


def command_result(ending: Mapping[str, Any], output: CollectedOutput) -> CommandResult:
    """A result from the last event, or the answer, of a script."""
    return CommandResult(
        ending["exit_code"],
        output.text("stdout"),
        output.text("stderr"),
        ending["cwd"],
        ending["timed_out"],
        ending["truncated"],
        ending["took_ms"],
        ending["woke"],
    )


def background_result(run: SandboxRun, output: CollectedOutput, dropped: int) -> BackgroundResult:
    """A result from a run that ended."""
    return BackgroundResult(
        run["exit_code"],
        output.text("stdout"),
        output.text("stderr"),
        run["state"],
        run["reason"],
        run["timed_out"],
        dropped,
        run["took_ms"],
    )


def given(**values: Any) -> Dict[str, Any]:
    """The values that are not None."""
    return {name: value for name, value in values.items() if value is not None}


def milliseconds(seconds: Optional[float]) -> Optional[int]:
    """A time of the contract; at least one, for none would be no limit."""
    return None if seconds is None else max(1, round(seconds * 1000))
