"""`/v1/banks/{bank}/recall`: the memories that answer a question."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import Query, Request, Response

from everwhen.memory import Memory
from everwhen.recall import Recall, Recipe
from everwhen.recipes import for_budget as default_recipe
from everwhen.serve.routing import Bank, area, house_of, needs, replied, span_of, written
from everwhen.serve.schemas import RecallIn, window
from everwhen.settings import Settings
from everwhen.types import Accessed

router = area("recall")


@router.post("/banks/{bank}/recall", response_model=Recall, **needs("read"))
async def recall(request: Request, bank: Bank, body: RecallIn) -> Response:
    """The memories that answer a question, inside `max_tokens`, each with the reason for it."""
    house, traced = house_of(request), span_of(request)
    banks, settings = house.banks, house.settings
    traced.query(body.query)

    def act(memory: Memory) -> bytes:
        found = memory.recall(
            body.query,
            seek=body.seek,
            budget=body.budget,
            max_tokens=body.max_tokens,
            at=body.at,
            between=window(body.between),
            before=body.before,
            after=body.after,
            as_of=body.as_of,
            known_at=body.known_at,
            kinds=body.kinds,
            networks=body.networks,
            metadata=body.metadata,
            min_confidence=body.min_confidence,
            order=body.order,
            recipe=_recipe(body, settings),
            fresh=body.fresh,
        )
        traced.records(len(found.memories))
        if not body.include_metadata:
            bare = tuple(replace(one, metadata={}) for one in found.memories)
            found = replace(found, memories=bare)
        return written(found, Recall)

    return replied(await (banks.read if body.fresh else banks.call)(bank, act))


@router.get("/banks/{bank}/accessed", response_model=list[Accessed], **needs("read"))
async def accessed(
    request: Request, bank: Bank, limit: Annotated[int, Query(ge=1, le=1000)] = 20
) -> Response:
    """The memories that recall gave back most often."""
    return replied(
        await house_of(request).banks.call(
            bank, lambda memory: written(memory.accessed(limit), list[Accessed])
        )
    )


def _recipe(body: RecallIn, settings: Settings) -> Recipe | None:
    """The recipe asked for, less the stages that are left out; None where the budget alone decides."""
    if body.recipe is None and not body.without:
        return None
    chosen = body.recipe.recipe() if body.recipe else default_recipe(body.budget, settings)
    for stage in body.without:
        chosen = chosen.without(stage)
    return chosen
