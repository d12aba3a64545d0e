"""What a bank holds: numbers, findings, receipts, and the nodes of its tree."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from everwhen.when import Interval


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
