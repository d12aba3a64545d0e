"""The addresses that do more than their operation says, or are none: banks, `/process`, `/export`, `/import`.

Events of a streamed `/ask`: `piece` (`{"text": …}`) as the words come, then one `answer` (the whole `Answer`), or a
`problem`. Whoever hangs up ends the run at its next step.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import Annotated, Any

from fastapi import Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import StreamingResponse

from everwhen.api.memory import Memory
from everwhen.api.operations.base import Days, Name, OneOf, Operation, Rule
from everwhen.api.operations.conversation import Consolidate, Grep, Tree, Turns
from everwhen.api.operations.facts import About, AsOf, Current, History, Stale
from everwhen.api.operations.maintenance import Forget, Retain
from everwhen.api.operations.questions import Ask, RecallMemories
from everwhen.errors import EverwhenError, NotFound, UsageError
from everwhen.serve.auth import admit
from everwhen.serve.responses import (
    Cursor,
    Limit,
    Page,
    Problem,
    after_turn,
    handle_library_error,
    of_bug,
    page,
    page_of_turns,
)
from everwhen.serve.routes import (
    Bank,
    OperationRequest,
    Special,
    Values,
    area,
    json_response,
    needs,
    perform,
    span_of,
    state_of,
    to_json,
)
from everwhen.serve.telemetry import say
from everwhen.serve.transfer_files import Imported, pieces
from everwhen.types import Answer, EventHit, HalfLives, Hit, Recall, Receipt, Stats
from everwhen.types.recall import CHANNELS, STAGES, for_budget
from everwhen.types.times import TimeReader
from everwhen_time import Interval

STREAM = "text/event-stream"
LINES = "application/x-ndjson"
MOST_DOMAINS = 1000

# Operations that do more


async def _turns(asked: OperationRequest) -> Response:
    """Read no further than the page that is asked for."""
    given = asked.values
    after = after_turn(given["cursor"])

    def act(memory: Memory) -> Response:
        inside = TimeReader(memory.zone).window(asked.operation.between) or Interval(None, None)
        start = max(filter(None, (inside.start, after[0] if after else None)), default=None)
        said = memory.each_turn(asked.operation.session, (start, inside.end))
        found = page_of_turns(said, after, given["limit"], asked.state.serving)
        return json_response(to_json(found, asked.answer.of))

    return await asked.state.banks.call(asked.bank, act)


async def _grep(asked: OperationRequest) -> Response:
    """Patterns are searched for in a pool of their own."""
    banks, operation = asked.state.banks, asked.operation
    events = operation.calendar == "events"
    if not operation.regex:
        return await perform(asked, run=banks.read if events else banks.call)
    if events:  # which waits for extraction: not where patterns are searched for
        await banks.extracted(asked.bank)
    return await perform(asked, run=banks.search)


async def _tree(asked: OperationRequest) -> Response:
    """Takes `from` and `to` as well as `at`."""
    operation, sides = asked.operation, (asked.values.get("from"), asked.values.get("to"))
    if operation.at is not None and sides != (None, None):
        raise Problem(422, "at: give an instant, or a stretch of time as from and to, not both", "UsageError")

    def act(memory: Memory) -> Any:
        moment = operation.at or TimeReader(memory.zone).window(sides)
        return memory.perform(replace(operation, at=moment))

    return await perform(asked, act)


async def _recall(asked: OperationRequest) -> Response:
    """Takes two arguments more than the operation: `include_metadata` and `without`."""
    banks, operation = asked.state.banks, _with_stages_left_out(asked)

    def act(memory: Memory) -> Recall:
        found: Recall = memory.perform(operation)
        if asked.values["include_metadata"]:
            return found
        return replace(found, memories=tuple(replace(one, metadata={}) for one in found.memories))

    return await perform(asked, act, banks.read if operation.fresh else banks.call)


def _with_stages_left_out(asked: OperationRequest) -> Any:
    operation = asked.operation
    if not asked.values["without"]:
        return operation
    recipe = operation.recipe or for_budget(operation.budget, asked.state.settings)
    for stage in asked.values["without"]:
        recipe = recipe.without(stage)
    return replace(operation, recipe=recipe)


def _facts_operation(given: Values) -> type[Operation[Any]]:
    """What `GET /facts` asks for: what holds now, what held at an instant, or how a subject changed."""
    if given["history"] or given["versions"]:
        if given["subject"] is None:
            raise UsageError("history: name the subject whose history you want (`subject`)")
        return About if given["predicate"] is None else History
    if given["as_of"] is not None:
        return AsOf
    if given["known_at"] is not None:
        raise UsageError("known_at: say also for which instant (`as_of`)")
    return Current


async def _forget(asked: OperationRequest) -> Response:
    """Forget in the bank, then in what the server itself keeps of it; for everything the scope admin is needed."""
    state, operation = asked.state, asked.operation
    if getattr(operation, "everything", False):
        admit(asked.request.state.caller, "admin", asked.bank)

    def act(memory: Memory) -> Receipt:
        receipt: Receipt = memory.perform(operation)
        if not receipt.dry_run:
            state.forget(asked.bank)
        # For the audit log: numbers and flags, no content.
        asked.request.state.audited = {
            "dry_run": receipt.dry_run, "turns": len(receipt.turns), "facts": len(receipt.facts)
        }  # fmt: skip
        return receipt

    return await perform(asked, act)


async def _ask(asked: OperationRequest) -> Response:
    banks, bank = asked.state.banks, asked.bank
    _may_choose(asked)
    if STREAM in asked.request.headers.get("accept", ""):
        if not banks.stored.exists(bank):
            await banks.call(bank, lambda memory: None)  # says that there is none, before the stream begins
        return StreamingResponse(_stream(asked), media_type=STREAM)
    if not _needs_model(asked):
        return await perform(asked)
    await banks.extracted(bank)
    return await perform(asked, run=banks.wait)


def _may_choose(asked: OperationRequest) -> None:
    """A model costs: which ones there are is for those to say who look after the bank."""
    ours, model = asked.state.settings.llm, asked.operation.model
    if model in (None, "none", ours) or asked.request.state.caller.allows("admin", asked.bank):
        return
    raise Problem(403, f"this server answers with {ours or 'none'}; another model needs the scope admin")


def _needs_model(asked: OperationRequest) -> bool:
    """Whether a language model answers: that is waited for, where words of the memory itself are computed."""
    return (asked.operation.model or asked.state.settings.llm or "none") != "none"


async def _stream(asked: OperationRequest) -> AsyncIterator[bytes]:
    def pieces(memory: Memory) -> Iterator[bytes]:
        for piece in memory.stream(asked.operation):
            if isinstance(piece, Answer):
                yield _server_sent("answer", to_json(piece, Answer))
            else:
                yield _server_sent("piece", json.dumps({"text": piece}, ensure_ascii=False).encode())

    try:
        async for event in asked.state.banks.stream(asked.bank, pieces, waits=_needs_model(asked)):
            yield event
    except EverwhenError as error:
        yield _server_sent("problem", bytes(handle_library_error(asked.request, error).body))
    except Exception as error:
        logging.getLogger("everwhen.serve").error("an answer failed", exc_info=error)
        yield _server_sent("problem", bytes(of_bug(asked.request, error).body))
    else:
        say("answered", logging.DEBUG, bank=asked.bank)


def _server_sent(name: str, data: bytes) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + data.replace(b"\n", b" ") + b"\n\n"


async def _consolidate(asked: OperationRequest) -> Response:
    state = asked.state

    def act(memory: Memory) -> Any:
        memory.process(timeout=state.settings.wait_seconds)
        return memory.perform(asked.operation)

    await state.banks.extracted(asked.bank)
    return await perform(asked, act)


SPECIAL = {
    Turns: Special(_turns),
    Grep: Special(_grep, response=list[Hit] | list[EventHit]),
    Tree: Special(_tree),
    RecallMemories: Special(
        _recall,
        more={
            "include_metadata": (
                Annotated[
                    bool,
                    Field(description="Give each memory's metadata too; `max_tokens` does not count it."),
                ],
                False,
            ),
            "without": (
                Annotated[
                    list[Annotated[str, OneOf((*CHANNELS, *STAGES))]],
                    Field(
                        max_length=len(CHANNELS) + len(STAGES),
                        description="Stages to leave out, such as `rerank`.",
                    ),
                ],
                [],
            ),
        },
    ),
    Current: Special(pick=_facts_operation),
    Stale: Special(defaults={"limit": 100}),
    Forget: Special(_forget),
    Retain: Special(_forget),
    Consolidate: Special(_consolidate),
    Ask: Special(
        _ask,
        responses={
            200: {
                "description": "The answer; with `Accept: text/event-stream`, its pieces as they come.",
                "content": {STREAM: {"schema": {"type": "string"}}},
            }
        },
    ),
}

# Banks

banks = area("banks")


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


@banks.get("/banks", response_model=Page[BankName], **needs("read"))
async def list_banks(request: Request, cursor: Cursor = None, limit: Limit = None) -> Response:
    """The banks that this key may read."""
    state = state_of(request)
    seen = [name for name in state.banks.stored.names() if request.state.caller.allows("read", name)]
    chosen = page(seen, cursor, limit, state.serving)
    items = [BankName(name=name, bytes=state.banks.stored.size(name)) for name in chosen.items]
    found = Page[BankName](items=items, next_cursor=chosen.next_cursor)
    return json_response(to_json(found, Page[BankName]))


@banks.get("/banks/{bank}", response_model=BankOut, **needs("read"))
async def read_bank(request: Request, bank: Bank) -> Response:
    """One bank: its settings, what it holds, and how many turns wait for extraction."""
    return json_response(await state_of(request).banks.call(bank, _bank_out))


@banks.patch("/banks/{bank}", response_model=BankOut, **needs("admin", "update_memory"))
async def set_bank(request: Request, bank: Bank, body: BankIn) -> Response:
    """Set a bank's zone, half-lives or rule of retention; it comes into being when it is new."""
    opened = state_of(request).banks

    def change(memory: Memory) -> None:
        for domain, days in (body.half_lives or {}).items():
            memory.facts.set_half_life(domain, days)
        if body.half_life is not None:
            memory.facts.set_half_life(None, body.half_life)
        if body.retention is not None:
            memory.set_retention(body.retention)
        if body.zone is not None:
            opened.rezone(bank, body.zone)

    await opened.call(bank, change, create=True)
    return json_response(await opened.call(bank, _bank_out))


@banks.delete("/banks/{bank}", status_code=204, **needs("admin", "delete_memory_store"))
async def delete_bank(request: Request, bank: Bank) -> Response:
    """Delete a bank with everything in it, for good."""
    state = state_of(request)
    if not state.banks.stored.exists(bank):
        raise NotFound(f"there is no bank '{bank}'")
    await state.banks.aside(state.banks.remove, bank)
    await state.banks.aside(state.forget, bank)
    return Response(status_code=204)


def _bank_out(memory: Memory) -> bytes:
    found = BankOut(
        name=memory.bank,
        zone=memory.zone,
        half_lives=memory.facts.half_lives,
        retention=memory.retention,
        stats=memory.stats(),
    )
    return to_json(found, BankOut)


# Waiting for extraction, moving a bank

maintenance = area("maintenance")
transfer = area("transfer")


class Count(BaseModel):
    """How many."""

    count: int


@maintenance.post("/banks/{bank}/process", response_model=Count, **needs("write", "update_memory"))
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
        return to_json(Count(count=memory.process(timeout=seconds)), Count)

    return json_response(await state.banks.wait(bank, act))


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
    return json_response(to_json(await state.banks.aside(state.moving.received, bank), Imported))


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
    return json_response(to_json(done, Imported))
