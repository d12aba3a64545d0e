"""LangGraph's long-term stores, in SQLite or in memory: nearest by cosine."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from everwhen_bench.peers.base import Lent, Said

SPACE = ("talk",)
BATCH = 256


class Store:
    def __init__(self, folder: Path, lent: Lent, variant: str) -> None:
        from langgraph.store.base import PutOp

        index: Any = {"dims": lent.dim, "embed": _model(lent), "fields": ["text"]}
        self._put = PutOp
        self._connection: sqlite3.Connection | None = None
        self._store: Any
        if variant == "sqlite":
            from langgraph.store.sqlite import SqliteStore

            self._connection = sqlite3.connect(
                folder / "store.db", check_same_thread=False, isolation_level=None
            )
            self._store = SqliteStore(self._connection, index=index)
            self._store.setup()
        else:
            from langgraph.store.memory import InMemoryStore

            self._store = InMemoryStore(index=index)

    def add(self, turns: Sequence[Said]) -> None:
        batch: dict[str, Said] = {}  # its in-memory store fails where a text comes twice in one
        for turn in turns:
            if turn.text in batch or len(batch) == BATCH:
                self._write(batch.values())
                batch = {}
            batch[turn.text] = turn
        self._write(batch.values())

    def _write(self, turns: Iterable[Said]) -> None:
        self._store.batch(
            [
                self._put(SPACE, turn.id, {"text": turn.text, "session": turn.session, "at": turn.at})
                for turn in turns
            ]
        )

    def search(self, query: str, k: int, at: datetime | None) -> list[str]:
        return [one.key for one in self._store.search(SPACE, query=query, limit=k)]

    def close(self) -> None:
        if self._connection:
            self._connection.close()


def _model(lent: Lent) -> Any:
    """Our embedder in the form of LangChain's."""
    from langchain_core.embeddings import Embeddings

    class LentModel(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            rows: list[list[float]] = lent.embed(texts).tolist()
            return rows

        def embed_query(self, text: str) -> list[float]:
            row: list[float] = lent.ask(text).tolist()
            return row

    return LentModel()


def open_peer(folder: Path, lent: Lent, variant: str) -> Store:
    return Store(folder, lent, variant)
