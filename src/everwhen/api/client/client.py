"""`Client` and `AsyncClient`: the methods are those of every memory; here requests are sent."""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, TypeVar

from everwhen.api.client.request import request, setting, steps_of
from everwhen.api.client.transport import (
    SECONDS,
    STREAM,
    Call,
    Connection,
    Events,
    Outgoing,
    Reply,
    Steps,
    read,
)
from everwhen.api.operations.base import Operation
from everwhen.api.operations.surface import AsyncBankFacts, Bank, BankFacts, BankMethods

if TYPE_CHECKING:
    import httpx

    from everwhen.types import Answer

R = TypeVar("R")


class Client(Bank):
    """A bank that a server keeps (`everwhen serve`), with the methods and types of `Memory`. Thread-safe."""

    def __init__(
        self, url: str, key: str | None = None, *, bank: str = "default", timeout: float = SECONDS
    ) -> None:
        self._connection = Connection(url, key, bank, timeout)
        import httpx

        self._http: httpx.Client = httpx.Client(**self._connection.options())

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    @property
    def bank(self) -> str:
        return self._connection.bank

    @property
    def zone(self) -> str:
        """The zone of text that comes without one; UTC for a bank that is not there yet."""
        return self._take(setting("zone", "UTC"))

    @property
    def retention(self) -> str:
        """How long the bank keeps what, as a sentence; empty for ever."""
        return self._take(setting("retention", ""))

    @property
    def facts(self) -> BankFacts:
        """What is true from when to when, and what was known when."""
        return BankFacts(self)

    def perform(self, operation: Operation[R], /) -> R:
        """Let the server do one operation."""
        return self._take(steps_of(operation))

    def stream(self, operation: Operation[Answer], /) -> Iterator[str | Answer]:
        """The pieces of an answer as they come, and at last the answer."""
        return self._streamed(request(operation))

    def _streamed(self, call: Call) -> Iterator[str | Answer]:
        asked = self._connection.request(call, STREAM)
        with self._connection.reaching(), self._http.stream(**asked) as answer:
            if answer.status_code >= 400:
                read(call, Reply(answer.status_code, answer.read(), answer.headers))
            events = Events()
            for line in answer.iter_lines():
                if (piece := events.read(line)) is not None:
                    yield piece

    def _take(self, steps: Steps[R]) -> R:
        async def do(todo: Outgoing | float) -> Reply | None:
            return self._do(todo)  # on the spot, so that nothing is ever waited for

        try:
            self._connection.taken(steps, do).send(None)
        except StopIteration as done:
            return done.value  # type: ignore[no-any-return]
        raise AssertionError("a request was waited for")

    def _do(self, todo: Outgoing | float) -> Reply | None:
        if isinstance(todo, float):
            time.sleep(todo)
            return None
        with self._http.stream(**todo.options) as answer:
            if todo.into is None or answer.status_code >= 400:
                return Reply(answer.status_code, answer.read(), answer.headers)
            for piece in answer.iter_bytes():
                todo.into(piece)
            return Reply(answer.status_code, b"", answer.headers)


class AsyncClient(BankMethods):
    """`Client` for asynchronous programs: the same methods, as coroutines."""

    def __init__(
        self, url: str, key: str | None = None, *, bank: str = "default", timeout: float = SECONDS
    ) -> None:
        self._connection = Connection(url, key, bank, timeout)
        import httpx

        self._http: httpx.AsyncClient = httpx.AsyncClient(**self._connection.options())

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    @property
    def bank(self) -> str:
        return self._connection.bank

    @property
    def facts(self) -> AsyncBankFacts:
        """What is true from when to when, and what was known when."""
        return AsyncBankFacts(self)

    async def perform(self, operation: Operation[R], /) -> R:
        """Let the server do one operation."""
        return await self._connection.taken(steps_of(operation), self._do)

    def stream(self, operation: Operation[Answer], /) -> AsyncIterator[str | Answer]:
        """The pieces of an answer as they come, and at last the answer."""
        return self._streamed(request(operation))

    async def _streamed(self, call: Call) -> AsyncIterator[str | Answer]:
        asked = self._connection.request(call, STREAM)
        with self._connection.reaching():
            async with self._http.stream(**asked) as answer:
                if answer.status_code >= 400:
                    read(call, Reply(answer.status_code, await answer.aread(), answer.headers))
                events = Events()
                async for line in answer.aiter_lines():
                    if (piece := events.read(line)) is not None:
                        yield piece

    async def _do(self, todo: Outgoing | float) -> Reply | None:
        if isinstance(todo, float):
            from asyncio import sleep

            await sleep(todo)
            return None
        async with self._http.stream(**todo.options) as answer:
            if todo.into is None or answer.status_code >= 400:
                return Reply(answer.status_code, await answer.aread(), answer.headers)
            async for piece in answer.aiter_bytes():
                todo.into(piece)
            return Reply(answer.status_code, b"", answer.headers)
