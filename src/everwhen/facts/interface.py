"""`memory.facts`: what is true from when to when, as a program asks for it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from typing import Literal, Protocol, TypeVar

from everwhen.api.operations import facts as ops
from everwhen.api.operations.base import BothTimes, Operation, does, done_by
from everwhen.api.operations.surface import BankFacts
from everwhen.errors import NotFound, UsageError
from everwhen.facts import changes
from everwhen.facts.changes import recast
from everwhen.facts.redact import Masks
from everwhen.facts.relearn import record
from everwhen.facts.shown_facts import FactsThen, facts_of_report, noted, stale_facts, to_fact
from everwhen.facts.statements import (
    FactStatement,
    Predicates,
    checked_statement,
    checked_text,
    folded,
    normalised,
    prepared,
    sources,
)
from everwhen.models.embedder import Embedder
from everwhen.settings import Settings
from everwhen.store.rows import NOW, AsOf, DeclaredPredicate, FactRow, Report
from everwhen.store.sql.facts import FactLedger, FactStore
from everwhen.types import Conflict, Fact, FactDiff, HalfLives, ListWithPending, Proposal, StaleFact, Time
from everwhen.types.facts import confidence_at
from everwhen.types.times import TimeReader

MADE_ID = re.compile(r"t[0-9a-f]{22}")
"""A turn's id where its message brought none (`write/remember.py` makes them)."""
R = TypeVar("R")


class Embedding(Protocol):
    """Does work that writes vectors with the embedder that the bank has, and again where it got another meanwhile."""

    def __call__(self, work: Callable[[Embedder], R]) -> R: ...


class Facts(BankFacts):
    """The facts of one bank. `at` is when it was learned, and is now when left out; expressions count from it."""

    def __init__(
        self,
        store: FactStore,
        embedding: Embedding,
        settings: Settings,
        ready: Callable[[], int] = lambda: 0,
        masks: Masks | None = None,
        zone: str = "UTC",
        times_zone: str | None = None,
    ) -> None:
        self._store = store
        self._embedding = embedding
        self._settings = settings
        self._ready = ready
        self._masks = masks or Masks()
        self._zone = zone
        self._times_zone = times_zone or zone

    def perform(self, operation: Operation[R], /) -> R:
        return done_by(self, operation)

    # Writing

    @does(ops.Assert)
    def _assert(self, asked: ops.Assert) -> Fact:
        clock = TimeReader(self._times_zone, asked.at)
        facts_of_report = self._masks.labels(sources(asked.source))
        said = checked_statement(
            self.predicates, *self._three(asked), at=clock.now,
            valid_from=clock.first(asked.valid_from, "valid_from"), valid_to=clock.first(asked.valid_to, "valid_to"),
            confidence=asked.confidence,
            domain=None if asked.domain is None else self._said(asked.domain, "domain"),
            source=facts_of_report, origin=asked.origin,
        )  # fmt: skip
        self._check_turns(facts_of_report)
        rows = self._embedding(lambda embedder: record(self._store, self._prepared(said, embedder)))
        return noted(self._facts(rows)[0], said.start, self._zone)

    def _prepared(self, said: FactStatement, embedder: Embedder) -> list[FactStatement]:
        return prepared([said], embedder, self._zone if self._settings.date_in_embedding else None)

    @does(ops.Correct)
    def _correct(self, asked: ops.Correct) -> Fact:
        clock = TimeReader(self._times_zone, asked.at)
        start = clock.first(asked.valid_from, "valid_from")
        said = checked_statement(
            self.predicates, *self._three(asked), at=clock.now, valid_from=start, origin="user"
        )

        def corrected(embedder: Embedder) -> Fact:
            (ready,) = self._prepared(said, embedder)
            return self._change(lambda ledger: changes.correct_fact(ledger, ready))

        return self._embedding(corrected)

    @does(ops.Retract)
    def _retract(self, asked: ops.Retract) -> Fact:
        known, why, when = (
            checked_text(asked.fact_id, "fact's id"),
            self._said(asked.reason, "reason"),
            self._now(asked.at),
        )
        return self._change(lambda ledger: changes.retract_fact(ledger, known, when, why))

    @does(ops.End)
    def _end(self, asked: ops.End) -> list[Fact]:
        clock = TimeReader(self._times_zone, asked.at)
        ended, when = clock.first(asked.on, "on"), clock.now
        keys = self._subject(asked.subject), self._predicate(asked.predicate)

        def end(ledger: FactLedger) -> list[FactRow]:
            key = ledger.find_key(*keys)
            if key is None:
                raise NotFound(f"nothing is known of '{asked.subject} {asked.predicate}', so nothing can end")
            rows = changes.end_facts(ledger, key, ended, when)
            return [ledger.fact(row.id) or row for row in rows]

        return self._facts(self._store.write(end))

    @does(ops.Confirm)
    def _confirm(self, asked: ops.Confirm) -> Fact:
        return self._decide(changes.confirm_fact, asked)

    @does(ops.Reject)
    def _reject(self, asked: ops.Reject) -> Fact:
        return self._decide(changes.reject_proposal, asked)

    def _decide(self, decision: Callable[..., FactRow], asked: ops.Confirm | ops.Reject) -> Fact:
        known, when = checked_text(asked.fact_id, "fact's id"), self._now(asked.at)
        by = self._said(asked.by or "the user", "name of who decides")
        return self._change(lambda ledger: decision(ledger, known, when, by))

    @does(ops.ReportMissing)
    def _report_missing(self, asked: ops.ReportMissing) -> list[Fact]:
        return self._report("missing", asked)

    @does(ops.ReportChange)
    def _report_change(self, asked: ops.ReportChange) -> list[Fact]:
        return self._report("change", asked)

    def _report(
        self, kind: Literal["missing", "change"], asked: ops.ReportMissing | ops.ReportChange
    ) -> list[Fact]:
        report = Report(kind, self._said(asked.ref, "reference"), self._now(asked.at))
        self._store.write(lambda ledger: ledger.report(report))
        return self._facts(facts_of_report(self._store, report))

    @does(ops.Resolve)
    def _resolve(self, asked: ops.Resolve) -> Fact | None:
        conflict, kept = (
            checked_text(asked.conflict_id, "conflict's id"),
            self._said(asked.keep, "side to keep"),
        )
        when = self._now(asked.at)

        def resolve(ledger: FactLedger) -> FactRow | None:
            row = changes.resolve_conflict(ledger, conflict, kept, when)
            return ledger.fact(row.id) if row is not None else None

        row = self._store.write(resolve)
        return self._facts([row])[0] if row is not None else None

    # Reading

    @does(ops.Current)
    def _current(self, asked: ops.Current) -> ListWithPending[Fact]:
        return self._valid_at(self._moment(asked.now), asked.subject, asked.predicate)

    @does(ops.AsOf)
    def _as_of(self, asked: ops.AsOf) -> ListWithPending[Fact]:
        clock = TimeReader(self._times_zone)
        then = clock.last(asked.instant, "instant")
        return self._valid_at(then, asked.subject, asked.predicate, clock.last(asked.known_at, "known_at"))

    def _known_then(self, asked: ops.AsOf) -> ListWithPending[Fact]:
        """`as_of`, without the facts whose message was not yet added by `known_at`.

        `as_of` itself goes by when something was said, so that it has an answer for conversations that were imported.
        """
        clock = TimeReader(self._times_zone)
        instant, known_at = clock.last(asked.instant, "instant"), clock.last(asked.known_at, "known_at")
        pending, as_of = self._ready(), AsOf(None, known_at)
        predicate = None if asked.predicate is None else self._predicate(asked.predicate)
        if asked.subject is None:
            ids = self._store.ids()
        else:
            versions = self._store.history(self._subject(asked.subject), predicate, versions=True)
            ids = list(dict.fromkeys(row.id for row in versions))
        predicates = self.predicates
        rows = [
            row
            for row in self._believed(ids, as_of)
            if row.covers(instant) and predicate in (None, predicates.find(row.predicate).key)
        ]
        rows.sort(key=lambda row: (folded(row.subject), folded(row.predicate), row.valid_from, row.seq))
        return ListWithPending(self._facts(rows, as_of=as_of), pending)

    @does(ops.History)
    def _history(self, asked: ops.History) -> ListWithPending[Fact]:
        pending = self._ready()
        return ListWithPending(self._history_of(asked, self._predicate(asked.predicate)), pending)

    @does(ops.About)
    def _about(self, asked: ops.About) -> ListWithPending[Fact]:
        pending = self._ready()
        return ListWithPending(self._history_of(asked, None), pending)

    def _history_of(self, asked: ops.History | ops.About, predicate: str | None) -> list[Fact]:
        subject, as_of = self._subject(asked.subject), self._times(asked)
        if as_of.is_now:
            return self._facts(self._store.history(subject, predicate, versions=asked.versions))
        every = self._store.history(subject, predicate, versions=True)
        believed = {row.id: row for row in self._believed({row.id for row in every}, as_of)}
        earlier = [row for row in every if row.id in believed and row.version < believed[row.id].version]
        if asked.versions:
            rows = sorted([*earlier, *believed.values()], key=lambda row: (row.recorded_at, row.seq))
        else:
            rows = sorted(believed.values(), key=lambda row: (row.valid_from, row.seq))
        return self._facts(rows, as_of=as_of)

    def _times(self, asked: BothTimes) -> AsOf:
        return AsOf(**asked.read_times(TimeReader(self._times_zone)))

    def _believed(self, ids: Iterable[str], as_of: AsOf) -> list[FactRow]:
        """The version of each of some facts that was believed then, as it looked then."""
        rows = self._store.believed_then(list(ids), as_of)
        return [replace(row, superseded_at=None, outcome=None, reason=None) for row in rows]

    @does(ops.Diff)
    def _diff(self, asked: ops.Diff) -> FactDiff:
        clock, as_of = TimeReader(self._times_zone), self._times(asked)
        first, second = (clock.first(given, name) for given, name in ((asked.t1, "t1"), (asked.t2, "t2")))
        self._ready()
        key = None if asked.subject is None else {self._subject(asked.subject)}
        if as_of.is_now:
            earlier = {row.slot: row for row in self._store.valid_at(first, key, None, None)}
            later = {row.slot: row for row in self._store.valid_at(second, key, None, None)}
        else:
            ids = (
                self._store.ids()
                if key is None
                else {row.id for one in key for row in self._store.history(one, None, versions=True)}
            )
            rows = self._believed(ids, as_of)
            earlier = {row.slot: row for row in rows if row.covers(first)}
            later = {row.slot: row for row in rows if row.covers(second)}
        both = [slot for slot in earlier if slot in later and earlier[slot].id != later[slot].id]

        def shown(rows: Iterable[FactRow]) -> list[Fact]:
            return self._facts(rows, as_of=as_of)

        return FactDiff(
            first,
            second,
            began=tuple(shown(row for slot, row in later.items() if slot not in earlier)),
            ended=tuple(shown(row for slot, row in earlier.items() if slot not in later)),
            changed=tuple(zip(shown(earlier[s] for s in both), shown(later[s] for s in both), strict=True)),
        )

    @does(ops.Stale)
    def _stale(self, asked: ops.Stale) -> ListWithPending[StaleFact]:
        pending, as_of = self._ready(), self._times(asked)
        then = [instant for instant in (as_of.as_of, as_of.known_at) if instant is not None]
        moment = min(then) if then and asked.now is None else self._moment(asked.now)
        found = stale_facts(
            self._store if as_of.is_now else FactsThen(self._store, as_of),
            partial(self._facts, as_of=as_of),
            self.half_lives,
            asked.threshold,
            moment,
            asked.limit,
        )
        return ListWithPending(found, pending)

    @does(ops.Review)
    def _review(self, asked: ops.Review) -> ListWithPending[Conflict | Proposal]:
        found: ListWithPending[Conflict | Proposal] = ListWithPending(pending=self._ready())
        as_of = self._times(asked)
        store = self._store if as_of.is_now else FactsThen(self._store, as_of)
        for row in store.conflicts():
            sides = [store.newest(row.incumbent), store.newest(row.challenger)]
            first, second = self._facts((side for side in sides if side is not None), as_of=as_of)
            found.append(
                Conflict(row.id, first.subject, first.predicate, (first, second), row.why, row.opened_at)
            )
        for waits in store.proposals():
            if isinstance(store, FactsThen):
                holds = store.holding(waits)
            else:
                key = {folded(waits.subject)}, {self._predicate(waits.predicate)}
                holds = [
                    one for one in store.valid_at(waits.valid_from, *key, None) if one.slot == waits.slot
                ]
            fact, *known = self._facts([waits, *holds], as_of=as_of)
            changed = known[0] if known else None
            found.append(Proposal(waits.id, fact, changed, waits.reason or "", waits.recorded_at))
        return found

    @does(ops.ConfidenceAt)
    def _confidence_at(self, asked: ops.ConfidenceAt) -> float:
        return confidence_at(asked.fact, self._moment(asked.instant, "instant"), self.half_lives)

    @does(ops.Get)
    def _get(self, asked: ops.Get) -> Fact:
        row = self._store.newest(checked_text(asked.fact_id, "fact's id"))
        if row is None:
            raise NotFound(
                f"there is no fact '{asked.fact_id}'; `everwhen facts current` lists those that hold"
            )
        return self._facts([row])[0]

    @does(ops.Versions)
    def _versions(self, asked: ops.Versions) -> Iterator[Fact]:
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

    @does(ops.DefinePredicate)
    def _define_predicate(self, asked: ops.DefinePredicate) -> None:
        label, when = self._said(asked.name, "predicate"), self._now(asked.at)
        others = tuple(self._said(one, "synonym") for one in asked.synonyms)
        before = self.predicates
        domain = None if asked.domain is None else self._said(asked.domain, "domain")
        declared = DeclaredPredicate(normalised(label), label, asked.multi, domain, others)

        def declare(ledger: FactLedger) -> None:
            ledger.declare(declared)
            after = Predicates([*self._store.predicates(), declared])
            named_ = [declared.key, *(normalised(one) for one in others)]
            for key, predicate_key in ledger.keys_of(named_):
                target = after.find(predicate_key)
                if target.key != predicate_key or target.multi != before.find(predicate_key).multi:
                    recast(ledger, key, folded(key.subject), target, when)

        self._store.write(declare)

    @property
    def half_lives(self) -> HalfLives:
        """Days by domain: the bank's own over those of the settings."""
        return HalfLives(self._settings.half_lives, self._settings.half_life).with_own(
            self._store.half_lives()
        )

    @does(ops.SetHalfLife)
    def _set_half_life(self, asked: ops.SetHalfLife) -> None:
        days = asked.days
        if isinstance(days, bool) or not isinstance(days, int | float) or not 0 < days < float("inf"):
            raise UsageError(f"a half-life is a positive number of days, got {days!r}")
        domain = "" if asked.domain is None else self._said(asked.domain, "domain")
        self._store.set_half_life(domain, float(days))

    def _now(self, at: Time | None) -> datetime:
        """When what is asked for is to be recorded."""
        return TimeReader(self._times_zone, at).now

    def _moment(self, given: Time | None, name: str = "now") -> datetime:
        """The moment that is asked about, to its end; now when none is given."""
        return TimeReader(self._times_zone).last(given, name) or datetime.now(UTC)

    def _change(self, act: Callable[[FactLedger], FactRow]) -> Fact:
        def change(ledger: FactLedger) -> FactRow:
            row = act(ledger)
            return ledger.fact(row.id) or row

        return self._facts([self._store.write(change)])[0]

    def _valid_at(
        self, instant: datetime, subject: str | None, predicate: str | None, known_at: datetime | None = None
    ) -> ListWithPending[Fact]:
        pending = self._ready()
        key = None if subject is None else {self._subject(subject)}
        found = None if predicate is None else {self._predicate(predicate)}
        return ListWithPending(
            self._facts(self._store.valid_at(instant, key, found, known_at), AsOf(None, known_at)), pending
        )

    def _check_turns(self, sources: Sequence[str]) -> None:
        """A source may have any name; one that is the id of a turn, as everwhen makes them, is there."""
        turns = [one for one in sources if MADE_ID.fullmatch(one)]
        known = self._store.known_turns(turns) if turns else set()
        if unknown := [one for one in turns if one not in known]:
            raise NotFound(f"there is no turn '{unknown[0]}', so a fact cannot come from it")

    def _said(self, given: str, what: str) -> str:
        """Checked, and masked as the bank masks: what is asked for is found as it was stored."""
        return self._masks.text(checked_text(given, what))

    def _three(self, asked: ops.Assert | ops.Correct) -> tuple[str, str, str]:
        return (
            self._said(asked.subject, "subject"),
            self._said(asked.predicate, "predicate"),
            self._said(asked.object, "object"),
        )

    def _subject(self, given: str) -> str:
        return folded(self._said(given, "subject"))

    def _predicate(self, given: str) -> str:
        return self.predicates.find(self._said(given, "predicate")).key

    def _facts(self, rows: Iterable[FactRow], as_of: AsOf = NOW) -> list[Fact]:
        listed = list(rows)
        ids = [row.id for row in listed]
        if not ids:
            return []
        sources = self._store.sources(ids) if as_of.is_now else self._store.sources_then(ids, as_of)
        return [to_fact(row, tuple(sources.get(row.id, ()))) for row in listed]
