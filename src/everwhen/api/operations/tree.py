"""The memory tree: what was said, condensed by exchange, session, day, week and month."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Annotated

from everwhen.api.operations.arguments import AsOfTime, Help, Here, KnownAtTime, Moment, Whole
from everwhen.api.operations.base import Operation, Spec
from everwhen.api.operations.frozen import frozen
from everwhen.types import Consolidated, Listed, Node, Statement, Time
from everwhen_time import Interval


@frozen
class Consolidate(Operation[Consolidated]):
    """Build the nodes of the tree whose windows are closed, and build again those that late turns changed.

    A window is closed when the newest turn of the bank lies behind it; `now` says another moment, and "end" takes
    the open ones too. `progress` hears how many nodes are written and how many are on the list.
    """

    spec = Spec("POST /consolidate", scope="write", runs="long", traced="update_memory")
    now: Annotated[
        Time | None, Moment(end=True), Help("Windows before it are closed; `end`: the open ones too.")
    ] = None
    _: KW_ONLY
    progress: Annotated[Callable[[int, int], None] | None, Here()] = None


@frozen
class Tree(Operation[Listed[Node]]):
    """The nodes of the memory tree, by level and time.

    `at` keeps those whose interval contains an instant, or overlaps a day, an expression or an interval. Level 1
    is always there; the levels above are what `consolidate` has built.

    With `known_at`, the nodes that stood then, in the version of then. With `as_of`, a node is there in its newest
    version that was built from nothing said later; a window that has no such version is left out.
    """

    spec = Spec("GET /tree", paged=True)
    level: Annotated[int | None, Whole(least=1, most=100), Help("1 is exchanges.")] = None
    at: Annotated[
        Time | Interval | None,
        Moment(interval=True),
        Help("Nodes whose interval contains it, or overlaps it."),
    ] = None
    _: KW_ONLY
    as_of: AsOfTime = None
    known_at: KnownAtTime = None


@frozen
class Profile(Operation[Listed[Statement]]):
    """What the tree's top level says, over all of time: statements with support, dates and turns.

    `as_of` and `known_at` choose the versions of its nodes as `tree` does, and the facts as they were believed then;
    of a window that went on after `as_of`, the statements that had been made by then.
    """

    spec = Spec("GET /profile", paged=True)
    _: KW_ONLY
    as_of: AsOfTime = None
    known_at: KnownAtTime = None
