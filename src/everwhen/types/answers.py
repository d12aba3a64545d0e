"""What is given back: answers about time and in words, receipts, findings, numbers, and the nodes of the tree."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal, TypeAlias

from everwhen.errors import UsageError
from everwhen_time import Interval


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
    zone: str = "UTC"
    """Where it was said."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What `ask` gives back. `abstained` says that the memory does not tell; `text` then says what was looked for, and
    there are no citations and no confidence (0), since there is no answer.

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
    asks: tuple[str, ...] = ()
    """What the user is to decide and bears on the question, as questions, each with its id: see `facts.review()`."""

    @property
    def method(self) -> str:
        """What answered: `extractive`, or the name of a model."""
        return str(self.trace.get("method", "extractive"))


@dataclass(frozen=True, slots=True)
class Stats:
    """How much a bank holds."""

    bank: str
    turns: int
    sessions: int
    segments: int
    passages: int
    first: datetime | None
    last: datetime | None
    embedder: str
    dimension: int
    bytes: int
    schema: int
    events: int = 0
    narratives: int = 0
    entities: int = 0
    links: int = 0
    pending: int = 0
    recalls: int = 0
    """Recalls that were counted (setting `count_access`)."""
    nodes: int = 0


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that `doctor` noticed, in one sentence, and whether it was mended.

    `original` says that what was said is damaged itself: nothing else holds it, so nothing rebuilds it.
    """

    check: str
    problem: str
    fixed: bool = False
    original: bool = False


@dataclass(frozen=True, slots=True)
class Receipt:
    """What forgetting took, or with `dry_run` would take: ids and counts, none of the words.

    `rebuilt` are the turns that stay and are read again without what was forgotten. `erased` says that no byte of it is
    left under the home folder; where it is False, `notes` say what stands in the way and what finishes it. In
    PostgreSQL it says that the rows are deleted: the database overwrites their bytes later.
    """

    at: datetime
    dry_run: bool
    turns: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    """Those that have no turn left."""
    events: tuple[str, ...] = ()
    narratives: tuple[str, ...] = ()
    nodes: tuple[str, ...] = ()
    facts: tuple[str, ...] = ()
    entities: tuple[str, ...] = ()
    vectors: int = 0
    links: int = 0
    cached: int = 0
    """Embedded texts that the cache was told to drop."""
    rebuilt: tuple[str, ...] = ()
    erased: bool = False
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Statement:
    """One thing that a node or the profile says, and what bears it out.

    `first` and `last` are when it was said, `support` how often, `turns` where. A statement that is a fact of the
    facts store names it; `ended` is when that ceased to hold, None while it does.
    """

    text: str
    speaker: str
    first: datetime
    last: datetime
    support: int = 1
    turns: tuple[str, ...] = ()
    fact: str | None = None
    ended: datetime | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A node of the memory tree. `children` are ids: of nodes one level below, of turns at level 1.

    `interval` is the hull of its window and its children; `turns` are those that its text rests on.
    """

    id: str
    level: int
    interval: Interval
    text: str
    children: tuple[str, ...]
    name: str = ""
    """What the level is called: exchange, session, day, …"""
    parent: str | None = None
    turns: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Consolidated:
    """What `consolidate` did: nodes that are new, and nodes that took the place of older ones.

    `dropped` had nothing left under them; `failed` were to be written by a model and are extractive instead; `waiting`
    are still to be built when their window closes.
    """

    built: int = 0
    rebuilt: int = 0
    dropped: int = 0
    failed: int = 0
    waiting: int = 0


# How an answer is put together

TOOLS = (
    "search_turns", "search_events", "grep_turns", "grep_events", "facts_current", "facts_history", "timeline",
    "date_math",
)  # fmt: skip
GROUPS: Mapping[str, tuple[str, ...]] = {
    "vectors": ("search_turns", "search_events"),
    "grep": ("grep_turns", "grep_events"),
    "events": ("search_events", "grep_events", "timeline"),
    "facts": ("facts_current", "facts_history"),
    "tools": TOOLS,
}
"""Tools that are left out together."""
ANSWER_STAGES = ("guidance", "retrieval", "rerank", "dates")


@dataclass(frozen=True, slots=True)
class AgentRecipe:
    """The stages of an answer and their numbers, which are those of Chronos. `FULL.without("guidance")` is what an
    ablation uses.

    `guidance` says what to look for, `retrieval` brings turns before any tool is called, `rerank` puts what was found
    in the order of the original question, `dates` gives the tools their date filters. `tools` are those on offer.
    """

    name: str = "full"
    guidance: bool = True
    retrieval: bool = True
    rerank: bool = True
    dates: bool = True
    tools: tuple[str, ...] = TOOLS
    candidates: int = 100
    """What each search brings before it is ranked."""
    kept: int = 15
    """Turns that the initial retrieval keeps."""
    around: int = 1
    """Turns before and after each that come along."""
    longest: int = 24_000
    """Characters of memories that are shown at a time (about four to a token), best turns first: as the initial
    retrieval, and as the result of one call."""

    def without(self, stage: str) -> AgentRecipe:
        """The same recipe with one stage, one tool or one group of tools left out."""
        name = f"{self.name}-{stage}"
        if stage in ANSWER_STAGES:
            return replace(self, name=name, **{stage: False})  # type: ignore[arg-type]
        if stage == "around":
            return replace(self, name=name, around=0)
        gone = GROUPS.get(stage, (stage,))
        if set(gone).isdisjoint(self.tools):
            known = ", ".join((*ANSWER_STAGES, "around", *GROUPS, *TOOLS))
            raise UsageError(f"recipe '{self.name}' has no stage or tool '{stage}'; there are: {known}")
        return replace(self, name=name, tools=tuple(one for one in self.tools if one not in gone))


FULL = AgentRecipe()
