"""Coded vectors and what is found by them, against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from everwhen.store import index as module
from everwhen.store.base import PACKED
from everwhen.store.index import (
    LARGEST,
    CodedVectors,
    Index,
    IndexBatch,
    IndexFilter,
    IndexRows,
    PlainVectors,
    Postings,
    chosen,
    float_product,
    integer_product,
    make_vectors,
)
from everwhen.store.memory_search import Nearness, largest

DIMENSION = 96
Array = NDArray[np.float32]


def sentence_like(count: int, seed: int, dimension: int = DIMENSION) -> Array:
    """As sentence vectors are: topics of several sizes, few directions that matter much, near repetitions."""
    chance = np.random.default_rng(seed)
    spread = (1.0 / np.sqrt(1 + np.arange(dimension))).astype(np.float32)
    topics = chance.standard_normal((40, dimension)) * spread
    picked = topics[chance.integers(0, 40, count)] + topics[chance.integers(0, 40, count)]
    mixed = picked + 0.7 * spread * chance.standard_normal((count, dimension)) + 0.3 * spread
    return unit(mixed)


def unit(matrix: NDArray[np.floating]) -> Array:
    return np.asarray(matrix / np.linalg.norm(matrix, axis=1, keepdims=True), dtype=np.float32)


def batch_of(vectors: Array, pieces: NDArray[np.int64], first: int = 1) -> IndexBatch:
    count = len(pieces)
    units = np.arange(first, first + count)
    return IndexBatch(
        IndexRows(
            units=units,
            at=units * 10,
            recorded=units,
            kinds=(units % 3).astype(np.int16),
            sessions=1 + units // 20,
            speakers=1 + units % 2,
            roles=np.zeros(count, dtype=np.int8),
            asks=np.zeros(count, dtype=np.bool_),
            pieces=pieces,
        ),
        sizes=np.zeros(count, dtype=np.int64),
        packed=np.zeros(0, dtype=PACKED),
        vectors=vectors,
    )


@pytest.fixture
def everything_coded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PLAIN_UP_TO", 0)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 300), st.integers(1, 200), st.integers(1, 9), st.integers(0, 2**32 - 1))
def test_the_integer_product_is_exact_at_the_edges_of_its_range(
    rows: int, inner: int, columns: int, seed: int
) -> None:
    chance = np.random.default_rng(seed)
    codes = chance.choice(np.array([0, 1, 128, 254, 255], dtype=np.uint8), (rows, inner))
    digits = chance.choice(np.array([-LARGEST, -1, 0, LARGEST], dtype=np.int8), (inner, columns))
    np.testing.assert_array_equal(
        integer_product(codes, digits), codes.astype(np.int64) @ digits.astype(np.int64)
    )


def test_the_float_product_is_that_of_numpy() -> None:
    left, right = sentence_like(300, 1), sentence_like(DIMENSION, 2, 40)
    np.testing.assert_allclose(float_product(left, right), left @ right, atol=1e-5)
    np.testing.assert_allclose(float_product(left[50:60], right), left[50:60] @ right, atol=1e-5)


@pytest.mark.parametrize("rank", [1, 20, 384])
def test_the_main_directions_are_orthonormal_and_hold_nearly_as_much_as_the_best(rank: int) -> None:
    """The best are those of the full decomposition."""
    plain = sentence_like(3000, 6, 384)
    plain[:, rank:] = 0.0
    main = CodedVectors.of(plain).main
    assert main.shape[1] == min(rank, module.DIRECTIONS)
    np.testing.assert_allclose(main.T @ main, np.eye(main.shape[1]), atol=1e-4)
    best = np.linalg.eigh(plain.T @ plain)[0][-main.shape[1] :].sum()
    assert np.square(plain @ main).sum() > 0.97 * best


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 400), st.sampled_from([2, 6, 96, 200]), st.integers(0, 999))
def test_codes_give_back_the_vectors_and_their_cosines(count: int, dimension: int, seed: int) -> None:
    plain = sentence_like(count, seed, dimension)
    plain[: count // 10] = 0.0
    coded, queries = CodedVectors.of(plain), sentence_like(3, seed + 1, dimension)
    np.testing.assert_allclose(coded.at(slice(None)), plain, atol=2e-5)
    places = np.flatnonzero(np.random.default_rng(seed).random(count) < 0.5)
    expected = queries @ plain.T
    np.testing.assert_allclose(coded.cosines(queries, places), expected[:, places], atol=5e-5)
    rough = np.empty((3, count), dtype=np.float32)
    coded.rough(queries, 0, count, rough)
    if dimension <= module.DIRECTIONS:  # nothing is left out: only the 8 bits are rough
        np.testing.assert_allclose(rough, expected, atol=0.02)
    np.testing.assert_array_equal(
        CodedVectors.of(coded.at(slice(None))).whole, coded.whole
    )  # merged without loss


def test_rough_cosines_are_near_for_more_dimensions_than_directions() -> None:
    plain, queries = sentence_like(3000, 1, 384), sentence_like(2, 2, 384)
    rough = np.empty((2, 2900), dtype=np.float32)
    CodedVectors.of(plain).rough(queries, 50, 2950, rough)
    assert np.abs(rough - queries @ plain[50:2950].T).std() < 0.03


def test_few_vectors_stay_as_they_are_and_many_take_little_more_than_half_the_room() -> None:
    plain = sentence_like(17_000, 3, 384)
    assert isinstance(make_vectors(plain[:16_000]), PlainVectors)
    coded = make_vectors(plain)
    assert isinstance(coded, CodedVectors)
    room = coded.whole.nbytes + coded.scales.nbytes + coded.codes.nbytes + coded.main.nbytes
    assert room < 0.62 * plain.nbytes
    some = np.array([5, 16_999, 17])
    np.testing.assert_array_equal(chosen(coded, some).at(slice(None)), coded.at(some))


@pytest.mark.usefixtures("everything_coded")
@pytest.mark.parametrize("kind", ["sentence-like", "without any structure", "said again and again"])
def test_the_hundred_best_are_found_whatever_the_vectors_are_like(kind: str) -> None:
    """384 dimensions, two blocks, over everything and under filters: 99.5 % at the least, by the cosines' own values,
    as equal ones are interchangeable."""
    chance = np.random.default_rng(11)
    if kind == "sentence-like":
        plain = sentence_like(20_000, 5, 384)
    else:
        plain = unit(chance.standard_normal((20_000, 384)))
        if kind == "said again and again":
            plain = plain[chance.integers(0, 300, 20_000)]
    ones = np.ones(10_000, dtype=np.int64)
    parts = [batch_of(plain[:10_000], ones), batch_of(plain[10_000:], ones, 10_001)]
    index = Index(tuple(Index().extended(part, 0).blocks[0] for part in parts))
    assert all(isinstance(block.vectors, CodedVectors) for block in index.blocks)
    queries = unit(plain[chance.integers(0, 20_000, 20)] + 0.03 * chance.standard_normal((20, 384)))
    units = np.arange(1, 20_001)
    windows = [
        IndexFilter(),
        IndexFilter(kinds=np.array([1], dtype=np.int16)),
        IndexFilter(start=50_000, end=140_000),
    ]
    shares = []
    for query in queries:
        for window in windows:
            passing = index.passing(window)
            allowed = units if passing is None else units[passing]
            exact = plain[allowed - 1] @ query
            last = np.partition(exact, len(exact) - 100)[len(exact) - 100]
            found = Nearness(index.blocks, query, window).best(100, -1.0, passing)
            assert len(found) == 100 and {unit for unit, _ in found} <= set(allowed.tolist())
            np.testing.assert_allclose(
                [s for _, s in found], plain[[u - 1 for u, _ in found]] @ query, atol=5e-5
            )
            shares.append(np.mean([score >= last - 5e-5 for _, score in found]))
    assert np.mean(shares) >= 0.995


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 400), st.integers(1, 3), st.integers(1, 30), st.floats(-1.0, 0.6), st.integers(0, 99))
def test_coded_units_with_several_pieces_are_found_by_their_best_one_and_none_below_the_floor(
    count: int, most: int, limit: int, floor: float, seed: int
) -> None:
    chance = np.random.default_rng(seed)
    pieces = chance.integers(1, most + 1, count)
    plain = sentence_like(int(pieces.sum()), seed)
    query = sentence_like(1, seed + 1)[0]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "PLAIN_UP_TO", 0)
        index = Index().extended(batch_of(plain, pieces), count)
    best = np.maximum.reduceat(plain @ query, np.cumsum(pieces) - pieces)
    passing = chance.random(count) < 0.7
    found = Nearness(index.blocks, query, IndexFilter()).best(limit, floor, passing)
    expected = np.sort(best[passing & (best >= floor + 1e-4)])[::-1][:limit]
    np.testing.assert_allclose([score for _, score in found][: len(expected)], expected, atol=5e-5)
    assert all(score >= floor and passing[unit - 1] for unit, score in found)
    similar = Nearness(index.blocks, query, IndexFilter()).exact(np.arange(count))
    np.testing.assert_allclose(similar, best, atol=5e-5)


@pytest.mark.usefixtures("everything_coded")
def test_what_is_taken_out_of_coded_vectors_is_found_no_more_and_the_rest_as_before() -> None:
    plain = sentence_like(500, 8)
    pieces = np.array([2, 3] * 100, dtype=np.int64)
    index = Index().extended(batch_of(plain, pieces), 200)
    fewer = index.without(np.arange(1, 200, 2), 1)
    query = sentence_like(1, 9)[0]
    whole, left = (Nearness(one.blocks, query, IndexFilter()).best(200, -1.0, None) for one in (index, fewer))
    whole = [one for one in whole if one.unit % 2 == 0]
    assert [unit for unit, _ in left] == [unit for unit, _ in whole]
    np.testing.assert_allclose([s for _, s in left], [s for _, s in whole], atol=1e-6)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 3000), st.integers(0, 60), st.integers(1, 40), st.integers(0, 999))
def test_the_largest_are_those_of_a_sort_with_all_ties(
    count: int, limit: int, values: int, seed: int
) -> None:
    scores = np.random.default_rng(seed).integers(0, values, count).astype(np.float32)
    last = np.sort(scores)[::-1][limit - 1] if 0 < limit <= count else (-1.0 if limit else np.inf)
    np.testing.assert_array_equal(largest(scores, limit), np.flatnonzero(scores >= last))


@pytest.mark.parametrize("apart", [0, 44])
def test_terms_are_found_in_all_their_rows_even_if_their_first_bits_are_the_same(apart: int) -> None:
    chance = np.random.default_rng(1)
    terms = np.arange(40, dtype=np.uint64) << np.uint64(apart)
    rows = [np.sort(chance.choice(terms, 8, replace=False)) for _ in range(200)]
    packed = np.zeros(1600, dtype=PACKED)
    packed["term"], packed["halves"] = np.concatenate(rows), 1
    postings = Postings.build(packed, np.full(200, 8, dtype=np.int64))
    for term, where in zip(terms, postings.find(terms.tolist()), strict=True):
        assert postings.rows[where].tolist() == [row for row, own in enumerate(rows) if term in own]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.dictionaries(st.integers(0, 30), st.integers(1, 9), max_size=8), max_size=30), st.data())
def test_postings_give_back_what_they_were_built_from(
    rows: list[dict[int, int]], data: st.DataObject
) -> None:
    entries = [pair for row in rows for pair in sorted(row.items())]
    packed, sizes = np.array(entries, dtype=PACKED), np.array([len(row) for row in rows], dtype=np.int64)
    postings = Postings.build(packed, sizes)
    again, how_many = postings.packed()
    assert again.tolist() == packed.tolist() and how_many.tolist() == sizes.tolist()
    some = sorted(data.draw(st.sets(st.integers(0, len(rows) - 1)))) if rows else []
    for term, where in zip(range(32), postings.find(range(32)), strict=True):
        expected = [rows[row].get(term, 0) / 2 for row in some]
        assert postings.counts(where, np.array(some, dtype=np.int32)).tolist() == expected
