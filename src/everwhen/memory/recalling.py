"""The memories that answer a question."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta

from everwhen.facts.fact_notes import FactScope
from everwhen.memory.bank import OpenBank
from everwhen.operations import does
from everwhen.operations.recall import MostAccessed, RecallMemories
from everwhen.recall import Request, recall
from everwhen.recipes import for_budget
from everwhen.store import Filter
from everwhen.types import Accessed, HalfLives, Recall
from everwhen.when import Interval

BY_DEFAULT = frozenset({"turn", "fact"})
"""Until recall decides how events take part, they are found only by those who ask for them."""


class Recalling:
    """Recall in one bank."""

    def __init__(self, bank: OpenBank) -> None:
        self._bank = bank

    @does(RecallMemories)
    def recall(self, asked: RecallMemories) -> Recall:
        bank, clock = self._bank, self._bank.clock(asked.at)
        now, then = clock.now, clock.last(asked.as_of, "as_of")
        window = clock.window(asked.between, asked.before, asked.after)
        where = Filter(
            between=said_by(window, then),
            known_at=clock.last(asked.known_at, "known_at"),
            kinds=BY_DEFAULT if not asked.kinds else frozenset(asked.kinds),
            networks=None if asked.networks is None else frozenset(asked.networks),
            metadata=asked.metadata or {},
        )
        pending = bank.settle() if asked.fresh else 0
        request = Request(
            query=asked.query,
            max_tokens=asked.max_tokens,
            at=now,
            where=where,
            order=asked.order,
            recipe=asked.recipe or for_budget(asked.budget, bank.settings),
            moment=FactScope(then or now, None if then else window, where.known_at, bank.zone)
            if then or window
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

    @does(MostAccessed)
    def accessed(self, asked: MostAccessed) -> list[Accessed]:
        return self._bank.accesses.most(asked.limit)


def said_by(window: Interval | None, as_of: datetime | None) -> Interval | None:
    """The window cut to what had been said by an instant, that instant included."""
    if as_of is None:
        return window
    end = as_of + timedelta(microseconds=1)
    start = window.start if window else None
    if window and window.end:
        end = min(end, window.end)
    return Interval(start if start is None or start <= end else end, end, "second")
