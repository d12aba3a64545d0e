"""The temporal channel: finds what was said, or happened, in the time that a question names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import timedelta

from everwhen.recall.graph_channel import LinkReader, spread
from everwhen.store.search import Filter, Near, Scored, Search, Timed
from everwhen.types.recipes import MID, Recipe
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
    time, and what they say tells them apart. Without `temporal_cosine` it is the closeness alone, TEMPR's (`e` = 0).
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
