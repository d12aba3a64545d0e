"""Five signals that a fact may be outdated, each with its detector and a suggested action."""

from __future__ import annotations

import heapq
import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timedelta

from everwhen.facts.predicates import folded
from everwhen.store.facts import FactRow, FactStore, Report
from everwhen.types import Fact, HalfLives, Signal, StaleFact
from everwhen.types.decay import confidence_at, faded, fades_below

_AT_ONCE = 500
_REPORTED = {
    "missing": "'{}' was reported gone on {}: confirm it, or end or retract it",
    "change": "'{}' changed on {}: check whether it still holds, then confirm or correct it",
}
ToFacts = Callable[[Iterable[FactRow]], list[Fact]]


def stale_facts(
    store: FactStore,
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
    store: FactStore, half_lives: HalfLives, threshold: float, now: datetime
) -> Iterator[tuple[float, int]]:
    """Age: confidence and seq of each fact in force whose confidence has fallen below the threshold."""
    cutoffs: dict[tuple[str | None, str, float], datetime | None] = {}
    for seq, since, confidence, domain, predicate in store.fading(now):
        kind = (domain, predicate, confidence)
        if kind not in cutoffs:
            cutoffs[kind] = _before(now, fades_below(confidence, threshold, half_lives.of(domain, predicate)))
        cutoff = cutoffs[kind]
        if cutoff is not None and since < cutoff:
            yield faded(confidence, since, now, half_lives.of(domain, predicate)), seq


def contradicted(store: FactStore) -> Iterator[tuple[FactRow, str]]:
    """Contradiction: both sides of every conflict that nobody has resolved."""
    for conflict in store.conflicts():
        sides = [store.newest(conflict.incumbent), store.newest(conflict.challenger)]
        rows = [row for row in sides if row is not None and row.superseded_at is None]
        objects = " or ".join(row.object for row in rows)
        for row in rows:
            yield row, f"decide which is right: resolve {conflict.id}, keep {objects}"


def reported(store: FactStore, kind: str, now: datetime) -> Iterator[tuple[FactRow, str]]:
    """Context mismatch, external change: facts that name what was reported gone or changed after they were stated."""
    seen: set[int] = set()
    for report in reversed(store.reports(now)):  # the newest report of a thing speaks for all
        if report.kind != kind:
            continue
        for row in named(store, report):
            if row.seq not in seen and row.covers(now):
                seen.add(row.seq)
                yield row, _REPORTED[kind].format(report.ref, f"{report.at:%Y-%m-%d}")


def named(store: FactStore, report: Report) -> list[FactRow]:
    """The facts that a report concerns: they have its words, and nobody has stood by them since."""
    words = re.compile(rf"(?<!\w){re.escape(folded(report.ref))}(?!\w)")
    return [
        row
        for row in store.naming(report.ref)
        if max(row.stated_at, row.confirmed_at or row.stated_at) <= report.at
        and (words.search(folded(row.subject)) or words.search(folded(row.object)))
    ]


def corrected(store: FactStore, now: datetime) -> Iterator[tuple[FactRow, str]]:
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


def _before(now: datetime, age: timedelta) -> datetime | None:
    """The instant so long ago; None before time began. An age below zero is stale however new it is."""
    if age < timedelta():
        return datetime.max.replace(tzinfo=now.tzinfo)
    try:
        return now - age
    except OverflowError:
        return None
