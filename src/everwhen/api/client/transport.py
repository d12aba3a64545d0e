"""One request and its answer, apart from what sends it: the same for the client and its asynchronous twin.

A method is a generator of calls (`Steps`), which `Connection.taken` takes. What is done outside is to send a request,
and to pause: `Client` and `AsyncClient` differ only in how they `Do` these two.
"""

from __future__ import annotations

import json
import os
from collections.abc import Awaitable, Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from everwhen import errors
from everwhen.api.extraction_wait import note_pending, one_wait
from everwhen.errors import EverwhenError, Refused, Unavailable
from everwhen.store.files.home import check_bank_name
from everwhen.types import Answer, Listed
from everwhen.types.jsonable import jsonable

if TYPE_CHECKING:
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
class Call:
    """What to send: `path` goes below `/v1/banks/{bank}`, `of` is the type that comes back."""

    method: str
    path: str
    of: Any = None
    body: Any = None
    params: Mapping[str, Any] = field(default_factory=dict)
    writes: bool = False
    raw: bytes | None = None
    """A body that is no JSON: a part of an export."""
    into: Callable[[bytes], None] | None = None
    """Takes the answer piece by piece; it is then sent only once."""
    patient: bool = False
    """It may take long: work on the whole bank."""
    after: float = 0.0
    """Seconds to wait before it is sent."""

    def headers(self) -> dict[str, str]:
        made = {"Content-Type": "application/json"} if self.body is not None else {}
        if self.raw is not None:
            made = {"Content-Type": "application/octet-stream"}
        return {**made, "Idempotency-Key": os.urandom(16).hex()} if self.writes else made

    def content(self) -> bytes | None:
        if self.raw is not None:
            return self.raw
        return None if self.body is None else json.dumps(jsonable(self.body), allow_nan=False).encode()

    def query(self) -> dict[str, str]:
        given = {name: jsonable(value) for name, value in self.params.items() if value is not None}
        return {
            name: str(value).lower() if isinstance(value, bool) else str(value)
            for name, value in given.items()
        }


Steps: TypeAlias = Generator[Call, Any, R]
"""A method: yields what to send, is sent what came back, returns what the caller gets."""


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
                return cast("R", Listed(value, wait.pending)) if isinstance(value, list) else value

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


class AskAgain(Unavailable):
    """The server is busy, starts or goes on working, and may be asked again after `seconds` (Retry-After)."""

    def __init__(self, sentence: str, seconds: float) -> None:
        super().__init__(sentence)
        self.seconds = seconds


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
        """The piece or the answer that a line completes; raises the problem that it tells of."""
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
        told = json.loads(body)
        sentence, kind = str(told["detail"]), str(told["kind"])
    except (ValueError, KeyError, TypeError):
        return Unavailable(f"the server answered {status} without saying why")
    if status in (401, 403):
        return Refused(sentence)
    made = getattr(errors, kind, None)
    if isinstance(made, type) and issubclass(made, EverwhenError):
        return made(sentence)
    return EverwhenError(sentence)
