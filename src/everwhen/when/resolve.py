"""`resolve`: every time expression of a text as an interval, seen from when and where it was said."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal
from zoneinfo import ZoneInfo

from everwhen.when.bounds import floating
from everwhen.when.chart import Item, RuleBook, parse
from everwhen.when.guards import stands
from everwhen.when.interval import Grain, Interval
from everwhen.when.iso import Duration
from everwhen.when.lexicon import WORDS, senses
from everwhen.when.meaning import Context, Conventions, Kind, Meaning, Side, Span
from everwhen.when.offsets import Amount
from everwhen.when.recurrence import Recurrence
from everwhen.when.rules import english
from everwhen.when.tense import side_of
from everwhen.when.tokens import Token, tokenize


@dataclass(frozen=True, slots=True)
class TimeRef:
    """A time expression found in a text, and what it means."""

    span: tuple[int, int]
    text: str
    interval: Interval | None
    grain: Grain
    kind: Kind
    confidence: float
    rule: tuple[str, ...] = ()  # the rules that built it, innermost first
    recurrence: Recurrence | None = None
    duration: Duration | None = None
    anchor: str | None = None  # an event or age that the time hangs on, where the text gives no date for it


def resolve(
    text: str,
    at: datetime,
    zone: str | None = None,
    tense: Literal["past", "future"] | None = None,
    *,
    day_first: bool = False,
    week_start: int = 0,
    hemisphere: Literal["north", "south"] = "north",
    country: str = "US",
    languages: tuple[str, ...] | None = None,
    rules: RuleBook | None = None,
) -> list[TimeRef]:
    """The time expressions of the text, in order, as intervals in UTC.

    `at` is when it was said and `zone` (IANA) where: "yesterday" is the speaker's. A naive `at` needs a zone
    and is that zone's wall clock. `tense` overrules the verbs. `languages` limits which are tried (all by
    default); `rules` replaces the English grammar by an extended one.
    """
    ctx = context(at, zone, tense, Conventions(week_start, day_first, hemisphere, country))
    book = rules or english()
    found: list[TimeRef] = []
    for start, end in _sentences(text):
        if (languages is None or "en" in languages) and _has_signal(text[start:end]):
            found += _english(text, start, end, ctx, book)
    return _with_other_languages(text, found, ctx, languages)


def context(at: datetime, zone: str | None, side: Side | None, conventions: Conventions) -> Context:
    """The speaker's wall clock; refuses a naive moment with no zone beside it."""
    if at.tzinfo is None and zone is None:
        raise ValueError(
            f"resolve needs an aware datetime, got the naive {at.isoformat()}; "
            "give it a tzinfo, or pass zone= to read it as that zone's wall clock"
        )
    area = _zone(zone or "UTC")
    local = at if at.tzinfo is None else at.astimezone(area)
    return Context(local.replace(tzinfo=None, fold=0), area, side, conventions)


@lru_cache(maxsize=64)
def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise ValueError(f"unknown zone {name!r}: use an IANA name such as 'Europe/Rome'") from error


# Sentences and signals: what cannot hold a time is never tokenized

_BOUNDARY = re.compile(r"(?<=[.!?])(?<!\bSt\.)\s+(?=[\"'(“]?[A-Z])|\n+")
_WORDS = re.compile(r"[^\W\d_]+|\d")
_SIGNALS = frozenset(
    word for word, meanings in WORDS.items() if any(category not in ("<num>", "<ones>", "<zone>") for category, _, _ in meanings)
) | frozenset(
    """ago tonight tonite nye xmas christmas easter thanksgiving halloween hallowe juneteenth hanukkah chanukah
    passover diwali deepavali eid mardi cinco eve rosh yom ytd mtd eod cob while late fortnight fortnights
    weekdays workdays weekday workday daily weekly monthly yearly annually quarterly biweekly nightly
    fortnightly clock thousand nineteen twenty eighteen patrick paddy valentine valentines fools fool
    birthday sleeps other when hour noon date gras ramadan christmastime""".split()
)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _BOUNDARY.finditer(text):
        if match.start() > start:
            yield start, match.start()
        start = match.end()
    if start < len(text):
        yield start, len(text)


def _has_signal(sentence: str) -> bool:
    words = _WORDS.findall(sentence.lower())
    return not _SIGNALS.isdisjoint(words) or any(word.isdigit() for word in words)


# English

_ROOTS = frozenset({"<time>", "<recurrence>", "<amount>", "<age>"})


def _english(text: str, start: int, end: int, ctx: Context, book: RuleBook) -> list[TimeRef]:
    tokens = tokenize(text, start, end)
    items = [item for item in parse(tokens, book, senses) if item.category in _ROOTS]
    items.sort(key=lambda item: (item.start + item.trim - item.end, item.start))
    taken: set[int] = set()
    found = []
    for item in items:
        places = range(item.start + item.trim, item.end)
        if not taken.isdisjoint(places) or not stands(item, tokens):
            continue
        ref = _refer(text, item, tokens, ctx)
        if ref is not None:
            taken.update(places)
            found.append(ref)
    return sorted(found, key=lambda ref: ref.span)


def _refer(text: str, item: Item, tokens: list[Token], ctx: Context) -> TimeRef | None:
    first, last = tokens[item.start + item.trim].start, tokens[item.end - 1].end
    trace = tuple(item.trace())
    where = ((first, last), text[first:last])
    match item.value:
        case Recurrence() as again:
            return TimeRef(*where, None, "day", "recurrence", 0.8, trace, recurrence=again)
        case Amount() as so_long:
            return TimeRef(*where, None, "day", "duration", 0.8, trace, duration=so_long.duration())
        case str() as age:
            return TimeRef(*where, None, "year", "range", 0.4, trace, anchor=age and text[first:last])
    meaning = item.value
    if not isinstance(meaning, Meaning):
        return None
    side = ctx.side or side_of(tokens, item.start, item.end)
    interval = place(meaning, replace(ctx, side=side))
    if interval is None:
        return None
    sure = meaning.confidence * (0.7 if side is None and floating(meaning) else 1.0)
    return TimeRef(*where, interval, interval.grain, meaning.kind, round(sure, 3), trace)


def place(meaning: Meaning, ctx: Context) -> Interval | None:
    """The meaning as an interval in UTC; None where the calendar has no such time."""
    try:
        span = meaning.span(ctx)
        return None if span is None else _to_utc(span, ctx)
    except (ValueError, OverflowError):  # before year 1 or after 9999
        return None


def _to_utc(span: Span, ctx: Context) -> Interval | None:
    start, end = (
        None if side is None else side.replace(tzinfo=ctx.zone).astimezone(UTC) for side in (span.start, span.end)
    )
    if start is not None and end is not None and end <= start:
        return None
    return Interval(start, end, span.grain)


def _with_other_languages(
    text: str, found: list[TimeRef], ctx: Context, languages: tuple[str, ...] | None
) -> list[TimeRef]:
    return found
