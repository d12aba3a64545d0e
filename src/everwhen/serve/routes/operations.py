"""The routes of all operations that have an address: arguments, description, answer and scope are the operation's.

`Special` is for an address that does more than its operation says; most do not.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cached_property
from itertools import takewhile
from typing import Any, TypeAlias, get_args, get_origin

from fastapi import APIRouter, Request, Response
from pydantic import ValidationError, create_model
from pydantic.alias_generators import to_pascal

from everwhen.api.memory import Memory
from everwhen.api.operations.base import (
    MOMENT,
    MOST_LISTED,
    SLASHES,
    STRETCH,
    AtMost,
    Limit,
    Moment,
    Operation,
    Parameter,
    arguments_of,
    extras,
    result_of,
)
from everwhen.api.operations.facts import Current, Get
from everwhen.api.operations.mistakes import usage_error
from everwhen.api.operations.surface import operations
from everwhen.errors import UsageError
from everwhen.serve.pagination import CursorIn as Cursor
from everwhen.serve.pagination import Page, page
from everwhen.serve.problems import Problem
from everwhen.serve.routing import Bank, area, needs, only_known, replied, shape, span_of, state_of, written
from everwhen.serve.state import ServerState
from everwhen.types import Added, Consolidated, Fact, Listed, Recall, Receipt
from everwhen.types.time_arguments import TimeReader

Values: TypeAlias = Mapping[str, Any]
Handle: TypeAlias = Callable[["Asked"], Awaitable[Response]]


INPUTS: dict[str, Inputs] = {}
"""What a request carries, by the name of its route."""


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
    """Arguments beside the operation's, each with its type and default."""
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
    inputs = Inputs(name, several, special)
    answer = Answering(name, first, special.response)
    handle = special.handle or perform

    async def endpoint(request: Request, bank: Bank) -> Response:
        values = await inputs.values(request)
        operation = inputs.operation(values)
        words = getattr(operation, "query", None) or getattr(operation, "question", None)
        if words is not None:
            span_of(request).query(words)
        return await handle(Asked(request, bank, operation, values, answer))

    declared = needs(spec.scope, spec.traced, if_match=spec.guarded)
    declared["responses"] |= special.responses
    endpoint.reads_itself = True  # type: ignore[attr-defined]
    INPUTS[name] = inputs
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


class Inputs:
    """What a request at one address carries: read, and described, from the fields of its operations."""

    def __init__(self, name: str, several: Sequence[type[Operation[Any]]], special: Special) -> None:
        self._name, self._several, self._special = name, several, special
        spec = several[0].spec
        self.path = spec.path
        self._in_query = spec.method == "GET"
        self._in_path: dict[str, Parameter] = {}
        self._others: dict[str, list[Parameter]] = {}
        self._fixed: dict[str, list[Any]] = {}
        for operation in several:
            for field_name, value in operation.spec.fixed.items():
                self._fixed.setdefault(field_name, []).append(value)
            for one in arguments_of(operation):
                if f"{{{one.name}}}" in spec.path:
                    self._in_path[one.name] = one
                    if SLASHES in one.marks:
                        self.path = self.path.replace(f"{{{one.name}}}", f"{{{one.name}:path}}")
                elif one.travels:
                    self._others.setdefault(operation.spec.renamed.get(one.name, one.name), []).append(one)
        self._more: dict[str, tuple[Any, Any]] = dict(special.more)
        if spec.paged:
            self._more |= {"cursor": (Cursor, None), "limit": (Limit | None, None)}

    @cached_property
    def taken(self) -> Mapping[str, Any]:
        """The schema of everything that a request may carry beside its path, by name."""
        made: dict[str, Any] = {}
        for name, values in self._fixed.items():
            made[name] = {"type": "boolean", "default": False} if self._in_query else {"enum": values}
        for name, alike in self._others.items():
            one = min(alike, key=lambda one: one.required)
            if self._in_query and STRETCH in one.marks:
                if MOMENT in one.marks:
                    made[name] = _schema(Moment | None, one.description, None)
                made |= _sides(one, name)
                continue
            made[name] = _schema(one.annotation, "", self._default(name, one))
        return made | {name: _schema(of, "", default) for name, (of, default) in self._more.items()}

    @cached_property
    def needed(self) -> list[str]:
        every = len(self._several)
        needed = [
            name
            for name, alike in self._others.items()
            if len(alike) == every and all(one.required and not one.optional for one in alike)
        ]
        return needed if self._in_query else [*self._fixed, *needed]

    def describe(self, route: dict[str, Any], schemas: dict[str, Any]) -> None:
        """Say in the description of the API what a request carries."""
        listed = route.setdefault("parameters", [])
        for name, one in self._in_path.items():
            schema = {"type": "string"} if one.plain is str else _schema(one.annotation)
            listed.append({"name": name, "in": "path", "required": True, "schema": schema})
        if self._in_query:
            for name, schema in self.taken.items():
                said = {"description": schema["description"]} if "description" in schema else {}
                required = name in self.needed
                listed.append({"name": name, "in": "query", "required": required, **said, "schema": schema})
            return
        if not self.taken:
            return
        title = f"{to_pascal(self._name)}In"
        schemas[title] = {
            "title": title,
            "type": "object",
            "properties": dict(self.taken),
            "additionalProperties": False,
        } | ({"required": self.needed} if self.needed else {})
        content = {"application/json": {"schema": {"$ref": f"#/components/schemas/{title}"}}}
        route["requestBody"] = {"required": True, "content": content}

    async def values(self, request: Request) -> Values:
        """All that came, under the names of the request; what was left out is not there, but for what is not the
        operation's."""
        if self._in_query:
            only_known(request.query_params, [*self.taken])
            texts = dict(request.query_params)
            given = {name: _of_text(self.taken[name], text) for name, text in texts.items()}
        else:
            only_known(request.query_params, ())
            given = await _object(request)
            if unknown := next((name for name in given if name not in self.taken), None):
                names = ", ".join(self.taken) or "nothing"
                raise UsageError(f"{unknown[:100]}: there is no such argument; this address takes: {names}")
        for name, value in given.items():
            if isinstance(value, list) and len(value) > MOST_LISTED:
                raise UsageError(
                    f"{len(value):,} {name} are too many for one request; send at most {MOST_LISTED:,}"
                )
        for name, (of, default) in self._more.items():
            given[name] = checked(name, of, given[name]) if given.get(name) is not None else default
        for name in self._fixed:
            if self._in_query:
                given[name] = checked(name, bool, given.get(name, False))
        given |= {name: value for name, value in self._special.defaults.items() if name not in given}
        in_path = request.path_params
        return given | {
            name: _of_text(_schema(one.annotation), in_path[name]) for name, one in self._in_path.items()
        }

    def operation(self, values: Values) -> Operation[Any]:
        if self._special.pick is not None:
            return self._special.pick(values)
        fitting = (
            one
            for one in self._several
            if all(values.get(name) == value for name, value in one.spec.fixed.items())
        )
        chosen = next(fitting, None)
        if chosen is None:
            raise UsageError(
                "; ".join(f"{name} must be one of {words}" for name, words in self._fixed.items())
            )
        given: dict[str, Any] = {}
        for one in arguments_of(chosen):
            name = chosen.spec.renamed.get(one.name, one.name)
            if self._in_query and STRETCH in one.marks and MOMENT not in one.marks:
                sides = (values.get("from"), values.get("to"))
                given |= {one.name: sides} if sides != (None, None) else {}
            elif one.travels and name in values and not (one.required is False and values[name] is None):
                given[one.name] = values[name]
            elif one.required and one.optional:
                given[one.name] = None
        return understood(chosen(**given))

    def _default(self, name: str, one: Parameter) -> Any:
        if name in self._special.defaults:
            return self._special.defaults[name]
        default = ... if one.required and not one.optional else None if one.required else one.default
        return list(default) if isinstance(default, tuple) else default


def _schema(of: Any, description: str = "", default: Any = ...) -> dict[str, Any]:
    schema = dict(shape(of).json_schema())
    if description:
        schema["description"] = description
    return schema if default is ... else schema | {"default": default}


def _sides(one: Parameter, name: str) -> dict[str, Any]:
    """A stretch of time in a query is two parameters."""
    about = f"A stretch of time instead of `{name}`" if MOMENT in one.marks else one.description.rstrip(".")
    side = shape(Moment | None).json_schema()
    return {
        "from": side | {"description": f"{about}: from its beginning on."},
        "to": side | {"description": f"{about}: up to it; a day or an expression is included."},
    }


def _of_text(schema: Mapping[str, Any], text: str) -> Any:
    """What a text in a query says, where it is no text; else the text, which the operation refuses."""
    kinds = {one.get("type") for one in (schema, *schema.get("anyOf", ()))}
    if "boolean" in kinds:
        return {"true": True, "1": True, "false": False, "0": False}.get(text.lower(), text)
    for kind, read in (("integer", int), ("number", float)):
        if kind in kinds:
            with suppress(ValueError):
                return read(text)
    return text


async def _object(request: Request) -> dict[str, Any]:
    """The body of a request."""
    body = await request.body()
    try:
        given = json.loads(body) if body else {}
    except (ValueError, RecursionError) as error:
        raise UsageError(f"the body is not JSON: {str(error)[:100] or 'it cannot be read'}") from None
    if not isinstance(given, dict):
        raise UsageError('the body must be a JSON object, such as {"query": "Where does Ana live?"}')
    return given


def understood(operation: Operation[Any]) -> Operation[Any]:
    """The operation, if its times can be read and its numbers are none too large for a request: what is not is refused
    before a bank is opened, or made."""
    clock = TimeReader("UTC", getattr(operation, "at", None))
    for one in arguments_of(type(operation)):
        value = getattr(operation, one.name)
        most = next((extra.most for extra in extras(one.annotation) if isinstance(extra, AtMost)), None)
        if most is not None and isinstance(value, int) and value > most:
            raise UsageError(f"{one.name} must be at most {most:,} in a request, not {value:,}")
        if value is None or value == "end":
            continue
        if STRETCH in one.marks and not (MOMENT in one.marks and isinstance(value, str)):
            clock.window(value)
        elif MOMENT in one.marks:
            clock.interval(value, one.name)
    return operation


def checked(name: str, of: Any, value: Any) -> Any:
    """A value beside the operation's, checked as those are."""
    try:
        return shape(of).validate_python(value, strict=True)
    except ValidationError as error:
        raise usage_error(error, name) from None


def items_of(result: Any) -> Any:
    """What a list, an iterator or another sequence holds."""
    return get_args(result)[0] if get_origin(result) is not None else Any


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
