"""How many and how much: a number that was said, the sum of several, or the things that the turns tell of, counted.

Numbers are read as people say them: "1,250", "$40", "two hundred and five", "a dozen", "my 5th". Strict: what might
mean something else is no number at all. "2/5", "'69", "1915-S", "two or three", "-5", "half a dozen" and "iPhone 12"
are none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product

from everwhen.answer.extractive.reply import (
    DraftAnswer,
    TurnReply,
    one_for_each_turn,
)
from everwhen.answer.extractive.turn_replies import TurnReplies, missing_name
from everwhen.recall.question import Question
from everwhen_time import Interval, resolve
from everwhen_time.lexicon import ONES, TEENS, TENS

_SMALL = ("zero", *ONES, *TEENS)
_ADDS = {word: value for value, word in enumerate(_SMALL)} | {
    word: 10 * value for value, word in enumerate(TENS, 2)
}
_TIMES = {
    "dozen": 12, "hundred": 100, "k": 10**3, "thousand": 10**3, "m": 10**6, "million": 10**6, "bn": 10**9,
}  # fmt: skip
_ONCE = {
    "none": 0, "once": 1, "twice": 2,
    "fourth": 4, "fifth": 5, "sixth": 6, "seventh": 7, "eighth": 8, "ninth": 9, "tenth": 10,
}  # fmt: skip
_SIGNS = {"euro": "€", "eur": "€", "dollar": "$", "buck": "$", "usd": "$", "pound": "pounds", "percent": "%"}
_ABOUT = "about|around|nearly|almost|over|only|just|exactly|roughly|maybe|at least|now|my|the|an?"
_START = rf"^[\s\"“(]*(?:(?:{_ABOUT})\s+)*"
_DIGITS = re.compile(
    _START + r"(?P<money>[€$£¥])?\s?(?P<digits>\d{1,3}(?:[,\s]\d{3}(?!\d))+|\d{1,12})(?P<part>\.\d+)?"
    r"(?:(?P<times>k|bn)\b|\s(?P<times2>thousand|million)\b|(?:st|nd|rd|th|mg|g|kg|km|cm|mm|ml|lbs?|oz|gb|mb)\b)?"
    r"(?![\w/:,-]|\.\d|\s\d)",
    re.IGNORECASE,
)
_FIRST, _NEXT = "|".join([*_ADDS, *_TIMES, *_ONCE, "couple"]), "|".join([*_ADDS, *_TIMES])
_WORDS = re.compile(
    _START + rf"(?P<said>(?:{_FIRST})\b(?:(?:\s+and)?[\s-]+(?:{_NEXT})\b)*)(?![\w-])", re.IGNORECASE
)
_BEHIND = re.compile(r"(?i)\s?(?P<sign>[€$£¥%]|(?:euro|eur|dollar|buck|usd|pound|percent)s?\b)")
_MORE = re.compile(r"(?i)\s*(?:or|to|[-–—])\s*(?:\d|" + "|".join([*_SMALL, *TENS]) + r")|\s+and\s+a\s+half")
_MEASURE = re.compile(r"(?i)\s*(minute|hour|day|night|week|weekend|month|year|decade)s?\b")
_OFTEN = re.compile(r"(?i)\s*(?:an?|per|every|each)\s+(?:day|week|month|year)\b")


@dataclass(frozen=True, slots=True)
class Number:
    """A number with its sign: `$`, `€`, `£`, `%`, …, or none."""

    value: float
    unit: str
    end: int = 0  # where in the words it ends

    def __str__(self) -> str:
        whole = self.value < 1e4 and self.value % 1 == 0
        shown = f"{self.value:.0f}" if whole else f"{self.value:,.2f}".removesuffix(".00")
        if self.unit in ("€", "$", "£", "¥"):
            return f"{self.unit}{shown}"
        return f"{shown} {self.unit}".strip()


def number_in(words: str) -> Number | None:
    """The number that some words begin with, but for "about" and the like."""
    found = _DIGITS.match(words)
    if found is not None:
        value = float(re.sub(r"[,\s]", "", found.group("digits")) + (found.group("part") or ""))
        value *= _TIMES.get((found.group("times") or found.group("times2") or "").lower(), 1)
    else:
        found = _WORDS.match(words)
        if found is None:
            return None
        value = _number_in_words(found.group("said").lower())
    if _MORE.match(words, found.end()):
        return None
    unit = found.groupdict().get("money") or ""
    behind = None if unit else _BEHIND.match(words, found.end())
    if behind is not None:
        said = behind.group("sign").lower()
        unit = _SIGNS.get(said.removesuffix("s"), said)
    return Number(value, unit, behind.end() if behind is not None else found.end())


def _number_in_words(said: str) -> float:
    """Of number words in a row: those below a hundred are added, the others multiply what stands before them."""
    whole = part = 0
    for word in re.findall(r"[a-z]+", said):
        if word in _ONCE or word == "couple":
            return _ONCE.get(word, 2)
        if word in _ADDS:
            part += _ADDS[word]
        elif word != "and":
            times = _TIMES[word]
            whole, part = (whole, max(part, 1) * times) if times < 1000 else (whole + max(part, 1) * times, 0)
    return float(whole + part)


def counts(words: str, after: str, noun: str) -> Number | None:
    """The number that says how many `noun` there are, if some words say that; `after` is what follows them.

    No price, no share, no year, and no length of time, unless that is what is asked for.
    """
    number = number_in(words)
    if number is None or number.unit or re.search(r"\b(?:19|20)\d\d\b", words[: number.end]):
        return None
    rest = f"{words[number.end :]} {after}"
    named = {_stem(one) for one in re.findall(r"\w+", noun.lower())}
    if named & {_stem(one) for one in re.findall(r"\w+", rest.lower())[:3]}:
        return number
    return None if _MEASURE.match(rest) or _OFTEN.match(rest) else number


def _stem(word: str) -> str:
    return word.removesuffix("s")


NOT_COUNTED = "it was not told in those words, and what else counts takes a language model (setting llm)"
SPEAKS_OF_IT = 1.0  # the logit from which a turn speaks of one of the things that are counted
REPLIES = 0.5  # the chance from which a turn replies
NAMED = 4  # things that a count names
_PARTED = re.compile(r"(?i)\s*[,;]\s*(?:and\s+|or\s+)?|\s+(?:and|&|plus)\s+")
_AND = re.compile(r"(?i)\s(?:and|&|plus)\s|;")
_UNREAL = frozenset({"denied", "supposed", "planned", "fiction"})
_PLAIN = "a an the my our his her their of from to in on at for with new"
_LEADING = re.compile(r"(?i)^(?:(?:an?|the|my|our|his|her|their|new|another|one)\s+)+")


def number_of(asked: Question, reply: TurnReply) -> Number | None:
    """The number that a reply gives to a question for one."""
    if asked.kind != "count":
        return number_in(reply.words)
    start, end = reply.reading.span
    if reply.passage.text[max(start - 1, 0) : start] in ("'", "’"):  # a year: "a '69 Camaro"
        return None
    number = counts(reply.words, reply.passage.text[end:], asked.noun)
    return None if number is not None and _is_of_a_date(reply) else number


def _is_of_a_date(reply: TurnReply) -> bool:
    """Whether the words that reply are the day of a date: "on March 20th"."""
    start, end = reply.reading.span
    turn, text = reply.turn, reply.passage.text
    return any(
        one.interval is not None and one.span[0] < start and end <= one.span[1]
        for one in resolve(text, turn.said_at, turn.zone)
    )


def said(found: TurnReplies) -> tuple[TurnReply, Number] | None:
    """The best reply that says a number, and the number."""
    numbers = ((one, _number_of(found.asked, one)) for one in found.replies)
    return next(((one, number) for one, number in numbers if number is not None), None)


def _number_of(asked: Question, reply: TurnReply) -> Number | None:
    return number_of(asked, reply) if reply.answers >= REPLIES else None


def total(
    asked: Question, look: Callable[[str], TurnReplies], sure: Callable[[TurnReplies], float]
) -> DraftAnswer | None:
    """The sum of what was said of two things, of each another number: the likeliest two together. None where not both
    are said, unless a sum was asked for in so many words: then that is said. `sure`: how often an answer is right."""
    found = [look(question) for question in asked.parts]
    numbered = [
        [
            (reply, _number_of(asked, reply))
            for reply in one.replies
            if not missing_name(part, [reply.passage])
        ]
        for part, one in zip(asked.parts, found, strict=True)
    ]
    pairs = [
        ((one, first), (other, second)) for (one, first), (other, second) in product(*numbered)
        if first and second and first.unit == second.unit and (one.turn, first.value) != (other.turn, second.value)
    ]  # fmt: skip
    if not pairs:
        return DraftAnswer("sum", reason="not all of it was told") if asked.total else None
    best = max(pairs, key=lambda pair: sum(one.reading.relevance for one, _ in pair))
    whole = Number(sum(number.value for _, number in best), best[0][1].unit)
    return DraftAnswer(
        "sum",
        f"{whole}: {' + '.join(str(number) for _, number in best)}, as it was said.",
        one_for_each_turn([one.citation() for one, _ in best]),
        confidence=min(sure(one.led_by(reply)) for one, (reply, _) in zip(found, best, strict=True)),
        short=str(whole),
    )


def count(
    found: TurnReplies, each: TurnReplies, sure: float, asked_time: Interval | None = None
) -> DraftAnswer:
    """The distinct things that the turns tell of, as they reply to `each`: the question for the things themselves.

    `asked_time` is the time that is asked about: what is dated, and lies outside of it, does not count.
    """
    asked = each.asked
    unreal = _UNREAL - {"planned", "supposed"} if asked.planned else _UNREAL
    plain = _singular_words(f"{asked.words} {_PLAIN}")
    numbers = {one.turn.id: _number_of(asked, one) for one in found.replies}
    things: list[_Thing] = []
    for one in sorted(each.replies, key=lambda one: (one.turn.said_at, one.turn.seq)):
        if one.reading.relevance <= SPEAKS_OF_IT or one.kind != "span" or one.reading.status in unreal:
            continue
        if asked_time is not None and _is_outside(one, asked_time):
            continue
        for name in _things(one):
            words = _singular_words(name) - plain or _singular_words(name)
            words = frozenset([_day(name, one)]) if asked.noun == "times" else words
            said = counts(name, "", asked.noun) or (numbers.get(one.turn.id) if asked.total else None)
            thing = _Thing(words, name, one, said.value if said else None)
            known = next((n for n, other in enumerate(things) if other.same(words)), None)
            if known is None:
                things.append(thing)
            elif thing.number is not None:
                things[known] = thing
    if not things or (asked.total and sum(one.number is not None for one in things) < 2):
        return DraftAnswer("count", reason=NOT_COUNTED)
    whole = Number(sum(1.0 if one.number is None else one.number for one in things), "")
    named = "; ".join([one.name for one in things[:NAMED]] + ["…"] * (len(things) > NAMED))
    return DraftAnswer(
        "counted",
        f"{whole}, counted in what was said: {named}.",
        one_for_each_turn([one.reply.citation() for one in things]),
        confidence=sure,
        short=str(whole),
    )


@dataclass(frozen=True, slots=True)
class _Thing:
    """One of what is counted; `number` where it is several, as was said."""

    words: frozenset[str]
    name: str
    reply: TurnReply
    number: float | None

    def same(self, words: frozenset[str]) -> bool:
        """Whether most of the words of the shorter name are words of both."""
        return 2 * len(self.words & words) > min(len(self.words), len(words))


def _is_outside(reply: TurnReply, asked_time: Interval) -> bool:
    """Whether the sentence that replies is dated, and by no date inside of a time."""
    dates = [
        one.interval for one in resolve(reply.quote, reply.turn.said_at, reply.turn.zone) if one.interval
    ]
    return bool(dates) and not any(one.overlaps(asked_time) for one in dates)


def _things(reply: TurnReply) -> list[str]:
    """What a reply names, each by itself: where it is not sure of the words, they are one thing, and so is "my
    piano, a Korg": a list has an "and"."""
    lists = [_PARTED.split(one) if reply.points and _AND.search(one) else [one] for one in reply.parts]
    names = [_LEADING.sub("", name) for several in lists for name in several]
    return [name for name in names if any(map(str.isalpha, name))]


def _singular_words(text: str) -> frozenset[str]:
    """Its words without plurals; whose it is does not tell one from the other."""
    text = text.casefold()
    words = re.findall(r"\w+", re.sub(r"\w+['’]s?\b", "", text)) or re.findall(r"\w+", text)
    return frozenset(one.removesuffix("s") for one in words)


def _day(name: str, reply: TurnReply) -> str:
    """The day of something, as far as it was said: something done twice has two."""
    turn = reply.turn
    days = [one.interval.start for one in resolve(name, turn.said_at, turn.zone) if one.interval is not None]
    return str((days[0] if days and days[0] else turn.said_at).date())
