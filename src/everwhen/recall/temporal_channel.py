"""The temporal channel: finds what was said, or happened, in the time that a question names; the walk over links.

TEMPR, SATF and TiMem are systems of the source documents: docs/five-documents.md.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from heapq import heapify, heappop, heappush, nsmallest
from typing import TypeAlias

from everwhen.store.rows import Filter, Links, Near, Scored, Search, Timed
from everwhen.types import LinkType
from everwhen.types.recall import MID, Recipe
from everwhen_time import Grain, Interval

POOL = 3
"""Candidates with their times that are asked for, for each that is an entry: where links may lead."""
EDGE = 0.5
"""What a window's very edge counts for, of one in its middle. To the question both lie inside; the middle is favoured
because a window that is only about right ("around May") errs at its edges."""
LEAST = 0.1
"""The least that counts of what is inside: TEMPR's score gives an edge nothing."""
DAYS: Mapping[Grain, float] = {
    "second": 1 / 24, "minute": 1 / 24, "hour": 1 / 24, "day": 1.0, "week": 7.0, "month": 30.4, "quarter": 91.3,
    "season": 91.3, "year": 365.25, "decade": 3652.5, "century": 36525.0,
}  # fmt: skip
"""How long a grain is, about: the precision with which a time was named. Nobody means less than an hour."""
_DAY = timedelta(days=1)


def temporal(
    search: Search,
    timed: Sequence[Timed],
    windows: Sequence[Interval],
    limit: int,
    where: Filter,
    recipe: Recipe = MID,
) -> list[Scored]:
    """Turns (and facts) of the asked time that are similar to the question, best first.

    `windows` are those of the question's constraint; where it names several ("in March or in May") one is enough.
    Entries are the `limit` most similar of `timed` that lie in one: turns said then, and events, narratives and facts
    that overlap it. Each has its closeness, which spreads over temporal links to others that are inside too:
    `c(v) = max(c(v), c(u) w(u, v) decay)`. The score is closeness times cosine: inside the window all have the right
    time, and what they say decides. Without `temporal_cosine` it is the closeness alone, TEMPR's (`e` = 0).
    """
    inside = _inside(timed, windows, EDGE if recipe.temporal_cosine else 0.0)
    if not inside:
        return []
    units = {one.unit: Near(one.kind, one.cosine) for one in timed}
    links = LinkReader(
        search, lambda unit, _: unit in inside, ("temporal",), recipe.min_edge, made_of_too=False, units=units
    )
    links(list(inside))  # all that can be visited, in one reading
    scores = spread(
        links,
        dict(list(inside.items())[:limit]),
        decay=recipe.temporal_decay,
        min_edge=recipe.min_edge,
        stop=0.0,
        limit=len(inside),
    )
    return links.lead_back(scores, where, by_cosine=recipe.temporal_cosine)[:limit]


def _inside(timed: Sequence[Timed], windows: Sequence[Interval], edge: float) -> dict[int, float]:
    """Units that lie in a window, the most similar first, with their closeness."""
    found = {
        one.unit: max((closeness(one.when, window, edge) for window in windows), default=0.0)
        for one in sorted(timed, key=lambda one: (-one.cosine, one.unit))
    }
    return {unit: close for unit, close in found.items() if close > 0}


def closeness(when: Interval, window: Interval, edge: float = EDGE) -> float:
    """How well an instant or interval lies in a window: 0 outside, else from `edge` at its edges to 1 in its middle.

        c = max(0.1, e + (1 - e) (1 - |t - mid| / radius))

    t is the middle of what the two share. TEMPR's `1 - |t - mid| / radius` alone would give nothing at the edges,
    which are in the window as well. A window with one side open has no middle; there it is the distance d from the
    named side that counts, on the scale s of its grain: `c = e + (1 - e) s / (s + d)`.
    """
    shared = _shared(when, window)
    if shared is None:
        return 0.0
    if window.start is not None and window.end is not None:
        radius = (window.end - window.start) / 2
        t = shared.middle
        if not radius or t is None:
            return 1.0
        off = abs(t - (window.start + radius)) / radius
        return max(LEAST, edge + (1 - edge) * (1 - off))
    side = window.start or window.end
    # The nearest that it comes to the named side: what goes on without an end has no middle.
    near = shared.start if window.start is not None else shared.end
    if side is None or near is None:
        return 1.0
    scale = DAYS[window.grain]
    return max(LEAST, edge + (1 - edge) * scale / (scale + abs(near - side) / _DAY))


def _shared(when: Interval, window: Interval) -> Interval | None:
    """What the two share; an instant shares itself."""
    if when.start is not None and when.start == when.end:
        return when if window.contains(when.start) else None
    return when.intersection(window)


Edges: TypeAlias = Mapping[int, Sequence[tuple[int, float]]]
Neighbours: TypeAlias = Callable[[Sequence[int]], Edges]
"""For some units the edges that leave each: where to, and how strong."""

AHEAD = 32
"""Units whose edges are read at once: those that come next unless something stronger turns up meanwhile."""
KEPT_KINDS = frozenset({"turn", "fact"})
"""What comes out as itself where no kinds are asked for; an event or a narrative leads back to its turns."""
SAME_MEMORY = 1.0
"""The weight between a turn and what was made of it, as strong as a link can be; it decays like any other.
Without decay the events of the first hits take the budget (LoCoMo dev recall@10 of the channel 0.63, not 0.64)."""


def spread(
    neighbours: Neighbours,
    seeds: Mapping[int, float],
    *,
    decay: float,
    min_edge: float,
    stop: float,
    limit: int,
) -> dict[int, float]:
    """Spreading activation (Anderson 1983, in TEMPR's form): the visited units, the most active first.

    `a(v) = a(u) w(u, v) decay` along the best path from a seed, over edges of at least `min_edge` and while it is
    above `stop`. No edge weighs more than one, so the most active unit that is left can rise no further: it is
    visited next, until `limit` units are. Reading ahead changes what is read, never what is visited.
    """
    queue = [(-activation, unit) for unit, activation in seeds.items()]
    heapify(queue)
    best = dict(seeds)
    edges: dict[int, Sequence[tuple[int, float]]] = {}
    visited: dict[int, float] = {}
    while queue and len(visited) < limit:
        negative, unit = heappop(queue)
        if unit in visited:
            continue
        visited[unit] = -negative
        left = limit - len(visited)
        if unit not in edges and left:
            edges.update(neighbours([unit, *_next(queue, visited, edges, min(AHEAD, left) - 1)]))
        for other, weight in edges.get(unit, ()):
            passed_on = -negative * weight * decay
            if weight >= min_edge and passed_on > stop and passed_on > best.get(other, 0.0):
                best[other] = passed_on
                heappush(queue, (-passed_on, other))
    return visited


def _next(
    queue: list[tuple[float, int]], visited: Mapping[int, float], edges: Edges, count: int
) -> list[int]:
    coming = dict.fromkeys(unit for _, unit in nsmallest(2 * count, queue))
    return [unit for unit in coming if unit not in visited and unit not in edges][:count]


@dataclass(slots=True)
class LinkReader:
    """The links that spreading may follow, read for many units in one call and once for each."""

    search: Search
    enters: Callable[[int, Near], bool]
    """Whether a unit may be entered; one outside the filter never is."""
    types: Sequence[LinkType] | None
    min_edge: float
    fan_out: int = 50
    made_of_too: bool = True
    """Whether it follows what was made of what as well, as strong as a link can be."""
    units: dict[int, Near] = field(default_factory=dict)
    _edges: dict[int, list[tuple[int, float]]] = field(default_factory=dict)
    _turns: dict[int, set[int]] = field(default_factory=dict)
    """The turns that each derived unit was made of."""

    def __call__(self, units: Sequence[int]) -> Edges:
        new = [unit for unit in units if unit not in self._edges]
        if new:
            found = self._read(new, self.types)
            edges = list(found.edges)
            if self.made_of_too:
                for derived, turn in found.made_of:
                    edges += [(derived, turn, SAME_MEMORY), (turn, derived, SAME_MEMORY)]
            self._edges |= {unit: [] for unit in new}
            read = set(new)
            for source, target, weight in edges:
                near = self.units.get(target)
                if source in read and near is not None and self.enters(target, near):
                    self._edges[source].append((target, weight))
        return {unit: self._edges[unit] for unit in units}

    def _read(self, units: Sequence[int], types: Sequence[LinkType] | None) -> Links:
        found = self.search.links(units, types, self.min_edge, self.fan_out)
        self.units |= found.units
        for derived, turn in found.made_of:
            self._turns.setdefault(derived, set()).add(turn)
        return found

    def lead_back(
        self, activation: Mapping[int, float], where: Filter, *, by_cosine: bool = True
    ) -> list[Scored]:
        """Units with their activation as the memories that are shown, best first by activation times cosine.

        What was derived gives its activation to its turns. Nothing outside the filter comes out. Not `by_cosine`, the
        score is the activation alone, as TEMPR has it: what is two hops away has little in common with the question.
        """
        kinds = KEPT_KINDS if where.kinds is None else where.kinds
        whole = dict(activation)
        if "turn" in kinds:
            unread = [
                unit for unit in activation if unit not in self._edges and self.units[unit].kind != "turn"
            ]
            if unread:
                self._read(unread, ())
            for unit, active in activation.items():
                for turn in self._turns.get(unit, ()):
                    whole[turn] = max(whole.get(turn, 0.0), active)
        found = [
            Scored(unit, active * (max(self.units[unit].cosine, 0.0) if by_cosine else 1.0))
            for unit, active in whole.items()
            if unit in self.units and self.units[unit].kind in kinds
        ]
        return sorted(found, key=lambda one: (-one.score, one.unit))
