"""The part of `Memory` about what was derived from turns: extraction, the event calendar, entities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from everwhen import checked
from everwhen.errors import NotFound, Unavailable, UsageError
from everwhen.ingest.extract.opening import open_extractor
from everwhen.ingest.worker import Worker
from everwhen.memory.model import ModelMemory
from everwhen.recall.question import heart_of
from everwhen.store import Filter
from everwhen.store.graph import Work
from everwhen.times import Clock
from everwhen.types import Entity, Event, Linked, Listed, UnitRow
from everwhen.waiting import wait_once

if TYPE_CHECKING:
    from everwhen.ingest.entities import KnownEntities
    from everwhen.ingest.extract.base import Extraction
    from everwhen.models.llm.base import LLM
    from everwhen.redact import Masks
    from everwhen.types import Between, Time
    from everwhen.when import Interval

STATUSES = ("happened", "ongoing", "planned", "hypothetical", "negated")
MOST_ABOUT = 200
"""Events that `events(about=…)` finds at the most."""


class GraphMemory(ModelMemory):
    """What `Memory` inherits. Reads here wait for pending extraction; `recall` does not."""

    _masks: Masks
    _worker: Worker
    _entities: KnownEntities

    def _process(self, work: Work) -> Extraction:
        from everwhen.ingest.pipeline import process

        extractor = open_extractor(self._settings)
        assert extractor is not None
        judge = self._extracting_llm()
        return self._model.write(
            lambda embedder: process(
                self._store,
                embedder,
                extractor,
                work,
                judge,
                entities=self._entities,
                dated=self._settings.date_in_embedding,
                reader=self._reader,
            )
        )

    def _extracting_llm(self) -> LLM | None:
        """The model that extraction asks, where one is set: it also decides about names that may be one."""
        if not self._settings.extract.startswith("llm:"):
            return None
        from everwhen.models.llm import llm_of

        return llm_of(self._settings, self._settings.extract.removeprefix("llm:"))

    @property
    def _extracts(self) -> bool:
        return self._settings.extract != "none"

    def _wake(self) -> None:
        """Turns were added: extraction follows in the background."""
        if self._extracts:
            self._worker.wake()

    def _settle(self) -> int:
        """Wait for the extraction of what was added before this call, but not for ever; how many turns still wait.

        Turns that come later are not waited for, so that a reader ends however much is being written.
        """
        if not self._extracts:
            return 0
        return wait_once(
            self, lambda: self._worker.wait(self._store.graph.newest(), self._settings.wait_seconds)
        )

    # Writing

    def flush(self, timeout: float | None = None) -> None:
        """Wait for the extraction of what was added before this call; raises `Unavailable` when it takes longer than
        `timeout`."""
        self.process(timeout=timeout)

    def process(self, *, timeout: float | None = None, progress: Callable[[int], None] | None = None) -> int:
        """Take up the to-do list, such as what a crash left; how many turns were on it. `progress` hears how
        many are left."""
        if not self._extracts:
            return 0
        newest = self._store.graph.newest()
        waiting = self._store.graph.pending(newest)
        left = self._worker.wait(newest, timeout, progress) if waiting else 0
        if left:
            raise Unavailable(
                f"{left} turns still wait for extraction after {timeout:g} s; what was added is safe, "
                "and `everwhen process` goes on with it"
            )
        return waiting

    def reextract(
        self, turns: Sequence[str] | None = None, *, progress: Callable[[int], None] | None = None
    ) -> int:
        """Derive events, entities and links again, from some turns or all, with the extractor that is set.

        What was derived before is removed; what people decided about entities stays. How many turns.
        """
        if not self._extracts:
            raise UsageError(
                "extraction is switched off (extract='none'); open the bank with extract='rules'"
            )
        count = self._store.graph.restart(turns)
        self.process(progress=progress)
        return count

    # Reading

    def events(
        self,
        about: str | None = None,
        between: Between | None = None,
        subject: str | None = None,
        verb: str | None = None,
        status: str | None = None,
        known_at: Time | None = None,
    ) -> Listed[Event]:
        """The event calendar: who did what, when, in the order of what happened.

        `between` keeps what may have occurred in it; `about` the events that words or meaning connect with it.
        Of a plan that changed the last version counts; at `known_at` the one that had been told by then.
        """
        if status is not None and status not in STATUSES:
            raise UsageError(f"unknown status '{status}'; use one of {', '.join(STATUSES)}")
        window = self._window(between)
        then = Clock(self._store.info.zone).last(known_at, "known_at")
        pending = self._settle()
        found = self._store.graph.events(
            between=window,
            subject=None if subject is None else checked.words(subject, "subject"),
            verb=None if verb is None else checked.words(verb, "verb"),
            status=status,
            units=None if about is None else self._about(heart_of(checked.words(about, "topic"))),
        )
        return Listed([event for event in found if event.known(then)], pending)

    def _window(self, between: Between | None) -> Interval | None:
        """A stretch of time in a call that has no other moment than now."""
        return Clock(self._store.info.zone).window(between)

    def entities(self) -> Listed[Entity]:
        """Everyone and everything that has a name, those spoken of most first."""
        pending = self._settle()
        return Listed(self._store.graph.entities(), pending)

    def entity(self, name: str) -> Entity:
        """One entity by its id, its name or another name it goes by."""
        from everwhen.ingest.entities import key

        name = checked.words(name, "name")
        found = self.entities()
        for matches in (
            [one for one in found if name in (one.id, one.name)],
            [one for one in found if key(one.name) == key(name)],
            [one for one in found if key(name) in {key(alias) for alias in one.aliases}],
        ):
            if matches:
                return matches[0]
        raise NotFound(f"nobody and nothing is called '{name}' here; `everwhen entities` lists the names")

    def merge_entities(self, a: str, b: str) -> Entity:
        """Say that two entities are one; the first keeps its name. `undo_entities` takes it back."""
        kept, gone = self.entity(a), self.entity(b)
        self._store.graph.merge(kept.id, gone.id, datetime.now(UTC))
        return self.entity(kept.id)

    def split_entity(self, name: str, names: Sequence[str], type: str | None = None) -> Entity:
        """Give some of the names that an entity goes by an identity of their own; the new entity."""
        if not names:
            raise UsageError(
                "which names? split_entity(entity, [name, …]) moves those to an entity of their own"
            )
        return self.entity(
            self._store.graph.split(self.entity(name).id, list(names), type, datetime.now(UTC))
        )

    def rename_entity(self, name: str, new: str) -> Entity:
        """Give an entity another name; it goes on to answer to the old one."""
        found = self.entity(name)
        self._store.graph.rename(
            found.id, self._masks.text(checked.label(new, "name") or new), datetime.now(UTC)
        )
        return self.entity(found.id)

    def undo_entities(self) -> str | None:
        """Take back the last merge, split or rename; what it was, None where there is none."""
        undone = self._store.graph.undo()
        return None if undone is None else str(undone["action"])

    def mentions(self, name: str, limit: int = 20) -> list[UnitRow]:
        """The memories that mention an entity, newest first."""
        units = self._store.graph.units_of_entity(self.entity(name).id, limit)
        rows = self._store.units(units)
        return [rows[unit] for unit in units if unit in rows]

    def seen_with(self, name: str) -> list[tuple[str, int]]:
        """Who else is mentioned where an entity is, with how many memories, the most frequent first."""
        return self._store.graph.seen_with(self.entity(name).id)

    def links(self, unit: int, fan_out: int = 50) -> list[Linked]:
        """The neighbours of a memory in the graph, best first."""
        return self._store.graph.links(unit, fan_out=fan_out)

    def _about(self, about: str) -> list[int]:
        """The events that words or meaning connect with a topic."""
        only = Filter(kinds=frozenset({"event"}))
        by_words = self._store.search_text(about, MOST_ABOUT, only)
        similar = self._model.read(
            lambda embedder: self._store.search_vectors(
                embedder.embed([embedder.pieces(about)[0]])[0], MOST_ABOUT, only
            )
        )
        by_meaning = [found for found in similar if found.score >= self._settings.about_similarity]
        return [found.unit for found in (*by_words, *by_meaning)]
