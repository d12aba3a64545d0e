"""Answers about time: when something was, what came first, what happened in a while."""

from __future__ import annotations

from dataclasses import replace

from everwhen.errors import UsageError
from everwhen.extraction_wait import one_wait
from everwhen.memory.bank import OpenBank
from everwhen.memory.events import EventCalendar
from everwhen.models.embed import Embedder
from everwhen.operations import does
from everwhen.operations.events import Events
from everwhen.operations.time_questions import Compare, Timeline, When
from everwhen.recall.query_embedding import shortened
from everwhen.recipes import for_budget
from everwhen.store import Filter, Then
from everwhen.store.facts import FactRow
from everwhen.store.search import SearchQuery, Wanted
from everwhen.types import Compared, Comparison, Entry, Event, Listed, Session, TimeAnswer
from everwhen.when import Interval

MOST_FACTS = 200
"""Facts that a timeline about something shows at the most."""


class Dates:
    """What one bank tells about time. All of it waits for pending extraction."""

    def __init__(self, bank: OpenBank, events: EventCalendar) -> None:
        self._bank = bank
        self._events = events

    @does(When)
    def when(self, asked: When) -> TimeAnswer | None:
        from everwhen.recall.time_answer import WhenRequest, when

        bank, words = self._bank, asked_for(asked.query, "query")
        clock = bank.clock(asked.at)
        window, then = clock.window(asked.between), bank.then(asked.as_of, asked.known_at, clock)
        pending = bank.settle()
        recipe = for_budget("mid", bank.settings)
        ask = WhenRequest(words, clock.now, bank.zone, window, recipe, bank.reader, then)
        found = bank.model.read(lambda embedder: when(bank.store, embedder, ask))
        return replace(found, pending=pending) if found and pending else found

    @does(Compare)
    def compare(self, asked: Compare) -> Comparison:
        from everwhen.recall.time_comparison import comparison

        first, second = asked_for(asked.a, "first event"), asked_for(asked.b, "second event")
        clock = self._bank.clock(asked.at)
        then = self._bank.then(asked.as_of, asked.known_at, clock)
        with one_wait() as wait:
            sides = [
                Compared(side, self.when(When(side, at=clock.now, as_of=then.as_of, known_at=then.known_at)))
                for side in (first, second)
            ]
            found = comparison(sides[0], sides[1], self._bank.zone)
            return replace(found, pending=wait.pending)

    @does(Timeline)
    def timeline(self, asked: Timeline) -> Listed[Entry]:
        from everwhen.recall.timeline import SHOWN, timeline

        topic = None if asked.about is None else asked_for(asked.about, "topic")
        window = self._bank.window(asked.between)
        then = self._bank.then(asked.as_of, asked.known_at)
        events = self._events.events(Events(topic, window, as_of=then.as_of, known_at=then.known_at))
        entries = timeline(
            events,
            self._facts_about(topic, then, window),
            self._sessions_of(topic, events, then),
            between=window,
            grain=asked.grain,
            zone=self._bank.zone,
            statuses=(*SHOWN, "negated") if asked.negated else SHOWN,
        )
        return Listed(entries, events.pending)

    def _facts_about(
        self, topic: str | None, then: Then, window: Interval | None
    ) -> list[tuple[FactRow, tuple[str, ...]]]:
        """What is believed, or was then, and begins or ends in a window: of everything, or of what words or meaning
        connect with a topic."""
        from everwhen.recall.timeline import changes_in

        store, facts = self._bank.store, self._bank.store.facts
        if topic is None:
            ids = facts.ids()
        else:
            units = self._bank.model.read(lambda embedder: self._fact_units(embedder, topic))
            ids = list(dict.fromkeys(row.id for row in store.units(units).values()))
        rows = [row for row in facts.believed_then(ids, then) if changes_in(row, window, self._bank.zone)]
        sources = facts.sources_then([row.id for row in rows], then) if rows else {}
        said = store.known([source for several in sources.values() for source in several])
        return [(row, tuple(source for source in sources.get(row.id, ()) if source in said)) for row in rows]

    def _fact_units(self, embedder: Embedder, topic: str) -> list[int]:
        vector = embedder.embed([embedder.pieces(topic)[0]])[0]
        search = self._bank.store.search(SearchQuery(vector, topic, Filter(kinds=frozenset({"fact"}))))
        found = search.candidates(Wanted(MOST_FACTS, self._bank.settings.about_similarity))
        return [unit for ranking in (*found.words, *found.meaning) for unit, _ in ranking]

    def _sessions_of(self, topic: str | None, events: list[Event], then: Then) -> list[Session]:
        """All conversations, or those in which the events were told."""
        store = self._bank.store
        sessions = store.sessions(then)
        if topic is None:
            return sessions
        told = {turn.session for turn in store.turns(ids=[id_ for event in events for id_ in event.turns])}
        return [session for session in sessions if session.id in told]


def asked_for(words: str, what: str) -> str:
    """What a question is about; an empty one is refused."""
    if not words.strip():
        raise UsageError(f"the {what} is empty; ask for something, such as 'when did Ana move to Porto'")
    return shortened(words)
