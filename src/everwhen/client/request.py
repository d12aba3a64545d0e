"""An operation as a request: its address, what it carries, and the shape of the answer."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cache
from string import Formatter
from typing import Any, TypeVar, cast, get_args, get_origin
from urllib.parse import quote

from everwhen.client.transport import Call, Steps
from everwhen.errors import UsageError
from everwhen.operations import Operation, arguments_of, result_of
from everwhen.operations.arguments import Here, Model, Stretch
from everwhen.types import Listed
from everwhen.when import Interval

R = TypeVar("R")
PAGE = 1000
"""Entries that are fetched at once."""


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
    kinds = {one.name: one.kind for one in arguments_of(kind) if not isinstance(one.kind, Here)}
    given = {name: getattr(operation, name) for name in kinds} | instead
    places = {name for _, name, _, _ in Formatter().parse(spec.path) if name}
    path = spec.path.format(**{name: quote(str(given.pop(name)), safe="") for name in places})
    carried: dict[str, Any] = dict(spec.fixed)
    for name, value in given.items():
        if isinstance(kinds.get(name), Model) and not isinstance(value, str | None):
            raise UsageError(
                "a client names its model, such as model='openai:gpt-5-mini'; the server opens it"
            )
        if spec.method == "GET" and (isinstance(kinds.get(name), Stretch) or isinstance(value, Interval)):
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
    """A stretch of time as the two sides of a query."""
    if isinstance(given, Interval):
        return {"from": given.start, "to": given.end}
    listed = given if isinstance(given, tuple) else (given,)
    return {"from": listed[0], "to": listed[-1]}


@cache
def _shape(operation: Any) -> Any:
    """The type of what a server answers."""
    result, spec = result_of(operation), operation.spec
    if get_origin(result) in (Listed, Iterator):
        result = list[get_args(result)[0]]  # type: ignore[misc]
    if spec.paged:
        from typing_extensions import TypedDict

        return TypedDict("Page", {"items": result, "next_cursor": str | None})  # type: ignore[operator]
    if spec.answer:
        return dict[str, result]  # type: ignore[valid-type]
    return None if result is type(None) else result
