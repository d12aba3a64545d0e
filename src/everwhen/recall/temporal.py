"""The temporal channel: what was said, or happened, in the time that a question names."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import timedelta

from everwhen.recall.graph import Edges, lead_back, spread
from everwhen.recall.question import ASKED
from everwhen.recall.recipe import MID, Recipe
from everwhen.store import Filter, Scored, Store, UnitRow
from everwhen.store.instants import from_micros
from everwhen.store.scan import Scan
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


def affinity(when: Interval, window: Interval) -> float:
    """How well a time fits a constraint, from 0 to 1, fading outside of the window rather than ending at it.

        f = mean over t in `when` of exp(-distance(t, window) / s)

    the chance that it was in the window, where it can have been at any time of `when`, and with the near misses of
    loose talk counting in part. Inside the window it is 1. s is half the window's length, but no less than half of
    its grain: "in 2021" forgives months, "on 3 May" hours. What has an open side ("since March") and touches the
    window holds in it: 1.
    """
    scale = _scale(window)
    if when.start is None or when.end is None or when.start == when.end:
        return math.exp(-_gap(when, window) / scale)
    start, end = when.start, when.end
    length = (end - start) / _DAY
    shared = _shared(when, window)
    total = 0.0 if shared is None or shared.length is None else shared.length / _DAY
    if window.start is not None and start < window.start:
        total += _faded((window.start - min(end, window.start)) / _DAY, (window.start - start) / _DAY, scale)
    if window.end is not None and end > window.end:
        total += _faded((max(start, window.end) - window.end) / _DAY, (end - window.end) / _DAY, scale)
    return min(total / length, 1.0)


def _faded(near: float, far: float, scale: float) -> float:
    """The integral of exp(-d / scale) from the near to the far distance."""
    return scale * (math.exp(-near / scale) - math.exp(-far / scale))


def _scale(window: Interval) -> float:
    length = window.length
    return max(0.0 if length is None else length / _DAY, DAYS[window.grain]) / 2


def _gap(when: Interval, window: Interval) -> float:
    """Days between the two; 0 where they touch. The last instant of a window is not in it, but next to it."""
    before = (window.start - when.end) / _DAY if window.start and when.end else 0.0
    after = (when.start - window.end) / _DAY if when.start and window.end else 0.0
    return max(before, after, 0.0)


def _shared(when: Interval, window: Interval) -> Interval | None:
    """What the two share; an instant shares itself."""
    if when.start is not None and when.start == when.end:
        return when if window.contains(when.start) else None
    return when.intersection(window)
