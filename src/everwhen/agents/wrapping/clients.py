"""`everwhen.wrap`: clients of the packages `openai` and `anthropic` that remember; neither package is imported here.

Each `Wire` is one protocol: it reads a request's body, puts a context into it, and reads the answer, whole or not.
All that a client sends goes through one method, `post`. A wrapped client is a copy of the given one, of the same class,
that shares its connections: `create`, `parse` and `stream`, raw responses and `with_options` work as before.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
import weakref
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, cached_property, partial
from typing import Any, TypeAlias, TypeVar, cast

from everwhen.agents.wrapping.remembering import Remembering, Said, log, tool_message, worth_keeping
from everwhen.api.memory import AsyncMemory, Memory
from everwhen.api.operations.surface import Bank
from everwhen.errors import UsageError
from everwhen.settings import CONTEXT_TOKENS, load
from everwhen.types import Context
from everwhen.types.context import last_said, value
from everwhen.types.turns import as_text

C = TypeVar("C")
Body = Mapping[str, Any]
RAW = "x-stainless-raw-response"
"""The header by which both packages are asked for a response that is not parsed."""
MEMORY = "_everwhen_memory"
"""The attribute of a wrapped client that holds its memory."""


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
    `clock` gives the time of what is said; `on_recall` hears what was recalled, before each call.
    """
    wraps = _wrapper(client)
    opened = Memory.open() if memory is None else None
    bank = opened or (memory.memory if isinstance(memory, AsyncMemory) else memory)
    if not isinstance(bank, Bank):
        raise UsageError(f"wrap takes a Memory, an AsyncMemory or a Client, not {type(memory).__name__}")
    now = clock or partial(datetime.now, UTC)
    remembering = Remembering(bank, now, session, name, max_tokens, on_recall, load().echo_words)
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


# The protocols


def wire_of(path: str) -> Wire | None:
    """The protocol of an address; None for one where nobody talks."""
    plain = path.partition("?")[0].rstrip("/")
    return next((wire for end, wire in _WIRES.items() if plain.endswith(end)), None)


class OpenAIChat:
    """`/chat/completions`."""

    field = "messages"

    def read(self, body: Body) -> Said:
        """What a request says."""
        return _conversation(_listed(body.get(self.field)))

    def woven(self, body: Body, context: Context) -> Body:
        """The request with a context in it."""
        return {**body, self.field: context.for_openai(body[self.field])}

    def reply(self, answer: Any) -> str:
        """The words of an answer; calls of tools are none."""
        first = next(iter(value(answer, "choices") or ()), None)
        return as_text(value(value(first, "message"), "content"))

    def piece(self, event: Any) -> str:
        """The words of one event of a stream."""
        first = next(iter(value(event, "choices") or ()), None)
        return as_text(value(value(first, "delta"), "content"))


class OpenAIResponses(OpenAIChat):
    """`/responses`: the system prompt is `instructions`, and plain words are one message."""

    field = "input"

    def woven(self, body: Body, context: Context) -> Body:
        listed = _listed(body.get(self.field))
        if context.fresh:
            last = last_said(listed)
            place = len(listed) if last is None else last
            listed.insert(place, {"role": "developer", "content": context.fresh})
        request = {**body, self.field: listed}
        if context.stable:
            before = body.get("instructions")
            own = f"{before}\n\n" if isinstance(before, str) and before else ""
            request["instructions"] = own + context.stable
        return request

    def reply(self, answer: Any) -> str:
        outputs = [one for one in value(answer, "output") or () if value(one, "type") == "message"]
        return _texts([part for one in outputs for part in value(one, "content") or ()])

    def piece(self, event: Any) -> str:
        is_text = value(event, "type") == "response.output_text.delta"
        return as_text(value(event, "delta")) if is_text else ""


class AnthropicMessages:
    """`/v1/messages`."""

    def read(self, body: Body) -> Said:
        return _conversation(body.get("messages") or ())

    def woven(self, body: Body, context: Context) -> Body:
        system, tools = body.get("system"), body.get("tools")
        placed = context.for_anthropic(
            body["messages"],
            system if isinstance(system, str | list | tuple) else None,
            tools if isinstance(tools, list | tuple) else (),
        )
        return {**body, **placed}

    def reply(self, answer: Any) -> str:
        return _texts(value(answer, "content") or ())

    def piece(self, event: Any) -> str:
        delta = value(event, "delta") if value(event, "type") == "content_block_delta" else None
        return as_text(value(delta, "text")) if value(delta, "type") == "text_delta" else ""


Wire: TypeAlias = OpenAIChat | OpenAIResponses | AnthropicMessages
_WIRES: Mapping[str, Wire] = {
    "/chat/completions": OpenAIChat(),
    "/responses": OpenAIResponses(),
    "/v1/messages": AnthropicMessages(),
}


def _conversation(messages: Sequence[Any]) -> Said:
    """What a conversation says: the messages behind the model's last one are new."""
    listed = [_as_plain_data(one) for one in messages]
    if listed and _speaker(listed[-1]) == "assistant":
        listed.pop()  # words that the caller puts into the model's mouth: the answer goes on from there
    start = len(listed)
    while start and _speaker(listed[start - 1]) in ("user", "tool"):
        start -= 1
    last = last_said(listed)
    return Said(
        query="" if last is None else _own_text(listed[last]),
        new=worth_keeping([made for one in listed[start:] for made in _made(one)]),
        texts=tuple(words for one in listed if (words := _own_text(one).strip())),
        first=next((words for one in listed if _speaker(one) == "user" and (words := _own_text(one))), ""),
        is_answered=any(_speaker(one) == "assistant" for one in listed),
        goes_on=last is not None and last < start,
    )


def _made(message: Any) -> list[dict[str, Any]]:
    """A message as it is remembered: the words of the user, and results of tools each on its own."""
    if _speaker(message) == "tool":
        return [
            tool_message(
                as_text(value(message, "content") or value(message, "output")), value(message, "name")
            )
        ]
    content = value(message, "content")
    parts = [] if isinstance(content, str) else list(content or ())
    results = [part for part in parts if value(part, "type") == "tool_result"]
    made = [tool_message(as_text(value(part, "content"))) for part in results]
    said: dict[str, Any] = {"role": "user", "content": _own_text(message)}
    if isinstance(value(message, "name"), str):
        said["name"] = value(message, "name")
    return [*made, said]


def _own_text(message: Any) -> str:
    """The words of a message itself, without results and calls of tools."""
    content = value(message, "content")
    if isinstance(content, str) or content is None:
        return content or ""
    own = [part for part in content if value(part, "type") not in ("tool_result", "tool_use", "thinking")]
    return as_text(own)


def _speaker(message: Any) -> str:
    """The role; an item that is the result of a tool's call has none."""
    if value(message, "type") == "function_call_output":
        return "tool"
    role = str(value(message, "role") or "")
    return "tool" if role == "function" else role


def _listed(given: Any) -> list[Any]:
    return [{"role": "user", "content": given}] if isinstance(given, str) else list(given or ())


def _texts(parts: Sequence[Any]) -> str:
    return "\n".join(
        str(value(part, "text")) for part in parts if value(part, "type") in ("text", "output_text")
    )


def _as_plain_data(thing: Any) -> Any:
    """A message in dicts and lists: callers may pass on what the package gave them."""
    if hasattr(thing, "model_dump"):
        return thing.model_dump(exclude_none=True)
    if isinstance(thing, Mapping):
        return {name: _as_plain_data(one) for name, one in thing.items()}
    return [_as_plain_data(one) for one in thing] if isinstance(thing, list | tuple) else thing


# The clients


def is_client(client: object) -> bool:
    packages = {kind.__module__.partition(".")[0] for kind in type(client).__mro__}
    return bool(packages & {"openai", "anthropic"}) and callable(getattr(client, "post", None))


def wrapped_client(client: C, memory: Remembering) -> C:
    """A client like the given one that remembers and recalls."""
    with suppress(ImportError):
        # openai looks into httpx wherever it finds it loaded; extraction, in another thread, may be just loading it.
        import httpx  # noqa: F401
    kind = type(client)
    mine = copy.copy(client)
    for name in [one for one in vars(mine) if isinstance(getattr(kind, one, None), cached_property)]:
        del vars(mine)[name]  # `chat`, `messages`: they would send through the client that they were made for
    mine.__class__ = _remembering(cast("Any", kind))
    setattr(mine, MEMORY, memory)
    return mine


@cache
def _remembering(kind: Any) -> Any:
    """A class of clients, a subclass of the given one, whose `post` remembers."""
    if hasattr(kind, MEMORY):
        return kind

    def post(self: Any, path: str, **options: Any) -> Any:
        call = _Call.begun(getattr(self, MEMORY), path, options)
        answer = kind.post(self, path, **(call.options if call else options))
        return call.heard(answer) if call else answer

    async def post_async(self: Any, path: str, **options: Any) -> Any:
        call = await asyncio.to_thread(_Call.begun, getattr(self, MEMORY), path, options)
        answer = await kind.post(self, path, **(call.options if call else options))
        return await call.heard_async(answer) if call else answer

    def copied(self: Any, **options: Any) -> Any:
        """The package's own `copy`, and the copy remembers too."""
        made = kind.copy(self, **options)
        setattr(made, MEMORY, getattr(self, MEMORY))
        return made

    own = {
        MEMORY: None,
        "post": post_async if inspect.iscoroutinefunction(kind.post) else post,
        "copy": copied,
        "with_options": copied,
        "__module__": kind.__module__,
        "__qualname__": kind.__qualname__,
        "__doc__": kind.__doc__,
    }
    return type(kind)(kind.__name__, (kind,), own)


@dataclass(frozen=True, slots=True)
class _Call:
    """One call, from what is sent to what is remembered."""

    memory: Remembering
    wire: Wire
    said: Said
    options: Mapping[str, Any]
    began: datetime

    @classmethod
    def begun(cls, memory: Remembering | None, path: str, options: Mapping[str, Any]) -> _Call | None:
        """A call with what was recalled for it; None where nobody talks, or what is sent cannot be read."""
        wire, body = wire_of(path), options.get("body")
        if memory is None or wire is None or not isinstance(body, Mapping):
            return None
        try:
            began, said = memory.clock(), wire.read(body)
            context = memory.recalled(said)
            if context is not None:
                body = wire.woven(body, context)
        except Exception as error:
            log.warning("this call could not be read, and goes on without memories: %s", error)
            return None
        return cls(memory, wire, said, {**options, "body": body}, began)

    def heard(self, answer: Any) -> Any:
        """The answer, remembered; a stream is remembered when it ends."""
        if self._is_stream(answer):
            answer._iterator = self._watched(answer._iterator)
        else:
            self.keep("" if self._is_unread else self._reply(_parsed(answer)))
        return answer

    async def heard_async(self, answer: Any) -> Any:
        """The same for an asynchronous client."""
        if self._is_stream(answer):
            answer._iterator = self._watched_async(answer._iterator)
        else:
            whole = None if self._is_unread else _parsed(answer)
            reply = self._reply(await whole if inspect.isawaitable(whole) else whole)
            await asyncio.to_thread(self.keep, reply)
        return answer

    def keep(self, reply: str) -> None:
        self.memory.keep(self.said, reply, self.began)

    @property
    def _is_unread(self) -> bool:
        """Whether the caller asked for a response that is still to be read: its words are not known here."""
        headers = cast("Mapping[str, Any]", self.options.get("options") or {}).get("headers") or {}
        asked = {str(name).lower(): one for name, one in headers.items()}.get(RAW)
        return asked == "stream" or (asked is not None and bool(self.options.get("stream")))

    def _is_stream(self, answer: Any) -> bool:
        return bool(self.options.get("stream")) and hasattr(answer, "_iterator")

    def _reply(self, answer: Any) -> str:
        try:
            return self.wire.reply(answer)
        except Exception as error:
            log.warning("this answer could not be read, and is not remembered: %s", error)
            return ""

    def _watched(self, events: Iterator[Any]) -> Iterator[Any]:
        pieces: list[str] = []
        ended = False
        try:
            for event in events:
                pieces.append(self.wire.piece(event))
                yield event
            ended = True
        finally:
            if ended or any(pieces):  # what broke off before the first word is asked again
                self.keep("".join(pieces))

    async def _watched_async(self, events: AsyncIterator[Any]) -> AsyncIterator[Any]:
        pieces: list[str] = []
        ended = False
        try:
            async for event in events:
                pieces.append(self.wire.piece(event))
                yield event
            ended = True
        finally:
            if ended or any(pieces):
                await asyncio.to_thread(self.keep, "".join(pieces))


def _parsed(answer: Any) -> Any:
    """What a raw response holds; another answer is it itself."""
    is_raw = hasattr(answer, "http_response") and callable(getattr(answer, "parse", None))
    return answer.parse() if is_raw else answer
