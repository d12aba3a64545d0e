"""`timeline`: events, beginnings and ends of facts, and conversations, each once, in order of time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from everwhen.recall.calendar_unit import unit_around
from everwhen.recall.time_evidence import begins_as_told
from everwhen.store.rows import FactRow
from everwhen.types import Entry, Event, Session
from everwhen.types.relations import in_words
from everwhen_time import Grain, Interval

SAME_WORDS = 0.5
"""Two events of one subject and verb are the same when they share so much of the words of their objects (Jaccard)."""
SHOWN = ("happened", "ongoing", "planned", "hypothetical")
"""Events that are on a timeline unless others are asked for: what did not happen has no place in time."""
INSTANT = timedelta(microseconds=1)
_FIRST, _LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
_SMALL = frozenset({"", "a", "an", "the", "to", "my", "of", "in"})


def timeline(
    events: Iterable[Event],
    facts: Iterable[tuple[FactRow, tuple[str, ...]]],
    sessions: Iterable[Session],
    *,
    between: Interval | None,
    grain: Grain | None,
    zone: str,
    statuses: Sequence[str] = SHOWN,
) -> list[Entry]:
    """Merge the three, leave out what lies outside of the window, and put each entry under its unit of time.

    An entry stands where it begins. One of which only the end is known stands at its end.
    """
    told = merged([event for event in events if event.status in statuses and event.occurred is not None])
    entries = [_of_event(event) for event in told]
    planned = {turn for event in told if event.status == "planned" for turn in event.turns}
    for row, turns in facts:
        if row.predicate != "plans" or planned.isdisjoint(turns):  # the plan itself is there already
            entries += _of_fact(row, turns, zone)
    entries += [
        _of_session(session)
        for session in sessions
        if between is None or Interval(session.first, session.last + INSTANT, "second").overlaps(between)
    ]
    inside = [one for one in entries if between is None or one.interval.overlaps(between)]
    if grain is not None:
        inside = [replace(one, group=unit_around(_place(one), grain, one.zone)) for one in inside]
    return sorted(inside, key=lambda one: (_place(one), one.interval.end or _LAST, one.kind, one.text))


def upcoming(events: Iterable[Event], at: datetime) -> list[Event]:
    """What is planned and not over at a moment, each plan once, the next one first: only what words give a date."""
    ahead = [
        event
        for event in events
        if event.status == "planned" and not event.inferred and event.occurred and event.occurred.start
        and (event.occurred.end is None or event.occurred.end > at)
    ]  # fmt: skip
    return sorted(merged(ahead), key=lambda event: (event.occurred and event.occurred.start) or at)


def changes_in(row: FactRow, window: Interval | None, zone: str) -> bool:
    """Whether a fact begins or ends in a window of time, as far as its grain says."""
    return window is None or any(
        unit_around(instant, row.grain, row.zone or zone).overlaps(window)
        for instant in (row.valid_from, row.valid_to)
        if instant is not None
    )


def merged(events: Sequence[Event]) -> list[Event]:
    """Each event once, however often it was told: with the interval that words give rather than the day of telling,
    the finest of several, and all the turns.

    The same: one subject, verb and status, about the same object, at times that overlap, or of which one is merely
    inferred and not earlier than the other (a thing is told again after it happened).
    """
    kept: list[Event] = []
    by_deed: dict[tuple[str, str, str], list[int]] = {}
    for event in sorted(events, key=_sureness):
        places = by_deed.setdefault((event.subject.lower(), event.verb, event.status), [])
        same = next((place for place in places if _same(kept[place], event)), None)
        if same is None:
            places.append(len(kept))
            kept.append(event)
        else:
            turns = tuple(dict.fromkeys((*kept[same].turns, *event.turns)))
            sure = max(kept[same].confidence, event.confidence)
            kept[same] = replace(kept[same], turns=turns, confidence=sure)
    return kept


def _sureness(event: Event) -> tuple[bool, float, datetime, str]:
    """Dated ones first, then the finer ones: what comes later is merged into what came before."""
    length = event.occurred.length if event.occurred else None
    return (
        event.inferred,
        length.total_seconds() if length else float("inf"),
        event.said_at or _FIRST,
        event.id,
    )


def _same(known: Event, event: Event) -> bool:
    assert known.occurred is not None and event.occurred is not None
    if not known.occurred.overlaps(event.occurred):
        if not event.inferred or known.inferred:
            return False
        begun, told = known.occurred.start, event.occurred.start
        if begun is None or told is None or told < begun or told - begun > timedelta(days=31):
            return False
    one, other = _words(known.object), _words(event.object)
    if not one and not other:
        return known.turns[:1] != event.turns[:1] or known.text == event.text
    return len(one & other) >= SAME_WORDS * len(one | other)


def _words(text: str) -> frozenset[str]:
    return frozenset(word.strip(".,;:!?'\"()").lower() for word in text.split()) - _SMALL


def _of_event(event: Event) -> Entry:
    assert event.occurred is not None
    return Entry(
        interval=event.occurred,
        text=event.title or f"{event.subject} {event.verb} {event.object}".strip(),
        kind="event",
        turns=event.turns,
        confidence=event.confidence,
        status=event.status,
        inferred=event.inferred,
        ids=(event.id,),
        zone=event.zone,
    )


def _of_fact(row: FactRow, turns: tuple[str, ...], zone: str) -> list[Entry]:
    zone = row.zone or zone
    began = Entry(
        interval=unit_around(row.valid_from, row.grain, zone),
        text=in_words(row.subject, row.predicate, row.object),
        kind="fact began",
        turns=turns,
        confidence=row.confidence,
        inferred=begins_as_told(row),
        ids=(row.id,),
        zone=zone,
    )
    if row.valid_to is None:
        return [began]
    ended = replace(
        began,
        interval=unit_around(row.valid_to, row.grain, zone),
        text=f"{in_words(row.subject, row.predicate, row.object, ended=True)} until then",
        kind="fact ended",
        inferred=False,
    )
    return [began, ended]


def _of_session(session: Session) -> Entry:
    people = " and ".join(session.speakers)
    text = f"{people} talked ({session.turns} turn{'' if session.turns == 1 else 's'})"
    interval = Interval(session.first, session.last + INSTANT, "second")
    return Entry(interval, text, "session", (), 1.0, ids=(session.id,), zone=session.zone)


def _place(entry: Entry) -> datetime:
    return entry.interval.start or entry.interval.end or _FIRST
