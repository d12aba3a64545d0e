"""`GET /turns` reads no further than its page, `/grep` has pools of its own, `/tree` takes `from` and `to`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fastapi import Response

from everwhen.memory import Memory
from everwhen.operations.tree import Tree
from everwhen.operations.turns import Grep, Turns
from everwhen.serve.pagination import after_turn, page_of_turns
from everwhen.serve.problems import Problem
from everwhen.serve.routes.operations import Asked, Special, perform
from everwhen.serve.routing import replied, written
from everwhen.time_arguments import TimeReader
from everwhen.types import EventHit, Hit
from everwhen.when import Interval


async def _turns(asked: Asked) -> Response:
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
    banks, operation = asked.state.banks, asked.operation
    events = operation.calendar == "events"
    if not operation.regex:
        return await perform(asked, run=banks.read if events else banks.call)
    if events:  # which waits for extraction: not where patterns are searched for
        await banks.extracted(asked.bank)
    return await perform(asked, run=banks.search)


async def _tree(asked: Asked) -> Response:
    operation, sides = asked.operation, (asked.values["from_"], asked.values["to"])
    if operation.at is not None and sides != (None, None):
        raise Problem(422, "at: give an instant, or a stretch of time as from and to, not both", "UsageError")

    def act(memory: Memory) -> Any:
        moment = operation.at or TimeReader(memory.zone).window(sides)
        return memory.perform(replace(operation, at=moment))

    return await perform(asked, act)


SPECIAL = {
    Turns: Special(_turns),
    Grep: Special(_grep, response=list[Hit] | list[EventHit]),
    Tree: Special(_tree),
}
