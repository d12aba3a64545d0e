"""mem0 without an LLM (`infer=False`): every turn is a memory, in its default store, Qdrant on disk.

Its keyword search needs a model that fastembed downloads, and its entities come from an LLM: without both it ranks by
vectors alone, as its base installation does.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from everwhen_bench.peers.base import Lent, Said

USER = "bench"


class Mem0:
    def __init__(self, folder: Path, lent: Lent) -> None:
        from mem0 import Memory
        from mem0.utils import spacy_models

        # spaCy is there because everwhen is; mem0's own installation has none, and would download a model now.
        spacy_models._load_failed_full = spacy_models._load_failed_lemma = True
        store = {"path": str(folder / "qdrant"), "embedding_model_dims": lent.dim, "on_disk": True}
        unused = {"api_key": "unused"}
        self._memory = Memory.from_config(
            {
                "vector_store": {"provider": "qdrant", "config": store},
                "embedder": {"provider": "openai", "config": {**unused, "embedding_dims": lent.dim}},
                "llm": {"provider": "openai", "config": unused},
                "history_db_path": str(folder / "history.db"),
            }
        )
        self._memory.embedding_model = _LentModel(lent)
        self._ids: dict[str, str] = {}

    def add(self, turns: Sequence[Said]) -> None:
        for turn in turns:
            message = {"role": turn.message.role, "name": turn.speaker, "content": turn.text}
            self._memory.add([message], user_id=USER, infer=False, metadata={"turn": turn.id, "at": turn.at})

    def search(self, query: str, k: int, at: datetime | None) -> list[str]:
        found = self._memory.search(query, top_k=k, filters={"user_id": USER}, threshold=0.0)
        return [one["metadata"]["turn"] for one in found["results"]]

    def close(self) -> None:
        self._memory.vector_store.client.close()


class _LentModel:
    """Our embedder in the form of mem0's: one text at a time, as mem0 asks."""

    def __init__(self, lent: Lent) -> None:
        self._lent = lent

    def embed(self, text: str, memory_action: str | None = None) -> list[float]:
        vector = self._lent.ask(text) if memory_action == "search" else self._lent.embed([text])[0]
        rows: list[float] = vector.tolist()
        return rows

    def embed_batch(self, texts: Any, memory_action: str = "add") -> list[list[float]]:
        return [self.embed(text, memory_action) for text in texts]


def open_peer(folder: Path, lent: Lent, variant: str) -> Mem0:
    return Mem0(folder, lent)
