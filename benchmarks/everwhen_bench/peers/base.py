"""The seam between the bench and a peer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Protocol

from everwhen.models.embedder import CachedEmbedder, Embedder, Vectors, open_embedder
from everwhen.store.files.home import cache_path
from everwhen.types import Message


@dataclass(frozen=True, slots=True)
class Said:
    """One turn as a peer is given it: its id, and its words with who said them in front."""

    id: str
    session: str
    speaker: str
    text: str
    at: str
    message: Message

    @classmethod
    def of(cls, message: Message) -> Said:
        at = message.said_at.isoformat() if message.said_at else ""
        text = f"{message.speaker}: {message.text}"
        return cls(str(message.id), str(message.session), message.speaker, text, at, message)


class Peer(Protocol):
    """A memory under test. Above: the worker. Below: one library, in a folder that is its own.

    Every module of a peer has `open_peer(folder, lent, variant) -> Peer`.
    """

    def add(self, turns: Sequence[Said]) -> None:
        """Remember the turns; when it returns they are kept and can be found."""
        ...

    def search(self, query: str, k: int, at: datetime | None) -> list[str]:
        """The ids of the best k turns, the best first."""
        ...

    def close(self) -> None:
        """Write what is to be kept, and let go of it."""
        ...


class Lent:
    """The embedder that all peers share: the one that ships with everwhen. It says how long it took.

    With a home its vectors are looked up in the home's cache, which a large run needs; without one every text is
    embedded, as a user would meet it.
    """

    def __init__(self, home: Path | None) -> None:
        inner: Embedder = open_embedder("conversation-1")
        self._embedder = CachedEmbedder(inner, cache_path(home)) if home else inner
        self._asking = inner
        self.home = home
        self.dim = inner.dim
        self.seconds = 0.0

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of what is remembered."""
        return self._timed(self._embedder, texts)

    def ask(self, text: str) -> Vectors:
        """The vector of a question, never from the cache."""
        vector: Vectors = self._timed(self._asking, [text])[0]
        return vector

    def _timed(self, embedder: Embedder, texts: Sequence[str]) -> Vectors:
        start = perf_counter()
        try:
            return embedder.embed(texts)
        finally:
            self.seconds += perf_counter() - start
