"""What a turn ends without telling anything new: after "I work at Siemens", "I quit last week".

The table of relations has sentences with which each of them ends. A turn with a clause that is built like one of them
(`ending_sentences`) is read beside the fact: "Is it still so that …?" A curve over what the reader replies is how sure
the end is (`fact_endings.json`, by `training/fit_endings.py`). Where the clause does not say what ends, only one fact
of that kind may be known; what lies ahead, or was a matter of hours, ends nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from pathlib import Path

from everwhen.facts.changes import INSTANT
from everwhen.facts.predicates import Predicates, folded
from everwhen.models.reader import KINDS, STATUSES, Passage, Reader, Reading
from everwhen.store.base import Store
from everwhen.types import Turn
from everwhen.types.relations import asked_of, relations
from everwhen.write.ending_sentences import ClauseShape, KnownFact, ending, relations_ended, shapes_of
from everwhen.write.extract.base import ExtractedFact
from everwhen.write.extract.reader_statements import Calibration, logit
from everwhen.write.extract.rule_extractor import is_told
from everwhen_time import Interval, resolve
from everwhen_time.sentences import pieces, sentence_at, sentence_place

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
        names = relations_ended(shapes)
        if names:
            known = _known(store, turn, names, told, turns)
            found += _ended(reader, turn, shapes, _meant(turn, shapes, known)[:MOST])
    return found


def _meant(
    turn: Turn, shapes: Sequence[ClauseShape], known: Sequence[KnownFact]
) -> list[tuple[KnownFact, ClauseShape]]:
    """The facts that a clause may end: by its name, or the only one of its kind."""
    kinds = Counter((folded(one.subject), one.relation.name) for one in known)
    found = []
    for one in known:
        told = ending(shapes, one, own=_is_own(one, turn))
        if told is not None and (told[1] or kinds[folded(one.subject), one.relation.name] == 1):
            found.append((one, told[0]))
    return found


def _is_own(one: KnownFact, turn: Turn) -> bool:
    return folded(one.subject) == folded(turn.speaker)


def _ended(
    reader: Reader, turn: Turn, shapes: Sequence[ClauseShape], known: Sequence[tuple[KnownFact, ClauseShape]]
) -> Iterator[ExtractedFact]:
    known = [(one, shape) for one, shape in known if not _is_elsewhen(turn, shape, one)]
    seen = read(reader, [(one, _is_own(one, turn), turn.text, shape.place, shapes) for one, shape in known])
    for (one, shape), signs in zip(known, seen, strict=True):
        if calibration().chance(signs) >= calibration().least:
            yield ExtractedFact(
                one.subject, one.relation.name, one.value, (turn.id,), one.relation.domain or "general",
                _since(turn, shape, one), one.sure, status="ended",
            )  # fmt: skip


def read(
    reader: Reader, asked: Sequence[tuple[KnownFact, bool, str, int, Sequence[ClauseShape]]]
) -> list[tuple[float, ...]]:
    """What the chance of each end is computed from: the fact, whether it is the speaker's, the text, where in it, and
    its clauses."""
    found, still = [], []
    for one, own, text, place, _ in asked:
        start, end = next((at for at in pieces(text, PIECE) if place < at[1]), (0, PIECE))
        fact = f"{SPEAKER if own else one.subject} {one.relation.name} {one.value}"
        passage = Passage(SPEAKER, text[start:end], f"{SPEAKER}: {one.told}")
        still.append((f"Is it still so that {fact}?", passage))
    readings = reader.read_each(still)
    for (one, own, _, _, shapes), (_, passage), reading in zip(asked, still, readings, strict=True):
        question = asked_of(one.relation.questions[0], SPEAKER if own else one.subject)
        pair = (Passage(SPEAKER, one.told), Passage(SPEAKER, passage.text))
        renews = float(reader.renews(question, [pair])[0])
        built = float(ending(shapes, one, own=own) is not None)
        found.append((*_signs(reading), renews, built))
    return found


def _signs(reading: Reading) -> tuple[float, ...]:
    chances = reading.kinds[_YES], reading.kinds[_NO], reading.statuses[_ENDED]
    return reading.relevance, *(logit(float(chance), 1e-3) for chance in chances)


def _known(
    store: Store, turn: Turn, names: set[str], told: Sequence[ExtractedFact], turns: Mapping[str, Turn]
) -> list[KnownFact]:
    """What holds when a turn is said, and may be ended by it; without what the turn itself tells of."""
    kinds = {one.name: one for one in relations() if one.name in names}
    mine = [one for one in told if turn.id in one.turns]
    own = {(folded(one.subject), one.predicate, _slot(one.predicate, one.object)) for one in mine}
    people = {folded(turn.speaker), *(folded(name) for name in _names(turn.text))}

    def is_meant(subject: str, name: str, value: str) -> bool:
        key = (folded(subject), name, _slot(name, value))
        return name in kinds and folded(subject) in people and key not in own

    found: dict[tuple[str, str, str], KnownFact] = {}
    for one in told:
        before = turns.get(one.turns[0]) if one.turns and one.status == "holds" else None
        earlier = before is not None and _order(before) < _order(turn)
        if before is not None and earlier and is_meant(one.subject, one.predicate, one.object):
            begun = one.valid.start if one.valid is not None and one.valid.start else before.said_at
            found[folded(one.subject), one.predicate, folded(one.object)] = KnownFact(
                one.subject, kinds[one.predicate], one.object, _sentence(before, one.object),
                one.confidence, begun,
            )  # fmt: skip
    rows = [row for one in sorted(people) for row in store.facts.valid_at(turn.said_at, {one}, None, None)]
    rows += [  # what it has ended before, when it is read again
        row for row in store.facts.by_id(store.facts.from_sources([turn.id])) if row.valid_from < turn.said_at
    ]
    predicates = Predicates(store.facts.predicates())
    named = {row.id: (row, predicates.find(row.predicate).name) for row in rows}
    named = {id_: one for id_, one in named.items() if is_meant(one[0].subject, one[1], one[0].object)}
    sources = store.facts.sources(list(named))
    for id_, (row, name) in named.items():
        first = next(iter(store.turns(ids=sources.get(id_, [])[:1])), None)
        text = _sentence(first, row.object) if first else f"{row.subject} {name} {row.object}."
        known = KnownFact(row.subject, kinds[name], row.object, text, row.confidence, row.valid_from)
        found.setdefault((folded(row.subject), name, folded(row.object)), known)
    return list(found.values())


def _slot(predicate: str, value: str) -> str:
    """What tells a fact from others of its kind: its value, where several hold at a time."""
    many = any(one.name == predicate and one.many for one in relations())
    return folded(value) if many else ""


def _names(text: str) -> set[str]:
    """Words with a capital, and several in a row, that may be somebody's name."""
    runs = [re.sub(r"['’]s?$", "", run) for run in _NAME.findall(text)]
    return {name for run in runs for name in (run, *run.split())}


def _sentence(turn: Turn, value: str) -> str:
    start = max(turn.text.casefold().find(value.casefold()), 0)
    return sentence_at(turn.text, start, start + 1)


def _order(turn: Turn) -> tuple[datetime, int]:
    return turn.said_at, turn.seq


def _times(turn: Turn, shape: ClauseShape) -> list[Interval]:
    start, end = sentence_place(turn.text, shape.place, shape.place + 1)
    found = resolve(turn.text[start:end], turn.said_at, turn.zone)
    return [one.interval for one in found if one.interval is not None and one.kind in ("point", "range")]


def _is_elsewhen(turn: Turn, shape: ClauseShape, known: KnownFact) -> bool:
    """Whether the sentence speaks of a time at which the fact cannot have ended: one to come, an hour, or one before
    it was told."""
    for time in _times(turn, shape):
        ahead = time.start is not None and time.start > turn.said_at
        early = known.since is not None and time.end is not None and time.end <= known.since
        if ahead or early or time.grain in ("hour", "minute"):
            return True
    return False


def _since(turn: Turn, shape: ClauseShape, known: KnownFact) -> Interval | None:
    """From when it holds no longer, where the sentence says one time that is over; never from before it was told."""
    times = _times(turn, shape)
    start = times[0].start if len(times) == 1 else None
    begun = known.since
    if begun is not None and (start or turn.said_at) <= begun:
        return Interval(max(turn.said_at, begun + INSTANT), None, "second")
    return Interval(start, None, times[0].grain) if start is not None else None


@cache
def calibration() -> Calibration:
    return Calibration.load(Path(__file__).with_name("fact_endings.json"))
