"""`constraint`: what a question says about time: a window, an order, an event that it is dated by."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from functools import cache, reduce
from itertools import takewhile
from typing import Literal, NamedTuple

from everwhen_time.grammar import book_of, tokenize_in, word_reader
from everwhen_time.interval import Duration, Interval
from everwhen_time.language import Language, language, language_of, plainly_english, spellings
from everwhen_time.offsets import Amount, amount
from everwhen_time.parser import Item, parse
from everwhen_time.resolver import TimeRef, resolve
from everwhen_time.tokens import Token, english_words, fold, tokenize

Order = Literal["first", "last"]
AnchorRelation = Literal["before", "after", "during", "since", "until"]


@dataclass(frozen=True, slots=True)
class Constraint:
    """What the question asks of time.

    `interval` is the window; where several are named ("in March or in May"), `intervals` has each of them and
    `interval` is their hull. `hard` is a hint that anything outside the window is no answer: the question names a
    boundary ("since March", "between 3 and 5 May"), says "only in", or counts ("how often in May"). Recall does not
    filter by it. `relation` and `anchor` are for an event whose date the memory has to find ("before" "I moved"), and
    `distance` is how far from it ("the week after": P1W). `order` asks for the first or last. `count` says that the
    question counts what it finds.
    """

    interval: Interval | None = None
    hard: bool = False
    order: Order | None = None
    relation: AnchorRelation | None = None
    anchor: str | None = None
    distance: Duration | None = None
    count: bool = False
    intervals: tuple[Interval, ...] = ()


class Anchor(NamedTuple):
    """The event that a question names instead of a date; see `Constraint`."""

    relation: AnchorRelation
    event: str
    distance: Duration | None = None


class QuestionCues(NamedTuple):
    """What a question in any language asks about time apart from the times it names: whether it counts ("how often")
    or is strict ("only in"), the order and the anchor; see `Constraint`."""

    counts: bool
    strict: bool
    order: Order | None
    anchor: Anchor | None


def constraint(query: str, at: datetime, zone: str | None = None) -> Constraint | None:
    """What the question says about time, seen from when it is asked; None when it says nothing."""
    refs = resolve(query, at, zone, question=True)
    intervals = tuple(ref.interval for ref in refs if ref.interval is not None)
    cues = _cues(query, refs)
    if not intervals and cues.order is None and cues.anchor is None:
        return None
    window = reduce(Interval.hull, intervals) if intervals else None
    names_a_boundary = any(ref.bounded for ref in refs if ref.interval is not None)
    hard = window is not None and (cues.counts or cues.strict or names_a_boundary)
    relation, event, distance = cues.anchor or (None, None, None)
    return Constraint(window, hard, cues.order, relation, event, distance, cues.counts, intervals)


def _cues(query: str, refs: list[TimeRef]) -> QuestionCues:
    """What the words around the times ask, in the language of the question."""
    tokens = tokenize(query)
    if not plainly_english(query, (0, len(query)), frozenset(token.lower for token in tokens)):
        code = language_of(query)
        if code is not None:
            return _cues_in_language(code, query, refs)
    time_spans = [ref.span for ref in refs if ref.interval]
    return QuestionCues(
        counts=_COUNTING.search(query) is not None,
        strict=_STRICT.search(query) is not None,
        order=_order(tokens, time_spans),
        anchor=_anchor(query, tokens, refs, time_spans),
    )


_COUNTING = re.compile(r"\bhow (?:many|often|much)\b|\bnumber of\b|\bcount\b|\btotal\b", re.IGNORECASE)
_STRICT = re.compile(
    r"\b(?:only|strictly|exactly|exclusively|just) "
    r"(?:in|on|during|from|between|within|since|before|after)\b",
    re.IGNORECASE,
)


# Order: first, last, most recent

FIRST = frozenset({"first", "earliest", "initially", "originally", "oldest"})
_LAST = frozenset({"last", "latest", "newest", "lastly"})
_LISTS = english_words("constraints")
_NO_ORDER_BEFORE = _LISTS["no_order_before"]
_VERB_BEFORE = _LISTS["verb_before"]


def _order(tokens: list[Token], time_spans: list[tuple[int, int]]) -> Order | None:
    for index, token in enumerate(tokens):
        if within(token.start, time_spans):
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

RELATION_WORDS: dict[str, AnchorRelation] = {
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
    query: str, tokens: list[Token], refs: list[TimeRef], time_spans: list[tuple[int, int]]
) -> Anchor | None:
    for index, token in enumerate(tokens):
        relation = RELATION_WORDS.get(token.lower)
        if relation is None or index + 1 >= len(tokens):
            continue
        if within(token.start, time_spans):
            continue
        if token.lower == "when" and (index == 0 or tokens[index - 1].lower in _ASKING):
            continue
        if tokens[index + 1].lower in _NOT_AN_EVENT or (
            token.lower == "following" and index and tokens[index - 1].lower == "the"
        ):
            continue
        clause = clause_of(query, tokens[index + 1 :], time_spans, _END)
        anchor = re.sub(r"\s+(?:in|on|at|of|and)$", "", clause)
        if WORD.search(anchor):
            return Anchor(relation, anchor, _distance(tokens, index, refs))
    return None


def clause_of(
    query: str, tokens: list[Token], time_spans: list[tuple[int, int]], ends: frozenset[str]
) -> str:
    """The words up to the end of the clause, or up to a time in it."""
    inside = list(takewhile(lambda one: one.lower not in ends and not within(one.start, time_spans), tokens))
    return query[inside[0].start : inside[-1].end] if inside else ""


def within(position: int, time_spans: list[tuple[int, int]]) -> bool:
    """Whether the position is inside one of the times."""
    return any(start <= position < end for start, end in time_spans)


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

_RELATION_NAMES: tuple[AnchorRelation, ...] = ("before", "after", "during", "since", "until")
_CLAUSE_END = frozenset({".", "?", "!", ",", ";", "¿", "¡", ":"})


def _cues_in_language(code: str, query: str, refs: list[TimeRef]) -> QuestionCues:
    """What a question in this language asks; the words are in `[questions]` of its data file."""
    spoken = language(code)
    time_spans = [ref.span for ref in refs if ref.interval]
    plain = fold(query)
    relation_spans = [
        match.span()
        for relation in _RELATION_NAMES
        if (pattern := _pattern(code, relation)) is not None
        for match in pattern.finditer(plain)
    ]
    return QuestionCues(
        counts=_outside(_pattern(code, "count"), plain, time_spans),
        strict=_outside(_pattern(code, "only"), plain, time_spans),
        order=_order_in(code, plain, [*time_spans, *relation_spans]),  # "prima di" is before, "prima" first
        anchor=_anchor_in(query, spoken, time_spans)
        if spoken.spaced
        else _anchor_unspaced(query, code, time_spans),
    )


@cache
def _pattern(code: str, name: str) -> re.Pattern[str] | None:
    """The words of one kind in a language's data file: `_` is a space, and `nach+der` is "nach" followed by "der"."""
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


def _outside(pattern: re.Pattern[str] | None, text: str, time_spans: list[tuple[int, int]]) -> bool:
    """Whether the pattern matches anywhere outside the times."""
    return pattern is not None and any(
        not within(match.start(), time_spans) for match in pattern.finditer(text)
    )


def _order_in(code: str, text: str, time_spans: list[tuple[int, int]]) -> Order | None:
    if _outside(_pattern(code, "first"), text, time_spans):
        return "first"
    return "last" if _outside(_pattern(code, "last"), text, time_spans) else None


# Anchors: bevor ich umzog, la semana después de mis vacaciones, 搬家之前


def _anchor_in(query: str, spoken: Language, time_spans: list[tuple[int, int]]) -> Anchor | None:
    tokens = tokenize_in(query, 0, len(query), spoken.code)
    for index, token in enumerate(tokens):
        if within(token.start, time_spans):
            continue
        for relation in _RELATION_NAMES:
            pattern = _pattern(spoken.code, relation)
            match = pattern.match(fold(query), token.start) if pattern else None
            if match is None or (
                relation == "during" and not any(one.kind == "word" for one in tokens[:index])
            ):
                continue  # "¿Cuándo fui a Roma?" asks when
            behind = [one for one in tokens if one.start >= match.end()]
            anchor = clause_of(query, behind, time_spans, _CLAUSE_END)
            if WORD.search(anchor):
                return Anchor(relation, anchor, _distance_in(tokens, index, spoken))
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


# A clause begins after a mark, a pronoun (我, 你, 您) or a particle (は, が, を, の): what is before is not the event.
_CLAUSE_START = re.compile(r"[。，、！？!?,.\s我你您はがをの]")


def _anchor_unspaced(query: str, code: str, time_spans: list[tuple[int, int]]) -> Anchor | None:
    """Where the event is mentioned before the word: 搬家之前, 結婚した後."""
    for relation in _RELATION_NAMES:
        pattern = _pattern(code, relation)
        for match in pattern.finditer(query) if pattern else ():
            if within(match.start(), time_spans):
                continue
            start = max((end for _, end in time_spans if end <= match.start()), default=0)
            for mark in _CLAUSE_START.finditer(query, start, match.start()):
                start = mark.end()
            if match.start() - start > 1:
                return Anchor(relation, query[start : match.start()])
    return None
