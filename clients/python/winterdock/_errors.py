"""The one error class of the client: a refusal of the server, or no answer."""

from __future__ import annotations

import json
from email.message import Message
from typing import Any, Dict, Optional, cast

from .types import Problem


class ApiError(Exception):
    """Raised by every call that fails.

    `code` is stable: one of the server's, or `network` when no whole answer came, or `unexpected` when what came is
    not an answer of Winterdock (a proxy's page, another server). A newer server may know codes that this client does
    not.
    """

    #: Stable.
    code: str
    #: HTTP status; 0 when there was no answer.
    status: int
    #: What the server, or the client, says of it.
    message: str
    #: What to do about it, when it is known.
    hint: Optional[str]
    #: The request's id in the ledger and in the server's log; None when there was no answer.
    request_id: Optional[str]
    #: The whole problem document: `from`, `to`, `allowed`, `quota`, `errors`, … are in it.
    problem: Optional[Dict[str, Any]]
    #: From `Retry-After`.
    retry_after: Optional[float]

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int = 0,
        hint: Optional[str] = None,
        request_id: Optional[str] = None,
        problem: Optional[Dict[str, Any]] = None,
        retry_after: Optional[float] = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.hint = hint
        self.request_id = request_id
        self.problem = problem
        self.retry_after = retry_after

    def __str__(self) -> str:
        return f"{self.code}: {self.message}" + (f" {self.hint}" if self.hint else "")

    def __reduce__(self) -> Any:
        # Errors cross processes, as those of a pool's workers do.
        return (_remade, (dict(self.__dict__),))


def _remade(state: Dict[str, Any]) -> ApiError:
    return ApiError(state.pop("code"), state.pop("message"), **state)


class BrokenConnection(Exception):
    """A connection that could not be made, or broke. Within the client only: people get `network`."""


def problem_error(problem: Problem, retry_after: Optional[float] = None) -> ApiError:
    """The error of a problem document."""
    return ApiError(
        problem["code"],
        problem["detail"],
        status=problem.get("status", 0),
        hint=problem.get("hint"),
        request_id=problem.get("request_id"),
        problem=cast("Dict[str, Any]", problem),
        retry_after=retry_after,
    )


def network_error(url: str, cause: BaseException) -> ApiError:
    """No whole answer came from `url`."""
    found = cause.__cause__ or cause
    reason = str(cause) or str(found) or type(found).__name__
    error = ApiError(
        "network",
        f"No answer from {url}: {reason.rstrip('.')}.",
        hint="See whether the server runs and the address is right.",
    )
    error.__cause__ = found
    return error


def _retry_after_of(headers: Message) -> Optional[float]:
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return seconds if 0 <= seconds < float("inf") else None


def unexpected_answer(url: str, status: int, headers: Message) -> ApiError:
    """An answer that Winterdock would not give."""
    return ApiError(
        "unexpected",
        f"The answer {status} of {url} is not one of Winterdock.",
        status=status,
        hint="See whether the address is that of a Winterdock server, and what stands between.",
        request_id=headers.get("x-request-id"),
        retry_after=_retry_after_of(headers),
    )


def refusal(url: str, status: int, headers: Message, body: bytes) -> ApiError:
    """The error of an answer that is no success."""
    try:
        value = json.loads(body)
    except ValueError:
        # Not JSON: the answer is not one of Winterdock's, and is reported as that.
        value = None
    if isinstance(value, dict) and isinstance(value.get("code"), str) and "detail" in value:
        return problem_error(cast("Problem", value), _retry_after_of(headers))
    return unexpected_answer(url, status, headers)
