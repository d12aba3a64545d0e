"""Another embedder for a whole bank: every memory embedded again, replaced in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from everwhen.ingest.embedding import embed_spoken
from everwhen.ingest.remember import in_batches, spoken
from everwhen.models.embed import Embedder
from everwhen.settings import Settings
from everwhen.store import Store
from everwhen.types import Turn


def reembed(
    store: Store,
    embedder: Embedder,
    name: str,
    settings: Settings,
    progress: Callable[[int], None] | None = None,
) -> None:
    """Replace all vectors at once: readers see the old ones, and writers go on, until the new ones are there."""
    vectors: dict[str, NDArray[np.float32]] = {}
    waiting: Iterable[Turn] = store.turns()
    while True:
        for batch in in_batches(waiting, settings.batch):
            contexts = store.contexts([turn.id for turn in batch])
            texts = [spoken(turn, contexts.get(turn.id, ""), settings) for turn in batch]
            matrices = embed_spoken(embedder, texts)
            vectors.update((turn.id, matrix) for turn, matrix in zip(batch, matrices, strict=True))
            if progress:
                progress(len(vectors))
        for derived in in_batches(chain(store.graph.derived_texts(), store.facts.texts()), settings.batch):
            pieces = [embedder.pieces(text) for _, text in derived]
            flat = iter(embedder.embed([piece for several in pieces for piece in several]))
            vectors.update(
                (id_, np.stack([next(flat) for _ in several]))
                for (id_, _), several in zip(derived, pieces, strict=True)
            )
        missing = store.replace_vectors(name, embedder.dim, vectors)
        if not missing:
            return
        waiting = store.turns(ids=missing)  # added meanwhile
