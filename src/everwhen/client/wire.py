"""One request and its answer, apart from how it travels: the same for the client and its asynchronous twin."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Generator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar, cast

from everwhen import errors
from everwhen.errors import EverwhenError, Refused, Unavailable
from everwhen.jsonable import jsonable
from everwhen.types import Answer, Listed
from everwhen.waiting import note_pending

if TYPE_CHECKING:
    from pydantic import TypeAdapter

R = TypeVar("R")

PENDING = "Everwhen-Pending"
"""The header that says how many turns an answer does not know of yet."""
PAGE = 1000
"""Entries that are fetched at once."""
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
        return {**made, "Idempotency-Key": uuid.uuid4().hex} if self.writes else made

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


class AskAgain(Unavailable):
    """The server is busy, starts or goes on working, and may be asked again after `seconds` (Retry-After)."""

    def __init__(self, sentence: str, seconds: float) -> None:
        super().__init__(sentence)
        self.seconds = seconds


def read(call: Call, status: int, body: bytes, headers: Mapping[str, str]) -> Any:
    """The answer as the library's own types, or its error raised."""
    if status >= 400:
        error = _error(status, body)
        pause = headers.get("retry-after", "")
        # A model that fails is not waited for: `Memory` raises its error as well.
        raise (
            AskAgain(str(error), float(pause)) if type(error) is Unavailable and pause.isdecimal() else error
        )
    note_pending(int(headers.get(PENDING, "0")))
    if call.of is None or status == 204:
        return None
    return _shape(call.of).validate_json(body)


def listed(value: R, pending: int) -> R:
    """A list as the library gives it: it says how many turns were not read yet."""
    return cast("R", Listed(value, pending)) if isinstance(value, list) else value


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
            return cast("Answer", _shape(Answer).validate_json(data))
        return str(json.loads(data)["text"])


def unreachable(url: str, error: Exception) -> Unavailable:
    said = f" ({error})" if str(error) else ""
    return Unavailable(f"no server answers at {url}{said}; start one with `everwhen serve`")


@cache
def _shape(of: Any) -> TypeAdapter[Any]:
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
