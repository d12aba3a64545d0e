"""The embedder that ships with the package: twelve layers in 8 bits, trained on conversations, on the CPU, no download.

A turn is read with the end of the turn before it, so that "yes, in May" is read as the answer that it is; only the
turn's own words have token vectors. docs/models.md says how the network was made.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from everwhen.models.embed.base import IN_CONTEXT, Vectors, normalised
from everwhen.models.embed.chunking import Word, cut
from everwhen.models.onnx import available_cores, open_session, open_tokenizer
from everwhen.models.rerank.token_codes import FORMAT, encode, join
from everwhen.models.wordpiece import CONTINUED

WINDOW = 256
SPECIALS = 2  # [CLS] and [SEP]

OVERLAP = 32
BATCH_TOKENS = 384
FOLDER = Path(__file__).with_name("conversation_1")
CONTEXT = 34
"""Tokens read before a text's own, at the most: 32 words of the turn before, and separators. As it was trained."""

# A token comes from at least one character, and Unicode decomposition makes at most four out of one.
_CERTAINLY_FITS_ASCII = WINDOW - SPECIALS
_CERTAINLY_FITS = (WINDOW - SPECIALS) // 4


class ConversationEmbedder:
    """384 dimensions, a window of 256 tokens, batches spread over `threads` cores (default: all)."""

    name = "conversation-1"
    reads_context = True
    dim = 384
    code_format = FORMAT

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or available_cores()
        self._loading = threading.Lock()
        self._loaded: _Model | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A text beyond the window becomes the mean of its pieces; call `pieces` to keep them apart.

        What stands before `IN_CONTEXT` is read, and is no part of the vector.
        """
        return self.embed_with_codes((), texts)[0]

    def embed_with_codes(
        self, texts: Sequence[str], plain: Sequence[str] = ()
    ) -> tuple[Vectors, list[bytes]]:
        """See `embed`; the codes leave out punctuation, unless there is nothing else."""
        model = self._model()
        everything = [*texts, *plain]
        rows = [model.text(text) for text in everything]
        vectors = np.empty((len(rows), self.dim), np.float32)
        codes = [b""] * len(texts)
        fitting = [i for i, row in enumerate(rows) if len(row.ids) <= WINDOW]
        self._fill(vectors, codes, fitting, rows)
        for i in set(range(len(rows))).difference(fitting):
            pieces = self.pieces(everything[i])
            if i < len(texts):
                of_pieces, coded = self.embed_with_codes(pieces)
                codes[i] = join(coded)
            else:
                of_pieces = self.embed(pieces)
            vectors[i] = normalised(of_pieces.mean(axis=0, keepdims=True))[0]
        return vectors, codes

    def embed_question(self, text: str, others: Sequence[str] = ()) -> tuple[Vectors, Vectors, list[str]]:
        """Punctuation is left out of the tokens, unless there is nothing else."""
        model = self._model()
        asked, *more = (model.question(self.pieces(one)[0]) for one in (text, *others))
        vectors, tokens = model.sentences_and_tokens([asked, *more])
        places = model.worded(asked)
        words = model.whole_words(asked.ids)
        return vectors, tokens[0][places], [words[place] for place in places]

    def pieces(self, text: str) -> list[str]:
        """Cut between words, with about 32 tokens of overlap; time is linear in the text."""
        if len(text) <= (_CERTAINLY_FITS_ASCII if text.isascii() else _CERTAINLY_FITS):
            return [text]
        # Most texts of this length still fit, and what is counted here is what `embed` asks for next.
        if len(text) <= 8 * WINDOW and len(self._model().token_ids(text)) <= WINDOW:
            return [text]
        return cut(text, WINDOW - SPECIALS - CONTEXT, OVERLAP, self._model().words)

    def _fill(self, vectors: Vectors, codes: list[bytes], chosen: list[int], rows: list[Row]) -> None:
        """Vectors for the chosen rows, and codes for as many of the first rows as there is room for."""
        model = self._model()
        batches = _batches(chosen, [len(row.ids) for row in rows], self.threads)

        def run(batch: list[int]) -> None:
            coded = [place for place, i in enumerate(batch) if i < len(codes)]
            if not coded:
                vectors[batch] = model.sentences([rows[i] for i in batch])
                return
            vectors[batch], tokens = model.sentences_and_tokens([rows[i] for i in batch])
            for place in coded:
                codes[batch[place]] = encode(tokens[place, model.worded(rows[batch[place]])])

        if len(batches) < 2 or self.threads == 1:
            for batch in batches:
                run(batch)
        else:
            # A pool for each call: nothing is left running afterwards, so a process may fork at any time.
            with ThreadPoolExecutor(min(self.threads, len(batches))) as pool:
                list(pool.map(run, batches))

    def _model(self) -> _Model:
        if self._loaded is None:
            with self._loading:
                if self._loaded is None:
                    self._loaded = _Model()
        return self._loaded


@dataclass(frozen=True, slots=True)
class Row:
    """Tokens as the network reads them."""

    ids: list[int]
    begin: int
    """Where the text's own words begin."""
    asks: bool = False
    """Whether it is a question: the network tells those from what is remembered."""


class _Model:
    """The tokenizer and the network."""

    def __init__(self) -> None:
        self._tokenizer = open_tokenizer(FOLDER / "tokenizer.json")
        self._session = open_session(FOLDER / "model.onnx")
        self.token_ids = lru_cache(maxsize=2048)(self._tokenizer.framed)
        self._is_worded = cache(self._has_letter_or_digit)

    def question(self, text: str) -> Row:
        return Row(self.token_ids(text), 0, asks=True)

    def text(self, text: str) -> Row:
        """A text by itself, or with what is read before it."""
        before, context, own = text.rpartition(IN_CONTEXT)
        ids = self.token_ids(own)
        if not context or len(ids) + CONTEXT > WINDOW:
            return Row(ids, 1)
        read = self.token_ids(before)[1:-1][-(CONTEXT - SPECIALS) :]
        return Row([ids[0], *read, ids[-1], *ids[1:]], len(read) + 2) if read else Row(ids, 1)

    def words(self, text: str) -> list[Word]:
        """Where each word begins and how many tokens it takes."""
        tokens = self._tokenizer.encode(text)
        words: list[Word] = []
        for begins, (start, _end) in zip(tokens.begins, tokens.offsets, strict=True):
            if begins:
                words.append(Word(start, 1))
            else:
                words[-1] = Word(words[-1].start, words[-1].tokens + 1)
        return words

    def sentences(self, rows: list[Row]) -> Vectors:
        (vectors,) = self._session.run(["sentence"], _inputs(rows))
        return np.asarray(vectors, dtype=np.float32)

    def sentences_and_tokens(self, rows: list[Row]) -> tuple[Vectors, Vectors]:
        """The same, and a vector of each token (texts x tokens x 96), padding included."""
        outputs = self._session.run(["sentence", "token_vectors"], _inputs(rows))
        return outputs[0], outputs[1]

    def worded(self, row: Row) -> NDArray[np.intp]:
        """The places of its own tokens that have a letter or a digit; all of them but the specials where none has."""
        begin, end = max(row.begin, 1), len(row.ids) - 1
        found = [place for place in range(begin, end) if self._is_worded(row.ids[place])]
        return np.array(found or range(begin, end), dtype=np.intp)

    def _has_letter_or_digit(self, token: int) -> bool:
        return any(map(str.isalnum, self._tokenizer.token(token)))

    def whole_words(self, ids: list[int]) -> list[str]:
        """For each token the word that it is a piece of."""
        pieces = [self._tokenizer.token(i) for i in ids]
        words: list[str] = []
        starts: list[int] = []
        for piece in pieces:
            if piece.startswith(CONTINUED) and words:
                words[-1] += piece.removeprefix(CONTINUED)
            else:
                words.append(piece)
            starts.append(len(words) - 1)
        return [words[start] for start in starts]


def _batches(chosen: list[int], lengths: list[int], threads: int) -> list[list[int]]:
    """Longest first, so that a batch pads little and the last ones to finish are short."""
    ordered = sorted(chosen, key=lambda i: -lengths[i])
    share = -(-sum(lengths[i] for i in ordered) // threads)
    limit = min(BATCH_TOKENS, share)
    batches: list[list[int]] = []
    width = 0
    for i in ordered:
        if batches and (len(batches[-1]) + 1) * width <= limit:
            batches[-1].append(i)
        else:
            batches.append([i])
            width = lengths[i]
    return batches


def _inputs(rows: list[Row]) -> dict[str, NDArray[np.int64]]:
    """Padded tokens, which of them are there, and which are a text's own words; a question has none of those."""
    ids = np.zeros((len(rows), max(len(row.ids) for row in rows)), np.int64)
    mask, segments = np.zeros_like(ids), np.zeros_like(ids)
    for i, row in enumerate(rows):
        end = len(row.ids)
        ids[i, :end] = row.ids
        mask[i, :end] = 1
        segments[i, row.begin : end] = not row.asks
    return {"input_ids": ids, "attention_mask": mask, "segments": segments}
