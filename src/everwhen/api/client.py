"""`Client` and `AsyncClient`: a bank that a server keeps, with the methods and types of `Memory`.

A method is a generator of requests (`Steps` in `api/requests.py`), which `Connection.taken` takes. What is done outside
is to send a request, and to pause: `Client` and `AsyncClient` differ only in how they `Do` these two.
"""

from __future__ import annotations

import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from everwhen import errors
from everwhen.api.extraction_wait import note_pending, one_wait
from everwhen.api.operations.base import Operation
from everwhen.api.operations.surface import AsyncBankFacts, Bank, BankFacts, BankMethods
from everwhen.api.requests import AskAgain, Call, Steps, request, setting, steps_of
from everwhen.errors import EverwhenError, Refused, Unavailable
from everwhen.store.files.home import check_bank_name
from everwhen.types import Answer, ListWithPending

if TYPE_CHECKING:
    import httpx
    from pydantic import TypeAdapter

R = TypeVar("R")

PENDING = "Everwhen-Pending"
"""The header that says how many turns an answer does not know of yet."""
STREAM = "text/event-stream"
SECONDS = 120.0
"""How long an answer may take: the server itself gives up waiting for extraction after a minute."""
PATIENCE = 3600.0
"""The same for work on a whole bank: forgetting, moving, building the tree."""
ATTEMPTS = 3
"""How often a request is sent while the server cannot be reached. Writes carry an idempotency key, so that one
that did arrive is not done twice."""
PAUSE = 0.2
"""Seconds before the second attempt; doubled for the third."""


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request as httpx takes it, and what takes the answer piece by piece, where something does."""

    options: Mapping[str, Any]
    into: Callable[[bytes], None] | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: bytes
    headers: Mapping[str, str]


Do: TypeAlias = Callable[[Outgoing | float], Awaitable[Reply | None]]
"""Does what is to be done outside: sends a request, or pauses for some seconds."""


class Connection:
    """Where the server is and which bank is meant."""

    def __init__(self, url: str, key: str | None, bank: str, timeout: float) -> None:
        if find_spec("httpx") is None:
            raise Unavailable("the client needs httpx; install it with: pip install 'everwhen[serve]'")
        check_bank_name(bank)  # one that is none is refused here already
        self.bank = bank
        self.url = url.rstrip("/")
        self._key = key
        self._timeout = timeout

    def options(self) -> dict[str, Any]:
        headers = {"Authorization": f"Bearer {self._key}"} if self._key else {}
        return {"headers": headers, "timeout": self._timeout, "trust_env": False}

    def request(self, call: Call, accept: str = "application/json") -> dict[str, Any]:
        return {
            "method": call.method,
            "url": f"{self.url}/v1/banks/{self.bank}{call.path}",
            "params": call.query(),
            "content": call.content(),
            "headers": {**call.headers(), "Accept": accept},
            "timeout": max(self._timeout, PATIENCE) if call.patient else self._timeout,
        }

    async def taken(self, steps: Steps[R], do: Do) -> R:
        """Take the steps of a method, each until it is answered."""
        with one_wait() as wait:
            try:
                call = next(steps)
                while True:
                    try:
                        got = await self._answered(call, do)
                    except BaseException as error:
                        call = steps.throw(error)
                    else:
                        call = steps.send(got)
            except StopIteration as done:
                value = cast("R", done.value)
                return cast("R", ListWithPending(value, wait.pending)) if isinstance(value, list) else value

    async def _answered(self, call: Call, do: Do) -> Any:
        import httpx

        if call.after:
            await do(call.after)
        outgoing = Outgoing(self.request(call), call.into)  # made once: attempts share the idempotency key
        for attempt in range(ATTEMPTS):
            try:
                reply = await do(outgoing)
                assert reply is not None
                return read(call, reply)
            except httpx.TransportError as error:
                last = attempt + 1 == ATTEMPTS or call.into is not None
                if last or isinstance(error, httpx.TimeoutException):
                    raise unreachable(self.url, error) from error
                await do(PAUSE * 2**attempt)
        raise AssertionError("the last attempt returns or raises")

    @contextmanager
    def reaching(self) -> Iterator[None]:
        """Where the server cannot be reached, the error says so."""
        import httpx

        try:
            yield
        except httpx.TransportError as error:
            raise unreachable(self.url, error) from error


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


def read(call: Call, reply: Reply) -> Any:
    """The answer as the library's own types, or its error raised."""
    if reply.status >= 400:
        error = _error(reply.status, reply.body)
        pause = reply.headers.get("retry-after", "")
        # A model that fails is not waited for: `Memory` raises its error as well.
        raise (
            AskAgain(str(error), float(pause)) if type(error) is Unavailable and pause.isdecimal() else error
        )
    note_pending(int(reply.headers.get(PENDING, "0")))
    if call.of is None or reply.status == 204:
        return None
    return _validator(call.of).validate_json(reply.body)


class Events:
    """Server-sent events, line by line."""

    def __init__(self) -> None:
        self._name = ""

    def read(self, line: str) -> str | Answer | None:
        """The piece or the answer that a line completes; raises the problem that it holds."""
        if line.startswith("event: "):
            self._name = line.removeprefix("event: ")
            return None
        if not line.startswith("data: "):
            return None
        data = line.removeprefix("data: ").encode()
        if self._name == "problem":
            raise _error(0, data)
        if self._name == "answer":
            return cast("Answer", _validator(Answer).validate_json(data))
        return str(json.loads(data)["text"])


def unreachable(url: str, error: Exception) -> Unavailable:
    said = f" ({error})" if str(error) else ""
    return Unavailable(f"no server answers at {url}{said}; start one with `everwhen serve`")


@cache
def _validator(of: Any) -> TypeAdapter[Any]:
    from pydantic import TypeAdapter

    return TypeAdapter(of)


def _error(status: int, body: bytes) -> EverwhenError:
    """The error that `Memory` would have raised."""
    try:
        problem = json.loads(body)
        sentence, kind = str(problem["detail"]), str(problem["kind"])
    except (ValueError, KeyError, TypeError):
        return Unavailable(f"the server answered {status} without saying why")
    if status in (401, 403):
        return Refused(sentence)
    made = getattr(errors, kind, None)
    if isinstance(made, type) and issubclass(made, EverwhenError):
        return made(sentence)
    return EverwhenError(sentence)
