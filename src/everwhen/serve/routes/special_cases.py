"""The few addresses that do more than their operation says, and `/process`, which is none.

Events of a streamed `/ask`: `piece` (`{"text": …}`) as the words come, then one `answer` (the whole `Answer`), or a
`problem`. Whoever hangs up ends the run at its next step.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import replace
from typing import Annotated, Any

from fastapi import Query, Request, Response
from pydantic import BaseModel, Field
from starlette.responses import StreamingResponse

from everwhen.api.memory import Memory
from everwhen.api.operations.base import OneOf, Operation
from everwhen.api.operations.conversation import Consolidate, Grep, Tree, Turns
from everwhen.api.operations.facts import About, AsOf, Current, History, Stale
from everwhen.api.operations.maintenance import Forget, Retain
from everwhen.api.operations.questions import Ask, RecallMemories
from everwhen.errors import EverwhenError, UsageError
from everwhen.serve.auth import admit
from everwhen.serve.logs import say
from everwhen.serve.pagination import after_turn, page_of_turns
from everwhen.serve.problems import Problem, of_bug, of_library
from everwhen.serve.routes.operations import Asked, Special, perform
from everwhen.serve.routing import Bank, area, audited, needs, replied, state_of, written
from everwhen.types import Answer, EventHit, Hit, Recall, Receipt
from everwhen.types.recipes import CHANNELS, STAGES, for_budget
from everwhen.types.time_arguments import TimeReader
from everwhen_time import Interval

router = area("maintenance")
STREAM = "text/event-stream"


async def _turns(asked: Asked) -> Response:
    """Read no further than the page that is asked for."""
    given = asked.values
    after = after_turn(given["cursor"])

    def act(memory: Memory) -> Response:
        inside = TimeReader(memory.zone).window(asked.operation.between) or Interval(None, None)
        start = max(filter(None, (inside.start, after[0] if after else None)), default=None)
        said = memory.each_turn(asked.operation.session, (start, inside.end))
        found = page_of_turns(said, after, given["limit"], asked.state.serving)
        return replied(written(found, asked.answer.of))

    return await asked.state.banks.call(asked.bank, act)


async def _grep(asked: Asked) -> Response:
    """Patterns are searched for in a pool of their own."""
    banks, operation = asked.state.banks, asked.operation
    events = operation.calendar == "events"
    if not operation.regex:
        return await perform(asked, run=banks.read if events else banks.call)
    if events:  # which waits for extraction: not where patterns are searched for
        await banks.extracted(asked.bank)
    return await perform(asked, run=banks.search)


async def _tree(asked: Asked) -> Response:
    """Takes `from` and `to` as well as `at`."""
    operation, sides = asked.operation, (asked.values.get("from"), asked.values.get("to"))
    if operation.at is not None and sides != (None, None):
        raise Problem(422, "at: give an instant, or a stretch of time as from and to, not both", "UsageError")

    def act(memory: Memory) -> Any:
        moment = operation.at or TimeReader(memory.zone).window(sides)
        return memory.perform(replace(operation, at=moment))

    return await perform(asked, act)


async def _recall(asked: Asked) -> Response:
    """Takes two arguments more than the operation: `include_metadata` and `without`."""
    banks, operation = asked.state.banks, _less(asked)

    def act(memory: Memory) -> Recall:
        found: Recall = memory.perform(operation)
        if asked.values["include_metadata"]:
            return found
        return replace(found, memories=tuple(replace(one, metadata={}) for one in found.memories))

    return await perform(asked, act, banks.read if operation.fresh else banks.call)


def _less(asked: Asked) -> Any:
    operation = asked.operation
    if not asked.values["without"]:
        return operation
    recipe = operation.recipe or for_budget(operation.budget, asked.state.settings)
    for stage in asked.values["without"]:
        recipe = recipe.without(stage)
    return replace(operation, recipe=recipe)


def _meant(given: Mapping[str, Any]) -> Operation[Any]:
    """What `GET /facts` asks for: what holds now, what held at an instant, or how a subject changed."""
    subject, predicate = given.get("subject"), given.get("predicate")
    if given["history"] or given.get("versions"):
        if subject is None:
            raise UsageError("history: name the subject whose history you want (`subject`)")
        versions = bool(given.get("versions"))
        return (
            About(subject, versions=versions)
            if predicate is None
            else History(subject, predicate, versions=versions)
        )
    if given.get("as_of") is not None:
        return AsOf(given["as_of"], subject, predicate, known_at=given.get("known_at"))
    if given.get("known_at") is not None:
        raise UsageError("known_at: say also for which instant (`as_of`)")
    return Current(subject, predicate, now=given.get("now"))


async def _forget(asked: Asked) -> Response:
    """Forget in the bank, then in what the server itself keeps of it; for everything the scope admin is needed."""
    state, operation = asked.state, asked.operation
    if getattr(operation, "everything", False):
        admit(asked.request.state.caller, "admin", asked.bank)

    def act(memory: Memory) -> Receipt:
        receipt: Receipt = memory.perform(operation)
        if not receipt.dry_run:
            state.forget(asked.bank)
        audited(asked.request, dry_run=receipt.dry_run, turns=len(receipt.turns), facts=len(receipt.facts))
        return receipt

    return await perform(asked, act)


async def _ask(asked: Asked) -> Response:
    banks, bank = asked.state.banks, asked.bank
    _may_choose(asked)
    if STREAM in asked.request.headers.get("accept", ""):
        if not banks.stored.exists(bank):
            await banks.call(bank, lambda memory: None)  # says that there is none, before the stream begins
        return StreamingResponse(_stream(asked), media_type=STREAM)
    if not _talks(asked):
        return await perform(asked)
    await banks.extracted(bank)
    return await perform(asked, run=banks.wait)


def _may_choose(asked: Asked) -> None:
    """A model costs: which ones there are is for those to say who look after the bank."""
    ours, model = asked.state.settings.llm, asked.operation.model
    if model in (None, "none", ours) or asked.request.state.caller.allows("admin", asked.bank):
        return
    raise Problem(403, f"this server answers with {ours or 'none'}; another model needs the scope admin")


def _talks(asked: Asked) -> bool:
    """Whether a language model answers: that is waited for, where words of the memory itself are computed."""
    return (asked.operation.model or asked.state.settings.llm or "none") != "none"


async def _stream(asked: Asked) -> AsyncIterator[bytes]:
    def pieces(memory: Memory) -> Iterator[bytes]:
        for piece in memory.stream(asked.operation):
            if isinstance(piece, Answer):
                yield _event("answer", written(piece, Answer))
            else:
                yield _event("piece", json.dumps({"text": piece}, ensure_ascii=False).encode())

    try:
        async for event in asked.state.banks.stream(asked.bank, pieces, waits=_talks(asked)):
            yield event
    except EverwhenError as error:
        yield _event("problem", bytes(of_library(asked.request, error).body))
    except Exception as error:
        logging.getLogger("everwhen.serve").error("an answer failed", exc_info=error)
        yield _event("problem", bytes(of_bug(asked.request, error).body))
    else:
        say("answered", logging.DEBUG, bank=asked.bank)


def _event(name: str, data: bytes) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + data.replace(b"\n", b" ") + b"\n\n"


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
    Current: Special(pick=_meant),
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
