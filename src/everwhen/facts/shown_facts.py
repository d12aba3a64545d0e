"""Facts as callers see them and as recall shows them, and the signals that one may be outdated.

A fact is one line with validity and confidence, and below it the predecessor as a dated note. The token count of a
line needs no tokenizer: the words of a fact were counted when it was written, and everything around them has a fixed
number of cl100k tokens (a test counts them).
"""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo

from everwhen.facts.statements import folded
from everwhen.store.rows import FOREVER, AsOf, ConflictRow, FactRow, FadingFact, Report, ShownFacts
from everwhen.store.sql.facts import FactStore
from everwhen.types import Fact, HalfLives, Signal, StaleFact, Status
from everwhen.types.facts import confidence_at, faded, fades_below, old_in_words
from everwhen_time import Grain, Interval
from everwhen_time.interval import in_plain_words
from everwhen_time.zones import zone_of

SINCE_TOKENS = 9
"""` (since`, `, confidence 0.98)` and the end of the line, without the date."""
OLD_TOKENS = 3
"""By how many `old: last confirmed 2 years ago` is longer than `confidence 0.98`."""
SPAN_TOKENS = 10
"""The same with `from` and `to`, without the two dates."""
BEFORE_TOKENS = 3
"""` (`, ` to` and `)` of the line below, without the two dates, the first of which has no space before it."""


@dataclass(frozen=True, slots=True)
class FactScope:
    """Which facts a question is about: those valid at an instant or in a window, as known at some time."""

    at: datetime
    window: Interval | None = None
    known_at: datetime | None = None
    zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class FactNote:
    fact: Fact
    text: str
    tokens: int
    confidence: float


def to_fact(row: FactRow, sources: tuple[str, ...] = ()) -> Fact:
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
        zone=row.zone,
    )


def noted(fact: Fact, start: datetime | None, zone: str) -> Fact:
    """With a note where its beginning is not the one that was asserted."""
    if start is None or fact.valid_from == start:
        return fact
    known = in_plain_words(Interval(fact.valid_from, None, fact.valid.grain), fact.zone or zone)
    return replace(fact, note=f"already known {known}: that beginning was kept, and `facts correct` moves it")


def facts_from_turns(store: FactStore, turns: Sequence[str]) -> dict[str, list[str]]:
    """Which facts came from which of some turns: fact id to turns."""
    ids, wanted = store.from_sources(turns), set(turns)
    found = store.sources(ids) if ids else {}
    return {fact: [one for one in said if one in wanted] for fact, said in found.items()}


def holding(found: ShownFacts, fact_ids: Iterable[str], moment: FactScope) -> dict[str, list[FactRow]]:
    """For each fact what to show: the fact itself if it holds, else the fact that holds in its place, if any."""
    now = moment.known_at is None and moment.window is None
    shown: dict[str, list[FactRow]] = {}
    for fact_id in fact_ids:
        row = found.believed.get(fact_id)
        instead = found.holding.get(fact_id, ()) if now else ()
        shown[fact_id] = [row] if row is not None and _asked_for(row, moment) else list(instead)
    return shown


def fact_note(found: ShownFacts, row: FactRow, moment: FactScope, half_lives: HalfLives) -> FactNote:
    """The line for a fact, with the one before it where there was one."""
    fact, before = to_fact(row, tuple(found.sources.get(row.id, ()))), found.before.get(row.seq)
    confidence = confidence_at(fact, moment.at, half_lives.with_own(found.half_lives))
    zone = zone_of(row.zone or moment.zone)
    start, cost = _date_and_tokens(row.valid_from, row.grain, zone)
    if row.valid_to is None:
        old = old_in_words(fact, confidence, moment.at)
        text = f"{fact.text} (since {start}, {old or f'confidence {fact.confidence:.2f}'})"
        tokens = row.tokens + cost + SINCE_TOKENS + (OLD_TOKENS if old else 0)
    else:
        end, more = _date_and_tokens(row.valid_to, row.grain, zone)
        text = f"{fact.text} (from {start} to {end}, confidence {fact.confidence:.2f})"
        tokens = row.tokens + cost + more + SPAN_TOKENS
    if before is not None and before.valid_to is not None:
        began, cost = _date_and_tokens(before.valid_from, before.grain, zone)
        ended, more = _date_and_tokens(before.valid_to, before.grain, zone)
        text += f"\nbefore: {to_fact(before).text} ({began} to {ended})"
        tokens += before.tokens + cost + more + BEFORE_TOKENS
    return FactNote(fact, text, tokens, confidence)


def _asked_for(row: FactRow, moment: FactScope) -> bool:
    window = moment.window
    if window is None:
        return row.covers(moment.at)
    after = window.start is None or row.valid_to is None or row.valid_to > window.start
    return after and (window.end is None or row.valid_from < window.end)


def _date_and_tokens(instant: datetime, grain: Grain, zone: tzinfo) -> tuple[str, int]:
    """A date no finer than what is known of it, and its tokens."""
    try:
        local = instant.astimezone(zone)
    except OverflowError:
        local = instant + timedelta()
    day = f"{local.year:04}-{local.month:02}-{local.day:02}"
    return (day[:4], 3) if grain == "year" else (day[:7], 5) if grain == "month" else (day, 7)


def _status(row: FactRow) -> Status:
    if row.is_proposed:
        return "proposed"
    if row.superseded_at is None or row.standing == "overruled":
        return row.standing
    if row.outcome in ("corrected", "retracted"):
        return row.outcome
    return "superseded"


class FactsThen:
    """The facts as they stood at a past moment, with the readers that `stale` and `review` have of the present ones.

    All versions are read at once: the past is asked for rarely.
    """

    def __init__(self, store: FactStore, moment: AsOf) -> None:
        self._store = store
        self._moment = moment
        self._until = min(moment.as_of or FOREVER, moment.known_at or FOREVER)
        self._newest: dict[str, FactRow] = {}
        self._corrected: list[FactRow] = []
        for row, stood in store.versions_then(moment):
            if not stood and row.outcome == "corrected":
                self._corrected.append(row)
            # What ended it later was not known, and took the place of the reason that it had.
            ended = stood and row.superseded_at is not None
            self._newest[row.id] = (
                replace(row, superseded_at=None, outcome=None, reason=None) if ended else row
            )
        self._standing = [row for row in self._newest.values() if row.superseded_at is None]
        self._believed = [row for row in self._standing if row.standing == "believed"]

    def newest(self, fact_id: str) -> FactRow | None:
        return self._newest.get(fact_id)

    def by_seq(self, seqs: Sequence[int]) -> list[FactRow]:
        wanted = set(seqs)
        return [row for row in self._believed if row.seq in wanted]

    def conflicts(self) -> list[ConflictRow]:
        """Those whose challenger still waited for a decision."""
        waiting = {row.id for row in self._standing if row.standing == "disputed"}
        return [
            one
            for one in self._store.conflicts_until(self._moment.as_of or FOREVER)
            if one.challenger in waiting and one.incumbent in self._newest
        ]

    def proposals(self) -> list[FactRow]:
        listed = [row for row in self._standing if row.act == "propose"]
        return sorted(listed, key=lambda row: (row.recorded_at, row.seq))

    def holding(self, row: FactRow) -> list[FactRow]:
        """What held in a fact's slot when it begins."""
        return [one for one in self._believed if one.slot == row.slot and one.covers(row.valid_from)]

    def reports(self, until: datetime) -> list[Report]:
        return self._store.reports(min(until, self._until))

    def naming(self, words: str) -> list[FactRow]:
        return [
            row for row in self._believed if folded(words) in f"{folded(row.subject)} {folded(row.object)}"
        ]

    def fading(self, instant: datetime) -> Iterator[FadingFact]:
        for row in self._believed:
            if row.covers(instant):
                since = max(row.valid_from, row.confirmed_at or row.valid_from)
                yield FadingFact(row.seq, since, row.confidence, row.domain, row.predicate)

    def beside_corrected(self) -> list[tuple[FactRow, datetime, bool]]:
        """See `FactStore.beside_corrected`."""
        ids = [row.id for row in (*self._corrected, *self._believed)] if self._corrected else []
        sources = {fact: set(found) for fact, found in self._store.sources_then(ids, self._moment).items()}
        again: dict[int, datetime] = {}
        beside: dict[int, datetime] = {}
        for wrong in self._corrected:
            on = wrong.superseded_at
            assert on is not None
            for row in self._believed:
                if row.id == wrong.id:
                    continue
                is_same_value = row.slot == wrong.slot and row.object_key == wrong.object_key
                if is_same_value and row.act != "correct" and row.stated_at >= on:
                    again[row.seq] = max(on, again.get(row.seq, on))
                shared = sources.get(wrong.id, set()) & sources.get(row.id, set())
                if shared and row.stated_at < on:
                    beside[row.seq] = max(on, beside.get(row.seq, on))
        return [
            (row, marked[row.seq], own)
            for marked, own in ((again, True), (beside, False))
            for row in self._believed
            if row.seq in marked
        ]


_AT_ONCE = 500
_REPORTED = {
    "missing": "'{}' was reported missing on {}: confirm it, or end or retract it",
    "change": "'{}' changed on {}: check whether it still holds, then confirm or correct it",
}
ToFacts = Callable[[Iterable[FactRow]], list[Fact]]


def stale_facts(
    store: FactStore | FactsThen,
    to_facts: ToFacts,
    half_lives: HalfLives,
    threshold: float,
    now: datetime,
    limit: int | None = None,
) -> list[StaleFact]:
    """All signals, lowest confidence first. Only what is stale is ever held in memory, `limit` of it at the most."""
    flagged: dict[Signal, Iterable[tuple[FactRow, str]]] = {
        "contradiction": contradicted(store),
        "context_mismatch": reported(store, "missing", now),
        "user_correction": corrected(store, now),
        "external_change": reported(store, "change", now),
    }
    found: list[StaleFact] = []
    for signal, rows in flagged.items():
        listed = list(rows)
        facts = to_facts(row for row, _ in listed)
        found += [
            StaleFact(fact, confidence_at(fact, now, half_lives), signal, action)
            for fact, (_, action) in zip(facts, listed, strict=True)
        ]
    fading = aged(store, half_lives, threshold, now)
    old = sorted(fading) if limit is None else heapq.nsmallest(limit, fading)
    for first in range(0, len(old), _AT_ONCE):
        part = old[first : first + _AT_ONCE]
        confidences = {seq: confidence for confidence, seq in part}
        rows_ = store.by_seq(list(confidences))
        for fact, row in zip(to_facts(rows_), rows_, strict=True):
            half_life = half_lives.of(fact.domain, fact.predicate)
            action = (
                f"verify it: older than a half-life of {half_life:g} days allows; confirm, correct or end it"
            )
            found.append(StaleFact(fact, confidences[row.seq], "age", action))
    found.sort(key=lambda one: (one.confidence, one.fact.valid_from, one.fact.id, one.signal))
    return found[:limit]


def aged(
    store: FactStore | FactsThen, half_lives: HalfLives, threshold: float, now: datetime
) -> Iterator[tuple[float, int]]:
    """Age: confidence and seq of each fact in force whose confidence has fallen below the threshold."""
    cutoffs: dict[tuple[str | None, str, float], datetime | None] = {}
    for seq, since, confidence, domain, predicate in store.fading(now):
        kind = (domain, predicate, confidence)
        if kind not in cutoffs:
            age = fades_below(confidence, threshold, half_lives.of(domain, predicate))
            try:  # an age below zero is stale however new it is; before time began nothing was said
                cutoffs[kind] = datetime.max.replace(tzinfo=now.tzinfo) if age < timedelta() else now - age
            except OverflowError:
                cutoffs[kind] = None
        cutoff = cutoffs[kind]
        if cutoff is not None and since < cutoff:
            yield faded(confidence, since, now, half_lives.of(domain, predicate)), seq


def contradicted(store: FactStore | FactsThen) -> Iterator[tuple[FactRow, str]]:
    """Contradiction: both sides of every conflict that nobody has resolved."""
    for conflict in store.conflicts():
        sides = [store.newest(conflict.incumbent), store.newest(conflict.challenger)]
        rows = [row for row in sides if row is not None and row.superseded_at is None]
        objects = " or ".join(row.object for row in rows)
        for row in rows:
            yield row, f"decide which is right: resolve {conflict.id}, keep {objects}"


def reported(store: FactStore | FactsThen, kind: str, now: datetime) -> Iterator[tuple[FactRow, str]]:
    """Context mismatch, external change: facts that name what was reported so after they were stated."""
    seen: set[int] = set()
    for report in reversed(store.reports(now)):  # the newest report of a thing speaks for all
        if report.kind != kind:
            continue
        for row in facts_of_report(store, report):
            if row.seq not in seen and row.covers(now):
                seen.add(row.seq)
                yield row, _REPORTED[kind].format(report.ref, f"{report.at:%Y-%m-%d}")


def facts_of_report(store: FactStore | FactsThen, report: Report) -> list[FactRow]:
    """The facts that a report concerns: they have its words, and nobody has stood by them since."""
    words = re.compile(rf"(?<!\w){re.escape(folded(report.ref))}(?!\w)")
    return [
        row
        for row in store.naming(report.ref)
        if max(row.stated_at, row.confirmed_at or row.stated_at) <= report.at
        and (words.search(folded(row.subject)) or words.search(folded(row.object)))
    ]


def corrected(store: FactStore | FactsThen, now: datetime) -> Iterator[tuple[FactRow, str]]:
    """User correction: the value was corrected away once before, or its source has been wrong about another fact."""
    seen: set[int] = set()
    for row, on, own in store.beside_corrected():
        confirmed = row.confirmed_at is not None and row.confirmed_at > on and not own
        if row.seq in seen or confirmed or not row.covers(now):
            continue
        seen.add(row.seq)
        if own:
            yield row, f"the user corrected this very value away on {on:%Y-%m-%d}: ask before relying on it"
        else:
            yield row, f"another fact from the same source was corrected on {on:%Y-%m-%d}: verify it"
