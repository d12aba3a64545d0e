"""The memory tree: what was said, condensed by exchange, session, day, week and month."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import KW_ONLY
from typing import Annotated

from annotated_types import Ge, Le
from pydantic import Field, SkipValidation

from everwhen.api.operations.base import Operation, Spec, operation
from everwhen.api.operations.fields import LOCAL, WHOLE, AsOfTime, KnownAtTime, MomentOrEnd, MomentOrInterval
from everwhen.types import Consolidated, Listed, Node, Statement


@operation
class Consolidate(Operation[Consolidated]):
    """Build the nodes of the tree whose windows are closed, and build again those that late turns changed.

    A window is closed when the newest turn of the bank lies behind it; `now` says another moment, and "end" takes
    the open ones too. `progress` hears how many nodes are written and how many are on the list.
    """

    spec = Spec("POST /consolidate", scope="write", runs="long", traced="update_memory")
    now: Annotated[
        MomentOrEnd | None, Field(description="Windows before it are closed; `end`: the open ones too.")
    ] = None
    _: KW_ONLY
    progress: Annotated[Callable[[int, int], None] | None, SkipValidation, LOCAL] = None


@operation
class Tree(Operation[Listed[Node]]):
    """The nodes of the memory tree, by level and time.

    `at` keeps those whose interval contains an instant, or overlaps a day, an expression or an interval. Level 1
    is always there; the levels above are what `consolidate` has built.

    With `known_at`, the nodes that stood then, in the version of then. With `as_of`, a node is there in its newest
    version that was built from nothing said later; a window that has no such version is left out.
    """

    spec = Spec("GET /tree", paged=True)
    level: Annotated[Annotated[int, Ge(1), Le(100), WHOLE] | None, Field(description="1 is exchanges.")] = (
        None
    )
    at: Annotated[
        MomentOrInterval | None, Field(description="Nodes whose interval contains it, or overlaps it.")
    ] = None
    _: KW_ONLY
    as_of: AsOfTime = None
    known_at: KnownAtTime = None


@operation
class Profile(Operation[Listed[Statement]]):
    """What the tree's top level says, over all of time: statements with support, dates and turns.

    `as_of` and `known_at` choose the versions of its nodes as `tree` does, and the facts as they were believed then;
    of a window that went on after `as_of`, the statements that had been made by then.
    """

    spec = Spec("GET /profile", paged=True)
    _: KW_ONLY
    as_of: AsOfTime = None
    known_at: KnownAtTime = None
