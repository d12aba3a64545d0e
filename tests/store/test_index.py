"""The derived index against plain NumPy: the same answers, whatever the order of arrival and the blocks."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen.store.base import PACKED, hash_term, pack
from everwhen.store.index import Index, IndexBatch, IndexFilter, IndexRows
from everwhen.store.memory_search import Nearness

WORDS = ("oak", "elm", "fir", "yew", "ash")
DIMENSION = 6

row = st.tuples(
    st.integers(0, 50),  # at
    st.integers(0, 50),  # recorded
    st.integers(0, 2),  # kind
    st.integers(1, 3),  # pieces
    st.lists(st.sampled_from(WORDS), min_size=0, max_size=6),
)
window = st.builds(
    IndexFilter,
    start=st.none() | st.integers(0, 50),
    end=st.none() | st.integers(0, 50),
    known_at=st.none() | st.integers(0, 50),
    kinds=st.none() | st.lists(st.integers(0, 2), max_size=2).map(lambda k: np.array(k, dtype=np.int16)),
)


def rows_of(first: int, entries: list[Any], seed: int) -> IndexBatch:
    chance = np.random.default_rng(seed)
    packed = [pack({word: words.count(word) for word in words}, {}) for *_, words in entries]
    pieces = np.array([entry[3] for entry in entries], dtype=np.int64)
    vectors = chance.standard_normal((int(pieces.sum()), DIMENSION)).astype(np.float32)
    return IndexBatch(
        IndexRows(
            units=np.arange(first, first + len(entries)),
            at=np.array([entry[0] for entry in entries], dtype=np.int64),
            recorded=np.array([entry[1] for entry in entries], dtype=np.int64),
            kinds=np.array([entry[2] for entry in entries], dtype=np.int16),
            sessions=np.array([1 + entry[0] // 10 for entry in entries], dtype=np.int64),
            speakers=np.array([1 + entry[2] for entry in entries], dtype=np.int64),
            roles=np.zeros(len(entries), dtype=np.int8),
            asks=np.zeros(len(entries), dtype=np.bool_),
            pieces=pieces,
        ),
        sizes=np.array([len(blob) // PACKED.itemsize for blob in packed], dtype=np.int64),
        packed=np.frombuffer(b"".join(packed), dtype=PACKED),
        vectors=vectors / np.linalg.norm(vectors, axis=1, keepdims=True),
    )


def passes(entry: Any, where: IndexFilter) -> bool:
    at, recorded, kind, _, _ = entry
    return (
        (where.start is None or at >= where.start)
        and (where.end is None or at < where.end)
        and (where.known_at is None or recorded <= where.known_at)
        and (where.kinds is None or kind in where.kinds)
    )


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(row, min_size=1, max_size=6), min_size=1, max_size=8), window, st.integers(1, 60))
def test_blocks_give_what_one_plain_scan_gives(
    batches: list[list[Any]], where: IndexFilter, limit: int
) -> None:
    index, everything, first = Index(), [], 1
    matrices = []
    for number, batch in enumerate(batches):
        rows = rows_of(first, batch, seed=number)
        index = index.extended(rows, first + len(batch) - 1)
        matrices.append(rows)
        everything += list(zip(range(first, first + len(batch)), batch, strict=True))
        first += len(batch)
    query = np.random.default_rng(99).standard_normal(DIMENSION).astype(np.float32)
    best: dict[int, float] = {}
    for rows in matrices:
        owners = np.repeat(rows.rows.units, rows.rows.pieces)
        for owner, cosine in zip(owners.tolist(), (rows.vectors @ query).tolist(), strict=True):
            best[owner] = max(best.get(owner, -9.0), cosine)
    at = {unit: entry[0] for unit, entry in everything}
    allowed = [unit for unit, entry in everything if passes(entry, where)]
    expected = sorted((u for u in allowed if best[u] > -1), key=lambda u: (-best[u], at[u], u))[:limit]
    found = Nearness(index.blocks, query, where).best(limit, -1.0, index.passing(where))
    assert [unit for unit, _ in found] == expected
    np.testing.assert_allclose([s for _, s in found], [best[u] for u in expected], rtol=1e-5, atol=1e-6)

    words = {unit: entry[4] for unit, entry in everything}
    scores = reference_bm25(words, ["oak", "yew"])
    terms = [hash_term("oak"), hash_term("yew")]
    standing = index.find(terms)
    got = index.scores(standing, *index.term_weights(terms, standing))
    units = [unit for block in index.blocks for unit in block.rows.units.tolist()]
    np.testing.assert_allclose(got, [scores[unit] for unit in units], rtol=1e-4)


def reference_bm25(documents: dict[int, list[str]], query: list[str]) -> dict[int, float]:
    """BM25 as one writes it on a blackboard."""
    total = len(documents)
    mean = sum(map(len, documents.values())) / total or 1.0
    scores = dict.fromkeys(documents, 0.0)
    for term in query:
        containing = sum(term in words for words in documents.values())
        idf = np.log(1 + (total - containing + 0.5) / (containing + 0.5))
        for name, words in documents.items():
            tf = words.count(term)
            scores[name] += idf * tf * 2.2 / (tf + 1.2 * (0.25 + 0.75 * len(words) / mean)) if tf else 0.0
    return scores


def test_units_hold_several_terms_when_they_have_each_of_them() -> None:
    entries = [(0, 0, 0, 1, ["oak", "elm"]), (1, 0, 0, 1, ["oak"]), (2, 0, 1, 1, ["oak", "elm", "fir"])]
    index = Index().extended(rows_of(1, entries, seed=1), 3)
    terms, kinds = [hash_term("oak"), hash_term("elm")], np.array([0, 1], dtype=np.int16)
    assert [found.tolist() for found in index.holding([terms, [], terms[:1]], kinds)] == [
        [1, 3],
        [],
        [1, 2, 3],
    ]
    assert index.holding([terms], kinds[:1])[0].tolist() == [1]
    assert index.holding([terms[:1]], kinds, 2)[0].tolist() == [1, 2]


def test_small_blocks_are_merged_and_large_ones_left_alone() -> None:
    index = Index()
    for number in range(100):
        index = index.extended(rows_of(number + 1, [(number, 0, 0, 1, ["oak"])], seed=number), number + 1)
    assert len(index) == 100 and index.seen == 100
    assert len(index.blocks) <= 7  # logarithmic, not one for each commit


@settings(deadline=None)
@given(
    entries=st.lists(row, min_size=1, max_size=40), kinds=st.sets(st.integers(0, 2)), seed=st.integers(0, 99)
)
def test_neighbours_are_those_of_a_plain_comparison_however_many_are_equal(
    entries: list[Any], kinds: set[int], seed: int
) -> None:
    rows = rows_of(1, entries, seed)
    rows.vectors[: len(rows.vectors) // 2] = rows.vectors[0]  # said again and again
    index = Index().extended(rows, len(entries))
    owners = np.repeat(np.arange(len(entries)), rows.rows.pieces)
    queries = np.concatenate([rows.vectors[:1], rows_of(1, entries, seed + 1).vectors[:2]])
    found = index.neighbours(queries, np.array(sorted(kinds), dtype=np.int16), 0.3, 7)
    for query, near in zip(queries, found, strict=True):
        best: dict[int, float] = {}
        for owner, vector in zip(owners, rows.vectors, strict=True):
            cosine = round(float(vector @ query), 4)
            if entries[owner][2] in kinds and cosine > 0.3:
                best[owner + 1] = max(best.get(owner + 1, -1.0), cosine)
        expected = sorted(best.values(), reverse=True)[:7]
        assert [round(cosine, 4) for _, cosine in near] == expected
        assert all(best[unit] == round(cosine, 4) for unit, cosine in near)
