"""What is sent: lists in pages, and errors as problem+json (RFC 9457), one clear sentence and never a stack trace."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from http import HTTPStatus
from typing import Annotated, Any, Generic, TypeVar

from fastapi import Query
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field, StringConstraints
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from everwhen import errors
from everwhen.api.operations.mistakes import usage_error
from everwhen.models.llm.base import LLMError
from everwhen.serve.server_settings import ServerSettings
from everwhen.types import Turn

T = TypeVar("T")

# Errors

MEDIA = "application/problem+json"
STATUS: tuple[tuple[type[errors.EverwhenError], int], ...] = (
    (errors.UsageError, 422),
    (errors.NotFound, 404),
    (errors.Refused, 409),
    (errors.Damaged, 500),
    (errors.ModelError, 503),
    (errors.Unavailable, 503),
)
"""What each error of the library is over HTTP. 403 is only ever said of keys, by `Problem`."""
PASSING = ("unreachable", "timeout", "busy")
"""Problems of a language model that asking again may solve. A missing key or package is for those who run the server:
503 too, but without `Retry-After`."""

DOCUMENTED = {
    401: "No key, or one that is not known.",
    403: "The key is for other banks, or its scope is too small.",
    404: "There is no such thing.",
    408: "The request took too long to arrive.",
    409: "Something changed meanwhile (If-Match), or the bank refuses.",
    413: "The request is too large.",
    415: "The body is compressed.",
    422: "The request is not what it should be.",
    429: "Too many requests for this key.",
    431: "The request line and headers are too large.",
    500: "The bank is damaged, or everwhen has a bug.",
    503: "Starting, busy or waiting for extraction (`Retry-After`); or, without it, a model that is not set up.",
}

SCHEMA: dict[str, Any] = {
    "type": "object",
    "required": ["type", "title", "status", "detail", "kind"],
    "properties": {
        "type": {"type": "string", "example": "about:blank"},
        "title": {"type": "string", "example": "Not Found"},
        "status": {"type": "integer", "example": 404},
        "detail": {"type": "string", "example": "there is no bank 'ana'; its first write makes it"},
        "kind": {"type": "string", "example": "NotFound", "description": "The error's name in the library."},
    },
}


class Problem(HTTPException):
    """An error that the server itself raises."""

    def __init__(
        self, status: int, sentence: str, kind: str = "Refused", headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(status, sentence, dict(headers or {}))
        self.kind = kind


def answer(status: int, sentence: str, kind: str, headers: Mapping[str, str] | None = None) -> Response:
    body = {
        "type": "about:blank",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": " ".join(sentence.split()),
        "kind": kind,
    }
    return Response(
        json.dumps(body, ensure_ascii=False).encode("utf-8", "replace"),
        status,
        media_type=MEDIA,
        headers=dict(headers or {}),
    )


def handle_http_error(request: Request, error: Exception) -> Response:
    """Ours, and what the framework says of unknown routes and methods, in our words."""
    assert isinstance(error, HTTPException)
    if isinstance(error, Problem):
        return answer(error.status_code, str(error.detail), error.kind, error.headers)
    match error.status_code:
        case 400:
            return answer(422, "the body is not JSON: it cannot be read as text", "UsageError")
        case 404:
            said = "there is nothing at this address; the page is at /ui, and /openapi.json lists what else there is"
            return answer(404, said, "NotFound")
        case 405:
            methods = ", ".join(_methods(request)) or (error.headers or {}).get("Allow", "")
            said = f"{request.method} is not for this address; it takes {methods}"
            return answer(405, said, "UsageError", {"Allow": methods})
    return answer(error.status_code, str(error.detail), "UsageError", error.headers)


def handle_library_error(_: Request, error: Exception) -> Response:
    """An error that `Memory` raised on purpose: its sentence is made for people."""
    kind, status = next(
        (known for known in STATUS if isinstance(error, known[0])), (errors.EverwhenError, 500)
    )
    passing = kind is errors.Unavailable or (isinstance(error, LLMError) and error.problem in PASSING)
    return answer(status, str(error), kind.__name__, {"Retry-After": "1"} if passing else None)


def handle_invalid_request(request: Request, error: Exception) -> Response:
    """Wrong types, missing or unknown fields: the first of them, in one sentence."""
    assert isinstance(error, RequestValidationError)
    found = [{**one, "loc": one["loc"][1:]} for one in error.errors()]  # without "body", "query" or "path"
    first = found[0]
    if first["type"] == "json_invalid":
        return answer(422, f"the body is not JSON: {first['ctx']['error']}", "UsageError")
    if not first["loc"]:
        example = '{"query": "Where does Ana live?"}'
        return answer(422, f"the body must be a JSON object, such as {example}", "UsageError")
    sentence = str(usage_error(found))
    body = getattr(request.scope.get("route"), "body_field", None)
    if sentence.endswith("there is no such argument") and body is not None:
        sentence += f"; this address takes: {', '.join(body.field_info.annotation.model_fields)}"
    return answer(422, sentence, "UsageError")


def of_bug(_: Request, error: Exception) -> Response:
    return answer(500, f"everwhen failed ({type(error).__name__}); the server's log says where", "Bug")


def _methods(request: Request) -> list[str]:
    """All methods that an address takes, as the description of the API says: each is a route of its own."""
    route = request.scope.get("route")
    described = request.app.openapi()["paths"].get(getattr(route, "path_format", None), {})
    return sorted(method.upper() for method in described)


# Pages

LARGEST = 1000
"""Entries of a page."""
LONGEST_CURSOR = 1000
_GOES_ON = "Where to go on: the `next_cursor` of the page before."
Cursor = Annotated[str | None, Query(max_length=LONGEST_CURSOR, description=_GOES_ON)]
Limit = Annotated[int | None, Query(ge=1, le=LARGEST, description="Entries a page.")]
CursorIn = Annotated[
    Annotated[str, StringConstraints(max_length=LONGEST_CURSOR)] | None, Field(description=_GOES_ON)
]
"""The same in a body."""


class Page(BaseModel, Generic[T]):
    """Some entries of a list, and where to go on."""

    items: list[T]
    next_cursor: str | None = None


def page(items: Sequence[T], cursor: str | None, limit: int | None, serving: ServerSettings) -> Page[T]:
    """A page of a list that was computed whole. The cursor is a place, and the name of what stood before it.

    When something came or went in the meantime the name finds the place again.
    """
    size = limit or serving.page
    start = 0
    if cursor is not None:
        place, name = _decoded(cursor, int, str)
        start = _index_of(items, place, name)
    end = start + size
    chosen = list(items[start:end])
    following = _encoded(end, _name(items[end - 1])) if end < len(items) else None
    return Page.model_construct(items=chosen, next_cursor=following)


def page_of_turns(
    turns: Iterator[Turn], after: tuple[datetime, int] | None, limit: int | None, serving: ServerSettings
) -> Page[Turn]:
    """A page of turns, read no further than needed. `turns` begin at the instant of the cursor."""
    size = limit or serving.page
    chosen: list[Turn] = []
    for turn in turns:
        if after is not None and (turn.said_at, turn.seq) <= after:
            continue
        if len(chosen) == size:
            following = _encoded(chosen[-1].said_at.isoformat(), chosen[-1].seq)
            return Page.model_construct(items=chosen, next_cursor=following)
        chosen.append(turn)
    return Page.model_construct(items=chosen, next_cursor=None)


def after_turn(cursor: str | None) -> tuple[datetime, int] | None:
    """The turn that a cursor stands behind: its instant and its number."""
    if cursor is None:
        return None
    instant, seq = _decoded(cursor, str, int)
    try:
        return datetime.fromisoformat(instant), seq
    except ValueError:
        raise _wrong() from None


def _index_of(items: Sequence[Any], place: int, name: str) -> int:
    if 0 < place <= len(items) and _name(items[place - 1]) == name:
        return place
    for index, item in enumerate(items):
        if _name(item) == name:
            return index + 1
    return max(0, min(place, len(items)))


def _name(item: Any) -> str:
    """What distinguishes an entry, in a few characters."""
    named = next((getattr(item, field) for field in ("id", "name") if hasattr(item, field)), item)
    return hashlib.blake2b(str(named).encode("utf-8", "replace"), digest_size=8).hexdigest()


def _encoded(*parts: Any) -> str:
    return base64.urlsafe_b64encode(json.dumps(parts).encode()).decode().rstrip("=")


def _decoded(cursor: str, first: type, second: type) -> tuple[Any, Any]:
    try:
        parts = json.loads(base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4)))
    except (ValueError, binascii.Error, RecursionError):
        raise _wrong() from None
    if not isinstance(parts, list) or [type(one) for one in parts] != [first, second]:
        raise _wrong()
    return parts[0], parts[1]


def _wrong() -> Problem:
    return Problem(422, "cursor: this is no cursor of this list; leave it out to begin anew", "UsageError")
