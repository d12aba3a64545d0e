"""Answers: about time, and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, TypeAlias

from everwhen.when import Interval


@dataclass(frozen=True, slots=True)
class Evidence:
    """What says when: the sentence as it was said, and the interval that its words mean.

    `inferred` says that no words date it: it was told on that day. `turn` is None for a fact that nobody said.
    """

    turn: str | None
    quote: str
    speaker: str
    said_at: datetime
    interval: Interval
    expression: str = ""
    inferred: bool = False
    event: str | None = None
    fact: str | None = None


@dataclass(frozen=True, slots=True)
class TimeAnswer:
    """When something was, is or will be. `confidence` is the chance that the interval is the right one."""

    interval: Interval
    confidence: float
    evidence: tuple[Evidence, ...]
    zone: str = "UTC"
    pending: int = 0
    """Turns that were not read yet when this was answered."""


@dataclass(frozen=True, slots=True)
class Gap:
    """How far apart two things are, in days of the calendar; a range where the intervals leave it open."""

    least: int
    most: int
    text: str

    @property
    def exact(self) -> bool:
        return self.least == self.most


@dataclass(frozen=True, slots=True)
class Compared:
    """One side of a comparison: what was asked, and when it was, where the memory knows."""

    query: str
    answer: TimeAnswer | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Which of two things came first, and how far apart they are.

    With `order` "before", `first` is the earlier one. With "overlap" the intervals do not tell, and with "unknown"
    one of them is not known: both then stand in the order in which they were asked.
    """

    first: Compared
    second: Compared
    order: Literal["before", "overlap", "unknown"]
    gap: Gap | None
    evidence: tuple[Evidence, ...]
    pending: int = 0
    """Turns that were not read yet when this was answered."""


EntryKind: TypeAlias = Literal["event", "fact began", "fact ended", "session"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a timeline. `group` is the day, week, month or year that it stands under, where one was asked for.

    `status` is that of an event (happened, ongoing, planned, …), and empty for all else.
    """

    interval: Interval
    text: str
    kind: EntryKind
    turns: tuple[str, ...]
    confidence: float
    status: str = ""
    inferred: bool = False
    group: Interval | None = None
    ids: tuple[str, ...] = ()
    zone: str = "UTC"


@dataclass(frozen=True, slots=True)
class Usage:
    """What asking took: requests sent and answered, tokens, dollars (None: the price is not known), seconds."""

    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0

    @property
    def tokens(self) -> int:
        """Read and written together."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        priced = [part.cost for part in (self, other) if part.requests]
        known = [cost for cost in priced if cost is not None]
        return Usage(
            self.requests + other.requests,
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            sum(known) if known and len(known) == len(priced) else None,
            self.seconds + other.seconds,
        )


@dataclass(frozen=True, slots=True)
class Citation:
    """A turn that bears an answer out, and the words of it that do: `quote` stands in the stored turn."""

    turn: str
    quote: str
    said_at: datetime
    speaker: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What `ask` gives back. `abstained` says that the memory does not tell; `text` then says what was looked for.

    `intervals` are the times that the answer rests on. `confidence` is the chance that it is right: calibrated for an
    extractive answer, and what the model says of itself, which is not, for a model's. `trace` names the `method`
    (`extractive`, or the model) and tells what was done.
    """

    text: str
    citations: tuple[Citation, ...] = ()
    intervals: tuple[Interval, ...] = ()
    abstained: bool = False
    confidence: float = 0.0
    usage: Usage = field(default_factory=Usage)
    trace: Mapping[str, Any] = field(default_factory=dict)
    pending: int = 0
    """Turns that were not read yet when this was answered."""

    @property
    def method(self) -> str:
        """What answered: `extractive`, or the name of a model."""
        return str(self.trace.get("method", "extractive"))
