"""`Memory` for asynchronous programs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from functools import update_wrapper
from pathlib import Path
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from everwhen.facts import AsyncFacts
from everwhen.memory.front import Memory
from everwhen.types import Answer, Time

if TYPE_CHECKING:
    from everwhen.agent_recipe import AgentRecipe
    from everwhen.models.llm import LLM

P = ParamSpec("P")
R = TypeVar("R")


def _in_thread(
    method: Callable[Concatenate[Memory, P], R],
) -> Callable[Concatenate[AsyncMemory, P], Coroutine[Any, Any, R]]:
    """The same method as a coroutine, with the same signature: the work is CPU's, so it runs in a thread."""

    async def call(self: AsyncMemory, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(method, self.memory, *args, **kwargs)

    return update_wrapper(call, method)


class AsyncMemory:
    """`Memory` for asynchronous programs: the same methods, as coroutines."""

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

    @property
    def facts(self) -> AsyncFacts:
        """`Memory.facts`, its calls as coroutines."""
        return AsyncFacts(self.memory.facts)

    add = _in_thread(Memory.add)
    add_many = _in_thread(Memory.add_many)
    flush = _in_thread(Memory.flush)
    reembed = _in_thread(Memory.reembed)
    turns = _in_thread(Memory.turns)
    turn = _in_thread(Memory.turn)
    turns_around = _in_thread(Memory.turns_around)
    sessions = _in_thread(Memory.sessions)
    process = _in_thread(Memory.process)
    reextract = _in_thread(Memory.reextract)
    events = _in_thread(Memory.events)
    entities = _in_thread(Memory.entities)
    entity = _in_thread(Memory.entity)
    merge_entities = _in_thread(Memory.merge_entities)
    split_entity = _in_thread(Memory.split_entity)
    rename_entity = _in_thread(Memory.rename_entity)
    undo_entities = _in_thread(Memory.undo_entities)
    mentions = _in_thread(Memory.mentions)
    seen_with = _in_thread(Memory.seen_with)
    links = _in_thread(Memory.links)
    grep = _in_thread(Memory.grep)
    recall = _in_thread(Memory.recall)
    accessed = _in_thread(Memory.accessed)
    when = _in_thread(Memory.when)
    compare = _in_thread(Memory.compare)
    timeline = _in_thread(Memory.timeline)
    consolidate = _in_thread(Memory.consolidate)
    tree = _in_thread(Memory.tree)
    profile = _in_thread(Memory.profile)
    ask = _in_thread(Memory.ask)
    tools = _in_thread(Memory.tools)
    usage = _in_thread(Memory.usage)

    async def ask_stream(
        self,
        question: str,
        *,
        at: Time | None = None,
        as_of: Time | None = None,
        model: str | LLM | None = None,
        recipe: AgentRecipe | None = None,
        session: str | None = None,
    ) -> AsyncIterator[str | Answer]:
        """See `Memory.ask_stream`."""
        pieces = await asyncio.to_thread(
            self.memory.ask_stream,
            question,
            at=at,
            as_of=as_of,
            model=model,
            recipe=recipe,
            session=session,
        )
        while (piece := await asyncio.to_thread(next, pieces, None)) is not None:
            yield piece

    forget = _in_thread(Memory.forget)
    set_retention = _in_thread(Memory.set_retention)
    retain = _in_thread(Memory.retain)
    export = _in_thread(Memory.export)
    import_ = _in_thread(Memory.import_)
    backup = _in_thread(Memory.backup)
    stats = _in_thread(Memory.stats)
    doctor = _in_thread(Memory.doctor)
    close = _in_thread(Memory.close)
