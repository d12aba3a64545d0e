"""`constraint`: what a question says about time: a window, an order, an event that it hangs on."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from functools import cache, reduce
from itertools import takewhile
from typing import Literal

from everwhen_time.grammar import book_of, tokenize_in, word_reader
from everwhen_time.interval import Duration, Interval
from everwhen_time.language import Language, language, language_of, plainly_english, spellings
from everwhen_time.offsets import Amount, amount
from everwhen_time.parser import Item, parse
from everwhen_time.resolver import TimeRef, resolve
from everwhen_time.tokens import Token, english_words, fold, tokenize, word_set

Order = Literal["first", "last"]
AnchorRelation = Literal["before", "after", "during", "since", "until"]


@dataclass(frozen=True, slots=True)
class Constraint:
    """What the question asks of time.

    `interval` is the window, `hard` whether anything outside it is no answer; `intervals` has each one where
    several are named ("in March or in May") and `interval` their hull. `relation` and `anchor` tell of an
    event whose date the memory has to find ("before" "I moved"), and `distance` how far from it ("the week
    after": P1W). `order` asks for the first or last. `count` says that the question counts what it finds.
    """

    interval: Interval | None = None
    hard: bool = False
    order: Order | None = None
    relation: AnchorRelation | None = None
    anchor: str | None = None
    distance: Duration | None = None
    count: bool = False
    intervals: tuple[Interval, ...] = ()


@dataclass(frozen=True, slots=True)
class QuestionCues:
    """What a question in any language asks about time apart from the times it names: whether it counts ("how often")
    or is strict ("only in"), the order and the anchor; see `Constraint`."""

    counts: bool = False
    strict: bool = False
    order: Order | None = None
    anchor: tuple[AnchorRelation, str, Duration | None] | None = None


def constraint(query: str, at: datetime, zone: str | None = None) -> Constraint | None:
    """What the question says about time, seen from when it is asked; None when it says nothing."""
    refs = resolve(query, at, zone, question=True)
    placed = [ref for ref in refs if ref.interval is not None]
    said = _cues_around(query, refs)
    order, anchored = said.order, said.anchor
    if not placed and order is None and anchored is None:
        return None
    intervals = tuple(ref.interval for ref in placed if ref.interval is not None)
    window = reduce(Interval.hull, intervals) if intervals else None
    relation, anchor, distance = anchored or (None, None, None)
    hard = window is not None and (said.counts or said.strict or _compares(placed))
    return Constraint(window, hard, order, relation, anchor, distance, said.counts, intervals)


def _cues_around(query: str, refs: list[TimeRef]) -> QuestionCues:
    """What the words around the times ask, in the language of the question."""
    tokens = tokenize(query)
    if not plainly_english(query, (0, len(query)), frozenset(token.lower for token in tokens)):
        found = asked(query, refs)
        if found is not None:
            return found
    counts, strict = _COUNTING.search(query) is not None, _STRICT.search(query) is not None
    return QuestionCues(counts, strict, _order(tokens, refs), _anchor(query, tokens, refs))


_COUNTING = re.compile(r"\bhow (?:many|often|much)\b|\bnumber of\b|\bcount\b|\btotal\b", re.IGNORECASE)
_STRICT = re.compile(
    r"\b(?:only|strictly|exactly|exclusively|just) "
    r"(?:in|on|during|from|between|within|since|before|after)\b",
    re.IGNORECASE,
)


def _compares(refs: list[TimeRef]) -> bool:
    """Whether a boundary is named: before, after, since, until, between X and Y."""
    return any(ref.rule and ref.rule[-1].replace(" ", "_") in _BOUNDARIES for ref in refs)


_BOUNDARIES = word_set(
    """bounded between_two between_years from_one_to_another from_then_onward and_onward by_a_part by_the_end_of_a_day
    through so_long_since_a_time since until by before after between from_to onward until_a_day since_a_day
    onward_from_a_day before_a_day_of_the_month after_a_day_of_the_month until_now from_now_to_a_time joined
    stretch_of_days months_of_a_year year_to_year days_of_no_month days_of_a_whole days_in_a_whole weekday_to_weekday"""
)

# Order: first, last, most recent

FIRST = frozenset({"first", "earliest", "initially", "originally", "oldest"})
_LAST = frozenset({"last", "latest", "newest", "lastly"})
_LISTS = english_words("constraints")
_NO_ORDER_BEFORE = _LISTS["no_order_before"]
_VERB_BEFORE = _LISTS["verb_before"]


def _order(tokens: list[Token], refs: list[TimeRef]) -> Order | None:
    placed = [ref.span for ref in refs if ref.interval]
    for index, token in enumerate(tokens):
        if within(token.start, placed):
            continue
        after = tokens[index + 1].lower if index + 1 < len(tokens) else ""
        before = tokens[index - 1].lower if index else ""
        word = token.lower
        if word in ("recent", "recently") and before == "most":
            return "last"
        if after in _NO_ORDER_BEFORE:
            continue
        if word in FIRST and not (word == "first" and before == "at"):
            return "first"
        if word in _LAST and not (word == "last" and before in _VERB_BEFORE and not after.isalpha()):
            return "last"
    return None


# Anchors: before I moved, the week after my vacation, two days before the wedding, since we adopted Max

RELATIONS: dict[str, AnchorRelation] = {
    "before": "before",
    "after": "after",
    "following": "after",
    "since": "since",
    "until": "until",
    "till": "until",
    "during": "during",
    "while": "during",
    "when": "during",
}
_NOT_AN_EVENT = _LISTS["not_an_event"]
_ASKING = _LISTS["asking"]
_END = frozenset({".", "?", "!", ",", ";"})
WORD = re.compile(r"[^\W\d_]{2,}")  # an anchor without one says no event


def _anchor(
    query: str, tokens: list[Token], refs: list[TimeRef]
) -> tuple[AnchorRelation, str, Duration | None] | None:
    placed = [ref.span for ref in refs if ref.interval]
    for index, token in enumerate(tokens):
        relation = RELATIONS.get(token.lower)
        if relation is None or index + 1 >= len(tokens):
            continue
        if within(token.start, placed):
            continue
        if token.lower == "when" and (index == 0 or tokens[index - 1].lower in _ASKING):
            continue
        if tokens[index + 1].lower in _NOT_AN_EVENT or (
            token.lower == "following" and index and tokens[index - 1].lower == "the"
        ):
            continue
        clause = clause_of(query, tokens[index + 1 :], placed, _END)
        anchor = re.sub(r"\s+(?:in|on|at|of|and)$", "", clause)
        if WORD.search(anchor):
            return relation, anchor, _distance(tokens, index, refs)
    return None


def clause_of(query: str, tokens: list[Token], placed: list[tuple[int, int]], ends: frozenset[str]) -> str:
    """The words up to the end of the clause or a time of its own."""
    inside = list(takewhile(lambda one: one.lower not in ends and not within(one.start, placed), tokens))
    return query[inside[0].start : inside[-1].end] if inside else ""


def within(place: int, placed: list[tuple[int, int]]) -> bool:
    """Whether the place is inside one of the times."""
    return any(start <= place < end for start, end in placed)


_LENGTHS = {"day": Duration(days=1), "week": Duration(weeks=1), "month": Duration(months=1),
            "year": Duration(years=1), "weekend": Duration(weeks=1), "morning": Duration(days=1),
            "night": Duration(days=1)}  # fmt: skip


def _distance(tokens: list[Token], index: int, refs: list[TimeRef]) -> Duration | None:
    """How far from the event: "two days before", "the week after"."""
    if not index:
        return None
    before = tokens[index - 1]
    for ref in refs:
        if ref.duration is not None and ref.span[1] == before.end:
            return ref.duration
    return _LENGTHS.get(before.lower)


# In the other languages

_RELATIONS: tuple[AnchorRelation, ...] = ("before", "after", "during", "since", "until")
_CLAUSE_END = frozenset({".", "?", "!", ",", ";", "¿", "¡", ":"})


def asked(query: str, refs: list[TimeRef]) -> QuestionCues | None:
    """What the question asks; None when it is in English. In its data file `nach+der` is "nach" before "der"."""
    code = language_of(query)
    if code is None:
        return None
    spoken = language(code)
    placed = [ref.span for ref in refs if ref.interval]
    plain = fold(query)
    joints = [
        match.span()
        for relation in _RELATIONS
        if (pattern := _pattern(code, relation)) is not None
        for match in pattern.finditer(plain)
    ]
    return QuestionCues(
        _outside(_pattern(code, "count"), plain, placed),
        _outside(_pattern(code, "only"), plain, placed),
        _order_in(code, plain, [*placed, *joints]),  # "prima di" is before, "prima" first
        _anchor_in(query, spoken, placed) if spoken.spaced else _anchor_unspaced(query, code, placed),
    )


@cache
def _pattern(code: str, name: str) -> re.Pattern[str] | None:
    spoken = language(code)
    words = sorted(spellings(spoken.section("questions").get(name, "")), key=len, reverse=True)
    if not words:
        return None
    if not spoken.spaced:
        return re.compile("|".join(map(re.escape, words)))
    ends = (
        re.escape(word).replace(r"\+", r"(?=\s+") + (r"\b)" if "+" in word else r"(?!\w)") for word in words
    )
    return re.compile(rf"\b(?:{'|'.join(ends)})")


def _outside(pattern: re.Pattern[str] | None, text: str, placed: list[tuple[int, int]]) -> bool:
    """Whether the words stand somewhere outside the times."""
    return pattern is not None and any(not within(match.start(), placed) for match in pattern.finditer(text))


def _order_in(code: str, text: str, placed: list[tuple[int, int]]) -> Order | None:
    if _outside(_pattern(code, "first"), text, placed):
        return "first"
    return "last" if _outside(_pattern(code, "last"), text, placed) else None


# Anchors: bevor ich umzog, la semana después de mis vacaciones, 搬家之前


def _anchor_in(
    query: str, spoken: Language, placed: list[tuple[int, int]]
) -> tuple[AnchorRelation, str, Duration | None] | None:
    tokens = tokenize_in(query, 0, len(query), spoken.code)
    for index, token in enumerate(tokens):
        if within(token.start, placed):
            continue
        for relation in _RELATIONS:
            pattern = _pattern(spoken.code, relation)
            match = pattern.match(fold(query), token.start) if pattern else None
            if match is None or (
                relation == "during" and not any(one.kind == "word" for one in tokens[:index])
            ):
                continue  # "¿Cuándo fui a Roma?" asks when
            behind = [one for one in tokens if one.start >= match.end()]
            anchor = clause_of(query, behind, placed, _CLAUSE_END)
            if WORD.search(anchor):
                return relation, anchor, _distance_in(tokens, index, spoken)
    return None


def _distance_in(tokens: list[Token], index: int, spoken: Language) -> Duration | None:
    """How far from the event: "zwei Tage nach", "la semana antes de"."""
    if not index:
        return None
    items: list[Item] = parse(tokens[:index], book_of(spoken.code), word_reader(spoken.code))
    amounts = [item for item in items if item.category == "<amount>" and item.end == index]
    if amounts:
        longest = min(amounts, key=lambda item: item.start)
        assert isinstance(longest.value, Amount)
        return longest.value.duration()
    for category, unit, _ in word_reader(spoken.code)(tokens, index - 1):
        if category == "<unit>":
            return amount(1, unit).duration()  # type: ignore[arg-type]
    return None


_BREAK = re.compile(r"[。，、！？!?,.\s我你您はがをの]")


def _anchor_unspaced(
    query: str, code: str, placed: list[tuple[int, int]]
) -> tuple[AnchorRelation, str, Duration | None] | None:
    """Where the event is mentioned before the word: 搬家之前, 結婚した後."""
    for relation in _RELATIONS:
        pattern = _pattern(code, relation)
        for match in pattern.finditer(query) if pattern else ():
            if within(match.start(), placed):
                continue
            start = max((end for _, end in placed if end <= match.start()), default=0)
            for mark in _BREAK.finditer(query, start, match.start()):
                start = mark.end()
            if match.start() - start > 1:
                return relation, query[start : match.start()], None
    return None
