"""Embedding with a memory: vectors by content, so that a text is embedded once; and dates in what is embedded.

With the setting `date_in_embedding`, `[06 November 2025] Ana moved to Porto` is embedded. Turns have the day on which
they were said. What is derived has the time that it is about, as exactly as that is known: an event when it occurred,
a fact since when it holds, a node of the tree when its window begins.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from everwhen.models.embedder import Embedder, Vectors, gives_tokens, reads_context
from everwhen.settings import Settings
from everwhen.store.files.home import make_private_folder
from everwhen.store.files.sqlite_wipe import can_be_wiped, log_is_empty, open_files, wipe_slack
from everwhen_time import Grain
from everwhen_time.zones import zone_of

Entry: TypeAlias = tuple[Vectors, bytes]
"""A vector, and the codes of the text's tokens; empty where there are none."""
Answer = TypeVar("Answer")

_DEFAULT = Settings()
BUSY_SECONDS = 0.25
RETRY_SECONDS = 30.0
EVICT_EVERY = 256
LOOKUP = 500
ATTEMPTS = 20
"""How often the log is emptied again because another process has written into it."""

SCHEMA = """
CREATE TABLE IF NOT EXISTS vectors (
    seq INTEGER PRIMARY KEY,      -- order of arrival: the oldest are evicted first
    key BLOB NOT NULL UNIQUE,     -- hash of model, width and text; the text itself is not kept
    vector BLOB NOT NULL,         -- float32, so that a cached vector is the embedded one to the last bit
    codes BLOB                    -- coded token vectors; null where nobody asked for them
)
"""

# What was embedded before, without codes or with those of another format, gets the new ones.
REMEMBER = """
INSERT INTO vectors (key, vector, codes) VALUES (?, ?, ?)
ON CONFLICT (key) DO UPDATE SET codes = excluded.codes WHERE excluded.codes IS NOT NULL
"""


class CachedEmbedder:
    """An embedder that remembers. Above: whoever embeds. Below: another embedder and one SQLite file.

    The cache never stands in the way: where the file is damaged, locked, read-only or on a full disk, texts
    are embedded as if there were none, and `problem` says why.
    """

    def __init__(self, inner: Embedder, path: Path, limit: int = _DEFAULT.cache_entries) -> None:
        self.inner = inner
        self.path = path
        self.limit = limit
        self.problem: str | None = None
        self._lock = threading.Lock()
        self._closed = False
        self._connection: sqlite3.Connection | None = None
        self._file = (0, 0)
        self._owner = 0
        self._retry_at = 0.0
        self._until_eviction = 0

    @property
    def name(self) -> str:
        return self.inner.name

    @property
    def dim(self) -> int:
        return self.inner.dim

    @property
    def reads_context(self) -> bool:
        return reads_context(self.inner)

    def pieces(self, text: str) -> list[str]:
        return self.inner.pieces(text)

    def embed(self, texts: Sequence[str]) -> Vectors:
        return self.embed_with_codes((), texts)[0]

    @property
    def code_format(self) -> bytes:
        return self.inner.code_format if gives_tokens(self.inner) else b""

    def embed_with_codes(
        self, texts: Sequence[str], plain: Sequence[str] = ()
    ) -> tuple[Vectors, list[bytes]]:
        """Codes are remembered with the vectors; without an inner embedder that makes them, all are empty."""
        if not texts and not plain:
            return self.inner.embed(()), []
        keys = self._keys([*texts, *plain])
        text_of = dict(zip(keys, [*texts, *plain], strict=True))
        code_format = self.code_format
        coded = set(keys[: len(texts)]) if code_format else set()
        found = self._try(lambda connection: _look_up(connection, list(text_of), self.dim)) or {}
        entries = {
            key: (vector, codes)
            for key, (vector, codes) in found.items()
            if key not in coded or codes.startswith(code_format)
        }
        missing = {key: text for key, text in text_of.items() if key not in entries}
        if missing:
            fresh = self._embedded(missing, coded)
            entries |= fresh
            self._try(lambda connection: self._remember(connection, fresh))
        return np.stack([entries[key][0] for key in keys]), [entries[key][1] for key in keys[: len(texts)]]

    def embed_question(self, text: str) -> tuple[Vectors, Vectors, list[str]]:
        """Past the cache: questions hardly ever repeat, and their tokens are wanted in full precision."""
        if gives_tokens(self.inner):
            return self.inner.embed_question(text)
        return self.inner.embed([self.inner.pieces(text)[0]]), np.zeros((0, 0), np.float32), []

    def _embedded(self, text_of: dict[bytes, str], coded: set[bytes]) -> dict[bytes, Entry]:
        """Vectors, and codes for the texts of the keys in `coded`, in one run of the model."""
        first = [key for key in text_of if key in coded]
        rest = [key for key in text_of if key not in coded]
        if gives_tokens(self.inner) and first:
            vectors, codes = self.inner.embed_with_codes(
                [text_of[key] for key in first], [text_of[key] for key in rest]
            )
        else:
            vectors, codes = self.inner.embed([text_of[key] for key in rest]), []
        codes += [b""] * len(rest)
        return dict(zip([*first, *rest], zip(vectors, codes, strict=True), strict=True))

    def forget(self, texts: Sequence[str]) -> bool:
        """Remove the vectors of these texts, from the file's free space too; False when that failed."""
        keys = self._keys(texts)
        if not keys or not self.path.exists():
            return True
        self._retry_at = 0.0
        return bool(self._try(lambda connection: _remove(connection, keys)))

    def scrub(self) -> bool:
        """Overwrite what is left of removed vectors inside the file's pages; False when that failed."""
        return not self.path.exists() or bool(self._try(self._wiped))

    def _wiped(self, connection: sqlite3.Connection) -> bool:
        file = open_files.handle(self._file, self.path)
        if not can_be_wiped(file):
            connection.execute("VACUUM")
        for _ in range(ATTEMPTS):
            if not _truncate_log(connection):
                return False
            # It has no old page in its cache; when it commits, all other connections drop theirs.
            fresh = _connect(self.path)
            try:
                fresh.execute("BEGIN IMMEDIATE")
                if log_is_empty(self.path):
                    if can_be_wiped(file):
                        wipe_slack(file)
                    version = fresh.execute("PRAGMA user_version").fetchone()[0]
                    fresh.execute(f"PRAGMA user_version = {(version + 1) % 2**30}")  # something to commit
                    fresh.execute("COMMIT")
                    return True
            finally:
                fresh.close()
        return False

    def close(self) -> None:
        """Close the file, for good: who still embeds with it does so without a cache."""
        with self._lock:
            self._closed = True
            self._drop()

    def _keys(self, texts: Iterable[str]) -> list[bytes]:
        model = blake2b(f"{self.name}\0{self.dim}\0".encode(), digest_size=16)
        keys = []
        for text in texts:
            key = model.copy()
            key.update(text.encode("utf-8", "surrogatepass"))
            keys.append(key.digest())
        return keys

    def _remember(self, connection: sqlite3.Connection, fresh: dict[bytes, Entry]) -> bool:
        rows = [
            (key, vector.astype("<f4").tobytes(), codes or None) for key, (vector, codes) in fresh.items()
        ]
        self._until_eviction -= len(rows)
        with connection:
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany(REMEMBER, rows)
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
            if self._closed or time.monotonic() < self._retry_at:
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
            make_private_folder(self.path.parent)
            self.path.touch(mode=0o600)
            self._connection = _connect(self.path)
            self._file = open_files.enter(self.path)
            self._owner = os.getpid()
        return self._connection

    def _drop(self) -> None:
        if self._connection is not None and self._owner == os.getpid():
            self._connection.close()
            open_files.leave(self._file)
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


def _look_up(connection: sqlite3.Connection, keys: list[bytes], dim: int) -> dict[bytes, Entry]:
    found: dict[bytes, Entry] = {}
    for start in range(0, len(keys), LOOKUP):
        some = keys[start : start + LOOKUP]
        marks = ",".join("?" * len(some))
        question = f"SELECT key, vector, codes FROM vectors WHERE key IN ({marks})"
        for key, blob, codes in connection.execute(question, some):
            if len(blob) == 4 * dim:
                found[key] = (np.frombuffer(blob, "<f4"), codes or b"")
    return found


def _remove(connection: sqlite3.Connection, keys: list[bytes]) -> bool:
    with connection:
        connection.execute("BEGIN IMMEDIATE")
        connection.executemany("DELETE FROM vectors WHERE key = ?", [(key,) for key in keys])
    return _truncate_log(connection)


def _truncate_log(connection: sqlite3.Connection) -> bool:
    """Until a checkpoint the old pages are still in the write-ahead log."""
    (is_busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not is_busy


# Dates in embedded text

_YEARS = ("year", "decade", "century")
_MONTHS = ("month", "quarter", "season")


class LocalTime(NamedTuple):
    """A moment as a person there would name it."""

    instant: datetime
    zone: str
    grain: Grain = "day"

    def __str__(self) -> str:
        form = "%Y" if self.grain in _YEARS else "%B %Y" if self.grain in _MONTHS else "%d %B %Y"
        return self.instant.astimezone(zone_of(self.zone)).strftime(form)


def with_date(text: str, dated: LocalTime | None) -> str:
    """What is embedded of a text. What is stored and shown stays without the date."""
    return text if dated is None else f"[{dated}] {text}"


def embed_derived(
    embedder: Embedder, texts: Sequence[str], dates: Sequence[LocalTime] | None = None
) -> list[NDArray[np.float32]]:
    """For each derived text the vectors of its pieces; `dates` where they are part of what is embedded.

    Then nothing is kept in the embedding cache: who forgets a derived unit looks there for its words without a date.
    """
    if dates is not None:
        embedder = embedder.inner if isinstance(embedder, CachedEmbedder) else embedder
        texts = [with_date(text, dated) for text, dated in zip(texts, dates, strict=True)]
    pieces = [embedder.pieces(text) for text in texts]
    flat = embedder.embed([piece for several in pieces for piece in several])
    found, place = [], 0
    for several in pieces:
        found.append(flat[place : place + len(several)])
        place += len(several)
    return found
