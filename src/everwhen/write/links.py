"""Links between units: near in time, near in meaning, cause and effect.

Each unit keeps its own bounded list of neighbours of its kind for each type (a turn's are turns, an event's are
events), so that both ends know of one another and a busy day or a phrase said a thousand times costs no more than
a quiet one. The lists depend on the units alone, not on the order of arrival; where two neighbours are equally
near, the one that was written first stays.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

import numpy as np

from everwhen.store.rows import Moment, Vectors
from everwhen.store.sql.graph import GraphStore
from everwhen.store.sql.graph_writer import GraphWriter

TEMPORAL_WINDOW = timedelta(hours=24)
TEMPORAL_FLOOR = 0.3
TEMPORAL_MOST = 10
"""TEMPR: within 24 h, `max(0.3, 1 - gap / 24 h)`, five to ten a unit."""
SEMANTIC_FLOORS = {"conversation-1": 0.92}
SEMANTIC_FLOOR = 0.7
SEMANTIC_MOST = 5
"""TEMPR: cosine above 0.7 (as many pass 0.92 with the packaged model), weight = cosine, three to five a unit."""
CANDIDATES = 32
"""Similar units that are looked at for one; where there are more, they are copies of one another."""

Similar = list[tuple[int, float]]


def temporal_weight(gap: timedelta) -> float:
    return max(TEMPORAL_FLOOR, 1.0 - gap / TEMPORAL_WINDOW)


def link_in_time(write: GraphWriter, units: Iterable[int]) -> None:
    """Give new units, and those that they came to stand next to, their neighbours in time."""
    new = set(units)
    # So many are next to a new unit, and have so many next to themselves.
    line = write.timeline(new, 2 * TEMPORAL_MOST)
    affected: set[int] = set()
    for place, moment in enumerate(line):
        if moment.unit in new:
            near = range(max(0, place - TEMPORAL_MOST), min(len(line), place + TEMPORAL_MOST + 1))
            affected.update(other for other in near if line[other].kind == moment.kind)
    write.relink("temporal", {line[place].unit: _nearest(line, place) for place in sorted(affected)})


def _nearest(line: Sequence[Moment], place: int) -> list[tuple[int, float]]:
    """The nearest in time of the neighbours on both sides of a place."""
    _, kind, at = line[place]
    around = line[max(0, place - TEMPORAL_MOST) : place + TEMPORAL_MOST + 1]
    near = [
        (gap, other.unit)
        for other in around
        if other.kind == kind and (gap := abs(other.at - at)) < TEMPORAL_WINDOW and other is not line[place]
    ]
    return [(unit, temporal_weight(gap)) for gap, unit in sorted(near)[:TEMPORAL_MOST]]


def link_floor(embedder: str, chosen: float | None) -> float:
    """The cosine above which two units are linked: the one that is set, else that of the embedder."""
    return SEMANTIC_FLOORS.get(embedder, SEMANTIC_FLOOR) if chosen is None else chosen


def similar_units(
    graph: GraphStore, vectors: Vectors, kind: str, embedder: str, chosen: float | None
) -> list[Similar]:
    """For each vector the units already known that are near in meaning."""
    return graph.similar(vectors, kind, link_floor(embedder, chosen), CANDIDATES) if len(vectors) else []


def similar_among(
    units: Sequence[int], vectors: Vectors, embedder: str, chosen: float | None = None
) -> list[Similar]:
    """For each unit of a batch the others of the batch that are near in meaning."""
    if not len(vectors):
        return []
    cosines = vectors @ vectors.T
    found: list[Similar] = []
    for place, row in enumerate(cosines):
        others = (
            int(other) for other in np.flatnonzero(row > link_floor(embedder, chosen)) if other != place
        )
        near = [(units[other], float(row[other])) for other in others]
        found.append(sorted(near, key=lambda one: (-round(one[1], 4), one[0]))[:CANDIDATES])
    return found


def link_in_meaning(write: GraphWriter, found: Mapping[int, Similar]) -> None:
    """The lists of new units, and their places in the lists of those they are near to; each list is written once."""
    # They were looked for before this transaction began.
    here = write.present({*found, *(other for similar in found.values() for other, _ in similar)})
    there = {unit: similar for unit, similar in found.items() if unit in here}
    found = {unit: [one for one in similar if one[0] in here] for unit, similar in there.items()}
    met = {other for similar in found.values() for other, _ in similar} - found.keys()
    before = {unit: dict(near) for unit, near in write.links_of(met, "semantic").items()} if met else {}
    lists = {unit: dict[int, float]() for unit in found} | {unit: dict(before.get(unit, {})) for unit in met}
    for unit, similar in found.items():
        for other, cosine in similar:
            if other != unit:
                lists[unit][other] = lists[other][unit] = cosine
    best = {unit: _best(near) for unit, near in lists.items()}
    # A new unit's list is always written.
    changed = {unit for unit in best if unit in found or dict(best[unit]) != before.get(unit, {})}
    write.relink("semantic", {unit: near for unit, near in best.items() if unit in changed})


def _best(similar: dict[int, float]) -> list[tuple[int, float]]:
    # Rounded, so that a cosine does not depend on how many were multiplied at once.
    rounded = {unit: round(cosine, 4) for unit, cosine in similar.items()}
    return sorted(rounded.items(), key=lambda one: (-one[1], one[0]))[:SEMANTIC_MOST]


def link_causes(write: GraphWriter, causes: Iterable[tuple[int, int, float]]) -> None:
    """Events brought about others: cause, effect and weight; both ends know it."""
    added: dict[int, dict[int, float]] = {}
    for cause, effect, weight in causes:
        added.setdefault(cause, {})[effect] = weight
        added.setdefault(effect, {})[cause] = weight
    if added:
        before = write.links_of(added, "causal")
        lists = {unit: sorted({**dict(before.get(unit, ())), **new}.items()) for unit, new in added.items()}
        write.relink("causal", lists)
