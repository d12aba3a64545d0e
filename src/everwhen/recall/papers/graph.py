"""TEMPR's graph channel: follows links from the most similar memories to related ones (spreading activation).

Source: the second of the five documents (docs/five-documents.md). Settings: `graph_recall`, `graph_seeds`,
`graph_seed_similarity`, `graph_similarity`, `graph_decay`, `graph_stop`, `min_edge`, `entity_fan_out`; recipes `TEMPR`
and `FOUR_WAY`. What it is worth: docs/retrieval.md, measured by `benchmarks/everwhen_bench/studies/channels.py`. The
walk itself is shared with the temporal channel (`recall/temporal_channel.py`), which is on the default path.
"""

from __future__ import annotations

from collections.abc import Sequence

from everwhen.recall.temporal_channel import LinkReader, spread
from everwhen.store.rows import Filter, Scored, Search
from everwhen.types import KINDS
from everwhen.types.recall import MID, Recipe

WALKED = frozenset(KINDS) - {"node"}
"""What the walk passes through. Nodes of the tree are linked to nothing: they come in only where they are asked for."""


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
