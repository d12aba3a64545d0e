"""`Client` and `AsyncClient`: each method is written once, as steps; here the steps are taken."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import update_wrapper
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, cast

from everwhen.client import calls, facts, keeping
from everwhen.client.wire import ATTEMPTS, PAUSE, Call, Events, Steps, listed, read, unreachable
from everwhen.errors import EverwhenError, NotFound, Unavailable
from everwhen.home import check_bank_name
from everwhen.waiting import one_wait

if TYPE_CHECKING:
    import httpx

    from everwhen.agent_recipe import AgentRecipe
    from everwhen.models.llm import LLM
    from everwhen.types import Answer, Time

P = ParamSpec("P")
R = TypeVar("R")
STREAM = "text/event-stream"
SECONDS = 120.0
"""How long an answer may take: the server itself gives up waiting for extraction after a minute."""
PATIENCE = 3600.0
"""The same for work on a whole bank: forgetting, moving, building the tree."""


class Line:
    """Where the server is and which bank is meant; sends one call."""

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


def _taken(steps: Callable[P, Steps[R]]) -> Callable[Concatenate[Any, P], R]:
    """The same method, its steps taken one after the other."""

    def method(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._take(steps(*args, **kwargs))  # type: ignore[no-any-return]

    return update_wrapper(method, steps)


def _awaited(steps: Callable[P, Steps[R]]) -> Callable[Concatenate[Any, P], Coroutine[Any, Any, R]]:
    async def method(self: Any, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return await self._take(steps(*args, **kwargs))  # type: ignore[no-any-return]

    return update_wrapper(method, steps)


class ClientFacts:
    """`client.facts`: the methods of `memory.facts`."""

    def __init__(self, take: Callable[[Steps[Any]], Any]) -> None:
        self._take = take

    assert_ = _taken(facts.assert_)
    correct = _taken(facts.correct)
    retract = _taken(facts.retract)
    end = _taken(facts.end)
    confirm = _taken(facts.confirm)
    report_missing = _taken(facts.report_missing)
    report_change = _taken(facts.report_change)
    resolve = _taken(facts.resolve)
    current = _taken(facts.current)
    as_of = _taken(facts.as_of)
    history = _taken(facts.history)
    about = _taken(facts.about)
    diff = _taken(facts.diff)
    stale = _taken(facts.stale)
    review = _taken(facts.review)
    get = _taken(facts.get)
    versions = _taken(facts.versions)
    confidence_at = _taken(facts.confidence_at)
    define_predicate = _taken(facts.define_predicate)
    set_half_life = _taken(facts.set_half_life)


class AsyncClientFacts:
    """`client.facts`, its calls as coroutines."""

    def __init__(self, take: Callable[[Steps[Any]], Coroutine[Any, Any, Any]]) -> None:
        self._take = take

    assert_ = _awaited(facts.assert_)
    correct = _awaited(facts.correct)
    retract = _awaited(facts.retract)
    end = _awaited(facts.end)
    confirm = _awaited(facts.confirm)
    report_missing = _awaited(facts.report_missing)
    report_change = _awaited(facts.report_change)
    resolve = _awaited(facts.resolve)
    current = _awaited(facts.current)
    as_of = _awaited(facts.as_of)
    history = _awaited(facts.history)
    about = _awaited(facts.about)
    diff = _awaited(facts.diff)
    stale = _awaited(facts.stale)
    review = _awaited(facts.review)
    get = _awaited(facts.get)
    versions = _awaited(facts.versions)
    confidence_at = _awaited(facts.confidence_at)
    define_predicate = _awaited(facts.define_predicate)
    set_half_life = _awaited(facts.set_half_life)


class Client:
    """A bank that a server keeps (`everwhen serve`), with the methods and types of `Memory`. Thread-safe."""

    def __init__(
        self, url: str, key: str | None = None, *, bank: str = "default", timeout: float = SECONDS
    ) -> None:
        self._line = Line(url, key, bank, timeout)
        import httpx

        self._http: httpx.Client = httpx.Client(**self._line.options())

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connections."""
        self._http.close()

    @property
    def bank(self) -> str:
        return self._line.bank

    @property
    def zone(self) -> str:
        """The zone of text that comes without one; UTC for a bank that is not there yet."""
        try:
            return str(self._send(Call("GET", "", dict[str, Any]))["zone"])
        except NotFound:
            return "UTC"

    @property
    def retention(self) -> str:
        """How long the bank keeps what, as a sentence; empty for ever."""
        try:
            return str(self._send(Call("GET", "", dict[str, Any]))["retention"])
        except NotFound:
            return ""

    @property
    def facts(self) -> ClientFacts:
        """What is true from when to when, and what was known when."""
        return ClientFacts(self._take)

    add = _taken(calls.add)
    add_many = _taken(calls.add_many)
    flush = _taken(calls.flush)
    process = _taken(calls.process)
    reextract = _taken(calls.reextract)
    turns = _taken(calls.turns)
    turn = _taken(calls.turn)
    turns_around = _taken(calls.turns_around)
    sessions = _taken(calls.sessions)
    grep = _taken(calls.grep)
    recall = _taken(calls.recall)
    accessed = _taken(calls.accessed)
    when = _taken(calls.when)
    compare = _taken(calls.compare)
    ask = _taken(calls.ask)
    usage = _taken(calls.usage)
    timeline = _taken(calls.timeline)
    events = _taken(calls.events)
    entities = _taken(calls.entities)
    entity = _taken(calls.entity)
    merge_entities = _taken(calls.merge_entities)
    split_entity = _taken(calls.split_entity)
    rename_entity = _taken(calls.rename_entity)
    undo_entities = _taken(calls.undo_entities)
    mentions = _taken(calls.mentions)
    seen_with = _taken(calls.seen_with)
    links = _taken(calls.links)
    consolidate = _taken(keeping.consolidate)
    tree = _taken(keeping.tree)
    profile = _taken(keeping.profile)
    forget = _taken(keeping.forget)
    set_retention = _taken(keeping.set_retention)
    retain = _taken(keeping.retain)
    export = _taken(keeping.export)
    import_ = _taken(keeping.import_)
    stats = _taken(calls.stats)
    doctor = _taken(calls.doctor)

    def ask_stream(
        self,
        question: str,
        *,
        at: Time | None = None,
        as_of: Time | None = None,
        model: str | LLM | None = None,
        recipe: AgentRecipe | None = None,
        session: str | None = None,
    ) -> Iterator[str | Answer]:
        """See `Memory.ask_stream`."""
        return self._streamed(calls.asked(question, at, as_of, model, recipe, session))

    def _streamed(self, call: Call) -> Iterator[str | Answer]:
        import httpx

        try:
            with self._http.stream(**self._line.request(call, STREAM)) as answer:
                if answer.status_code >= 400:
                    read(call, answer.status_code, answer.read(), answer.headers)
                events = Events()
                for line in answer.iter_lines():
                    if (piece := events.read(line)) is not None:
                        yield piece
        except httpx.TransportError as error:
            raise unreachable(self._line.url, error) from error

    def _poured(self, call: Call, into: Callable[[bytes], None]) -> None:
        import httpx

        try:
            with self._http.stream(**self._line.request(call)) as answer:
                if answer.status_code >= 400:
                    read(call, answer.status_code, answer.read(), answer.headers)
                for piece in answer.iter_bytes():
                    into(piece)
        except httpx.TransportError as error:
            raise unreachable(self._line.url, error) from error

    def _take(self, steps: Steps[R]) -> R:
        with one_wait() as wait:
            try:
                call = next(steps)
                while True:
                    try:
                        got = self._send(call)
                    except EverwhenError as error:
                        call = steps.throw(error)
                    else:
                        call = steps.send(got)
            except StopIteration as done:
                return listed(cast("R", done.value), wait.pending)

    def _send(self, call: Call) -> Any:
        import httpx

        if call.into is not None:
            return self._poured(call, call.into)
        time.sleep(call.after)
        request = self._line.request(call)  # made once: each attempt carries the same idempotency key
        for attempt in range(ATTEMPTS):
            try:
                answer = self._http.request(**request)
                return read(call, answer.status_code, answer.content, answer.headers)
            except httpx.TransportError as error:
                if attempt + 1 == ATTEMPTS or isinstance(error, httpx.TimeoutException):
                    raise unreachable(self._line.url, error) from error
                time.sleep(PAUSE * 2**attempt)
        raise AssertionError("the last attempt returns or raises")


class AsyncClient:
    """`Client` for asynchronous programs: the same methods, as coroutines."""

    def __init__(
        self, url: str, key: str | None = None, *, bank: str = "default", timeout: float = SECONDS
    ) -> None:
        self._line = Line(url, key, bank, timeout)
        import httpx

        self._http: httpx.AsyncClient = httpx.AsyncClient(**self._line.options())

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    @property
    def bank(self) -> str:
        return self._line.bank

    @property
    def facts(self) -> AsyncClientFacts:
        """What is true from when to when, and what was known when."""
        return AsyncClientFacts(self._take)

    add = _awaited(calls.add)
    add_many = _awaited(calls.add_many)
    flush = _awaited(calls.flush)
    process = _awaited(calls.process)
    reextract = _awaited(calls.reextract)
    turns = _awaited(calls.turns)
    turn = _awaited(calls.turn)
    turns_around = _awaited(calls.turns_around)
    sessions = _awaited(calls.sessions)
    grep = _awaited(calls.grep)
    recall = _awaited(calls.recall)
    accessed = _awaited(calls.accessed)
    when = _awaited(calls.when)
    compare = _awaited(calls.compare)
    ask = _awaited(calls.ask)
    usage = _awaited(calls.usage)
    timeline = _awaited(calls.timeline)
    events = _awaited(calls.events)
    entities = _awaited(calls.entities)
    entity = _awaited(calls.entity)
    merge_entities = _awaited(calls.merge_entities)
    split_entity = _awaited(calls.split_entity)
    rename_entity = _awaited(calls.rename_entity)
    undo_entities = _awaited(calls.undo_entities)
    mentions = _awaited(calls.mentions)
    seen_with = _awaited(calls.seen_with)
    links = _awaited(calls.links)
    consolidate = _awaited(keeping.consolidate)
    tree = _awaited(keeping.tree)
    profile = _awaited(keeping.profile)
    forget = _awaited(keeping.forget)
    set_retention = _awaited(keeping.set_retention)
    retain = _awaited(keeping.retain)
    export = _awaited(keeping.export)
    import_ = _awaited(keeping.import_)
    stats = _awaited(calls.stats)
    doctor = _awaited(calls.doctor)

    async def ask_stream(
        self,
        question: str,
        *,
        at: Time | None = None,
        as_of: Time | None = None,
        model: str | LLM | None = None,
        recipe: AgentRecipe | None = None,
        session: str | None = None,
    ) -> AsyncIterator[str | Answer]:
        """See `Memory.ask_stream`."""
        import httpx

        call = calls.asked(question, at, as_of, model, recipe, session)
        try:
            async with self._http.stream(**self._line.request(call, STREAM)) as answer:
                if answer.status_code >= 400:
                    read(call, answer.status_code, await answer.aread(), answer.headers)
                events = Events()
                async for line in answer.aiter_lines():
                    if (piece := events.read(line)) is not None:
                        yield piece
        except httpx.TransportError as error:
            raise unreachable(self._line.url, error) from error

    async def _poured(self, call: Call, into: Callable[[bytes], None]) -> None:
        import httpx

        try:
            async with self._http.stream(**self._line.request(call)) as answer:
                if answer.status_code >= 400:
                    read(call, answer.status_code, await answer.aread(), answer.headers)
                async for piece in answer.aiter_bytes():
                    into(piece)
        except httpx.TransportError as error:
            raise unreachable(self._line.url, error) from error

    async def _take(self, steps: Steps[R]) -> R:
        with one_wait() as wait:
            try:
                call = next(steps)
                while True:
                    try:
                        got = await self._send(call)
                    except EverwhenError as error:
                        call = steps.throw(error)
                    else:
                        call = steps.send(got)
            except StopIteration as done:
                return listed(cast("R", done.value), wait.pending)

    async def _send(self, call: Call) -> Any:
        import httpx

        if call.into is not None:
            return await self._poured(call, call.into)
        await asyncio.sleep(call.after)
        request = self._line.request(call)
        for attempt in range(ATTEMPTS):
            try:
                answer = await self._http.request(**request)
                return read(call, answer.status_code, answer.content, answer.headers)
            except httpx.TransportError as error:
                if attempt + 1 == ATTEMPTS or isinstance(error, httpx.TimeoutException):
                    raise unreachable(self._line.url, error) from error
                await asyncio.sleep(PAUSE * 2**attempt)
        raise AssertionError("the last attempt returns or raises")
