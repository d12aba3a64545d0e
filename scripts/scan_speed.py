"""How long one question takes in the index in memory, stage by stage, and how many of the 100 best it finds.

    python scripts/scan_speed.py 10000 100000 1000000 [--vectors real.npy]

Each size runs in a process of its own, without a database. Words follow Zipf's law; vectors are mixtures of two real
ones with noise: those of a file, or of the sentences of `everwhen bench speed`. `found` is the share of the 100 nearest
by plain NumPy that are found by meaning, over all rows and over one speaker's.
"""

from __future__ import annotations

import argparse
import random
import resource
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from time import perf_counter
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from everwhen.api.memory import DEFAULT_EMBEDDER
from everwhen.models.embedder import open_embedder
from everwhen.store.base import PACKED, Tokenizer, hash_term, label_key
from everwhen.store.index import Index, IndexBatch, IndexFilter, IndexRows
from everwhen.store.memory_search import MemorySearch
from everwhen.store.rows import SaidBy, SearchQuery, Wanted
from everwhen_bench import speed

LIMIT, FLOOR = 100, 0.05
BLOCK = 32_768
WORDS_OF_A_TURN = 20
QUESTIONS, WARM = 40, 5
T = TypeVar("T")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("sizes", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--vectors", type=Path)
    parser.add_argument("--here", action="store_true", help="measure in this process")
    args = parser.parse_args()
    if args.here:
        measure(args.sizes[0], args.vectors)
        return
    for size in args.sizes:
        more = ["--vectors", str(args.vectors)] if args.vectors else []
        subprocess.run([sys.executable, __file__, str(size), "--here", *more], check=True)


def measure(size: int, file: Path | None) -> None:
    chance = np.random.default_rng(5)
    words = speed.vocabulary(random.Random(7))
    pool = np.load(file) if file else _pool()
    start = perf_counter()
    index, queries, exact = _build(size, words, pool, chance)
    built = perf_counter() - start
    took: dict[str, list[float]] = {}
    found: dict[str, list[float]] = {"found": [], "found of one speaker": []}
    tokenizer, who = Tokenizer(), SaidBy(frozenset({"Ana"}))
    theirs = np.arange(size) % 2 == 0
    for number in range(QUESTIONS):
        asked = "Ana " + " ".join(speed._content(words, random.Random(number), 7))
        query = SearchQuery(queries[number], asked)
        search = MemorySearch(query, index, IndexFilter(), tokenizer, _NoDatabase())
        by_meaning = Wanted(LIMIT, FLOOR, words=False, whose=(None, who))
        whole, own = _timed(took, "meaning", lambda: search.candidates(by_meaning).meaning)  # noqa: B023
        by_words = Wanted(LIMIT, meaning=False, whose=(None, who))
        said = _timed(took, "words", lambda: search.candidates(by_words).words)  # noqa: B023
        units = {unit for ranking in (whole, own, *said) for unit, _ in ranking}
        _timed(took, "evidence", lambda: search.evidence(units, who=who, vectors=True))  # noqa: B023
        found["found"].append(_share(whole, exact[number]))
        found["found of one speaker"].append(_share(own, np.where(theirs, exact[number], -1.0)))
    medians = {stage: statistics.median(times[WARM:]) for stage, times in took.items()}
    print(
        f"{size:,} rows, {len(index.blocks)} blocks, built in {built:.1f} s; all {sum(medians.values()):.1f} ms"
    )
    print("   " + ", ".join(f"{stage} {ms:.2f}" for stage, ms in medians.items()))
    print("   " + ", ".join(f"{what} {np.mean(shares):.4f}" for what, shares in found.items()), end="")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
    print(f"; {_bytes(index) / size:.0f} bytes a row, {peak:.0f} MB at the peak")


class _NoDatabase:
    """Stands in for the rows that are not in the index."""

    graph: Any = None
    facts: Any = None

    def units(self, seqs: Sequence[int]) -> dict[int, Any]:
        return dict.fromkeys(seqs)

    def token_codes(self, seqs: Sequence[int]) -> dict[int, bytes]:
        return {}


def _timed(took: dict[str, list[float]], stage: str, work: Callable[[], T]) -> T:
    start = perf_counter()
    result = work()
    took.setdefault(stage, []).append((perf_counter() - start) * 1000)
    return result


def _share(found: Sequence[tuple[int, float]], exact: NDArray[np.float32]) -> float:
    best = np.argpartition(exact, len(exact) - LIMIT)[len(exact) - LIMIT :] + 1
    return len({unit for unit, _ in found} & set(best.tolist())) / LIMIT


def _pool() -> NDArray[np.float32]:
    return speed._pool(open_embedder(DEFAULT_EMBEDDER), speed._pool_sentences())[0]


def _build(
    size: int, words: list[str], pool: NDArray[np.float32], chance: np.random.Generator
) -> tuple[Index, NDArray[np.float32], NDArray[np.float32]]:
    """An index, questions, and every row's cosine with each by plain NumPy."""
    queries, pool = pool[:QUESTIONS], pool[QUESTIONS:]
    terms = np.array([hash_term(word) for word in words], dtype=np.uint64)
    names = np.array([hash_term(name.lower()) for name in speed.SPEAKERS], dtype=np.uint64)
    labels = np.array([label_key(name) for name in speed.SPEAKERS])
    index, exact = Index(), np.empty((len(queries), size), dtype=np.float32)
    for first in range(0, size, BLOCK):
        count = min(BLOCK, size - first)
        vectors = speed._mixtures(pool, count, chance)
        exact[:, first : first + count] = queries @ vectors.T
        ranks = (len(words) ** chance.random((count, WORDS_OF_A_TURN))).astype(int).clip(max=len(words)) - 1
        drawn = np.sort(terms[ranks], axis=1)
        who = np.arange(first, first + count) % 2
        keep = np.column_stack([drawn[:, 1:] != drawn[:, :-1], np.ones((count, 2), dtype=np.bool_)])
        packed = np.zeros(int(keep.sum()), dtype=PACKED)
        packed["term"] = np.column_stack([drawn, names[who]])[keep]
        packed["halves"] = chance.integers(1, 4, len(packed))
        units = np.arange(first + 1, first + count + 1)
        rows = IndexRows(
            units=units,
            at=units * 600_000_000,
            recorded=units * 600_000_000,
            kinds=np.zeros(count, dtype=np.int16),
            sessions=np.array([label_key(f"s{unit // 20}") for unit in units]),
            speakers=labels[who],
            roles=who.astype(np.int8),
            asks=np.zeros(count, dtype=np.bool_),
            pieces=np.ones(count, dtype=np.int64),
        )
        index = index.extended(IndexBatch(rows, keep.sum(axis=1), packed, vectors), first + count)
    return index, queries, exact


def _bytes(index: Index) -> int:
    """Of all arrays in an index."""
    parts: list[object] = [
        part for block in index.blocks for part in (block, block.rows, block.postings, block.vectors)
    ]
    values = [getattr(part, name) for part in parts for name in type(part).__slots__]  # type: ignore[attr-defined]
    return sum(value.nbytes for value in values if isinstance(value, np.ndarray))


if __name__ == "__main__":
    main()
