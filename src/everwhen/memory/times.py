"""The part of `Memory` that answers about time: when something was, what came first, what happened in a while."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from everwhen import checked
from everwhen.errors import UsageError
from everwhen.memory.graph import GraphMemory
from everwhen.recall.question import heart_of
from everwhen.store import Filter
from everwhen.times import Clock
from everwhen.types import Compared, Comparison, Entry, Listed, TimeAnswer
from everwhen.waiting import one_wait

if TYPE_CHECKING:
    from datetime import datetime

    from everwhen.models.embed import Embedder
    from everwhen.store import Filter
    from everwhen.store.facts import FactRow
    from everwhen.types import Between, Event, Session, Time
    from everwhen.when import Grain

MOST_FACTS = 200
"""Facts that a timeline about something shows at the most."""


class TimeMemory(GraphMemory):
    """What `Memory` inherits. All of it waits for pending extraction."""

    def when(
        self,
        query: str,
        *,
        at: Time | None = None,
        between: Between | None = None,
        as_of: Time | None = None,
    ) -> TimeAnswer | None:
        """When something happened, holds or is planned: the interval that the memory's words mean, how sure it is
        and the sentences that say so. None where the memory does not tell.

        `query` is a question ("when did Ana move") or names the event ("Ana's move to Porto"). It may ask for the
        first or last time, for a unit ("in which month"), since when, or lean on another event ("the week after my
        vacation"). `between` keeps answers that may lie in it; `as_of` leaves out what was said later. A duration
        asked for ("how long after …") is what `compare` computes.
        """
        from everwhen.recall.dating import Ask, when

        words = _asked(query, "query")
        clock = Clock(self._store.info.zone, at)
        window, then = clock.window(between), clock.last(as_of, "as_of")
        pending = self._settle()
        recipe = checked.recipe("mid", self._settings)
        asked = Ask(words, clock.now, self._store.info.zone, window, recipe, self._reader, then)
        found = self._model.read(lambda embedder: when(self._store, embedder, asked))
        return replace(found, pending=pending) if found and pending else found

    def compare(self, a: str, b: str, *, at: Time | None = None) -> Comparison:
        """Which of two events came first and how many days lie between them, as exactly as their dates allow."""
        from everwhen.recall.comparing import comparison

        first, second = (
            Compared(_asked(one, name), None) for one, name in ((a, "first event"), (b, "second event"))
        )
        moment = Clock(self._store.info.zone, at).now
        with one_wait() as wait:
            sides = [Compared(side.query, self.when(side.query, at=moment)) for side in (first, second)]
            found = comparison(sides[0], sides[1], self._store.info.zone)
            return replace(found, pending=wait.pending)

    def timeline(
        self,
        about: str | None = None,
        between: Between | None = None,
        grain: Grain | None = None,
        *,
        negated: bool = False,
        known_at: Time | None = None,
    ) -> Listed[Entry]:
        """What happened, what began or ended to be true, and the conversations, in the order of time.

        An event that was told twice comes once. `about` keeps what words or meaning connect with it, `between` what
        may lie in it; `grain` (day, week, month or year) puts entries under units of time. What was planned or only
        supposed says so; what did not happen is left out, unless `negated` asks for it. With
        `known_at`, only what had been told by then, and of a plan that changed the version of then.
        """
        from everwhen.recall.timeline import GRAINS, SHOWN, timeline

        if grain is not None and grain not in GRAINS:
            raise UsageError(f"unknown grain {grain!r}; use one of {', '.join(GRAINS)}")
        topic = None if about is None else _asked(about, "topic")
        window = self._window(between)
        then = Clock(self._store.info.zone).last(known_at, "known_at")
        events = self.events(topic, window, known_at=then)
        sessions = self._sessions_of(topic, events)
        entries = timeline(
            events,
            self._facts_about(topic, then),
            [session for session in sessions if then is None or session.first <= then],
            between=window,
            grain=grain,
            zone=self._store.info.zone,
            statuses=(*SHOWN, "negated") if negated else SHOWN,
        )
        return Listed(entries, events.pending)

    def _facts_about(self, topic: str | None, then: datetime | None) -> list[tuple[FactRow, tuple[str, ...]]]:
        """What is believed, or was then, of everything or of what words or meaning connect with a topic."""
        facts = self._store.facts
        if topic is None:
            ids = list(dict.fromkeys(row.id for row in facts.every_version()))
        else:
            units = self._model.read(lambda embedder: self._fact_units(embedder, topic))
            ids = list(dict.fromkeys(row.id for row in self._store.units(units).values()))
        sources = facts.sources(ids, then) if ids else {}
        said = self._store.known([source for several in sources.values() for source in several])
        return [
            (row, tuple(source for source in sources.get(row.id, ()) if source in said))
            for row in facts.by_id(ids, then)
        ]

    def _fact_units(self, embedder: Embedder, topic: str) -> list[int]:
        vector = embedder.embed([embedder.pieces(topic)[0]])[0]
        scan = self._store.scan(vector, topic, Filter(kinds=frozenset({"fact"})))
        by_meaning = scan.by_meaning(0, MOST_FACTS, self._settings.about_similarity)
        return [unit for unit, _ in (*scan.by_words(MOST_FACTS), *by_meaning)]

    def _sessions_of(self, topic: str | None, events: list[Event]) -> list[Session]:
        """All conversations, or those in which the events were told."""
        sessions = self._store.sessions()
        if topic is None:
            return sessions
        told = {
            turn.session for turn in self._store.turns(ids=[id_ for event in events for id_ in event.turns])
        }
        return [session for session in sessions if session.id in told]


def _asked(given: str, what: str) -> str:
    words = checked.words(given, what)
    if not words.strip():
        raise UsageError(f"the {what} is empty; ask for something, such as 'when did Ana move to Porto'")
    return heart_of(words)
