"""Whether the verbs of a sentence are past or future, by the words and endings in the data file."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, lru_cache
from typing import NamedTuple

from everwhen_time.languages.fold import fold
from everwhen_time.languages.language import Language, language
from everwhen_time.meaning import Side
from everwhen_time.tense import VerbDirection
from everwhen_time.tokenizer import Token

_SHORTEST = 4  # letters of a word that an ending may tell
_REACH = 24  # tokens looked at on either side
_WITHIN = 12  # tokens between "haben" and what it helps to say
_SPOKEN = 3  # words beside the time from which on somebody tells something, with a verb


@cache
def looker(code: str) -> Callable[[list[Token], int, int], VerbDirection]:
    """The side of the nearest verb that tells one; a verb that does not is in the present and looks ahead."""
    told = language(code)
    if not told.spaced:
        return _without_spaces(told)
    helping, being = told.words("auxiliaries"), told.words("being")
    kind_of = _kinds(code)

    def side_of(tokens: list[Token], start: int, end: int) -> VerbDirection:
        best: tuple[int, Side, bool] | None = None
        spoken = 0
        for index in range(max(0, start - _REACH), min(len(tokens), end + _REACH)):
            token = tokens[index]
            if start <= index < end or token.kind not in ("word", "mark"):
                continue
            spoken += token.kind == "word"
            side: Side | None = None
            kind = kind_of(token.lower, token.text)
            if (token.lower in helping or token.lower in being) and _helps(tokens, index, kind_of):
                side = "past"
            elif kind.future:
                side = "future"
            elif kind.past:
                side = "past"
            distance = start - index if index < start else index - end + 1
            if side is not None and (best is None or distance < best[0]):
                best = (distance, side, token.lower not in being)
        if best is not None:
            return VerbDirection(best[1], best[2])
        return VerbDirection("future", False, True) if spoken >= _SPOKEN else VerbDirection(None)

    return side_of


def _without_spaces(told: Language) -> Callable[[list[Token], int, int], VerbDirection]:
    """Where words are not apart the signs are looked for in the text itself, what is past first."""
    past, future = (re.compile("|".join(told.text(name).split())) for name in ("past", "future"))

    def side_of(tokens: list[Token], start: int, end: int) -> VerbDirection:
        around = (*tokens[max(0, start - _REACH) : start], *tokens[end : end + _REACH])
        text = "".join(token.lower for token in around)
        if past.search(text):
            return VerbDirection("past", True)
        return VerbDirection("future", True) if future.search(text) else VerbDirection(None)

    return side_of


def _helps(tokens: list[Token], index: int, kind_of: Callable[[str, str], Kind]) -> bool:
    """Whether a participle is near: "hat … gekauft", "ai vu"."""
    near = tokens[max(0, index - _WITHIN) : index + _WITHIN]
    return any(kind_of(token.lower, token.text).participle for token in near if token.kind == "word")


class Kind(NamedTuple):
    """What a word may be to a verb."""

    future: bool
    past: bool
    participle: bool


@cache
def _kinds(code: str) -> Callable[[str, str], Kind]:
    """What a word tells, kept for the words that come again."""
    told = language(code)
    future, past, participle = (_matcher(told, name) for name in ("future", "past", "participles"))

    @lru_cache(maxsize=1 << 14)
    def kind_of(word: str, written: str) -> Kind:
        return Kind(future(word, written), past(word, written), participle(word, written))

    return kind_of


def _matcher(told: Language, name: str) -> Callable[[str, str], bool]:
    """Whether a word is one of them, or has one of the forms: `*ré`, `ge*t`, as they are written."""
    entries = told.text(name).lower().split()
    words = frozenset(fold(entry) for entry in entries if "*" not in entry)
    shapes = "|".join(re.escape(entry).replace(r"\*", r"\w*") for entry in entries if "*" in entry)
    shape = re.compile(rf"(?:{shapes})$") if shapes else None

    def matches(word: str, written: str) -> bool:
        if word in words:
            return True
        return shape is not None and len(word) >= _SHORTEST and shape.match(written.lower()) is not None

    return matches
