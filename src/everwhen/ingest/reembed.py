"""Another embedder for a whole bank: every memory embedded again, replaced in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterator
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
    """Replace all vectors. Readers see the old ones until the new ones are all there."""

    def vectors() -> Iterator[tuple[str, NDArray[np.float32]]]:
        last: dict[str, Turn] = {}
        done = 0
        for batch in in_batches(store.turns(), settings.batch):
            texts = []
            for turn in batch:
                texts.append(spoken(turn, last.get(turn.session), settings))
                last[turn.session] = turn
            matrices = embed_spoken(embedder, texts)
            yield from ((turn.id, matrix) for turn, matrix in zip(batch, matrices, strict=True))
            done += len(batch)
            if progress:
                progress(done)
        for derived in in_batches(chain(store.graph.derived_texts(), store.facts.texts()), settings.batch):
            pieces = [embedder.pieces(text) for _, text in derived]
            flat = iter(embedder.embed([piece for several in pieces for piece in several]))
            yield from (
                (id_, np.stack([next(flat) for _ in several]))
                for (id_, _), several in zip(derived, pieces, strict=True)
            )

    store.replace_vectors(name, embedder.dim, vectors())
