"""`/events`, `/entities`: what was read in the turns, and people's decisions about who is who."""

from __future__ import annotations

from typing import Annotated

from fastapi import Path, Query, Request, Response

from everwhen.memory import Memory
from everwhen.serve.pages import Cursor, Limit, Page, page
from everwhen.serve.routes.turns import From, To
from everwhen.serve.routing import Bank, area, house_of, needs, replied, written
from everwhen.serve.schemas import MergeIn, Name, RenameIn, SplitIn, Time, Undone
from everwhen.types import Entity, Event, EventStatus, Linked, UnitRow

router = area("events and entities")


@router.get("/banks/{bank}/events", response_model=Page[Event], **needs("read"))
async def events(
    request: Request,
    bank: Bank,
    about: Annotated[Name | None, Query()] = None,
    from_: From = None,
    to: To = None,
    subject: Annotated[Name | None, Query()] = None,
    verb: Annotated[Name | None, Query()] = None,
    status: Annotated[EventStatus | None, Query()] = None,
    known_at: Annotated[Time | None, Query(description="As it was known then.")] = None,
    cursor: Cursor = None,
    limit: Limit = None,
) -> Response:
    """The event calendar: who did what, when. `from` and `to` bound when it may have happened."""
    house = house_of(request)

    def act(memory: Memory) -> bytes:
        found = memory.events(about, (from_, to), subject, verb, status, known_at)
        return written(page(found, cursor, limit, house.serving), Page[Event])

    return replied(await house.banks.read(bank, act))


@router.get("/banks/{bank}/entities", response_model=Page[Entity], **needs("read"))
async def entities(request: Request, bank: Bank, cursor: Cursor = None, limit: Limit = None) -> Response:
    """Everyone and everything that has a name, those spoken of most first."""
    house = house_of(request)
    return replied(
        await house.banks.read(
            bank,
            lambda memory: written(page(memory.entities(), cursor, limit, house.serving), Page[Entity]),
        )
    )


@router.post("/banks/{bank}/entities/merge", response_model=Entity, **needs("write", "update_memory"))
async def merge(request: Request, bank: Bank, body: MergeIn) -> Response:
    """Say that two entities are one."""
    return replied(
        await house_of(request).banks.read(
            bank, lambda memory: written(memory.merge_entities(body.a, body.b), Entity)
        )
    )


@router.post("/banks/{bank}/entities/undo", response_model=Undone, **needs("write", "update_memory"))
async def undo(request: Request, bank: Bank) -> Response:
    """Take back the last merge, split or rename."""
    return replied(
        await house_of(request).banks.read(
            bank, lambda memory: written(Undone(action=memory.undo_entities()), Undone)
        )
    )


@router.post(
    "/banks/{bank}/entities/{name:path}/split", response_model=Entity, **needs("write", "update_memory")
)
async def split(request: Request, bank: Bank, name: str, body: SplitIn) -> Response:
    """Give some of the names that an entity goes by an identity of their own."""
    return replied(
        await house_of(request).banks.read(
            bank, lambda memory: written(memory.split_entity(name, body.names, body.type), Entity)
        )
    )


@router.post(
    "/banks/{bank}/entities/{name:path}/rename", response_model=Entity, **needs("write", "update_memory")
)
async def rename(request: Request, bank: Bank, name: str, body: RenameIn) -> Response:
    """Give an entity another name."""
    return replied(
        await house_of(request).banks.read(
            bank, lambda memory: written(memory.rename_entity(name, body.new), Entity)
        )
    )


@router.get("/banks/{bank}/entities/{name:path}/mentions", response_model=list[UnitRow], **needs("read"))
async def mentions(
    request: Request, bank: Bank, name: str, limit: Annotated[int, Query(ge=1, le=1000)] = 20
) -> Response:
    """The memories that mention an entity, newest first."""
    return replied(
        await house_of(request).banks.read(
            bank, lambda memory: written(memory.mentions(name, limit), list[UnitRow])
        )
    )


@router.get(
    "/banks/{bank}/entities/{name:path}/seen-with", response_model=list[tuple[str, int]], **needs("read")
)
async def seen_with(request: Request, bank: Bank, name: str) -> Response:
    """Who else is mentioned where an entity is, and in how many memories."""
    return replied(
        await house_of(request).banks.read(
            bank, lambda memory: written(memory.seen_with(name), list[tuple[str, int]])
        )
    )


@router.get("/banks/{bank}/units/{unit}/links", response_model=list[Linked], **needs("read"))
async def links(
    request: Request,
    bank: Bank,
    unit: Annotated[int, Path(ge=1, le=2**53)],
    fan_out: Annotated[int, Query(ge=1, le=1000)] = 50,
) -> Response:
    """The neighbours of a memory in the graph, best first."""
    return replied(
        await house_of(request).banks.call(
            bank, lambda memory: written(memory.links(unit, fan_out), list[Linked])
        )
    )


# Last: a name may hold slashes, and would swallow the addresses above.
@router.get("/banks/{bank}/entities/{name:path}", response_model=Entity, **needs("read"))
async def entity(request: Request, bank: Bank, name: str) -> Response:
    """One entity by its id, its name or another name it goes by."""
    return replied(
        await house_of(request).banks.read(bank, lambda memory: written(memory.entity(name), Entity))
    )
