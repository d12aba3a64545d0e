"""What a language model is asked to fill in; `models/prompts/extract.txt` explains each field to it.

Every field is asked for (a model held to a schema forgets none), yet all but the essential ones may be missing
from an answer. Nothing here is believed: `llm_grounding` checks it against the turns.
"""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError
from pydantic_core import from_json

from everwhen.write.extract.base import EntityType, Network, Status

NARRATIVES, EVENTS, FACTS, ENTITIES, ALIASES = 5, 40, 20, 30, 4
"""How many of each are asked for at the most. Servers that constrain what is written hold the model to it, so
that a small one does not repeat itself for ever; what comes from others is bounded when it is read."""


def _all_required(schema: dict[str, Any]) -> None:
    schema["required"] = list(schema["properties"])
    for shape in schema["properties"].values():
        shape.pop("default", None)


def _share(value: Any) -> Any:
    """A confidence between 0 and 1, also where a model speaks in percent."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return min(1.0, max(0.0, value / 100 if value > 1 else float(value)))
    return value


Words = Annotated[str, BeforeValidator(lambda value: "" if value is None else value)]
Share = Annotated[float, BeforeValidator(_share)]
Aliases = Annotated[list[str], Field(json_schema_extra={"maxItems": ALIASES})]


class Item(BaseModel):
    model_config = ConfigDict(extra="ignore", json_schema_extra=_all_required)


class Event(Item):
    turn: str
    quote: Words = ""
    subject: str
    verb: str
    object: Words = ""
    text: Words = ""
    status: Status = "happened"
    time: Words = ""
    date: Words = ""
    quantity: Words = ""
    aliases: Aliases = []
    network: Network = "world"
    confidence: Share = 0.8
    cause: int = -1


class Narrative(Item):
    text: str
    turns: list[str]
    time: Words = ""
    network: Network = "world"
    confidence: Share = 0.7


class Fact(Item):
    subject: str
    predicate: str
    object: str
    turn: str
    quote: Words = ""
    time: Words = ""
    domain: Words = "general"
    confidence: Share = 0.8


class Entity(Item):
    name: str
    type: EntityType = "OTHER"
    aliases: Aliases = []


class Findings(Item):
    """What the turns tell that is worth knowing later."""

    # Narratives first: a small model that has told the story finds the events in it.
    narratives: list[Narrative] = Field(json_schema_extra={"maxItems": NARRATIVES})
    events: list[Event] = Field(json_schema_extra={"maxItems": EVENTS})
    facts: list[Fact] = Field(default=[], json_schema_extra={"maxItems": FACTS})
    entities: list[Entity] = Field(default=[], json_schema_extra={"maxItems": ENTITIES})

    def __bool__(self) -> bool:
        return bool(self.events or self.narratives or self.facts)


class SameEntity(BaseModel):
    """Whether two names are one person's, place's or thing's."""

    same: bool


_KINDS: dict[str, type[Item]] = {
    "events": Event, "narratives": Narrative, "facts": Fact, "entities": Entity,
}  # fmt: skip


def salvage(text: str) -> tuple[Findings, int]:
    """What is good in an answer that does not fit as a whole, and how many items are not.

    An answer that breaks off keeps the items before the break.
    """
    lists: dict[str, list[Any]] = {name: [] for name in _KINDS}
    start = text.find("{")
    try:
        answer = from_json(text[start:], allow_partial=True) if start >= 0 else {}
    except ValueError:
        answer = {}
    left_out = 0
    for name, kind in _KINDS.items():
        found = answer.get(name) if isinstance(answer, dict) else None
        for item in found if isinstance(found, list) else ():
            try:
                lists[name].append(kind.model_validate(item))
            except ValidationError:
                left_out += 1
                if name == "events":
                    lists[name].append(None)  # `cause` counts places in the list as it was written
    events = lists["events"]
    places = {old: new for new, old in enumerate(n for n, event in enumerate(events) if event is not None)}
    lists["events"] = [
        event.model_copy(update={"cause": places.get(event.cause, -1)})
        for event in events
        if event is not None
    ]
    return Findings.model_construct(_fields_set=None, **lists), left_out
