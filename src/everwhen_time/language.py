"""A language: its data file, read into words, fixed phrases and word orders; and which one a sentence is in.

See "Adding a language" in docs/time.md.
"""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from itertools import product
from pathlib import Path
from typing import Literal

from everwhen_time.cycles import SEASONS, Months, Season, Weekday
from everwhen_time.lexicon import WORDS as ENGLISH_WORDS
from everwhen_time.meaning import PartOfDay, UnitAt
from everwhen_time.parser import MARK
from everwhen_time.tokens import english_words, fold, word_set

Sense = tuple[str, Hashable, bool]
DATA = Path(__file__).parent / "languages"


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
# Entries whose words show the language as frequent words do.
_CUE_ENTRIES = sorted(
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
# Sections whose meanings are given in English, and the category of their words.
_IN_ENGLISH = {"days": "day", "cycles": "cycle", "wholes": "whole", "times": "said"}


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
        for name, category in _IN_ENGLISH.items():
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
        for section in _IN_ENGLISH:
            for phrase in self.section(section):
                found.update(spellings(phrase))
        return frozenset(_longest(re.findall(r"[^\W\d_]+", word)) or word for word in found)

    @cached_property
    def cues(self) -> frozenset[str]:
        """Frequent words that tell the language."""
        found = set(self.text("cues").lower().split())
        for name in _CUE_ENTRIES:
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


# Which language a sentence is in: by counting the frequent words and time words of each

_LISTS = english_words("english")
ONLY_ENGLISH = _LISTS["only_english"]


def plainly_english(text: str, sentence: tuple[int, int], words: frozenset[str]) -> bool:
    """Whether so many words are only English that no other language need be thought of."""
    known = len(words & ONLY_ENGLISH)
    if not known or not text[sentence[0] : sentence[1]].isascii():
        return False
    return known > 2 or known * 3 >= sum(word.isalpha() for word in words)


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
    score, votes, timed = _scores(words, folded)
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
        sure = _verdict(top, english) == "surely" and max(votes.values()) >= _SIGNS
        return [], "surely" if sure else "perhaps"
    likely = sorted(
        (code for code in timed if score[code] >= best - _FAR), key=lambda code: (-score[code], code)
    )
    verdict = _verdict(best, english)
    if verdict == "surely" and votes[likely[0]] < _SIGNS:
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
    votes: Counter[str] = Counter()
    timed: set[str] = set()
    cues, times = _cues(), _time_words()
    for word in words | folded:
        for code, weight in cues.get(word, ()):
            score[code] += weight
            votes[code] += 1
    for word in folded:
        for code, weight in times.get(word, ()):
            score[code] += weight
            votes[code] += 1
            timed.add(code)
    return score, votes, timed


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
    return next((code for code in known if all(word in _short_words(code) for word in letters)), None)


@cache
def _short_words(code: str) -> frozenset[str]:
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
