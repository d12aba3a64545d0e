"""What the words around the times of a question ask, in whatever language."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from everwhen.when.iso import Duration

Order = Literal["first", "last"]
AnchorRelation = Literal["before", "after", "during", "since", "until"]


@dataclass(frozen=True, slots=True)
class Asked:
    """Counting ("how often"), strictness ("only in"), order and anchor of a question, as `Constraint` has them."""

    counts: bool = False
    strict: bool = False
    order: Order | None = None
    anchor: tuple[AnchorRelation, str, Duration | None] | None = None
