"""The vocabulary: frozen dataclasses, with no behaviour beyond their own invariants."""

from __future__ import annotations

from everwhen.types.answers import (
    Answer,
    Citation,
    Compared,
    Comparison,
    Consolidated,
    Entry,
    EntryKind,
    Evidence,
    Finding,
    Gap,
    Node,
    Receipt,
    Statement,
    Stats,
    TimeAnswer,
    Usage,
)
from everwhen.types.context import Context
from everwhen.types.facts import (
    ORIGINS,
    Conflict,
    Entity,
    Event,
    EventHit,
    EventStatus,
    Fact,
    FactDiff,
    HalfLives,
    Linked,
    LinkType,
    Origin,
    Proposal,
    Signal,
    StaleFact,
    Status,
)
from everwhen.types.recall import Recall
from everwhen.types.times import Between, Time
from everwhen.types.turns import (
    KINDS,
    NETWORKS,
    ROLES,
    Accessed,
    Added,
    Dropped,
    Hit,
    ListWithPending,
    Message,
    Metadata,
    Recalled,
    Role,
    Session,
    Turn,
    UnitRow,
    Why,
)

__all__ = [
    "KINDS", "NETWORKS", "ORIGINS", "ROLES", "Accessed", "Added", "Answer", "Between", "Citation", "Compared",
    "Comparison", "Conflict", "Consolidated", "Context", "Dropped", "Entity", "Entry", "EntryKind", "Event",
    "EventHit", "EventStatus", "Evidence", "Fact", "FactDiff", "Finding", "Gap", "HalfLives", "Hit",
    "LinkType", "Linked", "ListWithPending", "Message", "Metadata", "Node", "Origin", "Proposal", "Recall", "Recalled",
    "Receipt", "Role", "Session", "Signal", "StaleFact", "Statement", "Stats", "Status", "Time", "TimeAnswer", "Turn",
    "UnitRow", "Usage", "Why",
]  # fmt: skip
