"""The embedder that ships with the package: all-MiniLM-L6-v2 in 8 bits, on the CPU, without a download."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import ModelError
from everwhen.models.embed.base import Vectors, normalised
from everwhen.models.embed.pieces import Word, cut
from everwhen.models.rerank.codes import FORMAT, encode, join, project

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WINDOW = 256
SPECIALS = 2  # [CLS] and [SEP]
CONTINUED = "##"  # how the tokenizer marks a piece that goes on with a word
OVERLAP = 32
BATCH_TOKENS = 384
FOLDER = Path(__file__).with_name("minilm")

# Words of a question that no memory is looked for by: articles, pronouns, auxiliaries, bare prepositions and

# A token comes from at least one character, and Unicode decomposition makes at most four out of one.
_CERTAINLY_FITS_ASCII = WINDOW - SPECIALS
_CERTAINLY_FITS = (WINDOW - SPECIALS) // 4


class MiniLM:
    """384 dimensions, a window of 256 tokens, batches spread over `threads` cores (default: all)."""

    name = "minilm"
    dim = 384
    code_format = FORMAT

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or _available_cores()
        self._loading = threading.Lock()
        self._loaded: _Model | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A text beyond the window becomes the mean of its pieces; call `pieces` to keep them apart."""
        return self.embed_with_codes((), texts)[0]

    def embed_with_codes(
        self, texts: Sequence[str], plain: Sequence[str] = ()
    ) -> tuple[Vectors, list[bytes]]:
        """See `embed`; the codes leave out punctuation, unless there is nothing else."""
        model = self._model()
        everything = [*texts, *plain]
        rows = [model.token_ids(text) for text in everything]
        vectors = np.empty((len(rows), self.dim), np.float32)
        codes = [b""] * len(texts)
        fitting = [i for i, ids in enumerate(rows) if len(ids) <= WINDOW]
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
        ids, *more = (model.token_ids(self.pieces(one)[0]) for one in (text, *others))
        vectors, hidden = model.sentences_and_tokens([ids, *more])
        places = model.worded(ids)
        words = model.whole_words(ids)
        return vectors, project(hidden[0][places]), [words[place] for place in places]

    def pieces(self, text: str) -> list[str]:
        """Cut between words, with about 32 tokens of overlap; time is linear in the text."""
        if len(text) <= (_CERTAINLY_FITS_ASCII if text.isascii() else _CERTAINLY_FITS):
            return [text]
        # Most texts of this length still fit, and what is counted here is what `embed` asks for next.
        if len(text) <= 8 * WINDOW and len(self._model().token_ids(text)) <= WINDOW:
            return [text]
        return cut(text, WINDOW - SPECIALS, OVERLAP, self._model().words)

    def _fill(self, vectors: Vectors, codes: list[bytes], chosen: list[int], rows: list[list[int]]) -> None:
        """Vectors for the chosen rows, and codes for as many of the first rows as there is room for."""
        model = self._model()
        batches = _batches(chosen, [len(ids) for ids in rows], self.threads)

        def run(batch: list[int]) -> None:
            coded = [place for place, i in enumerate(batch) if i < len(codes)]
            if not coded:
                vectors[batch] = model.sentences([rows[i] for i in batch])
                return
            vectors[batch], hidden = model.sentences_and_tokens([rows[i] for i in batch])
            kept = [model.worded(rows[batch[place]]) for place in coded]
            tokens = project(
                np.concatenate([hidden[place, own] for place, own in zip(coded, kept, strict=True)])
            )
            ends = np.cumsum([len(own) for own in kept])
            for place, own in zip(coded, np.split(tokens, ends[:-1]), strict=True):
                codes[batch[place]] = encode(own)

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


class _Model:
    """The tokenizer and the network."""

    def __init__(self) -> None:
        self._tokenizer = _open_tokenizer(FOLDER / "tokenizer.json")
        self._session = _open_session(FOLDER / "model.onnx")
        self.token_ids = lru_cache(maxsize=2048)(self._token_ids)

    @cached_property
    def _is_worded(self) -> NDArray[np.bool_]:
        """For each entry of the vocabulary, whether it has a letter or a digit."""
        known = self._tokenizer.get_vocab()
        worded = np.zeros(max(known.values()) + 1, np.bool_)
        worded[[i for entry, i in known.items() if any(map(str.isalnum, entry))]] = True
        return worded

    def _token_ids(self, text: str) -> list[int]:
        return self._tokenizer.encode(_encodable(text)).ids

    def words(self, text: str) -> list[Word]:
        """Where each word begins and how many tokens it takes."""
        encoding = self._tokenizer.encode(_encodable(text), add_special_tokens=False)
        words: list[Word] = []
        last = None
        for word, (start, _end) in zip(encoding.word_ids, encoding.offsets, strict=True):
            if word == last:
                words[-1] = Word(words[-1].start, words[-1].tokens + 1)
            else:
                words.append(Word(start, 1))
            last = word
        return words

    def sentences(self, rows: list[list[int]]) -> Vectors:
        ids, mask = _padded(rows)
        (vectors,) = self._session.run(["sentence"], {"input_ids": ids, "attention_mask": mask})
        return np.asarray(vectors, dtype=np.float32)

    def sentences_and_tokens(self, rows: list[list[int]]) -> tuple[Vectors, Vectors]:
        """The same, and the last hidden state of each token (texts x tokens x 384), padding included."""
        ids, mask = _padded(rows)
        outputs = self._session.run(["sentence", "token_vectors"], {"input_ids": ids, "attention_mask": mask})
        return outputs[0], outputs[1]

    def worded(self, ids: list[int]) -> NDArray[np.intp]:
        """The places of tokens that have a letter or a digit; all but the specials where none has."""
        return _places(ids, self._is_worded)

    def whole_words(self, ids: list[int]) -> list[str]:
        """For each token the word that it is a piece of."""
        pieces = [str(self._tokenizer.id_to_token(i)) for i in ids]
        words: list[str] = []
        starts: list[int] = []
        for piece in pieces:
            if piece.startswith(CONTINUED) and words:
                words[-1] += piece.removeprefix(CONTINUED)
            else:
                words.append(piece)
            starts.append(len(words) - 1)
        return [words[start] for start in starts]


def _open_session(path: Path) -> Any:
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
    try:
        return onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    except Exception as error:
        raise ModelError(
            f"the packaged model {path.name} cannot be loaded ({error}); reinstall everwhen"
        ) from error


def _open_tokenizer(path: Path) -> Tokenizer:
    from tokenizers import Tokenizer

    try:
        tokenizer = Tokenizer.from_file(str(path))
    except Exception as error:
        raise ModelError(
            f"the packaged {path.name} cannot be loaded ({error}); reinstall everwhen"
        ) from error
    tokenizer.encode_special_tokens = True  # "[SEP]" in a message is what somebody wrote, not a command
    return tokenizer


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


def _padded(rows: list[list[int]]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    ids = np.zeros((len(rows), max(map(len, rows))), np.int64)
    mask = np.zeros_like(ids)
    for i, row in enumerate(rows):
        ids[i, : len(row)] = row
        mask[i, : len(row)] = 1
    return ids, mask


def _places(ids: list[int], wanted: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Where the wanted tokens stand between [CLS] and [SEP]; every place there when none is wanted."""
    found = np.flatnonzero(wanted[np.array(ids[1:-1], dtype=np.intp)]) + 1
    return found if len(found) else np.arange(1, len(ids) - 1)


def _encodable(text: str) -> str:
    """The text with a "?" for each lone surrogate, which UTF-8 does not have; lengths stay the same."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode()
    return text


def _available_cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return max(1, len(affinity(0)) if affinity else os.cpu_count() or 1)
