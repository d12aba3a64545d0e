"""The grammar of a language: how its texts become tokens, what each of them may be, and its rules."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Hashable, Iterator
from dataclasses import replace
from datetime import datetime
from functools import cache, partial

from everwhen_time.cycles import Cycle, Holiday, Months, Season, SlashDay, Weekday
from everwhen_time.holidays import is_holiday
from everwhen_time.language import (
    JOINING,
    InEnglish,
    Language,
    Sense,
    language,
)
from everwhen_time.lexicon import possible, read_number
from everwhen_time.lexicon import senses as english_senses
from everwhen_time.meaning import Clock, Fixed, Meaning
from everwhen_time.offsets import WrittenDate, full_year
from everwhen_time.parser import MARK, Lexicon, Rule, RuleBook, parse
from everwhen_time.rules import amounts, bounds, clocks, dates, parts, relative
from everwhen_time.tokens import Token, fold, tokenize, without_combining

_BOOKS = (relative.book, amounts.book, dates.book, parts.book, bounds.book, clocks.book)


@cache
def book_of(code: str) -> RuleBook:
    """The rules of a language, compiled at first use.

    English says all its word orders itself (`own_orders`), the others add theirs to those of the rules.
    """
    named = {name: rule for book in _BOOKS for name, rule in book.named.items()}
    spoken = language(code)
    rules = [] if spoken.flag("own_orders") else [rule for book in _BOOKS for rule in book.rules]
    for name, patterns in spoken.orders.items():
        rules += [replace(named[name], pattern=pattern) for pattern in patterns]
    for name, phrases in spoken.holidays.items():
        rules += [Rule("holiday", phrase, partial(Holiday, name), "cycle") for phrase in phrases]
    if spoken.spaced and not spoken.flag("own_orders"):
        rules += _phrases(spoken)
    return RuleBook(rules, JOINING)


def _phrases(spoken: Language) -> Iterator[Rule]:
    """Spellings of several tokens, each a rule of fixed words."""
    for spelling, senses in spoken.senses.items():
        words = [token.lower for token in tokenize_in(spelling, 0, len(spelling), spoken.code)]
        if len(words) > 1:
            for category, value, bare in senses:
                yield Rule("phrase", " ".join(words), partial(meant, value), category.strip("<>"), bare)


def meant(value: Hashable) -> Hashable:
    """The value of a word, or the meaning of the English expression that it is said by."""
    return meaning_of(value.expression) if isinstance(value, InEnglish) else value


@cache
def meaning_of(expression: str) -> Meaning:
    """What an English expression means: data files tell the meaning of holidays and fixed phrases so."""
    if is_holiday(expression.lower()):
        return Holiday(expression.lower())
    tokens = tokenize(expression)
    whole = [
        item.value
        for item in parse(tokens, book_of("en"), english_senses)
        if (item.start, item.end) == (0, len(tokens)) and item.category in ("<time>", "<cycle>", "<whole>")
    ]
    found = next((one for one in whole if isinstance(one, Cycle)), next(iter(whole), None))
    if not isinstance(found, Meaning):
        raise ValueError(f"the English grammar reads no time in {expression!r}")
    return found


def senses_of(spoken: Language, word: str) -> list[Sense]:
    """What a spelling may be, with the meanings that are given in English."""
    return [(category, meant(value), bare) for category, value, bare in spoken.senses.get(word, [])]


# Words written apart

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


def tokenize_in(text: str, start: int, end: int, code: str) -> list[Token]:
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
def word_reader(code: str) -> Callable[[list[Token], int], list[Sense]]:
    """What a token may be in the language, seen beside its neighbours."""
    spoken = language(code)

    def senses(tokens: list[Token], index: int) -> list[Sense]:
        token = tokens[index]
        if token.kind != "word":
            reads = _NUMERIC.get(token.kind)
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
    found = senses_of(language(code), word)
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
    licensed = near & {
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
    return bool(licensed or (near & {"<in>", "<on>"} and "<of>" not in near))


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


_NUMERIC: dict[str, Callable[[str, bool], list[Sense]]] = {
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


# Words that are not written apart: numbers with their signs, then the longest words in the data file

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
def _word_pattern(code: str) -> re.Pattern[str]:
    spoken = language(code)
    fixed = {
        word
        for patterns in spoken.orders.values()
        for pattern in patterns
        for element in pattern.split()
        for word in element.rstrip("?").split("|")
        if not word.startswith("<")
    }
    words = {word for word in (*spoken.senses, *spoken.words("names"), *fixed) if word}
    word = "|".join(map(re.escape, sorted(words, key=lambda one: (-len(one), one))))
    # Most signs begin nothing: they are passed over before the forms and the words are tried on them.
    first = re.escape("".join(sorted({*_SIGNS, *(one[0] for one in words)})))
    form = rf"{_FORMS}|(?P<word>{word})|(?P<number>\d+|{_N})|(?P<mark>\S)"
    return re.compile(rf"\s*+(?:(?P<plain>[^\s\d{first}])|{form})", re.VERBOSE)


def cut_into_words(text: str, start: int, end: int, code: str) -> list[Token]:
    """The words of a text without spaces, longest first."""
    piece = text[start:end]
    plain, names = fold(piece), language(code).words("overlaps")
    found = []
    for match in _word_pattern(code).finditer(plain):
        kind = match.lastgroup or "mark"
        first, last = match.span(kind)
        lower = match[kind]
        kind = "mark" if kind == "plain" else kind
        if kind == "word" and last - first > 1 and plain[last - 1 : last + 1] in names:
            kind = "name"  # 李明天生: the word's last sign belongs to the next word
        found.append(Token(kind, lower, piece[first:last], start + first, start + last))
    return found


@cache
def sign_reader(code: str) -> Callable[[list[Token], int], list[Sense]]:
    """What a token may be in the language."""
    known = cache(partial(senses_of, language(code)))

    def senses(tokens: list[Token], index: int) -> list[Sense]:
        token = tokens[index]
        if token.kind == "word":
            return known(token.lower)
        reads = _SIGN_FORMS.get(token.kind)
        try:
            return reads(token.lower) if reads else []
        except ValueError:
            return []

    return senses


def number_in_signs(text: str) -> int:
    """十二 is 12, 二十 is 20, 二〇一九 is 2019; digits are themselves."""
    text = text.strip().replace("廿", "二十")
    if text.isdecimal():
        return int(text)
    if "十" in text:
        tens, _, ones = text.partition("十")
        return _DIGITS.get(tens, 1) * 10 + _DIGITS.get(ones, 0)
    return int("".join(str(_DIGITS[mark]) for mark in text))


def _sign_year(text: str) -> list[Sense]:
    value = number_in_signs(text[:-1])
    return [("<year>", full_year(value, 2030), False)]


def _sign_era(text: str) -> list[Sense]:
    return [("<year>", _ERAS[text[:2]] + number_in_signs(text[2:-1]), False)]


def _sign_month(text: str) -> list[Sense]:
    value = 1 if text[0] == "正" else number_in_signs(text[:-1])
    return [("<month>", value, False), ("<cycle>", Months(value), False)]


def _sign_day(text: str) -> list[Sense]:
    return [
        ("<daynum>", number_in_signs(text[:-1]), False),
        ("<written-day>", number_in_signs(text[:-1]), False),
    ]


def _sign_nth(text: str) -> list[Sense]:
    return [("<nth>", number_in_signs(text[1:]), False)]


def _sign_clock(text: str) -> list[Sense]:
    hour, _, rest = re.sub("[点點時时]", ":", text).partition(":")
    quarters = {"半": 30, "一刻": 15, "三刻": 45, "": None}
    minute = quarters[rest] if rest in quarters else number_in_signs(re.split("[:分]", rest)[0])
    value = number_in_signs(hour)
    return [("<clock>", Clock(value, minute, exact=True), True)] if value <= 24 and (minute or 0) < 60 else []


def _sign_decade(text: str) -> list[Sense]:
    value = number_in_signs(text[:-2])
    return [("<decade>", Fixed(datetime(value + 1900 if value < 100 else value, 1, 1), "decade"), False)]


def _sign_number(text: str) -> list[Sense]:
    value = number_in_signs(text) if len(text) <= 4 else 0
    return [("<num>", value, False)] if value else []


_SIGN_FORMS: dict[str, Callable[[str], list[Sense]]] = {
    "era": _sign_era,
    "year": _sign_year,
    "month": _sign_month,
    "day": _sign_day,
    "nth": _sign_nth,
    "clock": _sign_clock,
    "decade": _sign_decade,
    "number": _sign_number,
    "ymd": lambda text: _NUMERIC["ymd"](text, False),
    "dmy": lambda text: _NUMERIC["dmy"](text, False),
    "slash": lambda text: _NUMERIC["slash"](text, False),
}


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
