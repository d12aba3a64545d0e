"""Consolidation: builds the nodes on the to-do list, level by level. Each node is replaced in one transaction.

A new turn puts its session on the list; a session that is written puts the window above it on the list, and so on to
the top. So a late turn rebuilds its own path and nothing else. The list is in the database: after a crash the old
nodes and the list are as they were.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Literal, TypeAlias

from everwhen.models.embed import Embedder
from everwhen.settings import Settings
from everwhen.store.base import VectorModel
from everwhen.store.rows import BuildResult, NodePlace, TurnForgotten
from everwhen.store.sql.store import Store
from everwhen.tree.base import Consolidator
from everwhen.tree.building import Builder
from everwhen.tree.levels import EXCHANGE, SESSION, Levels
from everwhen.types import Consolidated

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

    `dated` writes dates into what is embedded of a model's words. `online`: a model tells the exchanges of sessions
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
    lowest = EXCHANGE if levels.top == EXCHANGE or (online and consolidator.exchanges) else SESSION
    for _ in range(PASSES):
        late = 0
        for level in range(lowest, levels.top + 1):
            due = [
                mark
                for mark in store.jobs.tree.marks(max(level, SESSION))
                if level == EXCHANGE or (not mark.waits and _is_over(mark.place, closed))
            ]
            for start in range(0, len(due), consolidator.at_once):
                if not may_go_on():
                    break
                try:
                    built = builder.build(due[start : start + consolidator.at_once], level)
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
    seen, told = store.jobs.tree.unseen()
    if told:
        store.jobs.tree.enqueue([levels.session(*one) for one in told], seen)


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
    from everwhen.models.llm import llm_of
    from everwhen.tree.llm import LLMConsolidator

    llm = llm_of(settings, name.removeprefix("llm:"), temperature=settings.consolidation_temperature)
    return LLMConsolidator(llm, settings.tree_history)
