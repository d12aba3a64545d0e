"""Opening the packaged networks: onnxruntime sessions and tokenizers, what they read, and how many cores there are."""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from everwhen.errors import ModelError
from everwhen.models.wordpiece import WordPiece

PACKAGED = tuple(
    Path(__file__).parent / folder / name
    for folder in ("embed/conversation_1", "reader/reader_2")
    for name in ("tokenizer.json", "model.onnx")
)
"""The networks that the first question of a process needs, and their tokenizers, in the order of need."""
_ahead: dict[Path, Future[Any]] = {}


def open_ahead(*paths: Path) -> None:
    """Begin to open what will be needed: it takes as long as all the imports of a command do."""
    # numpy imports itself in a circle: begun by two threads at once, its import fails in one of them.
    import numpy  # noqa: F401

    pool = ThreadPoolExecutor(1)  # with more of them, what is imported meanwhile would wait on two cores
    for path in paths:
        _ahead[path] = pool.submit(_open if path.suffix == ".onnx" else _open_tokenizer, path)
    pool.shutdown(wait=False)


def open_session(path: Path) -> Any:
    """A network of the package, opened now or ahead."""
    ahead = _ahead.pop(path, None)
    return ahead.result() if ahead else _open(path)


def open_tokenizer(path: Path) -> WordPiece:
    """The tokenizer of a network, opened now or ahead."""
    ahead = _ahead.pop(path, None)
    return ahead.result() if ahead else _open_tokenizer(path)


def _open(path: Path) -> Any:
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


def _open_tokenizer(path: Path) -> WordPiece:
    try:
        return WordPiece.load(path)
    except (OSError, ValueError, KeyError) as error:
        raise ModelError(
            f"the packaged {path.name} cannot be loaded ({error}); reinstall everwhen"
        ) from error


def available_cores() -> int:
    affinity = getattr(os, "sched_getaffinity", None)
    return max(1, len(affinity(0)) if affinity else os.cpu_count() or 1)
