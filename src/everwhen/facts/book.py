"""`memory.facts`: the methods that assert, correct, end and read facts."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import update_wrapper
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import NotFound, UsageError
from everwhen.facts import changes, decay
from everwhen.facts.decay import HalfLives
from everwhen.facts.learn import record
from everwhen.facts.predicates import Predicates, folded, normalised
from everwhen.facts.recasting import recast
from everwhen.facts.staleness import named, stale_facts
from everwhen.facts.wording import MOST_SYNONYMS, certainty, checked_statement, prepared, sources, words
from everwhen.models.embed import Embedder
from everwhen.models.embed.dated import Dated, embed_derived
from everwhen.redact import Masks
from everwhen.settings import Settings
from everwhen.store.facts import Declared, FactRow, FactStore, Report
from everwhen.store.model import Model
from everwhen.times import Clock
from everwhen.types import Conflict, Fact, FactDiff, Listed, Origin, StaleFact, Status, Time
from everwhen.when import Grain, Interval, describe

MADE_ID = re.compile(r"t[0-9a-f]{22}")
"""A turn's id where its message brought none (`ingest/remember.py` makes them)."""
P = ParamSpec("P")
R = TypeVar("R")


class Words:
    """How facts become searchable: their vectors by the bank's embedder, their length in cl100k tokens. With a zone,
    the date is part of the embedded text."""

    def __init__(self, embedder: Embedder, zone: str | None = None) -> None:
        self._embedder = embedder
        self._zone = zone

    def vectors(
        self, texts: Sequence[str], since: Sequence[tuple[datetime, Grain]]
    ) -> list[NDArray[np.float32]]:
        zone = self._zone
        dates = None if zone is None else [Dated(instant, zone, grain) for instant, grain in since]
        return embed_derived(self._embedder, texts, dates)

    @property
    def model(self) -> Model:
        return Model.of(self._embedder)

    def tokens(self, text: str) -> int:
        from everwhen.models.tokens import count_tokens

        return count_tokens(text)


class Embedding(Protocol):
    """Runs work that writes vectors, and runs it again if the bank was given another embedder meanwhile."""

    def __call__(self, work: Callable[[Embedder], R]) -> R: ...


class Facts:
    """The facts of one bank. `at` is when something was learned (default: now); expressions such as "yesterday" count
    from it."""

    def __init__(
        self,
        store: FactStore,
        embedding: Embedding,
        settings: Settings,
        ready: Callable[[], int] = lambda: 0,
        masks: Masks | None = None,
        zone: str = "UTC",
    ) -> None:
        self._store = store
        self._embedding = embedding
        self._settings = settings
        self._ready = ready
        self._masks = masks or Masks()
        self._zone = zone

    # Writing

    def assert_(
        self,
        subject: str,
        predicate: str,
        object: str,
        *,
        valid_from: Time | None = None,
        valid_to: Time | None = None,
        confidence: float = 1.0,
        domain: str | None = None,
        source: str | Sequence[str] | None = None,
        origin: Origin = "observation",
        at: Time | None = None,
    ) -> Fact:
        """Say that something is so, from `valid_from` (else from `at`) until `valid_to` (else until it changes).

        A later fact closes an earlier one; an earlier one that comes late is placed before it. The same again
        reinforces: an earlier `valid_from` moves its beginning back, in a new version; a later one is a confirmation,
        the beginning stays, and `note` says so. What comes back says in `status` whether it is believed, disputed or
        overruled.
        """
        clock = Clock(self._zone, at)
        named = self._masks.labels(sources(source))
        said = checked_statement(
            self.predicates, *self._three(subject, predicate, object), at=clock.now,
            valid_from=clock.first(valid_from, "valid_from"), valid_to=clock.first(valid_to, "valid_to"),
            confidence=confidence,
            domain=None if domain is None else self._said(domain, "domain"),
            source=named, origin=origin,
        )  # fmt: skip
        self._check_turns(named)
        rows = self._embedding(lambda embedder: record(self._store, prepared([said], self._words(embedder))))
        return _noted(self._facts(rows)[0], said.start)

    def _words(self, embedder: Embedder) -> Words:
        return Words(embedder, self._zone if self._settings.date_in_embedding else None)

    def correct(
        self,
        subject: str,
        predicate: str,
        object: str,
        *,
        valid_from: Time | None = None,
        at: Time | None = None,
    ) -> Fact:
        """The user's word, which always wins: what was believed is replaced, for all the time it was believed for.

        With `valid_from`, from then on. What was known before stays what was known before (`known_at`).
        """
        clock = Clock(self._zone, at)
        said = checked_statement(
            self.predicates,
            *self._three(subject, predicate, object),
            at=clock.now,
            valid_from=clock.first(valid_from, "valid_from"),
            origin="user",
        )

        def corrected(embedder: Embedder) -> Fact:
            (ready,) = prepared([said], self._words(embedder))
            return self._change(lambda ledger: changes.correct_fact(ledger, ready))

        return self._embedding(corrected)

    def retract(self, fact_id: str, *, reason: str, at: Time | None = None) -> Fact:
        """Retract a fact: it was never true. A fact that it had closed is open again."""
        known, why, when = (
            words(fact_id, "fact's id"),
            self._said(reason, "reason"),
            Clock(self._zone, at).now,
        )
        return self._change(lambda ledger: changes.retract_fact(ledger, known, when, why))

    def end(self, subject: str, predicate: str, *, on: Time, at: Time | None = None) -> list[Fact]:
        """Say that something stopped being true: what holds until then ends at `on` (valid time)."""
        clock = Clock(self._zone, at)
        ended, when = clock.first(_given(on, "on"), "on"), clock.now
        keys = self._keys(subject, predicate)
        with self._store.writing() as ledger:
            key = ledger.find_key(*keys)
            if key is None:
                raise NotFound(f"nothing is known of '{subject} {predicate}', so nothing can end")
            rows = changes.end_facts(ledger, key, ended, when)
            rows = [ledger.fact(row.id) or row for row in rows]
        return self._facts(rows)

    def confirm(self, fact_id: str, at: Time | None = None) -> Fact:
        """It is still true: its age counts from now again."""
        known, when = words(fact_id, "fact's id"), Clock(self._zone, at).now
        return self._change(lambda ledger: changes.confirm_fact(ledger, known, when))

    def report_missing(self, ref: str, at: Time | None = None) -> list[Fact]:
        """A file, project or person is gone: `stale` lists the facts that name it, and so does this."""
        return self._report(Report("missing", self._said(ref, "reference"), Clock(self._zone, at).now))

    def report_change(self, ref: str, at: Time | None = None) -> list[Fact]:
        """Something outside changed (a release, a team): the facts that name it want to be looked at."""
        return self._report(Report("change", self._said(ref, "reference"), Clock(self._zone, at).now))

    def resolve(self, conflict_id: str, keep: str, at: Time | None = None) -> Fact | None:
        """Decide a conflict: `keep` the id or the object of one side, or "neither"."""
        conflict, kept, when = (
            words(conflict_id, "conflict's id"),
            self._said(keep, "side to keep"),
            Clock(self._zone, at).now,
        )
        with self._store.writing() as ledger:
            row = changes.resolve_conflict(ledger, conflict, kept, when)
            row = ledger.fact(row.id) if row is not None else None
        return self._facts([row])[0] if row is not None else None

    # Reading

    def current(
        self, subject: str | None = None, predicate: str | None = None, *, now: Time | None = None
    ) -> Listed[Fact]:
        """What holds at `now`, as known at present."""
        return self._valid_at(self._moment(now), subject, predicate, None)

    def as_of(
        self,
        instant: Time,
        subject: str | None = None,
        predicate: str | None = None,
        *,
        known_at: Time | None = None,
    ) -> Listed[Fact]:
        """What held at an instant, as known at present, or as it was known at `known_at`."""
        clock = Clock(self._zone)
        then = clock.last(_given(instant, "instant"), "instant")
        return self._valid_at(then, subject, predicate, clock.last(known_at, "known_at"))

    def history(self, subject: str, predicate: str, *, versions: bool = False) -> Listed[Fact]:
        """What is believed of a thing over all time, in valid-time order; or every version ever recorded."""
        pending = self._ready()
        found = self._store.history(*self._keys(subject, predicate), versions=versions)
        return Listed(self._facts(found), pending)

    def about(self, subject: str, *, versions: bool = False) -> Listed[Fact]:
        """All that is believed of a subject over all time, in valid-time order; or every version."""
        pending = self._ready()
        found = self._store.history(folded(self._said(subject, "subject")), None, versions=versions)
        return Listed(self._facts(found), pending)

    def diff(self, t1: Time, t2: Time, subject: str | None = None) -> FactDiff:
        """What began, ended and changed from one instant to another, as believed now."""
        clock = Clock(self._zone)
        first, second = (clock.first(_given(given, name), name) for given, name in ((t1, "t1"), (t2, "t2")))
        self._ready()
        key = folded(self._said(subject, "subject")) if subject is not None else None
        then = {row.slot: row for row in self._store.valid_at(first, key, None, None)}
        later = {row.slot: row for row in self._store.valid_at(second, key, None, None)}
        both = [slot for slot in then if slot in later and then[slot].id != later[slot].id]
        return FactDiff(
            first,
            second,
            began=tuple(self._facts(row for slot, row in later.items() if slot not in then)),
            ended=tuple(self._facts(row for slot, row in then.items() if slot not in later)),
            changed=tuple(
                zip(self._facts(then[s] for s in both), self._facts(later[s] for s in both), strict=True)
            ),
        )

    def stale(
        self, threshold: float = 0.5, now: Time | None = None, *, limit: int | None = None
    ) -> Listed[StaleFact]:
        """What should not be relied on as it stands, with the sign and what to do; lowest confidence first."""
        certainty(threshold, "threshold")
        pending = self._ready()
        found = stale_facts(self._store, self._facts, self.half_lives, threshold, self._moment(now), limit)
        return Listed(found, pending)

    def review(self) -> Listed[Conflict]:
        """Conflicts that no rule decides, oldest first: both sides are kept until `resolve`."""
        found: Listed[Conflict] = Listed(pending=self._ready())
        for row in self._store.conflicts():
            sides = [self._store.newest(row.incumbent), self._store.newest(row.challenger)]
            first, second = self._facts(side for side in sides if side is not None)
            found.append(
                Conflict(row.id, first.subject, first.predicate, (first, second), row.why, row.opened_at)
            )
        return found

    def confidence_at(self, fact: Fact, instant: Time) -> float:
        """`confidence * 0.5 ** (age / half_life)`; age counts from the start or the last confirmation."""
        return decay.confidence_at(fact, self._moment(_given(instant, "instant"), "instant"), self.half_lives)

    def get(self, fact_id: str) -> Fact:
        """The newest version of a fact."""
        row = self._store.newest(words(fact_id, "fact's id"))
        if row is None:
            raise NotFound(f"there is no fact '{fact_id}'; `everwhen facts current` lists those that hold")
        return self._facts([row])[0]

    def versions(self) -> Iterator[Fact]:
        """Every version of every fact, subject by subject: what an export writes."""
        self._ready()
        page: list[FactRow] = []
        for row in self._store.every_version():
            page.append(row)
            if len(page) == 1000:
                yield from self._facts(page)
                page = []
        yield from self._facts(page)

    # What a bank says of predicates and age

    @property
    def predicates(self) -> Predicates:
        """The shipped predicates with the bank's own over them."""
        return Predicates(self._store.predicates())

    def define_predicate(
        self,
        name: str,
        *,
        multi: bool = False,
        synonyms: Sequence[str] = (),
        domain: str | None = None,
        at: Time | None = None,
    ) -> None:
        """Declare a predicate single- or multi-valued, with words that mean the same. What is known is placed anew."""
        label, when = self._said(name, "predicate"), Clock(self._zone, at).now
        if isinstance(synonyms, str):
            raise UsageError(f"synonyms takes a list, such as synonyms=[{synonyms!r}]")
        if len(synonyms) > MOST_SYNONYMS:
            raise UsageError(
                f"predicate '{label}' has {len(synonyms):,} synonyms; at most {MOST_SYNONYMS} are kept"
            )
        others = tuple(self._said(one, "synonym") for one in synonyms)
        before = self.predicates
        declared = Declared(
            normalised(label), label, multi, None if domain is None else self._said(domain, "domain"), others
        )
        with self._store.writing() as ledger:
            ledger.declare(declared)
            after = Predicates([*self._store.predicates(), declared])
            named_ = [declared.key, *(normalised(one) for one in others)]
            for key, predicate_key in ledger.keys_of(named_):
                target = after.find(predicate_key)
                if target.key != predicate_key or target.multi != before.find(predicate_key).multi:
                    recast(ledger, key, folded(key.subject), target, when)

    @property
    def half_lives(self) -> HalfLives:
        """Days by domain: the bank's own over those of the settings."""
        own = self._store.half_lives()
        return HalfLives({**self._settings.half_lives, **own}, own.get("", self._settings.half_life))

    def set_half_life(self, domain: str | None, days: float) -> None:
        """Let facts of a domain (None: all that have none of their own) fade faster or slower in this bank."""
        if isinstance(days, bool) or not isinstance(days, int | float) or not 0 < days < float("inf"):
            raise UsageError(f"a half-life is a positive number of days, got {days!r}")
        self._store.set_half_life(self._said(domain, "domain") if domain is not None else "", float(days))

    def _moment(self, given: Time | None, name: str = "now") -> datetime:
        """The moment that is asked about, to its end; now when none is given."""
        return Clock(self._zone).last(given, name) or datetime.now(UTC)

    def _change(self, act: Callable[[Any], FactRow]) -> Fact:
        with self._store.writing() as ledger:
            row = act(ledger)
            row = ledger.fact(row.id) or row
        return self._facts([row])[0]

    def _report(self, report: Report) -> list[Fact]:
        with self._store.writing() as ledger:
            ledger.report(report)
        return self._facts(named(self._store, report))

    def _valid_at(
        self, instant: datetime, subject: str | None, predicate: str | None, known_at: datetime | None
    ) -> Listed[Fact]:
        pending = self._ready()
        key = folded(self._said(subject, "subject")) if subject is not None else None
        found = (
            self.predicates.find(self._said(predicate, "predicate")).key if predicate is not None else None
        )
        return Listed(self._facts(self._store.valid_at(instant, key, found, known_at), known_at), pending)

    def _check_turns(self, sources: Sequence[str]) -> None:
        """A source may have any name; one that is the id of a turn, as everwhen makes them, is there."""
        turns = [one for one in sources if MADE_ID.fullmatch(one)]
        known = self._store.known_turns(turns) if turns else set()
        if unknown := [one for one in turns if one not in known]:
            raise NotFound(f"there is no turn '{unknown[0]}', so a fact cannot come from it")

    def _said(self, given: str, what: str) -> str:
        """Checked, and masked as the bank masks: what is asked for is found as it was stored."""
        return self._masks.text(words(given, what))

    def _three(self, subject: str, predicate: str, object: str) -> tuple[str, str, str]:
        return (
            self._said(subject, "subject"),
            self._said(predicate, "predicate"),
            self._said(object, "object"),
        )

    def _keys(self, subject: str, predicate: str) -> tuple[str, str]:
        return folded(self._said(subject, "subject")), self.predicates.find(
            self._said(predicate, "predicate")
        ).key

    def _facts(self, rows: Iterable[FactRow], known_at: datetime | None = None) -> list[Fact]:
        listed = list(rows)
        sources = self._store.sources([row.id for row in listed], known_at) if listed else {}
        return [to_fact(row, tuple(sources.get(row.id, ()))) for row in listed]


def to_fact(row: FactRow, sources: tuple[str, ...] = ()) -> Fact:
    """A stored version as the public type `Fact`."""
    return Fact(
        id=row.id,
        version=row.version,
        subject=row.subject,
        predicate=row.predicate,
        object=row.object,
        valid=Interval(row.valid_from, row.valid_to, row.grain),
        recorded_at=row.recorded_at,
        superseded_at=row.superseded_at,
        confidence=row.confidence,
        origin=row.origin,
        status=_status(row),
        domain=row.domain,
        support=row.support,
        confirmed_at=row.confirmed_at,
        sources=sources,
        reason=row.reason,
    )


def _noted(fact: Fact, start: datetime | None) -> Fact:
    """With a note where its beginning is not the one that was asserted."""
    if start is None or fact.valid_from == start:
        return fact
    known = describe(Interval(fact.valid_from, None, fact.valid.grain))
    return replace(fact, note=f"already known {known}: that beginning was kept, and `facts correct` moves it")


def _status(row: FactRow) -> Status:
    if row.superseded_at is None or row.standing == "overruled":
        return row.standing
    if row.outcome in ("corrected", "retracted"):
        return row.outcome
    return "superseded"


def _given(given: Time, name: str) -> Time:
    if given is None:
        raise UsageError(f"{name} is missing; give a time such as '2025-03-14' or 'last Friday'")
    return given


def _in_thread(
    method: Callable[Concatenate[Facts, P], R],
) -> Callable[Concatenate[AsyncFacts, P], Coroutine[Any, Any, R]]:
    async def call(self: AsyncFacts, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await asyncio.to_thread(method, self.facts, *args, **kwargs)

    return update_wrapper(call, method)


class AsyncFacts:
    """`Facts` for asynchronous programs: the same calls, as coroutines."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    assert_ = _in_thread(Facts.assert_)
    correct = _in_thread(Facts.correct)
    retract = _in_thread(Facts.retract)
    end = _in_thread(Facts.end)
    confirm = _in_thread(Facts.confirm)
    report_missing = _in_thread(Facts.report_missing)
    report_change = _in_thread(Facts.report_change)
    resolve = _in_thread(Facts.resolve)
    current = _in_thread(Facts.current)
    as_of = _in_thread(Facts.as_of)
    history = _in_thread(Facts.history)
    about = _in_thread(Facts.about)
    diff = _in_thread(Facts.diff)
    stale = _in_thread(Facts.stale)
    review = _in_thread(Facts.review)
    confidence_at = _in_thread(Facts.confidence_at)
    get = _in_thread(Facts.get)
    define_predicate = _in_thread(Facts.define_predicate)
    set_half_life = _in_thread(Facts.set_half_life)
