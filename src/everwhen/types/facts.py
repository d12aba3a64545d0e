"""What happened, who and what has a name, and what is true from when to when; and the ordinary relations, as data.

The relations of life and work, and how people ask for them, are in `relations.toml`. Confidence fades: a fact that
nobody has confirmed for a while is less sure than it was.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import cache
from importlib.resources import files
from typing import Any, Literal, NamedTuple, TypeAlias

from everwhen_time import Interval

_LEANING = re.compile(
    r"^(?!.*\b(?:since|until|between)\b).*\b(?:yesterday|today|tomorrow|tonight|last|next|this|ago|"
    r"in \w+ (?:day|week|month|year)s?|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.IGNORECASE,
)
"""Expressions that say nothing without the day on which they were said."""
_IT_WAS = re.compile(r"^(?:was|is|will be) (?=(?:the|a|an|my|our|his|her|their) |[A-Z])")
"""What is left of "last night was the concert"."""
_NO_START = frozenset(
    ("was", "is", "are", "were", "be", "been", "will", "would", "has", "have", "had", "of", "and", "or")
)
"""Words that no title begins with."""
_NO_END = _NO_START | frozenset(
    ("the", "a", "an", "on", "in", "at", "by", "to", "for", "from", "until", "since", "not", "before", "after",
     "all", "every", "about", "with")
)  # fmt: skip
"""Words that no title ends with."""
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_BARE_WEEKDAY = re.compile(_WEEKDAY, re.IGNORECASE)
_NO_MORE = rf"(?!['’]s\b|,? (?:and|or|to|until) (?:on )?(?:yesterday|today|tomorrow|{_WEEKDAY})\b)"
"""What does not follow an expression that may go: "Monday's meeting", "Monday and Tuesday"."""
_PREDICATE_GAP = re.compile(r"[\s_-]+|(?<=[a-z])(?=[A-Z])")
_LOOSE_END = re.compile(r"\s+(?=[.!?]*$)")


def event_title(text: str, expression: str = "") -> str:
    """What happened, for a title that has its date beside it: without "yesterday", and with a capital letter.

    Where the sentence would fall apart without it ("the first one was last Tuesday"), it stays.
    """
    words = text
    if _LEANING.search(expression):
        # "The Friday market" and "Black Friday" are names; "on Friday" is a day.
        is_weekday = _BARE_WEEKDAY.fullmatch(expression)
        before = r"(?:^|,\s?|\s(?=on\s|from\s))" if is_weekday else r"(?:^|[\s,]{1,4})"
        found = re.search(
            rf"{before}(?:(?:on|from)\s+)?(?:the\s+)?{re.escape(expression)}\b{_NO_MORE}[,\s]{{0,4}}",
            text,
            re.IGNORECASE,
        )
        if found:
            between = ", " if "," in found.group() else " "
            words = f"{text[: found.start()]}{between}{text[found.end() :]}".strip(" ,;–-")
            words = _LOOSE_END.sub("", _IT_WAS.sub("", words))
    left = words.rstrip(".!").lower().split()
    if len(left) < 2 or left[0] in _NO_START or left[-1] in _NO_END:
        words = text
    return words[:1].upper() + words[1:]


EventStatus: TypeAlias = Literal["happened", "ongoing", "planned", "hypothetical", "negated"]


@dataclass(frozen=True, slots=True)
class EventHit:
    """One event that `grep` found: the line that was searched, and where in it the pattern stands."""

    event: Event
    text: str
    spans: tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Event:
    """A line of the event calendar: who did what, when, and whether it happened.

    `occurred` is what the time expression means, or the turn's day where there is none (`inferred`).
    """

    id: str
    subject: str
    verb: str
    object: str
    occurred: Interval | None
    status: EventStatus
    aliases: tuple[str, ...]
    confidence: float
    turns: tuple[str, ...]
    text: str = ""
    expression: str = ""
    inferred: bool = False
    polarity: int = 1
    quantity: str = ""
    said_at: datetime | None = None
    zone: str = "UTC"
    extractor: str = ""
    network: str = "world"
    superseded_at: datetime | None = None
    """When something was said that made another version of it: moved, called off or put right."""
    replaces: str | None = None
    """The version before it, by its id."""

    @property
    def title(self) -> str:
        """What happened, for a line that has its date beside it: without "yesterday"."""
        return event_title(self.text, self.expression)

    @property
    def told_in(self) -> str:
        """The turn that tells it: the first, and of a later version the last."""
        return (self.turns[-1] if self.replaces else self.turns[0]) if self.turns else ""


@dataclass(frozen=True, slots=True)
class Entity:
    """A resolved identity: the names it goes by, and when it was first and last spoken of."""

    id: str
    name: str
    type: str
    aliases: tuple[str, ...]
    first: datetime | None
    last: datetime | None
    mentions: int


LinkType: TypeAlias = Literal["temporal", "semantic", "entity", "causal", "replaces"]
"""`replaces` leads from an event to the one that it is the next version of; nobody walks along it."""


class Linked(NamedTuple):
    """One edge of the graph."""

    source: int
    target: int
    type: LinkType
    weight: float


Origin: TypeAlias = Literal[
    "observation", "user", "inference", "self", "speaker", "assistant", "system", "tool", "pasted"
]
"""Whose word it is. Of what was read in turns: of somebody about themselves (`self`), of another person (`speaker`), of
the assistant, the system or a tool, or of a text that was only passed on (`pasted`)."""
ORIGINS: tuple[Origin, ...] = ("observation", "user", "inference")
"""Those that an assertion may name."""
Status: TypeAlias = Literal[
    "believed", "disputed", "proposed", "overruled", "superseded", "corrected", "retracted"
]
Signal: TypeAlias = Literal["age", "contradiction", "context_mismatch", "user_correction", "external_change"]


@dataclass(frozen=True, slots=True)
class Fact:
    """One version of what was believed: subject, predicate, object, and two times.

    `valid` is when it is true in the world; `recorded_at` to `superseded_at` is when the memory believed this
    version. `id` is the same in all versions of a fact. `confidence` is that of the assertion: what age leaves of
    it is `facts.confidence_at(fact, instant)`.
    """

    id: str
    version: int
    subject: str
    predicate: str
    object: str
    valid: Interval
    recorded_at: datetime
    superseded_at: datetime | None
    confidence: float
    origin: Origin
    status: Status
    domain: str | None = None
    support: int = 1
    confirmed_at: datetime | None = None
    sources: tuple[str, ...] = ()
    reason: str | None = None
    zone: str | None = None
    """Where the first turn that told it was said, by which its days count; None where no turn told it: the bank's."""
    note: str | None = field(default=None, compare=False)
    """What of an assertion was not taken over, in one sentence: only in what `facts.assert_` gives back."""

    @property
    def valid_from(self) -> datetime:
        assert self.valid.start is not None  # a fact always has a beginning
        return self.valid.start

    @property
    def valid_to(self) -> datetime | None:
        """None while it holds."""
        return self.valid.end

    @property
    def text(self) -> str:
        """The fact as people say it, in the past where it has ended."""
        return in_words(self.subject, self.predicate, self.object, ended=self.valid.end is not None)


@dataclass(frozen=True, slots=True)
class StaleFact:
    """A fact that should not be relied on as it stands: what says so, and what to do about it."""

    fact: Fact
    confidence: float
    signal: Signal
    action: str


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two facts between which no rule decides. The first is still believed, the second waits."""

    id: str
    subject: str
    predicate: str
    sides: tuple[Fact, Fact]
    why: str
    opened_at: datetime


@dataclass(frozen=True, slots=True)
class Proposal:
    """Something said of a person by who may not change what is known of them. It waits for `confirm` or `reject`."""

    id: str
    """That of the proposed fact, too."""
    fact: Fact
    changes: Fact | None
    """What is believed, and would be closed or ended; None where nothing is known."""
    why: str
    opened_at: datetime


@dataclass(frozen=True, slots=True)
class FactDiff:
    """What changed from one instant of valid time to another, as believed now."""

    t1: datetime
    t2: datetime
    began: tuple[Fact, ...]
    ended: tuple[Fact, ...]
    changed: tuple[tuple[Fact, Fact], ...]
    """Pairs of what a slot held at t1 and what it held at t2."""


@dataclass(frozen=True, slots=True)
class HalfLives:
    """Days after which a fact is half as sure, by its predicate or its domain: the bank's own over the settings'."""

    by_domain: Mapping[str, float] = field(default_factory=dict)
    otherwise: float = 365.0

    def with_own(self, own: Mapping[str, float]) -> HalfLives:
        """With those of a bank over these; its own for all other domains is under an empty name."""
        return HalfLives({**self.by_domain, **own}, own.get("", self.otherwise))

    def of(self, domain: str | None, predicate: str) -> float:
        """By the predicate where it has a half-life of its own ("server_config"), else by the domain."""
        words = _PREDICATE_GAP.sub(" ", predicate).strip().casefold()
        names = (words, words.replace(" ", "_"), domain or "")
        return next((self.by_domain[name] for name in names if name in self.by_domain), self.otherwise)


# How sure a fact still is

DAY = timedelta(days=1)
OLD_BELOW = 0.5
"""The confidence below which age alone makes a fact stale, and people are told that it is old."""


def faded(confidence: float, since: datetime, instant: datetime, half_life: float) -> float:
    """`confidence * 0.5 ** (age / half_life)`, age in days and never negative."""
    age = max((instant - since) / DAY, 0.0)
    return float(confidence * 0.5 ** (age / half_life))


def confidence_at(fact: Fact, instant: datetime, half_lives: HalfLives) -> float:
    """How sure a fact is at an instant. Its age counts from the later of its start and its last confirmation."""
    return faded(fact.confidence, _confirmed(fact), instant, half_lives.of(fact.domain, fact.predicate))


def old_in_words(fact: Fact, confidence: float, instant: datetime) -> str:
    """ "old: last confirmed 2 years ago", where age alone has left so little `confidence`, which else looks like
    doubt; or nothing. What has ended does not grow old."""
    if fact.valid_to is not None or not confidence < OLD_BELOW <= fact.confidence:
        return ""
    days = (instant - _confirmed(fact)).days
    length, unit = (365, "year") if days >= 730 else (30, "month") if days >= 60 else (1, "day")
    return f"old: last confirmed {days // length} {unit}{'s' * (days // length != 1)} ago"


def _confirmed(fact: Fact) -> datetime:
    return max(fact.valid_from, fact.confirmed_at or fact.valid_from)


def fades_below(confidence: float, threshold: float, half_life: float) -> timedelta:
    """The age at which a confidence falls below a threshold: `half_life * log2(confidence / threshold)`.

    What is below from the start has a negative one; with a threshold of 0 nothing ever falls below it.
    """
    if confidence <= 0:
        return timedelta.min if threshold > 0 else timedelta.max
    if threshold <= 0:
        return timedelta.max
    days = half_life * math.log2(confidence / threshold)
    return timedelta(days=days) if abs(days) < timedelta.max.days else timedelta.max


# The relations

PLAIN = "{who} {name} {value}"
Value = Literal["place", "person", "thing", "number", "date"]


@dataclass(frozen=True, slots=True)
class Relation:
    """One kind of fact: how it is asked for, how it is told, and what becomes of it."""

    name: str
    asks: tuple[str, ...]
    """What the reader is asked about a turn; the span is the value."""
    whose: str
    """Asked next, with the value put in: the span is the subject."""
    questions: tuple[str, ...]
    """How people ask for it, with `{who}`."""
    examples: tuple[str, ...]
    begins: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    """Sentences that end it, said by the one whose fact it is, with `{value}`."""
    means: tuple[str, ...] = ()
    """Other words for the predicate."""
    value: Value = "thing"
    many: bool = False
    """Several values hold at a time."""
    domain: str | None = None
    """Whose half-life its facts have."""
    of: Literal["anything", "thing"] = "anything"
    """What it is told of: `thing` is never somebody who speaks."""
    says: str = PLAIN
    """A fact in words."""
    holds: str = ""
    """The same as people say it, where `says` is no such sentence."""

    @property
    def told(self) -> tuple[str, ...]:
        """Sentences that speak of it in one way or another."""
        return (*self.examples, *self.begins, *self.ends)


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("relations.toml").read_text(encoding="utf-8"))


@cache
def relations() -> tuple[Relation, ...]:
    return tuple(_relation(row) for row in _table()["relation"])


def _relation(row: dict[str, Any]) -> Relation:
    held: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in row.items()
    }
    held["says"] = held.get("says", PLAIN).replace("{name}", row["name"])
    return Relation(**held)


@cache
def _phrases(ended: bool) -> dict[str, str]:
    """How people say what holds, or with `ended` what held, by predicate."""
    holds = {one.name: one.holds or one.says for one in relations()} | _table()["holds"]
    return {name: _VERB.sub(_past, said, 1) if ended else said for name, said in holds.items()}


_VERB = re.compile(r"(?<=\{who\} )\w+|\b(?:is|was|include)\b")


def _past(verb: re.Match[str]) -> str:
    stem = verb[0].removesuffix("s").removesuffix("e")
    return str(_table()["past"].get(verb[0], f"{stem}ed"))


def in_words(subject: str, predicate: str, value: str, *, ended: bool = False) -> str:
    """A fact as people say it: "Kim's partner is Tom", or once it has ended "Kim's partner was Tom"."""
    name = predicate.replace("_", " ")
    return filled(_phrases(ended).get(name, PLAIN.replace("{name}", name)), subject, value)


def filled(phrase: str, subject: str, value: str) -> str:
    return phrase.replace("{who}", subject).replace("{value}", value)


_GRAMMAR = (
    (r"\bI's\b", "my"), (r"\bwe's\b", "our"), (r"\byou's\b", "your"), (r"\bthey's\b", "their"),
    (r"\bhe's\b", "his"), (r"\bshe's\b", "her"),
    (r"\b([Dd])oes (I|we|you|they)\b", r"\1o \2"),
    (r"\b[Ii]s (we|you|they)\b", r"are \1"),
    (r"\b[Ii]s I\b", "am I"),
    (r"\b[Ww]as (we|you|they)\b", r"were \1"),
)  # fmt: skip


def asked_of(question: str, who: str) -> str:
    """A question of the table about somebody: `Where does {who} live?` of I is "Where do I live?"."""
    text = question.replace("{who}", who)
    for pattern, instead in _GRAMMAR:
        text = re.sub(pattern, instead, text)
    return text[:1].upper() + text[1:]
