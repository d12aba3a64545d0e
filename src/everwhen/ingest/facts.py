"""Where extracted facts go: one small function, so that the facts room is the only one that knows how they are kept."""

from __future__ import annotations

from collections.abc import Sequence

from everwhen.ingest.extract.base import ExtractedFact
from everwhen.ingest.pipeline import Hand
from everwhen.store import Store
from everwhen.types import Turn


def hand_over(store: Store) -> Hand:
    """A function that gives extracted facts, with the turns that they came from, to the facts room."""

    def give(facts: Sequence[ExtractedFact], turns: dict[str, Turn]) -> None:
        pass

    return give
