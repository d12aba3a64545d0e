"""`/turns` DELETE, `/retain`, `/export`, `/import`: forget for good, and move a bank."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request, Response
from starlette.responses import StreamingResponse

from everwhen.memory import Memory
from everwhen.serve.auth import admit
from everwhen.serve.moving import pieces
from everwhen.serve.routing import (
    Bank,
    area,
    audited,
    house_of,
    needs,
    replied,
    span_of,
    written,
)
from everwhen.serve.schemas import ExportIn, ForgetIn, Imported, RetainIn
from everwhen.types import Receipt

router = area("keeping")

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


@router.delete("/banks/{bank}/turns", response_model=Receipt, **needs("write", "delete_memory"))
async def forget(request: Request, bank: Bank, body: ForgetIn) -> Response:
    """Forget for good: turns with all that was made of them. With `dry_run`, what would go."""
    if body.everything:
        admit(request.state.caller, "admin", bank)
    return await _forgotten(request, bank, lambda memory: memory.forget(**body.chosen()))


@router.post("/banks/{bank}/retain", response_model=Receipt, **needs("admin", "delete_memory"))
async def retain(request: Request, bank: Bank, body: RetainIn) -> Response:
    """Apply the bank's rule of retention; what went, or with `dry_run` would go."""
    return await _forgotten(request, bank, lambda memory: memory.retain(body.now, dry_run=body.dry_run))


@router.post("/banks/{bank}/export", response_class=StreamingResponse, **_EXPORT)
async def export(request: Request, bank: Bank, body: ExportIn) -> Response:
    """The whole bank as JSON lines, provenance and transaction times included; `/import` makes an equal one."""
    house = house_of(request)
    stream = await house.banks.wait(bank, lambda memory: house.moving.written(memory, body.vectors))
    return StreamingResponse(pieces(stream), media_type=LINES)


@router.get("/banks/{bank}/import", response_model=Imported, **needs("admin"))
async def import_received(request: Request, bank: Bank) -> Response:
    """How much of an import has come: where to go on after a broken connection."""
    house = house_of(request)
    return replied(written(await house.banks.aside(house.moving.received, bank), Imported))


@router.post("/banks/{bank}/import", response_model=Imported, **_IMPORT)
async def import_(
    request: Request,
    bank: Bank,
    offset: Annotated[int, Query(ge=0, le=2**53, description="Where in the export this part begins.")] = 0,
    more: Annotated[bool, Query(description="Other parts follow; the last one fills the bank.")] = False,
) -> Response:
    """Fill a bank, which must be empty, with an export: at once, or in parts of at most the size of a request."""
    house = house_of(request)
    body = await request.body()

    def act(bank: str) -> Imported:
        return house.moving.take(house.banks, bank, body, offset, more)

    done = await house.banks.aside(act, bank)
    span_of(request).records(done.rows or 0)
    return replied(written(done, Imported))


async def _forgotten(request: Request, bank: str, act: Any) -> Response:
    """Forget in the bank, then in what the server itself keeps of it."""
    house = house_of(request)

    def work(memory: Memory) -> Receipt:
        receipt: Receipt = act(memory)
        if not receipt.dry_run:
            house.forget(bank)
        return receipt

    receipt = await house.banks.wait(bank, work)
    audited(request, dry_run=receipt.dry_run, turns=len(receipt.turns), facts=len(receipt.facts))
    span_of(request).records(0 if receipt.dry_run else len(receipt.turns))
    return replied(written(receipt, Receipt))
