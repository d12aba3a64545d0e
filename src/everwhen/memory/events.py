"""What was derived from turns: the event calendar, entities, and the graph between memories."""

from __future__ import annotations

from datetime import UTC, datetime

from everwhen.errors import NotFound, UsageError
from everwhen.memory.bank import OpenBank
from everwhen.operations import does
from everwhen.operations.events import (
    Entities,
    Events,
    Links,
    Mentions,
    MergeEntities,
    OneEntity,
    RenameEntity,
    SeenWith,
    SplitEntity,
    UndoEntities,
)  # fmt: skip
from everwhen.recall.query_embedding import shortened
from everwhen.store import Filter, Then
from everwhen.store.search import SearchQuery, Wanted
from everwhen.types import Entity, Event, Linked, Listed, UnitRow

MOST_ABOUT = 200
"""Events that `events(about=…)` finds at the most."""


class EventCalendar:
    """The events, entities and links of one bank. Reads wait for pending extraction."""

    def __init__(self, bank: OpenBank) -> None:
        self._bank = bank

    @does(Events)
    def events(self, asked: Events) -> Listed[Event]:
        window = self._bank.window(asked.between)
        then = self._bank.then(asked.as_of, asked.known_at)
        pending = self._bank.settle()
        found = self._bank.store.graph.events(
            between=window,
            subject=asked.subject,
            verb=asked.verb,
            status=asked.status,
            units=None if asked.about is None else self._about(shortened(asked.about), then),
            then=then,
        )
        return Listed(found, pending)

    def _about(self, about: str, then: Then) -> list[int]:
        """The events that words or meaning connect with a topic."""
        store = self._bank.store
        only = Filter(between=then.said, known_at=then.known_at, kinds=frozenset({"event"}))
        found = self._bank.model.read(
            lambda embedder: store.search(
                SearchQuery(embedder.embed([embedder.pieces(about)[0]])[0], about, only)
            ).candidates(Wanted(MOST_ABOUT, self._bank.settings.about_similarity))
        )
        return [unit for ranking in (*found.words, *found.meaning) for unit, _ in ranking]

    @does(Entities)
    def entities(self, asked: Entities) -> Listed[Entity]:
        then = self._bank.then(asked.as_of, asked.known_at)
        pending = self._bank.settle()
        return Listed(self._bank.store.graph.entities(then), pending)

    @does(OneEntity)
    def entity(self, asked: OneEntity) -> Entity:
        from everwhen.ingest.entity_resolution import key

        name, found = asked.name, self.entities(Entities())
        for matches in (
            [one for one in found if name in (one.id, one.name)],
            [one for one in found if key(one.name) == key(name)],
            [one for one in found if key(name) in {key(alias) for alias in one.aliases}],
        ):
            if matches:
                return matches[0]
        raise NotFound(
            f"nobody and nothing is called '{name}' here; `everwhen show entities` lists the names"
        )

    @does(MergeEntities)
    def merge(self, asked: MergeEntities) -> Entity:
        kept, gone = self.entity(OneEntity(asked.a)), self.entity(OneEntity(asked.b))
        self._bank.store.graph.merge(kept.id, gone.id, datetime.now(UTC))
        return self.entity(OneEntity(kept.id))

    @does(SplitEntity)
    def split(self, asked: SplitEntity) -> Entity:
        if not asked.names:
            raise UsageError(
                "which names? split_entity(entity, [name, …]) moves those to an entity of their own"
            )
        whole = self.entity(OneEntity(asked.name))
        made = self._bank.store.graph.split(whole.id, list(asked.names), asked.type, datetime.now(UTC))
        return self.entity(OneEntity(made))

    @does(RenameEntity)
    def rename(self, asked: RenameEntity) -> Entity:
        found = self.entity(OneEntity(asked.name))
        self._bank.store.graph.rename(found.id, self._bank.masks.text(asked.new), datetime.now(UTC))
        return self.entity(OneEntity(found.id))

    @does(UndoEntities)
    def undo(self, asked: UndoEntities) -> str | None:
        undone = self._bank.store.graph.undo()
        return None if undone is None else str(undone["action"])

    @does(Mentions)
    def mentions(self, asked: Mentions) -> list[UnitRow]:
        store = self._bank.store
        self._bank.settle()
        # By its id where it is one: a name has to be looked for among all of them.
        units = store.graph.units_of_entity(asked.name, asked.limit)
        units = units or store.graph.units_of_entity(self.entity(OneEntity(asked.name)).id, asked.limit)
        rows = store.units(units)
        return [rows[unit] for unit in units if unit in rows]

    @does(SeenWith)
    def seen_with(self, asked: SeenWith) -> list[tuple[str, int]]:
        return self._bank.store.graph.seen_with(self.entity(OneEntity(asked.name)).id)

    @does(Links)
    def links(self, asked: Links) -> list[Linked]:
        return self._bank.store.graph.links(asked.unit, fan_out=asked.fan_out)
