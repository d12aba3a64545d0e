"""Chroma, on disk, with vectors given: its local store has no keyword ranking to fuse them with."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path

from everwhen_bench.peers.base import Lent, Said

BATCH = 5000
"""Chroma refuses more rows at once than SQLite has variables for (5,461)."""


class Chroma:
    def __init__(self, folder: Path, lent: Lent) -> None:
        import chromadb

        settings = chromadb.config.Settings(anonymized_telemetry=False)
        self._client = chromadb.PersistentClient(path=str(folder), settings=settings)
        self._turns = self._client.create_collection(
            "turns", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )
        self._lent = lent

    def add(self, turns: Sequence[Said]) -> None:
        for first in range(0, len(turns), BATCH):
            some = turns[first : first + BATCH]
            self._turns.add(
                ids=[turn.id for turn in some],
                embeddings=self._lent.embed([turn.text for turn in some]),
                documents=[turn.text for turn in some],
                metadatas=[{"session": turn.session, "at": turn.at} for turn in some],
            )

    def search(self, query: str, k: int, at: datetime | None) -> list[str]:
        found = self._turns.query(query_embeddings=[self._lent.ask(query)], n_results=k)
        return list(found["ids"][0])

    def close(self) -> None:
        self._client.clear_system_cache()


def open_peer(folder: Path, lent: Lent, variant: str) -> Chroma:
    return Chroma(folder, lent)
