"""`/ask`: answers in words, at once or as server-sent events; `/usage`: what language models took.

Events of a stream: `piece` (`{"text": …}`) as the words come, then one `answer` (the whole `Answer`), or a `problem`.
Whoever hangs up ends the run at its next step.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Iterator

from fastapi import Request, Response
from starlette.responses import StreamingResponse

from everwhen.errors import EverwhenError
from everwhen.memory import Memory
from everwhen.serve.house import House
from everwhen.serve.logs import say
from everwhen.serve.problems import Problem, of_bug, of_library
from everwhen.serve.routing import Bank, area, house_of, needs, replied, span_of, written
from everwhen.serve.schemas import AskIn
from everwhen.types import Answer, Usage

router = area("ask")

STREAM = "text/event-stream"
_ASK = needs("read")
_ASK["responses"][200] = {
    "description": "The answer; with `Accept: text/event-stream`, its pieces as they come.",
    "content": {STREAM: {"schema": {"type": "string"}}},
}


@router.post("/banks/{bank}/ask", response_model=Answer, **_ASK)
async def ask(request: Request, bank: Bank, body: AskIn) -> Response:
    """The answer to a question with the turns that bear it out, or an honest "I don't know"."""
    house = house_of(request)
    span_of(request).query(body.question)
    _may_choose(request, house, bank, body.model)
    if STREAM in request.headers.get("accept", ""):
        if not house.banks.exists(bank):
            await house.banks.call(
                bank, lambda memory: None
            )  # says that there is none, before the stream begins
        return StreamingResponse(_stream(request, house, bank, body), media_type=STREAM)

    def act(memory: Memory) -> bytes:
        return written(memory.ask(body.question, **body.chosen()), Answer)

    if not _talks(house, body):
        return replied(await house.banks.read(bank, act))
    await house.banks.extracted(bank)
    return replied(await house.banks.wait(bank, act))


@router.get("/banks/{bank}/usage", response_model=Usage, **needs("read"))
async def usage(request: Request, bank: Bank) -> Response:
    """What language models took in this bank so far, extraction included."""
    return replied(await house_of(request).banks.call(bank, lambda memory: written(memory.usage(), Usage)))


def _may_choose(request: Request, house: House, bank: str, model: str | None) -> None:
    """A model costs: which ones there are is for those to say who look after the bank."""
    if model in (None, "none", house.settings.llm) or request.state.caller.allows("admin", bank):
        return
    ours = house.settings.llm or "none"
    raise Problem(403, f"this server answers with {ours}; another model needs the scope admin")


def _talks(house: House, body: AskIn) -> bool:
    """Whether a language model answers: that is waited for, where words of the memory itself are computed."""
    return (body.model or house.settings.llm or "none") != "none"


async def _stream(request: Request, house: House, bank: str, body: AskIn) -> AsyncIterator[bytes]:
    def pieces(memory: Memory) -> Iterator[bytes]:
        for piece in memory.ask_stream(body.question, **body.chosen()):
            if isinstance(piece, Answer):
                yield _event("answer", written(piece, Answer))
            else:
                yield _event("piece", json.dumps({"text": piece}, ensure_ascii=False).encode())

    try:
        async for event in house.banks.stream(bank, pieces, waits=_talks(house, body)):
            yield event
    except EverwhenError as error:
        yield _event("problem", bytes(of_library(request, error).body))
    except Exception as error:
        logging.getLogger("everwhen.serve").error("an answer failed", exc_info=error)
        yield _event("problem", bytes(of_bug(request, error).body))
    else:
        say("answered", logging.DEBUG, bank=bank)


def _event(name: str, data: bytes) -> bytes:
    return b"event: " + name.encode() + b"\ndata: " + data.replace(b"\n", b" ") + b"\n\n"
