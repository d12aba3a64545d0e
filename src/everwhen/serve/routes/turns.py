"""`/v1/banks/{bank}/turns`, `/sessions`, `/grep`: what was said."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request, Response

from everwhen.memory import Memory
from everwhen.serve.pages import Cursor, Limit, Page, after_turn, page, page_of_turns
from everwhen.serve.routing import Bank, area, house_of, needs, replied, span_of, written
from everwhen.serve.schemas import GrepIn, Name, Time, TurnsIn, window
from everwhen.times import Clock
from everwhen.types import Added, EventHit, Hit, Session, Turn
from everwhen.when import Interval

router = area("turns")

From = Annotated[Time | None, Query(alias="from", description="Said at or after its beginning.")]
To = Annotated[Time | None, Query(description="Said before; a day or an expression is included.")]


@router.post("/banks/{bank}/turns", status_code=201, response_model=Added, **needs("write", "create_memory"))
async def add(request: Request, bank: Bank, body: TurnsIn) -> Response:
    """Remember messages. Durable, and recallable, when it answers; the bank comes into being when it is new."""

    def act(memory: Memory) -> tuple[Added, bytes]:
        added = memory.add(
            body.listed(), session=body.session, at=body.at, zone=body.zone, metadata=body.metadata
        )
        return added, written(added, Added)

    added, answer = await house_of(request).banks.call(bank, act, create=True)
    span_of(request).records(added.new)
    return replied(answer, 201)


@router.get("/banks/{bank}/turns", response_model=Page[Turn], **needs("read"))
async def turns(
    request: Request,
    bank: Bank,
    session: Annotated[Name | None, Query()] = None,
    from_: From = None,
    to: To = None,
    cursor: Cursor = None,
    limit: Limit = None,
) -> Response:
    """The turn calendar: what was said, in the order of time."""
    house = house_of(request)
    after = after_turn(cursor)

    def act(memory: Memory) -> bytes:
        asked = Clock(memory.zone).window((from_, to)) or Interval(None, None)
        start = max(filter(None, (asked.start, after[0] if after else None)), default=None)
        said = memory.each_turn(session, (start, asked.end))
        return written(page_of_turns(said, after, limit, house.serving), Page[Turn])

    return replied(await house.banks.call(bank, act))


@router.get("/banks/{bank}/turns/{turn:path}/around", response_model=list[Turn], **needs("read"))
async def turns_around(
    request: Request, bank: Bank, turn: str, reach: Annotated[int, Query(ge=0, le=1000)] = 1
) -> Response:
    """A turn with those right before and after it in its conversation, in the order of time."""
    return replied(
        await house_of(request).banks.call(
            bank, lambda memory: written(memory.turns_around(turn, reach), list[Turn])
        )
    )


@router.get("/banks/{bank}/turns/{turn:path}", response_model=Turn, **needs("read"))
async def turn(request: Request, bank: Bank, turn: str) -> Response:
    """One turn by its id."""
    return replied(await house_of(request).banks.call(bank, lambda memory: written(memory.turn(turn), Turn)))


@router.get("/banks/{bank}/sessions", response_model=Page[Session], **needs("read"))
async def sessions(request: Request, bank: Bank, cursor: Cursor = None, limit: Limit = None) -> Response:
    """The conversations."""
    house = house_of(request)
    return replied(
        await house.banks.call(
            bank,
            lambda memory: written(page(memory.sessions(), cursor, limit, house.serving), Page[Session]),
        )
    )


@router.post("/banks/{bank}/grep", response_model=list[Hit] | list[EventHit], **needs("read"))
async def grep(request: Request, bank: Bank, body: GrepIn) -> Response:
    """Turns, or events, whose words contain a pattern, in the order of time."""
    house = house_of(request)

    def act(memory: Memory) -> bytes:
        given: dict[str, Any] = {
            "regex": body.regex,
            "between": window(body.between),
            "limit": body.limit,
        }
        if body.calendar == "turns":
            return written(memory.grep(body.pattern, **given), list[Hit])
        return written(memory.grep(body.pattern, calendar="events", **given), list[EventHit])

    if not body.regex:
        return replied(await (house.banks.call if body.calendar == "turns" else house.banks.read)(bank, act))
    if body.calendar == "events":  # which waits for extraction: not where patterns are searched for
        await house.banks.extracted(bank)
    return replied(await house.banks.search(bank, act))
