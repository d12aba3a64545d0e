"""`resolve`: every time expression of a text as an interval, given when and where it was said."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Literal

from everwhen_time.anaphora import REACH, TRIGGERS, counts_from_told, is_complete
from everwhen_time.apposition import dated_beside, in_the_month_named, with_shared_year
from everwhen_time.bounded import Between, Bound, floating
from everwhen_time.cycles import Holiday, Weekend
from everwhen_time.direction import chance_ahead, direction_features, is_arranged, sentence_features
from everwhen_time.grammar import book_of
from everwhen_time.interval import Interval
from everwhen_time.languages import plainly_english
from everwhen_time.lexicon import WORDS, senses
from everwhen_time.lookalikes import stands, whole_text
from everwhen_time.meaning import Context, Conventions, Hours, Instants, Meaning, NoSuchDay, Side, Span
from everwhen_time.name_spans import name_spans, without_names
from everwhen_time.offsets import Amount, InAmount, Offset
from everwhen_time.parser import Item, RuleBook, parse
from everwhen_time.reference import Recurrence, TimeRef
from everwhen_time.tense import VerbDirection, asked_side, side_of
from everwhen_time.tokenizer import Token, tokenize
from everwhen_time.word_lists import english_words
from everwhen_time.zones import zone_of


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
    question: bool = False,
) -> list[TimeRef]:
    """The time expressions of the text, in order, as intervals in UTC.

    `at` is when it was said and `zone` where (IANA, or an offset such as `+05:30`): "yesterday" is the speaker's. A
    naive `at` needs a zone and is that zone's wall clock. `tense` overrules the verbs. `languages` limits which are
    tried (all by default); `rules` replaces the English grammar by an extended one. `question` says that the text asks
    a memory: "the party in June" is then the last June, and not what somebody plans.
    """
    ctx = context(at, zone, tense, Conventions(week_start, day_first, hemisphere, country), question)
    english = book_of("en")
    book = rules or english
    signals = _SIGNALS if rules is None else _SIGNALS | (book.vocabulary - english.vocabulary)
    found: list[TimeRef] = []
    for start, end in _sentences(text):
        words = frozenset(_WORDS.findall(text[start:end].lower()))
        others, verdict = foreign(text, (start, end), words, ctx, languages)
        here: list[TimeRef] = []
        asked = languages is None or "en" in languages
        if asked and verdict != "surely" and not signals.isdisjoint(words):
            here = _english(text, start, end, ctx, book, found)
        if others:
            here = _longest(here + others if verdict == "perhaps" else others + here)
        found += here
    return found


def context(
    at: datetime, zone: str | None, side: Side | None, conventions: Conventions, asks: bool = False
) -> Context:
    """The speaker's wall clock; refuses a naive moment with no zone beside it."""
    if at.tzinfo is None and zone is None:
        raise ValueError(
            f"resolve needs an aware datetime, got the naive {at.isoformat()}; "
            "give it a tzinfo, or pass zone= to read it as that zone's wall clock"
        )
    area = zone_of(zone or "UTC")
    try:
        local = at if at.tzinfo is None else at.astimezone(area)
    except OverflowError:  # within hours of the first or the last day there is: no zone has a date for it
        local = at
    wall = local.replace(tzinfo=None, fold=0)
    return Context(wall, area, side, given=side is not None, asks=asks, conventions=conventions)


# Sentences and signals: what cannot hold a time is never tokenized

_BOUNDARY = re.compile(r"[.!?](?<!\bSt\.)(?<!\d\.)(\s+)(?=[\"'(“¿¡«]?[A-ZÀ-ÞА-ЯЁ])|(\n+)|[。！？]()")
"""The mark that ends a sentence, and in one of the groups the space behind it. Each branch begins with a character of
its own: `re` then looks for these instead of trying each place of the text."""
_WORDS = re.compile(r"(?<![^\W\d_]\d)[^\W\d_]+|\d")  # "HbA1c" has no French "c'"
_LISTS = english_words("resolver")
_SIGNALS = (
    frozenset(
        word
        for word, meanings in WORDS.items()
        if any(category not in ("<num>", "<digit>", "<zone>") for category, _, _ in meanings)
    )
    | _LISTS["signals"]
)


def _sentences(text: str) -> Iterator[tuple[int, int]]:
    start = 0
    for match in _BOUNDARY.finditer(text):
        end, following = match.span(match.lastindex or 0)
        if end > start:
            yield start, end
        start = following
    if start < len(text):
        yield start, len(text)


# English

_ROOTS = frozenset(
    {"<time>", "<final>", "<recurrence>", "<amount>", "<age>"}
)  # final: no part of a longer phrase


def _english(
    text: str, start: int, end: int, ctx: Context, book: RuleBook, earlier: Sequence[TimeRef]
) -> list[TimeRef]:
    """The times of a sentence; `earlier` are those of the sentences before it."""
    tokens = without_names(tokenize(text, start, end), name_spans(text, start, end))
    items = [item for item in parse(tokens, book, senses) if item.category in _ROOTS]
    found = with_shared_year(choose(text, tokens, items, ctx, stands), tokens, ctx)
    found = in_the_month_named(dated_beside(found, tokens, ctx), ctx, earlier)
    if (found or earlier) and any(token.lower in TRIGGERS for token in tokens):
        return _counted_from_told(text, tokens, items, ctx, found, earlier)
    return found


def _counted_from_told(
    text: str,
    tokens: list[Token],
    items: list[Item],
    ctx: Context,
    found: list[TimeRef],
    earlier: Sequence[TimeRef],
) -> list[TimeRef]:
    """With "two days later" and the like, each counted from the date before it in the same text."""
    taken: set[int] = set()
    phrases = []
    for item in sorted(items, key=lambda item: (item.start - item.end, item.start)):
        free = taken.isdisjoint(range(item.start, item.end))
        if free and counts_from_told(item.value) and is_complete(item, tokens) and stands(item, tokens):
            taken.update(range(item.start, item.end))
            phrases.append(item)
    for item in sorted(phrases, key=lambda item: item.start):
        first = tokens[item.start].start
        told = next(
            (ref for ref in reversed((*earlier, *found)) if ref.span[1] <= first and _is_date(ref)), None
        )
        if told is None or told.interval is None or first - told.span[1] > REACH:
            continue
        piece = Instants(told.interval.start, told.interval.end, told.interval.grain).piece(ctx)
        ref = _refer(text, item, tokens, replace(ctx, told=piece))
        if ref is not None:
            apart = [one for one in found if one.span[1] <= ref.span[0] or one.span[0] >= ref.span[1]]
            found = sorted([*apart, ref], key=lambda one: one.span)
    return found


def _is_date(ref: TimeRef) -> bool:
    return ref.interval is not None and ref.interval.start is not None and ref.interval.end is not None


def choose(
    text: str,
    tokens: list[Token],
    items: list[Item],
    ctx: Context,
    accept: Callable[[Item, list[Token]], bool],
    look: Callable[[list[Token], int, int], VerbDirection] = side_of,
) -> list[TimeRef]:
    """The longest acceptable phrases that can be placed on the calendar and do not overlap."""
    items.sort(key=lambda item: (item.start + item.trim - item.end, item.start, item.value == NoSuchDay()))
    taken: set[int] = set()
    found = []
    for item in items:
        places = range(item.start + item.trim, item.end)
        if not taken.isdisjoint(places) or not accept(item, tokens):
            continue
        ref = _refer(text, item, tokens, ctx, look)
        if ref is not None:
            found.append(ref)
        if ref is not None or isinstance(item.value, NoSuchDay):
            taken.update(places)
    return sorted(found, key=lambda ref: ref.span)


def _refer(
    text: str,
    item: Item,
    tokens: list[Token],
    ctx: Context,
    looks: Callable[[list[Token], int, int], VerbDirection] = side_of,
) -> TimeRef | None:
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
    looks = asked_side if ctx.asks and looks is side_of else looks
    look = VerbDirection(ctx.side, True) if ctx.side else looks(tokens, item.start, item.end)
    if look.side is None and isinstance(meaning, InAmount) and whole_text(item, tokens):
        look = VerbDirection("future", True)  # all that is said is "in one day"
    side = look.side
    interval = place(meaning, replace(ctx, side=side, certain=look.certain, present=look.present))
    sure = 0.7 if side is None and floating(meaning) else 1.0
    asked = ctx.side is not None or ctx.asks or looks is not side_of or isinstance(meaning, _BY_VERB)
    if not asked and side != "future" and _says_more(text, tokens[item.start].start, last):
        words = sentence_features(tokens, item.start, item.end, look)
        interval, sure = _meant(meaning, ctx, look, words, interval, sure)
    if interval is None:
        return None
    sure *= meaning.confidence
    return TimeRef(*where, interval, interval.grain, meaning.kind, round(sure, 3), trace)


_BY_VERB = (Weekend, Hours, Offset, InAmount)
"""Verbs alone tell where these lie."""
_UNSURE = 0.2
"""Where the other time has more than this chance, an interval is less certain."""
_AGAINST_VERB = 0.7
"""The chance from which a time lies ahead of a verb in the past: "I got the job, start 1 June"."""


def _meant(
    meaning: Meaning,
    ctx: Context,
    look: VerbDirection,
    words: dict[str, float],
    told: Interval | None,
    sure: float,
) -> tuple[Interval | None, float]:
    """Of the time before and the time to come, the likelier one, and how certain that makes it, where no verb tells or
    one in the past. `told` is where that verb puts it. What may be going on now is neither: "Review Friday", said on a
    Friday."""
    arranged = is_arranged(words, look.word)
    stretch = isinstance(meaning, Between) and "led by from" in words
    if look.side == "past" and (isinstance(meaning, (Bound, Holiday)) or (stretch and not arranged)):
        return told, sure  # "I stayed until March", "a scarf for Christmas"
    try:
        now = ctx.now.replace(tzinfo=ctx.zone).astimezone(UTC)
    except OverflowError:  # within hours of the first or the last day there is
        return told, sure
    if told is not None and look.side is None and _goes_on(told, now):
        return told, sure
    back = place(meaning, replace(ctx, side="past", certain=True, present=False))
    ahead = place(meaning, replace(ctx, side="future", certain=True, present=isinstance(meaning, Between)))
    if back is None or ahead is None or back == ahead:
        return told, sure
    chance = chance_ahead(direction_features(look, (back, ahead), now, words))
    is_ahead = chance >= (0.5 if look.side is None or arranged else _AGAINST_VERB)
    return ahead if is_ahead else back, 0.7 if _UNSURE < chance < 1 - _UNSURE else 1.0


def _says_more(text: str, first: int, last: int) -> bool:
    """Whether there are words or figures beside the phrase: alone, as an argument is, it looks back."""
    return _WORD.search(text, 0, first) is not None or _WORD.search(text, last) is not None


_WORD = re.compile(r"[^\W_]")


def _goes_on(interval: Interval, now: datetime) -> bool:
    return interval.start is not None and interval.end is not None and interval.contains(now)


def place(meaning: Meaning, ctx: Context) -> Interval | None:
    """The meaning as an interval in UTC; None where the calendar has no such time."""
    try:
        span = meaning.span(ctx)
        return None if span is None else _to_utc(span, ctx)
    except (ValueError, OverflowError):  # before year 1 or after 9999
        return None


def _to_utc(span: Span, ctx: Context) -> Interval | None:
    start, end = (
        None if side is None else side.replace(tzinfo=ctx.zone).astimezone(UTC)
        for side in (span.start, span.end)
    )
    if start is not None and end is not None and end <= start:
        return None
    return Interval(start, end, span.grain)


# Other languages


def foreign(
    text: str,
    sentence: tuple[int, int],
    words: frozenset[str],
    ctx: Context,
    languages: tuple[str, ...] | None,
) -> tuple[list[TimeRef], str]:
    """What the other languages find in a sentence; and whether "perhaps", "likely" or "surely" it is in one of them."""
    if languages == ("en",) or (languages is None and plainly_english(text, sentence, words)):
        return [], "perhaps"  # the data files are not even read
    from everwhen_time.languages.foreign_times import read

    found, verdict = read(text, sentence, words, ctx, languages, choose)
    start, end = sentence
    if found and (names := name_spans(text, start, end)):
        found = [ref for ref in found if not any(a < ref.span[1] and ref.span[0] < b for a, b in names)]
    if languages is not None and set(languages) - {"en"}:
        from everwhen_time.languages.foreign_times import written_dates

        for first, last, meaning in written_dates(text, start, end, languages, ctx):
            interval = place(meaning, ctx)
            if interval is not None:
                where = ((first, last), text[first:last])
                found.append(TimeRef(*where, interval, interval.grain, "point", 0.8, ("dateparser",)))
    return found, verdict


def _longest(found: list[TimeRef]) -> list[TimeRef]:
    """Where two readings overlap, the longer one, or of two as long the first; in the order of the text."""
    kept: list[TimeRef] = []
    for ref in sorted(found, key=lambda ref: ref.span[0] - ref.span[1]):
        place = bisect_left(kept, ref.span, key=lambda other: other.span)
        before = place == 0 or kept[place - 1].span[1] <= ref.span[0]
        after = place == len(kept) or ref.span[1] <= kept[place].span[0]
        if before and after:
            kept.insert(place, ref)
    return kept
