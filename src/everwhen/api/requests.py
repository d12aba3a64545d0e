"""An operation as a request: its address, what it carries, and the shape of the answer.

And those operations that travel in several requests, or in one that their arguments alone do not make.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from itertools import islice
from pathlib import Path
from string import Formatter
from typing import IO, Any, TypeAlias, TypeVar, cast, get_args, get_origin
from urllib.parse import quote

from everwhen.api.operations.base import (
    MODEL,
    MOMENT,
    STRETCH,
    Given,
    Operation,
    Progress,
    arguments_of,
    result_of,
    several,
)
from everwhen.api.operations.conversation import Add, AddMany, Consolidate, Grep
from everwhen.api.operations.facts import ConfidenceAt, Stale
from everwhen.api.operations.maintenance import Export, Flush, Import, Process, Reextract, SetRetention
from everwhen.api.operations.questions import RecallMemories
from everwhen.errors import NotFound, Unavailable, UsageError
from everwhen.types import Added, Consolidated, EventHit, HalfLives, Hit, ListWithPending, Stats, Time
from everwhen.types.facts import confidence_at
from everwhen.types.jsonable import jsonable
from everwhen.types.times import TimeReader
from everwhen.types.turns import message
from everwhen_time import Interval
from everwhen_time.zones import named_zone

R = TypeVar("R")
PAGE = 1000
"""Entries that are fetched at once."""


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


class AskAgain(Unavailable):
    """The server is busy, starts or goes on working, and may be asked again after `seconds` (Retry-After)."""

    def __init__(self, sentence: str, seconds: float) -> None:
        super().__init__(sentence)
        self.seconds = seconds


def sent(operation: Operation[R], of: Any = None, **instead: Any) -> Steps[R]:
    """Send an operation, a list page by page; `of` and `instead` as in `request`."""
    call, spec = request(operation, of, **instead), operation.spec
    if not spec.paged:
        got = yield call
        return cast("R", got[spec.answer] if spec.answer else got)
    origin: Any = get_origin(result_of(cast("Any", type(operation))))
    found: list[Any] = []
    cursor: str | None = None
    while True:
        page = yield _carrying(call, {"limit": PAGE, "cursor": cursor})
        found += page["items"]
        cursor = page["next_cursor"]
        if cursor is None:
            return cast("R", iter(found) if origin is Iterator else found)


def request(operation: Operation[Any], of: Any = None, **instead: Any) -> Call:
    """What to send for an operation.

    `of` is the shape of the answer, where its type alone does not say it; `instead` is carried beside the arguments,
    or in place of them.
    """
    kind: Any = type(operation)
    spec = operation.spec
    if not spec.route:
        raise UsageError(f"{kind.__name__} is for the machine where the bank's files lie; use `Memory` there")
    kinds = {one.name: one.marks for one in arguments_of(kind) if one.travels}
    given = {name: getattr(operation, name) for name in kinds} | instead
    places = {name for _, name, _, _ in Formatter().parse(spec.path) if name}
    path = spec.path.format(**{name: quote(str(given.pop(name)), safe="") for name in places})
    carried: dict[str, Any] = dict(spec.fixed)
    for name, value in given.items():
        marks = kinds.get(name, set())
        if MODEL in marks and not isinstance(value, str | None):
            raise UsageError(
                "a client names its model, such as model='openai:gpt-5-mini'; the server opens it"
            )
        if spec.method == "GET" and STRETCH in marks and (MOMENT not in marks or isinstance(value, Interval)):
            carried |= _sides(value)
        else:
            carried[spec.renamed.get(name, name)] = value
    call = Call(spec.method, path, of or _shape(kind), writes=spec.writes, patient=spec.runs == "long")
    return _carrying(call, carried)


def _carrying(call: Call, more: Mapping[str, Any]) -> Call:
    """A request that carries more: in its query, or in its body."""
    if call.method == "GET":
        return replace(call, params={**call.params, **more})
    return replace(call, body={**(call.body or {}), **more}) if more else call


def _sides(given: Interval | str | tuple[Any, ...] | None) -> dict[str, Any]:
    if isinstance(given, Interval):
        return {"from": given.start, "to": given.end}
    listed = given if isinstance(given, tuple) else (given,)
    return {"from": listed[0], "to": listed[-1]}


@cache
def _shape(operation: Any) -> Any:
    result, spec = result_of(operation), operation.spec
    if get_origin(result) in (ListWithPending, Iterator):
        result = list[get_args(result)[0]]  # type: ignore[misc]
    if spec.paged:
        from typing_extensions import TypedDict

        return TypedDict("Page", {"items": result, "next_cursor": str | None})  # type: ignore[operator]
    if spec.answer:
        return dict[str, result]  # type: ignore[valid-type]
    return None if result is type(None) else result


BATCH = 256
"""Messages that `add_many` sends at once."""
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""Seconds between two looks at whether extraction is done, doubled each time; more where the server asks for more."""
PART = 4_000_000
"""Bytes of an export that are sent at once; a server takes twice as many."""


def steps_of(operation: Operation[R]) -> Steps[R]:
    """What sends an operation and makes its result of the answers."""
    own = _STEPS.get(type(operation))
    return own(operation) if own else sent(operation)


def setting(name: str, otherwise: str) -> Steps[str]:
    """What a bank is set to; `otherwise` for a bank that is not there yet."""
    try:
        return str((yield Call("GET", "", dict[str, Any]))[name])
    except NotFound:
        return otherwise


# Adding


def _add(given: Add) -> Steps[Added]:
    spoken = [_spoken(one, given.at, given.zone) for one in several(given.messages)]
    if not spoken:
        raise UsageError("nothing to add: the list of messages is empty")
    return (yield from sent(given, messages=spoken))


def _add_many(given: AddMany) -> Steps[Added]:
    whole, source = Added((), ""), iter(given.messages)
    for batch in iter(lambda: list(islice(source, BATCH)), []):
        part = yield from _add(
            Add(batch, session=given.session, at=given.at, zone=given.zone, metadata=given.metadata)
        )
        whole = Added(
            whole.turns + part.turns, part.session, whole.new + part.new, whole.conflicts + part.conflicts
        )
        if given.progress:
            given.progress(len(whole.turns))
    return whole


def _spoken(given: Given, at: Time | None, zone: str | None) -> dict[str, Any]:
    """A message, checked as `Memory` checks it, as it travels: a zone's name has no place in an instant of JSON, and an
    offset is written there, since the server knows whether it is that of the bank's own zone."""
    said = message(given)
    moment = said.said_at or at
    own: str | None = None
    timestamp: datetime | str | None = said.said_at
    if zone is None and isinstance(moment, datetime):
        own = named_zone(moment)
        timestamp = moment.isoformat() if own is None and moment.utcoffset() else timestamp
    made = {
        "role": said.role,
        "content": said.text,
        "name": said.name,
        "timestamp": timestamp,
        "zone": said.zone or own,
        "id": said.id,
        "session": said.session,
        "metadata": dict(said.metadata) or None,
    }
    return {name: value for name, value in made.items() if value is not None}


# Reading


def _confidence_at(given: ConfidenceAt) -> Steps[float]:
    bank = yield Call("GET", "", dict[str, Any])
    moment = TimeReader(bank["zone"]).last(given.instant, "instant")
    return confidence_at(given.fact, moment, HalfLives(**bank["half_lives"]))


# Work on the whole bank


def _flush(given: Flush) -> Steps[None]:
    yield from _process(Process(timeout=given.timeout))


def _process(given: Process) -> Steps[int]:
    end = None if given.timeout is None else time.monotonic() + given.timeout
    waiting: int | None = None
    pause, longer = 0.0, FIRST_PAUSE
    while True:
        try:
            left = (yield Call("GET", "/stats", Stats, after=pause)).pending
            waiting = left if waiting is None else waiting
            if given.progress:
                given.progress(left)
            if left:
                # It answers when all is extracted, or with a 503 when that takes longer than it waits.
                wait = None if end is None else max(0.0, end - time.monotonic())
                yield Call("POST", "/process", dict[str, int], params={"wait": wait}, writes=True)
                if given.progress:
                    given.progress(0)
            return int(waiting)
        except AskAgain as error:
            pause = max(error.seconds, longer)
            longer = min(2 * longer, LONGEST_PAUSE)
            if end is not None and time.monotonic() + pause >= end:
                raise


def _reextract(given: Reextract) -> Steps[int]:
    count = yield from sent(given)
    if given.progress:
        given.progress(0)
    return count


def _consolidate(given: Consolidate) -> Steps[Consolidated]:
    made = yield from sent(given)
    if given.progress:
        given.progress(made.built + made.rebuilt, made.built + made.rebuilt)
    return made


def _set_retention(given: SetRetention) -> Steps[str]:
    bank = yield Call("PATCH", "", dict[str, Any], {"retention": given.rule}, writes=True)
    return str(bank["retention"])


# Moving: the files are read and written where the client is


def _export(given: Export) -> Steps[int]:
    from everwhen.store.files.export import writing

    with writing(Path(given.path)) as stream:
        lines = _Lines(stream, given.progress)
        yield Call("POST", "/export", None, {"vectors": given.vectors}, into=lines.take, patient=True)
        if not lines.ended:
            raise Unavailable("the export ended early; ask for it again")
    return lines.rows


def _import(given: Import) -> Steps[int]:
    """Interrupted, the same call goes on with what the server has not got yet."""
    from everwhen.store.files.export import read_header
    from everwhen.store.files.json_values import opened

    path = Path(given.path)
    source = read_header(path).source
    got = yield Call("GET", "/import", dict[str, Any])
    offset, rows = (got["received"] if got["source"] == source else 0), None
    with opened(path, offset) as stream:
        for part, more in _parts(stream):
            params = {"offset": offset, "more": more}
            got = yield Call(
                "POST", "/import", dict[str, Any], params=params, raw=part, writes=True, patient=not more
            )
            offset, rows = got["received"], got["rows"]
    if rows is None:
        raise Unavailable("the server did not say how many records came; try again")
    if given.progress:
        given.progress(rows)
    return int(rows)


@dataclass
class _Lines:
    """Writes what comes, counts the records in it, and sees whether the end is there."""

    stream: IO[bytes]
    progress: Progress | None
    rest: bytes = b""
    rows: int = 0
    ended: bool = False

    def take(self, piece: bytes) -> None:
        self.stream.write(piece)
        *lines, self.rest = (self.rest + piece).split(b"\n")
        for line in lines:
            self.rows += line.startswith((b'{"kind":', b'{"table":'))
            self.ended = self.ended or line.startswith(b'{"end":')
        if self.progress:
            self.progress(self.rows)


def _parts(stream: IO[bytes]) -> Iterator[tuple[bytes, bool]]:
    """A file in parts, and whether another one follows."""
    part = stream.read(PART)
    while True:
        following = stream.read(PART)
        yield part, bool(following)
        if not following:
            return
        part = following


_STEPS: Mapping[type, Callable[[Any], Steps[Any]]] = {
    Add: _add,
    AddMany: _add_many,
    ConfidenceAt: _confidence_at,
    Consolidate: _consolidate,
    Export: _export,
    Flush: _flush,
    Grep: lambda given: sent(given, list[Hit] if given.calendar == "turns" else list[EventHit]),
    Import: _import,
    Process: _process,
    # A `Recall` is the same here and there.
    RecallMemories: lambda given: sent(given, include_metadata=True),
    Reextract: _reextract,
    SetRetention: _set_retention,
    Stale: lambda given: sent(given, limit=given.limit or PAGE),
}
