"""Links between units: near in time, near in meaning, cause and effect.

A unit has one list of neighbours for each type of link, all of its own kind (a turn's are turns, an event's are
events). The lists in time and in meaning are bounded, so that a busy day, or a phrase said a thousand times, costs no
more than a quiet one; lists of causes are not bounded. A link is written in the lists of both ends, and which end is
the cause is not stored. Each list is cut by itself, so one end may keep a link that the other has dropped. The lists
depend on the units alone, not on the order of arrival; of two equally near neighbours the one written first stays.

Used by: the pipeline. Uses: `GraphWriter` for stored lists and the timeline. TEMPR is explained in
docs/five-documents.md.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta

import numpy as np

from everwhen.store.rows import Moment, Vectors
from everwhen.store.sql.graph import GraphStore
from everwhen.store.sql.graph_writer import GraphWriter

TEMPORAL_WINDOW = timedelta(hours=24)
LEAST_TEMPORAL_WEIGHT = 0.3
TEMPORAL_MOST = 10
"""TEMPR: within 24 h, `max(0.3, 1 - gap / 24 h)`, five to ten a unit."""
LEAST_COSINE = 0.7
LEAST_COSINE_OF_MODEL = {"conversation-1": 0.92}
SEMANTIC_MOST = 5
"""TEMPR: the weight is the cosine, above 0.7, three to five a unit. 0.7 is the paper's; with `conversation-1`, the
packaged model, as many pairs lie above 0.92."""
CANDIDATES = 32
"""Similar units that are looked at for one; where there are more, they are copies of one another."""

Similar = list[tuple[int, float]]
"""Units with their cosines, nearest first."""


def temporal_weight(gap: timedelta) -> float:
    return max(LEAST_TEMPORAL_WEIGHT, 1.0 - gap / TEMPORAL_WINDOW)


def link_in_time(write: GraphWriter, units: Iterable[int]) -> None:
    """Give new units, and those that they came to stand next to, their neighbours in time."""
    new = set(units)
    # A new unit changes the lists of TEMPORAL_MOST units on each side, and each of these looks as far again.
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


def least_cosine(embedder: str, chosen: float | None) -> float:
    """The cosine above which two units are linked: the one that is set, else that of the embedder."""
    return LEAST_COSINE_OF_MODEL.get(embedder, LEAST_COSINE) if chosen is None else chosen


def similar_units(
    graph: GraphStore, vectors: Vectors, kind: str, embedder: str, chosen: float | None
) -> list[Similar]:
    """For each vector the units already known that are near in meaning."""
    return graph.similar(vectors, kind, least_cosine(embedder, chosen), CANDIDATES) if len(vectors) else []


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
            int(other) for other in np.flatnonzero(row > least_cosine(embedder, chosen)) if other != place
        )
        near = [(units[other], float(row[other])) for other in others]
        found.append(sorted(near, key=lambda one: (-round(one[1], 4), one[0]))[:CANDIDATES])
    return found


def link_in_meaning(write: GraphWriter, found: Mapping[int, Similar]) -> None:
    """Write the lists of new units, and add these to the lists of the units they are near to; each list once."""
    # The similar units were found before this transaction began: some may be forgotten by now.
    existing = write.present({*found, *(other for similar in found.values() for other, _ in similar)})
    kept = {
        unit: [one for one in similar if one[0] in existing]
        for unit, similar in found.items()
        if unit in existing
    }
    touched = {other for similar in kept.values() for other, _ in similar} - kept.keys()
    stored = write.links_of(touched, "semantic") if touched else {}
    stored_links = {unit: dict(near) for unit, near in stored.items()}
    lists = {unit: dict[int, float]() for unit in kept}
    lists |= {unit: dict(stored_links.get(unit, {})) for unit in touched}
    for unit, similar in kept.items():
        for other, cosine in similar:
            if other != unit:
                lists[unit][other] = lists[other][unit] = cosine
    best = {unit: _best(near) for unit, near in lists.items()}
    # A new unit's list is always written.
    changed = {unit for unit in best if unit in kept or dict(best[unit]) != stored_links.get(unit, {})}
    write.relink("semantic", {unit: near for unit, near in best.items() if unit in changed})


def _best(similar: dict[int, float]) -> list[tuple[int, float]]:
    # Rounded, so that a cosine does not depend on how many were multiplied at once.
    rounded = {unit: round(cosine, 4) for unit, cosine in similar.items()}
    return sorted(rounded.items(), key=lambda one: (-one[1], one[0]))[:SEMANTIC_MOST]


def link_causes(write: GraphWriter, causes: Iterable[tuple[int, int, float]]) -> None:
    """Add links between causes and their effects, given as cause, effect and weight, to the lists of both ends."""
    added: dict[int, dict[int, float]] = {}
    for cause, effect, weight in causes:
        added.setdefault(cause, {})[effect] = weight
        added.setdefault(effect, {})[cause] = weight
    if added:
        stored = write.links_of(added, "causal")
        lists = {unit: sorted({**dict(stored.get(unit, ())), **new}.items()) for unit, new in added.items()}
        write.relink("causal", lists)
