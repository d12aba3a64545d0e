"""Adds dates to recalled turns: "last week" becomes "last week (3 to 9 March 2025)" in a prompt.

Only `shown` has the dates; `text` stays as it was said.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import reduce

from everwhen.store.sql.store import Store
from everwhen.types import Recalled
from everwhen.types.recall import line_of
from everwhen_time import Interval, TimeRef, resolve
from everwhen_time.interval import MONTHS, dates
from everwhen_time.zones import zone_of

VAGUE = 0.55
"""The confidence below which words name no date at all: "recently", "soon", "the other day"."""
SURE = 0.75
"""The confidence from which they need no word of extraction: below it no tense says which Friday is meant."""

_ABSOLUTE = re.compile(r"(?<!\d)\d{4}(?!\d)|['’]\d\d|\d[/.-]\d{1,2}[/.-]\d\d")
"""Words that say their year."""
_SAID_BEHIND = re.compile(r"\s?[(\[]|,? \d{4}(?!\d)")
"""What follows words whose date somebody wrote already."""
_POSSESSIVE = re.compile(r"['’]s\b")
_CODE = re.compile(r"[/\\@=_#<>{}|`]")
"""What stands inside addresses, paths, names of variables and markup, and hardly ever in prose."""
_WITHIN_A_WORD = re.compile(r"[.:'’-]?\w")
_END_OF_A_WORD = re.compile(r"\w[.:'’-]?\Z")
_CJK = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff]")
_LONGEST = 2_000
"""Characters of an unbroken run that are looked at on each side."""
_LONGEST_TURN = 20_000
"""Characters from which a turn is a document, pasted, and shown as it is: to date a megabyte takes 25 seconds."""

_REMEMBERED = 20_000
_resolved: dict[tuple[str, int, datetime, str], tuple[TimeRef, ...]] = {}
"""The times of turns that were recalled lately: the questions of one conversation find the same turns again. The turns
themselves are not in it, so that what is forgotten stays forgotten."""

_Known = Mapping[str, Interval | None]
"""What extraction found some words of a turn to mean; None where it found two things."""


@dataclass(frozen=True, slots=True)
class SpokenTime:
    """A time that a turn mentions: where its words end in the text, and whether they already contain the date."""

    end: int
    interval: Interval
    absolute: bool


def with_dates(store: Store, memories: Sequence[Recalled]) -> list[Recalled]:
    """The same memories: turns get `occurred` if they mention a time, and `shown` with dates, whose tokens are
    counted."""
    found = {one.id: refs for one in memories if _is_talk(one) and (refs := _refs(one))}
    known = _extracted(store, list(found))
    return [
        _dated(one, list(spoken_times(one, found[one.id], known.get(one.id, {})))) if one.id in found else one
        for one in memories
    ]


def as_said(memory: Recalled) -> Recalled:
    """A memory without the dates that were added to it."""
    from everwhen.models.embedder import count_tokens  # its table is loaded only where it has to be

    if not memory.shown:
        return memory
    return replace(memory, shown="", tokens=count_tokens(line_of(memory, memory.text)))


def spoken_times(turn: Recalled, refs: Sequence[TimeRef], known: _Known) -> Iterator[SpokenTime]:
    """The certain times of a turn, in the order of the text; none from inside a word, an address or code."""
    ticks = place = 0
    for ref in refs:
        start, end = ref.span
        ticks, place = ticks + turn.text.count("`", place, start), start
        if (ticks % 2 and "`" in turn.text[end:]) or not _is_prose(turn.text, start, end):
            continue
        interval = _settled(ref, turn, known)
        if interval is not None:
            behind = _POSSESSIVE.match(turn.text, end)
            end = behind.end() if behind else end
            absolute = _ABSOLUTE.search(ref.text) or _SAID_BEHIND.match(turn.text, end)
            yield SpokenTime(end, interval, absolute is not None)


def shown(text: str, times: Sequence[SpokenTime], zone: str) -> str:
    """The text with a date after each time expression that does not contain it."""
    return _with(text, _inserted(times, zone))


def _inserted(times: Sequence[SpokenTime], zone: str) -> list[tuple[int, str]]:
    """Dates and the places behind which they go, the last one first."""
    said = {(one.interval.start, one.interval.end) for one in times if one.absolute}
    return [
        (one.end, dates(one.interval, zone))
        for one in sorted(times, key=lambda time: -time.end)
        if not one.absolute and (one.interval.start, one.interval.end) not in said
    ]


def _with(text: str, inserted: Sequence[tuple[int, str]]) -> str:
    for end, date in inserted:
        text = f"{text[:end]} ({date}){text[end:]}"
    return text


def _is_talk(one: Recalled) -> bool:
    return one.kind == "turn" and len(one.text) <= _LONGEST_TURN


def _refs(turn: Recalled) -> tuple[TimeRef, ...]:
    """The times in the words of a turn that have a place on the calendar."""
    key = (turn.id, hash(turn.text), turn.said_at, turn.zone)
    found = _resolved.get(key)
    if found is not None:
        return found
    found = tuple(
        ref
        for ref in resolve(turn.text, turn.said_at, turn.zone)
        if ref.kind in ("point", "range")
        and ref.confidence >= VAGUE
        and ref.interval is not None
        and (ref.interval.start is not None or ref.interval.end is not None)
    )
    if len(_resolved) >= _REMEMBERED:
        _resolved.clear()
    _resolved[key] = found
    return found


def _dated(turn: Recalled, times: Sequence[SpokenTime]) -> Recalled:
    if not times:
        return turn
    occurred = reduce(Interval.hull, (one.interval for one in times))
    inserted = _inserted(times, turn.zone)
    if not inserted:
        return replace(turn, occurred=occurred)
    text, added = _with(turn.text, inserted), added_tokens(turn.text, inserted)
    if added is not None:
        return replace(turn, occurred=occurred, shown=text, tokens=turn.tokens + added)
    from everwhen.models.embedder import count_tokens  # its table is loaded only where it has to be

    return replace(turn, occurred=occurred, shown=text, tokens=count_tokens(line_of(turn, text)))


def _extracted(store: Store, turns: Sequence[str]) -> dict[str, dict[str, Interval | None]]:
    """What extraction found the time expressions of turns to mean, by the turn and the expression."""
    found: dict[str, dict[str, Interval | None]] = {}
    for event in store.graph.events_told(turns) if turns else ():
        if event.occurred is not None and event.expression and not event.inferred:
            words = found.setdefault(event.told_in, {})
            same = words.setdefault(event.expression.casefold(), event.occurred) == event.occurred
            words[event.expression.casefold()] = event.occurred if same else None
    return found


def _settled(ref: TimeRef, turn: Recalled, known: _Known) -> Interval | None:
    """What the words mean, where that is sure: as extraction read them, else as they stand."""
    interval = ref.interval
    assert interval is not None
    if _is_time_of_this_day(interval, turn):
        return None
    stored = known.get(ref.text.casefold())
    if stored is not None and stored.grain == interval.grain and stored.start and stored.end:
        return stored
    return None if ref.confidence < SURE or _is_open_to_both_sides(ref, interval, turn) else interval


def _is_time_of_this_day(interval: Interval, turn: Recalled) -> bool:
    """ "At 5pm": by the clock alone, which may be every day's, under a header that has this day's date."""
    if interval.grain not in ("minute", "second") or interval.start is None:
        return False
    zone = zone_of(turn.zone)
    return interval.start.astimezone(zone).date() == turn.said_at.astimezone(zone).date()


def _is_open_to_both_sides(ref: TimeRef, interval: Interval, turn: Recalled) -> bool:
    """ "I like Friday", "my birthday is May 3": not over yet, and another one where the words speak of the past.

    What is over was put there by a past tense.
    """
    if interval.start is not None and interval.end is not None and interval.end <= turn.said_at:
        return False
    past, ahead = (
        [one.interval for one in resolve(ref.text, turn.said_at, turn.zone, tense)]
        for tense in ("past", "future")
    )
    return past != ahead


def _is_prose(text: str, start: int, end: int) -> bool:
    """Whether words stand by themselves: no part of a longer word, an address, a path or code."""
    before, after = text[max(0, start - _LONGEST) : start], text[end : end + _LONGEST]
    head = before.split()[-1] if before and not before[-1].isspace() else ""
    tail = after.split()[0] if after and not after[0].isspace() else ""
    if _CODE.search(head) or _CODE.search(tail):
        return False
    glued_before = _END_OF_A_WORD.search(head) and not _CJK.match(head[-1])
    glued_after = _WITHIN_A_WORD.match(tail) and not (_CJK.match(tail[0]) or _POSSESSIVE.match(tail))
    return not (glued_before or glued_after)


_WORDS = frozenset(
    [*MONTHS, *(f" {month}" for month in MONTHS), " to", " at", "since", "up", " since", ",", ":", " "]
)
"""What dates are made of, besides digits: each is one token."""
_PIECE = re.compile(r"[^\r\nA-Za-z0-9]?[A-Za-z]+|[0-9]{1,3}|[^\sA-Za-z0-9]+|\s")
"""How cl100k cuts plain ASCII before it looks for tokens; three digits are one token."""
_PLAIN = re.compile(r"[A-Za-z0-9]\Z")
_SPACE = re.compile(r" ")
_STOP = re.compile(r"[.,!?;:](?: |\s*\Z)")
""" "last week." becomes "last week (…).": the bracket and the stop are one token, as the stop was."""


def added_tokens(text: str, inserted: Iterable[tuple[int, str]]) -> int | None:
    """Tokens that dates in brackets add, each behind a place of the text; None where only the tokenizer can tell."""
    added = 0
    for place, date in inserted:
        pieces = _PIECE.findall(date)
        if not _PLAIN.search(text[:place][-1:]) or not all(one.isdigit() or one in _WORDS for one in pieces):
            return None
        behind = text[place : place + 40]
        if _SPACE.match(behind) and text[place:].strip():
            added += len(pieces) + 2  # " (" and ")"
        elif _STOP.match(behind) or not text[place:].strip():
            added += len(pieces) + 1  # the other bracket is one token with what follows it
        else:
            return None
    return added
