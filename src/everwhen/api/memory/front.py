"""`Memory` and its asynchronous twin: one bank, open in this process."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from everwhen.api.memory.answers import Answers
from everwhen.api.memory.bank import Conversation, OpenBank, OperatedBank, opened_embedder
from everwhen.api.memory.derived import EventCalendar, MapLevel, MemoryTree
from everwhen.api.memory.maintenance import Extraction, Maintenance, forgetting, salvage
from everwhen.api.operations.base import Operation
from everwhen.api.operations.conversation import Turns
from everwhen.api.operations.maintenance import Process
from everwhen.api.operations.questions import Ask
from everwhen.api.operations.surface import AsyncBankFacts, BankMethods, FileMethods
from everwhen.errors import NotFound
from everwhen.facts.redact import kinds_of
from everwhen.models.comparison import Reranker, Scorer, custom_reranker
from everwhen.models.embedder import Embedder
from everwhen.settings import Settings
from everwhen.settings import load as load_settings
from everwhen.store.banks import open_banks
from everwhen.store.files.home import home_folder, is_address
from everwhen.store.sql.store import Store
from everwhen.types import Answer, Between, Time, Turn
from everwhen.types.times import known_zone

if TYPE_CHECKING:
    from everwhen.agents.adapters.anthropic_memory import MemoryFiles
    from everwhen.answer.tools import Toolbox
    from everwhen.tree.map import Layer

R = TypeVar("R")
DEFAULT_EMBEDDER = "conversation-1"


class Memory(OperatedBank, FileMethods):
    """One bank of memory, open. Safe to use from several threads; other processes may use the bank too.

    Its methods are operations (`everwhen.api.operations`); each is done by one of the parts.
    """

    def __init__(
        self, store: Store, embedder: Embedder, settings: Settings, reranker: Reranker | None = None
    ) -> None:
        bank = OpenBank(store, embedder, settings, reranker)
        events, extraction = EventCalendar(bank), Extraction(bank)
        self._conversation = Conversation(bank)
        self._tree = MemoryTree(bank, lambda: extraction.process(Process()))
        self._answers = Answers(bank, self)
        maintenance = Maintenance(bank, extraction, events, self._tree)
        super().__init__(
            bank, (self._conversation, events, self._tree, self._answers, extraction, maintenance)
        )

    @classmethod
    def open(
        cls,
        home: str | Path | None = None,
        bank: str = "default",
        *,
        create: bool = True,
        reranker: str | Scorer | Reranker | Callable[[str, Sequence[str]], Sequence[float]] | None = None,
        **settings: Any,
    ) -> Memory:
        """Open a bank, making it when it is new (unless `create` is False). `settings` are those of `Settings`.

        `home` is a folder, or the address of a PostgreSQL database (`postgresql://…`), which is the setting `store`.
        `reranker` is one of them too, or something of your own: a function `(question, texts) -> scores`, or an object
        with such a method `score`.
        """
        own = None if reranker is None or isinstance(reranker, str) else custom_reranker(reranker)
        chosen = load_settings(**_where(home), reranker=None if own else reranker, **settings)
        folder = home_folder(chosen.home)
        banks = open_banks(folder, chosen.busy_seconds, store=chosen.store)
        banks.check_name(bank)
        zone = known_zone(chosen.zone)
        kinds_of(chosen.redact)
        if chosen.tree_windows is not None:
            from everwhen.tree.levels import parse_levels

            parse_levels(
                chosen.tree_windows, zone
            )  # what no tree can be built by is refused before there is one
        model = chosen.embedder or banks.embedder_of(bank) or DEFAULT_EMBEDDER
        embedder = opened_embedder(model, folder, chosen)
        store = banks.open(bank, embedder=model, dimension=lambda: embedder.dim, zone=zone, create=create)
        if settings.get("zone") is not None and store.info.zone != zone:
            store.set_zone(zone)
        if settings.get("redact") is not None and store.keep.rule("redaction") != chosen.redact:
            store.keep.set_rule("redaction", chosen.redact)
        return cls(store, embedder, chosen, own)

    def close(self) -> None:
        """Close the bank's files. Everything that a call returned for is on disk already.

        A batch that is being extracted is finished first; what waits behind it stays on the to-do list.
        """
        self._bank.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def stream(self, operation: Operation[Answer], /) -> Iterator[str | Answer]:
        """Answer a question piece by piece: what `ask_stream` calls."""
        assert isinstance(operation, Ask)
        return self._answers.stream(operation)

    # The parts

    @property
    def retention(self) -> str:
        """How long the bank keeps what, as a sentence; empty for ever."""
        return self._bank.store.keep.rule("retention")

    # Only in this process: what cannot travel

    def read_times_in(self, zone: str) -> None:
        """Read the times of calls in another zone than the bank's; nothing is stored of it."""
        self._bank.times_zone = known_zone(zone)

    def each_turn(self, session: str | None = None, between: Between | None = None) -> Iterator[Turn]:
        """As `turns`, one after the other: for those who need not hold all of them at once."""
        return self._conversation.each_turn(Turns(session, between))

    def layers(self, group: str | None = None) -> list[Layer]:
        """The points of each level: an exchange lies in the middle of its turns, a node where its text does.

        Every point is of the group that is given (a map of several banks), else of the month in which it starts. Its
        label is its day. What is not consolidated yet is not there.
        """
        return self._tree.layers(group)

    def map_level(self, name: str = "", most: int = 500) -> MapLevel | None:
        """One level of the map: the one that is named, else the finest that has at most so many points; of a level
        with more, as many, evenly chosen. None where there is nothing to map."""
        return self._tree.map_level(name, most)

    def tools(self, *, at: Time | None = None, as_of: Time | None = None) -> Toolbox:
        """The agent's tools over this bank for an agent of your own: schemas for OpenAI, Anthropic and pydantic-ai, and
        a dispatcher. They only read, and reach nothing but this bank.

        `at` is what "yesterday" is seen from (now, at every call of this method); `as_of` hides what was said later.
        """
        return self._answers.tools(at, as_of)

    def langgraph_store(self) -> Any:
        """This bank as a LangGraph `BaseStore` (`pip install langgraph`): nothing that is put there is overwritten."""
        from everwhen.agents.adapters.langgraph import EverwhenStore

        return EverwhenStore(self)

    def memory_files(self) -> MemoryFiles:
        """This bank behind Anthropic's memory tool: its commands on `/memories`, each version kept."""
        from everwhen.agents.adapters.anthropic_memory import MemoryFiles

        return MemoryFiles(self)

    # Without a bank that is open

    @classmethod
    def restore(
        cls,
        path: str | Path,
        home: str | Path | None = None,
        bank: str = "default",
        *,
        overwrite: bool = False,
        **settings: Any,
    ) -> int:
        """Bring a bank back from a backup; how many turns it holds. A bank that exists needs `overwrite`.

        What was forgotten since the backup stays forgotten.
        """
        chosen = load_settings(**_where(home), **settings)
        banks = open_banks(home_folder(chosen.home), chosen.busy_seconds, store=chosen.store)
        return banks.restore(bank, Path(path), replace=overwrite, forget=forgetting(None, chosen))

    @staticmethod
    def salvage(path: str | Path, home: str | Path | None = None, bank: str = "default") -> int:
        """Write the turns that can be read in a damaged bank as JSON lines that `import` takes; how many.

        The bank's file is only read, and need not be one that can be opened.
        """
        chosen = load_settings(**_where(home))
        banks = open_banks(home_folder(chosen.home), store=chosen.store)
        if not banks.exists(bank):
            raise NotFound(f"there is no bank '{bank}'; `everwhen bank list` lists those that exist")
        return salvage(Path(path), banks, bank)


class AsyncMemory(BankMethods, FileMethods):
    """`Memory` for asynchronous programs: the same methods, as coroutines, the work done in threads."""

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    @classmethod
    async def open(
        cls, home: str | Path | None = None, bank: str = "default", **settings: Any
    ) -> AsyncMemory:
        """See `Memory.open`."""
        return cls(await _in_thread(Memory.open, home, bank, **settings))

    @classmethod
    async def restore(
        cls, path: str | Path, home: str | Path | None = None, bank: str = "default", **options: Any
    ) -> int:
        """See `Memory.restore`."""
        return await _in_thread(Memory.restore, path, home, bank, **options)

    async def __aenter__(self) -> AsyncMemory:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """See `Memory.close`."""
        await _in_thread(self.memory.close)

    async def perform(self, operation: Operation[R], /) -> R:
        """Do one operation, in a thread."""
        return await _in_thread(self.memory.perform, operation)

    async def stream(self, operation: Operation[Answer], /) -> AsyncIterator[str | Answer]:
        """Answer a question piece by piece."""
        pieces = await _in_thread(self.memory.stream, operation)
        while (piece := await _in_thread(next, pieces, None)) is not None:
            yield piece

    @property
    def facts(self) -> AsyncBankFacts:
        """`Memory.facts`, its calls as coroutines."""
        return AsyncBankFacts(self)

    async def tools(self, *, at: Time | None = None, as_of: Time | None = None) -> Toolbox:
        """See `Memory.tools`."""
        return await _in_thread(lambda: self.memory.tools(at=at, as_of=as_of))


def _where(home: str | Path | None) -> dict[str, Any]:
    """A home folder or a database, as settings."""
    return {"store": home} if is_address(home) else {"home": home}


async def _in_thread(work: Callable[..., R], *args: Any, **kwargs: Any) -> R:
    """A call, done in a thread; asyncio is loaded where it is needed, since no command does."""
    import asyncio

    return await asyncio.to_thread(work, *args, **kwargs)
