"""`/v1/banks`: which there are, what they hold, how they are set; `/export` and `/import`, which move one."""

from __future__ import annotations

from typing import Annotated

from fastapi import Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import StreamingResponse

from everwhen.api.memory import Memory
from everwhen.api.operations.base import Days, Name, Rule
from everwhen.errors import NotFound
from everwhen.serve.pagination import Cursor, Limit, Page, page
from everwhen.serve.routing import Bank, area, needs, replied, span_of, state_of, written
from everwhen.serve.transfer_files import Imported, pieces
from everwhen.types import HalfLives, Stats

router = area("banks")
MOST_DOMAINS = 1000


class Body(BaseModel):
    """A request: nothing that is not asked for, nothing turned into something else."""

    model_config = ConfigDict(extra="forbid", strict=True)


class BankIn(Body):
    """What can be set of a bank; what is left out stays."""

    zone: Name | None = Field(None, examples=["Europe/Lisbon"])
    half_lives: dict[Name, Days] | None = Field(None, max_length=MOST_DOMAINS)
    half_life: Days | None = None
    retention: Rule | None = Field(
        None,
        examples=["keep raw turns 90 days, summaries for ever"],
        description="How long what is kept once `/retain` is called; empty for ever.",
    )


class BankName(BaseModel):
    """A bank in the list of banks."""

    name: str
    bytes: int


class BankOut(BaseModel):
    """A bank: its settings and what it holds."""

    name: str
    zone: str
    half_lives: HalfLives
    retention: str
    stats: Stats


@router.get("/banks", response_model=Page[BankName], **needs("read"))
async def list_banks(request: Request, cursor: Cursor = None, limit: Limit = None) -> Response:
    """The banks that this key may read."""
    state = state_of(request)
    seen = [name for name in state.banks.stored.names() if request.state.caller.allows("read", name)]
    chosen = page(seen, cursor, limit, state.serving)
    items = [BankName(name=name, bytes=state.banks.stored.size(name)) for name in chosen.items]
    found = Page[BankName](items=items, next_cursor=chosen.next_cursor)
    return replied(written(found, Page[BankName]))


@router.get("/banks/{bank}", response_model=BankOut, **needs("read"))
async def read_bank(request: Request, bank: Bank) -> Response:
    """One bank: its settings, what it holds, and how many turns wait for extraction."""
    return replied(await state_of(request).banks.call(bank, _described))


@router.patch("/banks/{bank}", response_model=BankOut, **needs("admin", "update_memory"))
async def set_bank(request: Request, bank: Bank, body: BankIn) -> Response:
    """Set a bank's zone, half-lives or rule of retention; it comes into being when it is new."""
    banks = state_of(request).banks

    def change(memory: Memory) -> None:
        for domain, days in (body.half_lives or {}).items():
            memory.facts.set_half_life(domain, days)
        if body.half_life is not None:
            memory.facts.set_half_life(None, body.half_life)
        if body.retention is not None:
            memory.set_retention(body.retention)
        if body.zone is not None:
            banks.rezone(bank, body.zone)

    await banks.call(bank, change, create=True)
    return replied(await banks.call(bank, _described))


@router.delete("/banks/{bank}", status_code=204, **needs("admin", "delete_memory_store"))
async def delete_bank(request: Request, bank: Bank) -> Response:
    """Delete a bank with everything in it, for good."""
    state = state_of(request)
    if not state.banks.stored.exists(bank):
        raise NotFound(f"there is no bank '{bank}'")
    await state.banks.aside(state.banks.remove, bank)
    await state.banks.aside(state.forget, bank)
    return Response(status_code=204)


def _described(memory: Memory) -> bytes:
    found = BankOut(
        name=memory.bank,
        zone=memory.zone,
        half_lives=memory.facts.half_lives,
        retention=memory.retention,
        stats=memory.stats(),
    )
    return written(found, BankOut)


transfer = area("transfer")
LINES = "application/x-ndjson"
_EXPORT = needs("admin", once=False)
_EXPORT["responses"][200] = {
    "description": "The bank as JSON lines, checksummed.",
    "content": {LINES: {"schema": {"type": "string"}}},
}
_IMPORT = needs("admin", "create_memory")
_IMPORT["openapi_extra"]["requestBody"] = {
    "required": False,
    "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
}


class ExportIn(Body):
    """What an export holds."""

    vectors: bool = Field(True, description="Without them it is far smaller, and importing it embeds again.")


@transfer.post("/banks/{bank}/export", response_class=StreamingResponse, **_EXPORT)
async def export(request: Request, bank: Bank, body: ExportIn) -> Response:
    """The whole bank as JSON lines, provenance and transaction times included; `/import` makes an equal one."""
    state = state_of(request)
    stream = await state.banks.wait(bank, lambda memory: state.moving.written(memory, body.vectors))
    return StreamingResponse(pieces(stream), media_type=LINES)


@transfer.get("/banks/{bank}/import", response_model=Imported, **needs("admin"))
async def import_received(request: Request, bank: Bank) -> Response:
    """How much of an import has come: where to go on after a broken connection."""
    state = state_of(request)
    return replied(written(await state.banks.aside(state.moving.received, bank), Imported))


@transfer.post("/banks/{bank}/import", response_model=Imported, **_IMPORT)
async def import_(
    request: Request,
    bank: Bank,
    offset: Annotated[int, Query(ge=0, le=2**53, description="Where in the export this part begins.")] = 0,
    more: Annotated[bool, Query(description="Other parts follow; the last one fills the bank.")] = False,
) -> Response:
    """Fill a bank, which must be empty, with an export: at once, or in parts of at most the size of a request."""
    state = state_of(request)
    body = await request.body()

    def act(bank: str) -> Imported:
        return state.moving.take(state.banks, bank, body, offset, more)

    done = await state.banks.aside(act, bank)
    span_of(request).records(done.rows or 0)
    return replied(written(done, Imported))
