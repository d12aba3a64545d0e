"""`/recall` takes two arguments more than the operation: `include_metadata` and `without`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import Response
from pydantic import Field

from everwhen.memory import Memory
from everwhen.operations.recall import RecallMemories
from everwhen.recipes import CHANNELS, STAGES, for_budget
from everwhen.serve.arguments import some_of
from everwhen.serve.routes.operations import Asked, Special, perform
from everwhen.types import Recall


async def _recall(asked: Asked) -> Response:
    banks, operation = asked.state.banks, _less(asked)

    def act(memory: Memory) -> Recall:
        found: Recall = memory.perform(operation)
        if asked.values["include_metadata"]:
            return found
        return replace(found, memories=tuple(replace(one, metadata={}) for one in found.memories))

    return await perform(asked, act, banks.read if operation.fresh else banks.call)


def _less(asked: Asked) -> Any:
    """The operation less the stages that are left out."""
    operation = asked.operation
    if not asked.values["without"]:
        return operation
    recipe = operation.recipe or for_budget(operation.budget, asked.state.settings)
    for stage in asked.values["without"]:
        recipe = recipe.without(stage)
    return replace(operation, recipe=recipe)


SPECIAL = {
    RecallMemories: Special(
        _recall,
        more={
            "include_metadata": (
                bool,
                Field(False, description="Give each memory's metadata too; `max_tokens` does not count it."),
            ),
            "without": (
                some_of((*CHANNELS, *STAGES)),
                Field([], description="Stages to leave out, such as `rerank`."),
            ),
        },
    )
}
