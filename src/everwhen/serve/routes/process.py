"""`/process` waits no longer than the server allows, and `/consolidate` begins when all turns are extracted."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request, Response
from pydantic import BaseModel

from everwhen.memory import Memory
from everwhen.operations.tree import Consolidate
from everwhen.serve.routes.operations import Asked, Special, perform
from everwhen.serve.routing import Bank, area, needs, replied, state_of, written

router = area("maintenance")


class Count(BaseModel):
    """How many."""

    count: int


@router.post("/banks/{bank}/process", response_model=Count, **needs("write", "update_memory"))
async def process(
    request: Request,
    bank: Bank,
    wait: Annotated[
        float | None, Query(ge=0, le=1e9, description="Seconds; the server has a bound too.")
    ] = None,
) -> Response:
    """Wait for the extraction of what was added (503 when it takes long); how many turns were waiting."""
    state = state_of(request)
    bound = state.settings.wait_seconds
    seconds = bound if wait is None else min(wait, bound)

    def act(memory: Memory) -> bytes:
        return written(Count(count=memory.process(timeout=seconds)), Count)

    return replied(await state.banks.wait(bank, act))


async def _consolidate(asked: Asked) -> Response:
    state = asked.state

    def act(memory: Memory) -> Any:
        memory.process(timeout=state.settings.wait_seconds)
        return memory.perform(asked.operation)

    await state.banks.extracted(asked.bank)
    return await perform(asked, act)


SPECIAL = {Consolidate: Special(_consolidate)}
