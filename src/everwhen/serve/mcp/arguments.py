"""Arguments of tools: those of an operation as a model writes them, and the few that tools share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from inspect import Parameter as Signed
from typing import Annotated, Any, TypeVar

from pydantic import Field

from everwhen.api.operations.base import BUDGETS, MOMENT, STRETCH, OneOf, Operation, Parameter, arguments_of
from everwhen.serve.mcp.local_memory import Remembering
from everwhen.serve.mcp.results import LEAST, Json, page
from everwhen.settings import MAX_TOKENS
from everwhen.types.time_arguments import TimeReader

T = TypeVar("T")


def signed(name: str, of: Any, default: Any = ...) -> Signed:
    """An argument of a tool's signature."""
    return Signed(
        name, Signed.KEYWORD_ONLY, annotation=of, default=Signed.empty if default is ... else default
    )


MOST_TOKENS = 100_000
"""The largest `max_tokens`."""
UP_TO = ("as_of", "known_at")
"""Times that mean the last instant of what they name: "as of today" includes today."""
LIMIT = signed("limit", Annotated[int, Field(ge=1, le=200)], 50)
ROOM = signed(
    "max_tokens",
    Annotated[int, Field(ge=LEAST, le=MOST_TOKENS, description="What the whole answer may take")],
    MAX_TOKENS,
)
CURSOR = signed("cursor", Annotated[str | None, Field(description="From the answer before, to go on")], None)
ZONE = "IANA zone or offset of the times; else the bank's"
PAGES = (LIMIT, ROOM, CURSOR)
"""What a tool takes that answers with a list."""


def own(name: str, of: Any, description: str = "", default: Any = ...) -> Signed:
    """An argument of a tool that no operation has."""
    return signed(name, Annotated[of, Field(description=description or None)], default)


def offered(
    operation: type[Operation[Any]],
    names: Iterable[str],
    said: Mapping[str, str],
    defaults: Mapping[str, Any],
) -> list[Signed]:
    """Some arguments of an operation, and the zone of their times.

    `said` explains an argument to a model where the operation's help is not for one; `defaults` are the tool's own.
    """
    chosen = [one for one in _renamed(operation) if one[0] in names]
    made = []
    for name, one in chosen:
        given = defaults.get(name, ... if one.required and not one.optional else one.default)
        given = None if given is Signed.empty else list(given) if isinstance(given, tuple) else given
        of = _written(one) | None if one.optional or given is None else _written(one)
        described = said.get(name) or _explained(name, one)
        made.append(signed(name, Annotated[of, Field(description=described or None)], given))
    if any({MOMENT, STRETCH} & one.marks for _, one in chosen) and "zone" not in [name for name, _ in chosen]:
        made.append(own("zone", str | None, ZONE, None))
    return made


def _renamed(operation: type[Operation[Any]]) -> list[tuple[str, Parameter]]:
    return [(operation.spec.renamed.get(one.name, one.name), one) for one in arguments_of(operation)]


def _written(one: Parameter) -> Any:
    """What a model writes; the shortest schema that says it. The operation itself checks it."""
    if STRETCH in one.marks and MOMENT not in one.marks:
        return str | list[str]
    if MOMENT in one.marks:
        return str
    if one.name == "budget":
        return Annotated[str, OneOf(BUDGETS)]
    return one.annotation


def _explained(name: str, one: Parameter) -> str:
    if STRETCH in one.marks and MOMENT not in one.marks:
        return "'last week' or ['2025-03-01', '2025-03-31'], both included"
    if MOMENT in one.marks:
        return "ISO 8601 or 'last Friday'"
    return ZONE if name == "zone" else one.description.rstrip(".")


@dataclass(frozen=True, slots=True)
class Call:
    memory: Remembering
    operation: type[Operation[Any]]
    given: Mapping[str, Any]
    secret: str

    @property
    def clock(self) -> TimeReader:
        """Reads the times of the call. The bank is asked for its zone only when a time needs it."""
        return TimeReader(self.given.get("zone") or (lambda: self.memory.zone), self.given.get("at"))

    @property
    def arguments(self) -> dict[str, Any]:
        """The operation's arguments that the tool offers, times read in the zone of the call."""
        clock, shared = self.clock, {one.name for one in PAGES}
        return {
            one.name: self._read(clock, name, one.marks)
            for name, one in _renamed(self.operation)
            if name in self.given and name not in shared
        }

    def _read(self, clock: TimeReader, name: str, marks: set[str]) -> Any:
        value = self.given[name]
        if STRETCH in marks:
            return clock.window(value)
        if MOMENT not in marks:
            return value
        if name == "at":
            return clock.at
        return clock.last(value, name) if name in UP_TO else clock.first(value, name)

    def page(
        self,
        name: str,
        found: Sequence[T],
        shown: Callable[[T], Json],
        mark: Callable[[T], str],
        *,
        newest: bool = False,
    ) -> str:
        cursor, limit, room = (self.given[one.name] for one in (CURSOR, LIMIT, ROOM))
        return page(name, found, shown, mark, cursor=cursor, limit=limit, max_tokens=room, newest=newest)
