"""The tokenizer of the packaged networks: BERT's WordPiece in lower case, with the place of each token in its text.

Whoever uses networks of other tokenizers installs `tokenizers`; ours need none of its 35 MB. The tests hold the two
against each other. A text is read in chunks between spaces, and a chunk that was read is remembered:

    text -> chunk -> words (letters in lower case without accents; a sign or an ideograph is a word) -> longest pieces
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple
from unicodedata import category, normalize

CONTINUED = "##"
"""Before a piece that does not begin its word."""
LONGEST = 100
"""Letters of a word; a longer one is unknown."""
KEPT = 20_000
"""Chunks that are remembered: the words of a language, and some names."""
_CHUNK = re.compile("[^\t\n\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_PLAIN_WORD = re.compile(r"[0-9A-Za-z]+|[!-~]")
_PLAIN = re.compile(r"[!-~]+")
_UNSEEN = frozenset(("Cc", "Cf", "Co", "Cs"))
_IDEOGRAPHS = (
    (0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F),
    (0x2B920, 0x2CEAF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F),
)  # fmt: skip


class Piece(NamedTuple):
    """A token, where it stands in its chunk, and whether a word begins with it."""

    id: int
    start: int
    end: int
    begins: bool


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of a text, without special ones."""

    ids: list[int]
    offsets: list[tuple[int, int]]
    """First and last character of each, in the text."""
    begins: list[bool]
    """Whether a word begins with it."""

    def __getitem__(self, part: slice) -> Tokens:
        return Tokens(self.ids[part], self.offsets[part], self.begins[part])


class WordPiece:
    """May be used by several threads at once."""

    def __init__(self, vocabulary: Mapping[str, int]) -> None:
        self._vocabulary = vocabulary
        self._tokens = {number: token for token, number in vocabulary.items()}
        self._unknown = vocabulary["[UNK]"]
        self._first, self._last = vocabulary["[CLS]"], vocabulary["[SEP]"]
        self._pieces = lru_cache(maxsize=KEPT)(self._read)

    @classmethod
    def load(cls, path: Path) -> WordPiece:
        """The vocabulary of a `tokenizer.json`."""
        return cls(json.loads(path.read_text(encoding="utf-8"))["model"]["vocab"])

    def token(self, number: int) -> str:
        return self._tokens[number]

    def encode(self, text: str) -> Tokens:
        found = Tokens([], [], [])
        for chunk in _CHUNK.finditer(text):
            at = chunk.start()
            for piece in self._pieces(chunk.group()):
                found.ids.append(piece.id)
                found.offsets.append((at + piece.start, at + piece.end))
                found.begins.append(piece.begins)
        return found

    def framed(self, text: str) -> list[int]:
        """The tokens of a text between the first and the last special one, as a network reads it by itself."""
        return [self._first, *self.encode(text).ids, self._last]

    def _read(self, chunk: str) -> tuple[Piece, ...]:
        plain = _PLAIN.fullmatch(chunk) is not None
        return tuple(
            piece
            for word, places in (_plain(chunk) if plain else _words(chunk))
            for piece in self._cut(word, places)
        )

    def _cut(self, word: str, places: range | list[int]) -> list[Piece]:
        """The longest known piece that the word begins with, then of the rest; all or nothing."""
        found: list[Piece] = []
        start = 0
        while start < len(word) <= LONGEST:
            for end in range(len(word), start, -1):
                number = self._vocabulary.get(word[start:end] if not start else CONTINUED + word[start:end])
                if number is not None:
                    found.append(Piece(number, places[start], places[end - 1] + 1, begins=not start))
                    start = end
                    break
            else:
                break
        return found if start == len(word) else [Piece(self._unknown, places[0], places[-1] + 1, begins=True)]


def _plain(chunk: str) -> Iterator[tuple[str, range]]:
    """The words of a chunk of plain ASCII."""
    for word in _PLAIN_WORD.finditer(chunk):
        yield word.group().lower(), range(*word.span())


def _words(chunk: str) -> Iterator[tuple[str, list[int]]]:
    """The words of any chunk, normalised, with the place of each letter in the chunk."""
    word, places = "", list[int]()
    for place, letter in enumerate(chunk):
        if letter == "\ufffd" or category(letter) in _UNSEEN:
            continue
        alone = any(first <= ord(letter) <= last for first, last in _IDEOGRAPHS)
        for part in normalize("NFD", letter):
            if category(part) == "Mn":
                continue
            for small in part.lower():
                single = alone or _is_sign(small)
                if single and word:
                    yield word, places
                    word, places = "", []
                word += small
                places.append(place)
                if single:
                    yield word, places
                    word, places = "", []
    if word:
        yield word, places


def _is_sign(letter: str) -> bool:
    return category(letter)[0] == "P" or ("!" <= letter <= "~" and not letter.isalnum())
