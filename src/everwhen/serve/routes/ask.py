"""`/ask`: answers in words, at once or as server-sent events.

Events of a stream: `piece` (`{"text": …}`) as the words come, then one `answer` (the whole `Answer`), or a `problem`.
Whoever hangs up ends the run at its next step.
"""

from __future__ import annotations

import json
import logging
from collections.abc import AsyncIterator, Iterator

from fastapi import Response
from starlette.responses import StreamingResponse

from everwhen.errors import EverwhenError
from everwhen.memory import Memory
from everwhen.operations.ask import Ask
from everwhen.serve.logs import say
from everwhen.serve.problems import Problem, of_bug, of_library
from everwhen.serve.routes.operations import Asked, Special, perform
from everwhen.serve.routing import written
from everwhen.types import Answer

STREAM = "text/event-stream"


async def _ask(asked: Asked) -> Response:
    banks, bank = asked.state.banks, asked.bank
    _may_choose(asked)
    if STREAM in asked.request.headers.get("accept", ""):
        if not banks.exists(bank):
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


SPECIAL = {
    Ask: Special(
        _ask,
        responses={
            200: {
                "description": "The answer; with `Accept: text/event-stream`, its pieces as they come.",
                "content": {STREAM: {"schema": {"type": "string"}}},
            }
        },
    )
}
