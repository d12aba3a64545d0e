"""The clients of the packages `openai` and `anthropic`: all that they send goes through one method, `post`.

A wrapped client is a copy of the given one, of the same class, that shares its connections: `create`, `parse` and
`stream`, raw responses and `with_options` work as before. Neither package is imported here.
"""

from __future__ import annotations

import asyncio
import copy
import inspect
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache, cached_property
from typing import Any, TypeVar, cast

from everwhen.agents.wrapping.remembering import Remembering, Said, log
from everwhen.agents.wrapping.wire import Wire, wire_of

C = TypeVar("C")
RAW = "x-stainless-raw-response"
"""The header by which both packages are asked for a response that is not parsed."""
MEMORY = "_everwhen_memory"
"""The attribute of a wrapped client that holds its memory."""


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
