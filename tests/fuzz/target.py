"""What a fuzz target is, and the list of them: a name, a strategy, and what must hold for every value."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from hypothesis.strategies import SearchStrategy

from tests.fuzz.world import World

Strategy = SearchStrategy[Any] | Callable[[World], SearchStrategy[Any]]


@dataclass(frozen=True)
class Target:
    """`cases` is how many run inside `make test-long`; `make test` runs a part of them."""

    name: str
    check: Callable[[World, Any], None]
    strategy: Strategy
    cases: int

    def values(self, world: World) -> SearchStrategy[Any]:
        return self.strategy if isinstance(self.strategy, SearchStrategy) else self.strategy(world)


TARGETS: dict[str, Target] = {}


def target(
    strategy: Strategy, cases: int
) -> Callable[[Callable[[World, Any], None]], Callable[[World, Any], None]]:
    """Enter a check into the list, under its own name."""

    def entered(check: Callable[[World, Any], None]) -> Callable[[World, Any], None]:
        TARGETS[check.__name__] = Target(check.__name__, check, strategy, cases)
        return check

    return entered
