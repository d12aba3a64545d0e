"""mempalace: a drawer a turn. `raw` asks for the nearest drawers, `hybrid` its own search.

Its default model is the one that everwhen ships, but would be downloaded: ours is lent to it.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from everwhen_bench.peers.base import Lent, Said

BATCH = 1000


class Palace:
    def __init__(self, folder: Path, lent: Lent, variant: str) -> None:
        from mempalace import embedding

        model = _model(lent)
        embedding.get_embedding_function = lambda *_, **__: model
        from mempalace.palace import get_collection
        from mempalace.searcher import search_memories

        self._path, self._raw = str(folder / "palace"), variant == "raw"
        self._search: Any = search_memories
        self._drawers: Any = get_collection(self._path)

    def add(self, turns: Sequence[Said]) -> None:
        for first in range(0, len(turns), BATCH):
            some = turns[first : first + BATCH]
            self._drawers.upsert(
                documents=[turn.text for turn in some],
                ids=[turn.id for turn in some],
                metadatas=[
                    {"wing": "talk", "room": turn.session, "source_file": turn.id, "chunk_index": 0,
                     "filed_at": turn.at}
                    for turn in some
                ],
            )  # fmt: skip

    def search(self, query: str, k: int, at: datetime | None) -> list[str]:
        if self._raw:
            found = self._drawers.query(query_texts=[query], n_results=k, include=["distances"])
            return list(found["ids"][0])
        found = self._search(query, self._path, n_results=k, candidate_strategy="union")
        return [one["source_path"] for one in found["results"]]

    def close(self) -> None:
        self._drawers = None


def _model(lent: Lent) -> Any:
    """Our embedder in the form in which Chroma's embedding functions are made."""
    from chromadb.api.types import EmbeddingFunction

    class LentFunction(EmbeddingFunction[Any]):  # type: ignore[misc]
        def __init__(self) -> None:
            pass

        @staticmethod
        def name() -> str:
            return "default"

        def get_config(self) -> dict[str, Any]:
            return {}

        def __call__(self, input: Any) -> Any:
            return list(lent.embed(list(input)))

        def embed_query(self, input: Any) -> Any:
            return [lent.ask(text) for text in input]

    return LentFunction()


def open_peer(folder: Path, lent: Lent, variant: str) -> Palace:
    return Palace(folder, lent, variant)
