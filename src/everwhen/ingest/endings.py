"""What a turn ends without telling anything new: after "I work at Siemens", "I quit last week".

The table of relations has sentences with which each of them ends. A turn with a verb of those, or with a word such as
"any more", is read beside the facts of its speaker and of those whom it names: "Is it still so that …?" A curve over
what the reader replies, and over whether a clause is built like a sentence of the table (the same verb, said as done,
by the one whose fact it is, with the fact's value where the sentence has one), is how sure the end is
(`endings.json`, by `training/fit_endings.py`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files

from everwhen.facts.predicates import Predicates, folded
from everwhen.ingest.ending_sentences import Known, Shape, ending, ends_at, shapes_of
from everwhen.ingest.extract.base import ExtractedFact
from everwhen.ingest.extract.offline import is_told
from everwhen.models.reader import KINDS, STATUSES, Passage, Reader, Reading
from everwhen.relations import asked_of, relations
from everwhen.sentences import pieces, sentence_at, sentence_place
from everwhen.store import Store
from everwhen.types import Turn
from everwhen.when import Interval, resolve

SPEAKER = "user"
"""Who speaks, to the reader."""
PIECE = 280
"""Characters of a long turn that are read at once."""
MOST = 12
"""Facts that a turn is read beside."""
_NAME = re.compile(r"\b[A-Z][\w'’-]+(?:\s[A-Z][\w'’-]+)*")
_YES, _NO, _ENDED = KINDS.index("yes"), KINDS.index("no"), STATUSES.index("ended")


def endings(
    store: Store, reader: Reader | None, told: Sequence[ExtractedFact], turns: Mapping[str, Turn]
) -> list[ExtractedFact]:
    """The ends of facts that the turns tell of, beside what `told` says already."""
    found: list[ExtractedFact] = []
    for turn in sorted(turns.values(), key=_order):
        if reader is None or turn.role != "user" or not is_told(turn):
            continue
        shapes = shapes_of(turn)
        places = ends_at(turn.text, shapes)
        if places:
            known = _known(store, turn, set(places), told, turns)[:MOST]
            found += _ended(reader, turn, shapes, [(one, places[one.relation.name]) for one in known])
    return found


def _ended(
    reader: Reader, turn: Turn, shapes: Sequence[Shape], known: Sequence[tuple[Known, int]]
) -> Iterator[ExtractedFact]:
    own = [folded(one.subject) == folded(turn.speaker) for one, _ in known]
    seen = read(
        reader,
        [(one, mine, turn.text, place, shapes) for (one, place), mine in zip(known, own, strict=True)],
    )
    for (one, place), mine, signs in zip(known, own, seen, strict=True):
        chance = curve().chance(signs)
        if chance >= curve().least:
            shape = ending(shapes, one, own=mine)
            yield ExtractedFact(
                one.subject, one.relation.name, one.value, (turn.id,), one.relation.domain or "general",
                _since(turn, shape.place if shape else place), round(chance, 3), status="ended",
            )  # fmt: skip


def read(
    reader: Reader, asked: Sequence[tuple[Known, bool, str, int, Sequence[Shape]]]
) -> list[tuple[float, ...]]:
    """What the chance of each end is computed from: the fact, whether it is the speaker's, the text, where in it, and
    its clauses."""
    found = []
    pieces_read, facts = [], []
    for one, own, text, place, _ in asked:
        start, end = next(at for at in pieces(text, PIECE) if place < at[1])
        fact = f"{SPEAKER if own else one.subject} {one.relation.name} {one.value}"
        facts.append(fact)
        pieces_read.append(Passage(SPEAKER, text[start:end], f"{SPEAKER}: {one.told}"))
    readings = reader.read_each(
        [(f"Is it still so that {fact}?", passage) for fact, passage in zip(facts, pieces_read, strict=True)]
    )
    for (one, own, _, _, shapes), passage, reading in zip(asked, pieces_read, readings, strict=True):
        question = asked_of(one.relation.questions[0], SPEAKER if own else one.subject)
        pair = (Passage(SPEAKER, one.told), Passage(SPEAKER, passage.text))
        renews = float(reader.renews(question, [pair])[0])
        built = float(ending(shapes, one, own=own) is not None)
        found.append((*_signs(reading), renews, built))
    return found


def _signs(reading: Reading) -> tuple[float, ...]:
    kinds, ended = reading.kinds, reading.statuses[_ENDED]
    return reading.relevance, _logit(kinds[_YES]), _logit(kinds[_NO]), _logit(ended)


def _known(
    store: Store,
    turn: Turn,
    names: set[str],
    told: Sequence[ExtractedFact],
    turns: Mapping[str, Turn],
) -> list[Known]:
    """What holds when a turn is said, and may be ended by it; without what the turn itself tells of."""
    own = {(folded(one.subject), one.predicate) for one in told if turn.id in one.turns}
    kinds = {one.name: one for one in relations() if one.name in names}
    speaker, said = folded(turn.speaker), folded(turn.text)

    def is_meant(subject: str, predicate: str) -> bool:
        mine = folded(subject) == speaker or folded(subject) in said
        return mine and predicate in kinds and (folded(subject), predicate) not in own

    found: dict[tuple[str, str, str], Known] = {}
    for one in told:
        before = turns.get(one.turns[0]) if one.turns and one.status == "holds" else None
        if before is not None and _order(before) < _order(turn) and is_meant(one.subject, one.predicate):
            known = Known(one.subject, kinds[one.predicate], one.object, _sentence(before, one.object))
            found[folded(one.subject), one.predicate, folded(one.object)] = known
    people = {speaker, *(folded(name) for name in _NAME.findall(turn.text))}
    rows = [row for one in sorted(people) for row in store.facts.valid_at(turn.said_at, one, None, None)]
    rows += [  # what it has ended before, when it is read again
        row for row in store.facts.by_id(store.facts.from_sources([turn.id])) if row.valid_from < turn.said_at
    ]
    predicates = Predicates(store.facts.predicates())
    named = {row.id: (row, name) for row in rows if (name := predicates.find(row.predicate).name) in kinds}
    sources = store.facts.sources(list(named))
    for id_, (row, name) in named.items():
        if not is_meant(row.subject, name):
            continue
        first = next(iter(store.turns(ids=sources.get(id_, [])[:1])), None)
        text = _sentence(first, row.object) if first else f"{row.subject} {name} {row.object}."
        known = Known(row.subject, kinds[name], row.object, text)
        found.setdefault((folded(row.subject), name, folded(row.object)), known)
    return list(found.values())


def _sentence(turn: Turn, value: str) -> str:
    """The sentence of a turn that has a value."""
    start = max(turn.text.casefold().find(value.casefold()), 0)
    return sentence_at(turn.text, start, start + 1)


def _order(turn: Turn) -> tuple[datetime, int]:
    return turn.said_at, turn.seq


def _since(turn: Turn, place: int) -> Interval | None:
    """From when it holds no longer, where the sentence says one time that is over."""
    start, end = sentence_place(turn.text, place, place + 1)
    times = [
        one.interval
        for one in resolve(turn.text[start:end], turn.said_at, turn.zone, "past")
        if one.kind == "point" and one.interval is not None and one.interval.start is not None
    ]
    if len(times) != 1 or times[0].start is None or times[0].start > turn.said_at:
        return None
    return Interval(times[0].start, None, times[0].grain)


@dataclass(frozen=True, slots=True)
class Curve:
    """A logistic curve over what was read."""

    weights: tuple[float, ...]
    bias: float
    least: float
    """The chance from which a fact is ended."""

    def chance(self, signs: Sequence[float]) -> float:
        odds = self.bias + sum(w * x for w, x in zip(self.weights, signs, strict=True))
        return 1 / (1 + math.exp(-odds))


@cache
def curve() -> Curve:
    held = json.loads(files(__package__).joinpath("endings.json").read_text(encoding="utf-8"))
    return Curve(tuple(held["weights"]), held["bias"], held["least"])


def _logit(chance: float) -> float:
    inside = min(max(float(chance), 1e-3), 1 - 1e-3)
    return math.log(inside / (1 - inside))
