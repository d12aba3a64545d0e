"""What a recall finds, and why."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from everwhen.types.turns import Metadata
from everwhen.when import Interval


@dataclass(frozen=True, slots=True)
class Why:
    """The reason for one recalled memory: its rank and score in each channel, and what fusion made of them.

    `fused` is relative to the best memory, `parts` what each feature added to the sum behind it (the reranker's among
    them); `affinity` is how well its date fits those of the other hits, where SATF took part. A memory that is here
    only because it stands next to another one names that in `beside`.
    """

    ranks: Mapping[str, int] = field(default_factory=dict)
    scores: Mapping[str, float] = field(default_factory=dict)
    fused: float = 0.0
    parts: Mapping[str, float] = field(default_factory=dict)
    affinity: float | None = None
    beside: str | None = None

    def __str__(self) -> str:
        parts = [f"{name} #{rank} ({self.scores[name]:.2f})" for name, rank in self.ranks.items()]
        return ", ".join(parts) or "no channel"


@dataclass(frozen=True, slots=True)
class Recalled:
    """One memory given back: its words, when it was said, where it comes from, and why it is here.

    `occurred` is the time that it is about. A turn that speaks of several times has the interval that covers them all.
    """

    id: str
    kind: str
    text: str
    said_at: datetime
    zone: str
    turns: tuple[str, ...]
    session: str
    speaker: str
    score: float
    why: Why
    tokens: int
    occurred: Interval | None = None
    metadata: Metadata = field(default_factory=dict)
    level: int = 0
    """Of a node of the tree; 0 for all else."""
    shown: str = ""
    """The text with the dates of what it says, as a prompt has it; empty where that is the text itself. The tokens are
    those of what is shown."""


@dataclass(frozen=True, slots=True)
class Dropped:
    """A memory that was found and not returned. One that no channel found, or that a filter excludes, is not listed."""

    id: str
    reason: str
    """Such as `no room in max_tokens`, `beyond top_k`, `it does not hold at the time asked about`."""
    score: float
    """Relative to the best memory, from 0 to 1."""


@dataclass(frozen=True, slots=True)
class Accessed:
    """A memory with how often recall gave it back, and when last."""

    id: str
    kind: str
    text: str
    speaker: str
    said_at: datetime
    zone: str
    count: int
    last_at: datetime


class UnitRow(NamedTuple):
    """A retrievable memory as stored. A raw one is a single turn; `text` is what was said, without context.

    A tuple, as recall reads hundreds for each question and a frozen dataclass takes four times as long to make.
    """

    seq: int
    id: str
    kind: str
    network: str
    text: str
    said_at: datetime
    zone: str
    session: str
    speaker: str
    tokens: int
    turns: tuple[str, ...]
    metadata: Mapping[str, Any]
    occurred: Interval | None = None
    confidence: float | None = None
    level: int = 0
    """Of a node of the tree; 0 for all else."""
