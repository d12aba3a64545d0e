"""What a question in another language asks about time apart from its times: counting, order, the event it refers to."""

from __future__ import annotations

import re
from functools import cache

from everwhen_time.constraints import WORD, AnchorRelation, Order, QuestionCues, clause_of, within
from everwhen_time.grammar import book_of
from everwhen_time.interval import Duration
from everwhen_time.languages.detect import language_of
from everwhen_time.languages.fold import fold
from everwhen_time.languages.language import Language, language, spellings
from everwhen_time.languages.word_tokens import reader, tokenize
from everwhen_time.offsets import Amount, amount
from everwhen_time.parser import Item, parse
from everwhen_time.reference import TimeRef
from everwhen_time.tokenizer import Token

_RELATIONS: tuple[AnchorRelation, ...] = ("before", "after", "during", "since", "until")
_END = frozenset({".", "?", "!", ",", ";", "¿", "¡", ":"})


def asked(query: str, refs: list[TimeRef]) -> QuestionCues | None:
    """What the question asks; None when it is in English. In its data file `nach+der` is "nach" before "der"."""
    code = language_of(query)
    if code is None:
        return None
    told = language(code)
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
        _order(code, plain, [*placed, *joints]),  # "prima di" is before, "prima" first
        _anchor(query, told, placed) if told.spaced else _anchor_unspaced(query, code, placed),
    )


@cache
def _pattern(code: str, name: str) -> re.Pattern[str] | None:
    told = language(code)
    words = sorted(spellings(told.section("questions").get(name, "")), key=len, reverse=True)
    if not words:
        return None
    if not told.spaced:
        return re.compile("|".join(map(re.escape, words)))
    ends = (
        re.escape(word).replace(r"\+", r"(?=\s+") + (r"\b)" if "+" in word else r"(?!\w)") for word in words
    )
    return re.compile(rf"\b(?:{'|'.join(ends)})")


def _outside(pattern: re.Pattern[str] | None, text: str, placed: list[tuple[int, int]]) -> bool:
    """Whether the words stand somewhere outside the times."""
    return pattern is not None and any(not within(match.start(), placed) for match in pattern.finditer(text))


def _order(code: str, text: str, placed: list[tuple[int, int]]) -> Order | None:
    if _outside(_pattern(code, "first"), text, placed):
        return "first"
    return "last" if _outside(_pattern(code, "last"), text, placed) else None


# Anchors: bevor ich umzog, la semana después de mis vacaciones, 搬家之前


def _anchor(
    query: str, told: Language, placed: list[tuple[int, int]]
) -> tuple[AnchorRelation, str, Duration | None] | None:
    tokens = tokenize(query, 0, len(query), told.code)
    for index, token in enumerate(tokens):
        if within(token.start, placed):
            continue
        for relation in _RELATIONS:
            pattern = _pattern(told.code, relation)
            match = pattern.match(fold(query), token.start) if pattern else None
            if match is None or (
                relation == "during" and not any(one.kind == "word" for one in tokens[:index])
            ):
                continue  # "¿Cuándo fui a Roma?" asks when
            behind = [one for one in tokens if one.start >= match.end()]
            anchor = clause_of(query, behind, placed, _END)
            if WORD.search(anchor):
                return relation, anchor, _distance(tokens, index, told)
    return None


def _distance(tokens: list[Token], index: int, told: Language) -> Duration | None:
    """How far from the event: "zwei Tage nach", "la semana antes de"."""
    if not index:
        return None
    items: list[Item] = parse(tokens[:index], book_of(told.code), reader(told.code))
    amounts = [item for item in items if item.category == "<amount>" and item.end == index]
    if amounts:
        longest = min(amounts, key=lambda item: item.start)
        assert isinstance(longest.value, Amount)
        return longest.value.duration()
    for category, unit, _ in reader(told.code)(tokens, index - 1):
        if category == "<unit>":
            return amount(1, unit).duration()  # type: ignore[arg-type]
    return None


_BREAK = re.compile(r"[。，、！？!?,.\s我你您はがをの]")


def _anchor_unspaced(
    query: str, code: str, placed: list[tuple[int, int]]
) -> tuple[AnchorRelation, str, Duration | None] | None:
    """Where the event is told before the word: 搬家之前, 結婚した後."""
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
