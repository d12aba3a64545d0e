"""Builds the nodes on the to-do list, level by level. Each node is replaced in one transaction.

A new turn puts its session on the list; a session that is written puts the window above it on the list, and so on to
the top. So a late turn rebuilds its own path and nothing else. The list is in the database: after a crash the old
nodes and the list are as they were. A node is built from its children: they are collected and consolidated, and its
interval and vectors are computed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

from everwhen.facts.shown_facts import facts_from_turns
from everwhen.models.embedder import Embedder, LocalTime, Vectors, centroid, count_tokens, embed_derived
from everwhen.settings import Settings
from everwhen.store.base import VectorModel
from everwhen.store.rows import (
    BuildMark,
    BuildResult,
    Facts,
    LevelOne,
    NewNode,
    NodePlace,
    NodeRow,
    TurnForgotten,
)
from everwhen.store.sql.store import Store
from everwhen.tree.base import Child, Consolidator, NodeDraft, Task, children_of_session, in_order
from everwhen.tree.levels import EXCHANGE, SESSION, Levels
from everwhen.types import Consolidated, Turn
from everwhen.types.turns import SUMMARY, line
from everwhen_time import Interval


@dataclass(frozen=True, slots=True)
class _Material:
    """A task, when its first and last turn were said, when its newest was recorded, and level 1 where it is written."""

    task: Task
    first_at: datetime
    last_at: datetime
    recorded_at: datetime
    below: tuple[NewNode, ...] = ()
    kept: frozenset[str] = frozenset()


class Builder:
    """Builds the nodes for some marks. It writes nothing."""

    def __init__(
        self,
        store: Store,
        embedder: Embedder,
        levels: Levels,
        consolidator: Consolidator,
        *,
        dated: bool = False,
    ) -> None:
        self._store = store
        self._embedder = embedder
        self._levels = levels
        self._consolidator = consolidator
        self._dated = dated

    def build(self, marks: Sequence[BuildMark], level: int) -> list[BuildResult]:
        """A node for each mark of one level, or None where nothing is left under it; of level 1, for each mark of a
        session what a model writes of its exchanges, whether or not it goes on."""
        if level == EXCHANGE:
            return [BuildResult(mark, None, self._level_one(mark.place.session or "")) for mark in marks]
        gathered = [self._session(mark.place) for mark in marks] if level == SESSION else self._windows(marks)
        nodes = iter(self._written([one for one in gathered if one is not None]))
        return [
            BuildResult(mark, None if one is None else next(nodes))
            for mark, one in zip(marks, gathered, strict=True)
        ]

    # What stands under a node

    def _session(self, marked: NodePlace) -> _Material | None:
        assert marked.session is not None
        turns = in_order(self._store.turns(session=marked.session))
        if not turns:
            return None
        place = self._levels.session(marked.session, turns[0].said_at, turns[-1].said_at)
        children = tuple(children_of_session(turns, self._levels))
        below: list[NewNode] = []
        kept: frozenset[str] = frozenset()
        if self._consolidator.writes_exchanges:
            below, known = self._exchanges(place, children, turns)
            kept = frozenset(known)
            level_one: dict[str, NewNode | NodeRow] = {node.place.id: node for node in below} | known
            children = tuple(_with_words_of(child, level_one[child.place.id]) for child in children)
        learned = facts_from_turns(self._store.facts, [turn.id for turn in turns])
        sources = {fact: tuple(sorted(said)) for fact, said in sorted(learned.items())}
        task = replace(
            self._task(place, children, sources),
            assistants=_assistants(turns),
            zones={turn.id: turn.zone for turn in turns if turn.zone != self._levels.zone},
        )
        recorded = max(turn.recorded_at for turn in turns)
        return _Material(task, turns[0].said_at, turns[-1].said_at, recorded, tuple(below), kept)

    def _level_one(self, session: str) -> LevelOne:
        turns, waits = in_order(self._store.turns(session=session)), self._levels.top > EXCHANGE
        if not turns or not self._consolidator.writes_exchanges:
            return LevelOne((), frozenset(), waits)
        place = self._levels.session(session, turns[0].said_at, turns[-1].said_at)
        new, known = self._exchanges(place, children_of_session(turns, self._levels), turns)
        return LevelOne(new, frozenset(known), waits)

    def _exchanges(
        self, session: NodePlace, children: Sequence[Child], turns: Sequence[Turn]
    ) -> tuple[list[NewNode], dict[str, NodeRow]]:
        """Level 1 as a model writes it: what is new, and what it has written already and stays. With a history each
        waits for the one before it; else all that is new is asked at once."""
        stored = {row.place.id: row for row in self._store.tree.nodes(under=[session.id])}
        known: dict[str, NodeRow] = {}
        recorded = {turn.id: turn.recorded_at for turn in turns}
        count = self._consolidator.history
        before = self._store.tree.before(EXCHANGE, session.start, count) if count else []
        written: list[NewNode] = []
        fresh: list[_Material] = []
        for child in children:
            history = tuple(before[-count:]) if count else ()
            task = replace(self._task(child.place, (child,), {}), history=history)
            row = stored.get(child.place.id)
            if row is not None and row.fingerprint == self._fingerprint(task):
                known[child.place.id] = row
                before.append(row.text)
                continue
            latest = max(recorded[turn] for one in child.statements for turn in one.turns)
            fresh.append(_Material(task, child.statements[0].first, child.statements[-1].last, latest))
            if count:
                written += self._written(fresh)
                before.append(written[-1].text)
                fresh = []
        return [*written, *self._written(fresh)], known

    def _written(self, gathered: Sequence[_Material]) -> list[NewNode]:
        drafts = self._consolidator.consolidate([one.task for one in gathered])
        return [self._node(one, draft) for one, draft in zip(gathered, drafts, strict=True)]

    def _windows(self, marks: Sequence[BuildMark]) -> list[_Material | None]:
        under: dict[str, list[NodeRow]] = {mark.place.id: [] for mark in marks}
        for row in self._store.tree.nodes(under=list(under)):
            under[row.place.parent or ""].append(row)
        return [self._window(mark.place, under[mark.place.id]) for mark in marks]

    def _window(self, place: NodePlace, rows: Sequence[NodeRow]) -> _Material | None:
        if not rows:
            return None
        children = tuple(
            Child(row.place, row.interval, row.text, row.statements, row.fingerprint) for row in rows
        )
        sources: dict[str, tuple[str, ...]] = {}
        for fact, said in ((fact, said) for row in rows for fact, said in row.facts.items()):
            sources[fact] = tuple(dict.fromkeys((*sources.get(fact, ()), *said)))
        return _Material(
            self._task(place, children, sources),
            min(row.first_at for row in rows),
            max(row.last_at for row in rows),
            max(row.recorded_at for row in rows),
        )

    def _task(self, place: NodePlace, children: tuple[Child, ...], sources: Facts) -> Task:
        kind = self._levels.kind(place.level)
        facts = tuple(self._store.facts.by_id(list(sources))) if sources else ()
        believed = {fact.id for fact in facts}
        newest = [self._store.facts.newest(id_) for id_ in sources if id_ not in believed]
        denied = tuple(one for one in newest if one is not None and one.outcome in ("corrected", "retracted"))
        said: dict[str, datetime] = {}
        if kind == "profile" and facts:
            ids = sorted({turn for fact in facts for turn in sources[fact.id]})
            said = {turn.id: turn.said_at for turn in self._store.turns(ids=ids)}
        count = self._consolidator.history if place.level > EXCHANGE else 0
        history = tuple(self._store.tree.before(place.level, place.start, count)) if count else ()
        name, below = (self._levels.name(level) for level in (place.level, max(EXCHANGE, place.level - 1)))
        return Task(
            place,
            kind,
            name,
            self._levels.zone,
            children,
            history,
            facts,
            denied,
            sources,
            said,
            child_name=below,
        )

    # The node itself

    def _node(self, material: _Material, draft: NodeDraft) -> NewNode:
        task, place = material.task, material.task.place
        interval = self._hull(place, task.children)
        turns = tuple(dict.fromkeys(turn for one in draft.statements for turn in one.turns))
        children = tuple(child.place.id for child in task.children)
        if place.level == EXCHANGE:
            children = tuple(turn for one in task.children[0].statements for turn in one.turns)
        return NewNode(
            place=place,
            above=self._levels.above(place) if place.level > EXCHANGE else None,
            interval=interval,
            text=draft.text,
            children=children,
            statements=draft.statements,
            fingerprint=self._fingerprint(task),
            consolidator=draft.consolidator,
            version=draft.version,
            first_at=material.first_at,
            last_at=material.last_at,
            recorded_at=material.recorded_at,
            turns=turns,
            vectors=self._vectors(draft, turns, interval),
            tokens=count_tokens(line(SUMMARY, draft.text, ours=True)),
            facts=task.sources,
            problem=draft.problem,
            below=material.below,
            kept=material.kept,
        )

    def _hull(self, place: NodePlace, children: Sequence[Child]) -> Interval:
        """The smallest interval that covers the window and the children."""
        return Interval(
            min(place.start, *(child.interval.start or place.start for child in children)),
            max(place.end, *(child.interval.end or place.end for child in children)),
            "second" if place.level <= SESSION else self._levels.windows[place.level - SESSION - 1].grain,
        )

    def _vectors(self, draft: NodeDraft, turns: Sequence[str], interval: Interval) -> Vectors:
        """Of what it quotes, the direction of the turns' own vectors, dates and all: nothing is embedded again. A
        model's words have one of their own."""
        if not draft.by_meaning:
            return centroid(self._store.graph.vectors(turns))
        assert interval.start is not None
        dates = [LocalTime(interval.start, self._store.info.zone, interval.grain)] if self._dated else None
        return embed_derived(self._embedder, [draft.text], dates)[0]

    def _fingerprint(self, task: Task) -> str:
        """What a node is made from, and by whom. Without the history: a node is not made again because the one before
        it was."""
        whole = [self._consolidator.name, self._consolidator.version, str(task.place)]
        whole += [f"{child.place.id} {child.interval} {child.fingerprint}" for child in task.children]
        whole += [
            f"{fact.id} {fact.version} {fact.valid_from} {fact.valid_to} {fact.outcome}"
            for fact in (*task.facts, *task.retracted)
        ]
        return hashlib.blake2b("\x1e".join(whole).encode("utf-8", "replace"), digest_size=12).hexdigest()


def _with_words_of(child: Child, node: NewNode | NodeRow) -> Child:
    return replace(child, text=node.text, statements=node.statements, fingerprint=node.fingerprint)


def _assistants(turns: Sequence[Turn]) -> frozenset[str]:
    """Speakers who are assistants or tools, where somebody else speaks too."""
    assistants = {turn.speaker for turn in turns if turn.role in ("assistant", "tool")}
    others = {turn.speaker for turn in turns} - assistants
    return frozenset(assistants) if others else frozenset()


# The to-do list

Now: TypeAlias = datetime | Literal["end"] | None
"""Until when windows are closed: an instant, "end" for the open ones too, None for the newest turn."""

IDLE = timedelta(hours=1)
"""How long after its last turn a session counts as over (our choice); what is said later has it built again."""
PASSES = 3
"""How often the list is gone through again for what others marked meanwhile."""


def consolidate(
    store: Store,
    embedder: Embedder,
    levels: Levels,
    consolidator: Consolidator,
    now: Now = None,
    progress: Callable[[int, int], None] | None = None,
    *,
    dated: bool = False,
    online: bool = False,
    may_go_on: Callable[[], bool] = lambda: True,
) -> Consolidated:
    """Build what is closed and not built, and build again what has changed. `progress` hears (done, left).

    `dated` writes dates into what is embedded of a model's words. `online`: a model writes the exchanges of sessions
    that go on, too. What `may_go_on` cuts short stays on the list.
    """
    if store.tree.levels() != str(levels):
        store.tree.restart(str(levels))  # other windows: nothing of the tree stands where it stood
    note_turns(store, levels)
    closed = _closed(store, now)
    done = Consolidated()
    if closed is None:
        return done
    builder = Builder(store, embedder, levels, consolidator, dated=dated)
    # The bank's own width: what quotes turns is built without the model being loaded.
    made_with = VectorModel(embedder.name, store.info.dimension)
    lowest = EXCHANGE if levels.top == EXCHANGE or (online and consolidator.writes_exchanges) else SESSION
    for _ in range(PASSES):
        late = 0
        for level in range(lowest, levels.top + 1):
            due = [
                mark
                for mark in store.jobs.tree.marks(max(level, SESSION))
                if level == EXCHANGE or (not mark.waits and _is_over(mark.place, closed))
            ]
            for start in range(0, len(due), consolidator.batch_size):
                if not may_go_on():
                    break
                try:
                    built = builder.build(due[start : start + consolidator.batch_size], level)
                except TurnForgotten:  # while it was being built; the list says what is left to build
                    late += 1
                    continue
                done, missed = _counted(done, built, store.tree.put(built, made_with))
                late += missed
                if progress:
                    progress(done.built + done.rebuilt, store.jobs.tree.pending())
        if not late:
            break
        note_turns(store, levels)
    return replace(done, waiting=store.jobs.tree.pending())


def note_turns(store: Store, levels: Levels) -> None:
    """Put the sessions that turns were added to on the list."""
    seen, sessions = store.jobs.tree.unseen()
    if sessions:
        store.jobs.tree.enqueue([levels.session(*one) for one in sessions], seen)


def _closed(store: Store, now: Now) -> datetime | None:
    """The instant up to which windows count as closed; None for a bank without turns."""
    newest = store.jobs.tree.watermark()
    if newest is None:
        return None if store.jobs.tree.pending() == 0 else datetime.max.replace(tzinfo=UTC)
    if now == "end":
        return datetime.max.replace(tzinfo=UTC)
    return newest if now is None else now


def _is_over(place: NodePlace, closed: datetime) -> bool:
    return (closed - IDLE if place.level == SESSION else closed) >= place.end


def _counted(
    done: Consolidated, built: Sequence[BuildResult], outcomes: Sequence[str]
) -> tuple[Consolidated, int]:
    failed = sum(
        one.node is not None and one.node.problem is not None and outcome in ("built", "rebuilt")
        for one, outcome in zip(built, outcomes, strict=True)
    )
    whole = Consolidated(
        done.built + outcomes.count("built"),
        done.rebuilt + outcomes.count("rebuilt"),
        done.dropped + outcomes.count("dropped"),
        done.failed + failed,
    )
    return whole, outcomes.count("late")


def open_consolidator(settings: Settings) -> Consolidator:
    """The consolidator that is set. Its model is loaded at first use, and shared by all banks."""
    name = settings.consolidate
    if name == "extractive":
        from everwhen.tree.extractive import Extractive

        return Extractive()
    from everwhen.models.llm.pydantic_ai import llm_of
    from everwhen.tree.llm import LLMConsolidator

    llm = llm_of(settings, name.removeprefix("llm:"), temperature=settings.consolidation_temperature)
    return LLMConsolidator(llm, settings.tree_history)
