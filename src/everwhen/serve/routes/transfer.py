"""`/export`, `/import`: move a bank."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Query, Request, Response
from pydantic import create_model
from starlette.responses import StreamingResponse

from everwhen.operations import arguments_of
from everwhen.operations.maintenance import Export
from everwhen.serve.arguments import Body, in_body
from everwhen.serve.routing import Bank, area, needs, replied, span_of, state_of, written
from everwhen.serve.transfer_files import Imported, pieces

router = area("transfer")

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
_VECTORS = next(one for one in arguments_of(Export) if one.name == "vectors")
ExportIn: Any = create_model("ExportIn", __base__=Body, vectors=in_body(_VECTORS))


@router.post("/banks/{bank}/export", response_class=StreamingResponse, **_EXPORT)
async def export(request: Request, bank: Bank, body: ExportIn) -> Response:
    """The whole bank as JSON lines, provenance and transaction times included; `/import` makes an equal one."""
    state = state_of(request)
    stream = await state.banks.wait(bank, lambda memory: state.moving.written(memory, body.vectors))
    return StreamingResponse(pieces(stream), media_type=LINES)


@router.get("/banks/{bank}/import", response_model=Imported, **needs("admin"))
async def import_received(request: Request, bank: Bank) -> Response:
    """How much of an import has come: where to go on after a broken connection."""
    state = state_of(request)
    return replied(written(await state.banks.aside(state.moving.received, bank), Imported))


@router.post("/banks/{bank}/import", response_model=Imported, **_IMPORT)
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
