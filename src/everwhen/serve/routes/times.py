"""`/when`, `/compare`, `/timeline`: answers about time."""

from __future__ import annotations

from fastapi import Request, Response

from everwhen.memory import Memory
from everwhen.serve.pages import Page, page
from everwhen.serve.routing import Bank, area, house_of, needs, replied, span_of, written
from everwhen.serve.schemas import CompareIn, TimelineIn, WhenIn, window
from everwhen.types import Comparison, Entry, TimeAnswer

router = area("time")


@router.post("/banks/{bank}/when", response_model=TimeAnswer | None, **needs("read"))
async def when(request: Request, bank: Bank, body: WhenIn) -> Response:
    """When something happened, holds or is planned, with the sentences that say so; null where nothing tells."""
    span_of(request).query(body.query)

    def act(memory: Memory) -> bytes:
        found = memory.when(body.query, at=body.at, between=window(body.between), as_of=body.as_of)
        return written(found, TimeAnswer | None)

    return replied(await house_of(request).banks.read(bank, act))


@router.post("/banks/{bank}/compare", response_model=Comparison, **needs("read"))
async def compare(request: Request, bank: Bank, body: CompareIn) -> Response:
    """Which of two events came first, and how many days lie between them."""

    def act(memory: Memory) -> bytes:
        return written(memory.compare(body.a, body.b, at=body.at), Comparison)

    return replied(await house_of(request).banks.read(bank, act))


@router.post("/banks/{bank}/timeline", response_model=Page[Entry], **needs("read"))
async def timeline(request: Request, bank: Bank, body: TimelineIn) -> Response:
    """What happened, what began or ended to be true, and the conversations, in the order of time."""
    house = house_of(request)

    def act(memory: Memory) -> bytes:
        inside = window(body.between)
        found = memory.timeline(body.about, inside, body.grain, negated=body.negated, known_at=body.known_at)
        return written(page(found, body.cursor, body.limit, house.serving), Page[Entry])

    return replied(await house.banks.read(bank, act))
