"""What was derived from turns: events, entities and links, answers about time, the memory tree and its map."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from everwhen.api.extraction_wait import one_wait
from everwhen.api.memory.bank import OpenBank
from everwhen.api.operations import conversation as ops
from everwhen.api.operations.base import does
from everwhen.api.operations.questions import Compare, Timeline, When
from everwhen.errors import NotFound, UsageError
from everwhen.recall.candidates import shortened
from everwhen.recall.grep import grep, grep_events
from everwhen.store.rows import AsOf, FactRow, Filter
from everwhen.types import (
    Compared,
    Comparison,
    Consolidated,
    Entity,
    Entry,
    Event,
    EventHit,
    Hit,
    Linked,
    ListWithPending,
    Node,
    Session,
    Statement,
    Time,
    TimeAnswer,
    UnitRow,
)
from everwhen.types.recall import for_budget
from everwhen_time import Interval

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from everwhen.models.embedder import Embedder
    from everwhen.tree.building import Now
    from everwhen.tree.map import Layer


@dataclass(frozen=True, slots=True)
class EventCalendar:
    """The events, entities, links and dates of one bank. Reads wait for pending extraction."""

    _bank: OpenBank

    @does(ops.Events)
    def events(self, asked: ops.Events) -> ListWithPending[Event]:
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
        return ListWithPending([one for one in whole if one.subject and one.verb and one.object], pending)

    @does(ops.Entities)
    def entities(self, asked: ops.Entities) -> ListWithPending[Entity]:
        as_of = self._bank.as_of(asked)
        pending = self._bank.settle()
        return ListWithPending(self._bank.store.graph.entities(as_of), pending)

    @does(ops.OneEntity)
    def entity(self, asked: ops.OneEntity) -> Entity:
        as_of = self._bank.as_of(asked)
        self._bank.settle()
        return find_entity(self._bank.store.graph.entities(as_of), asked.name)

    @does(ops.MergeEntities)
    def merge(self, asked: ops.MergeEntities) -> Entity:
        kept, merged = self.entity(ops.OneEntity(asked.a)), self.entity(ops.OneEntity(asked.b))
        self._bank.store.graph.merge(kept.id, merged.id, datetime.now(UTC))
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

    @does(ops.Grep)
    def grep(self, asked: ops.Grep) -> list[Hit] | list[EventHit]:
        as_of = self._bank.as_of(asked)
        if asked.calendar == "events":
            events = self.events(
                ops.Events(between=asked.between, as_of=as_of.as_of, known_at=as_of.known_at)
            )
            return grep_events(events, asked.pattern, regex=asked.regex, limit=asked.limit)
        turns = filter(as_of.sees, self._bank.store.turns(between=self._bank.window(asked.between)))
        return grep(turns, asked.pattern, regex=asked.regex, limit=asked.limit)

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
    def timeline(self, asked: Timeline) -> ListWithPending[Entry]:
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
        return ListWithPending(entries, events.pending)

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
        """All conversations, or those in which the events were mentioned."""
        store = self._bank.store
        sessions = store.sessions(as_of)
        if topic is None:
            return sessions
        mentioning = {
            turn.session for turn in store.turns(ids=[id_ for event in events for id_ in event.turns])
        }
        return [session for session in sessions if session.id in mentioning]


@dataclass(frozen=True, slots=True)
class MapLevel:
    """One level to look at: its points, the nodes they stand for, and the names of all the levels that there are."""

    names: tuple[str, ...]
    layer: Layer
    nodes: tuple[Node, ...]


class MemoryTree:
    """The tree of one bank. All of it waits for pending extraction."""

    def __init__(self, bank: OpenBank, process: Callable[[], object]) -> None:
        self._bank = bank
        self._process = process
        if bank.settings.tree_schedule != "asked":
            bank.worker.behind = lambda may_go_on: self._build(ops.Consolidate(), may_go_on)

    @does(ops.Consolidate)
    def consolidate(self, asked: ops.Consolidate) -> Consolidated:
        self._process()
        return self._build(asked)

    def _build(self, asked: ops.Consolidate, may_go_on: Callable[[], bool] = lambda: True) -> Consolidated:
        from everwhen.tree.building import consolidate, open_consolidator

        bank = self._bank
        moment: Now = "end" if asked.now == "end" else bank.clock().last(asked.now, "now")
        levels, consolidator = self._bank.levels(), open_consolidator(bank.settings)
        return bank.model.write(
            lambda embedder: consolidate(
                bank.store,
                embedder,
                levels,
                consolidator,
                moment,
                asked.progress,
                dated=bank.settings.date_in_embedding,
                online=bank.settings.tree_schedule == "online",
                may_go_on=may_go_on,
            )
        )

    @does(ops.Tree)
    def tree(self, asked: ops.Tree) -> ListWithPending[Node]:
        from everwhen.tree.node_reader import nodes

        levels, level = self._bank.levels(), asked.level
        if level is not None and not 1 <= level <= levels.top:
            named = ", ".join(f"{one} {levels.name(one)}" for one in range(1, levels.top + 1))
            raise UsageError(f"there is no level {level!r} in the memory tree; there are: {named}")
        then = self._bank.as_of(asked)
        pending = self._bank.settle()
        return ListWithPending(nodes(self._bank.store, levels, level, self._moment(asked.at), then), pending)

    @does(ops.Profile)
    def profile(self, asked: ops.Profile) -> ListWithPending[Statement]:
        from everwhen.tree.node_reader import profile

        then = self._bank.as_of(asked)
        pending = self._bank.settle()
        found = profile(self._bank.store, self._bank.levels(), then)
        if asked.about is not None:
            found = self._concerning(found, asked.about, then)
        return ListWithPending(found, pending)

    def _concerning(self, every: Sequence[Statement], name: str, as_of: AsOf) -> list[Statement]:
        """The statements of somebody, and those that name them; by all names that they go by."""
        names = {name}
        if not any(one.speaker.casefold() == name.casefold() for one in every):
            entity = find_entity(self._bank.store.graph.entities(as_of), name)
            names = {entity.name, *entity.aliases}
        named = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)", re.IGNORECASE)
        return [one for one in every if named.search(one.speaker) or named.search(one.text)]

    def _moment(self, at: Time | Interval | None) -> Interval | None:
        """What is asked for; an instant as the shortest interval that holds it."""
        if at is None or isinstance(at, Interval):
            return at
        asked = self._bank.clock().interval(at, "at")
        if asked.start is None or asked.start != asked.end:
            return asked
        return Interval(asked.start, asked.start + timedelta(microseconds=1), "second")

    # Repair

    def reaches_open(self) -> bool:
        """Whether the tree was built up to windows that are open still."""
        store = self._bank.store
        newest, top = store.jobs.tree.watermark(), self._bank.levels().top
        return newest is not None and any(row.place.end > newest for row in store.tree.nodes(top))

    def rebuild(self, open_too: bool) -> None:
        """Build all of it again, and the windows that are open still where they are wanted."""
        self._bank.store.tree.restart(str(self._bank.levels()))
        self.consolidate(ops.Consolidate("end" if open_too else None))

    # The map

    def layers(self, group: str | None = None) -> list[Layer]:
        """The points of each level: an exchange lies in the middle of its turns, a node where its text does."""
        levels = self._bank.levels()
        found = ((level, self.tree(ops.Tree(level))) for level in range(1, levels.top + 1))
        return [self._layer(level, levels.name(level), nodes, group=group) for level, nodes in found if nodes]

    def map_level(self, name: str, most: int) -> MapLevel | None:
        """One level of the map, by its name, or the finest of at most so many points."""
        from everwhen.tree.levels import EXCHANGE
        from everwhen.tree.node_reader import evenly

        store, levels = self._bank.store, self._bank.levels()
        self._bank.settle()
        # Exchanges are cut when they are asked for: of about two turns each.
        sizes = store.tree.sizes() | {EXCHANGE: -(-store.stats().turns // 2)}
        there = {levels.name(level): level for level in range(EXCHANGE, levels.top + 1) if sizes.get(level)}
        if not there:
            return None
        fitting = (one for one in there.values() if sizes[one] <= most)
        level = there.get(name) or next(fitting, max(there.values()))
        nodes, units = evenly(store, levels, level, most)
        layer = self._layer(level, levels.name(level), nodes, units)
        return MapLevel(tuple(there), layer, tuple(nodes))

    def _layer(
        self,
        level: int,
        name: str,
        nodes: Sequence[Node],
        units: Sequence[int] | None = None,
        group: str | None = None,
    ) -> Layer:
        """The points of one level; those of a month are a group, where there is no other one."""
        from everwhen.tree.map import Layer
        from everwhen_time.zones import zone_of

        zone = zone_of(self._bank.zone)
        days = [one.interval.start.astimezone(zone).date().isoformat() for one in nodes if one.interval.start]
        groups = tuple(group or day[:7] for day in days)
        return Layer(level, name, self._places(level, nodes, units), groups, tuple(days))

    def _places(
        self, level: int, nodes: Sequence[Node], units: Sequence[int] | None = None
    ) -> NDArray[np.float32]:
        import numpy as np

        from everwhen.store.rows import Filter, SearchQuery

        store = self._bank.store
        if level == 1:
            turns = [turn for node in nodes for turn in node.turns]
            vectors = store.graph.vectors(turns)
            ends = np.cumsum([len(node.turns) for node in nodes])
            middles = np.add.reduceat(vectors, np.append(0, ends[:-1]))
            return np.asarray(middles / np.linalg.norm(middles, axis=1, keepdims=True), np.float32)
        if units is None:
            by_id = {row.place.id: row.unit for row in store.tree.nodes(level)}
            units = [by_id[node.id] for node in nodes]
        query = SearchQuery(where=Filter(kinds=frozenset({"node"})))

        def places(_: Embedder) -> NDArray[np.float32]:
            found = store.search(query).evidence(units, vectors=True)
            assert found.vectors is not None
            held = dict(zip((row.seq for row in found.rows), found.vectors, strict=True))
            nothing = np.zeros(store.info.dimension, np.float32)
            return np.stack([held.get(unit, nothing) for unit in units])

        return self._bank.model.read(places)


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
