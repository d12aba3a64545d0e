"""What happened, who and what has a name, and what is true from when to when."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple, TypeAlias

from everwhen.types.relations import in_words
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
