"""Other languages behind the same function: de, es, fr, it, pt, nl, zh and ja.

Only sentences that carry a time word of the language are looked at. Written dates that the grammar does not
know (abbreviated months, further languages named by the caller) go to `dateparser`, span by span.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable
from functools import cache

from everwhen.when.calendar import Unit
from everwhen.when.chart import Item, RuleBook, parse
from everwhen.when.cycles import Months, Season, Weekday, Weekend
from everwhen.when.languages import cjk
from everwhen.when.languages.grammar import book
from everwhen.when.languages.tables import TABLES, Table
from everwhen.when.meaning import Days, PartOfDay, UnitAt
from everwhen.when.offsets import Beside
from everwhen.when.tokens import Token, tokenize, word_set

Sense = tuple[str, Hashable, bool]
_UNITS: tuple[Unit, ...] = ("second", "minute", "hour", "day", "week", "month", "year")
_SEASONS = ("spring", "summer", "autumn", "winter")
_PARTS = ("morning", "afternoon", "evening", "night")
_PHRASES: dict[str, tuple[str, Hashable]] = {
    "weekend": ("<cycle>", Weekend()),
    "last night": ("<day>", PartOfDay("night", UnitAt("day", -1))),
    "this morning": ("<day>", PartOfDay("morning", UnitAt("day"))),
    "this afternoon": ("<day>", PartOfDay("afternoon", UnitAt("day"))),
    "this evening": ("<day>", PartOfDay("evening", UnitAt("day"))),
    "tonight": ("<day>", PartOfDay("night", UnitAt("day"))),
    "afternoon": ("<part>", "afternoon"),
    "day before yesterday": ("<day>", Beside("day", -1, UnitAt("day", -1))),
    "day after tomorrow": ("<day>", Beside("day", 1, UnitAt("day", 1))),
}


@cache
def lexicon(code: str) -> dict[str, list[Sense]]:
    """Word to senses, for one language."""
    table = _table(code)
    words: dict[str, list[Sense]] = {}

    def add(category: str, value: Hashable, spellings: tuple[str, ...], bare: bool = False) -> None:
        for word in spellings:
            if word:
                words.setdefault(word, []).append((f"<{category}>", value, bare))

    for index, spellings in enumerate(table.entries("months"), 1):
        add("month", index, spellings)
        add("cycle", Months(index), spellings, bare=True)
    for index, spellings in enumerate(table.entries("weekdays")):
        add("weekday", index, spellings)
        add("cycle", Weekday(index), spellings, bare=code == "pt" and index < 5)
    for index, spellings in enumerate(table.entries("days")):
        add("day", UnitAt("day", index - 2), spellings)
    for unit, spellings in zip(_UNITS, table.entries("units"), strict=True):
        add("unit", unit, spellings)
    for name, spellings in zip(_SEASONS, table.entries("seasons"), strict=True):
        add("cycle", Season(name), spellings, bare=True)
    for index, spellings in enumerate(table.entries("numbers"), 1):
        add("num", index, spellings)
    for part, spellings in zip(_PARTS, table.entries("parts"), strict=True):
        add("part", part, spellings)
    for category, name in {
        "last": "last", "next": "next", "this": "this", "ago": "ago_before", "ago-after": "ago_after",
        "ahead": "ahead", "within": "within", "on": "on", "of": "of", "since": "since", "until": "until",
        "start": "start", "to": "to", "few": "few", "early": "early", "late": "late",
    }.items():  # fmt: skip
        add(category, name, table.words(name))
    add("recently", Days(-14, 0), table.words("recently"))
    add("cycle", Weekend(), (table.weekend,), bare=True)
    for phrase, english in table.phrases.items():
        if " " not in phrase:
            category, value = _PHRASES[english]
            words.setdefault(phrase, []).append((category, value, False))
    return words


def _table(code: str) -> Table:
    return next(table for table in TABLES if table.code == code)


@cache
def strong_words(code: str) -> frozenset[str]:
    """Time words of the language that mean nothing in English."""
    from everwhen.when.lexicon import WORDS as ENGLISH

    table = _table(code)
    names = ("months", "weekdays", "days", "units", "seasons", "recently")
    found = {word for name in names for word in table.words(name)} | {table.weekend}
    found |= {phrase.split()[0] for phrase in table.phrases}
    return frozenset(word for word in found if len(word) > 1) - frozenset(ENGLISH) - _ENGLISH_LOOKALIKES


# Real English words (or names) that are time words elsewhere: they need a second sign of the language.
_ENGLISH_LOOKALIKES = word_set(
    """mars mai an ans mes ora ore die tag juli juni hora lunes sera notte estate autumn minute seconde laatst
    ano anno mayo marzo segunda quarta quinta sexta domingo date verse morgen mei dias dag uur fin week
    weekend winter minuten jour jours mois sabato agosto hier fine après avant ete"""
)


@cache
def _shared_words(code: str) -> frozenset[str]:
    """Time words that are spelled as in English, or like another English word."""
    table = _table(code)
    names = ("months", "weekdays", "days", "units", "seasons")
    words = {word for name in names for word in table.words(name)} | {table.weekend}
    words |= {phrase.split()[0] for phrase in table.phrases}
    return frozenset(words) - strong_words(code)


@cache
def _cues(code: str) -> frozenset[str]:
    return frozenset(_table(code).cues.split())


@cache
def any_signal() -> frozenset[str]:
    """Every time word of every language."""
    return frozenset(
        word for table in TABLES for word in (*strong_words(table.code), *_shared_words(table.code))
    )


@cache
def _signs(code: str) -> frozenset[str]:
    """Words that show the language, though none of them is a time by itself."""
    table = _table(code)
    names = ("last", "next", "this", "ago_before", "ago_after", "since", "until", "parts", "few", "future")
    return (_cues(code) | {word for name in names for word in table.words(name)}) - _ENGLISH_SMALL_WORDS


_ENGLISH_SMALL_WORDS = word_set(
    "in over den die am an a as no do on to at will van tot op een per fine fa bis"
)


@cache
def any_sign() -> frozenset[str]:
    """Every word that may show another language in a text."""
    return any_signal() | frozenset(word for table in TABLES for word in _signs(table.code))


def candidates(words: frozenset[str], languages: tuple[str, ...] | None) -> list[str]:
    """Languages whose time words are among the words of a sentence.

    A word that English has as well counts only beside another sign of the language; numbers beside two.
    """
    digits = not words.isdisjoint("0123456789")
    if not digits and words.isdisjoint(any_signal()):
        return []
    found = []
    for table in TABLES:
        code = table.code
        if languages is not None and code not in languages:
            continue
        signs = len(words & _signs(code)) + (2 if languages is not None else 0)
        if (
            not words.isdisjoint(strong_words(code))
            or (signs >= 1 and not words.isdisjoint(_shared_words(code)))
            or (signs >= 2 and digits)
        ):
            found.append(code)
    return found


def looks_ahead(words: frozenset[str], code: str) -> bool:
    """Whether a verb of the sentence speaks of the future."""
    return code != "cjk" and not words.isdisjoint(_table(code).words("future"))


_ELISION = re.compile(r"^(l|d|quest|dell|nell|all|dall|sull|un|jusqu|qu|s)'(.+)$")


def phrases(text: str, start: int, end: int, code: str) -> tuple[list[Token], list[Item]]:
    """The tokens of a sentence and every phrase that the language's grammar finds in it."""
    if code == "cjk":
        cut = cjk.tokenize(text[start:end])
        tokens = [token._replace(start=token.start + start, end=token.end + start) for token in cut]
        return tokens, parse(tokens, _grammar(), cjk.senses)
    tokens = [piece for token in tokenize(text, start, end) for piece in _without_elision(token)]
    return tokens, parse(tokens, _grammar(), _reader(code))


def _without_elision(token: Token) -> list[Token]:
    """`l'estate` is two words."""
    match = _ELISION.match(token.lower) if token.kind == "word" and "'" in token.lower else None
    if match is None or token.lower in _WHOLE:
        return [token]
    cut = len(match[1]) + 1
    return [
        Token("word", token.lower[:cut], token.text[:cut], token.start, token.start + cut),
        Token("word", token.lower[cut:], token.text[cut:], token.start + cut, token.end),
    ]


_WHOLE = frozenset({"l'altro", "l'altroieri"})


@cache
def _grammar() -> RuleBook:
    """The shared rules and the fixed phrases of all the languages."""
    fixed = RuleBook()
    for table in TABLES:
        for phrase, english in table.phrases.items():
            category, value = _PHRASES[english]
            if " " in phrase:
                fixed.rule(phrase, gives=category.strip("<>"))(_constant(value))
    return book.extended(fixed)


def _constant(value: Hashable) -> Callable[[], Hashable]:
    def phrase() -> Hashable:
        return value

    return phrase


_SMALL_MONTHS = frozenset({"es", "fr", "it", "pt"})


@cache
def _reader(code: str) -> Callable[[list[Token], int], list[Sense]]:
    words = lexicon(code)

    def senses(tokens: list[Token], index: int) -> list[Sense]:
        token = tokens[index]
        if token.kind == "number":
            return _number(token.lower)
        name = code in _SMALL_MONTHS and index > 0 and token.text[0].isupper()
        if name and tokens[index - 1].kind == "word":
            return []  # Rio de Janeiro: these languages write months and weekdays small
        return words.get(token.lower, [])

    return senses


def _number(text: str) -> list[Sense]:
    value = int(text) if len(text) <= 4 else 0
    found: list[Sense] = [("<num>", value, False)] if value else []
    if 1 <= value <= 31 and len(text) <= 2:
        found.append(("<daynum>", value, False))
    if 1000 <= value <= 2199:
        found.append(("<year>", value, True))
    return found
