"""What a reader reads, and what it says of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

KINDS = ("span", "yes", "no", "none")
STATUSES = ("true", "denied", "supposed", "planned", "ended", "reported", "fiction")


@dataclass(frozen=True, slots=True)
class Passage:
    """A turn as it is read."""

    speaker: str
    text: str
    before: str = ""
    """The end of the turn before, with its speaker."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one passage says about a question."""

    relevance: float
    """A logit: above 0 it answers more likely than not."""
    kinds: NDArray[np.float32]
    """Chances of `KINDS`."""
    statuses: NDArray[np.float32]
    """Chances of `STATUSES`."""
    span: tuple[int, int]
    """Where in the passage's text the answer would stand: characters, half-open; empty where none could."""
    span_chance: float
    others: tuple[tuple[int, int], ...] = ()
    """Other places, apart from it, that are about as likely: an answer may have several parts."""

    @property
    def kind(self) -> str:
        return KINDS[int(self.kinds.argmax())]

    @property
    def status(self) -> str:
        return STATUSES[int(self.statuses.argmax())]


@dataclass(frozen=True, slots=True)
class ProposedAnswer:
    """Words of a passage that would answer one of many questions, seen at a glance."""

    question: int
    """Its number among those that were asked."""
    span: tuple[int, int]
    """Characters of the passage's text, half-open."""
    chance: float


class Reader(Protocol):
    """Reads passages beside a question. Above: recall and the answers; below: a network, or a caller's own."""

    name: str

    def relevance(self, question: str, passages: Sequence[Passage]) -> NDArray[np.float32]:
        """The logit of each passage that it answers."""
        ...

    def renews(self, question: str, pairs: Sequence[tuple[Passage, Passage]]) -> NDArray[np.float32]:
        """The logit, of each earlier and later passage, that the later one replaces what the earlier one says."""
        ...

    def read(self, question: str, passages: Sequence[Passage]) -> list[Reading]:
        """Everything that it says of each passage."""
        ...

    def read_each(self, pairs: Sequence[tuple[str, Passage]]) -> list[Reading]:
        """The same of passages that are asked a question each."""
        ...

    def tells(self, questions: Sequence[str], passages: Sequence[Passage]) -> list[list[ProposedAnswer]]:
        """What each passage tells of any of the questions: one run a passage, however many there are."""
        ...
