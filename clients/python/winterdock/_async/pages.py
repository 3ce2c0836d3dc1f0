"""Lists that come in pages."""

from __future__ import annotations

from typing import AsyncIterator, Awaitable, Callable, Generator, Generic, Optional, TypeVar

from .._call import Page

T = TypeVar("T")


class AsyncPages(Generic[T]):
    """`await` gives one page; `async for` gives every item of this page and of all that follow."""

    def __init__(self, read: Callable[[Optional[str]], Awaitable[Page[T]]]) -> None:
        self._read = read

    def __await__(self) -> Generator[object, None, Page[T]]:
        return self._read(None).__await__()

    async def __aiter__(self) -> AsyncIterator[T]:
        page = await self._read(None)
        while True:
            for item in page.items:
                yield item
            if page.next is None:
                return
            page = await self._read(page.next)
