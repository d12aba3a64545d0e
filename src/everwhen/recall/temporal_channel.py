"""The temporal channel: finds what was said, or happened, in the time that a question names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from everwhen.instants import from_micros
from everwhen.recall.graph_channel import Edges, lead_back, spread
from everwhen.recall.query_embedding import ASKED
from everwhen.recipes import MID, Recipe
from everwhen.store import Filter, Scored, Store
from everwhen.store.scan import Scan
from everwhen.types import UnitRow
from everwhen.when import Grain, Interval

POOL = 3
"""Candidates looked at for each that is an entry: where links may lead."""
DERIVED = frozenset({"event", "narrative", "fact"})
EDGE = 0.5
"""What a window's very edge counts for, of one in its middle. To the question both lie inside; the middle is favoured
because a window that is only about right ("around May") errs at its edges."""
DAYS: Mapping[Grain, float] = {
    "second": 1 / 24, "minute": 1 / 24, "hour": 1 / 24, "day": 1.0, "week": 7.0, "month": 30.4, "quarter": 91.3,
    "season": 91.3, "year": 365.25, "decade": 3652.5, "century": 36525.0,
}  # fmt: skip
"""How long a grain is, about: the precision with which a time was named. Nobody means less than an hour."""
_DAY = timedelta(days=1)


def temporal(
    store: Store,
    scan: Scan,
    windows: Sequence[Interval],
    limit: int,
    where: Filter,
    recipe: Recipe = MID,
) -> list[Scored]:
    """Turns (and facts) of the asked time that are similar to the question, best first.

    `windows` are those of the question's constraint; where it names several ("in March or in May") one is enough.
    Entries are the `limit` most similar turns said in a window, and events, narratives and facts that overlap one, at
    a cosine of at least `temporal_similarity`. Each has its closeness, which spreads over temporal links to others that
    are inside and similar too: `c(v) = max(c(v), c(u) w(u, v) decay)`. The score is closeness times cosine: inside
    the window all have the right time, and what they say tells them apart.
    """
    inside = _inside(store, scan, windows, limit * POOL, where, recipe.temporal_similarity)
    entries = dict(list(inside.items())[:limit])

    def linked(units: Sequence[int]) -> Edges:
        edges: dict[int, list[tuple[int, float]]] = {unit: [] for unit in units}
        for link in store.graph.neighbours(units, ("temporal",), recipe.min_edge):
            if link.target in inside:
                edges[link.source].append((link.target, link.weight))
        return edges

    scores = spread(
        linked, entries, decay=recipe.temporal_decay, min_edge=recipe.min_edge, stop=0.0, limit=len(inside)
    )
    return lead_back(store, scan, scores, where)[:limit]


def _inside(
    store: Store,
    scan: Scan,
    windows: Sequence[Interval],
    pool: int,
    where: Filter,
    similarity: float,
) -> dict[int, float]:
    """Units that lie in a window, the most similar first, with their closeness."""
    cosines: dict[int, float] = {}
    times: dict[int, Interval] = {}
    for window in windows:
        between = window if where.between is None else where.between.intersection(window)
        if between is None:
            continue
        found = scan.near(ASKED, pool, similarity, {"turn"}, between)
        cosines |= dict(found)
        said_at = scan.said_at([unit for unit, _ in found])
        times |= {unit: Interval(from_micros(at), from_micros(at), "second") for unit, at in said_at.items()}
    derived = dict(scan.near(ASKED, pool, similarity, DERIVED))
    cosines |= derived
    times |= _occurred(store, store.units(list(derived)) if derived else {}, where)
    best = {unit: max((closeness(when, one) for one in windows), default=0.0) for unit, when in times.items()}
    return {
        unit: best[unit] for unit in sorted(times, key=lambda one: (-cosines[one], one)) if best[unit] > 0
    }


def _occurred(store: Store, rows: Mapping[int, UnitRow], where: Filter) -> dict[int, Interval]:
    """When each derived unit was: what occurred, or what a fact says of its validity."""
    times = {seq: row.occurred for seq, row in rows.items() if row.occurred is not None}
    facts = {row.id: seq for seq, row in rows.items() if row.kind == "fact"}
    if facts:
        for fact in store.facts.by_id(list(facts), where.known_at):
            times[facts[fact.id]] = Interval(fact.valid_from, fact.valid_to)
    return times


def closeness(when: Interval, window: Interval) -> float:
    """How well an instant or interval lies in a window: 0 outside, else from 0.5 at its edges to 1 in its middle.

        c = e + (1 - e) (1 - |t - mid| / radius)          e = 0.5

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
        return EDGE + (1 - EDGE) * max(0.0, 1 - off)
    edge = window.start or window.end
    # The nearest that it comes to the named side: what goes on without an end has no middle.
    near = shared.start if window.start is not None else shared.end
    if edge is None or near is None:
        return 1.0
    scale = DAYS[window.grain]
    return EDGE + (1 - EDGE) * scale / (scale + abs(near - edge) / _DAY)


def _shared(when: Interval, window: Interval) -> Interval | None:
    """What the two share; an instant shares itself."""
    if when.start is not None and when.start == when.end:
        return when if window.contains(when.start) else None
    return when.intersection(window)
