"""The Extractor protocol, what comes out of one, and the one that is set: the seam between turns and the memory
graph.

An extractor is a pure reader: a batch in, an `Extraction` out. It writes nothing, resolves no identity (names are as
the text has them, first person turned into the speaker's name) and makes no id; the pipeline does that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, Protocol, TypeAlias, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from everwhen.models.comparison import open_reader
from everwhen.settings import Settings
from everwhen.types import Origin, Turn, Usage
from everwhen_time import Interval

Status: TypeAlias = Literal["happened", "ongoing", "planned", "hypothetical", "negated"]
STATUSES: tuple[Status, ...] = ("happened", "ongoing", "planned", "hypothetical", "negated")

Network: TypeAlias = Literal["world", "experience", "opinion"]
"""`experience` is what the agent itself did or said, `opinion` a held belief, `world` everything else."""

EntityType: TypeAlias = Literal[
    "PERSON", "ORGANIZATION", "LOCATION", "PRODUCT", "FILE", "COMMIT", "CONCEPT", "OTHER"
]  # fmt: skip

BATCH_TURNS = 25
"""Turns extracted together at the most (Chronos)."""
OVERLAP_TURNS = 5
"""Turns before them that are read again as context, and yield nothing (Chronos)."""
LOOK_BACK_TURNS = 24 + OVERLAP_TURNS
"""Turns before a batch among which the beginning of the topic that it goes on with is looked for, and those that are
needed to understand the first of them."""


@dataclass(frozen=True, slots=True)
class Batch:
    """Turns of one session in the order of time. Only `turns` are extracted; `before` is there to understand
    them (who "she" is, what "it" answers), so that no overlap can yield anything twice."""

    session: str
    turns: tuple[Turn, ...]
    before: tuple[Turn, ...] = ()
    earlier: tuple[Turn, ...] = ()
    """Turns before those of `before`: only a narrative that goes on may reach back to them."""
    vectors: Mapping[str, NDArray[np.float32]] = field(default_factory=dict, compare=False)
    """What turns mean, where that is known: shows where a topic ends."""

    @property
    def ids(self) -> frozenset[str]:
        return frozenset(turn.id for turn in self.turns)


@dataclass(frozen=True, slots=True)
class ExtractedEvent:
    """Who did what, when: one clause, one interval.

    `expression` is the time as the speaker worded it and `occurred` what `everwhen_time` made of it; with no
    time in the text `occurred` is the turn's day, `inferred` is True and the confidence lower. `polarity` is
    -1 where the clause is denied, whatever its status ("I won't go tomorrow": negated, -1). `text` is a
    sentence that can be read alone. `entities` are names among those of `Extraction.entities`.
    """

    subject: str
    verb: str
    """The lemma, with its particle: "buy", "pick up"."""
    object: str
    """What the verb is about: object, complement or prepositional object ("to Porto"); may be empty."""
    text: str
    turns: tuple[str, ...]
    occurred: Interval | None = None
    expression: str = ""
    inferred: bool = False
    status: Status = "happened"
    polarity: Literal[-1, 1] = 1
    quantity: str = ""
    """An amount in the clause, as said: "20 km", "three"."""
    aliases: tuple[str, ...] = ()
    """Two to four renderings in other words, which do not repeat the key nouns, where a language model gave them."""
    confidence: float = 0.8
    network: Network = "world"
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtractedNarrative:
    """What the talk was about while it was about one thing, readable alone: who said or did what and why, the
    speaker's time words kept and the resolved interval beside them."""

    text: str
    turns: tuple[str, ...]
    network: Network = "world"
    confidence: float = 0.7
    occurred: Interval | None = None
    entities: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ExtractedEntity:
    """A name as mentioned. Who it is, the pipeline decides."""

    name: str
    type: EntityType
    turns: tuple[str, ...]
    tentative: bool = False
    """Whether one sentence does not show that it is one: a concept has to be said again, a name to be known."""
    sure: bool = True
    """Whether the type is said, and no guess of the parser's."""


FactStatus = Literal["holds", "held", "planned", "ended", "denied"]
"""What is said of a fact: that it holds, held at a time, will hold from a day on, holds no longer, or is not so."""


@dataclass(frozen=True, slots=True)
class ExtractedFact:
    """A stable subject-predicate-object statement. `valid` None or an open side: not said.

    Of one that has ended or is denied, `valid` begins where what held before ends. Of one that held at a time, `valid`
    is that time: whether it held before and after is not said.
    """

    subject: str
    predicate: str
    object: str
    turns: tuple[str, ...]
    domain: str = "general"
    valid: Interval | None = None
    confidence: float = 0.8
    status: FactStatus = "holds"
    origin: Origin = "observation"
    """Who says so; the pipeline knows, an extractor need not."""


@dataclass(frozen=True, slots=True)
class CausalLink:
    """One event brought about another; both are places in `Extraction.events`."""

    cause: int
    effect: int
    confidence: float = 0.7


@dataclass(frozen=True, slots=True)
class Failure:
    """Something that went wrong while extracting and was made good (or not); `doctor` shows it."""

    turns: tuple[str, ...]
    reason: str
    """One sentence for a person: "the model timed out; rules were used instead"."""


@dataclass(frozen=True, slots=True)
class Extraction:
    """All that was found in a batch, and by whom: a fallback names the extractor that really did the work."""

    extractor: str
    version: str
    events: tuple[ExtractedEvent, ...] = ()
    narratives: tuple[ExtractedNarrative, ...] = ()
    entities: tuple[ExtractedEntity, ...] = ()
    facts: tuple[ExtractedFact, ...] = ()
    causes: tuple[CausalLink, ...] = ()
    failures: tuple[Failure, ...] = ()
    model: str = ""
    """The language model that was asked, and `usage` what that took."""
    usage: Usage | None = None

    @property
    def in_vain(self) -> bool:
        """Nothing was found because something went wrong: that says nothing about the turns."""
        return bool(self.failures) and not (self.events or self.narratives or self.entities or self.facts)


@runtime_checkable
class Extractor(Protocol):
    """Used by: the ingest pipeline. Uses: a parser and rules, or a language model."""

    name: str
    """`rules` or `llm:<model>`: written beside everything derived."""

    @property
    def version(self) -> str:
        """Changes when the same text would yield something else."""
        ...

    def extract(self, batch: Batch) -> Extraction:
        """What the batch's `turns` say. Never raises for what the text holds; the order is that of the turns."""
        ...


def open_extractor(settings: Settings) -> Extractor | None:
    """The extractor that is set; None for `none`. Its model is loaded at first use, and shared by all banks."""
    name = settings.extract
    if name == "none":
        return None
    if name == "rules":
        return _rules(settings.reader)
    from everwhen.models.llm.pydantic_ai import llm_of
    from everwhen.write.extract.llm import LLMExtractor

    return LLMExtractor(llm_of(settings, name.removeprefix("llm:")), _rules(settings.reader))


@lru_cache(maxsize=2)
def _rules(reader: str) -> Extractor:
    from everwhen.write.extract.rule_extractor import RuleExtractor

    return RuleExtractor(open_reader(reader))
