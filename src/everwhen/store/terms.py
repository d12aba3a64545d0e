"""Words as FTS5 tokenizes them, and term counts packed for the search index.

The postings in memory must agree with FTS5 exactly, so FTS5 itself does the tokenizing, in a scratch table. A term is
stored as a 64-bit hash: the index needs no dictionary, and the terms of a row load as one array.
"""

from __future__ import annotations

import hashlib
import sqlite3
import threading
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

TOKENIZE = "porter unicode61 remove_diacritics 2"
PACKED = np.dtype([("term", "<u8"), ("halves", "<u2")])
Packed = NDArray[np.void]

_WORDS = 2_000
"""Words of questions whose terms are remembered: the same ones are asked again and again."""

# English function words. They carry no content, and each costs as much as all others together. Question words
# and the verbs of asking are among them: "when did she say that X" is about X.
STOP_WORDS = """a about after again all also am an and any are as at be because been before being between both
    but by can could did do does doing don during each few for from further had has have having he her here hers
    herself him himself his how i if in into is it its itself just let like ll m may me might mine more most must
    my myself no nor not now of off on once only or other our ours out over own re s said same say says shall she
    should so some such t tell than that the their theirs them then there these they this those through to too
    under until up us ve very was want we were what when where which while who whom whose why will with would you
    your yours yourself"""


class Tokenizer:
    """FTS5's tokenizer, usable from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sql = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        self._sql.execute(f"CREATE VIRTUAL TABLE scratch USING fts5 (text, tokenize = '{TOKENIZE}')")
        self._sql.execute("CREATE VIRTUAL TABLE words USING fts5vocab (scratch, 'instance')")
        self._stop_terms = frozenset(self.counts([STOP_WORDS])[0])
        self._terms_of: dict[str, list[int]] = {}

    def counts(self, texts: Sequence[str]) -> list[dict[str, int]]:
        """For each text, its terms and how often each stands in it."""
        out: list[dict[str, int]] = [{} for _ in texts]
        with self._lock:
            self._sql.execute("BEGIN")
            try:
                self._sql.executemany("INSERT INTO scratch (rowid, text) VALUES (?, ?)", enumerate(texts))
                for row, term, count in self._sql.execute(
                    "SELECT doc, term, count(*) FROM words GROUP BY doc, term"
                ):
                    out[row][term] = count
            finally:
                self._sql.execute("ROLLBACK")
        return out

    def saying(self, texts: Sequence[str], phrases: Iterable[str]) -> dict[str, set[int]]:
        """For each phrase the places of the texts in which it stands, word after word."""
        with self._lock:
            self._sql.execute("BEGIN")
            try:
                self._sql.executemany("INSERT INTO scratch (rowid, text) VALUES (?, ?)", enumerate(texts))
                asked = "SELECT rowid FROM scratch WHERE scratch MATCH ?"
                return {
                    phrase: {
                        row[0] for row in self._sql.execute(asked, ('"' + phrase.replace('"', "") + '"',))
                    }
                    for phrase in phrases
                }
            finally:
                self._sql.execute("ROLLBACK")

    def packed(self, texts: Sequence[str], contexts: Sequence[str]) -> list[bytes]:
        """For each text with its context, its terms as the index stores them."""
        return [
            pack(own, around) for own, around in zip(self.counts(texts), self.counts(contexts), strict=True)
        ]

    def terms(self, words: Sequence[str]) -> list[list[int]]:
        """For each word the terms that it is searched by; none for a stop word."""
        known = self._terms_of  # replaced by another one, never changed: no lock is needed
        new = [word for word in dict.fromkeys(words) if word not in known]
        if new:
            told = {
                word: [hash_term(term) for term in terms if term not in self._stop_terms]
                for word, terms in zip(new, self.counts(new), strict=True)
            }
            if len(known) >= _WORDS:
                known = {word: known[word] for word in words if word in known}
            known = self._terms_of = known | told
        return [known[word] for word in words]

    def query(self, text: str) -> list[int]:
        """The terms that a query asks for; stop words only when it has nothing else."""
        terms = self.counts([text])[0]
        content = [term for term in terms if term not in self._stop_terms]
        return [hash_term(term) for term in (content or terms)]


def pack(own: dict[str, int], around: dict[str, int]) -> bytes:
    """Counts in halves: a word of the context weighs half a word of the text (BM25F's field weight)."""
    halves = {term: 2 * count for term, count in own.items()}
    for term, count in around.items():
        halves[term] = halves.get(term, 0) + count
    rows = sorted((hash_term(term), min(count, 65_535)) for term, count in halves.items())
    return np.array(rows, dtype=PACKED).tobytes()


@lru_cache(maxsize=200_000)
def hash_term(term: str) -> int:
    """A 64-bit name for a term; among a million terms a collision has a chance of one in 37 million."""
    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "replace"), digest_size=8).digest(), "little")


@lru_cache(maxsize=200_000)
def label_key(label: str) -> int:
    """A number for a session or a speaker, whatever the case; 0 is nobody's."""
    key = hash_term(label.casefold()) & (2**63 - 1)
    return key or 1
