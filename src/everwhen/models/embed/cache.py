"""Vectors by content: a text that was embedded once is looked up the next time, in any process."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import TypeVar

import numpy as np

from everwhen.models.embed.base import Embedder, Vectors

Answer = TypeVar("Answer")

DEFAULT_LIMIT = 300_000  # about half a gigabyte of vectors of 384
BUSY_SECONDS = 0.25
RETRY_SECONDS = 30.0
EVICT_EVERY = 256
LOOKUP = 500

SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
    seq INTEGER PRIMARY KEY,      -- order of arrival: the oldest are evicted first
    key BLOB NOT NULL UNIQUE,     -- hash of model, width and text; the text itself is not kept
    vector BLOB NOT NULL          -- float32, so that a cached vector is the embedded one to the last bit
)
"""


class CachedEmbedder:
    """An embedder that remembers. Above: whoever embeds. Below: another embedder and one SQLite file.

    The cache never stands in the way: where the file is damaged, locked, read-only or on a full disk, texts
    are embedded as if there were none, and `problem` says why.
    """

    def __init__(self, inner: Embedder, path: Path, limit: int = DEFAULT_LIMIT) -> None:
        self.inner = inner
        self.path = path
        self.limit = limit
        self.problem: str | None = None
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._owner = 0
        self._retry_at = 0.0
        self._until_eviction = 0

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def dim(self) -> int:
        return self.inner.dim

    def pieces(self, text: str) -> list[str]:
        return self.inner.pieces(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        if not texts:
            return self.inner.embed(texts)
        keys = self._keys(texts)
        wanted = dict(zip(keys, texts, strict=True))
        known = self._try(lambda connection: _look_up(connection, list(wanted), self.dim)) or {}
        missing = [key for key in wanted if key not in known]
        if missing:
            fresh = self.inner.embed([wanted[key] for key in missing])
            known |= zip(missing, fresh, strict=True)
            self._try(lambda connection: self._remember(connection, missing, fresh))
        return np.stack([known[key] for key in keys])

    def forget(self, texts: Sequence[str]) -> bool:
        """Remove the vectors of these texts, from the file's free space too; False when that failed."""
        keys = self._keys(texts)
        if not keys or not self.path.exists():
            return True
        self._retry_at = 0.0
        return bool(self._try(lambda connection: _remove(connection, keys)))

    def close(self) -> None:
        with self._lock:
            self._drop()

    def _keys(self, texts: Iterable[str]) -> list[bytes]:
        model = blake2b(f"{self.name}\0{self.dim}\0".encode(), digest_size=16)
        keys = []
        for text in texts:
            key = model.copy()
            key.update(text.encode("utf-8", "surrogatepass"))
            keys.append(key.digest())
        return keys

    def _remember(self, connection: sqlite3.Connection, keys: list[bytes], vectors: Vectors) -> bool:
        rows = [(key, vector.astype("<f4").tobytes()) for key, vector in zip(keys, vectors, strict=True)]
        self._until_eviction -= len(rows)
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT OR IGNORE INTO vectors (key, vector) VALUES (?, ?)", rows)
            if self._until_eviction <= 0:
                # The span of seq is at least the number of rows, and its ends cost nothing to find.
                connection.execute(
                    "DELETE FROM vectors WHERE seq <= (SELECT max(seq) FROM vectors) - ?", (self.limit,)
                )
                self._until_eviction = EVICT_EVERY
        return True

    def _try(self, work: Callable[[sqlite3.Connection], Answer]) -> Answer | None:
        """What the work gives, or None when the file does not serve; then it is left alone for a while."""
        with self._lock:
            if time.monotonic() < self._retry_at:
                return None
            try:
                answer = work(self._open())
            except (sqlite3.Error, OSError) as error:
                self._drop()
                self._retry_at = time.monotonic() + RETRY_SECONDS
                self.problem = f"the embedding cache {self.path} is not used ({error}); it may be deleted"
                return None
            self.problem = None
            return answer

    def _open(self) -> sqlite3.Connection:
        # A connection must not cross a fork.
        if self._connection is None or self._owner != os.getpid():
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self.path.touch(mode=0o600)
            self._connection = _connect(self.path)
            self._owner = os.getpid()
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None and self._owner == os.getpid():
            self._connection.close()
        self._connection = None


def _connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        # Five vectors of 384 fill a page of 8 KiB; with the usual 4 KiB a quarter of the file is blank.
        connection.execute("PRAGMA page_size = 8192")
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA journal_size_limit = 4194304")
        # A power cut may lose the newest entries: they are embedded again.
        connection.execute("PRAGMA synchronous = NORMAL")
        # What is forgotten or evicted is overwritten: a vector tells much of its text.
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute(SCHEMA)
    except BaseException:
        connection.close()
        raise
    return connection


def _look_up(connection: sqlite3.Connection, keys: list[bytes], dim: int) -> dict[bytes, Vectors]:
    found: dict[bytes, Vectors] = {}
    for start in range(0, len(keys), LOOKUP):
        some = keys[start : start + LOOKUP]
        marks = ",".join("?" * len(some))
        for key, blob in connection.execute(f"SELECT key, vector FROM vectors WHERE key IN ({marks})", some):
            if len(blob) == 4 * dim:
                found[key] = np.frombuffer(blob, "<f4")
    return found


def _remove(connection: sqlite3.Connection, keys: list[bytes]) -> bool:
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("DELETE FROM vectors WHERE key = ?", [(key,) for key in keys])
    # Until a checkpoint the old pages are still in the write-ahead log.
    (is_busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not is_busy
