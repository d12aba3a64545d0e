"""`/tree`, `/profile`, `/consolidate`: what was said, condensed."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response

from everwhen.memory import Memory
from everwhen.serve.pages import Cursor, Limit, Page, page
from everwhen.serve.problems import Problem
from everwhen.serve.routing import Bank, area, house_of, needs, replied, span_of, written
from everwhen.serve.schemas import ConsolidateIn, Time
from everwhen.times import Clock
from everwhen.types import Consolidated, Node, Statement

router = area("tree")


@router.get("/banks/{bank}/tree", response_model=Page[Node], **needs("read"))
async def tree(
    request: Request,
    bank: Bank,
    level: Annotated[int | None, Query(ge=1, le=100, description="1 is exchanges.")] = None,
    at: Annotated[Time | None, Query(description="Nodes whose interval contains it, or overlaps it.")] = None,
    from_: Annotated[Time | None, Query(alias="from", description="Nodes that end after it.")] = None,
    to: Annotated[Time | None, Query(description="Nodes that begin before it.")] = None,
    cursor: Cursor = None,
    limit: Limit = None,
) -> Response:
    """The nodes of the memory tree, by level and time."""
    house = house_of(request)
    if at is not None and (from_ is not None or to is not None):
        raise Problem(422, "at: give an instant, or a stretch of time as from and to, not both", "UsageError")

    def act(memory: Memory) -> bytes:
        moment = at or Clock(memory.zone).window((from_, to))
        return written(page(memory.tree(level, moment), cursor, limit, house.serving), Page[Node])

    return replied(await house.banks.read(bank, act))


@router.get("/banks/{bank}/profile", response_model=Page[Statement], **needs("read"))
async def profile(request: Request, bank: Bank, cursor: Cursor = None, limit: Limit = None) -> Response:
    """What the tree's top level says, over all of time: statements with support, dates and turns."""
    house = house_of(request)

    def act(memory: Memory) -> bytes:
        return written(page(memory.profile(), cursor, limit, house.serving), Page[Statement])

    return replied(await house.banks.read(bank, act))


@router.post("/banks/{bank}/consolidate", response_model=Consolidated, **needs("write", "update_memory"))
async def consolidate(request: Request, bank: Bank, body: ConsolidateIn) -> Response:
    """Build the nodes of the tree whose windows are closed, and those again that late turns changed."""

    def act(memory: Memory) -> tuple[Consolidated, bytes]:
        memory.process(timeout=house_of(request).settings.wait_seconds)
        made = memory.consolidate(body.now)
        return made, written(made, Consolidated)

    banks = house_of(request).banks
    await banks.extracted(bank)
    made, answer = await banks.wait(bank, act)
    span_of(request).records(made.built + made.rebuilt)
    return replied(answer)
