"""The methods of `Memory` as steps. Arguments are checked here as `Memory` checks them, so that errors are the same."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from typing_extensions import TypedDict

from everwhen import checked
from everwhen.client.wire import PAGE, AskAgain, Call, Steps
from everwhen.errors import UsageError
from everwhen.instants import aware
from everwhen.messages import message as as_message
from everwhen.recall import Recall, Recipe
from everwhen.settings import MAX_TOKENS
from everwhen.times import Clock, known_zone, local
from everwhen.types import (
    Accessed,
    Added,
    Answer,
    Between,
    Comparison,
    Entity,
    Entry,
    Event,
    EventHit,
    Finding,
    Hit,
    Linked,
    Message,
    Session,
    Stats,
    Time,
    TimeAnswer,
    Turn,
    UnitRow,
    Usage,
)
from everwhen.when import Grain, Interval
from everwhen.when.zones import zone_name

if TYPE_CHECKING:
    from everwhen.agent_recipe import AgentRecipe
    from everwhen.models.llm import LLM

Given = str | Mapping[str, Any] | Message
BATCH = 256
"""Messages that `add_many` sends at once."""
FIRST_PAUSE, LONGEST_PAUSE = 0.2, 5.0
"""Seconds between two looks at whether extraction is done, doubled each time; more where the server asks for more."""


def pages(path: str, of: Any, **params: Any) -> Steps[list[Any]]:
    """All entries of a list, page by page."""
    found: list[Any] = []
    cursor: str | None = None
    while True:
        got = yield Call("GET", path, paged(of), params={**params, "cursor": cursor, "limit": PAGE})
        found += got["items"]
        cursor = got["next_cursor"]
        if cursor is None:
            return found


@cache
def paged(of: Any) -> Any:
    """The shape of a page."""
    return TypedDict("Paged", {"items": list[of], "next_cursor": str | None})  # type: ignore[operator]


def when_given(given: Time | None, name: str) -> Time | None:
    """A time as it travels: text as it stands, which the server reads in its bank's zone; a datetime checked here."""
    return given if isinstance(given, str) else aware(given, name)


def span(given: Between | None) -> Any:
    """A stretch of time as it travels."""
    if given is None or isinstance(given, str | Interval):
        return given
    if not isinstance(given, list | tuple) or len(given) not in (1, 2):
        return Clock("UTC").window(given)  # which says what is wrong with it
    return [when_given(one, "between") for one in given]


def sides(given: Between | None) -> dict[str, Time | None]:
    """The same as the two sides of a query."""
    made = span(given)
    if isinstance(made, Interval):
        return {"from": made.start, "to": made.end}
    listed = made if isinstance(made, list) else [made]
    return {"from": listed[0], "to": listed[-1]}


def part(name: str) -> str:
    return quote(name, safe="")


# Writing


def add(
    messages: Given | Iterable[Given],
    *,
    session: str | None = None,
    at: Time | None = None,
    zone: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Steps[Added]:
    """See `Memory.add`."""
    if isinstance(messages, str | Mapping | Message):
        messages = [messages]
    own_zone = None if zone is None else known_zone(zone)
    moment = local(at, own_zone)
    listed = [_spoken(one, moment, own_zone) for one in checked.several(messages)]
    if not listed:
        raise UsageError("nothing to add: the list of messages is empty")
    body = {
        "messages": listed,
        "session": checked.label(session, "session"),
        "at": when_given(moment, "at"),
        "zone": own_zone,
        "metadata": checked.metadata(metadata),
    }
    added: Added = yield Call("POST", "/turns", Added, body, writes=True)
    return added


def add_many(
    messages: Iterable[Given],
    *,
    session: str | None = None,
    at: Time | None = None,
    zone: str | None = None,
    metadata: Mapping[str, Any] | None = None,
    progress: Callable[[int], None] | None = None,
) -> Steps[Added]:
    """See `Memory.add_many`."""
    whole = Added((), "")
    batch: list[Given] = []

    def send(batch: list[Given]) -> Steps[Added]:
        part = yield from add(batch, session=session, at=at, zone=zone, metadata=metadata)
        made = Added(
            whole.turns + part.turns, part.session, whole.new + part.new, whole.conflicts + part.conflicts
        )
        if progress:
            progress(len(made.turns))
        return made

    for one in checked.several(messages):
        batch.append(one)
        if len(batch) == BATCH:
            whole = yield from send(batch)
            batch = []
    if batch:
        whole = yield from send(batch)
    return whole


def flush(timeout: float | None = None) -> Steps[None]:
    """See `Memory.flush`."""
    yield from process(timeout=timeout)


def process(*, timeout: float | None = None, progress: Callable[[int], None] | None = None) -> Steps[int]:
    """See `Memory.process`."""
    end = None if timeout is None else time.monotonic() + timeout
    waiting: int | None = None
    pause, longer = 0.0, FIRST_PAUSE
    while True:
        try:
            left = (yield Call("GET", "/stats", Stats, after=pause)).pending
            waiting = left if waiting is None else waiting
            if progress:
                progress(left)
            if left:
                # It answers when all is extracted, or with a 503 when that takes longer than it waits.
                wait = None if end is None else max(0.0, end - time.monotonic())
                yield Call("POST", "/process", dict[str, int], params={"wait": wait}, writes=True)
                if progress:
                    progress(0)
            return waiting
        except AskAgain as error:
            pause = max(error.seconds, longer)
            longer = min(2 * longer, LONGEST_PAUSE)
            if end is not None and time.monotonic() + pause >= end:
                raise


def reextract(
    turns: Sequence[str] | None = None, *, progress: Callable[[int], None] | None = None
) -> Steps[int]:
    """See `Memory.reextract`."""
    body = {"turns": None if turns is None else list(turns)}
    got = yield Call("POST", "/reextract", dict[str, int], body, writes=True)
    if progress:
        progress(0)
    return int(got["count"])


# Reading


def turns(session: str | None = None, between: Between | None = None) -> Steps[list[Turn]]:
    """See `Memory.turns`."""
    return (yield from pages("/turns", Turn, session=checked.label(session, "session"), **sides(between)))


def turn(turn_id: str) -> Steps[Turn]:
    """See `Memory.turn`."""
    found: Turn = yield Call("GET", f"/turns/{part(turn_id)}", Turn)
    return found


def turns_around(turn_id: str, reach: int = 1) -> Steps[list[Turn]]:
    """See `Memory.turns_around`."""
    path, params = f"/turns/{part(turn_id)}/around", {"reach": checked.whole(reach, "reach")}
    found: list[Turn] = yield Call("GET", path, list[Turn], params=params)
    return found


def sessions() -> Steps[list[Session]]:
    """See `Memory.sessions`."""
    return (yield from pages("/sessions", Session))


def grep(
    pattern: str,
    *,
    calendar: str = "turns",
    regex: bool = False,
    between: Between | None = None,
    limit: int = 50,
) -> Steps[list[Any]]:
    """See `Memory.grep`."""
    if calendar not in ("turns", "events"):
        raise UsageError(f"unknown calendar '{calendar}'; there are: turns, events")
    body = {
        "calendar": calendar,
        "pattern": checked.words(pattern, "pattern"),
        "regex": regex,
        "between": span(between),
        "limit": limit,
    }
    shape = list[Hit] if calendar == "turns" else list[EventHit]
    found: list[Any] = yield Call("POST", "/grep", shape, body)
    return found


def recall(
    query: str,
    *,
    seek: str | None = None,
    budget: str | int = "mid",
    max_tokens: int = MAX_TOKENS,
    at: Time | None = None,
    between: Between | None = None,
    before: Time | None = None,
    after: Time | None = None,
    as_of: Time | None = None,
    known_at: Time | None = None,
    kinds: Sequence[str] | None = None,
    networks: Sequence[str] | None = None,
    metadata: Mapping[str, Any] | None = None,
    min_confidence: float | None = None,
    order: str = "relevance",
    recipe: Recipe | None = None,
    fresh: bool = False,
) -> Steps[Recall]:
    """See `Memory.recall`."""
    body = {
        "query": checked.words(query, "query"),
        "seek": None if seek is None else checked.words(seek, "words to look for"),
        "budget": budget,
        "max_tokens": checked.whole(max_tokens, "max_tokens"),
        "at": when_given(at, "at"),
        "between": span(between),
        "before": when_given(before, "before"),
        "after": when_given(after, "after"),
        "as_of": when_given(as_of, "as_of"),
        "known_at": when_given(known_at, "known_at"),
        "kinds": kinds,
        "networks": networks,
        "metadata": checked.metadata(metadata),
        "min_confidence": checked.fraction(min_confidence, "min_confidence"),
        "order": order,
        "include_metadata": True,  # a `Recall` is the same here and there
        "recipe": None if recipe is None else asdict(recipe),
        "fresh": fresh,
    }
    found: Recall = yield Call("POST", "/recall", Recall, body)
    return found


def accessed(limit: int = 20) -> Steps[list[Accessed]]:
    """See `Memory.accessed`."""
    found: list[Accessed] = yield Call(
        "GET", "/accessed", list[Accessed], params={"limit": checked.whole(limit, "limit")}
    )
    return found


def when(
    query: str, *, at: Time | None = None, between: Between | None = None, as_of: Time | None = None
) -> Steps[TimeAnswer | None]:
    """See `Memory.when`."""
    body = {"query": checked.words(query, "query"), "at": when_given(at, "at"), "between": span(between)}
    body["as_of"] = when_given(as_of, "as_of")
    found: TimeAnswer | None = yield Call("POST", "/when", TimeAnswer | None, body)
    return found


def compare(a: str, b: str, *, at: Time | None = None) -> Steps[Comparison]:
    """See `Memory.compare`."""
    found: Comparison = yield Call(
        "POST", "/compare", Comparison, {"a": a, "b": b, "at": when_given(at, "at")}
    )
    return found


def ask(
    question: str,
    *,
    at: Time | None = None,
    as_of: Time | None = None,
    model: str | LLM | None = None,
    recipe: AgentRecipe | None = None,
    session: str | None = None,
) -> Steps[Answer]:
    """See `Memory.ask`; `model` is a name, and the server's own when left out."""
    found: Answer = yield asked(question, at, as_of, model, recipe, session)
    return found


def asked(
    question: str,
    at: Time | None,
    as_of: Time | None,
    model: str | LLM | None,
    recipe: AgentRecipe | None,
    session: str | None,
) -> Call:
    """What asks a question."""
    if model is not None and not isinstance(model, str):
        raise UsageError("a client names its model, such as model='openai:gpt-5-mini'; the server opens it")
    body = {
        "question": checked.words(question, "question"),
        "at": when_given(at, "at"),
        "as_of": when_given(as_of, "as_of"),
        "model": model,
        "recipe": None if recipe is None else asdict(recipe),
        "session": checked.label(session, "session"),
    }
    return Call("POST", "/ask", Answer, body)


def usage() -> Steps[Usage]:
    """See `Memory.usage`."""
    found: Usage = yield Call("GET", "/usage", Usage)
    return found


def timeline(
    about: str | None = None,
    between: Between | None = None,
    grain: Grain | None = None,
    *,
    negated: bool = False,
    known_at: Time | None = None,
) -> Steps[list[Entry]]:
    """See `Memory.timeline`."""
    body: dict[str, Any] = {
        "about": about,
        "between": span(between),
        "grain": grain,
        "negated": negated,
        "known_at": when_given(known_at, "known_at"),
        "limit": PAGE,
    }
    found: list[Entry] = []
    while True:
        got = yield Call("POST", "/timeline", paged(Entry), body)
        found += got["items"]
        if got["next_cursor"] is None:
            return found
        body["cursor"] = got["next_cursor"]


def events(
    about: str | None = None,
    between: Between | None = None,
    subject: str | None = None,
    verb: str | None = None,
    status: str | None = None,
    known_at: Time | None = None,
) -> Steps[list[Event]]:
    """See `Memory.events`."""
    return (
        yield from pages(
            "/events",
            Event,
            about=about,
            subject=subject,
            verb=verb,
            status=status,
            known_at=when_given(known_at, "known_at"),
            **sides(between),
        )
    )


def entities() -> Steps[list[Entity]]:
    """See `Memory.entities`."""
    return (yield from pages("/entities", Entity))


def entity(name: str) -> Steps[Entity]:
    """See `Memory.entity`."""
    found: Entity = yield Call("GET", f"/entities/{part(name)}", Entity)
    return found


def merge_entities(a: str, b: str) -> Steps[Entity]:
    """See `Memory.merge_entities`."""
    found: Entity = yield Call("POST", "/entities/merge", Entity, {"a": a, "b": b}, writes=True)
    return found


def split_entity(name: str, names: Sequence[str], type: str | None = None) -> Steps[Entity]:
    """See `Memory.split_entity`."""
    found: Entity = yield Call(
        "POST", f"/entities/{part(name)}/split", Entity, {"names": list(names), "type": type}, writes=True
    )
    return found


def rename_entity(name: str, new: str) -> Steps[Entity]:
    """See `Memory.rename_entity`."""
    found: Entity = yield Call("POST", f"/entities/{part(name)}/rename", Entity, {"new": new}, writes=True)
    return found


def undo_entities() -> Steps[str | None]:
    """See `Memory.undo_entities`."""
    got = yield Call("POST", "/entities/undo", dict[str, str | None], writes=True)
    return None if got["action"] is None else str(got["action"])


def mentions(name: str, limit: int = 20) -> Steps[list[UnitRow]]:
    """See `Memory.mentions`."""
    found: list[UnitRow] = yield Call(
        "GET", f"/entities/{part(name)}/mentions", list[UnitRow], params={"limit": limit}
    )
    return found


def seen_with(name: str) -> Steps[list[tuple[str, int]]]:
    """See `Memory.seen_with`."""
    found: list[tuple[str, int]] = yield Call(
        "GET", f"/entities/{part(name)}/seen-with", list[tuple[str, int]]
    )
    return found


def links(unit: int, fan_out: int = 50) -> Steps[list[Linked]]:
    """See `Memory.links`."""
    found: list[Linked] = yield Call("GET", f"/units/{unit}/links", list[Linked], params={"fan_out": fan_out})
    return found


def stats() -> Steps[Stats]:
    """See `Memory.stats`."""
    found: Stats = yield Call("GET", "/stats", Stats)
    return found


def doctor(fix: bool = False) -> Steps[list[Finding]]:
    """See `Memory.doctor`."""
    found: list[Finding] = yield Call("POST", "/doctor", list[Finding], {"fix": fix}, writes=True)
    return found


def _spoken(one: Given, at: Time | None, zone: str | None) -> dict[str, Any]:
    """A message, checked as `Memory` checks it, as it travels: a zone has no place in an instant of JSON."""
    said = as_message(one)
    moment = said.said_at or at
    own = zone_name(moment) if zone is None and isinstance(moment, datetime) else None
    made = {
        "role": said.role,
        "content": said.text,
        "name": said.name,
        "timestamp": said.said_at,
        "zone": said.zone or own,
        "id": said.id,
        "session": said.session,
        "metadata": dict(said.metadata) or None,
    }
    return {name: value for name, value in made.items() if value is not None}
