"""English words and their possible categories, and what a numeric token may mean."""

from __future__ import annotations

import re
from collections.abc import Hashable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from everwhen_time.calendar import Unit
from everwhen_time.cycles import Months, Season, SlashDay, Weekday, Weekend
from everwhen_time.interval import parse_interval
from everwhen_time.meaning import Clock, Days, Fixed, Instants, UnitAt
from everwhen_time.offsets import Amount, Count, WrittenDate
from everwhen_time.tokens import Token, english_words, word_table

Sense = tuple[str, Hashable, bool]  # category, value, whether it is too ambiguous to stand alone
_ENGLISH: dict[str, Any] = word_table(Path(__file__).parent / "languages" / "en.toml")["words"]


def _list(entry: str) -> list[str]:
    words: str = _ENGLISH[entry]
    return words.split()


def _numbered(entry: str, first: int) -> dict[str, int]:
    """Words in the order of the calendar, with their numbers."""
    groups = _ENGLISH[entry].split("|")
    return {word: number for number, group in enumerate(groups, first) for word in group.split()}


def _meaning_by_word(entry: str) -> dict[str, str]:
    """Words with the name of what they mean."""
    return {word: name for name, words in _ENGLISH[entry].items() for word in words.split()}


ONES, TEENS, TENS = _list("ones"), _list("teens"), _list("tens")
# Words that count, the categories of each, the number of the first and the step to the next.
_COUNTED = (
    (ONES, ("digit", "num"), 1, 1),
    (TEENS, ("num",), 10, 1),
    (TENS, ("tens", "num"), 20, 10),
    (_list("nth_ones"), ("nth-ones", "nth"), 1, 1),
    (_list("nth_teens"), ("nth",), 10, 1),
    (_list("decades"), ("decade-word",), 1920, 10),
)
MONTHS = _numbered("months", 1)
PLAIN_MONTHS = frozenset(_list("plain_months"))
WEEKDAYS = _numbered("weekdays", 0)
MISSPELT = {wrong: right for right, ways in english_words("misspelt").items() for wrong in ways}
SEASON_WORDS = _meaning_by_word("seasons")
UNITS: dict[str, Unit] = _meaning_by_word("units")  # type: ignore[assignment]
DAY_PARTS = _meaning_by_word("parts")
ZONES: dict[str, int] = _ENGLISH["zones"]


def _senses_by_word() -> dict[str, list[Sense]]:
    table: dict[str, list[Sense]] = {}

    def add(word: str, category: str, value: Hashable, bare: bool = False) -> None:
        table.setdefault(word, []).append((f"<{category}>", value, bare))

    for words, categories, first, step in _COUNTED:
        for index, word in enumerate(words):
            for category in categories:
                add(word, category, first + index * step)
    add("thirtieth", "nth", 30)
    for word, month in MONTHS.items():
        add(word, "month", month)
        add(word, "cycle", Months(month), word not in PLAIN_MONTHS)
    for word, day in WEEKDAYS.items():
        add(word, "weekday", day)
        add(word, "cycle", Weekday(day), not word.endswith("day"))
        if word.endswith("day"):
            add(word + "s", "weekdays", day)
    add("weekend", "weekend", Weekend())
    add("weekends", "weekends", Weekend())
    for word, name in SEASON_WORDS.items():
        add(word, "cycle", Season(name), True)
        add(word, "season", name)
    add("summers", "season", "summer")
    add("winters", "season", "winter")
    for word, unit in UNITS.items():
        add(word, "unit", unit)
        add("centuries" if unit == "century" else word + "s", "units", unit)
    add("mos", "units", "month")
    for word, part in DAY_PARTS.items():
        add(word, "daypart", part)
        add(word + "s", "dayparts", part)
    for word, offset in ZONES.items():
        add(word, "zone", offset)
    for word, day in {"today": 0, "yesterday": -1, "tomorrow": 1, "yday": -1, "tmrw": 1, "tmr": 1}.items():
        add(word, "day", UnitAt("day", day))
    add("otd", "day", UnitAt("day", 0))
    for word in ("recently", "lately"):
        add(word, "vague", Days(-14, 0))
    add("soon", "vague", Days(0, 14))
    table.update({wrong: table[right] for wrong, right in MISSPELT.items()})
    return table


WORDS = _senses_by_word()
# Abbreviations that are also words count only where a neighbour says so.
_SHY = frozenset({"sun", "sat", "wed", "mon", "mar", "sec", "min", "fri"})
_LISTS = english_words("lexicon")
_INVITING = _LISTS["inviting"]


def senses(tokens: list[Token], index: int) -> list[Sense]:
    """What the token may be, seen beside its neighbours."""
    token = tokens[index]
    if token.kind == "word":
        found = WORDS.get(token.lower)
        if found is None:
            return []
        if token.lower in _SHY and not token.text[0].isupper() and not _invited(tokens, index):
            return []
        if token.text == "may" and _is_verb(tokens, index):
            return []
        return found
    if token.kind == "glued" and not token.text.islower() and len(token.text) != len("1500H"):
        return []  # 9H is a pencil
    reader = _NUMERIC.get(token.kind)
    try:
        return reader(token.lower) if reader else []
    except (ValueError, OverflowError):  # not a date after all: 2023-19-45
        return []


def _is_verb(tokens: list[Token], index: int) -> bool:
    """Whether a small "may" permits rather than dates: "this may help", "we may go in may"."""
    before = tokens[index - 1].lower if index else ""
    following = tokens[index + 1] if index + 1 < len(tokens) else None
    if following is None or following.kind != "word":
        return False
    return following.lower in _AFTER_MAY or before in ("this", "that")


_AFTER_MAY = _LISTS["after_may"]


def _invited(tokens: list[Token], index: int) -> bool:
    before = tokens[index - 1].lower if index else ""
    after = tokens[index + 1].kind if index + 1 < len(tokens) else ""
    if len(tokens) == 1 and tokens[0].lower in WEEKDAYS:
        return True
    return before in _INVITING or before.isdigit() or after in ("number", "ordinal", "slash")


def read_number(text: str) -> list[Sense]:
    """What plain figures may be in any language."""
    if len(text) > 4:
        return []
    value = int(text)
    found: list[Sense] = [("<num>", value, False)]
    if len(text) <= 2 and 1 <= value <= 31:
        found.append(("<daynum>", value, False))
    if len(text) == 2:
        found.append(("<yy>", value, False))
    if 1000 <= value <= 2199 and len(text) == 4:
        found.append(("<year>", value, True))
    return found


def _number(text: str) -> list[Sense]:
    found = read_number(text)
    if len(text) == 4 and is_time(int(text)):
        found.append(("<hhmm>", Clock(int(text) // 100, int(text) % 100, exact=True), True))
    return found


_OUR_YEARS = range(1500, 2200)


def is_clock(figures: int) -> bool:
    """Whether four figures beside a day are a time of day: 1100, as no year of ours is called that."""
    return figures not in _OUR_YEARS and is_time(figures)


def is_time(figures: int) -> bool:
    """Whether four figures can be read as hours and minutes."""
    return figures // 100 < 24 and figures % 100 < 60


def _ordinal(text: str) -> list[Sense]:
    value = int(text[:-2])
    return [("<nth>", value, False), ("<ordinal>", value, True)] if 1 <= value <= 99 else []


def _decimal(text: str) -> list[Sense]:
    whole, part = text.split(".")
    found: list[Sense] = [("<num>", float(text), False)]
    if len(whole) <= 2 and len(part) <= 2 and possible(int(whole), int(part)):
        found.append(("<dotted>", SlashDay(int(whole), int(part)), True))
    if len(whole) <= 2 and int(whole) <= 24 and len(part) == 2 and int(part) < 60:
        found.append(("<hh.mm>", Clock(int(whole), int(part), exact=int(whole) > 12), True))
    return found


_AMOUNT = re.compile(
    r"(\d+)(?:(h(?:(?:ou)?rs?)?)(?:(\d\d?)m?(?:ins?)?)?|(min(?:ute)?s?|sec(?:ond)?s?|days?|wee?ks?|wks?|months?|mos|mths?|"
    r"years?|yrs?)|([dwmy]))"
)
_LETTERS: dict[str, Unit] = {
    "d": "day", "w": "week", "y": "year", "s": "second", "mo": "month", "mt": "month", "m": "minute",
}  # fmt: skip


def _glued(text: str) -> list[Sense]:
    """A number and its unit without a space: 2h, 30min, 1h30, 3days, 1500h; "5m" is one only before "ago"."""
    match = _AMOUNT.fullmatch(text)
    if match is None or len(match[1]) > 4:
        return []
    number, hours, minutes, unit, letter = match.groups()
    count = int(number)
    if hours and len(number) == 4:  # 1500h
        return [("<clock>", Clock(count // 100, count % 100, exact=True), True)] if is_time(count) else []
    name: Unit = "hour" if hours else _LETTERS.get((unit or letter)[:2]) or _LETTERS[(unit or letter)[0]]
    parts: list[tuple[Count, Unit]] = [(Count(count, count), name)]
    if minutes:
        parts.append((Count(int(minutes), int(minutes)), "minute"))
    found: list[Sense] = [("<letter-amount>" if letter else "<glued-amount>", Amount(tuple(parts)), False)]
    if hours and count <= 24 and int(minutes or 0) < 60:
        found.append(("<hour-h>", Clock(count, int(minutes or 0), exact=count > 12), True))
    return found if count else []


def possible(first: int, second: int) -> bool:
    """Whether two numbers may be a day and a month in some order."""
    return 1 <= min(first, second) <= 12 and max(first, second) <= 31


def _slash(text: str) -> list[Sense]:
    first, second = map(int, text.split("/"))
    found: list[Sense] = [("<slash>", SlashDay(first, second), True)] if possible(first, second) else []
    return [*found, ("<one-half>", 0.5, False)] if text == "1/2" else found


def _year_first(text: str) -> list[Sense]:
    year, month, day = map(int, text.replace("/", "-").replace(".", "-").split("-"))
    if (
        12 < month <= 31 and day <= 12 and "-" not in text
    ):  # 2024/13/1; with hyphens it is ISO 8601, and a mistake
        month, day = day, month
    return [("<date>", Fixed(datetime(year, month, day), "day"), False)]


def _year_last(text: str) -> list[Sense]:
    first, second, year = map(int, text.replace("/", "-").replace(".", "-").split("-"))
    if not possible(first, second):
        return []
    if "." in text:  # 03.05.2021 is written where days come first
        if second > 12:
            first, second = second, first
        return [("<date>", Fixed(datetime(year, second, first), "day"), False)]
    return [("<date>", WrittenDate(first, second, year), False)]


def _compact(text: str) -> list[Sense]:
    return [("<date>", Fixed(datetime(int(text[:4]), int(text[4:6]), int(text[6:])), "day"), False)]


def _year_month(text: str) -> list[Sense]:
    year, month = map(int, text.replace("/", "-").split("-"))
    return [("<whole>", Fixed(datetime(year, month, 1), "month"), False)] if 1000 <= year <= 2199 else []


def _month_year(text: str) -> list[Sense]:
    month, year = map(int, text.replace("/", "-").split("-"))
    return [("<whole>", Fixed(datetime(year, month, 1), "month"), False)]


def _decade(text: str) -> list[Sense]:
    digits = int("".join(character for character in text if character.isdigit()))
    if digits >= 1000 and digits % 100 == 0:
        return [("<whole>", Fixed(datetime(digits, 1, 1), "decade" if digits >= 2000 else "century"), False)]
    if digits >= 1000:
        return [("<whole>", Fixed(datetime(digits, 1, 1), "decade"), False)]
    year = (1900 if digits >= 30 else 2000) + digits
    return [("<decade>", Fixed(datetime(year, 1, 1), "decade"), True)]


def _short_year(text: str) -> list[Sense]:
    value = int(text[1:])
    return [("<year>", 1900 + value if value >= 40 else 2000 + value, True)]


def _clock(text: str) -> list[Sense]:
    compact, _, offset = text.partition("+") if "+" in text else text.partition(" -")
    compact = compact.replace("a.m.", "am").replace("p.m.", "pm").replace(" ", "").removesuffix("h")
    half = compact[-2:] if compact[-1] == "m" else ""
    figures = compact.removesuffix(half).replace(".", ":")
    if half and len(figures) > 2 and figures.isdigit():  # 0705am
        figures = f"{figures[:-2]}:{figures[-2:]}"
    numbers = [int(part) for part in figures.split(":")]
    hour = numbers[0]
    if hour > (12 if half else 24) or any(part > 59 for part in numbers[1:]) or (half and not hour):
        return []
    if half:
        hour = hour % 12 + (12 if half == "pm" else 0)
    minute = numbers[1] if len(numbers) > 1 else None
    second = numbers[2] if len(numbers) > 2 else None
    exact = bool(half) or hour > 12 or (len(compact) >= 5 and compact[0] == "0") or hour == 0
    zone = None
    if offset:  # as programs write it: 11:00:09 -0400
        exact, zone = True, (1 if "+" in text else -1) * (int(offset[:2]) * 60 + int(offset[2:]))
    return [("<clock>", Clock(hour, minute, second, zone, exact), not half)]


def _stamp(text: str) -> list[Sense]:
    moment = datetime.fromisoformat(text.upper().replace(" ", "T"))
    step = timedelta(seconds=1) if text.count(":") - ("+" in text) > 1 else timedelta(minutes=1)
    if moment.tzinfo is None:
        clock = Clock(moment.hour, moment.minute, moment.second if step.seconds == 1 else None, exact=True)
        return [("<stamp>", (Fixed(datetime(moment.year, moment.month, moment.day), "day"), clock), False)]
    grain = "second" if step.seconds == 1 else "minute"
    aware = moment.astimezone(UTC)
    return [("<instant>", Instants(aware, aware + step, grain), False)]  # type: ignore[arg-type]


def _iso_week(text: str) -> list[Sense]:
    found = parse_interval(text.upper())
    assert found.start is not None
    unit: Unit = "day" if found.grain == "day" else "week"
    return [("<whole>", Fixed(found.start.replace(tzinfo=None), unit), False)]


def _short_year_last(text: str) -> list[Sense]:
    """27.07.24 and 27-07-24: a version, a score or a date; what stands beside it shows."""
    first, second, year = map(int, text.replace(".", "-").split("-"))
    return (
        [("<dmyy>", WrittenDate(first, second, year, day_first=True), True)]
        if possible(first, second)
        else []
    )


_NUMERIC = {
    "number": _number,
    "ordinal": _ordinal,
    "decimal": _decimal,
    "slash": _slash,
    "ymd": _year_first,
    "dmy": _year_last,
    "dmyy": _short_year_last,
    "glued": _glued,
    "isoweek": _iso_week,
    "compact": _compact,
    "ym": _year_month,
    "my": _month_year,
    "decade": _decade,
    "shortyear": _short_year,
    "clock": _clock,
    "stamp": _stamp,
}
