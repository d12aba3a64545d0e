"""The part of `Memory` about what was derived from turns: extraction, the event calendar, entities."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import cached_property
from typing import TYPE_CHECKING

from everwhen import checked
from everwhen.errors import NotFound, UsageError
from everwhen.ingest.extract.opening import open_extractor
from everwhen.ingest.worker import Worker
from everwhen.recall.question import heart_of
from everwhen.settings import Settings
from everwhen.store import Filter, Store, UnitRow
from everwhen.store.graph import Linked, Work
from everwhen.types import Entity, Event

if TYPE_CHECKING:
    from everwhen.checked import Between
    from everwhen.ingest.extract.base import Extraction
    from everwhen.models.embed import Embedder
    from everwhen.redact import Masks

STATUSES = ("happened", "ongoing", "planned", "hypothetical", "negated")
MOST_ABOUT = 200
"""Events that `events(about=…)` finds at the most."""


class GraphMemory:
    """What `Memory` inherits. Reads here wait for pending extraction; `recall` does not."""

    _store: Store
    _embedder: Embedder
    _settings: Settings
    _masks: Masks

    @cached_property
    def _worker(self) -> Worker:
        return Worker(self._store, self._process)

    def _process(self, work: Work) -> Extraction:
        from everwhen.ingest.pipeline import process

        extractor = open_extractor(self._settings.extract)
        assert extractor is not None
        return process(self._store, self._embedder, extractor, work)

    @property
    def _extracts(self) -> bool:
        return self._settings.extract != "none"

    def _wake(self) -> None:
        """Turns were added: extraction follows in the background."""
        if self._extracts:
            self._worker.wake()

    def _stop(self) -> None:
        """Let the running batch finish, and begin no other until somebody wakes the worker again."""
        if "_worker" in self.__dict__:
            self._worker.stop()
            del self.__dict__["_worker"]

    # Writing

    def flush(self, timeout: float | None = None) -> None:
        """Wait for the extraction of what was added; raises `Unavailable` when it takes longer than `timeout`."""
        self.process(timeout=timeout)

    def process(self, *, timeout: float | None = None, progress: Callable[[int], None] | None = None) -> int:
        """Take up the to-do list, such as what a crash left; how many turns were on it. `progress` hears how
        many are left."""
        waiting = self._store.graph.pending() if self._extracts else 0
        if waiting:
            self._worker.wait(timeout, progress)
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
    ) -> list[Event]:
        """The event calendar: who did what, when, in the order of what happened.

        `between` keeps what may have occurred in it; `about` the events that words or meaning connect with it.
        """
        if status is not None and status not in STATUSES:
            raise UsageError(f"unknown status '{status}'; use one of {', '.join(STATUSES)}")
        window = checked.between(between, None, None)
        self.process()
        return self._store.graph.events(
            between=window,
            subject=None if subject is None else checked.words(subject, "subject"),
            verb=None if verb is None else checked.words(verb, "verb"),
            status=status,
            units=None if about is None else self._about(heart_of(checked.words(about, "topic"))),
        )

    def entities(self) -> list[Entity]:
        """Everyone and everything that has a name, those spoken of most first."""
        self.process()
        return self._store.graph.entities()

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
        vector = self._embedder.embed([self._embedder.pieces(about)[0]])[0]
        by_meaning = [
            found
            for found in self._store.search_vectors(vector, MOST_ABOUT, only)
            if found.score >= self._settings.about_similarity
        ]
        return [found.unit for found in (*by_words, *by_meaning)]
