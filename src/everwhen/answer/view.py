"""What one question sees of a bank, and how a model is shown it.

Nothing said after the time that is asked about is seen. What a model is shown is data inside a frame that no text can
close, one JSON object a line: whatever was said stays what somebody said (`prompts.as_data`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import chain
from typing import Any

from everwhen.api.operations.surface import Bank
from everwhen.errors import NotFound
from everwhen.models.prompts import as_data
from everwhen.recall.grep import grep_events
from everwhen.types import Entry, Event, EventHit, Fact, Hit, Turn
from everwhen.types.answers import FULL, AgentRecipe
from everwhen.types.recall import WEEKDAYS, Recipe
from everwhen_time import Grain, Interval
from everwhen_time.interval import in_plain_words
from everwhen_time.zones import zone_of

ROOM = 1_000_000
"""Tokens that a search may bring: what is shown is bounded by the number of turns, not here."""
EVENTS = 300
"""Event candidates of a search: more than turns, since those outside of the asked time fall away afterwards."""


@dataclass(frozen=True, slots=True)
class BankView:
    """One bank as one question sees it. Everything that a tool can reach goes through here.

    `question` ranks what a search finds, whatever words looked for it (None: the words themselves do). Nothing that
    was said after `as_of` is seen.
    """

    bank: Bank
    at: datetime
    question: str | None = None
    as_of: datetime | None = None
    recipe: AgentRecipe = FULL
    _turns: dict[str, Turn | None] = field(default_factory=dict)

    @property
    def zone(self) -> str:
        return self.bank.zone

    def search(self, words: str, window: Interval | None, top: int) -> tuple[list[Turn], frozenset[str]]:
        """The turns that answer best with their neighbours, and the ids of those that were found themselves."""
        recipe = Recipe(
            "agent",
            self.recipe.candidates,
            rerank=self.recipe.rerank,
            dates=False,  # the turns themselves are shown
        )
        best = self._recalled(words, "turn", recipe, window)[:top]
        turns = self._fitting(turn for id_ in best if (turn := self.turn(id_)) is not None)
        return turns, frozenset(turn.id for turn in turns).intersection(best)

    def _fitting(self, best: Iterable[Turn]) -> list[Turn]:
        """The best turns and then those around them, as many as can be shown: what is left out is the worst of them,
        not the latest."""
        found = list(best)
        around = (
            turn
            for one in found
            for turn in (self.bank.turns_around(one.id, self.recipe.around) if self.recipe.around else ())
            if self._seen(turn)
        )
        kept: dict[str, Turn] = {}
        room = self.recipe.longest
        for turn in chain(found, around):
            if turn.id in kept:
                continue
            room -= shown_length(turn)
            if room < 0 and kept:
                break
            kept[turn.id] = turn
        return list(kept.values())

    def search_events(self, words: str, window: Interval | None, top: int, near: bool = True) -> list[Event]:
        """Events that may have occurred in a window, best first: those near to a topic, or all."""
        known = {event.id: event for event in self.events(words if near else None, window)}
        recipe = Recipe("agent-events", EVENTS, rerank=self.recipe.rerank)
        ranked = [known.pop(id_) for id_ in self._recalled(words, "event", recipe) if id_ in known]
        return [*ranked, *known.values()][:top]

    def grep(self, pattern: str, regex: bool, window: Interval | None, top: int) -> list[Hit]:
        return self.bank.grep(pattern, regex=regex, between=self.until(window), limit=top)

    def grep_events(self, pattern: str, regex: bool, window: Interval | None, top: int) -> list[EventHit]:
        return grep_events(self.events(None, window), pattern, regex=regex, limit=top)

    def events(self, about: str | None, window: Interval | None) -> list[Event]:
        return self._said_by_then(self.bank.events(about, window, as_of=self.as_of))

    def facts(self, subject: str | None, predicate: str | None) -> list[Fact]:
        """What holds now, or held and was known then."""
        if self.as_of is not None:
            return self.bank.facts.as_of(self.as_of, subject, predicate, known_at=self.as_of)
        return self.bank.facts.current(subject, predicate, now=self.at)

    def history(self, subject: str, predicate: str | None) -> list[Fact]:
        """What is believed over all time, or was believed then."""
        facts, as_of, versions = self.bank.facts, self.as_of, self.as_of is not None
        if predicate is None:
            found = facts.about(subject, versions=versions)
        else:
            found = facts.history(subject, predicate, versions=versions)
        if as_of is None:
            return found
        known = [
            fact
            for fact in found
            if fact.recorded_at <= as_of and fact.status not in ("overruled", "proposed")
        ]
        return [fact for fact in known if fact.superseded_at is None or fact.superseded_at > as_of]

    def timeline(self, about: str | None, window: Interval | None, grain: Grain | None) -> list[Entry]:
        return self.bank.timeline(about, window, grain, as_of=self.as_of)

    def session(self, name: str) -> list[Turn]:
        return self.bank.turns(name, self.until(None))

    def turn(self, turn_id: str) -> Turn | None:
        """A turn of this bank that had been said; None for anything else."""
        if turn_id not in self._turns:
            try:
                found: Turn | None = self.bank.turn(turn_id)
            except NotFound:
                found = None
            self._turns[turn_id] = found if found is not None and self._seen(found) else None
        return self._turns[turn_id]

    def until(self, window: Interval | None) -> Interval | None:
        """A window cut to what had been said."""
        if self.as_of is None:
            return window
        end = self.as_of + timedelta(microseconds=1)
        start = window.start if window else None
        if window is not None and window.end is not None:
            end = min(end, window.end)
        return Interval(min(start, end) if start else None, end, "second")

    def _seen(self, turn: Turn) -> bool:
        return self.as_of is None or turn.said_at <= self.as_of

    def _recalled(self, words: str, kind: str, recipe: Recipe, window: Interval | None = None) -> list[str]:
        """The ids of what a recall of one kind finds, best first."""
        asked, seek = self._ranked_by(words)
        found = self.bank.recall(
            asked,
            seek=seek,
            max_tokens=ROOM,
            at=self.at,
            between=window,
            as_of=self.as_of,
            kinds=[kind],
            recipe=recipe,
        )
        return [one.id for one in found]

    def _ranked_by(self, words: str) -> tuple[str, str | None]:
        """What ranks, and what looks for it where that is something else: the original question ranks (Chronos)."""
        if self.question is None or not self.recipe.rerank or words == self.question:
            return words, None
        return self.question, words

    def _said_by_then(self, events: Iterable[Event]) -> list[Event]:
        as_of = self.as_of
        return [
            event
            for event in events
            if as_of is None or (event.said_at is not None and event.said_at <= as_of)
        ]


LEAST_ECHO = 30
"""Letters of a line that nobody writes twice by chance."""
LONGEST_TEXT = 2_000
"""Characters of one text that are shown; what is longer is mostly a document, and says so at its end."""

Label = Callable[[str], str]


class Labels:
    """Short names for turns, `t` and their place in the bank: shorter than ids, and one that was never shown leads
    nowhere. The same turn has the same name in every answer."""

    def __init__(self, turn: Callable[[str], Turn | None]) -> None:
        self._turn = turn
        self._shown: dict[str, Turn] = {}

    def __call__(self, turn_id: str) -> str:
        """The name of a turn, which is shown now; empty where it cannot be seen."""
        turn = self._turn(turn_id)
        if turn is None:
            return ""
        label = f"t{turn.seq}"
        self._shown[label] = turn
        return label

    def turn(self, label: str) -> Turn | None:
        """The turn that a name stands for, where it was shown."""
        return self._shown.get(label.strip().strip("[]()# ").lower())

    @property
    def shown(self) -> list[Turn]:
        """All that was shown, in the order of arrival."""
        return sorted(self._shown.values(), key=lambda turn: turn.seq)


def framed(kind: str, lines: Iterable[str]) -> str:
    listed = list(lines)
    return "\n".join([f"<{kind}>", *(listed or ["(nothing found)"]), f"</{kind}>"])


def is_echo(said: str, shown: Iterable[str]) -> bool:
    """Whether somebody only says again what was shown, without a line of their own. Small models do."""
    lines = {line.strip() for line in said.splitlines()} - {""}
    known = {line.strip() for text in shown for line in text.splitlines()}
    return lines <= known and any(len(line) >= LEAST_ECHO for line in lines)


def data(fields: Mapping[str, Any]) -> str:
    """One line of data: JSON that cannot leave its line or its frame. What is None or empty is left out."""
    given = {key: _shortened(value) for key, value in fields.items() if value not in (None, "", [], ())}
    return as_data(given)


def turn_lines(turns: Sequence[Turn], label: Label, marked: frozenset[str] = frozenset()) -> list[str]:
    """Turns grouped by session under date headers, in the order of time. Those that were found are `marked`."""
    lines: list[str] = []
    heading: tuple[str, str] | None = None
    numbers: dict[str, int] = {}
    first = {one.session: one.said_at for one in reversed(turns)}
    for turn in sorted(turns, key=lambda one: (first[one.session], one.session, one.said_at, one.seq)):
        said = turn.said_at.astimezone(zone_of(turn.zone))
        here = (turn.session, said.date().isoformat())
        if here != heading:
            heading = here
            number = numbers.setdefault(turn.session, len(numbers) + 1)
            lines.append(f"# Session {number} ({here[1]} {WEEKDAYS[said.weekday()]})")
        spoken = {"time": f"{said:%H:%M}", "speaker": turn.speaker, "text": turn.text}
        lines.append(data({"turn": label(turn.id), **spoken, "found": turn.id in marked or None}))
    return lines


def shown_length(turn: Turn) -> int:
    """About how many characters a turn takes with its keys and its share of the date headers."""
    return min(len(turn.text), LONGEST_TEXT) + len(turn.speaker) + 100


def event_line(event: Event, label: Label) -> str:
    fields: dict[str, Any] = {
        "when": _interval_in_words(event.occurred, event.zone),
        "told_only": event.inferred or None,
        "event": event.text or f"{event.subject} {event.verb} {event.object}".strip(),
        "status": event.status,
        "quantity": event.quantity,
        "turns": _labels(event.turns, label),
    }
    return data(fields)


def fact_line(fact: Fact, label: Label, zone: str) -> str:
    zone = fact.zone or zone
    fields: dict[str, Any] = {
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "from": _iso_day(fact.valid.start, zone),
        "until": _iso_day(fact.valid.end, zone),
        "status": fact.status if fact.status != "believed" else None,
        "turns": _labels(fact.sources, label),
    }
    return data(fields)


def entry_line(entry: Entry, label: Label) -> str:
    fields: dict[str, Any] = {
        "when": _iso_day(entry.interval.start, entry.zone)
        if entry.kind == "session"
        else _interval_in_words(entry.interval, entry.zone),
        "told_only": entry.inferred or None,
        "kind": entry.kind,
        "what": entry.text,
        "status": entry.status if entry.status != "happened" else None,
        "turns": _labels(entry.turns, label),
    }
    return data(fields)


def _labels(turns: Iterable[str], label: Label) -> list[str]:
    return [name for turn in turns if (name := label(turn))]


def _interval_in_words(interval: Interval | None, zone: str) -> str | None:
    return None if interval is None else in_plain_words(interval, zone)


def _iso_day(instant: datetime | None, zone: str) -> str | None:
    return None if instant is None else instant.astimezone(zone_of(zone)).date().isoformat()


def _shortened(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return value[:LONGEST_TEXT] + " […]"
    return value
