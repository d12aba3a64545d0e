"""`Memory`: opening a bank, adding to it, recalling from it, looking after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal, TypeVar, overload

from everwhen import checked
from everwhen.errors import NotFound, UsageError
from everwhen.facts import Facts
from everwhen.facts.notes import Moment
from everwhen.home import bank_path, cache_path, home_folder
from everwhen.ingest.entities import KnownEntities
from everwhen.ingest.extract.opening import check_extractor
from everwhen.ingest.reembed import reembed
from everwhen.ingest.remember import Placement, in_batches, placed, remember
from everwhen.ingest.worker import Worker
from everwhen.memory.asking import AskingMemory
from everwhen.memory.keeping import KeepMemory
from everwhen.memory.map import MapMemory
from everwhen.memory.model import BankEmbedder, close_cache
from everwhen.memory.tree import check_tree
from everwhen.messages import message as as_message
from everwhen.models.embed import Embedder, open_embedder
from everwhen.models.embed.cache import CachedEmbedder
from everwhen.models.embed.retired import refuse_retired
from everwhen.models.llm.base import LLM
from everwhen.models.reader import open_reader
from everwhen.models.rerank import Reranker, open_reranker
from everwhen.models.rerank.own import Scorer, own_reranker
from everwhen.operations import Operation, arguments, operations
from everwhen.recall import Recall, Recipe, Request, recall
from everwhen.recall.accesses import Accesses
from everwhen.recall.grep import grep, grep_events
from everwhen.redact import Masks, kinds_of
from everwhen.settings import MAX_TOKENS, Settings
from everwhen.settings import load as load_settings
from everwhen.store import Filter, Store
from everwhen.store.sqlite import SqliteStore, embedder_of
from everwhen.times import Clock, known_zone, local
from everwhen.types import (
    KINDS,
    NETWORKS,
    Accessed,
    Added,
    Between,
    EventHit,
    Hit,
    Message,
    Session,
    Stats,
    Time,
    Turn,
)

R = TypeVar("R")
Given = str | Mapping[str, Any] | Message
BY_DEFAULT = frozenset({"turn", "fact"})
CALENDARS = ("turns", "events")
DEFAULT_EMBEDDER = "conversation-1"


@lru_cache(maxsize=4)
def shared_embedder(model: str) -> Embedder:
    """One model for all the banks of a process that use it."""
    return open_embedder(model)


@lru_cache(maxsize=4)
def shared_reranker(name: str, timeout: float | None = None) -> Reranker:
    """One reranker for all the banks of a process that use it."""
    return open_reranker(name, timeout=timeout)


def recall_llm(settings: Settings) -> LLM | None:
    """The model that plans and gates, where one is set."""
    if settings.recall_llm is None:
        return None
    from everwhen.models.llm import llm_of

    return llm_of(settings, settings.recall_llm.removeprefix("llm:"))


def _cached(embedder: Embedder, home: Path, settings: Settings) -> Embedder:
    if not settings.cache_entries:
        return embedder
    return CachedEmbedder(embedder, cache_path(home), settings.cache_entries)


class Memory(MapMemory, AskingMemory, KeepMemory):
    """One bank of memory, open. Safe to use from several threads; other processes may use the bank too."""

    def __init__(
        self, store: Store, embedder: Embedder, settings: Settings, reranker: Reranker | None = None
    ) -> None:
        self._store = store
        self._settings = settings
        self._reranker = reranker
        self._reader = open_reader(settings.reader)
        self._folder = home_folder(settings.home)
        self._accesses = Accesses(store)
        self._masks = Masks(kinds_of(store.keep.redaction or settings.redact), store.keep.pseudonym)
        self._entities = KnownEntities()
        self._worker = Worker(store, self._process)
        self._model = BankEmbedder(store, embedder, self._opened)

    def _opened(self, model: str) -> Embedder:
        return _cached(shared_embedder(model), self._folder, self._settings)

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

        `reranker` is one of them too, or something of your own: a function `(question, texts) -> scores`, or an object
        with such a method `score`.
        """
        own = None if reranker is None or isinstance(reranker, str) else own_reranker(reranker)
        chosen = load_settings(home=home, reranker=None if own else reranker, **settings)
        folder = home_folder(chosen.home)
        path = bank_path(folder, bank)
        zone = known_zone(chosen.zone)
        check_extractor(chosen.extract)
        kinds_of(chosen.redact)
        check_tree(chosen.consolidate, chosen.tree_windows, zone)
        model = chosen.embedder or embedder_of(path) or DEFAULT_EMBEDDER
        if chosen.embedder is None:
            refuse_retired(bank, model)
        embedder = _cached(shared_embedder(model), folder, chosen)
        store = SqliteStore.open(
            path,
            embedder=model,
            dimension=lambda: embedder.dim,
            zone=zone,
            create=create,
            busy_seconds=chosen.busy_seconds,
        )
        if settings.get("zone") is not None and store.info.zone != zone:
            store.set_zone(zone)
        if settings.get("redact") is not None and store.keep.redaction != chosen.redact:
            store.keep.set_redaction(chosen.redact)
        return cls(store, embedder, chosen, own)

    def close(self) -> None:
        """Close the bank's files. Everything that a call returned for is on disk already.

        A batch that is being extracted is finished first; what waits behind it stays on the to-do list.
        """
        self._worker.close()
        self._stop_consolidating()
        self._accesses.write()
        self._store.close()
        self._model.close()

    def __enter__(self) -> Memory:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def bank(self) -> str:
        return self._store.info.name

    @property
    def zone(self) -> str:
        """The zone of text that comes without one."""
        return self._store.info.zone

    @property
    def facts(self) -> Facts:
        """What is true from when to when, and what was known when."""
        return Facts(
            self._store.facts, self._model.write, self._settings, self._settle, self._masks, self.zone
        )

    # Writing

    def add(
        self,
        messages: Given | Iterable[Given],
        *,
        session: str | None = None,
        at: Time | None = None,
        zone: str | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> Added:
        """Remember one or more messages. Durable, and recallable, when it returns.

        A message is a string or `{role, content, name?, timestamp?, id?, media?}`. Its time is its own
        timestamp, else `at`, else now; without a session it belongs to the conversation of its day. "Today" in it is
        the day in `zone`, else in the zone or at the offset of that time, else in the bank's zone; UTC alone says
        nothing of where somebody is. A message whose id is known already is left as it is.
        """
        if isinstance(messages, str | Mapping | Message):
            messages = [messages]
        placement = self._placement(session, at, zone, metadata)
        listed = [self._masks.message(as_message(one)) for one in checked.several(messages)]
        if not listed:
            raise UsageError("nothing to add: the list of messages is empty")
        added = self._remember(listed, placement)
        if added.new:
            self._wake()
        return added

    def add_many(
        self,
        messages: Iterable[Given],
        *,
        session: str | None = None,
        at: Time | None = None,
        zone: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        progress: Callable[[int], None] | None = None,
    ) -> Added:
        """Remember many messages, in batches that are each durable; `progress` hears how many are done.

        Interrupted and started again with the same ids, it goes on where it stopped.
        """
        placement = self._placement(session, at, zone, metadata)
        whole = Added((), "")
        taken = (self._masks.message(as_message(one)) for one in checked.several(messages))
        for batch in in_batches(taken, self._settings.batch):
            part = self._remember(batch, placement)
            whole = Added(
                whole.turns + part.turns, part.session, whole.new + part.new, whole.conflicts + part.conflicts
            )
            if progress:
                progress(len(whole.turns))
        if whole.new:
            self._wake()
        return whole

    def _remember(self, messages: Sequence[Message], placement: Placement) -> Added:
        turns = placed(messages, placement)  # once: a second attempt must not give them other ids
        return self._model.write(lambda embedder: remember(self._store, embedder, self._settings, turns))

    def flush(self, timeout: float | None = None) -> None:
        """Wait for the extraction of what was added, and write down what was recalled.

        Raises `Unavailable` when extraction takes longer than `timeout` seconds.
        """
        super().flush(timeout)
        self._accesses.write()

    def reembed(self, model: str, *, progress: Callable[[int], None] | None = None) -> None:
        """Give the whole bank the vectors of another embedder, all at once or not at all."""
        embedder = self._opened(model)
        try:
            with self._worker.paused():  # a batch that is being extracted has vectors of the old model
                reembed(self._store, embedder, model, self._settings, progress)
        finally:
            close_cache(embedder)
        self._wake()

    # Reading

    def turns(self, session: str | None = None, between: Between | None = None) -> list[Turn]:
        """The turn calendar: what was said, in the order of time."""
        return list(self.each_turn(session, between))

    def each_turn(self, session: str | None = None, between: Between | None = None) -> Iterator[Turn]:
        """As `turns`, one after the other: for those who need not hold all of them at once."""
        return self._store.turns(session=checked.label(session, "session"), between=self._window(between))

    def turn(self, turn_id: str) -> Turn:
        """One turn by its id."""
        turn_id = checked.words(turn_id, "turn's id")
        for turn in self._store.turns(ids=[turn_id]):
            return turn
        raise NotFound(f"there is no turn '{turn_id}' in bank '{self.bank}'; `everwhen turns` lists them")

    def turns_around(self, turn_id: str, reach: int = 1) -> list[Turn]:
        """A turn with those right before and after it in its conversation, in the order of time."""
        return self._store.turns_around(self.turn(turn_id), checked.whole(reach, "reach"))

    def sessions(self) -> list[Session]:
        return self._store.sessions()

    @overload
    def grep(
        self,
        pattern: str,
        *,
        calendar: Literal["turns"] = "turns",
        regex: bool = False,
        between: Between | None = None,
        limit: int = 50,
    ) -> list[Hit]: ...
    @overload
    def grep(
        self,
        pattern: str,
        *,
        calendar: Literal["events"],
        regex: bool = False,
        between: Between | None = None,
        limit: int = 50,
    ) -> list[EventHit]: ...
    def grep(
        self,
        pattern: str,
        *,
        calendar: str = "turns",
        regex: bool = False,
        between: Between | None = None,
        limit: int = 50,
    ) -> list[Hit] | list[EventHit]:
        """Turns, or events, whose words contain a pattern, whatever the case, in the order of time. Bounded in time.

        `between` is when a turn was said, or when an event may have occurred.
        """
        if calendar not in CALENDARS:
            raise UsageError(f"unknown calendar '{calendar}'; there are: {', '.join(CALENDARS)}")
        window = self._window(between)
        words = checked.words(pattern, "pattern")
        if calendar == "events":
            return grep_events(self.events(between=window), words, regex=regex, limit=limit)
        return grep(self._store.turns(between=window), words, regex=regex, limit=limit)

    def recall(
        self,
        query: str,
        *,
        seek: str | None = None,
        budget: str | int = "mid",
        max_tokens: int = MAX_TOKENS,
        at: Time | None = None,
        between: Between | None = None,
        before: Time | None = None,
        after: Time | None = None,
        as_of: Time | None = None,
        known_at: Time | None = None,
        kinds: Sequence[str] | None = None,
        networks: Sequence[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        min_confidence: float | None = None,
        order: str = "relevance",
        recipe: Recipe | None = None,
        fresh: bool = False,
    ) -> Recall:
        """The memories that answer a question, inside `max_tokens`, each with the reason for it.

        `between`, `before`, `after` and `as_of` bound when a thing was said, `known_at` when the memory learned
        it; all are hard. Facts are shown as they hold at `at`, at `as_of`, or anywhere in `between`;
        `min_confidence` leaves out those that have faded, and `metadata={"domain": …}` chooses some of them.
        `budget` (low, mid, high or a number) is how many candidates each channel brings; a `recipe` says that
        and all else itself. `seek` looks for the candidates with words of its own; the query then only ranks them.
        """
        clock = Clock(self.zone, at)
        asked, then = clock.now, clock.last(as_of, "as_of")
        window = clock.window(between, before, after)
        where = Filter(
            between=checked.until(window, then),
            known_at=clock.last(known_at, "known_at"),
            # Until recall decides how events take part, they are found only by those who ask for them.
            kinds=checked.names(kinds, "kinds", KINDS) or BY_DEFAULT,
            networks=checked.names(networks, "networks", NETWORKS),
            metadata=checked.metadata(metadata) or {},
        )
        pending = self._settle() if fresh else 0
        request = Request(
            query=checked.words(query, "query"),
            max_tokens=checked.whole(max_tokens, "max_tokens"),
            at=asked,
            where=where,
            order=order,
            recipe=recipe or checked.recipe(budget, self._settings),
            moment=Moment(then or asked, None if then else window, where.known_at, self.zone)
            if then or window
            else None,
            half_lives=self.facts.half_lives,
            min_confidence=checked.fraction(min_confidence, "min_confidence"),
            reranker=self._reranker
            or shared_reranker(self._settings.reranker, self._settings.rerank_timeout),
            reader=self._reader,
            nodes=kinds is None or "node" in kinds,
            llm=recall_llm(self._settings),
            seek=None if seek is None else checked.words(seek, "words to look for"),
        )
        found = self._model.read(lambda embedder: recall(self._store, embedder, request))
        if self._settings.count_access:
            self._accesses.count(found)
        return replace(found, pending=pending) if pending else found

    def accessed(self, limit: int = 20) -> list[Accessed]:
        """The memories that recall gave back most often, in all processes, those first."""
        return self._accesses.most(checked.whole(limit, "limit"))

    # Looking after it

    def perform(self, operation: Operation[R]) -> R:
        """Do one operation."""
        name = next(name for name, kind in operations().items() if kind is type(operation))
        part, _, method = name.rpartition(".")
        given = {one.name: getattr(operation, one.name) for one in arguments(type(operation))}
        return getattr(self.facts if part else self, method)(**given)  # type: ignore[no-any-return]

    def stats(self) -> Stats:
        """How much the bank holds."""
        held = self._store.stats()
        return replace(held, recalls=held.recalls + self._accesses.pending)

    def _placement(
        self,
        session: str | None,
        at: Time | None,
        zone: str | None,
        metadata: Mapping[str, Any] | None,
    ) -> Placement:
        own_zone = None if zone is None else known_zone(zone)
        own, extra = checked.label(session, "session"), checked.metadata(metadata)
        return Placement(
            session=None if own is None else self._masks.label(own),
            at=Clock(own_zone or self.zone, local(at, own_zone)).said_at,
            zone=own_zone,
            bank_zone=self.zone,
            metadata=None if extra is None else self._masks.deep(extra),
        )
