"""BM25 by bm25s, as strong as it gets: the best on LoCoMo dev of twelve settings.

They are its two lists of stop words or none, the Snowball stemmer or none, its own k1 and b or Anserini's.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from everwhen_bench.peers.base import Lent, Said

K1, B = 0.9, 0.4
STOP_WORDS = "en_plus"


class Bm25:
    def __init__(self, folder: Path) -> None:
        import bm25s
        import Stemmer

        self._folder, self._library = folder, bm25s
        self._stemmer = Stemmer.Stemmer("english")
        self._index = bm25s.BM25(k1=K1, b=B)
        self._ids: list[str] = []

    def add(self, turns: Sequence[Said]) -> None:
        self._ids = [turn.id for turn in turns]
        self._index.index(self._tokens([turn.text for turn in turns]), show_progress=False)

    def search(self, query: str, k: int, at: datetime | None) -> list[str]:
        places, _ = self._index.retrieve(
            self._tokens([query]), k=min(k, len(self._ids)), show_progress=False, n_threads=0
        )
        return [self._ids[int(place)] for place in places[0]]

    def close(self) -> None:
        self._index.save(str(self._folder))

    def _tokens(self, texts: list[str]) -> Any:
        return self._library.tokenize(texts, stopwords=STOP_WORDS, stemmer=self._stemmer, show_progress=False)


def open_peer(folder: Path, lent: Lent, variant: str) -> Bm25:
    return Bm25(folder)
