"""The routes of the operations: what a request carries is a pydantic model made of an operation's fields.

The scope that a route needs is checked before the body is looked at: whoever may not write to a bank hears 403,
whatever was sent. `Special` is for an address that does more than its operation says; most do not.
"""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import re
from collections.abc import Awaitable, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import takewhile
from types import UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin

from fastapi import APIRouter, Body, Path, Query
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field, PlainValidator, TypeAdapter, create_model, model_validator
from pydantic.alias_generators import to_pascal
from starlette.requests import Request
from starlette.responses import Response

from everwhen.api.extraction_wait import one_wait
from everwhen.api.memory import Memory
from everwhen.api.operations.base import (
    MOMENT,
    MOST_LISTED,
    SLASHES,
    STRETCH,
    AtMost,
    Limit,
    Moment,
    OneOf,
    Operation,
    Parameter,
    RecipeField,
    Scope,
    arguments_of,
    extras,
    of_checked,
    result_of,
)
from everwhen.api.operations.facts import Current, Get
from everwhen.api.operations.surface import operations
from everwhen.errors import EverwhenError, UsageError
from everwhen.serve.auth import admit
from everwhen.serve.idempotency import LONGEST
from everwhen.serve.responses import DOCUMENTED, MEDIA, CursorIn, Page, Problem, page
from everwhen.serve.state import ServerState
from everwhen.serve.telemetry import Span, span
from everwhen.store.answers import StoredAnswer
from everwhen.store.files.home import BANK_NAME
from everwhen.types import Added, Consolidated, Fact, ListWithPending, Recall, Receipt
from everwhen.types.times import TimeReader

PENDING = "Everwhen-Pending"
"""The header of an answer that did not wait for all turns to be read: how many are missing in it."""

Bank = Annotated[
    str,
    Path(pattern=f"^{BANK_NAME.pattern}$", max_length=128, examples=["ana"], description="The bank's name."),
]
Values: TypeAlias = Mapping[str, Any]

IDEMPOTENCY: dict[str, Any] = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Sent again with the same key and body, the write is not done twice.",
    "schema": {"type": "string", "minLength": 1, "maxLength": LONGEST, "pattern": "^[!-~]+$"},
}
IF_MATCH: dict[str, Any] = {
    "name": "If-Match",
    "in": "header",
    "required": False,
    "description": "The ETag that the fact must still have; 409 when it has another.",
    "example": '"f1.2.9c56cc51b374c3ba"',
    "schema": {"type": "string"},
}

# Routes and what they declare


class JsonRequest(Request):
    """A body is JSON whatever its Content-Type says (`curl -d` calls it a form); none at all is an empty object.

    Pages of other sites, which may send such a body without asking, are refused by their Origin before."""

    def __init__(self, request: Request) -> None:
        headers = [(name, value) for name, value in request.scope["headers"] if name != b"content-type"]
        super().__init__({**request.scope, "headers": headers}, request.receive)

    async def body(self) -> bytes:
        return await super().body() or b"{}"


class GuardedRoute(APIRoute):
    """A route that knows which scope it needs, and remembers answers by idempotency key."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        inner = super().get_route_handler()
        extra = self.openapi_extra or {}
        scope: Scope = extra.get("x-scope", "read")
        operation: str = extra.get("x-operation", "search_memory")
        keeps = IDEMPOTENCY in extra.get("parameters", ())
        in_query = [name for one in self.dependant.query_params for name in argument_names(one)]

        async def handle(request: Request) -> Response:
            bank = request.path_params.get("bank")
            if bank is not None:
                admit(request.state.caller, scope, bank)
            if self.body_field is not None:
                request = JsonRequest(request)
            with span(operation, bank or "*", request.headers) as traced:
                request.state.span = traced
                try:
                    _refuse_unknown(request, in_query)
                    with one_wait() as wait:
                        again = keeps and "idempotency-key" in request.headers
                        response = await (_once(request, inner) if again else inner(request))
                        if wait.pending:
                            response.headers[PENDING] = str(wait.pending)
                        return response
                except (EverwhenError, Problem) as error:
                    traced.failed(type(error).__name__)
                    raise

        return handle


def argument_names(one: Any) -> list[str]:
    """The names that one parameter of FastAPI stands for: a model stands for its fields."""
    of = one.field_info.annotation
    return list(of.model_fields) if isinstance(of, type) and issubclass(of, BaseModel) else [one.alias]


def _refuse_unknown(request: Request, known: Sequence[str]) -> None:
    """A query parameter that is not known is refused, as a field of a body is: a misspelt filter is not ignored."""
    unknown = next((name for name in request.query_params if name not in known), None)
    if unknown is not None:
        names = ", ".join(known) or "none"
        raise UsageError(f"{unknown[:100]}: unknown query parameter; this address takes: {names}")


def area(*tags: str) -> APIRouter:
    """A router for one area of `Memory`."""
    return APIRouter(prefix="/v1", tags=list(tags), route_class=GuardedRoute)


def needs(
    scope: Scope, operation: str = "search_memory", *, if_match: bool = False, once: bool = True
) -> dict[str, Any]:
    """What a route declares: `@router.post(path, **needs("write", "create_memory"))`.

    `once=False` is for what changes nothing, and whose answer is not to be kept.
    """
    extra: dict[str, Any] = {"x-scope": scope, "x-operation": operation}
    if scope != "read" and once:
        extra["parameters"] = [IDEMPOTENCY, IF_MATCH] if if_match else [IDEMPOTENCY]
    return {"openapi_extra": extra, "responses": problems()}


def problems(*codes: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for the description of the API."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        code: {"description": text, "content": {MEDIA: {"schema": schema}}}
        for code, text in DOCUMENTED.items()
        if not codes or code in codes
    }


async def _once(request: Request, inner: Callable[[Request], Coroutine[Any, Any, Response]]) -> Response:
    """Answer a write, or give the answer that the same write had before."""
    key = request.headers["idempotency-key"]
    if not 1 <= len(key) <= LONGEST or not key.isascii() or not key.isprintable() or " " in key:
        raise UsageError(f"Idempotency-Key: use 1 to {LONGEST} visible ASCII characters")
    state = state_of(request)
    asked = "\n".join(
        (request.state.caller.id, request.method, request.url.path, str(request.query_params), key)
    )
    body = await request.body() + repr(request.headers.get("if-match")).encode()
    kept = await asyncio.to_thread(state.answers.begin, asked, body)
    if kept is not None:
        return Response(
            kept.body, kept.status, media_type=kept.media, headers={"Idempotency-Replayed": "true"}
        )
    try:
        response = await inner(request)
    except BaseException:  # not done, or not known to be: the same key may try again
        await asyncio.shield(asyncio.to_thread(state.answers.abandon, asked))
        raise
    answer = StoredAnswer(
        response.status_code, response.media_type or "application/json", bytes(response.body)
    )
    await asyncio.to_thread(state.answers.finish, asked, answer)
    return response


@cache
def _adapter(of: Any) -> TypeAdapter[Any]:
    return TypeAdapter(of)


def to_json(value: Any, of: Any) -> bytes:
    """A value of the library as JSON: instants in UTC with `Z`, intervals as objects."""
    # The parts of a score are a mapping of their own kind, which pydantic would warn of.
    return _adapter(of).dump_json(value, fallback=dict, warnings=False)


def json_response(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(body, status, media_type="application/json", headers=headers)


def state_of(request: Request) -> ServerState:
    state: ServerState = request.app.state.server
    return state


def span_of(request: Request) -> Span:
    traced: Span = request.state.span
    return traced


# What a request carries


class Arguments(BaseModel):
    """The arguments in a body. Null is as good as left out."""

    model_config = ConfigDict(strict=True, extra="forbid", arbitrary_types_allowed=True)

    @model_validator(mode="before")
    @classmethod
    def _without_null(cls, given: Any) -> Any:
        if isinstance(given, dict):
            return {name: value for name, value in given.items() if value is not None}
        return given


class QueryArguments(Arguments):
    """The arguments in a query, where all is text."""

    model_config = ConfigDict(strict=False)


@dataclass(frozen=True, slots=True)
class Special:
    """What an address has that its operation does not say."""

    handle: Callable[[OperationRequest], Awaitable[Response]] | None = None
    more: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)
    """Arguments beside the operation's, each with its type and default."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Arguments that stand for something else here when they are left out."""
    pick: Callable[[Values], type[Operation[Any]]] | None = None
    """Which of several operations at one address is meant; without it, the one whose `fixed` values came."""
    response: Any = None
    responses: Mapping[int, Any] = field(default_factory=dict)


def _arguments_model(
    name: str, several: Sequence[type[Operation[Any]]], special: Special
) -> type[Arguments] | None:
    """The model of what a request at one address carries beside its path; None where that is nothing."""
    spec = several[0].spec
    in_query = spec.method == "GET"
    fields: dict[str, Any] = {}
    fixed: dict[str, list[Any]] = {}
    for operation in several:
        for argument, value in operation.spec.fixed.items():
            fixed.setdefault(argument, []).append(value)
    for argument, values in fixed.items():
        fields[argument] = (bool, False) if in_query else (Annotated[str, OneOf(values)], ...)
    for argument, alike in _others(several).items():
        one = min(alike, key=lambda one: one.required)
        if in_query and STRETCH in one.marks:
            if MOMENT in one.marks:
                fields[argument] = (Annotated[TIME, Field(description=one.description)], None)
            fields |= _sides(one, argument)
            continue
        needed = len(alike) == len(several) and all(each.required and not each.optional for each in alike)
        default = special.defaults.get(argument, None if one.required else one.default)
        fields[argument] = (_own_schema(one.annotation), ... if needed else default)
    fields |= special.more
    if spec.paged:
        fields |= {"cursor": (CursorIn, None), "limit": (Limit | None, None)}
    base = QueryArguments if in_query else Arguments
    return create_model(f"{to_pascal(name)}In", __base__=base, **fields) if fields else None


def _others(several: Sequence[type[Operation[Any]]]) -> dict[str, list[Parameter]]:
    """The arguments that are not in the path, by their names in a request."""
    found: dict[str, list[Parameter]] = {}
    for operation in several:
        for one in arguments_of(operation):
            if one.travels and f"{{{one.name}}}" not in operation.spec.path:
                found.setdefault(operation.spec.renamed.get(one.name, one.name), []).append(one)
    return found


def _own_schema(hint: Any) -> Any:
    """An annotation without the types whose schema and check it says itself: FastAPI would list them as types of the
    API."""
    if get_origin(hint) is Annotated:
        inner, *extras_ = get_args(hint)
        says_itself = any(isinstance(one, PlainValidator | RecipeField) for one in extras_)
        return Annotated[(Any if says_itself else _own_schema(inner), *extras_)]
    if get_origin(hint) in (Union, UnionType):
        return Union[tuple(map(_own_schema, get_args(hint)))]  # noqa: UP007
    return hint


TIME = _own_schema(Moment | None)


def _sides(one: Parameter, name: str) -> dict[str, Any]:
    """A stretch of time in a query is two parameters."""
    about = f"A stretch of time instead of `{name}`" if MOMENT in one.marks else one.description.rstrip(".")
    ends = {"from": "from its beginning on", "to": "up to it; a day or an expression is included"}
    return {
        side: (Annotated[TIME, Field(description=f"{about}: {said}.")], None) for side, said in ends.items()
    }


def _operation(kind: type[Operation[Any]], values: Values) -> Operation[Any]:
    """The operation of a request whose values were checked by its model. Times that cannot be read, and numbers that
    are too large for a request, are refused before a bank is opened, or made."""
    given: dict[str, Any] = {}
    for one in arguments_of(kind):
        name = kind.spec.renamed.get(one.name, one.name)
        if kind.spec.method == "GET" and STRETCH in one.marks and MOMENT not in one.marks:
            sides = (values["from"], values["to"])
            given[one.name] = None if sides == (None, None) else sides
        elif name in values:
            given[one.name] = values[name]
    operation = of_checked(kind, given)
    clock = TimeReader("UTC", getattr(operation, "at", None))
    for one in arguments_of(kind):
        value = getattr(operation, one.name)
        most = next((extra.most for extra in extras(one.annotation) if isinstance(extra, AtMost)), None)
        if most is not None and isinstance(value, int) and value > most:
            raise UsageError(f"{one.name} must be at most {most:,} in a request, not {value:,}")
        if isinstance(value, list) and len(value) > MOST_LISTED:
            raise UsageError(
                f"{len(value):,} {one.name} are too many for one request; send at most {MOST_LISTED:,}"
            )
        if value is None or value == "end":
            continue
        if STRETCH in one.marks and not (MOMENT in one.marks and isinstance(value, str)):
            clock.window(value)
        elif MOMENT in one.marks:
            clock.interval(value, one.name)
    return operation


# What is answered


@dataclass(frozen=True, slots=True)
class OperationRequest:
    """One request for an operation."""

    request: Request
    bank: str
    operation: Any
    values: Values
    """All that came, under the names of the request: what is not the operation's is there too."""
    answer: AnswerShape

    @property
    def state(self) -> ServerState:
        return state_of(self.request)


class AnswerShape:
    """How the result of an operation is sent."""

    def __init__(self, name: str, operation: Any, response: Any) -> None:
        self.spec = operation.spec
        result = response or result_of(operation)
        self.of: Any
        if self.spec.paged:
            self.of = Page[_items_of(result)]  # type: ignore[misc]
        elif self.spec.answer:
            self.of = create_model(f"{to_pascal(name)}Out", **{self.spec.answer: (result, ...)})  # type: ignore[call-overload]
        elif get_origin(result) is ListWithPending:
            self.of = list[_items_of(result)]  # type: ignore[misc]
        else:
            self.of = result

    def response(self, found: Any, asked: OperationRequest) -> Response:
        """What was found as a response; made in the thread that found it."""
        if self.spec.status == 204:
            return Response(status_code=204)
        headers = {"ETag": _etag(found)} if isinstance(found, Fact) else None
        if self.spec.paged:
            found = page(list(found), asked.values["cursor"], asked.values["limit"], asked.state.serving)
        elif self.spec.answer:
            found = self.of(**{self.spec.answer: found})
        return json_response(to_json(found, self.of), self.spec.status, headers)


def _items_of(result: Any) -> Any:
    """What a list, an iterator or another sequence holds."""
    return get_args(result)[0] if get_origin(result) is not None else Any


async def perform(
    asked: OperationRequest,
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
        match found:  # how many memories were found or written, for tracers
            case Added(new=count):
                traced.records(count)
            case Recall():
                traced.records(len(found.memories))
            case Consolidated():
                traced.records(found.built + found.rebuilt)
            case Receipt():
                traced.records(0 if found.dry_run else len(found.turns))
        return asked.answer.response(found, asked)

    if run is not None:
        return await run(asked.bank, work)
    if spec.runs == "settled":
        return await banks.read(asked.bank, work)
    return await (banks.call if spec.runs == "quick" else banks.wait)(asked.bank, work, create=spec.creates)


def _etag(fact: Fact) -> str:
    """Over all that a reader sees of a fact: taking back and confirming make no new version."""
    return f'"{fact.id}.{fact.version}.{hashlib.sha256(to_json(fact, Fact)).hexdigest()[:16]}"'


@contextmanager
def _unchanged(asked: OperationRequest, memory: Memory) -> Iterator[None]:
    """Inside, nobody else changes a fact; and the one that is to be changed is the one that the caller has seen."""
    operation, spec = asked.operation, asked.answer.spec
    kind: Any = type(operation)
    if not spec.writes or not (spec.guarded or result_of(kind) is Fact):
        yield
        return
    with asked.state.banks.changing(asked.bank):
        if_match = asked.request.headers.get("if-match")
        if spec.guarded and if_match is not None:
            if hasattr(operation, "fact_id"):
                believed = [memory.perform(Get(operation.fact_id))]
            else:
                current = memory.perform(Current(operation.subject, operation.predicate))
                believed = list(current)
            tags = {_etag(fact) for fact in believed}
            if not tags or (if_match != "*" and if_match not in tags):
                raise Problem(
                    409, "the fact changed since you read it (If-Match); read it again, then decide"
                )
        yield


# All operations


def operation_routes(specials: Mapping[Any, Special]) -> APIRouter:
    """A router with all operations; those that share an address are one route."""
    shared: dict[str, list[tuple[str, type[Operation[Any]]]]] = {}
    for name, operation in operations().items():
        if operation.spec.route:
            shared.setdefault(operation.spec.route, []).append((name, operation))
    router = area()
    areas = list(dict.fromkeys(route.split("/")[1] for route in shared))

    def order(route: str) -> tuple[int, list[tuple[bool, bool]]]:
        # None comes before a narrower one: a name may hold slashes, and would swallow it.
        parts = route.partition(" ")[2].split("/")
        return areas.index(parts[1]), [
            (part == "", part.startswith("{")) for part in [*parts[1:], "", "", ""]
        ]

    for route in sorted(shared, key=order):
        names, several = zip(*shared[route], strict=True)
        special = next((specials[one] for one in several if one in specials), Special())
        _add(router, _shared_name(names), several, special)
    return router


def _add(router: APIRouter, name: str, several: Sequence[type[Operation[Any]]], special: Special) -> None:
    first, spec = several[0], several[0].spec
    answer = AnswerShape(name, first, special.response)
    handle = special.handle or perform
    model = _arguments_model(name, several, special)

    async def endpoint(request: Request, bank: str, carried: Any = None, **in_path: Any) -> Response:
        values = in_path | dict(carried or ())
        if special.pick is not None:
            kind = special.pick(values)
        else:
            kind = next(one for one in several if one.spec.fixed.items() <= values.items())
        operation = _operation(kind, values)
        words = getattr(operation, "query", None) or getattr(operation, "question", None)
        if words is not None:
            span_of(request).query(words)
        return await handle(OperationRequest(request, bank, operation, values, answer))

    path = spec.path
    taken: dict[str, Any] = {"request": Request, "bank": Bank}
    for one in arguments_of(first):
        if f"{{{one.name}}}" in path:
            taken[one.name] = Annotated[one.annotation, Path()]
            if SLASHES in one.marks:
                path = path.replace(f"{{{one.name}}}", f"{{{one.name}:path}}")
    if model is not None:
        taken["carried"] = Annotated[model, Query() if spec.method == "GET" else Body()]
    parameters = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, annotation=of) for name, of in taken.items()
    ]
    endpoint.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    declared = needs(spec.scope, spec.traced, if_match=spec.guarded)
    declared["responses"] |= special.responses
    router.add_api_route(
        f"/banks/{{bank}}{path}",
        endpoint,
        methods=[spec.method],
        name=name,
        tags=[first.__module__.rpartition(".")[2]],
        description=_description(several),
        status_code=spec.status,
        response_model=None if spec.status == 204 else answer.of,
        **declared,
    )


def _shared_name(names: Sequence[str]) -> str:
    """The name of a route: of one operation its own, of several what their names begin with."""
    parts = zip(*(re.split(r"[._]", name.strip("_")) for name in names), strict=False)
    return "_".join(alike[0] for alike in takewhile(lambda alike: len(set(alike)) == 1, parts))


def _description(several: Sequence[type[Operation[Any]]]) -> str:
    said = [inspect.cleandoc(one.__doc__ or "") for one in several]
    if len(several) > 1:
        said = [one.partition("\n\n")[0] for one in said]
    if several[0].spec.creates:
        said.append("The bank comes into being when it is new.")
    if several[0].spec.guarded:
        said.append("`If-Match` names what is believed now.")
    return "\n\n".join(said)
