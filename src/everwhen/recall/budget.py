"""The last stages of a recall: facts as they hold at the time asked about, and the memories that fit in the tokens.

TEMPR, SATF and TiMem are systems of the source documents: docs/five-documents.md.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date
from heapq import heapify, heappop, heappush
from typing import NamedTuple

from everwhen.facts.shown_facts import FactNote, FactScope, fact_note, holding
from everwhen.recall.calendar.annotation import with_dates
from everwhen.recall.candidates import Request, timed
from everwhen.store.rows import AsOf
from everwhen.store.sql.store import Store
from everwhen.types import Dropped, HalfLives, Recalled, Why
from everwhen.types.recall import BREAK_TOKENS, HEADER_TOKENS, day_of, tokens_of
from everwhen.types.times import to_text
from everwhen.types.turns import FACT

TURNS = 5
"""The best turns beside which is shown what holds instead of what they tell."""


def show_facts(
    store: Store,
    ranked: Sequence[Recalled],
    asked: Callable[[], FactScope],
    half_lives: HalfLives,
    min_confidence: float | None,
    kinds: frozenset[str] | None,
) -> tuple[list[Recalled], list[Dropped]]:
    """The same ranking, with facts in words; a fact that no longer holds gives its place to its successor.

    `asked` gives the moment that the question is about; it is called only when there may be facts to show.
    """
    leading = [memory.id for memory in ranked if memory.kind == "turn"][:TURNS]
    wanted = kinds is None or "fact" in kinds
    found = [memory.id for memory in ranked if memory.kind == "fact"]
    if not found and not (leading and wanted):
        return list(ranked), []
    moment = asked()
    facts = store.facts.shown(leading if wanted else [], found, moment.at, moment.known_at)
    if moment.known_at is not None:
        # A fact is recorded when it was stated; it was held only from when its message was added.
        held = store.facts.believed_then([*facts.believed], AsOf(None, moment.known_at))
        seqs = {row.seq for row in held}
        believed = {id_: row for id_, row in facts.believed.items() if row.seq in seqs}
        facts = facts._replace(believed=believed)
    if not found and not facts.of_turns:
        return list(ranked), []
    shown = holding(facts, {**dict.fromkeys(found), **dict.fromkeys(facts.of_turns)}, moment)
    of_turn: dict[str, list[str]] = {}
    for fact, turns in facts.of_turns.items():
        for turn in turns:
            of_turn.setdefault(turn, []).append(fact)
    reasons = {memory.id: memory.why for memory in ranked}
    out: list[Recalled] = []
    dropped: list[Dropped] = []
    seen: set[str] = set()
    for memory in ranked:
        if memory.kind != "fact":
            out.append(memory)
        for fact_id in [memory.id] if memory.kind == "fact" else of_turn.get(memory.id, []):
            rows = [row for row in shown[fact_id] if row.id not in seen]
            if memory.kind != "fact":  # what a turn says itself need not be said again beside it
                rows = [row for row in rows if memory.id not in facts.sources.get(row.id, ())]
            if memory.kind == "fact" and not shown[fact_id]:
                dropped.append(Dropped(memory.id, "it does not hold at the time asked about", memory.score))
            for row in rows:
                seen.add(row.id)
                line = fact_note(facts, row, moment, half_lives)
                if min_confidence is not None and line.confidence < min_confidence:
                    dropped.append(Dropped(row.id, f"confidence {line.confidence:.2f} by now", memory.score))
                else:
                    out.append(_recalled(memory, line, moment, reasons.get(row.id)))
    return [
        replace(one, turns=tuple(source for source in one.turns if source in facts.turns))
        if one.kind == "fact"
        else one
        for one in out
    ], dropped


def _recalled(found: Recalled, line: FactNote, moment: FactScope, why: Why | None) -> Recalled:
    """A fact in the place of what led to it; its own reason, where it was found itself."""
    fact = line.fact
    return replace(
        found,
        id=fact.id,
        kind="fact",
        text=line.text,
        said_at=fact.recorded_at,
        zone=fact.zone or moment.zone,
        turns=fact.sources,
        session="" if found.kind == "fact" else found.session,
        speaker=FACT,
        tokens=line.tokens,
        occurred=fact.valid,
        why=why or Why(fused=found.why.fused),
        metadata={"subject": fact.subject, "predicate": fact.predicate, "object": fact.object,
                  "domain": fact.domain, "confidence": round(line.confidence, 4),
                  "valid_from": to_text(fact.valid_from), "valid_to": fact.valid_to and to_text(fact.valid_to)},
    )  # fmt: skip


SPARE = 1.25
"""Times the budget that is looked at where dates are added, so that what they crowd out makes room for something."""


class Selected(NamedTuple):
    """The memories that are given back, and those that are not; each in the order of relevance."""

    kept: list[Recalled]
    beyond: list[Recalled]
    """What would fit, and is more than was asked for."""
    left: list[Recalled]
    """What does not fit."""


def select(store: Store, ranked: Sequence[Recalled], request: Request, timings: dict[str, float]) -> Selected:
    """What fits, as its recipe shows it. Where not everything fits, dates and memories compete for the room; where
    everything does, or rank alone decides, dates take what is left."""
    by_rank = request.recipe.by_rank
    with timed(timings, "budget"):
        most = request.max_tokens
        kept, left, _ = fill_by_rank(ranked, most) if by_rank else fill(ranked, most)
        compete = bool(left) and not by_rank
    if request.recipe.dates and compete:
        with timed(timings, "dates"):
            near = _near(ranked, left, int(request.max_tokens * SPARE))
            dated = with_dates(store, near)
            kept, _, _ = fill(dated, request.max_tokens, _without_dates(dated, near))
            there = {one.id for one in kept}
            left = [one for one in ranked if one.id not in there]
    kept, beyond = kept[: request.top_k], [] if request.top_k is None else kept[request.top_k :]
    if request.recipe.dates and not compete:
        with timed(timings, "dates"):
            kept = _with_dates(store, kept, request.max_tokens)
    return Selected(kept, beyond, left)


def _near(ranked: Sequence[Recalled], left: Sequence[Recalled], max_tokens: int) -> list[Recalled]:
    """What fits, and beside it the best of what may fit instead of something that its dates crowd out."""
    outside = {one.id for one in left}
    room = max_tokens - sum([one.tokens for one in ranked if one.id not in outside])
    for one in sorted(left, key=lambda memory: -memory.score / max(memory.tokens, 1)):
        if one.tokens <= room:
            room -= one.tokens
            outside.discard(one.id)
    return [one for one in ranked if one.id not in outside]


def _with_dates(store: Store, kept: Sequence[Recalled], max_tokens: int) -> list[Recalled]:
    """All of them, with the dates for which there is room beside them, those of the best first."""
    room = max_tokens - tokens_of(kept)
    dated = with_dates(store, kept)
    out = []
    for one, plain in zip(dated, _without_dates(dated, kept), strict=True):
        more = one.tokens - plain.tokens
        out.append(one if more <= room else plain)
        room -= more if more <= room else 0
    return out


def _without_dates(dated: Sequence[Recalled], before: Sequence[Recalled]) -> list[Recalled]:
    return [
        replace(one, shown="", tokens=plain.tokens) if one.shown else one
        for one, plain in zip(dated, before, strict=True)
    ]


NO_ROOM = "no room in max_tokens"
"""The reason of what does not fit."""
BEYOND = "beyond top_k"
"""The reason of what would fit and is more than was asked for."""


def fill_by_rank(memories: Sequence[Recalled], max_tokens: int) -> tuple[list[Recalled], list[Recalled], int]:
    """The first ones that fit, up to the one that does not (TEMPR); then as `fill`."""
    lengths = range(1, len(memories) + 1)
    first = bisect_right(lengths, max_tokens, key=lambda length: tokens_of(memories[:length]))
    return list(memories[:first]), list(memories[first:]), tokens_of(memories[:first])


def fill(
    memories: Sequence[Recalled], max_tokens: int, otherwise: Sequence[Recalled] | None = None
) -> tuple[list[Recalled], list[Recalled], int]:
    """Those that fit, those that do not, and the tokens used: exactly those of `Recall.as_context(cut=0)`.

    A knapsack, filled greedily by value for each token: `score / cost`. A memory costs its tokens, and the date header
    above it where no other has brought that one, or the break before its session where that is not the day's first; so
    the first of a day makes the others cheaper. What does not fit is passed over, and a shorter one may still come in:
    the memory itself, if `otherwise` has a shorter version in its place. Given and returned in the order of relevance.
    Where everything fits, nothing is weighed, and where not even the shortest does, nothing more is.
    """
    if sum([memory.tokens for memory in memories]) + HEADER_TOKENS * len(memories) <= max_tokens:
        return list(memories), [], tokens_of(memories)
    groups = [(day_of(memory), memory.session) for memory in memories]
    of_day: dict[date, list[int]] = {}
    of_session: dict[tuple[date, str], list[int]] = {}
    for place, (day, session) in enumerate(groups):
        of_day.setdefault(day, []).append(place)
        of_session.setdefault((day, session), []).append(place)
    sessions: dict[date, set[str]] = {day: set() for day in of_day}
    versions = [memories] if otherwise is None else [memories, otherwise]
    shortest = [memory.tokens for memory in memories]
    if otherwise is not None:
        shortest = list(map(min, shortest, [memory.tokens for memory in otherwise]))
    worth = [-memory.score for memory in memories]
    waiting = [(worth[place] / max(cost + HEADER_TOKENS, 1), place) for place, cost in enumerate(shortest)]
    heapify(waiting)
    by_cost = deque(sorted(range(len(memories)), key=shortest.__getitem__))
    kept: dict[int, Recalled] = {}
    room = max_tokens
    while waiting and by_cost and shortest[by_cost[0]] <= room:
        _, place = heappop(waiting)
        if place in kept:
            continue
        day, session = groups[place]
        brought = sessions[day]
        extra = HEADER_TOKENS if not brought else 0 if session in brought else BREAK_TOKENS
        for version in versions:
            if version[place].tokens + extra <= room:
                kept[place] = version[place]
                break
        else:
            continue
        room -= kept[place].tokens + extra
        while by_cost and by_cost[0] in kept:
            by_cost.popleft()
        if session not in brought:  # others are cheaper now, also those that were passed over
            cheaper = of_session[day, session] if brought else of_day[day]
            brought.add(session)
            for other in cheaper:
                if other not in kept:
                    more = 0 if groups[other][1] in brought else BREAK_TOKENS
                    heappush(waiting, (worth[other] / max(shortest[other] + more, 1), other))
    return (
        [kept[place] for place in sorted(kept)],
        [memory for place, memory in enumerate(memories) if place not in kept],
        max_tokens - room,
    )
