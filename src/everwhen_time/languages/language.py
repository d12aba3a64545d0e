"""A language: its data file, read into words, fixed phrases and word orders. See "Adding a language" in
docs/time.md."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import product
from pathlib import Path

from everwhen_time.cycles import SEASONS, Cycle, Holiday, Months, Season, Weekday
from everwhen_time.holidays import is_holiday
from everwhen_time.languages.fold import fold
from everwhen_time.meaning import Meaning, PartOfDay, UnitAt
from everwhen_time.parser import MARK
from everwhen_time.tokenizer import word_set

Sense = tuple[str, Hashable, bool]
DATA = Path(__file__).parent / "data"


@dataclass(frozen=True, slots=True)
class InEnglish:
    """A meaning given by its English expression, read when a text has the word."""

    expression: str


# Groups of words that have a number, in the order of the calendar or of counting.
_NUMBERED = {"months": "month", "short_months": "month", "weekdays": "weekday", "short_weekdays": "short-weekday",
             "weekly": "each-weekday", "numbers": "num", "ordinals": "nth", "tens": "tens"}  # fmt: skip
# Words that only join: category by the name of the entry.
_JOINING = sorted(
    word_set(
        "last next coming this before_last after_next ago ago_after ahead in on of since until before after onward "
        "from between to and every few several half at at_part oclock now day_word week_word quarter half_year century "
        "years decades by rest ones approx later measure inclusive one_and_half within half_part "
        "earlier beginning fortnight"
    )
)
# Where it does not matter which of them it is.
_EITHER = {"start": ("from", "since"), "till": ("to", "until", "by")}
JOINING = frozenset(f"<{name.replace('_', '-')}>" for name in (*_JOINING, *_EITHER))
# Entries whose words tell the language as frequent words do.
_TELLING = sorted(
    word_set(
        "last next coming before_last after_next every ago_after several numbers start mid end early late ago ahead "
        "since until before after onward between wishes"
    )
)
# Words of the sentence around a time.
_OF_SENTENCES = word_set(
    "cues future past auxiliaries being participles measures labels titles places copulas"
)
# Entries of words without which a sentence of the language has no time, unless it has figures.
_SIGNALS = sorted(
    word_set(
        "months short_months weekdays weekly ago_after week_word half_a_year signals decades century quarter half_year"
    )
)
_COMPOUND = "<weekday-part>"  # Montagabend
_POSITIONS = ("start", "mid", "end", "early", "late", "first_half", "second_half")
# Sections whose meanings are told in English, and the category of their words.
_TOLD = {"days": "day", "cycles": "cycle", "wholes": "whole", "times": "said"}


@dataclass(frozen=True)
class Language:
    """What a data file says, by the words as they are compared."""

    code: str
    table: dict[str, object] = field(repr=False)
    _sets: dict[str, frozenset[str]] = field(default_factory=dict, repr=False)

    def text(self, name: str) -> str:
        found = self.table.get(name, "")
        assert isinstance(found, str), name
        return found

    def flag(self, name: str) -> bool:
        return bool(self.table.get(name, False))

    def section(self, name: str) -> dict[str, str]:
        found = self.table.get(name, {})
        assert isinstance(found, dict), name
        return found

    def words(self, name: str) -> frozenset[str]:
        """The words of an entry, as they are compared."""
        found = self._sets.get(name)
        if found is None:
            found = self._sets[name] = frozenset(spellings(self.text(name)))
        return found

    @property
    def spaced(self) -> bool:
        """Whether words are written apart."""
        return not self.flag("unspaced")

    @cached_property
    def senses(self) -> dict[str, list[Sense]]:
        """Every spelling, which may be several words apart, with what it may be."""
        found: dict[str, list[Sense]] = {}
        ambiguous = self.words("ambiguous")

        def add(words: Iterable[str], category: str, value: Hashable, bare: bool | None = False) -> None:
            """The words may be this; with None, the ambiguous ones among them are bare."""
            for word in words:
                unsure = word in ambiguous if bare is None else bare
                found.setdefault(word, []).append((f"<{category}>", value, unsure))

        for name, category in _NUMBERED.items():
            for index, group in enumerate(self.groups(name)):
                number = index if category.endswith("weekday") else index + 1
                add(group, category, number * 10 if category == "tens" else number)
                if name == "months":
                    add(group, "full-month", number)
                    add(group, "cycle", Months(number), None)
                elif name == "weekdays" and self.flag("weekday_of_week"):
                    add(group, "week-day", number)
                elif name == "weekdays":
                    add(group, "cycle", Weekday(number), None)
        for season in SEASONS:
            add(spellings(self.section("seasons").get(season, "")), "cycle", Season(season), True)
        for unit, text in self.section("units").items():
            one, _, many = text.partition("/")
            add(spellings(one), "unit", unit)
            add(spellings(many), "units", unit)
        for part, text in self.section("parts").items():
            add(spellings(text), "part", part)
            for index, group in enumerate(self.groups("weekdays") if self.flag("compounds") else ()):
                days = [day + word for word in spellings(text) for day in group]  # Montagabend, vrijdagmiddag
                add(days, "day", PartOfDay(part, Weekday(index)))
                add(days, "weekday-part", PartOfDay(part, Weekday(index)))
        for part, text in self.section("todays").items():
            add(spellings(text), "day", PartOfDay(part, UnitAt("day")))
        for name in _JOINING:
            add(spellings(self.text(name)), name.replace("_", "-"), MARK)
        add(spellings(self.text("half_a_year")), "half-a-year", 0.5)
        for name, entries in _EITHER.items():
            add(sorted({word for entry in entries for word in self.words(entry)}), name, MARK)
        for name in _POSITIONS:
            add(spellings(self.text(name)), "position", name.replace("_", " "))
        for name, category in _TOLD.items():
            for phrase, expression in self.section(name).items():
                add(spellings(phrase), category, InEnglish(expression), None)
        for name, thousands in self.section("year_words").items():
            for word in spellings(name):
                add([word], "year-base", int(thousands))
                if " " in word:  # a sign that a year may be near
                    add([word.split()[-1]], "thousand", int(thousands))
                for index, group in enumerate(self.groups("numbers") if self.flag("joined_years") else (), 1):
                    add(
                        [word + figure for figure in group], "spelled-year", int(thousands) + index
                    )  # duemilaventi
        return found

    def groups(self, name: str) -> list[tuple[str, ...]]:
        """The words of an entry that is in the order of the calendar or of counting."""
        return [spellings(group) for group in self.text(name).split("|")]

    def senses_of(self, word: str) -> list[Sense]:
        """What a spelling may be, with the meanings that are told in English."""
        return [(category, meant(value), bare) for category, value, bare in self.senses.get(word, [])]

    @cached_property
    def accented(self) -> frozenset[str]:
        """Every word of the file that has an accent, as it is written: `está` is not `esta`."""
        texts = [
            text for name, text in self.table.items() if isinstance(text, str) and name not in _OF_SENTENCES
        ]
        for section in self.table.values():
            if isinstance(section, dict):
                texts += [text for pair in section.items() for text in pair if isinstance(text, str)]
        return frozenset(
            word
            for text in texts
            if not text.isascii()
            for one in as_written(text)
            for word in one.split()
            if not word.isascii()
        )

    @cached_property
    def signals(self) -> frozenset[str]:
        """Words without which a sentence of the language has no time, unless it has figures."""
        found = {word for name in _SIGNALS for word in self.words(name)}
        for section in ("units", "seasons", "todays", "parts"):
            for text in self.section(section).values():
                found.update(spellings(text.replace("/", " ")))
        for name in self.section("year_words"):
            found.update(spellings(name))
            if self.flag("joined_years"):
                found.update(word + number for word in spellings(name) for number in self.words("numbers"))
        if self.flag("compounds"):
            found.update(
                word for word, meanings in self.senses.items() if _COMPOUND in {one[0] for one in meanings}
            )
        for section in _TOLD:
            for phrase in self.section(section):
                found.update(spellings(phrase))
        return frozenset(_longest(re.findall(r"[^\W\d_]+", word)) or word for word in found)

    @cached_property
    def cues(self) -> frozenset[str]:
        """Frequent words that tell the language."""
        found = set(self.text("cues").lower().split())
        for name in _TELLING:
            phrases = (*as_written(self.text(name)), *self.words(name))
            found.update(word for phrase in phrases for word in phrase.split() if len(word) > 2)
        return frozenset(found)

    @cached_property
    def dotted(self) -> frozenset[str]:
        """Abbreviations that may have a point behind them."""
        return self.words("short_months") | self.words("short_weekdays")

    @cached_property
    def unless_after(self) -> dict[str, frozenset[str]]:
        """Words that are no time behind certain others: la mañana, guten Morgen."""
        return {fold(word): frozenset(spellings(text)) for word, text in self.section("unless_after").items()}

    @cached_property
    def orders(self) -> dict[str, list[str]]:
        """Further patterns of the shared rules, by the rule's name."""
        found = self.table.get("orders", {})
        assert isinstance(found, dict)
        return {name.replace("_", " "): list(patterns) for name, patterns in found.items()}

    @cached_property
    def holidays(self) -> dict[str, list[str]]:
        """The patterns of holidays, by their names in `holidays.py`."""
        found = self.table.get("holidays", {})
        assert isinstance(found, dict)
        return found


def _longest(words: list[str]) -> str:
    """The word of a phrase that says most: the longest, of two as long the later."""
    return max(reversed(words), key=len, default="")


_BRACES = re.compile(r"\{([^{}]*)\}")
_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue"})


@cache
def spellings(text: str) -> tuple[str, ...]:
    """The words of an entry: `letzt{e,en}` is two, `fin_de_semana` one with spaces, `ä` may be written `ae`."""
    found: list[str] = []
    for word in as_written(text):
        found.append(fold(word))
        if any(letter in word for letter in "äöü"):
            found.append(fold(word.translate(_UMLAUTS)))
    return tuple(dict.fromkeys(found))


def as_written(text: str) -> Iterator[str]:
    """The words of an entry with their accents."""
    for entry in text.lower().replace("|", " ").replace(" / ", " ").split():
        pieces = _BRACES.split(entry)
        for choice in product(
            *(part.split(",") if index % 2 else [part] for index, part in enumerate(pieces))
        ):
            yield "".join(choice).replace("_", " ")


@cache
def codes() -> tuple[str, ...]:
    """The languages that have a data file, beside English."""
    return tuple(sorted(path.stem for path in DATA.glob("*.toml") if path.stem != "en"))


@cache
def language(code: str) -> Language:
    return Language(code, tomllib.loads((DATA / f"{code}.toml").read_text(encoding="utf-8")))


def meant(value: Hashable) -> Hashable:
    """The value of a word, or the meaning of the English expression that it is told by."""
    return meaning_of(value.expression) if isinstance(value, InEnglish) else value


@cache
def meaning_of(expression: str) -> Meaning:
    """What an English expression means: data files tell the meaning of holidays and fixed phrases so."""
    if is_holiday(expression.lower()):
        return Holiday(expression.lower())
    from everwhen_time.grammar import book_of
    from everwhen_time.lexicon import senses
    from everwhen_time.parser import parse
    from everwhen_time.tokenizer import tokenize

    tokens = tokenize(expression)
    whole = [
        item.value
        for item in parse(tokens, book_of("en"), senses)
        if (item.start, item.end) == (0, len(tokens)) and item.category in ("<time>", "<cycle>", "<whole>")
    ]
    found = next((one for one in whole if isinstance(one, Cycle)), next(iter(whole), None))
    if not isinstance(found, Meaning):
        raise ValueError(f"the English grammar reads no time in {expression!r}")
    return found
