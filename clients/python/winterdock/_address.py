"""Makes the addresses of servers and of calls. Pure."""

from __future__ import annotations

import os
import re
from typing import List, Mapping, Optional, Sequence, Tuple
from urllib.parse import quote, urlencode, urlsplit

from ._errors import ApiError

#: A server on this machine.
DEFAULT_URL = "http://localhost:3000"

#: What `encodeURIComponent` leaves as it is.
_SAFE = "-_.!~*'()"


def whereabouts(environment: Mapping[str, str] = os.environ) -> Tuple[Optional[str], Optional[str]]:
    """The server and the key that the environment names; None for what is not set or empty."""
    return environment.get("WINTERDOCK_URL") or None, environment.get("WINTERDOCK_KEY") or None


def address_in(text: str) -> str:
    """The address of a server, normalised: `localhost:3000` becomes `http://localhost:3000`.

    Raises ValueError for what is no http(s) address, or holds a name or a password.
    """
    scheme = re.match(r"([a-z][a-z0-9+.-]*)://", text, re.IGNORECASE)
    if scheme is not None and scheme[1].lower() not in ("http", "https"):
        raise ValueError(f'"{text}" is neither an http nor an https address.')
    whole = text if scheme is not None else f"http://{text}"
    try:
        parts = urlsplit(whole)
        port = parts.port
    except ValueError:
        raise ValueError(f'"{text}" is not an address.') from None
    if parts.username is not None or parts.password is not None:
        raise ValueError("An address must not hold a name or a password.")
    host = parts.hostname
    if not host or re.search(r"[\s<>\"%\\^`{|}\x00-\x1f\x7f]", text):
        raise ValueError(f'"{text}" is not an address.')
    if ":" in host:
        host = f"[{host}]"
    usual = {"http": 80, "https": 443}[parts.scheme]
    return f"{parts.scheme}://{host}{'' if port in (None, usual) else f':{port}'}{parts.path.rstrip('/')}"


def parameters_of(path: str) -> List[str]:
    """Names of a path's parameters in their order; the path of a file is `path`."""
    segments = path.split("/")
    return ["path" if one == "*" else one[1:] for one in segments if one == "*" or one.startswith(":")]


def _encoded(text: str) -> str:
    try:
        return quote(text, safe=_SAFE)
    except UnicodeEncodeError:
        raise ApiError("validation", "A path must be text.", hint="Nothing was sent.") from None


def _segment(text: str, name: str) -> str:
    """Addresses are resolved on their way: `.` and `..` would name something else, nothing would name the list."""
    if text in ("", ".", ".."):
        raise ApiError("validation", f'{name} must not be "{text}".', hint="Nothing was sent.")
    return _encoded(text)


def path_of(path: str, parameters: Sequence[str]) -> str:
    """The path of a call. Raises `validation` for a parameter that would lead elsewhere."""
    given = iter(parameters)
    parts: List[str] = []
    for segment in path.split("/"):
        if segment == "*":
            file = next(given, "")
            names = (file[1:] if file.startswith("/") else file).split("/")
            parts.extend(_segment(one, "A segment of the path") for one in names)
        elif segment.startswith(":"):
            parts.append(_segment(next(given, ""), segment[1:]))
        else:
            parts.append(segment)
    return "/".join(parts)


def search_of(query: Optional[Mapping[str, object]]) -> str:
    """The query of a call with its `?`; what is None is left out."""
    given = [
        (name, ("true" if value else "false") if isinstance(value, bool) else str(value))
        for name, value in (query or {}).items()
        if value is not None
    ]
    return f"?{urlencode(given)}" if given else ""
