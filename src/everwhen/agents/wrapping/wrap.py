"""`everwhen.wrap`: a client of a model provider, or an agent, that remembers."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import TypeVar, cast

from everwhen.agents.wrapping.remembering import Remembering
from everwhen.agents.wrapping.sdk import is_client, wrapped_client
from everwhen.api.memory.asynchronous import AsyncMemory
from everwhen.api.memory.front import Memory
from everwhen.api.operations.surface import Bank
from everwhen.errors import UsageError
from everwhen.settings import CONTEXT_TOKENS, load
from everwhen.types import Context

C = TypeVar("C")


def wrap(
    client: C,
    memory: Bank | AsyncMemory | None = None,
    *,
    session: str | None = None,
    name: str | None = None,
    max_tokens: int = CONTEXT_TOKENS,
    clock: Callable[[], datetime] | None = None,
    on_recall: Callable[[Context], object] | None = None,
) -> C:
    """A client like the given one that remembers what is said through it, and recalls what helps, at each call.

    `client` is an `OpenAI`, `AsyncOpenAI`, `Anthropic` or `AsyncAnthropic` (or a class of theirs, such as
    `AzureOpenAI`), or an agent of pydantic-ai. The given one is left as it is. Streams, tools, `parse` and
    `with_options` work as before; where the memory fails, a warning is logged and the call goes on without it.

    `memory` is the bank, here or at a server; without one, the bank `default` of the home folder. One bank is one
    person's memory: with several users, wrap a client for each. `session` is the conversation that is added to (one
    for each day, when left out), `name` who the user is, `max_tokens` what a prompt gets (see `memory.context`).
    `clock` tells the time of what is said; `on_recall` hears what was recalled, before each call.
    """
    wraps = _wrapper(client)
    opened = Memory.open() if memory is None else None
    bank = opened or (memory.memory if isinstance(memory, AsyncMemory) else memory)
    if not isinstance(bank, Bank):
        raise UsageError(f"wrap takes a Memory, an AsyncMemory or a Client, not {type(memory).__name__}")
    tells_time = clock or partial(datetime.now, UTC)
    remembering = Remembering(bank, tells_time, session, name, max_tokens, on_recall, load().echo_words)
    wrapped = wraps(client, remembering)
    if opened is not None:
        # Not when the program ends: native libraries are taken down then, and extraction may still be running. What
        # was said is on disk, and what was not extracted yet is taken up next time.
        weakref.finalize(wrapped, opened.close).atexit = False
    return wrapped


def _wrapper(client: C) -> Callable[[C, Remembering], C]:
    """What wraps such a client."""
    if is_client(client):
        return wrapped_client
    if any(kind.__module__.partition(".")[0] == "pydantic_ai" for kind in type(client).__mro__):
        from pydantic_ai.agent import AbstractAgent

        from everwhen.agents.wrapping.agent import RememberingAgent

        if isinstance(client, AbstractAgent):
            return cast("Callable[[C, Remembering], C]", RememberingAgent)
    raise UsageError(
        "wrap takes a client of the packages openai or anthropic, or an agent of pydantic-ai, "
        f"not {type(client).__module__}.{type(client).__name__}; "
        "for others, `memory.context` and `memory.add` do the same"
    )
