"""Lists that come in pages."""

from __future__ import annotations

from typing import Callable, Iterator, Optional, TypeVar

from .._call import Page

T = TypeVar("T")


class Pages(Page[T]):
    """One page; iterated, every item of this page and of all that follow, fetched as it goes."""

    def __init__(self, read: Callable[[Optional[str]], Page[T]]) -> None:
        first = read(None)
        self.__dict__.update(first.__dict__)
        self._read = read

    def __iter__(self) -> Iterator[T]:
        page: Page[T] = self
        while True:
            yield from page.items
            if page.next is None:
                return
            page = self._read(page.next)
