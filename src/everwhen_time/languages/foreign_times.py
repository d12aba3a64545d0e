"""Finds the times of a sentence in the other languages."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING

from everwhen_time.cycles import MonthDay
from everwhen_time.grammar import book_of
from everwhen_time.languages import unspaced as characters
from everwhen_time.languages.detect import Verdict, in_figures, spoken, unspaced
from everwhen_time.languages.fold import fold
from everwhen_time.languages.foreign_lookalikes import in_a_title, quotations, stands
from everwhen_time.languages.language import Sense, codes, language
from everwhen_time.languages.verbs import looker
from everwhen_time.languages.word_tokens import reader, tokenize
from everwhen_time.meaning import Context, Fixed, Meaning
from everwhen_time.parser import MARK, Item, Lexicon, parse
from everwhen_time.reference import TimeRef
from everwhen_time.tokenizer import Token

if TYPE_CHECKING:
    from dateparser.date import DateDataParser

Choose = Callable[..., list[TimeRef]]
_ROOTS = frozenset({"<time>", "<recurrence>"})
_WORDS = re.compile(r"(?<![^\W\d_]\d)[^\W\d_]+|\d")  # "HbA1c" has no French "c'"
_LENGTH = re.compile(r"\W*\d+\s?(?:h\d*|min)\W*")  # "2h" alone is a length, as in English
_FIGURES = re.compile(r"\d")
_POINTS = re.compile(r"\d\.\s?-?\d")


def read(
    text: str,
    sentence: tuple[int, int],
    words: frozenset[str],
    ctx: Context,
    languages: tuple[str, ...] | None,
    choose: Choose,
) -> tuple[list[TimeRef], Verdict]:
    """The times of a sentence in the language that its words tell, or in those that are asked for; and how sure it is
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
        )  # 27.11.2017: no word tells the language, but the points tell the order
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
    told = language(code)
    if told.spaced:
        tokens, senses = tokenize(text, start, end, code), reader(code)
    else:
        tokens, senses = characters.tokenize(text, start, end, code), characters.reader(code)
    items = parse(tokens, book_of(code), near_times(tokens, senses))
    roots = [item for item in items if item.category in _ROOTS]
    if not roots:
        return []
    roots.sort(
        key=lambda item: -getattr(item.value, "confidence", 1.0)
    )  # of two as long, the likelier comes first
    day_first = ctx.conventions.day_first

    quoted = quotations(text, start, end)

    def accept(item: Item, around: list[Token]) -> bool:
        return stands(item, around, told, day_first) and not in_a_title(item, around, quoted)

    conventions = replace(ctx.conventions, day_first=day_first or told.flag("day_first"))
    return choose(text, tokens, roots, replace(ctx, conventions=conventions), accept, looker(code))


_AHEAD, _BEHIND = 5, 7  # how far before and behind a word of time the words that join it may stand
_JOINED = frozenset({"<num>", "<nth>", "<tens>", "<position>"})


def near_times(tokens: list[Token], senses: Lexicon) -> Lexicon:
    """The same senses, but words that only join or count are passed over where no time is near."""
    found = [senses(tokens, index) for index in range(len(tokens))]
    alive: set[int] = set()
    for index, meanings in enumerate(found):
        figures = tokens[index].kind != "word"
        if meanings and (figures or any(one[1] is not MARK and one[0] not in _JOINED for one in meanings)):
            alive.update(range(index - _AHEAD, index + _BEHIND + 1))

    def kept(_: list[Token], index: int) -> list[Sense]:
        return found[index] if index in alive else []

    return kept


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
