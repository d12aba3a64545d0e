"""LanceDB's hybrid search: vectors and its own full-text index, fused by its reciprocal ranks."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from everwhen_bench.peers.base import Lent, Said


class Lance:
    def __init__(self, folder: Path, lent: Lent) -> None:
        import lancedb
        from lancedb.rerankers import RRFReranker

        self._base = lancedb.connect(str(folder))
        self._fusion = RRFReranker()
        self._lent = lent
        self._table: Any = None

    def add(self, turns: Sequence[Said]) -> None:
        vectors = self._lent.embed([turn.text for turn in turns])
        rows = [
            {"id": turn.id, "session": turn.session, "at": turn.at, "text": turn.text, "vector": vector}
            for turn, vector in zip(turns, vectors, strict=True)
        ]
        self._table = self._base.create_table("turns", rows)
        self._table.create_fts_index("text")

    def search(self, query: str, k: int, at: datetime | None) -> list[str]:
        asked = self._table.search(query_type="hybrid", vector_column_name="vector")
        found = asked.vector(self._lent.ask(query)).text(query).distance_type("cosine")
        return [row["id"] for row in found.rerank(self._fusion).limit(k).to_list()]

    def close(self) -> None:
        self._table = None


def open_peer(folder: Path, lent: Lent, variant: str) -> Lance:
    return Lance(folder, lent)
