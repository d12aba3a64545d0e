"""What a question asks about time apart from the times it names; the same type for all languages."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from everwhen.when.iso import Duration

Order = Literal["first", "last"]
AnchorRelation = Literal["before", "after", "during", "since", "until"]


@dataclass(frozen=True, slots=True)
class QuestionCues:
    """Whether a question counts ("how often") or is strict ("only in"), the order and the anchor; see `Constraint`."""

    counts: bool = False
    strict: bool = False
    order: Order | None = None
    anchor: tuple[AnchorRelation, str, Duration | None] | None = None
