"""Where extracted facts go: the facts room's door for extractors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

from everwhen.facts.book import Words
from everwhen.facts.learn import ExtractedFact as Learned
from everwhen.facts.relearn import relearn
from everwhen.ingest.extract.base import ExtractedFact
from everwhen.models.embed import Embedder
from everwhen.store import Store
from everwhen.types import Turn


def learn_facts(
    store: Store,
    embedder: Embedder,
    facts: Sequence[ExtractedFact],
    turns: Mapping[str, Turn],
    around: Sequence[str] = (),
    *,
    dated: bool = False,
) -> int:
    """Give extracted facts, dated by the turns that they came from, to what is believed; how many are new.

    `turns` are all that were read: what was learned from them before and is not found any more is taken back.
    `around` are those that were read to understand them.
    """
    learned = [
        _learned(fact, turns[fact.turns[0]]) for fact in facts if fact.turns and fact.turns[0] in turns
    ]
    now = datetime.now(UTC)
    words = Words(embedder, store.info.zone if dated else None)
    return len(relearn(store.facts, words, list(turns), learned, now, [*turns, *around]))


def _learned(fact: ExtractedFact, turn: Turn) -> Learned:
    valid = fact.valid
    start = valid.start if valid is not None else None
    end = valid.end if valid is not None else None
    if start is None and end is not None and end <= turn.said_at:
        end = None  # it would end before anybody spoke of it: the words gave no beginning
    return Learned(
        subject=fact.subject,
        predicate=fact.predicate,
        object=fact.object,
        turns=fact.turns,
        at=turn.said_at,
        valid_from=start,
        valid_to=end,
        grain=valid.grain if valid is not None and start is not None else "second",
        confidence=fact.confidence,
        domain=fact.domain if fact.domain != "general" else None,
        origin="observation" if fact.origin == "stated" else "inference",
    )
