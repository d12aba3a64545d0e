"""What contradicts a fact that is held has to replace it: "good morning from Kyoto" does not move anybody.

The reader is shown the turn that told what is held and the one that tells otherwise, and the question that both would
answer. What it rules out is not learned.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from everwhen.facts.predicates import Predicates, folded
from everwhen.facts.rights import OWN, RIGHTS
from everwhen.models.reader import Passage, Reader
from everwhen.store.base import Store
from everwhen.types import Turn
from everwhen.types.relations import asked_of, relations
from everwhen.write.extract.base import ExtractedFact

RULED_OUT = -10.0
"""The logit below which the later turn does not replace the earlier one, whatever it seems to tell."""

Key = tuple[str, str]
"""A subject and a predicate, folded."""


def believed(
    store: Store, reader: Reader | None, facts: Sequence[ExtractedFact], turns: Mapping[str, Turn]
) -> list[ExtractedFact]:
    """The facts without those that contradict what is held and cannot replace it."""
    told = sorted(
        (one for one in facts if one.turns and one.turns[0] in turns),
        key=lambda one: turns[one.turns[0]].said_at,
    )
    if reader is None:
        return told
    predicates = Predicates(store.facts.predicates())
    held: dict[Key, tuple[str, Turn]] = {}
    found: list[ExtractedFact] = []
    for fact in told:
        turn, predicate = turns[fact.turns[0]], predicates.find(fact.predicate)
        if fact.status == "holds" and not predicate.multi:
            key = (folded(fact.subject), predicate.key)
            before = held.get(key) or _held(store, key, turn)
            is_other = before is not None and folded(before[0]) != folded(fact.object)
            if before is not None and is_other and _is_ruled_out(reader, fact, before[1], turn):
                continue
            if before is None or RIGHTS[fact.origin] >= OWN:  # nobody else's word is what is held
                held[key] = (fact.object, turn)
        found.append(fact)
    return found


def _held(store: Store, key: Key, turn: Turn) -> tuple[str, Turn] | None:
    """What holds when a turn is said, and the turn that told it."""
    for row in store.facts.valid_at(turn.said_at, {key[0]}, {key[1]}, None):
        sources = store.facts.sources([row.id]).get(row.id, [])
        before = [one for one in store.turns(ids=sources) if one.said_at < turn.said_at]
        if before:
            return row.object, before[0]
    return None


def _is_ruled_out(reader: Reader, fact: ExtractedFact, before: Turn, turn: Turn) -> bool:
    asks = next((one.questions for one in relations() if one.name == fact.predicate), ())
    if not asks:
        return False
    pair = (Passage(before.speaker, before.text), Passage(turn.speaker, turn.text))
    return float(reader.renews(asked_of(asks[0], fact.subject), [pair])[0]) < RULED_OUT
