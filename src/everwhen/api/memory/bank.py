"""One bank that is open: its store, its models and its worker; what is said is added to it and recalled from it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from everwhen.api.extraction_wait import patience, wait_once
from everwhen.api.operations.base import BothTimes, Operation, does, handlers
from everwhen.api.operations.conversation import Add, AddMany, OneTurn, Sessions, Turns, TurnsAround
from everwhen.api.operations.questions import MostAccessed, PromptContext, RecallMemories
from everwhen.api.operations.surface import Bank
from everwhen.errors import ModelChanged, NotFound, UsageError
from everwhen.facts.interface import Facts
from everwhen.facts.redact import Masks, kinds_of
from everwhen.facts.shown_facts import FactScope
from everwhen.models.comparison import Reranker, open_reader, open_reranker
from everwhen.models.embedder import CachedEmbedder, Embedder, shared_embedder
from everwhen.recall.candidates import Request
from everwhen.recall.names import keywords
from everwhen.recall.pipeline import Accesses, recall
from everwhen.recall.question import is_question
from everwhen.settings import Settings
from everwhen.store.banks import open_banks
from everwhen.store.files.home import cache_path, home_folder
from everwhen.store.rows import FOREVER, AsOf, Filter, SearchQuery, Wanted
from everwhen.store.sql.store import Store
from everwhen.types import (
    Accessed,
    Added,
    Between,
    Context,
    Dropped,
    HalfLives,
    Message,
    Recall,
    Session,
    Time,
    Turn,
    UnitRow,
)
from everwhen.types.context import CHANGED, STANDING
from everwhen.types.recall import PREAMBLE, WEEKDAYS, for_budget, framed
from everwhen.types.times import TimeReader
from everwhen.types.turns import message as as_message
from everwhen.write.entities import KnownEntities
from everwhen.write.extract.base import BATCH_TURNS, open_extractor
from everwhen.write.remember import MessageDefaults, in_batches, placed, remember
from everwhen.write.worker import Worker
from everwhen_time import Interval
from everwhen_time.zones import zone_of

if TYPE_CHECKING:
    from everwhen.models.llm.base import LLM
    from everwhen.store.base import VectorModel
    from everwhen.store.rows import Work
    from everwhen.tree.levels import Levels
    from everwhen.write.extract.base import Extraction

R = TypeVar("R")
T = TypeVar("T")

MOST_ABOUT = 200
"""Units that are found about a topic at the most."""
_AGAIN = 3
"""How often a write is done again that was refused for another model than the one the bank has by then."""

GLANCE = 0.05
"""Seconds in which a worker that cannot go on says so; nothing is waited for."""
ASKING = 0.5
"""The chance that the memory holds an answer from which on what is no question gets all the room, too. Most of what
people say asks for nothing: then the first few memories do."""
LEAST_ROOM = 0.25
"""The share of its room that the fresh part gets at least."""
NEWS = 0.3
"""The share of the stable part's room that what changed since may take; with more, the stable part is made anew."""
BESIDE = 24
"""Tokens that a line of a prompt may have beside the words that were said: its day, its speaker, dates."""
SEAMS = 4
"""Tokens by which two texts can be longer together than each alone, where they meet."""


class BankEmbedder:
    """The embedder of the model that the bank says it has. Used by: whoever makes vectors. Uses: the store's `info`.

    `reembed` of any thread or process gives the bank another model at any time. What is done through `read` has one
    model from its beginning to its end; what is done through `write` begins anew where the model changed.
    """

    def __init__(self, store: Store, embedder: Embedder, opened: Callable[[str], Embedder]) -> None:
        self._store = store
        self._opened = opened
        self._lock = threading.Lock()
        self._embedder = embedder
        self._model = store.info.model

    @property
    def current(self) -> Embedder:
        return self._take()[0]

    def write(self, work: Callable[[Embedder], T]) -> T:
        """Work that writes vectors. They are made before the transaction, and the store refuses those of a model that
        the bank has no longer: the work is then done again with the new one."""
        self._store.follow_model()
        for _ in range(_AGAIN):
            embedder, model = self._take()
            try:
                return work(embedder)
            except ModelChanged:
                self._store.refresh()  # it may have been another process
            except ValueError:  # two widths cannot be multiplied
                if self._store.info.model == model:
                    raise
        return work(self.current)

    def read(self, work: Callable[[Embedder], T]) -> T:
        """Work that compares a question with the bank's vectors. It gets the embedder without its cache: questions
        hardly ever repeat, and so reading writes nothing."""
        with self._store.reading():
            return work(plain(self.current))

    def close(self) -> None:
        close_cache(self._embedder)

    def _take(self) -> tuple[Embedder, VectorModel]:
        model = self._store.info.model
        with self._lock:
            if model != self._model:
                before, self._embedder = self._embedder, self._opened(model.embedder)
                self._model = model
                close_cache(before)
            return self._embedder, model


def plain(embedder: Embedder) -> Embedder:
    """An embedder without its cache."""
    return embedder.inner if isinstance(embedder, CachedEmbedder) else embedder


def close_cache(embedder: Embedder) -> None:
    """Close the file that an embedder remembers in; the model itself is shared, and stays."""
    if isinstance(embedder, CachedEmbedder):
        embedder.close()


@lru_cache(maxsize=4)
def shared_reranker(name: str, timeout: float | None = None) -> Reranker:
    """One reranker for all the banks of a process that use it."""
    return open_reranker(name, timeout=timeout)


def opened_embedder(model: str, home: Path, settings: Settings) -> Embedder:
    """An embedder that remembers its vectors in the home folder, unless that is switched off."""
    embedder = shared_embedder(model)
    if not settings.cache_entries:
        return embedder
    return CachedEmbedder(embedder, cache_path(home), settings.cache_entries)


class OpenBank:
    """The store of one bank, the models that it is read with, and the worker that extracts from it."""

    def __init__(
        self, store: Store, embedder: Embedder, settings: Settings, reranker: Reranker | None = None
    ) -> None:
        self.store = store
        self.settings = settings
        self.own_reranker = reranker
        self.reader = open_reader(settings.reader)
        self.folder = home_folder(settings.home)
        self.banks = open_banks(self.folder, settings.busy_seconds, store=settings.store)
        self.accesses = Accesses(store)
        self.masks = Masks(kinds_of(store.keep.rule("redaction") or settings.redact), store.keep.pseudonym)
        self.worker = Worker(store.jobs.extraction, self._extract)
        self.model = BankEmbedder(store, embedder, self.opened)
        self._entities = KnownEntities()
        self.times_zone: str | None = None
        """The zone in which the times of calls are read, where it is not the bank's."""

    def close(self) -> None:
        """Close the files. A batch that is being extracted is finished first."""
        self.worker.close()
        self.accesses.write()
        self.store.close()
        self.model.close()

    @property
    def name(self) -> str:
        return self.store.info.name

    @property
    def zone(self) -> str:
        return self.store.info.zone

    @property
    def facts(self) -> Facts:
        return Facts(
            self.store.facts,
            self.model.write,
            self.settings,
            self.settle,
            self.masks,
            self.zone,
            self.times_zone,
        )

    # Times

    def clock(self, at: Time | None = None) -> TimeReader:
        """Reads the times of one call, in the bank's zone."""
        return TimeReader(self.times_zone or self.zone, at)

    def window(self, between: Between | None) -> Interval | None:
        """A stretch of time in a call that has no other moment than now."""
        return self.clock().window(between)

    def as_of(self, asked: BothTimes, clock: TimeReader | None = None) -> AsOf:
        """The two times that a reader is asked to look from."""
        return AsOf(**asked.read_times(clock or self.clock()))

    def seen_units(self, units: Sequence[int], as_of: AsOf) -> dict[int, UnitRow]:
        """Those of some units whose turns had all been said and recorded."""
        rows = self.store.units(units)
        if as_of.is_now:
            return rows
        sources = {seq: row.turns or (row.id,) for seq, row in rows.items()}
        turns = self.store.turns(ids=list({one for several in sources.values() for one in several}))
        seen = {turn.id for turn in turns if as_of.sees(turn)}
        return {seq: row for seq, row in rows.items() if seen.issuperset(sources[seq])}

    def about(self, topic: str, only: Filter) -> list[int]:
        """The units that words or meaning connect with a topic."""
        wanted = Wanted(MOST_ABOUT, self.settings.about_similarity)

        def search(embedder: Embedder) -> list[int]:
            vector = embedder.embed([embedder.pieces(topic)[0]])[0]
            found = self.store.search(SearchQuery(vector, topic, only)).candidates(wanted)
            return [unit for ranking in (*found.words, *found.meaning) for unit, _ in ranking]

        return self.model.read(search)

    def levels(self) -> Levels:
        """The levels of this bank's tree: those it was built with, else those that are set."""
        from everwhen.tree.levels import read_levels

        chosen, store = self.settings, self.store
        return read_levels(store.tree.levels(), chosen.tree_windows, chosen.tree_exchanges, store.info.zone)

    # Models

    def opened(self, model: str) -> Embedder:
        """An embedder by its name, with the cache of this home."""
        return opened_embedder(model, self.folder, self.settings)

    @property
    def embedder(self) -> Embedder:
        return self.model.current

    @property
    def plain_embedder(self) -> Embedder:
        """The embedder without its cache: questions hardly ever repeat."""
        return plain(self.model.current)

    @property
    def reranker(self) -> Reranker:
        return self.own_reranker or shared_reranker(self.settings.reranker, self.settings.rerank_timeout)

    def llm(self, name: str | None) -> LLM | None:
        """The language model of a setting such as `llm:openai:gpt-5-mini`; None where none is set."""
        if name is None or name in ("none", "rules"):
            return None
        from everwhen.models.llm.pydantic_ai import llm_of

        return llm_of(self.settings, name.removeprefix("llm:"))

    @contextmanager
    def with_cache(self, embedder: Embedder) -> Iterator[Embedder]:
        """An embedder with the cache of the home folder, even where this bank was opened without it."""
        path = cache_path(self.folder)
        if isinstance(embedder, CachedEmbedder) or not path.exists():
            yield embedder
            return
        with closing(CachedEmbedder(embedder, path)) as remembering:
            yield remembering

    def write_uncached(self, work: Callable[[Embedder], T]) -> T:
        """Work that takes vectors out of the bank and out of the cache."""

        def done(embedder: Embedder) -> T:
            with self.with_cache(embedder) as remembering:
                return work(remembering)

        return self.model.write(done)

    # Extraction

    @property
    def extracts(self) -> bool:
        return self.settings.extract != "none"

    def wake(self) -> None:
        """Turns were added: extraction follows in the background."""
        if self.extracts:
            self.worker.wake()

    def settle(self, most: int | None = None) -> int:
        """Wait for the extraction of what was added before this call, but not for ever, and hardly at all where more
        than `most` turns wait; how many still do.

        Turns that come later are not waited for, so that a reader ends however much is being written.
        """
        if not self.extracts:
            return 0
        return wait_once(self, lambda: self._waited(most))

    def _waited(self, most: int | None) -> int:
        jobs = self.store.jobs.extraction
        pending = jobs.pending()
        seconds = self.settings.wait_seconds * (patience() if pending <= BATCH_TURNS else 1)
        is_long = most is not None and pending > most
        return self.worker.wait(jobs.watermark(), GLANCE if is_long else seconds)

    @contextmanager
    def resting(self) -> Iterator[None]:
        """No turn is being extracted inside the block; what then waits is taken up behind it."""
        try:
            with self.worker.paused():
                yield
        finally:
            if self.store.jobs.extraction.waits():
                self.wake()

    def _extract(self, work: Work) -> Extraction:
        from everwhen.write.pipeline import process

        extractor = open_extractor(self.settings)
        assert extractor is not None
        return self.model.write(
            lambda embedder: process(
                self.store,
                embedder,
                extractor,
                work,
                self._judge(),
                entities=self._entities,
                dated=self.settings.date_in_embedding,
                reader=self.reader,
                link_similarity=self.settings.link_similarity,
            )
        )

    def _judge(self) -> LLM | None:
        """The model that extracts, where one does: it also decides about names that may be one."""
        return self.llm(self.settings.extract) if self.settings.extract.startswith("llm:") else None


@dataclass(frozen=True, slots=True)
class Conversation:
    """What was said: taken in, given back, and recalled."""

    _bank: OpenBank

    @does(Add)
    def add(self, asked: Add) -> Added:
        placement = self._placement(asked)
        listed = list(self._messages(asked))
        if not listed:
            raise UsageError("nothing to add: the list of messages is empty")
        added = self._remember(listed, placement)
        if added.new:
            self._bank.wake()
        return added

    @does(AddMany)
    def add_many(self, asked: AddMany) -> Added:
        placement = self._placement(asked)
        whole = Added((), "")
        for batch in in_batches(self._messages(asked), self._bank.settings.batch):
            part = self._remember(batch, placement)
            whole = Added(
                whole.turns + part.turns, part.session, whole.new + part.new, whole.conflicts + part.conflicts
            )
            if asked.progress:
                asked.progress(len(whole.turns))
        if whole.new:
            self._bank.wake()
        return whole

    def _messages(self, asked: Add | AddMany) -> Iterator[Message]:
        """What is to be stored, masked where the bank masks anything."""
        messages = map(as_message, asked.messages)  # type: ignore[arg-type]
        return map(self._bank.masks.message, messages) if self._bank.masks.kinds else messages

    def _remember(self, messages: Sequence[Message], placement: MessageDefaults) -> Added:
        bank = self._bank
        turns = placed(messages, placement)  # once: a second attempt must not give them other ids
        return bank.model.write(lambda embedder: remember(bank.store, embedder, bank.settings, turns))

    def _placement(self, asked: Add | AddMany) -> MessageDefaults:
        masks, zone = self._bank.masks, self._bank.zone
        session, metadata = asked.session, asked.metadata
        if masks.kinds:
            session = None if session is None else masks.label(session)
            metadata = None if metadata is None else masks.deep(metadata)
        return MessageDefaults(
            session=session,
            at=TimeReader(asked.zone or zone, asked.at).said_at,
            zone=asked.zone,
            bank_zone=zone,
            metadata=metadata,
        )

    @does(Turns)
    def turns(self, asked: Turns) -> list[Turn]:
        return list(self.each_turn(asked))

    def each_turn(self, asked: Turns) -> Iterator[Turn]:
        """As `turns`, one after the other: for those who need not hold all of them at once."""
        bank, as_of = self._bank, self._bank.as_of(asked)
        turns = bank.store.turns(session=asked.session, between=bank.window(asked.between))
        return turns if as_of.is_now else filter(as_of.sees, turns)

    @does(OneTurn)
    def turn(self, asked: OneTurn) -> Turn:
        for turn in self._bank.store.turns(ids=[asked.turn_id]):
            if self._bank.as_of(asked).sees(turn):
                return turn
        raise NotFound(
            f"there is no turn '{asked.turn_id}' in bank '{self._bank.name}'; `everwhen show turns` lists them"
        )

    @does(TurnsAround)
    def turns_around(self, asked: TurnsAround) -> list[Turn]:
        store, as_of = self._bank.store, self._bank.as_of(asked)
        turn = self.turn(OneTurn(asked.turn_id, as_of=as_of.as_of, known_at=as_of.known_at))
        if as_of.is_now:
            return store.turns_around(turn, asked.reach)
        listed = [one for one in store.turns(session=turn.session) if as_of.sees(one)]
        place = [one.id for one in listed].index(turn.id)
        return listed[max(place - asked.reach, 0) : place + asked.reach + 1]

    @does(Sessions)
    def sessions(self, asked: Sessions) -> list[Session]:
        return self._bank.store.sessions(self._bank.as_of(asked))

    # Recall

    @does(RecallMemories)
    def recall(self, asked: RecallMemories) -> Recall:
        bank, clock = self._bank, self._bank.clock(asked.at)
        now, as_of = clock.now, bank.as_of(asked, clock)
        window = clock.window(asked.between, asked.before, asked.after)
        recipe = (asked.recipe or for_budget(asked.budget, bank.settings)).with_satf(bank.settings)
        where = Filter(
            between=said_by(window, as_of.as_of),
            known_at=as_of.known_at,
            kinds=frozenset(asked.kinds or recipe.kinds),
            networks=None if asked.networks is None else frozenset(asked.networks),
            metadata=asked.metadata or {},
        )
        pending = bank.settle() if asked.fresh else 0
        request = Request(
            query=asked.query,
            max_tokens=asked.max_tokens,
            top_k=asked.top_k,
            at=now,
            where=where,
            order=asked.order,
            recipe=recipe,
            moment=FactScope(as_of.as_of or now, None if as_of.as_of else window, as_of.known_at, bank.zone)
            if as_of.as_of or window
            else None,
            half_lives=HalfLives(bank.settings.half_lives, bank.settings.half_life),
            min_confidence=asked.min_confidence,
            reranker=bank.reranker,
            reader=bank.reader,
            nodes=asked.kinds is None or "node" in asked.kinds,
            llm=bank.llm(bank.settings.recall_llm),
            seek=asked.seek,
        )
        found = bank.model.read(lambda embedder: recall(bank.store, embedder, request))
        if bank.settings.count_access:
            bank.accesses.count(found)
        return replace(found, pending=pending) if pending else found

    @does(PromptContext)
    def context(self, asked: PromptContext) -> Context:
        from everwhen.models.embedder import count_tokens
        from everwhen.recall.budget import NO_ROOM, fill
        from everwhen.recall.calendar.annotation import as_said

        clock, half = self._bank.clock(asked.at), asked.max_tokens // 2
        times = asked.read_times(clock)
        day = min(_day_began(clock), times["as_of"] or FOREVER)
        since = min(clock.last(asked.stable_at, "stable_at") or day, times["as_of"] or FOREVER)
        room = half - count_tokens(framed(STANDING, "")) - SEAMS
        since, known, news = self._known(since, day, room, times["known_at"])
        stable = framed(STANDING, known) if known else ""
        parts = [framed(CHANGED, news)] if news else []
        heading = f"{_today(clock)}\n{PREAMBLE}"
        room = half - count_tokens("\n\n".join([*parts, framed(heading, "")])) - SEAMS
        if room < 1:
            fresh = "".join(parts)
            return Context(
                stable, fresh, count_tokens(stable) + count_tokens(fresh), Recall(asked.query, (), 0), since
            )
        # What the model sees anyway takes no room from the rest.
        seen = {one.strip() for one in asked.shown}
        wide = room + sum(count_tokens(one) + BESIDE for one in seen)
        found = self.recall(
            RecallMemories(asked.query, at=asked.at, budget=asked.budget, max_tokens=wide, **times)
        )
        if not is_question(asked.query):
            room = int(room * min(1.0, max(LEAST_ROOM, found.trace["answerable"] / ASKING)))
        wanted = (
            [one for one in found if one.text.strip() not in seen]
            if _says_something(asked.query, found)
            else []
        )
        kept, left, used = fill(wanted, room, list(map(as_said, wanted)))
        dropped = (*found.dropped, *(Dropped(one.id, NO_ROOM, one.score) for one in left))
        found = replace(found, memories=tuple(kept), tokens=used, dropped=dropped)
        fresh = "\n\n".join([*parts, framed(heading, found.as_context())] if kept else parts)
        return Context(stable, fresh, count_tokens(stable) + count_tokens(fresh), found, since)

    def _known(
        self, since: datetime, day: datetime, room: int, known_at: datetime | None
    ) -> tuple[datetime, str, str]:
        """What was known at an instant, and what changed from then until the day began; of which instant it is.

        Where more changed than there is room for, it is what was known when the day began.
        """
        from everwhen.models.embedder import count_tokens
        from everwhen.tree.node_reader import changed, standing

        bank = self._bank
        levels = bank.levels()
        known = standing(bank.store, levels, since, bank.facts.half_lives, room, known_at)
        if since >= day:
            return since, known, ""
        now = standing(bank.store, levels, day, bank.facts.half_lives, room, known_at)
        if now == known:
            return since, known, ""
        news = changed(bank.store, levels, day, bank.facts.half_lives, known, now, known_at)
        if count_tokens(news) > room * NEWS:
            return day, now, ""
        return since, known, news

    @does(MostAccessed)
    def accessed(self, asked: MostAccessed) -> list[Accessed]:
        return self._bank.accesses.most(asked.limit)


class OperatedBank(Bank):
    """A bank in this process: each operation is done by the method of a part that is marked for it (`@does`)."""

    def __init__(self, bank: OpenBank, parts: Sequence[object]) -> None:
        self._bank = bank
        self._does: dict[Any, Callable[[Any], Any]] = {
            operation: getattr(part, name) for part in parts for operation, name in handlers(part).items()
        }

    @property
    def bank(self) -> str:
        return self._bank.name

    @property
    def zone(self) -> str:
        """The zone of text that comes without one."""
        return self._bank.zone

    @property
    def facts(self) -> Facts:
        """What is true from when to when, and what was known when."""
        return self._bank.facts

    def perform(self, operation: Operation[R], /) -> R:
        """Do one operation: what every method of this class calls."""
        does = self._does.get(type(operation))
        result: R = does(operation) if does else self.facts.perform(operation)
        return result


def _day_began(clock: TimeReader) -> datetime:
    """The last instant before the day of asking, in the bank's zone."""
    day = clock.now.astimezone(zone_of(clock.zone)).replace(hour=0, minute=0, second=0, microsecond=0)
    return day.astimezone(UTC) - timedelta(microseconds=1)


def _today(clock: TimeReader) -> str:
    day = clock.now.astimezone(zone_of(clock.zone)).date()
    return f"Today is {day.isoformat()} {WEEKDAYS[day.weekday()]}."


def _says_something(query: str, found: Recall) -> bool:
    """Whether a query has anything to look for: "ok" recalls what is near to no words at all."""
    plan = found.trace.get("plan", {})
    return bool(keywords(query) or plan.get("about") or plan.get("time"))


def said_by(window: Interval | None, as_of: datetime | None) -> Interval | None:
    """The window cut to what had been said by an instant, that instant included."""
    if as_of is None:
        return window
    end = as_of + timedelta(microseconds=1)
    start = window.start if window else None
    if window and window.end:
        end = min(end, window.end)
    return Interval(start if start is None or start <= end else end, end, "second")
