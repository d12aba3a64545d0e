"""Another embedder for a whole bank: every memory embedded again, replaced in one transaction.

And token vectors for turns that have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from everwhen.models.embed import Embedder, gives_tokens
from everwhen.models.embed.base import centroid
from everwhen.models.embed.date_prefix import LocalTime, embed_derived
from everwhen.settings import Settings
from everwhen.store.base import Store
from everwhen.store.maintenance import TurnForgotten
from everwhen.store.vector_model import VectorModel
from everwhen.types import Finding, Turn
from everwhen.write.embedding import embed_spoken
from everwhen.write.remember import in_batches, spoken


def reembed(
    store: Store,
    embedder: Embedder,
    name: str,
    settings: Settings,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Replace all vectors at once: readers see the old ones, and writers go on, until the new ones are there."""
    vectors: dict[str, NDArray[np.float32]] = {}
    codes: dict[str, bytes] = {}
    waiting: Iterable[Turn] = store.turns()
    while True:
        for batch in in_batches(waiting, settings.batch):
            contexts = store.contexts([turn.id for turn in batch])
            texts = [spoken(turn, contexts.get(turn.id, ""), settings) for turn in batch]
            for turn, one in zip(batch, embed_spoken(embedder, texts), strict=True):
                vectors[turn.id], codes[turn.id] = one
            if progress:
                progress(len(vectors))
        others = chain(store.graph.derived_texts(), store.facts.texts())
        # The same id has the same words for ever: what was embedded in the round before is not embedded again.
        for derived in in_batches((one for one in others if one[0] not in vectors), settings.batch):
            vectors.update(embed_units(store, embedder, dict(derived), settings))
        for id_, text, consolidator, turns in store.tree.for_reembedding():
            # What quotes turns points where they point; a model's words have a meaning of their own.
            vectors[id_] = (
                centroid(np.stack([vectors[turn][0] for turn in turns]))
                if consolidator == "extractive" and all(turn in vectors for turn in turns)
                else embed_units(store, embedder, {id_: text}, settings)[id_]
            )
        missing = store.replace_vectors(name, embedder.dim, vectors, codes)
        if not missing:
            return
        waiting = store.turns(ids=missing)  # added meanwhile


def embed_units(
    store: Store, embedder: Embedder, texts: Mapping[str, str], settings: Settings
) -> dict[str, NDArray[np.float32]]:
    """The vectors of derived units by id, with their dates where the setting says so."""
    dates = None
    if settings.date_in_embedding:
        known = store.keep.unit_dates(list(texts))
        if len(known) < len(texts):
            raise TurnForgotten("a derived unit was forgotten while it was being embedded")
        dates = [LocalTime(*known[id_]) for id_ in texts]
    return dict(zip(texts, embed_derived(embedder, list(texts.values()), dates), strict=True))


def check_codes(store: Store, embedder: Embedder, settings: Settings, *, fix: bool) -> list[Finding]:
    """Doctor's question to the embedder: has every turn the token vectors that it would give? `fix` makes them.

    A turn without them is found as before, and takes no part in late interaction.
    """
    if not gives_tokens(embedder) or not embedder.code_format:
        return []
    missing = store.turns_without_codes(embedder.code_format)
    if not missing:
        return []
    if fix:
        for ids in in_batches(missing, settings.batch):
            turns, contexts = list(store.turns(ids=ids)), store.contexts(ids)
            texts = [spoken(turn, contexts.get(turn.id, ""), settings) for turn in turns]
            made = zip(turns, embed_spoken(embedder, texts), strict=True)
            store.put_codes({turn.id: one.codes for turn, one in made}, VectorModel.of(embedder))
    problem = f"{len(missing)} turns have no token vectors, and are ranked without late interaction"
    advice = "" if fix else "; `everwhen bank doctor --fix` makes them"
    return [Finding("tokens", problem + advice, fixed=fix)]
