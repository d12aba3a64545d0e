"""Detects the language of a sentence by counting the frequent words and time words of each language."""

from __future__ import annotations

import re
from collections import Counter
from functools import cache
from typing import Literal

from everwhen_time.languages import plainly_english
from everwhen_time.languages.fold import fold
from everwhen_time.languages.language import codes, language
from everwhen_time.lexicon import WORDS as ENGLISH_WORDS
from everwhen_time.word_lists import english_words

_LISTS = english_words("english")
_ENGLISH = _LISTS["english"]
_FIGURES = frozenset("0123456789")
_FAR = 1  # a language that is so much behind the best is tried where the best finds nothing
_LEAD = 2  # what is nearly as much English is English
_SHORT = 3
_SIGNS = 2  # words that it takes to be sure
_SURE = 2  # from this lead on, the sentence is not read as English


Verdict = Literal["perhaps", "likely", "surely"]


@cache
def spaced() -> tuple[str, ...]:
    """The languages that write words apart."""
    return tuple(code for code in codes() if language(code).spaced)


@cache
def signals() -> frozenset[str]:
    """Every time word of every language, English too, as words are compared."""
    return frozenset(_time_words())


@cache
def _cues() -> dict[str, tuple[tuple[str, int], ...]]:
    """Word to the languages that it speaks for: the fewer have it, the more it says. "Sept", seven in French, is a
    month in English as well."""
    sets = {code: language(code).cues for code in spaced()} | {"en": _ENGLISH}
    for code in spaced():
        sets[code] = sets[code] - (language(code).words("numbers") & _english_times())
        plain = {fold(word) for word in sets[code] if len(word) > 2}  # people leave accents out
        sets[code] = sets[code] | plain
    return _weighed(sets)


@cache
def _time_words() -> dict[str, tuple[tuple[str, int], ...]]:
    return _weighed({code: language(code).signals for code in spaced()} | {"en": _english_times()})


@cache
def _english_times() -> frozenset[str]:
    return frozenset(
        word
        for word, senses in ENGLISH_WORDS.items()
        if any(category not in ("<num>", "<digit>", "<tens>", "<zone>") for category, _, _ in senses)
    )


def _weighed(sets: dict[str, frozenset[str]]) -> dict[str, tuple[tuple[str, int], ...]]:
    owners: dict[str, list[str]] = {}
    for code, words in sets.items():
        for word in words:
            owners.setdefault(word, []).append(code)
    return {word: tuple((code, max(1, 4 - len(found))) for code in found) for word, found in owners.items()}


def spoken(
    words: frozenset[str], folded: frozenset[str], languages: tuple[str, ...] | None
) -> tuple[list[str], Verdict]:
    """The languages other than English that a sentence may be in, best first, and how sure that is.

    `words` are as written but small, `folded` without accents.
    """
    figures = not _FIGURES.isdisjoint(words)
    if not figures and signals().isdisjoint(folded):
        return [], "perhaps"
    asked = None if languages is None else [code for code in languages if code in spaced()]
    if asked == []:
        return [], "perhaps"
    score, told, timed = _scores(words, folded)
    english = score.pop("en", 0) if languages is None or "en" in languages else 0
    timed.discard("en")
    if asked is not None:
        likely = sorted(asked, key=lambda code: -score[code])
        return likely, "surely" if english < max(score[code] for code in asked) else "likely"
    if figures:
        timed |= score.keys()
    best = max((score[code] for code in timed), default=0)
    top = max(score.values(), default=0)
    if not best or best < top - _FAR or (english and best < english - _FAR):
        sure = _verdict(top, english) == "surely" and max(told.values()) >= _SIGNS
        return [], "surely" if sure else "perhaps"
    likely = sorted(
        (code for code in timed if score[code] >= best - _FAR), key=lambda code: (-score[code], code)
    )
    verdict = _verdict(best, english)
    if verdict == "surely" and told[likely[0]] < _SIGNS:
        verdict = "likely"  # one word may be a name: www.example.com
    if (
        verdict == "perhaps"
        and best >= english
        and any(word in _time_words() and _is_foreign(word) for word in folded)
    ):
        verdict = "likely"  # "in juni trouwen we": half of it may be English, but not its time
    return likely[:3], verdict


def _scores(words: frozenset[str], folded: frozenset[str]) -> tuple[Counter[str], Counter[str], set[str]]:
    """How much the words speak for each language, how many do, and the languages that have a word of time there."""
    score: Counter[str] = Counter()
    told: Counter[str] = Counter()
    timed: set[str] = set()
    cues, times = _cues(), _time_words()
    for word in words | folded:
        for code, weight in cues.get(word, ()):
            score[code] += weight
            told[code] += 1
    for word in folded:
        for code, weight in times.get(word, ()):
            score[code] += weight
            told[code] += 1
            timed.add(code)
    return score, told, timed


def _is_foreign(word: str) -> bool:
    """Whether a time word is none in English, and long enough to be no other English word."""
    return len(word) > _SHORT and word not in ENGLISH_WORDS and word not in _ENGLISH


def _verdict(score: int, english: int) -> Verdict:
    if english and score < english + _LEAD:
        return "perhaps"
    return "surely" if score >= english + _SURE else "likely"


def in_figures(words: frozenset[str], points: bool) -> str | None:
    """A language that has every word beside the figures: short weekdays, o'clock, or with points no word at all."""
    letters = [word for word in words if not word.isdigit()]
    known = (code for code in spaced() if letters or (points and language(code).flag("points")))
    return next((code for code in known if all(word in _short(code) for word in letters)), None)


@cache
def _short(code: str) -> frozenset[str]:
    return language(code).words("short_weekdays") | language(code).words("oclock")


def language_of(text: str) -> str | None:
    """The language that a text is in by its frequent words; None for English and where nothing tells."""
    if signed := unspaced(text, 0, len(text), None):
        return signed[0]
    words = frozenset(re.findall(r"[^\W\d_]+", text.lower()))
    if text.isascii() and plainly_english(text, (0, len(text)), words):
        return None
    score, _, _ = _scores(words, frozenset(map(fold, words)))
    english = score.pop("en", 0)
    best = max(score, key=lambda code: (score[code], code), default=None)
    return best if best is not None and score[best] >= english + _LEAD else None


_KANA = re.compile(r"[\u3040-\u30ff]")
_CHINESE = re.compile(r"[的了是我你他们這这那吗呢很不也都就和吧请说]")
_HAN = re.compile(r"[\u4e00-\u9fff]")


def unspaced(text: str, start: int, end: int, languages: tuple[str, ...] | None) -> list[str]:
    """Of the languages without spaces those that the characters allow."""
    if text.isascii() or not (_HAN.search(text, start, end) or _KANA.search(text, start, end)):
        return []
    found = ["zh"] if _CHINESE.search(text, start, end) else ["zh", "ja"]
    if _KANA.search(text, start, end):
        found = ["ja"]
    return [code for code in found if languages is None or code in languages]
