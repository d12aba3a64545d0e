"""`resolve`: every time expression of a text as an interval, given when and where it was said."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING, Literal

from everwhen_time.calendar import Unit
from everwhen_time.cycles import (
    Holiday,
    MonthDay,
    Recurrence,
    Weekend,
)
from everwhen_time.grammar import book_of, cut_into_words, near_times, sign_reader, tokenize_in, word_reader
from everwhen_time.interval import Duration, Grain, Interval
from everwhen_time.language import (
    Verdict,
    codes,
    in_figures,
    language,
    plainly_english,
    spoken,
    unspaced,
)
from everwhen_time.lexicon import WORDS, senses
from everwhen_time.lookalikes import (
    in_a_title,
    name_spans,
    quotations,
    stands,
    stands_in,
    whole_text,
    without_names,
)
from everwhen_time.meaning import (
    Context,
    Conventions,
    Fixed,
    Hours,
    Instants,
    Kind,
    Meaning,
    NoSuchDay,
    Side,
    Span,
)
from everwhen_time.offsets import Amount, Between, Bound, InAmount, Offset, counts_from_mentioned, floating
from everwhen_time.parser import Item, RuleBook, parse
from everwhen_time.tense import (
    VerbDirection,
    asked_side,
    chance_ahead,
    direction_features,
    is_arranged,
    looker,
    sentence_features,
    side_of,
)
from everwhen_time.tokens import Token, english_words, fold, tokenize
from everwhen_time.zones import zone_of

if TYPE_CHECKING:
    from dateparser.date import DateDataParser
from datetime import timedelta

from everwhen_time.calendar import shift
from everwhen_time.tokens import word_set


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
    bounded: bool = False  # whether a boundary is named: since, until, before, from one time to another


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
        return _counted_from_mentioned(text, tokens, items, ctx, found, earlier)
    return found


def _counted_from_mentioned(
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
        if free and counts_from_mentioned(item.value) and is_complete(item, tokens) and stands(item, tokens):
            taken.update(range(item.start, item.end))
            phrases.append(item)
    for item in sorted(phrases, key=lambda item: item.start):
        first = tokens[item.start].start
        date = next(
            (ref for ref in reversed((*earlier, *found)) if ref.span[1] <= first and _is_date(ref)), None
        )
        if date is None or date.interval is None or first - date.span[1] > REACH:
            continue
        piece = Instants(date.interval.start, date.interval.end, date.interval.grain).piece(ctx)
        ref = _refer(text, item, tokens, replace(ctx, mentioned=piece))
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
        interval, sure = _likelier_direction(meaning, ctx, look, words, interval, sure)
    if interval is None:
        return None
    confidence = round(sure * meaning.confidence, 3)
    return TimeRef(*where, interval, interval.grain, meaning.kind, confidence, trace, bounded=meaning.bounded)


_BY_VERB = (Weekend, Hours, Offset, InAmount)
"""Verbs alone decide where these lie."""
_UNSURE = 0.2
"""Where the other time has more than this chance, an interval is less certain."""
_AGAINST_VERB = 0.7
"""The chance from which a time lies ahead of a verb in the past: "I got the job, start 1 June"."""


def _likelier_direction(
    meaning: Meaning,
    ctx: Context,
    look: VerbDirection,
    words: dict[str, float],
    by_verb: Interval | None,
    sure: float,
) -> tuple[Interval | None, float]:
    """Of the time before and the time to come, the likelier one, and how certain that makes it.

    For where no verb decides, or one in the past does; `by_verb` is where that verb puts it. What may be going on
    now is neither: "Review Friday", said on a Friday.
    """
    arranged = is_arranged(words, look.word)
    stretch = isinstance(meaning, Between) and "led by from" in words
    if look.side == "past" and (isinstance(meaning, (Bound, Holiday)) or (stretch and not arranged)):
        return by_verb, sure  # "I stayed until March", "a scarf for Christmas"
    try:
        now = ctx.now.replace(tzinfo=ctx.zone).astimezone(UTC)
    except OverflowError:  # within hours of the first or the last day there is
        return by_verb, sure
    if by_verb is not None and look.side is None and _goes_on(by_verb, now):
        return by_verb, sure
    back = place(meaning, replace(ctx, side="past", certain=True, present=False))
    ahead = place(meaning, replace(ctx, side="future", certain=True, present=isinstance(meaning, Between)))
    if back is None or ahead is None or back == ahead:
        return by_verb, sure
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
    found, verdict = read_others(text, sentence, words, ctx, languages, choose)
    start, end = sentence
    if found and (names := name_spans(text, start, end)):
        found = [ref for ref in found if not any(a < ref.span[1] and ref.span[0] < b for a, b in names)]
    if languages is not None and set(languages) - {"en"}:
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


# Counted from a date mentioned before

REACH = 400
"""Characters before it in which the date that it counts from is looked for."""
TRIGGERS = word_set("later earlier following next after before afterwards afterward")
"""One of these is in every such phrase."""


def is_complete(item: Item, tokens: list[Token]) -> bool:
    """Whether nothing follows that it hangs on instead: "the year after I graduated", "the next day of rest"."""
    if item.start and tokens[item.start - 1].lower == "for":
        return False  # "pack your bag for the next day": any
    following = tokens[item.end].lower if item.end < len(tokens) else ""
    if tokens[item.end - 1].lower in _NEEDS_END:
        return not following or following in _ENDS
    return following not in _GOES_ON


_NEEDS_END = word_set("after before")
_ENDS = word_set('. , ! ? ; : ) - … and but so while because "')
_GOES_ON = word_set("of off than that when after before - following which who")


# In the other languages

Choose = Callable[..., list[TimeRef]]
_ROOTS_OF_OTHERS = frozenset({"<time>", "<recurrence>"})
_LENGTH = re.compile(r"\W*\d+\s?(?:h\d*|min)\W*")  # "2h" alone is a length, as in English
_FIGURES = re.compile(r"\d")
_POINTS = re.compile(r"\d\.\s?-?\d")


def read_others(
    text: str,
    sentence: tuple[int, int],
    words: frozenset[str],
    ctx: Context,
    languages: tuple[str, ...] | None,
    choose: Choose,
) -> tuple[list[TimeRef], Verdict]:
    """The times of a sentence in the language that its words show, or in those that are asked for; and how sure it is
    that the sentence is not English."""
    start, end = sentence
    piece = text[start:end]
    folded = words if piece.isascii() else frozenset(_WORDS.findall(fold(piece)))
    likely, verdict = spoken(words, folded, languages)
    if others := unspaced(text, start, end, languages):
        likely, verdict = [*others, *likely], "surely"
    if not likely and languages is None and _FIGURES.search(piece) and not _LENGTH.fullmatch(piece):
        code = in_figures(folded, _POINTS.search(piece) is not None)
        likely = (
            [code] if code else []
        )  # 27.11.2017: no word shows the language, but the points show the order
        verdict = "likely" if code else verdict
    found: list[TimeRef] = []
    for code in likely:
        here = _read_in(code, text, start, end, ctx, choose)
        if _covered(here) > _covered(
            found
        ):  # where two languages are as likely, the one that reads more is right
            found = here
    if verdict == "perhaps" and _words_outside(piece, found) > 1:
        found = []  # as much English: only where nearly all that is said is a time
    return found, verdict


def _covered(found: list[TimeRef]) -> int:
    return sum(ref.span[1] - ref.span[0] for ref in found)


def _words_outside(piece: str, found: list[TimeRef]) -> int:
    return len(_WORDS.findall(piece)) - sum(len(_WORDS.findall(ref.text)) for ref in found)


def _read_in(code: str, text: str, start: int, end: int, ctx: Context, choose: Choose) -> list[TimeRef]:
    spoken_language = language(code)
    if spoken_language.spaced:
        tokens, senses_of_token = tokenize_in(text, start, end, code), word_reader(code)
    else:
        tokens, senses_of_token = cut_into_words(text, start, end, code), sign_reader(code)
    items = parse(tokens, book_of(code), near_times(tokens, senses_of_token))
    roots = [item for item in items if item.category in _ROOTS_OF_OTHERS]
    if not roots:
        return []
    roots.sort(
        key=lambda item: -getattr(item.value, "confidence", 1.0)
    )  # of two as long, the likelier comes first
    day_first = ctx.conventions.day_first

    quoted = quotations(text, start, end)

    def accept(item: Item, around: list[Token]) -> bool:
        return stands_in(item, around, spoken_language, day_first) and not in_a_title(item, around, quoted)

    conventions = replace(ctx.conventions, day_first=day_first or spoken_language.flag("day_first"))
    return choose(text, tokens, roots, replace(ctx, conventions=conventions), accept, looker(code))


# Languages without a data file, through `dateparser`'s public interface

# A day, a word and perhaps a year: "3 févr. 2021", "12. okt"; never free text.
_WRITTEN = re.compile(
    r"(?<![\w.])(?P<day>\d{1,2})(?:\.|er|º|\.º)?\s+(?:de\s+|di\s+|d')?(?P<word>[^\W\d_]{3,12})\.?"
    r"(?:,?\s+(?:de\s+|del\s+|di\s+)?(?P<year>(?:19|20)\d\d))?\b"
)


def written_dates(
    text: str, start: int, end: int, languages: tuple[str, ...], ctx: Context
) -> Iterator[tuple[int, int, Meaning]]:
    """Spans that `dateparser`, told the language, reads as a day and month, with or without a year."""
    others = tuple(code for code in languages if code != "en" and code not in codes())
    if not others:
        return
    for match in _WRITTEN.finditer(text, start, end):
        found = _day_of(match[0], others)
        if found is None or not 1 <= int(match["day"]) <= 31 or found.day != int(match["day"]):
            continue
        if match["year"]:
            yield *match.span(), Fixed(datetime(found.year, found.month, found.day), "day")
        else:
            yield *match.span(), MonthDay(found.month, found.day)


def _day_of(span: str, codes: tuple[str, ...]) -> datetime | None:
    data = _parser(codes).get_date_data(span)
    return data.date_obj if data.date_obj is not None and data.period == "day" else None


@cache
def _parser(codes: tuple[str, ...]) -> DateDataParser:
    from dateparser.date import DateDataParser  # slow to import: only when a span needs it

    settings = {"REQUIRE_PARTS": ["day", "month"], "PARSERS": ["absolute-time"], "DATE_ORDER": "DMY"}
    return DateDataParser(languages=list(codes), settings=settings)


# What two dates next to each other say about one another: "it was the Friday, so 7 March", "in March, May and July of
# 2021", "I land on 9 July and stay till the 30th"

_NAMES_REACH = 12
"""Tokens between the two names of a day at the most."""
_SENTENCE_REACH = 120
"""Characters between a month and a day of the next sentences at the most."""
_NAMES = 3
"""Other times that may stand between them."""
_EXPLAINS = word_set("so ( i.e ie namely meaning =")
"""What stands before a date that says which day was meant."""
_WEEKDAY = re.compile(r"\b(?:mon|tues?|wed(?:nes)?|thu(?:rs?)?|fri|sat(?:ur)?|sun)(?:day)?\b", re.I)
_MONTH = re.compile(r"\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b", re.I)
_YEAR = re.compile(r"\b(?:1[5-9]|20)\d\d\b")
_JOINTS = frozenset({",", "and", "or", "&", "in", "on", "the"})
_RELATIVE = re.compile(r"\b(?:last|next|this|past|coming|ago|after|before)\b", re.I)


def dated_beside(found: Sequence[TimeRef], tokens: Sequence[Token], ctx: Context) -> list[TimeRef]:
    """The same references, where a weekday that a date explains is the day of that date.

    It has to be that weekday: then the two say one thing, and the date says it exactly.
    """
    kept = list(found)
    starts = [token.start for token in tokens] if len(kept) > 1 else []
    for place, ref in enumerate(kept[:-1]):
        if not _WEEKDAY.search(ref.text) or _RELATIVE.search(ref.text) or any(map(str.isdigit, ref.text)):
            continue
        first = bisect_left(starts, ref.span[1])
        for date in kept[place + 1 : place + 1 + _NAMES]:
            last = bisect_left(starts, date.span[0], first)
            moved = (
                _on_the_date(ref, date, tokens[last - 1].lower, ctx)
                if 0 < last - first <= _NAMES_REACH
                else None
            )
            if moved is not None:
                kept[place] = moved
                break
    return kept


def with_shared_year(found: Sequence[TimeRef], tokens: Sequence[Token], ctx: Context) -> list[TimeRef]:
    """The same references, where the last of a list lends its year: "in March, May and July of 2021"."""
    kept = list(found)
    for place in range(len(kept) - 2, -1, -1):
        ref, following = kept[place], kept[place + 1]
        if not _without_a_year(ref) or not _YEAR.search(following.text) or ref.grain != following.grain:
            continue
        between = [one.lower for one in tokens if ref.span[1] <= one.start and one.end <= following.span[0]]
        if not between or not _JOINTS.issuperset(between):
            continue
        day, last = _begins(ref, ctx), _begins(following, ctx)
        if day is None or last is None:
            continue
        unit: Unit = "month" if ref.grain == "month" else "day"
        try:
            start = day.replace(tzinfo=None, year=last.year)
        except ValueError:  # 29 February
            continue
        text = f"{ref.text} {last.year}"  # so that it lends the year on
        first, end = (side.replace(tzinfo=ctx.zone) for side in (start, shift(start, unit, 1)))
        kept[place] = replace(ref, interval=Interval(first, end, ref.grain), text=text, confidence=0.9)
    return [
        replace(one, text=before.text) if one.text != before.text else one
        for one, before in zip(kept, found, strict=True)
    ]


def in_the_month_named(
    found: Sequence[TimeRef], ctx: Context, earlier: Sequence[TimeRef] = ()
) -> list[TimeRef]:
    """The same references, where a day without a month follows a month or a date of the same text, both before or both
    after now: "I land on 9 July and stay till the 30th", "my exams are in June. The first is on the 9th"; "we land on
    28 July and stay till the 9th" is the month after. `earlier` are the references of the sentences before it."""
    kept = list(found)
    first = kept[0].span[0] if kept else 0
    named = next((ref for ref in reversed(earlier) if _MONTH.search(ref.text)), None)
    date = named if named and first - named.span[1] <= _SENTENCE_REACH and _has_no_year(named) else None
    for place, ref in enumerate(kept):
        if _MONTH.search(ref.text):
            date = ref if _has_no_year(ref) else None
        elif date is not None and _DAY_ALONE in ref.rule and not _WEEKDAY.search(ref.text):
            kept[place] = _in_month(ref, date, ctx) or ref
    return kept


_DAY_ALONE = "day of the month"
_ORDINAL = re.compile(r"\d+")


def _has_no_year(ref: TimeRef) -> bool:
    return (
        ref.grain in ("day", "month")
        and ref.kind == "point"
        and not _YEAR.search(ref.text)
        and not _RELATIVE.search(ref.text)
    )


def _in_month(ref: TimeRef, date: TimeRef, ctx: Context) -> TimeRef | None:
    named = _begins(date, ctx)
    days = [int(number) for number in _ORDINAL.findall(ref.text)]
    if named is None or not days or ref.interval is None:
        return None
    try:
        start, end = (
            None if one is None else _in_the_month_of(one, day, named, ctx)
            for one, day in ((ref.interval.start, days[0]), (ref.interval.end, days[-1]))
        )
        if start is not None and end is not None and end <= start:  # "in December, from the 20th to the 3rd"
            end = shift(end.astimezone(ctx.zone).replace(tzinfo=None), "month", 1).replace(tzinfo=ctx.zone)
    except (ValueError, OverflowError):  # there is no 31st in it, or no year after 9999
        return None
    now = ctx.now.replace(tzinfo=ctx.zone)
    said, moved = ref.interval.start or ref.interval.end, start or end
    if said is None or moved is None or (moved > now) != (named > now):
        return None
    if (said > now) != (named > now) and not (ref.kind == "range" and ref.interval.contains(now)):
        return None
    return replace(ref, interval=Interval(start, end, ref.interval.grain), confidence=0.7)


def _in_the_month_of(side: datetime, day: int, named: datetime, ctx: Context) -> datetime:
    """One side of a day's interval, in the month of a date, or in the next where it would lie before that."""
    wall = side.astimezone(ctx.zone).replace(tzinfo=None)
    rest = (
        timedelta(0) if wall.day == day else timedelta(days=1)
    )  # the end of the day, which is the next one's start
    moved = (wall - rest).replace(year=named.year, month=named.month, day=day)
    if day < named.day:
        moved = shift(moved, "month", 1)
    return (moved + rest).replace(tzinfo=ctx.zone).astimezone(UTC)


def _without_a_year(ref: TimeRef) -> bool:
    """Whether it is a month or a day of a month that floats."""
    return (
        ref.grain in ("month", "day")
        and ref.interval is not None
        and not _YEAR.search(ref.text)
        and _MONTH.search(ref.text) is not None
        and not _RELATIVE.search(ref.text)
    )


def _on_the_date(ref: TimeRef, date: TimeRef, before: str, ctx: Context) -> TimeRef | None:
    explains = before in _EXPLAINS and date.grain == "day" and not _WEEKDAY.search(date.text)
    start, day = _begins(ref, ctx), _begins(date, ctx)
    if not explains or start is None or day is None or not any(map(str.isdigit, date.text)):
        return None
    days = day.date() - start.date()
    if days.days % 7 or ref.interval is None or ref.interval.end is None:
        return None
    last = ref.interval.end.astimezone(ctx.zone)
    return replace(ref, interval=Interval(start + days, last + days, ref.interval.grain))


def _begins(ref: TimeRef, ctx: Context) -> datetime | None:
    """Where it begins, in the zone of the speaker."""
    start = ref.interval.start if ref.interval else None
    return None if start is None else start.astimezone(ctx.zone)
