"""`Memory` for asynchronous programs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from everwhen.api.memory.front import Memory
from everwhen.api.operations.base import Operation
from everwhen.api.operations.surface import AsyncBankFacts, BankMethods, FileMethods
from everwhen.types import Answer, Time

if TYPE_CHECKING:
    from everwhen.answer.tools import Toolbox

R = TypeVar("R")


class AsyncMemory(BankMethods, FileMethods):
    """`Memory` for asynchronous programs: the same methods, as coroutines, the work done in threads."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    @classmethod
    async def open(
        cls, home: str | Path | None = None, bank: str = "default", **settings: Any
    ) -> AsyncMemory:
        """See `Memory.open`."""
        return cls(await asyncio.to_thread(Memory.open, home, bank, **settings))

    @classmethod
    async def restore(
        cls, path: str | Path, home: str | Path | None = None, bank: str = "default", **options: Any
    ) -> int:
        """See `Memory.restore`."""
        return await asyncio.to_thread(Memory.restore, path, home, bank, **options)

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """See `Memory.close`."""
        await asyncio.to_thread(self.memory.close)

    async def perform(self, operation: Operation[R], /) -> R:
        """Do one operation, in a thread."""
        return await asyncio.to_thread(self.memory.perform, operation)

    async def stream(self, operation: Operation[Answer], /) -> AsyncIterator[str | Answer]:
        """Answer a question piece by piece."""
        pieces = await asyncio.to_thread(self.memory.stream, operation)
        while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
            yield piece

    @property
    def facts(self) -> AsyncBankFacts:
        """`Memory.facts`, its calls as coroutines."""
        return AsyncBankFacts(self)

    async def tools(self, *, at: Time | None = None, as_of: Time | None = None) -> Toolbox:
        """See `Memory.tools`."""
        return await asyncio.to_thread(lambda: self.memory.tools(at=at, as_of=as_of))
