"""How routes are declared: the scope that each needs, what it is to a tracer, which errors it may answer with.

The scope is checked before the body is looked at: whoever may not write to a bank hears 403, whatever was sent.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Path
from fastapi.routing import APIRoute
from pydantic import TypeAdapter
from starlette.requests import Request
from starlette.responses import Response

from everwhen.api.extraction_wait import one_wait
from everwhen.errors import EverwhenError
from everwhen.serve.auth import admit
from everwhen.serve.idempotency import LONGEST
from everwhen.serve.keys import Scope
from everwhen.serve.problems import DOCUMENTED, MEDIA, Problem
from everwhen.serve.state import ServerState
from everwhen.serve.telemetry import Span, span
from everwhen.store.answers import StoredAnswer
from everwhen.store.files.home import BANK_NAME

PENDING = "Everwhen-Pending"
"""The header of an answer that did not wait for all turns to be read: how many are missing in it."""

Bank = Annotated[
    str,
    Path(pattern=f"^{BANK_NAME.pattern}$", max_length=128, examples=["ana"], description="The bank's name."),
]


class GuardedRoute(APIRoute):
    """A route that knows which scope it needs, and remembers answers by idempotency key."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        inner = super().get_route_handler()
        extra = self.openapi_extra or {}
        scope: Scope = extra.get("x-scope", "read")
        operation: str = extra.get("x-operation", "search_memory")
        keeps = IDEMPOTENCY in extra.get("parameters", ())
        taken = [one.alias for one in self.dependant.query_params]

        async def handle(request: Request) -> Response:
            bank = request.path_params.get("bank")
            if bank is not None:
                admit(request.state.caller, scope, bank)
            with span(operation, bank or "*", request.headers) as traced:
                request.state.span = traced
                try:
                    if not hasattr(self.endpoint, "reads_itself"):
                        only_known(request.query_params, taken)
                    with one_wait() as wait:
                        again = keeps and "idempotency-key" in request.headers
                        response = await (once(request, inner) if again else inner(request))
                        if wait.pending:
                            response.headers[PENDING] = str(wait.pending)
                        return response
                except (EverwhenError, Problem) as error:
                    traced.failed(type(error).__name__)
                    raise

        return handle


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


def only_known(given: Iterable[str], taken: Sequence[str]) -> None:
    """A query parameter that is not known is refused, as a field of a body is: a misspelt filter is not ignored."""
    unknown = next((name for name in given if name not in taken), None)
    if unknown is not None:
        names = ", ".join(taken) or "none"
        raise Problem(422, f"{unknown}: unknown query parameter; this address takes: {names}", "UsageError")


def problems(*codes: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for the description of the API."""
    schema = {"$ref": "#/components/schemas/Problem"}
    return {
        code: {"description": text, "content": {MEDIA: {"schema": schema}}}
        for code, text in DOCUMENTED.items()
        if not codes or code in codes
    }


async def once(request: Request, inner: Callable[[Request], Coroutine[Any, Any, Response]]) -> Response:
    """Answer a write, or give the answer that the same write had before."""
    key = request.headers["idempotency-key"]
    if not 1 <= len(key) <= LONGEST or not key.isascii() or not key.isprintable() or " " in key:
        raise Problem(422, f"Idempotency-Key: use 1 to {LONGEST} visible ASCII characters", "UsageError")
    state: ServerState = request.app.state.server
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
def shape(of: Any) -> TypeAdapter[Any]:
    return TypeAdapter(of)


def written(value: Any, of: Any) -> bytes:
    """A value of the library as JSON: instants in UTC with `Z`, intervals as objects."""
    # The parts of a score are a mapping of their own kind, which pydantic would warn of.
    return shape(of).dump_json(value, fallback=dict, warnings=False)


def replied(body: bytes, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(body, status, media_type="application/json", headers=headers)


def state_of(request: Request) -> ServerState:
    state: ServerState = request.app.state.server
    return state


def audited(request: Request, **fields: Any) -> None:
    """What the audit log says of a request beside the usual: numbers and flags, no content."""
    request.state.audited = fields


def span_of(request: Request) -> Span:
    traced: Span = request.state.span
    return traced
