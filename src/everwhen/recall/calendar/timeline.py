"""`timeline`: events, beginnings and ends of facts, and conversations in order of time; `compare`: which came first."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from typing import Literal

from everwhen.recall.calendar.evidence import begins_when_said, unit_around
from everwhen.store.rows import FactRow
from everwhen.types import Compared, Comparison, Entry, Event, Gap, Session, TimeAnswer
from everwhen.types.facts import in_words
from everwhen_time import Grain, Interval
from everwhen_time.zones import zone_of

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
    dated = merged([event for event in events if event.status in statuses and event.occurred is not None])
    entries = [_of_event(event) for event in dated]
    planned = {turn for event in dated if event.status == "planned" for turn in event.turns}
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
        inside = [replace(one, group=unit_around(_sort_instant(one), grain, one.zone)) for one in inside]
    return sorted(inside, key=lambda one: (_sort_instant(one), one.interval.end or _LAST, one.kind, one.text))


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
    """Each event once, however often it was said: with the interval that words give rather than the day of telling,
    the finest of several, and all the turns.

    The same: one subject, verb and status, about the same object, at times that overlap, or of which one is merely
    inferred and not earlier than the other (a thing is said again after it happened).
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
        begun, said = known.occurred.start, event.occurred.start
        if begun is None or said is None or said < begun or said - begun > timedelta(days=31):
            return False
    one, other = _content_words(known.object), _content_words(event.object)
    if not one and not other:
        return known.turns[:1] != event.turns[:1] or known.text == event.text
    return len(one & other) >= SAME_WORDS * len(one | other)


def _content_words(text: str) -> frozenset[str]:
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
        inferred=begins_when_said(row),
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


def _sort_instant(entry: Entry) -> datetime:
    return entry.interval.start or entry.interval.end or _FIRST


IN_DAYS = 21
"""Up to so many days a gap is given in days; above in weeks as well, and from `IN_WEEKS` weeks in months."""
IN_WEEKS = 9
MONTH = 30.4375
Order = Literal["before", "overlap"]


def comparison(first: Compared, second: Compared) -> Comparison:
    """Put two answers in the order of time.

    One is before the other only where its whole interval is: two things of the same week cannot be ordered by
    what is known of them, and that is said rather than guessed.
    """
    a, b = first.answer, second.answer
    evidence = tuple(one for answer in (a, b) if answer for one in answer.evidence)
    if a is None or b is None:
        return Comparison(first, second, "unknown", None, evidence)
    if _before(b.interval, a.interval):
        return comparison(second, first)
    order: Order = "before" if _before(a.interval, b.interval) else "overlap"
    return Comparison(first, second, order, gap(a, b), evidence)


def gap(a: TimeAnswer, b: TimeAnswer) -> Gap | None:
    """The days of the calendar from one to the other; a range, since each may be any day of its interval.

    With a in days [a1, a2] and b in [b1, b2]: from b1 - a2 to b2 - a1 days, and from 0 where they overlap. None
    where a side is open: then nothing bounds it.
    """
    one, other = _days(a.interval, a.zone), _days(b.interval, b.zone)
    if one is None or other is None:
        return None
    (first, last), (begin, end) = one, other
    forward, backward = (end - first).days, (last - begin).days
    least = max((begin - last).days, (first - end).days, 0)
    most = max(forward, backward)
    return Gap(least, most, days_in_words(least, most))


def days_in_words(least: int, most: int) -> str:
    """A range of days in words: "3 days", "between 3 and 9 days", "between 5 and 6 weeks (36 to 42 days)"."""
    if most == 0:
        return "the same day"
    days = _several(least, most, "day")
    if least == most:
        weeks, rest = divmod(most, 7)
        return f"{days} ({_several(weeks, weeks, 'week')})" if weeks and not rest else days
    if most <= IN_DAYS:
        return days
    unit, length = ("week", 7.0) if most <= IN_WEEKS * 7 else ("month", MONTH)
    low, high = round(least / length), round(most / length)
    return f"{'about ' if low == high else ''}{_several(low, high, unit)} ({least} to {most} days)"


def _several(low: int, high: int, unit: str) -> str:
    if low == high:
        return f"{low} {unit}{'' if low == 1 else 's'}"
    return f"between {low} and {high} {unit}s"


def _before(a: Interval, b: Interval) -> bool:
    return a.end is not None and b.start is not None and a.end <= b.start


def _days(interval: Interval, zone: str) -> tuple[date, date] | None:
    """The first and the last day that an interval touches."""
    if interval.start is None or interval.end is None:
        return None
    area = zone_of(zone)
    last = max(interval.start, interval.end - timedelta(microseconds=1))
    return interval.start.astimezone(area).date(), last.astimezone(area).date()
