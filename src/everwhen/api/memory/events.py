"""What was derived from turns: the event calendar, entities, links; and answers about time, which need all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from everwhen.api.extraction_wait import one_wait
from everwhen.api.memory.bank import OpenBank
from everwhen.api.operations import conversation as ops
from everwhen.api.operations.base import does
from everwhen.api.operations.questions import Compare, Timeline, When
from everwhen.errors import NotFound, UsageError
from everwhen.recall.candidates import shortened
from everwhen.store.rows import AsOf, FactRow
from everwhen.store.search import Filter
from everwhen.types import (
    Compared,
    Comparison,
    Entity,
    Entry,
    Event,
    Linked,
    Listed,
    Session,
    TimeAnswer,
    UnitRow,
)
from everwhen.types.recall import for_budget
from everwhen_time import Interval


@dataclass(frozen=True, slots=True)
class EventCalendar:
    """The events, entities, links and dates of one bank. Reads wait for pending extraction."""

    _bank: OpenBank

    @does(ops.Events)
    def events(self, asked: ops.Events) -> Listed[Event]:
        window = self._bank.window(asked.between)
        as_of = self._bank.as_of(asked)
        pending = self._bank.settle()
        units: list[int] | None = None
        if asked.about is not None:
            only = Filter(between=as_of.said, known_at=as_of.known_at, kinds=frozenset({"event"}))
            units = self._bank.about(shortened(asked.about), only)
        found = self._bank.store.graph.events(
            between=window,
            subject=asked.subject,
            verb=asked.verb,
            status=asked.status,
            units=units,
            moment=as_of,
        )
        # Chronos: what has no subject, verb and object is no event. An amount or the day stands for the object.
        whole = (replace(one, object=one.object or one.quantity or one.expression) for one in found)
        return Listed([one for one in whole if one.subject and one.verb and one.object], pending)

    @does(ops.Entities)
    def entities(self, asked: ops.Entities) -> Listed[Entity]:
        as_of = self._bank.as_of(asked)
        pending = self._bank.settle()
        return Listed(self._bank.store.graph.entities(as_of), pending)

    @does(ops.OneEntity)
    def entity(self, asked: ops.OneEntity) -> Entity:
        as_of = self._bank.as_of(asked)
        self._bank.settle()
        return find_entity(self._bank.store.graph.entities(as_of), asked.name)

    @does(ops.MergeEntities)
    def merge(self, asked: ops.MergeEntities) -> Entity:
        kept, gone = self.entity(ops.OneEntity(asked.a)), self.entity(ops.OneEntity(asked.b))
        self._bank.store.graph.merge(kept.id, gone.id, datetime.now(UTC))
        return self.entity(ops.OneEntity(kept.id))

    @does(ops.SplitEntity)
    def split(self, asked: ops.SplitEntity) -> Entity:
        if not asked.names:
            raise UsageError(
                "which names? split_entity(entity, [name, …]) moves those to an entity of their own"
            )
        whole = self.entity(ops.OneEntity(asked.name))
        made = self._bank.store.graph.split(whole.id, list(asked.names), asked.type, datetime.now(UTC))
        return self.entity(ops.OneEntity(made))

    @does(ops.RenameEntity)
    def rename(self, asked: ops.RenameEntity) -> Entity:
        found = self.entity(ops.OneEntity(asked.name))
        self._bank.store.graph.rename(found.id, self._bank.masks.text(asked.new), datetime.now(UTC))
        return self.entity(ops.OneEntity(found.id))

    @does(ops.UndoEntities)
    def undo(self, asked: ops.UndoEntities) -> str | None:
        undone = self._bank.store.graph.undo()
        return None if undone is None else str(undone["action"])

    @does(ops.Mentions)
    def mentions(self, asked: ops.Mentions) -> list[UnitRow]:
        store, as_of = self._bank.store, self._bank.as_of(asked)
        self._bank.settle()
        # By its id where it is one: a name has to be looked for among all of them.
        units = store.graph.units_of_entity(asked.name, asked.limit, as_of)
        if not units:
            named = find_entity(store.graph.entities(as_of), asked.name)
            units = store.graph.units_of_entity(named.id, asked.limit, as_of)
        rows = store.units(units)
        return [rows[unit] for unit in units if unit in rows]

    @does(ops.SeenWith)
    def seen_with(self, asked: ops.SeenWith) -> list[tuple[str, int]]:
        graph, as_of = self._bank.store.graph, self._bank.as_of(asked)
        self._bank.settle()
        return graph.seen_with(find_entity(graph.entities(as_of), asked.name).id, as_of)

    @does(ops.Links)
    def links(self, asked: ops.Links) -> list[Linked]:
        found = self._bank.store.graph.links(asked.unit, fan_out=asked.fan_out)
        as_of = self._bank.as_of(asked)
        if as_of.is_now:
            return found
        seen = self._bank.seen_units([asked.unit, *(one.target for one in found)], as_of)
        return [one for one in found if one.target in seen] if asked.unit in seen else []

    # Dates

    @does(When)
    def when(self, asked: When) -> TimeAnswer | None:
        from everwhen.recall.calendar.answer import WhenRequest, when

        bank, words = self._bank, asked_for(asked.query, "query")
        clock = bank.clock(asked.at)
        window, as_of = clock.window(asked.between), bank.as_of(asked, clock)
        pending = bank.settle()
        recipe = for_budget("mid", bank.settings)
        ask = WhenRequest(words, clock.now, bank.zone, window, recipe, bank.reader, as_of)
        found = bank.model.read(lambda embedder: when(bank.store, embedder, ask))
        return replace(found, pending=pending) if found and pending else found

    @does(Compare)
    def compare(self, asked: Compare) -> Comparison:
        from everwhen.recall.calendar.timeline import comparison

        first, second = asked_for(asked.a, "first event"), asked_for(asked.b, "second event")
        clock = self._bank.clock(asked.at)
        as_of = self._bank.as_of(asked, clock)
        with one_wait() as wait:
            sides = [
                Compared(
                    side, self.when(When(side, at=clock.now, as_of=as_of.as_of, known_at=as_of.known_at))
                )
                for side in (first, second)
            ]
            found = comparison(sides[0], sides[1])
            return replace(found, pending=wait.pending)

    @does(Timeline)
    def timeline(self, asked: Timeline) -> Listed[Entry]:
        from everwhen.recall.calendar.timeline import SHOWN, timeline

        topic = None if asked.about is None else asked_for(asked.about, "topic")
        window = self._bank.window(asked.between)
        as_of = self._bank.as_of(asked)
        events = self.events(ops.Events(topic, window, as_of=as_of.as_of, known_at=as_of.known_at))
        entries = timeline(
            events,
            self._facts_about(topic, as_of, window),
            self._sessions_of(topic, events, as_of),
            between=window,
            grain=asked.grain,
            zone=self._bank.zone,
            statuses=(*SHOWN, "negated") if asked.negated else SHOWN,
        )
        return Listed(entries, events.pending)

    def _facts_about(
        self, topic: str | None, as_of: AsOf, window: Interval | None
    ) -> list[tuple[FactRow, tuple[str, ...]]]:
        """What is believed, or was then, and begins or ends in a window: of everything, or of what words or meaning
        connect with a topic."""
        from everwhen.recall.calendar.timeline import changes_in

        store, facts = self._bank.store, self._bank.store.facts
        if topic is None:
            ids = facts.ids()
        else:
            units = self._bank.about(topic, Filter(kinds=frozenset({"fact"})))
            ids = list(dict.fromkeys(row.id for row in store.units(units).values()))
        rows = [row for row in facts.believed_then(ids, as_of) if changes_in(row, window, self._bank.zone)]
        sources = facts.sources_then([row.id for row in rows], as_of) if rows else {}
        said = store.known([source for several in sources.values() for source in several])
        return [(row, tuple(source for source in sources.get(row.id, ()) if source in said)) for row in rows]

    def _sessions_of(self, topic: str | None, events: list[Event], as_of: AsOf) -> list[Session]:
        """All conversations, or those in which the events were told."""
        store = self._bank.store
        sessions = store.sessions(as_of)
        if topic is None:
            return sessions
        told = {turn.session for turn in store.turns(ids=[id_ for event in events for id_ in event.turns])}
        return [session for session in sessions if session.id in told]


def find_entity(found: Sequence[Entity], name: str) -> Entity:
    """The entity with an id, a name, or another name that it goes by."""
    from everwhen.write.entities import key

    for matches in (
        [one for one in found if name in (one.id, one.name)],
        [one for one in found if key(one.name) == key(name)],
        [one for one in found if key(name) in {key(alias) for alias in one.aliases}],
    ):
        if matches:
            return matches[0]
    raise NotFound(f"nobody and nothing is called '{name}' here; `everwhen show entities` lists the names")


def asked_for(words: str, what: str) -> str:
    """What a question is about; an empty one is refused."""
    if not words.strip():
        raise UsageError(f"the {what} is empty; ask for something, such as 'when did Ana move to Porto'")
    return shortened(words)
