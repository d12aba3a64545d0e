"""Which way the verbs of a sentence look, by the words and endings that a data file names."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from everwhen.when.languages.fold import fold
from everwhen.when.languages.language import Language, language
from everwhen.when.meaning import Side
from everwhen.when.tense import Look
from everwhen.when.tokens import Token

_SHORTEST = 4  # letters of a word that an ending may tell
_REACH = 24  # tokens looked at on either side
_WITHIN = 12  # tokens between "haben" and what it helps to say
_SPOKEN = 3  # words beside the time from which on somebody tells something, with a verb


@cache
def looker(code: str) -> Callable[[list[Token], int, int], Look]:
    """The side of the nearest verb that tells one; a verb that does not is in the present and looks ahead."""
    told = language(code)
    if not told.spaced:
        return _without_spaces(told)
    future, past, participle = (_matcher(told, name) for name in ("future", "past", "participles"))
    helping, being = told.words("auxiliaries"), told.words("being")

    def side_of(tokens: list[Token], start: int, end: int) -> Look:
        best: tuple[int, Side, bool] | None = None
        spoken = 0
        for index in range(max(0, start - _REACH), min(len(tokens), end + _REACH)):
            token = tokens[index]
            if start <= index < end or token.kind not in ("word", "mark"):
                continue
            spoken += token.kind == "word"
            side: Side | None = None
            if (token.lower in helping or token.lower in being) and _helps(tokens, index, participle):
                side = "past"
            elif future(token):
                side = "future"
            elif past(token):
                side = "past"
            distance = start - index if index < start else index - end + 1
            if side is not None and (best is None or distance < best[0]):
                best = (distance, side, token.lower not in being)
        if best is not None:
            return Look(best[1], best[2])
        return Look("future", False, True) if spoken >= _SPOKEN else Look(None)

    return side_of


def _without_spaces(told: Language) -> Callable[[list[Token], int, int], Look]:
    """Where words are not apart the signs are looked for in the text itself, what is past first."""
    past, future = (re.compile("|".join(told.text(name).split())) for name in ("past", "future"))

    def side_of(tokens: list[Token], start: int, end: int) -> Look:
        around = (*tokens[max(0, start - _REACH) : start], *tokens[end : end + _REACH])
        text = "".join(token.lower for token in around)
        if past.search(text):
            return Look("past", True)
        return Look("future", True) if future.search(text) else Look(None)

    return side_of


def _helps(tokens: list[Token], index: int, participle: Callable[[Token], bool]) -> bool:
    """Whether a participle follows: "hat … gekauft", "ai vu"."""
    return any(
        participle(token)
        for token in tokens[max(0, index - _WITHIN) : index + _WITHIN]
        if token.kind == "word"
    )


def _matcher(told: Language, name: str) -> Callable[[Token], bool]:
    """Whether a token is one of the words, or has one of the forms: `*ré`, `ge*t`, as they are written."""
    entries = told.text(name).lower().split()
    words = frozenset(fold(entry) for entry in entries if "*" not in entry)
    shapes = "|".join(re.escape(entry).replace(r"\*", r"\w*") for entry in entries if "*" in entry)
    shape = re.compile(rf"(?:{shapes})$") if shapes else None

    def matches(token: Token) -> bool:
        if token.lower in words:
            return True
        if shape is None or token.kind != "word" or len(token.lower) < _SHORTEST:
            return False
        return shape.match(token.text.lower()) is not None

    return matches
