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
from everwhen.checked import Between
from everwhen.client.wire import PAGE, Call, Steps
from everwhen.errors import Unavailable, UsageError
from everwhen.ingest.messages import message as as_message
from everwhen.recall import Recall, Recipe
from everwhen.store import UnitRow
from everwhen.store.graph import Linked
from everwhen.store.instants import aware
from everwhen.types import (
    Accessed,
    Added,
    Answer,
    Comparison,
    Entity,
    Entry,
    Event,
    EventHit,
    Finding,
    Hit,
    Message,
    Session,
    Stats,
    TimeAnswer,
    Turn,
    Usage,
)
from everwhen.when import Grain, Interval

if TYPE_CHECKING:
    from everwhen.agent.recipe import AgentRecipe
    from everwhen.models.llm import LLM

Given = str | Mapping[str, Any] | Message
BATCH = 256
"""Messages that `add_many` sends at once."""


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


def span(given: Between | None) -> Interval | None:
    return checked.between(given, None, None)


def part(name: str) -> str:
    return quote(name, safe="")


# Writing


def add(
    messages: Given | Iterable[Given],
    *,
    session: str | None = None,
    at: datetime | None = None,
    zone: str | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Steps[Added]:
    """See `Memory.add`."""
    if isinstance(messages, str | Mapping | Message):
        messages = [messages]
    listed = [_spoken(one) for one in checked.several(messages)]
    if not listed:
        raise UsageError("nothing to add: the list of messages is empty")
    body = {
        "messages": listed,
        "session": checked.label(session, "session"),
        "at": checked.local(at, zone, "at"),
        "zone": checked.zone(zone) if zone is not None else None,
        "metadata": checked.metadata(metadata),
    }
    added: Added = yield Call("POST", "/turns", Added, body, writes=True)
    return added


def add_many(
    messages: Iterable[Given],
    *,
    session: str | None = None,
    at: datetime | None = None,
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
    found: Stats = yield Call("GET", "/stats", Stats)
    left = found.pending
    while True:
        if progress:
            progress(left)
        if not left:
            return found.pending
        try:
            yield Call("POST", "/process", dict[str, int], writes=True)
        except Unavailable as error:
            # The server waits for a while, then says how much is left: ask again. All else is an error.
            if error.__cause__ is not None or (end is not None and time.monotonic() >= end):
                raise
        left = (yield Call("GET", "/stats", Stats)).pending


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
    window = span(between)
    return (
        yield from pages(
            "/turns",
            Turn,
            session=checked.label(session, "session"),
            **{"from": window.start if window else None},
            to=window.end if window else None,
        )
    )


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
    max_tokens: int = 4096,
    at: datetime | None = None,
    between: Between | None = None,
    before: datetime | None = None,
    after: datetime | None = None,
    as_of: datetime | None = None,
    known_at: datetime | None = None,
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
        "at": aware(at, "at"),
        "between": span(between),
        "before": aware(before, "before"),
        "after": aware(after, "after"),
        "as_of": aware(as_of, "as_of"),
        "known_at": aware(known_at, "known_at"),
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
    query: str, *, at: datetime | None = None, between: Between | None = None
) -> Steps[TimeAnswer | None]:
    """See `Memory.when`."""
    body = {"query": checked.words(query, "query"), "at": aware(at, "at"), "between": span(between)}
    found: TimeAnswer | None = yield Call("POST", "/when", TimeAnswer | None, body)
    return found


def compare(a: str, b: str, *, at: datetime | None = None) -> Steps[Comparison]:
    """See `Memory.compare`."""
    found: Comparison = yield Call("POST", "/compare", Comparison, {"a": a, "b": b, "at": aware(at, "at")})
    return found


def ask(
    question: str,
    *,
    at: datetime | None = None,
    as_of: datetime | None = None,
    model: str | LLM | None = None,
    recipe: AgentRecipe | None = None,
    session: str | None = None,
) -> Steps[Answer]:
    """See `Memory.ask`; `model` is a name, and the server's own when left out."""
    found: Answer = yield asked(question, at, as_of, model, recipe, session)
    return found


def asked(
    question: str,
    at: datetime | None,
    as_of: datetime | None,
    model: str | LLM | None,
    recipe: AgentRecipe | None,
    session: str | None,
) -> Call:
    """What asks a question."""
    if model is not None and not isinstance(model, str):
        raise UsageError("a client names its model, such as model='openai:gpt-5-mini'; the server opens it")
    body = {
        "question": checked.words(question, "question"),
        "at": aware(at, "at"),
        "as_of": aware(as_of, "as_of"),
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
) -> Steps[list[Entry]]:
    """See `Memory.timeline`."""
    body: dict[str, Any] = {
        "about": about,
        "between": span(between),
        "grain": grain,
        "negated": negated,
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
) -> Steps[list[Event]]:
    """See `Memory.events`."""
    window = span(between)
    return (
        yield from pages(
            "/events",
            Event,
            about=about,
            subject=subject,
            verb=verb,
            status=status,
            **{"from": window.start if window else None},
            to=window.end if window else None,
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


def _spoken(one: Given) -> dict[str, Any]:
    """A message, checked as `Memory` checks it, as it travels."""
    said = as_message(one)
    made = {
        "role": said.role,
        "content": said.text,
        "name": said.name,
        "timestamp": said.said_at,
        "zone": said.zone,
        "id": said.id,
        "session": said.session,
        "metadata": dict(said.metadata) or None,
    }
    return {name: value for name, value in made.items() if value is not None}
