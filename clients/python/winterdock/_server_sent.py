"""Server-sent events out of bytes, as the HTML standard reads them. Pure."""

from __future__ import annotations

import codecs
import re
from typing import List, NamedTuple, Optional


class ServerSent(NamedTuple):
    """One event."""

    #: `message` when the event has no name of its own.
    event: str
    data: str
    #: The last id that was sent, this event's or an earlier one's; empty before the first.
    id: str


class ServerSentParser:
    """Takes bytes as they come and gives the events that they complete."""

    #: Seconds to wait before coming back, as the server wants it.
    retry: Optional[float] = None

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest: List[str] = []
        self._event = ""
        self._data: List[str] = []
        self._id = ""

    def feed(self, data: bytes) -> List[ServerSent]:
        text = self._decoder.decode(data)
        if "\n" not in text and "\r" not in text:
            # Of a long line each piece is looked at once.
            self._rest.append(text)
            return []
        lines = re.split(r"\r\n|\n|\r(?!\Z)", "".join([*self._rest, text]))
        self._rest = [lines.pop()]
        sent: List[ServerSent] = []
        for line in lines:
            if line == "":
                if self._data:
                    sent.append(ServerSent(self._event or "message", "\n".join(self._data), self._id))
                self._event, self._data = "", []
                continue
            field, _, value = line.partition(":")
            if value.startswith(" "):
                value = value[1:]
            if field == "event":
                self._event = value
            elif field == "data":
                self._data.append(value)
            elif field == "id" and "\0" not in value:
                self._id = value
            elif field == "retry" and value.isascii() and value.isdigit():
                self.retry = int(value) / 1000
        return sent
