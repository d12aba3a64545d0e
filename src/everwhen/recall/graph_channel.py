"""The graph channel: follows links from the most similar memories to related ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush, nsmallest
from typing import TypeAlias

from everwhen.store.search import Filter, Links, Near, Scored, Search
from everwhen.types import KINDS, LinkType
from everwhen.types.recipes import MID, Recipe

Edges: TypeAlias = Mapping[int, Sequence[tuple[int, float]]]
Neighbours: TypeAlias = Callable[[Sequence[int]], Edges]
"""For some units the edges that leave each: where to, and how strong."""

AHEAD = 32
"""Units whose edges are read at once: those that come next unless something stronger turns up meanwhile."""
KEPT_KINDS = frozenset({"turn", "fact"})
"""What comes out as itself where no kinds are asked for; an event or a narrative leads back to its turns."""
WALKED = frozenset(KINDS) - {"node"}
"""What the walk passes through. Nodes of the tree are linked to nothing: they come in only where they are asked for."""
SAME_MEMORY = 1.0
"""The weight between a turn and what was made of it, as strong as a link can be; it decays like any other.
Without decay the events of the first hits take the budget (LoCoMo dev recall@10 of the channel 0.63, not 0.64)."""


def graph(
    search: Search, seeds: Sequence[Scored], limit: int, where: Filter, recipe: Recipe = MID
) -> list[Scored]:
    """Turns (and facts) that links connect with the seeds, best first; at most `limit` units are visited.

    `seeds` are memories with their cosines, best first: those of the semantic channel, or of a fused order. A unit
    is entered only when its own cosine to the question is at least `graph_similarity`: a session's turns are all next
    to one another, and without this the walk would spend its budget on the first hit's neighbours, whatever they say.
    The score is activation times cosine, `a(u) cos(q, u)`: how it hangs together with what was found, and what it says
    itself (`graph_cosine`; without it the activation alone). The filter, that of the search, confines the walk as well
    as what comes out; only `kinds` are passed through.
    """
    walked = WALKED | (where.kinds or frozenset())
    chosen = {
        seed.unit: seed.score
        for seed in seeds[: recipe.graph_seeds]
        if seed.score >= recipe.graph_seed_similarity
    }
    if not chosen:
        return []
    links = LinkReader(
        search,
        lambda _, near: near.kind in walked and near.cosine >= recipe.graph_similarity,
        None,
        recipe.min_edge,
        recipe.entity_fan_out,
    )
    links(list(chosen))
    activation = spread(
        links,
        {
            unit: score
            for unit, score in chosen.items()
            if unit in links.units and links.units[unit].kind in walked
        },
        decay=recipe.graph_decay,
        min_edge=recipe.min_edge,
        stop=recipe.graph_stop,
        limit=limit,
    )
    return links.lead_back(activation, where, by_cosine=recipe.graph_cosine)


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
