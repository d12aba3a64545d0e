"""Tokens of languages that separate words by spaces, and the categories each may have."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from datetime import datetime
from functools import cache

from everwhen_time.bounded import WrittenDate
from everwhen_time.cycles import Months, Season, SlashDay, Weekday
from everwhen_time.languages.fold import fold, without_combining
from everwhen_time.languages.language import Language, Sense, language
from everwhen_time.lexicon import possible, read_number
from everwhen_time.meaning import Clock, Fixed
from everwhen_time.tokenizer import Token

_TOKEN = re.compile(
    r"""
\s*+(?:
  (?P<word>aujourd'hui(?!\w)|[^\W\d_](?:[^\W\d_]|[\u0300-\u036f])*+(?:'(?=[^\W\d_])|(?!\w)))
| (?P<quarter>[qtkhs][1-4](?!\w))
| (?P<price>[$€£¥₹₽]\s?\d[\d.,]* | \d[\d.,]*\s?[€$£¥₹₽%‰](?!\w))
| (?P<ymd>(?<![\d.])\d{4}(?P<s1>[-/.])\d{1,2}(?P=s1)\d{1,2}(?![\d]))
| (?P<phone>\+\d[\d\ ()-]{6,}\d)
| (?P<dmy>(?<![\d.,:])\d{1,2}(?P<s2>[-/.])\d{1,2}(?P=s2)(?:\d{4}(?!\d)|\d\d(?!\d|[-/.:]\d)))
| (?P<ym>(?<![\d.,/-])\d{4}[-/](?:1[0-2]|0?[1-9])(?![\w/-]))
| (?P<my>(?<![\w.,/-])(?:1[0-2]|0?[1-9])[-/](?:19|20)\d\d(?![\d/-]))
| (?P<version>\d+(?:\.\d+){2,}\.?)
| (?P<grouped>\d{1,3}(?:[.']\d{3})+(?!\d) | \d+,\d+)
| (?P<clock>(?<![\d.:])\d{1,2}:\d\d(?::\d\d)?(?![:\d])(?:\s?(?:h\b|[ap]\.?m\b\.?))?
    | \d{1,2}\s?(?:h\s?\d\d|h(?:s|rs)?|[ap]\.?m)(?!\w))
| (?P<dotted>(?<![\d.,])\d{1,2}\.\d{1,2}\.(?!\d))
| (?P<decimal>(?<![\d.,])\d{1,2}\.\d{1,2}(?!\d))
| (?P<slash>(?<![\d/])\d{1,2}/\d{1,2}(?![\d/]))
| (?P<decade>'?(?:1[5-9]|20)?\d0(?:-?(?:er|ern|ies|es|е|х|ые|ых)|'?s)(?!\w))
| (?P<shortyear>(?<![\w'])'\d\d(?![\w']))
| (?P<ordinal>\d{1,2}(?:\.?[ºª°]
    |-?(?:ere|er|re|eme|nde|nd|ste|de|r[ao]|d[ao]|t[ao]|v[ao]|m[ao]|[eoa]|го|ого|му|й|ый|ое|е|м|ом|я|ая|ю)(?!\w)))
| (?P<glued>\d+[^\W\d_]\w* | [^\W\d_]+[\d_]\w*)
| (?P<number>\d+)
| (?P<mark>'s(?=\s)|\S)
)
""",
    re.VERBOSE,
)


def tokenize(text: str, start: int, end: int, code: str) -> list[Token]:
    """The tokens between two positions; `lower` is how words are compared: small, without accents."""
    piece = text[start:end]
    dotted = language(code).dotted if code else frozenset()
    found: list[Token] = []
    for match in _TOKEN.finditer(fold(piece)):
        kind = match.lastgroup or "mark"
        first, last = match.span(kind)
        lower = match[kind]
        if kind == "word":
            lower = without_combining(lower)
        elif lower == "." and found and found[-1].lower in dotted and found[-1].end == start + first:
            found[-1] = found[-1]._replace(end=start + last)  # "3 dic. 2020": the point belongs to the word
            continue
        found.append(Token(kind, lower, piece[first:last], start + first, start + last))
    return found


@cache
def reader(code: str) -> Callable[[list[Token], int], list[Sense]]:
    """What a token may be in the language, seen beside its neighbours."""
    spoken = language(code)

    def senses(tokens: list[Token], index: int) -> list[Sense]:
        token = tokens[index]
        if token.kind != "word":
            reads = NUMERIC.get(token.kind)
            try:
                return reads(token.lower, index + 1 == len(tokens)) if reads else []
            except ValueError:
                return []
        found = _senses(code, token.lower)
        if not found or not (token.text.isascii() or _as_written(spoken, token.text)):
            return []
        before = tokens[index - 1] if index else None
        if before is not None and before.lower in spoken.unless_after.get(token.lower, ()):
            found = [sense for sense in found if sense[0] not in ("<day>", "<cycle>", "<said>")]
        if not token.text[0].isupper() or (token.text.isupper() and len(token.text) > 1):
            return found
        if spoken.flag("capital_nouns"):  # heute Morgen: the noun is the part of the day
            within = before is not None and before.kind == "word" and token.lower in spoken.unless_after
            return [sense for sense in found if sense[0] != "<day>"] if within else found
        return found if _no_name(code, tokens, index) else [one for one in found if not _named_small(one)]

    return senses


@cache
def _senses(code: str, word: str) -> list[Sense]:
    found = language(code).senses_of(word)
    number = _ROMAN.get(word)
    return [*found, ("<roman>", number, False)] if number else found


def _as_written(spoken: Language, text: str) -> bool:
    """Accents may be left out, but not put where the word has none: `está` is not `esta`."""
    word = unicodedata.normalize("NFC", text.lower()).replace("ё", "е")
    return word in spoken.accented or fold(word) == word


def _named_small(sense: Sense) -> bool:
    """Weekdays, months and seasons have small letters; feasts are names themselves."""
    return isinstance(sense[1], (Weekday, Months, Season))


def _no_name(code: str, tokens: list[Token], index: int) -> bool:
    """Whether a word with a capital may be a time in a language that writes time words small."""
    before = tokens[index - 1] if index else None
    after = tokens[index + 1] if index + 1 < len(tokens) else None
    if (
        after is not None
        and after.kind == "word"
        and after.text[0].isupper()
        and not _senses(code, after.lower)
    ):
        return False  # Mercredi Addams
    if before is not None and before.lower == "-" and before.end == tokens[index].start:
        return False  # la rue du 4-Septembre
    if before is None or before.kind not in ("word", "price", "glued"):
        return True
    if index > 1 and before.text[0].isupper():
        return False  # mevrouw De Winter
    near = _categories(code, before)
    if after is not None:
        near |= _categories(code, after) & {"<last>", "<next>", "<coming>"}
    told = near & {
        "<last>",
        "<next>",
        "<coming>",
        "<this>",
        "<nth>",
        "<position>",
        "<since>",
        "<until>",
        "<every>",
    }
    return bool(told or (near & {"<in>", "<on>"} and "<of>" not in near))


def _categories(code: str, token: Token) -> set[str]:
    return {category for category, _, _ in _senses(code, token.lower)} if token.kind == "word" else set()


_ROMANS = ["i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix", "x", "xi", "xii", "xiii", "xiv", "xv", "xvi",
           "xvii", "xviii", "xix", "xx", "xxi"]  # fmt: skip
_ROMAN = {
    roman + ending: number
    for number, roman in enumerate(_ROMANS, 1)
    for ending in ("", "e", "eme")
    if len(roman + ending) > 1
}


# Figures


def _quarter(text: str, _: bool) -> list[Sense]:
    number = int(text[1])
    if text[0] in "hs":
        return [("<quarterly>", Months(number * 6 - 5, "half"), True)] if number < 3 else []
    return [("<quarterly>", Months(number * 3 - 2, "quarter"), text[0] != "q")]


def _ymd(text: str, _: bool) -> list[Sense]:
    year, month, day = map(int, re.split("[-/.]", text))
    return [("<date>", Fixed(datetime(year, month, day), "day"), False)]


def _dmy(text: str, _: bool) -> list[Sense]:
    first, second, year = map(int, re.split("[-/.]", text))
    return [("<date>", WrittenDate(first, second, year), False)] if possible(first, second) else []


def _year_month(text: str, _: bool) -> list[Sense]:
    first, second = map(int, re.split("[-/]", text))
    year, month = max(first, second), min(first, second)
    return [("<whole>", Fixed(datetime(year, month, 1), "month"), False)] if 1500 <= year <= 2199 else []


def _dotted(text: str, last: bool) -> list[Sense]:
    first, second = map(int, text.strip(".").split("."))
    # "Am 27.11. komme ich": the second point says that it is a date, unless the sentence ends with it.
    return [("<dotted>", SlashDay(first, second), last)] if possible(first, second) else []


def _decimal(text: str, _: bool) -> list[Sense]:
    first, second = map(int, text.split("."))
    found: list[Sense] = [("<decimal>", SlashDay(first, second), True)] if possible(first, second) else []
    if first < 25 and second < 60 and len(text.split(".")[1]) == 2:
        found.append(("<decimal-clock>", Clock(first, second, exact=True), True))
    return found


def _slash(text: str, _: bool) -> list[Sense]:
    first, second = map(int, text.split("/"))
    return [("<slash>", SlashDay(first, second), True)] if possible(first, second) else []


def _clock(text: str, _: bool) -> list[Sense]:
    afternoon = text.rstrip(".").replace(".", "").endswith("pm")
    morning = text.rstrip(".").replace(".", "").endswith("am")
    numbers = [int(part) for part in re.findall(r"\d+", text)]
    if numbers[0] > 24 or any(number > 59 for number in numbers[1:]):
        return []
    hour = numbers[0] % 12 + 12 * afternoon if afternoon or morning else numbers[0]
    minute = numbers[1] if len(numbers) > 1 else None
    second = numbers[2] if len(numbers) > 2 else None
    return [("<clock>", Clock(hour, minute, second, exact=True), True)]


def _decade(text: str, _: bool) -> list[Sense]:
    year = int("".join(letter for letter in text if letter.isdigit()))
    if year < 100:
        year += 1900 if year >= 30 else 2000
    return [("<decade>", Fixed(datetime(year, 1, 1), "decade"), False)]


def _short_year(text: str, _: bool) -> list[Sense]:
    value = int(text[1:])
    return [("<year>", 1900 + value if value >= 40 else 2000 + value, True), ("<yy>", value, False)]


def _ordinal(text: str, _: bool) -> list[Sense]:
    value = int(re.match(r"\d+", text)[0])  # type: ignore[index]
    return [("<nth>", value, False), ("<figure-nth>", value, False)] if value else []


NUMERIC: dict[str, Callable[[str, bool], list[Sense]]] = {
    "number": lambda text, _: read_number(text),
    "quarter": _quarter,
    "ymd": _ymd,
    "dmy": _dmy,
    "ym": _year_month,
    "my": _year_month,
    "dotted": _dotted,
    "decimal": _decimal,
    "slash": _slash,
    "clock": _clock,
    "decade": _decade,
    "shortyear": _short_year,
    "ordinal": _ordinal,
}
