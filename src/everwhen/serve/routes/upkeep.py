"""`/process`, `/reextract`, `/doctor`: look after a bank."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response

from everwhen.memory import Memory
from everwhen.serve.routing import Bank, area, house_of, needs, replied, written
from everwhen.serve.schemas import Count, DoctorIn, ReextractIn
from everwhen.types import Finding

router = area("upkeep")


@router.post("/banks/{bank}/process", response_model=Count, **needs("write", "update_memory"))
async def process(
    request: Request,
    bank: Bank,
    wait: Annotated[
        float | None, Query(ge=0, le=1e9, description="Seconds; the server has a bound too.")
    ] = None,
) -> Response:
    """Wait for the extraction of what was added (503 when it takes long); how many turns were waiting."""
    house = house_of(request)
    bound = house.settings.wait_seconds
    seconds = bound if wait is None else min(wait, bound)

    def act(memory: Memory) -> bytes:
        return written(Count(count=memory.process(timeout=seconds)), Count)

    return replied(await house.banks.wait(bank, act))


@router.post(
    "/banks/{bank}/reextract", status_code=202, response_model=Count, **needs("admin", "update_memory")
)
async def reextract(request: Request, bank: Bank, body: ReextractIn) -> Response:
    """Derive events, entities and links again, from some turns or all; how many turns."""
    return replied(
        await house_of(request).banks.wait(
            bank, lambda memory: written(Count(count=memory.reextract(body.turns)), Count)
        ),
        202,
    )


@router.post("/banks/{bank}/doctor", response_model=list[Finding], **needs("admin", "update_memory"))
async def doctor(request: Request, bank: Bank, body: DoctorIn) -> Response:
    """What is wrong with the bank; `fix` rebuilds what is derived."""
    return replied(
        await house_of(request).banks.wait(
            bank, lambda memory: written(memory.doctor(body.fix), list[Finding])
        )
    )
