"""What a model is shown of a memory: data inside a frame that no text can close, one JSON object a line.

Whatever was said stays what somebody said (`prompts.as_data`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from everwhen.models.prompts import as_data
from everwhen.types import Entry, Event, Fact, Turn
from everwhen.types.recall import WEEKDAYS
from everwhen_time import Interval
from everwhen_time.interval import in_plain_words
from everwhen_time.zones import zone_of

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
    given = {key: _shown(value) for key, value in fields.items() if value not in (None, "", [], ())}
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
        "when": _when(event.occurred, event.zone),
        "told_only": event.inferred or None,
        "event": event.text or f"{event.subject} {event.verb} {event.object}".strip(),
        "status": event.status,
        "quantity": event.quantity,
        "turns": _names(event.turns, label),
    }
    return data(fields)


def fact_line(fact: Fact, label: Label, zone: str) -> str:
    zone = fact.zone or zone
    fields: dict[str, Any] = {
        "subject": fact.subject,
        "predicate": fact.predicate,
        "object": fact.object,
        "from": _day(fact.valid.start, zone),
        "until": _day(fact.valid.end, zone),
        "status": fact.status if fact.status != "believed" else None,
        "turns": _names(fact.sources, label),
    }
    return data(fields)


def entry_line(entry: Entry, label: Label) -> str:
    fields: dict[str, Any] = {
        "when": _day(entry.interval.start, entry.zone)
        if entry.kind == "session"
        else _when(entry.interval, entry.zone),
        "told_only": entry.inferred or None,
        "kind": entry.kind,
        "what": entry.text,
        "status": entry.status if entry.status != "happened" else None,
        "turns": _names(entry.turns, label),
    }
    return data(fields)


def _names(turns: Iterable[str], label: Label) -> list[str]:
    return [name for turn in turns if (name := label(turn))]


def _when(interval: Interval | None, zone: str) -> str | None:
    return None if interval is None else in_plain_words(interval, zone)


def _day(instant: datetime | None, zone: str) -> str | None:
    return None if instant is None else instant.astimezone(zone_of(zone)).date().isoformat()


def _shown(value: Any) -> Any:
    if isinstance(value, str) and len(value) > LONGEST_TEXT:
        return value[:LONGEST_TEXT] + " […]"
    return value
