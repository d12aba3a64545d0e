"""Errors as problem+json (RFC 9457): a status, one clear sentence, never a stack trace."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from everwhen import errors
from everwhen.models.llm.base import LLMError

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
    415: "The request is not JSON.",
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


def of_problem(request: Request, error: Exception) -> Response:
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


def of_library(_: Request, error: Exception) -> Response:
    """An error that `Memory` raised on purpose: its sentence is made for people."""
    kind, status = next(
        (known for known in STATUS if isinstance(error, known[0])), (errors.EverwhenError, 500)
    )
    passing = kind is errors.Unavailable or (isinstance(error, LLMError) and error.problem in PASSING)
    return answer(status, str(error), kind.__name__, {"Retry-After": "1"} if passing else None)


def of_validation(_: Request, error: Exception) -> Response:
    """Wrong types, missing or unknown fields: the first of them, in one sentence."""
    assert isinstance(error, RequestValidationError)
    return answer(422, sentence_of(error.errors()), "UsageError")


def of_bug(_: Request, error: Exception) -> Response:
    return answer(500, f"everwhen failed ({type(error).__name__}); the server's log says where", "Bug")


def sentence_of(errors: Any) -> str:
    """The first validation error as a person says it; of a value that may be of several types, that of the type it
    came furthest with. A field that is not known goes before one that is missing: mostly it is that one, misspelt."""
    nothing: dict[str, Any] = {"loc": (), "msg": "the request is not what it should be", "type": ""}
    first: dict[str, Any] = max(
        errors, key=lambda error: (len(error["loc"]), error["type"] == "extra_forbidden"), default=nothing
    )
    if first["type"] == "json_invalid":
        return f"the body is not JSON: {first.get('ctx', {}).get('error', 'it cannot be read')}"
    # The first part says whether body, query or path; names of types have brackets.
    where = ".".join(str(part) for part in first["loc"][1:] if "[" not in str(part))
    said = str(first["msg"]).removeprefix("Value error, ")
    return f"{where}: {said}" if where else said


def _methods(request: Request) -> list[str]:
    """All methods that an address takes, as the description of the API says: each is a route of its own."""
    route = request.scope.get("route")
    described = request.app.openapi()["paths"].get(getattr(route, "path_format", None), {})
    return sorted(method.upper() for method in described)
