"""The memories that answer a question."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING

from everwhen.api.memory.bank import OpenBank
from everwhen.api.operations.base import does
from everwhen.api.operations.questions import MostAccessed, PromptContext, RecallMemories
from everwhen.facts.shown_facts import FactScope
from everwhen.recall.candidates import Request
from everwhen.recall.names import keywords
from everwhen.recall.pipeline import recall
from everwhen.recall.question import is_question
from everwhen.store.rows import FOREVER
from everwhen.store.search import Filter
from everwhen.types import Accessed, Context, Dropped, HalfLives, Recall
from everwhen.types.context import CHANGED, STANDING
from everwhen.types.recall import PREAMBLE, WEEKDAYS, for_budget, framed
from everwhen.types.times import TimeReader
from everwhen_time import Interval
from everwhen_time.zones import zone_of

if TYPE_CHECKING:
    from everwhen.api.memory.tree import MemoryTree

ASKING = 0.5
"""The chance that the memory holds an answer from which on what is no question gets all the room, too. Most of what
people say asks for nothing: then the first few memories do."""
LEAST_ROOM = 0.25
"""The share of its room that the fresh part gets at least."""
NEWS = 0.3
"""The share of the stable part's room that what changed since may take; with more, the stable part is made anew."""
BESIDE = 24
"""Tokens that a line of a prompt may have beside the words that were said: its day, its speaker, dates."""
SEAMS = 4
"""Tokens by which two texts can be longer together than each alone, where they meet."""


@dataclass(frozen=True, slots=True)
class Recalling:
    _bank: OpenBank
    _tree: MemoryTree

    @does(RecallMemories)
    def recall(self, asked: RecallMemories) -> Recall:
        bank, clock = self._bank, self._bank.clock(asked.at)
        now, as_of = clock.now, bank.as_of(asked, clock)
        window = clock.window(asked.between, asked.before, asked.after)
        recipe = (asked.recipe or for_budget(asked.budget, bank.settings)).with_satf(bank.settings)
        where = Filter(
            between=said_by(window, as_of.as_of),
            known_at=as_of.known_at,
            kinds=frozenset(asked.kinds or recipe.kinds),
            networks=None if asked.networks is None else frozenset(asked.networks),
            metadata=asked.metadata or {},
        )
        pending = bank.settle() if asked.fresh else 0
        request = Request(
            query=asked.query,
            max_tokens=asked.max_tokens,
            top_k=asked.top_k,
            at=now,
            where=where,
            order=asked.order,
            recipe=recipe,
            moment=FactScope(as_of.as_of or now, None if as_of.as_of else window, as_of.known_at, bank.zone)
            if as_of.as_of or window
            else None,
            half_lives=HalfLives(bank.settings.half_lives, bank.settings.half_life),
            min_confidence=asked.min_confidence,
            reranker=bank.reranker,
            reader=bank.reader,
            nodes=asked.kinds is None or "node" in asked.kinds,
            llm=bank.llm(bank.settings.recall_llm),
            seek=asked.seek,
        )
        found = bank.model.read(lambda embedder: recall(bank.store, embedder, request))
        if bank.settings.count_access:
            bank.accesses.count(found)
        return replace(found, pending=pending) if pending else found

    @does(PromptContext)
    def context(self, asked: PromptContext) -> Context:
        from everwhen.models.embedder import count_tokens
        from everwhen.recall.budget import NO_ROOM, fill
        from everwhen.recall.calendar.annotation import as_said

        clock, half = self._bank.clock(asked.at), asked.max_tokens // 2
        times = asked.read_times(clock)
        day = min(_day_began(clock), times["as_of"] or FOREVER)
        since = min(clock.last(asked.stable_at, "stable_at") or day, times["as_of"] or FOREVER)
        room = half - count_tokens(framed(STANDING, "")) - SEAMS
        since, known, news = self._known(since, day, room, times["known_at"])
        stable = framed(STANDING, known) if known else ""
        parts = [framed(CHANGED, news)] if news else []
        heading = f"{_today(clock)}\n{PREAMBLE}"
        room = half - count_tokens("\n\n".join([*parts, framed(heading, "")])) - SEAMS
        if room < 1:
            fresh = "".join(parts)
            return Context(
                stable, fresh, count_tokens(stable) + count_tokens(fresh), Recall(asked.query, (), 0), since
            )
        # What the model sees anyway takes no room from the rest.
        seen = {one.strip() for one in asked.shown}
        wide = room + sum(count_tokens(one) + BESIDE for one in seen)
        found = self.recall(
            RecallMemories(asked.query, at=asked.at, budget=asked.budget, max_tokens=wide, **times)
        )
        if not is_question(asked.query):
            room = int(room * min(1.0, max(LEAST_ROOM, found.trace["answerable"] / ASKING)))
        wanted = (
            [one for one in found if one.text.strip() not in seen]
            if _says_something(asked.query, found)
            else []
        )
        kept, left, used = fill(wanted, room, list(map(as_said, wanted)))
        dropped = (*found.dropped, *(Dropped(one.id, NO_ROOM, one.score) for one in left))
        found = replace(found, memories=tuple(kept), tokens=used, dropped=dropped)
        fresh = "\n\n".join([*parts, framed(heading, found.as_context())] if kept else parts)
        return Context(stable, fresh, count_tokens(stable) + count_tokens(fresh), found, since)

    def _known(
        self, since: datetime, day: datetime, room: int, known_at: datetime | None
    ) -> tuple[datetime, str, str]:
        """What was known at an instant, and what changed from then until the day began; of which instant it is.

        Where more changed than there is room for, it is what was known when the day began.
        """
        from everwhen.models.embedder import count_tokens
        from everwhen.tree.node_reader import changed, standing

        bank, levels = self._bank, self._tree.levels()
        known = standing(bank.store, levels, since, bank.facts.half_lives, room, known_at)
        if since >= day:
            return since, known, ""
        now = standing(bank.store, levels, day, bank.facts.half_lives, room, known_at)
        if now == known:
            return since, known, ""
        news = changed(bank.store, levels, day, bank.facts.half_lives, known, now, known_at)
        if count_tokens(news) > room * NEWS:
            return day, now, ""
        return since, known, news

    @does(MostAccessed)
    def accessed(self, asked: MostAccessed) -> list[Accessed]:
        return self._bank.accesses.most(asked.limit)


def _day_began(clock: TimeReader) -> datetime:
    """The last instant before the day of asking, in the bank's zone."""
    day = clock.now.astimezone(zone_of(clock.zone)).replace(hour=0, minute=0, second=0, microsecond=0)
    return day.astimezone(UTC) - timedelta(microseconds=1)


def _today(clock: TimeReader) -> str:
    day = clock.now.astimezone(zone_of(clock.zone)).date()
    return f"Today is {day.isoformat()} {WEEKDAYS[day.weekday()]}."


def _says_something(query: str, found: Recall) -> bool:
    """Whether a query has anything to look for: "ok" recalls what is near to no words at all."""
    plan = found.trace.get("plan", {})
    return bool(keywords(query) or plan.get("about") or plan.get("time"))


def said_by(window: Interval | None, as_of: datetime | None) -> Interval | None:
    """The window cut to what had been said by an instant, that instant included."""
    if as_of is None:
        return window
    end = as_of + timedelta(microseconds=1)
    start = window.start if window else None
    if window and window.end:
        end = min(end, window.end)
    return Interval(start if start is None or start <= end else end, end, "second")
