"""The embedder that ships with the package: all-MiniLM-L6-v2 in 8 bits, on the CPU, without a download."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import ModelError
from everwhen.models.embed.base import Vectors, normalised
from everwhen.models.embed.pieces import Word, cut

if TYPE_CHECKING:
    from tokenizers import Tokenizer

WINDOW = 256
SPECIALS = 2  # [CLS] and [SEP]
OVERLAP = 32
BATCH_TOKENS = 384
FOLDER = Path(__file__).with_name("minilm")

# A token comes from at least one character, and Unicode decomposition makes at most four out of one.
_CERTAINLY_FITS_ASCII = WINDOW - SPECIALS
_CERTAINLY_FITS = (WINDOW - SPECIALS) // 4


class MiniLM:
    """384 dimensions, a window of 256 tokens, batches spread over `threads` cores (default: all)."""

    name = "minilm"
    dim = 384

    def __init__(self, threads: int | None = None) -> None:
        self.threads = threads or _available_cores()
        self._loading = threading.Lock()
        self._loaded: _Model | None = None

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A text beyond the window becomes the mean of its pieces; call `pieces` to keep them apart."""
        model = self._model()
        rows = [model.token_ids(text) for text in texts]
        vectors = np.empty((len(rows), self.dim), np.float32)
        fitting = [i for i, ids in enumerate(rows) if len(ids) <= WINDOW]
        self._fill(vectors, fitting, rows)
        for i in set(range(len(rows))).difference(fitting):
            vectors[i] = normalised(self.embed(self.pieces(texts[i])).mean(axis=0, keepdims=True))[0]
        return vectors

    def pieces(self, text: str) -> list[str]:
        """Cut between words, with about 32 tokens of overlap; time is linear in the text."""
        if len(text) <= (_CERTAINLY_FITS_ASCII if text.isascii() else _CERTAINLY_FITS):
            return [text]
        # Most texts of this length still fit, and what is counted here is what `embed` asks for next.
        if len(text) <= 8 * WINDOW and len(self._model().token_ids(text)) <= WINDOW:
            return [text]
        return cut(text, WINDOW - SPECIALS, OVERLAP, self._model().words)

    def _fill(self, vectors: Vectors, chosen: list[int], rows: list[list[int]]) -> None:
        model = self._model()
        batches = _batches(chosen, [len(ids) for ids in rows], self.threads)

        def run(batch: list[int]) -> None:
            vectors[batch] = model.sentences([rows[i] for i in batch])

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
