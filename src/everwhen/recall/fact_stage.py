"""The facts stage: shows the facts that were found as they hold at the time asked about, each with its source turns."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from everwhen.facts.shown_facts import FactNote, FactScope, fact_note, holding
from everwhen.store.sql.store import Store
from everwhen.types import Dropped, HalfLives, Recalled, Why
from everwhen.types.instants import to_text
from everwhen.types.recall import FACT

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

    `asked` tells the moment that the question is about; it is called only when there may be facts to show.
    """
    leading = [memory.id for memory in ranked if memory.kind == "turn"][:TURNS]
    wanted = kinds is None or "fact" in kinds
    found = [memory.id for memory in ranked if memory.kind == "fact"]
    if not found and not (leading and wanted):
        return list(ranked), []
    moment = asked()
    facts = store.facts.shown(leading if wanted else [], found, moment.at, moment.known_at)
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
