"""The routes of all operations that have an address: arguments, description, answer and scope are the operation's.

`Special` is for an address that does more than its operation says; most do not.
"""

from __future__ import annotations

import hashlib
import inspect
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, TypeAlias, get_origin

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel, create_model
from pydantic.alias_generators import to_pascal

from everwhen.api.memory import Memory
from everwhen.api.operations import Operation, Parameter, Spec, arguments_of, operations, result_of
from everwhen.api.operations.arguments import Name, Stretch, Text
from everwhen.api.operations.facts import Current, Get
from everwhen.serve.arguments import (
    Body,
    annotation,
    in_body,
    in_query,
    items_of,
    one_of,
    signed,
    taken,
    travels,
)
from everwhen.serve.pagination import Cursor, CursorIn, Limit, LimitIn, Page, page
from everwhen.serve.problems import Problem
from everwhen.serve.routing import Bank, area, needs, replied, span_of, state_of, written
from everwhen.serve.state import ServerState
from everwhen.types import Added, Consolidated, Fact, Listed, Recall, Receipt

Values: TypeAlias = Mapping[str, Any]
Handle: TypeAlias = Callable[["Asked"], Awaitable[Response]]


@dataclass(frozen=True, slots=True)
class Asked:
    request: Request
    bank: str
    operation: Any
    values: Values
    """All that came, as it came: what is not the operation's is there too."""
    answer: Answering

    @property
    def state(self) -> ServerState:
        return state_of(self.request)


@dataclass(frozen=True, slots=True)
class Special:
    """What an address has that its operation does not say."""

    handle: Handle | None = None
    more: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    """Arguments of the body beside the operation's, each with its type and `Field`."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Arguments that stand for something else here when they are left out."""
    pick: Callable[[Values], Operation[Any]] | None = None
    """Which of several operations at one address is meant; without it, the one whose `fixed` values came."""
    response: Any = None
    responses: Mapping[int, Any] = field(default_factory=dict)


class Answering:
    """How the result of an operation is sent."""

    def __init__(self, name: str, operation: Any, response: Any) -> None:
        self.spec = operation.spec
        result = response or result_of(operation)
        self.of: Any
        if self.spec.paged:
            self.of = Page[items_of(result)]  # type: ignore[misc]
        elif self.spec.answer:
            self.of = create_model(f"{to_pascal(name)}Out", **{self.spec.answer: (result, ...)})  # type: ignore[call-overload]
        elif get_origin(result) is Listed:
            self.of = list[items_of(result)]  # type: ignore[misc]
        else:
            self.of = result

    def response(self, found: Any, asked: Asked) -> Response:
        """What was found as a response; made in the thread that found it."""
        if self.spec.status == 204:
            return Response(status_code=204)
        headers = {"ETag": _tag(found)} if isinstance(found, Fact) else None
        if self.spec.paged:
            serving = asked.state.serving
            found = page(list(found), asked.values["cursor"], asked.values["limit"], serving)
        elif self.spec.answer:
            found = self.of(**{self.spec.answer: found})
        return replied(written(found, self.of), self.spec.status, headers)


async def perform(
    asked: Asked,
    act: Callable[[Memory], Any] | None = None,
    run: Callable[[str, Callable[[Memory], Response]], Awaitable[Response]] | None = None,
) -> Response:
    """Do what was asked for, where it holds up nobody, and answer.

    `act` does something else than the operation as it stands; `run` is another place than the one of its `Spec`.
    """
    spec, banks = asked.answer.spec, asked.state.banks
    traced, operation = span_of(asked.request), asked.operation

    def work(memory: Memory) -> Response:
        with _unchanged(asked, memory):
            found = act(memory) if act else memory.perform(operation)
        if (count := _records(found)) is not None:
            traced.records(count)
        return asked.answer.response(found, asked)

    if run is not None:
        return await run(asked.bank, work)
    if spec.runs == "settled":
        return await banks.read(asked.bank, work)
    return await (banks.call if spec.runs == "quick" else banks.wait)(asked.bank, work, create=spec.creates)


def operation_routes(specials: Mapping[Any, Special]) -> APIRouter:
    """A router with all operations; those that share an address are one route."""
    shared: dict[str, list[tuple[str, type[Operation[Any]]]]] = {}
    for name, operation in operations().items():
        if operation.spec.route:
            shared.setdefault(operation.spec.route, []).append((name, operation))
    router = area()
    areas = list(dict.fromkeys(route.split("/")[1] for route in shared))
    for route in sorted(shared, key=lambda route: (areas.index(route.split("/")[1]), _breadth(route))):
        named = shared[route]
        special = next((specials[one] for _, one in named if one in specials), Special())
        _add(router, [name for name, _ in named], [one for _, one in named], special)
    return router


def _add(
    router: APIRouter, names: Sequence[str], several: Sequence[type[Operation[Any]]], special: Special
) -> None:
    first, spec = several[0], several[0].spec
    name = _shared(names)
    inputs = _Inputs(name, several, special)
    answer = Answering(name, first, special.response)
    handle = special.handle or perform

    async def endpoint(*, request: Request, bank: str, **given: Any) -> Response:
        values = inputs.values(given)
        operation = inputs.operation(values)
        words = getattr(operation, "query", None) or getattr(operation, "question", None)
        if words is not None:
            span_of(request).query(words)
        return await handle(Asked(request, bank, operation, values, answer))

    endpoint.__signature__ = inputs.signature()  # type: ignore[attr-defined]
    declared = needs(spec.scope, spec.traced, if_match=spec.guarded)
    declared["responses"] |= special.responses
    router.add_api_route(
        f"/banks/{{bank}}{inputs.path}",
        endpoint,
        methods=[spec.method],
        name=name,
        tags=[first.__module__.rpartition(".")[2]],
        description=_description(several),
        status_code=spec.status,
        response_model=None if spec.status == 204 else answer.of,
        **declared,
    )


class _Inputs:
    """What a request at one address carries."""

    def __init__(self, name: str, several: Sequence[type[Operation[Any]]], special: Special) -> None:
        self._several = several
        self._special = special
        self._spec: Spec = several[0].spec
        self.path = self._spec.path
        self._in_path: list[Parameter] = []
        self._others: dict[str, list[Parameter]] = {}
        for operation in several:
            for one in filter(travels, arguments_of(operation)):
                if f"{{{one.name}}}" in self._spec.path:
                    self._in_path.append(one)
                    if isinstance(one.kind, Text):  # it may hold slashes
                        self.path = self.path.replace(f"{{{one.name}}}", f"{{{one.name}:path}}")
                else:
                    self._others.setdefault(operation.spec.renamed.get(one.name, one.name), []).append(one)
        self._body = self._model(name) if self._spec.method != "GET" else None

    def signature(self) -> inspect.Signature:
        made = [signed("request", Request), signed("bank", Bank)]
        made += [
            signed(one.name, str if isinstance(one.kind, Text | Name) else annotation(one))
            for one in self._in_path
        ]
        if self._body is not None:
            made += [signed("body", self._body)] if self._body.model_fields else []
            return inspect.Signature(made)
        for name, alike in self._others.items():
            laxest = min(alike, key=lambda one: one.required)
            made += in_query(laxest, name, required=len(alike) == len(self._several))
        flags = {name for one in self._several for name in one.spec.fixed}
        made += [signed(name, bool, False) for name in sorted(flags)]
        if self._spec.paged:
            made += [signed("cursor", Cursor, None), signed("limit", Limit, None)]
        own = self._special.defaults
        return inspect.Signature([one.replace(default=own.get(one.name, one.default)) for one in made])

    def values(self, given: Values) -> Values:
        body = given.get("body")
        return {**given, **(dict(body) if isinstance(body, BaseModel) else {})}

    def operation(self, values: Values) -> Operation[Any]:
        if self._special.pick is not None:
            return self._special.pick(values)
        (chosen,) = (
            one
            for one in self._several
            if all(values[name] == value for name, value in one.spec.fixed.items())
        )
        return chosen(**{one.name: self._value(one, values) for one in arguments_of(chosen) if travels(one)})

    def _value(self, one: Parameter, values: Values) -> Any:
        if self._body is None and isinstance(one.kind, Stretch):
            return (values["from_"], values["to"])
        return taken(values[one.name])

    def _model(self, name: str) -> type[BaseModel]:
        fixed: dict[str, list[Any]] = {}
        for one in self._several:
            for argument, value in one.spec.fixed.items():
                fixed.setdefault(argument, []).append(value)
        made: dict[str, tuple[Any, Any]] = {
            argument: (one_of(tuple(values)), ...) for argument, values in fixed.items()
        }
        made |= {argument: in_body(alike[0]) for argument, alike in self._others.items()}
        made |= self._special.more
        if self._spec.paged:
            made |= {"cursor": (CursorIn, None), "limit": (LimitIn, None)}
        return create_model(f"{to_pascal(name)}In", __base__=Body, **made)  # type: ignore[call-overload, no-any-return]


def _shared(names: Sequence[str]) -> str:
    """The name of a route: of one operation its own, of several what their names begin with."""
    parts = zip(*(re.split(r"[._]", name.strip("_")) for name in names), strict=False)
    return "_".join(alike[0] for alike in takewhile(lambda alike: len(set(alike)) == 1, parts))


def _breadth(route: str) -> list[tuple[bool, bool]]:
    """Orders addresses such that none comes before a narrower one: a name may hold slashes, and would swallow it."""
    parts = route.partition(" ")[2].split("/")
    return [(part == "", part.startswith("{")) for part in [*parts[1:], "", "", ""]]


def _description(several: Sequence[type[Operation[Any]]]) -> str:
    said = [inspect.cleandoc(one.__doc__ or "") for one in several]
    if len(several) > 1:
        said = [one.partition("\n\n")[0] for one in said]
    if several[0].spec.creates:
        said.append("The bank comes into being when it is new.")
    if several[0].spec.guarded:
        said.append("`If-Match` names what is believed now.")
    return "\n\n".join(said)


def _records(found: Any) -> int | None:
    """How many memories were found or written, for tracers."""
    match found:
        case Added(new=count):
            return count
        case Recall():
            return len(found.memories)
        case Consolidated():
            return found.built + found.rebuilt
        case Receipt():
            return 0 if found.dry_run else len(found.turns)
    return None


def _tag(fact: Fact) -> str:
    """A fact's ETag, over all that a reader sees of it: taking back and confirming make no new version."""
    return f'"{fact.id}.{fact.version}.{hashlib.sha256(written(fact, Fact)).hexdigest()[:16]}"'


@contextmanager
def _unchanged(asked: Asked, memory: Memory) -> Iterator[None]:
    """Inside, nobody else changes a fact; and the one that is to be changed is the one that the caller has seen."""
    operation, spec = asked.operation, asked.answer.spec
    kind: Any = type(operation)
    if not spec.writes or not (spec.guarded or result_of(kind) is Fact):
        yield
        return
    with asked.state.banks.changing(asked.bank):
        if_match = asked.request.headers.get("if-match")
        if spec.guarded and if_match is not None:
            tags = {_tag(fact) for fact in _held(memory, operation)}
            if not tags or (if_match != "*" and if_match not in tags):
                raise Problem(
                    409, "the fact changed since you read it (If-Match); read it again, then decide"
                )
        yield


def _held(memory: Memory, operation: Any) -> list[Fact]:
    """What a change is about, as it is believed now."""
    if hasattr(operation, "fact_id"):
        return [memory.perform(Get(operation.fact_id))]
    return memory.perform(Current(operation.subject, operation.predicate))
