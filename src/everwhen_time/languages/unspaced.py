"""Tokens of languages without spaces: numbers with their signs, then the longest words in the data file."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime
from functools import cache

from everwhen_time.bounded import full_year
from everwhen_time.cycles import Months
from everwhen_time.languages.fold import fold
from everwhen_time.languages.language import Sense, language
from everwhen_time.languages.word_tokens import NUMERIC
from everwhen_time.meaning import Clock, Fixed
from everwhen_time.tokenizer import Token

_DIGITS = {mark: value for value, mark in enumerate("〇一二三四五六七八九")} | {
    "零": 0,
    "两": 2,
    "兩": 2,
    "元": 1,
}
_N = r"(?:\d{1,2}|[一二两兩三四五六七八九]?十[一二三四五六七八九]?|[一二两兩三四五六七八九])"
_ERAS = {"令和": 2018, "平成": 1988, "昭和": 1925, "大正": 1911, "明治": 1867, "民国": 1911, "民國": 1911}
_SIGNS = {*"一二两兩三四五六七八九十〇零正元廿第年月", *(name[0] for name in _ERAS)}
"""What a number or a form may begin with, beside digits."""
_FORMS = rf"""
  (?P<era>(?:{"|".join(_ERAS)})\s?(?:\d{{1,2}}|元|{_N})年)
| (?P<decade>(?:(?:19|20)?\d0|[二三四五六七八九]十)年代)
| (?P<year>(?:(?<!\d)(?:1[5-9]|20|21)\d\d|[一二][〇零一二三四五六七八九]{{3}}|(?<!\d)[5-9]\d)\s?年(?![间間ぶ前后後])
    |(?<!\d)\d\d年(?=\s?(?:1[0-2]|[1-9])月)|(?<!\d)(?:1[5-9]|20|21)\d\d年(?=[前后後]))
| (?P<ymd>(?<!\d)\d{{4}}(?P<s1>[-/.])\d{{1,2}}(?P=s1)\d{{1,2}}(?!\d))
| (?P<dmy>(?<!\d)\d{{1,2}}(?P<s2>[-/.])\d{{1,2}}(?P=s2)\d{{4}}(?!\d))
| (?P<month>(?<![\d第十])(?:1[0-2]|0?[1-9]|十[一二]?|[一二三四五六七八九]|正)\s?月(?![前后後間间]))
| (?P<day>(?<=月)(?:[12]\d|3[01]|0?[1-9]|三?二?十[一二三四五六七八九]?|[一二三四五六七八九])[日号號](?![间間])
    |(?<![\d第十])(?:[12]\d|3[01]|0?[1-9]|二?十[一二三四五六七八九]?|三十一?|廿[一二三四五六七八九]?
    |[一二三四五六七八九])\s?[日号號](?![间間内前後后线線楼樓门門房院台店室机館馆口]|以内|之内))
| (?P<clock>(?<!\d)\d{{1,2}}:\d\d(?::\d\d)?(?!\d)
    |(?<!\d){_N}\s?[点點時时](?![间間候])(?:半|一刻|三刻|{_N}\s?分|[一二三四五]?十[一二三四五六七八九]?分?)?)
| (?P<nth>第\s?(?:\d{{1,2}}|{_N}))
| (?P<slash>(?<![\d/])\d{{1,2}}/\d{{1,2}}(?![\d/]))
| (?P<glued>\d+[a-z%℃][\w]*)
"""


@cache
def _pattern(code: str) -> re.Pattern[str]:
    told = language(code)
    fixed = {
        word
        for patterns in told.orders.values()
        for pattern in patterns
        for element in pattern.split()
        for word in element.rstrip("?").split("|")
        if not word.startswith("<")
    }
    words = {word for word in (*told.senses, *told.words("names"), *fixed) if word}
    word = "|".join(map(re.escape, sorted(words, key=lambda one: (-len(one), one))))
    # Most signs begin nothing: they are passed over before the forms and the words are tried on them.
    first = re.escape("".join(sorted({*_SIGNS, *(one[0] for one in words)})))
    form = rf"{_FORMS}|(?P<word>{word})|(?P<number>\d+|{_N})|(?P<mark>\S)"
    return re.compile(rf"\s*+(?:(?P<plain>[^\s\d{first}])|{form})", re.VERBOSE)


def tokenize(text: str, start: int, end: int, code: str) -> list[Token]:
    """The words of a text without spaces, longest first."""
    piece = text[start:end]
    plain, names = fold(piece), language(code).words("overlaps")
    found = []
    for match in _pattern(code).finditer(plain):
        kind = match.lastgroup or "mark"
        first, last = match.span(kind)
        lower = match[kind]
        kind = "mark" if kind == "plain" else kind
        if kind == "word" and last - first > 1 and plain[last - 1 : last + 1] in names:
            kind = "name"  # 李明天生: the word's last sign belongs to the next word
        found.append(Token(kind, lower, piece[first:last], start + first, start + last))
    return found


@cache
def reader(code: str) -> Callable[[list[Token], int], list[Sense]]:
    """What a token may be in the language."""
    known = cache(language(code).senses_of)

    def senses(tokens: list[Token], index: int) -> list[Sense]:
        token = tokens[index]
        if token.kind == "word":
            return known(token.lower)
        reads = _NUMERIC.get(token.kind)
        try:
            return reads(token.lower) if reads else []
        except ValueError:
            return []

    return senses


def read_number(text: str) -> int:
    """十二 is 12, 二十 is 20, 二〇一九 is 2019; digits are themselves."""
    text = text.strip().replace("廿", "二十")
    if text.isdecimal():
        return int(text)
    if "十" in text:
        tens, _, ones = text.partition("十")
        return _DIGITS.get(tens, 1) * 10 + _DIGITS.get(ones, 0)
    return int("".join(str(_DIGITS[mark]) for mark in text))


def _year(text: str) -> list[Sense]:
    value = read_number(text[:-1])
    return [("<year>", full_year(value, 2030), False)]


def _era(text: str) -> list[Sense]:
    return [("<year>", _ERAS[text[:2]] + read_number(text[2:-1]), False)]


def _month(text: str) -> list[Sense]:
    value = 1 if text[0] == "正" else read_number(text[:-1])
    return [("<month>", value, False), ("<cycle>", Months(value), False)]


def _day(text: str) -> list[Sense]:
    return [("<daynum>", read_number(text[:-1]), False), ("<written-day>", read_number(text[:-1]), False)]


def _nth(text: str) -> list[Sense]:
    return [("<nth>", read_number(text[1:]), False)]


def _clock(text: str) -> list[Sense]:
    hour, _, rest = re.sub("[点點時时]", ":", text).partition(":")
    quarters = {"半": 30, "一刻": 15, "三刻": 45, "": None}
    minute = quarters[rest] if rest in quarters else read_number(re.split("[:分]", rest)[0])
    value = read_number(hour)
    return [("<clock>", Clock(value, minute, exact=True), True)] if value <= 24 and (minute or 0) < 60 else []


def _decade(text: str) -> list[Sense]:
    value = read_number(text[:-2])
    return [("<decade>", Fixed(datetime(value + 1900 if value < 100 else value, 1, 1), "decade"), False)]


def _number(text: str) -> list[Sense]:
    value = read_number(text) if len(text) <= 4 else 0
    return [("<num>", value, False)] if value else []


_NUMERIC: dict[str, Callable[[str], list[Sense]]] = {
    "era": _era,
    "year": _year,
    "month": _month,
    "day": _day,
    "nth": _nth,
    "clock": _clock,
    "decade": _decade,
    "number": _number,
    "ymd": lambda text: NUMERIC["ymd"](text, False),
    "dmy": lambda text: NUMERIC["dmy"](text, False),
    "slash": lambda text: NUMERIC["slash"](text, False),
}
