"""The budget stage: the memories that fit in the tokens, with the dates of what they say, and no more than `top_k`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from everwhen.recall.date_annotations import with_dates
from everwhen.recall.request import Request
from everwhen.recall.stage_times import timed
from everwhen.recall.token_budget import fill, fill_by_rank
from everwhen.store.sql.store import Store
from everwhen.types import Recalled
from everwhen.types.recall import tokens_of

SPARE = 1.25
"""Times the budget that is looked at where dates are added, so that what they crowd out makes room for something."""


class Selected(NamedTuple):
    """The memories that are given back, and those that are not; each in the order of relevance."""

    kept: list[Recalled]
    beyond: list[Recalled]
    """What would fit, and is more than was asked for."""
    left: list[Recalled]
    """What does not fit."""


def select(store: Store, ranked: Sequence[Recalled], request: Request, timings: dict[str, float]) -> Selected:
    """What fits, as its recipe shows it. Where not everything fits, dates and memories compete for the room; where
    everything does, or rank alone decides, dates take what is left."""
    by_rank = request.recipe.by_rank
    with timed(timings, "budget"):
        most = request.max_tokens
        kept, left, _ = fill_by_rank(ranked, most) if by_rank else fill(ranked, most)
        compete = bool(left) and not by_rank
    if request.recipe.dates and compete:
        with timed(timings, "dates"):
            near = _near(ranked, left, int(request.max_tokens * SPARE))
            dated = with_dates(store, near)
            kept, _, _ = fill(dated, request.max_tokens, _without_dates(dated, near))
            there = {one.id for one in kept}
            left = [one for one in ranked if one.id not in there]
    kept, beyond = kept[: request.top_k], [] if request.top_k is None else kept[request.top_k :]
    if request.recipe.dates and not compete:
        with timed(timings, "dates"):
            kept = _beside(store, kept, request.max_tokens)
    return Selected(kept, beyond, left)


def _near(ranked: Sequence[Recalled], left: Sequence[Recalled], max_tokens: int) -> list[Recalled]:
    """What fits, and beside it the best of what may fit instead of something that its dates crowd out."""
    outside = {one.id for one in left}
    room = max_tokens - sum([one.tokens for one in ranked if one.id not in outside])
    for one in sorted(left, key=lambda memory: -memory.score / max(memory.tokens, 1)):
        if one.tokens <= room:
            room -= one.tokens
            outside.discard(one.id)
    return [one for one in ranked if one.id not in outside]


def _beside(store: Store, kept: Sequence[Recalled], max_tokens: int) -> list[Recalled]:
    """All of them, with the dates for which there is room beside them, those of the best first."""
    room = max_tokens - tokens_of(kept)
    dated = with_dates(store, kept)
    out = []
    for one, plain in zip(dated, _without_dates(dated, kept), strict=True):
        more = one.tokens - plain.tokens
        out.append(one if more <= room else plain)
        room -= more if more <= room else 0
    return out


def _without_dates(dated: Sequence[Recalled], before: Sequence[Recalled]) -> list[Recalled]:
    return [
        replace(one, shown="", tokens=plain.tokens) if one.shown else one
        for one, plain in zip(dated, before, strict=True)
    ]
