"""Evidence of time: every interval that the best turns mention, each with the words that it belongs to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Literal

from everwhen.facts.statements import Predicates
from everwhen.store.rows import NOW, AsOf, FactRow, Filter, SearchQuery, Vectors, Wanted
from everwhen.store.sql.store import Store
from everwhen.types import Event, Turn
from everwhen_time import Grain, Interval, resolve
from everwhen_time.calendar import floor, shift
from everwhen_time.interval import Duration
from everwhen_time.sentences import sentence_at
from everwhen_time.zones import zone_of


@lru_cache(4096)
def unit_around(instant: datetime, grain: Grain, zone: str) -> Interval:
    """The unit of a grain that an instant lies in, as a zone counts; for what is finer than a day, the day."""
    area = zone_of(zone)
    local = instant.astimezone(area).replace(tzinfo=None)
    if grain == "season":  # from March, June, September and December on
        start = floor(shift(floor(local, "month"), "month", -(local.month % 3)), "month")
        end = shift(start, "month", 3)
    else:
        if grain in ("second", "minute", "hour"):
            grain = "day"
        start = floor(local, grain)
        end = shift(start, grain, 1)
    return Interval(start.replace(tzinfo=area), end.replace(tzinfo=area), grain)


TURNS = 30
"""Best turns that are read for clues."""
EVENTS = 40
"""Best events of the calendar by meaning, and as many by words, whose turns are read too."""
FACTS = 10
"""Facts that nobody said in a turn: the best by meaning, and as many by words."""
Kind = Literal["event", "expression", "lasting", "said", "fact"]
# A stretch that reaches up to the moment of speaking: "I've had them for 3 years", "four months now".
_UP_TO_NOW = re.compile(r"\b(?:have|has|'ve|’ve|been|now|so far|already)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TimeEvidence:
    """One interval, and what it is the time of.

    It comes from an event of the calendar, from a sentence with a time expression, from the beginning of a state
    ("for three years now") or of a fact, or it is the day on which the turn was said.
    """

    kind: Kind
    interval: Interval
    text: str
    turn: Turn
    rank: int
    """The place of its turn in the ranking of recall, from 1."""
    event: Event | None = None
    fact: str | None = None
    expression: str = ""
    aliases: str = ""
    """Other words for it."""
    around: str = ""
    """The whole turn and the one before it in the session."""
    denied: bool = False
    """Whether the words say that it did not happen then."""
    reaches_now: bool = True
    """Of a beginning: whether words say that it lasts up to the moment of speaking."""

    @property
    def dated(self) -> bool:
        """Whether words give the interval, and not merely the day on which it was said."""
        if self.event is not None:
            return not self.event.inferred
        return self.kind in ("expression", "lasting") or bool(self.expression)

    @property
    def begins(self) -> bool:
        """Whether it is the beginning of what goes on."""
        event = self.event
        return self.kind == "lasting" or (
            event is not None and event.occurred is not None and event.occurred.end is None
        )

    @property
    def ahead(self) -> bool:
        """Whether it was still to come when it was said."""
        if self.event is not None and self.event.status in ("planned", "hypothetical"):
            return True
        start = self.interval.start
        return start is not None and start > self.turn.said_at


def gather_evidence(
    store: Store, ranked: Sequence[str], events: Iterable[int], moment: AsOf = NOW
) -> list[TimeEvidence]:
    """The clues of some turns, best turn first, and of the turns of some events: only what had been said and recorded
    then."""
    events_said = store.graph.events_told(list(ranked), list(events), moment)
    by_turn: dict[str, list[Event]] = {}
    for event in events_said:
        by_turn.setdefault(event.told_in, []).append(event)
    ids = list(dict.fromkeys([*ranked, *by_turn]))
    turns = {turn.id: turn for turn in store.turns(ids=ids) if moment.sees(turn)}
    facts, predicates = _facts(store, ids, moment), Predicates(store.facts.predicates())
    before = store.contexts(ids)
    places = {turn: rank for rank, turn in enumerate(ranked, start=1)}
    clues: list[TimeEvidence] = []
    for id_ in ids:
        turn = turns.get(id_)
        if turn is not None:
            around = f"{before.get(id_, '')}\n{turn.text}"
            rank = places.get(id_, len(places) + 1)
            begun = [_of_fact(row, turn, rank, around, predicates) for row in facts.get(id_, [])]
            events_here = by_turn.get(id_, [])
            found = _clues(turn, around, rank, events_here, begun)
            earlier = [event for event in events_said if event.id in {one.replaces for one in events_here}]
            clues += _as_they_stand(found, events_here, earlier)
    return clues


def _as_they_stand(
    found: list[TimeEvidence], events: Sequence[Event], earlier: Sequence[Event]
) -> list[TimeEvidence]:
    """Without the dates of plans that have changed since, where they were said or where they changed ("not in October,
    we moved it to May"): the version says what its words mean. `earlier` are those that the turn's versions replace."""
    last = [event for event in events if event.superseded_at is None]
    over = (event.occurred for event in (*events, *earlier) if event.superseded_at is not None)
    changed = [interval for interval in over if interval is not None]
    stands = {event.occurred for event in last}
    meant = {event.expression: event.occurred for event in last if event.replaces}
    return [
        one
        for one in found
        if (one.interval in stands or not any(one.interval.overlaps(old) for old in changed))
        and not (changed and one.kind == "said")
        and meant.get(one.expression, one.interval) == one.interval
    ]


def _clues(
    turn: Turn, around: str, rank: int, events: Sequence[Event], facts: Sequence[TimeEvidence]
) -> list[TimeEvidence]:
    found = [
        TimeEvidence(
            "event",
            _begun(event),
            event.text,
            turn,
            rank,
            event=event,
            expression=event.expression,
            aliases=" ".join(event.aliases),
            around=around,
        )
        for event in events
        if event.occurred is not None
    ]
    for ref in resolve(turn.text, turn.said_at, turn.zone):
        sentence = sentence_at(turn.text, *ref.span)
        kind: Kind
        reaches_now = True
        if ref.interval is not None and ref.kind in ("point", "range"):
            kind, interval = "expression", ref.interval
        elif ref.duration is not None and ref.kind == "duration":
            kind, interval = "lasting", _so_long_ago(ref.duration, turn)
            reaches_now = _UP_TO_NOW.search(sentence) is not None
        else:
            continue
        found.append(
            TimeEvidence(
                kind, interval, sentence, turn, rank,
                expression=ref.text, around=around, reaches_now=reaches_now,
            )
        )  # fmt: skip
    found += facts
    day = unit_around(turn.said_at, "day", turn.zone)
    found.append(TimeEvidence("said", day, turn.text, turn, rank, around=around))
    denied = {one.interval for one in found if one.event is not None and one.event.status == "negated"}
    denied -= {one.interval for one in found if one.event is not None and one.event.status != "negated"}
    return [replace(one, denied=True) if one.interval in denied else one for one in found]


def similar_facts(
    store: Store, vector: Vectors, words: str, rank: int, moment: AsOf = NOW
) -> list[TimeEvidence]:
    """The beginnings of the facts nearest to a question that nobody said in a turn: asserted, or imported. For these
    the fact stands in for the turn."""
    where = Filter(kinds=frozenset({"fact"}), known_at=moment.known_at)
    found = store.search(SearchQuery(vector, words, where)).candidates(Wanted(FACTS))
    [near], [named] = found.meaning, found.words
    ids = [row.id for row in store.units([one.unit for one in (*near, *named)]).values()]
    if not ids:
        return []
    sources, predicates = store.facts.sources_then(ids, moment), Predicates(store.facts.predicates())
    said = store.known([source for several in sources.values() for source in several])
    clues = []
    for row in store.facts.believed_then(ids, moment):
        if said.keys().isdisjoint(sources.get(row.id, ())):
            turn = Turn(
                id=row.id,
                session=row.id,
                seq=-1,
                role="user",
                speaker=row.subject,
                text=fact_text(row),
                said_at=row.stated_at,
                zone=store.info.zone,
                recorded_at=row.recorded_at,
            )
            clues.append(_of_fact(row, turn, rank, turn.text, predicates))
    return clues


def fact_text(row: FactRow) -> str:
    return f"{row.subject} {row.predicate.replace('_', ' ')} {row.object}"


def begins_when_said(row: FactRow) -> bool:
    """Whether the only known beginning of a fact is the moment at which it was said."""
    return row.grain == "second" and row.valid_from == row.stated_at


def _of_fact(row: FactRow, turn: Turn, rank: int, around: str, predicates: Predicates) -> TimeEvidence:
    begun = unit_around(row.valid_from, row.grain, turn.zone)
    expression = (
        "" if begins_when_said(row) else f"since {row.valid_from.astimezone(zone_of(turn.zone)):%Y-%m-%d}"
    )
    return TimeEvidence(
        "fact",
        begun,
        fact_text(row),
        turn,
        rank,
        fact=row.id,
        expression=expression,
        aliases=" ".join(predicates.synonyms(row.predicate)),
        around=around,
    )


def similar_events(store: Store, vector: Vectors, words: str, where: Filter) -> list[int]:
    """The units of the events nearest to a question: their turns are worth reading."""
    found = store.search(SearchQuery(vector, words, where)).candidates(Wanted(EVENTS))
    [near], [named] = found.meaning, found.words
    return [one.unit for one in (*near, *named)]


def _facts(store: Store, turns: Sequence[str], moment: AsOf) -> dict[str, list[FactRow]]:
    """The believed facts that came from each turn first."""
    ids = store.facts.from_sources(turns)
    if not ids:
        return {}
    sources = store.facts.sources_then(ids, moment)
    out: dict[str, list[FactRow]] = {}
    for row in store.facts.believed_then(ids, moment):
        for source in sources.get(row.id, [])[:1]:
            out.setdefault(source, []).append(row)
    return out


def _begun(event: Event) -> Interval:
    """When it occurred; of what goes on and has only a beginning, the unit of time in which that lies."""
    occurred = event.occurred
    assert occurred is not None
    if occurred.end is None and occurred.start is not None:
        return unit_around(occurred.start, occurred.grain, event.zone)
    return occurred


def _so_long_ago(duration: Duration, turn: Turn) -> Interval:
    """What "so long ago" means (DESIGN 4): a year, a month, a week around the day, or the day itself."""
    local = turn.said_at.astimezone(zone_of(turn.zone)).replace(tzinfo=None)
    begun = duration.after(local, -1).replace(tzinfo=zone_of(turn.zone))
    if duration.years:
        return unit_around(begun, "month" if duration.months else "year", turn.zone)
    if duration.months:
        return unit_around(begun, "month", turn.zone)
    day = unit_around(begun, "day", turn.zone)
    return replace(day.shift(days=-3).hull(day.shift(days=3)), grain="week") if duration.weeks else day
