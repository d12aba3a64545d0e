"""One question's view of the bank: it finds what the index finds, and sees all that is around a turn."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from everwhen.instants import EPOCH
from everwhen.store import index_scan as scanning
from everwhen.store import vectors as coding
from everwhen.store.index import Index, IndexBatch, IndexFilter, IndexRows
from everwhen.store.index_scan import IndexScan
from everwhen.store.kind_codes import codes
from everwhen.store.scan import SaidBy, Scan
from everwhen.store.terms import PACKED, Tokenizer, label_key, pack
from everwhen.types import ROLES
from everwhen.when import Interval

DIMENSION = 6
TOKENIZER = Tokenizer()
WORDS = ("oak", "elm", "fir", "yew", "ash")
Told = tuple[int, str | None, str | None, list[str]]
"""When, in which session, by whom, in which words; what has no session was said by nobody."""

told = st.tuples(
    st.integers(0, 30),
    st.sampled_from(["a", "b", "c", None]),
    st.sampled_from(["Ana", "Ben"]),
    st.lists(st.sampled_from(WORDS), max_size=5),
)


def rows_of(first: int, entries: list[Told], pieces: int = 1) -> IndexBatch:
    chance = np.random.default_rng(first)
    packed = [pack({word: words.count(word) for word in words}, {}) for *_, words in entries]
    vectors = chance.standard_normal((len(entries) * pieces, DIMENSION)).astype(np.float32)
    said = [session is not None for _, session, _, _ in entries]
    return IndexBatch(
        IndexRows(
            units=np.arange(first, first + len(entries)),
            at=np.array([at for at, *_ in entries], dtype=np.int64),
            recorded=np.zeros(len(entries), dtype=np.int64),
            kinds=np.array([0 if one else 9 for one in said], dtype=np.int16),
            sessions=np.array([label_key(one) if one else 0 for _, one, _, _ in entries], dtype=np.int64),
            speakers=np.array(
                [
                    label_key(who) if one and who else 0
                    for one, (_, _, who, _) in zip(said, entries, strict=True)
                ],
                dtype=np.int64,
            ),
            roles=np.array(
                [
                    -1 if not one else ROLES.index("assistant" if who == "Ben" else "user")
                    for one, (_, _, who, _) in zip(said, entries, strict=True)
                ],
                dtype=np.int8,
            ),
            asks=np.array([bool(words) and words[-1] == "ash" for *_, words in entries], dtype=np.bool_),
            pieces=np.full(len(entries), pieces, dtype=np.int64),
        ),
        sizes=np.array([len(blob) // PACKED.itemsize for blob in packed], dtype=np.int64),
        packed=np.frombuffer(b"".join(packed), dtype=PACKED),
        vectors=vectors / np.linalg.norm(vectors, axis=1, keepdims=True),
    )


def index_of(*batches: list[Told], pieces: int = 1) -> Index:
    """A block for each batch: they are put there by hand, or small ones would be merged."""
    blocks, first = [], 1
    for batch in batches:
        blocks += Index().extended(rows_of(first, batch, pieces), 0).blocks
        first += len(batch)
    return Index(tuple(blocks), first - 1)


def asked(index: Index, query: str = "oak yew", window: IndexFilter | None = None) -> Scan:
    return IndexScan(index, vectors(), query, TOKENIZER, window or IndexFilter())


def vectors() -> NDArray[np.float32]:
    two = np.random.default_rng(7).standard_normal((2, DIMENSION)).astype(np.float32)
    return two / np.linalg.norm(two, axis=1, keepdims=True)


batches = st.lists(st.lists(told, min_size=1, max_size=8), min_size=1, max_size=4)
window = st.builds(IndexFilter, start=st.none() | st.integers(0, 30), end=st.none() | st.integers(0, 30))


@settings(max_examples=80, deadline=None)
@given(batches, window, st.integers(1, 20), st.integers(1, 3))
def test_both_searches_are_those_of_the_index(
    given_batches: list[list[Told]], where: IndexFilter, limit: int, pieces: int
) -> None:
    index = index_of(*given_batches, pieces=pieces)
    scan = asked(index, window=where)
    for column in (0, 1):
        expected = index.search_vectors(vectors()[column], limit, where)
        found = scan.by_meaning(column, limit, -1.0)
        assert [unit for unit, _ in found] == [unit for unit, _ in expected]
        np.testing.assert_allclose([s for _, s in found], [s for _, s in expected], atol=1e-5)
    assert scan.by_words(limit) == index.search_terms(TOKENIZER.query("oak yew"), limit, where)


@settings(max_examples=60, deadline=None)
@given(batches, window)
def test_asked_of_one_speaker_a_search_is_the_whole_one_without_the_others(
    given_batches: list[list[Told]], where: IndexFilter
) -> None:
    scan = asked(index_of(*given_batches), window=where)
    entries = dict(enumerate((one for batch in given_batches for one in batch), start=1))
    theirs = {unit for unit, (_, session, who, _) in entries.items() if session and who == "Ben"}
    for who in (SaidBy(frozenset({"ben"})), SaidBy(role="assistant")):
        assert scan.by_meaning(0, 99, -1.0, who) == [
            one for one in scan.by_meaning(0, 99, -1.0) if one[0] in theirs
        ]
        assert scan.by_words(99, who) == [one for one in scan.by_words(99) if one[0] in theirs]


@settings(max_examples=80, deadline=None)
@given(batches, window, st.integers(1, 3))
def test_units_of_other_kinds_are_compared_under_the_rest_of_the_filter(
    given_batches: list[list[Told]], where: IndexFilter, pieces: int
) -> None:
    """Kind 0 is a turn; what nobody said is of the code 9, a fact of the world."""
    index = index_of(*given_batches, pieces=pieces)
    turns = replace(where, kinds=codes({"turn"}, None))
    scan, everything = asked(index, window=turns), asked(index, window=where)
    entries = dict(enumerate((one for batch in given_batches for one in batch), start=1))
    facts = {unit for unit, (_, session, *_) in entries.items() if session is None}
    whole = dict(everything.by_meaning(0, 999, -1.0))
    assert scan.cosines_of(0, [*entries, 999]) == whole
    assert scan.cosines_of(0, list(entries), {"fact"}) == {
        unit: cosine for unit, cosine in whole.items() if unit in facts
    }
    assert scan.near(0, 999, -1.0, {"fact"}) == [
        one for one in everything.by_meaning(0, 999, -1.0) if one[0] in facts
    ]
    assert scan.said_at([*entries, 999]) == {unit: at for unit, (at, *_) in entries.items()}


def test_nearness_inside_a_narrower_time_is_that_of_the_units_said_then() -> None:
    day = 86_400_000_000
    scan = asked(index_of([(at * day, "a", "Ana", ["oak"]) for at in range(20)]))
    between = Interval(EPOCH + timedelta(days=5), EPOCH + timedelta(days=8))
    found = scan.near(0, 99, -1.0, {"turn"}, between)
    assert sorted(scan.said_at([unit for unit, _ in found]).values()) == [5 * day, 6 * day, 7 * day]


def test_nothing_below_the_floor_comes_out() -> None:
    scan = asked(index_of([(at, "a", "Ana", ["oak"]) for at in range(20)]))
    found = scan.by_meaning(0, 99, 0.1)
    assert 0 < len(found) < 20 and all(score >= 0.1 for _, score in found)


@settings(max_examples=80, deadline=None)
@given(batches, window, st.data())
def test_around_some_units_their_sessions_stand_complete_and_in_order(
    given_batches: list[list[Told]], where: IndexFilter, data: st.DataObject
) -> None:
    entries = dict(enumerate((one for batch in given_batches for one in batch), start=1))
    passing = [
        unit
        for unit, (at, *_) in entries.items()
        if (where.start is None or at >= where.start) and (where.end is None or at < where.end)
    ]
    units = data.draw(st.lists(st.sampled_from(passing), unique=True)) if passing else []
    index = index_of(*given_batches)
    around = asked(index, window=where).around(units, 2)
    sessions = {entries[unit][1] for unit in units} - {None}
    expected = {unit for unit in passing if entries[unit][1] in sessions} | set(units)
    assert set(around.units.tolist()) == expected and len(around.units) == len(expected)
    assert around.units[around.rows_of].tolist() == units
    for label in sessions:
        own = [unit for unit in around.units.tolist() if entries[unit][1] == label]
        assert own == sorted(own, key=lambda unit: (entries[unit][0], unit))
        rows = np.isin(around.units, own)
        assert around.places[rows].tolist() == list(range(len(own)))
        assert len(set(around.sessions[rows].tolist())) == 1
    alone = [row for row, unit in enumerate(around.units.tolist()) if entries[unit][1] is None]
    assert len({int(around.sessions[row]) for row in alone}) == len(alone)
    assert all(around.places[row] == 0 and around.roles[row] == -1 for row in alone)
    words = [entries[unit][3] for unit in around.units.tolist()]
    for column, term in enumerate(TOKENIZER.query("oak yew")):
        word = {TOKENIZER.query(one)[0]: one for one in WORDS}[term]
        assert around.counts[:, column].tolist() == [one.count(word) for one in words]
    assert around.lengths.tolist() == [len(one) for one in words]
    assert around.asks.tolist() == [bool(one) and one[-1] == "ash" for one in words]
    cosines = index.similarities(vectors()[1], around.units, IndexFilter())
    np.testing.assert_allclose(
        around.cosines[:, 1], [cosines[unit] for unit in around.units.tolist()], atol=1e-5
    )


@settings(max_examples=40, deadline=None)
@given(batches, window, st.integers(1, 3), st.data())
def test_of_coded_vectors_a_unit_and_the_turns_beside_it_have_exact_cosines(
    given_batches: list[list[Told]], where: IndexFilter, pieces: int, data: st.DataObject
) -> None:
    plain = index_of(*given_batches, pieces=pieces)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(coding, "PLAIN_UP_TO", 0)
        coded = index_of(*given_batches, pieces=pieces)
    passing = [unit for unit, _ in asked(plain, window=where).by_meaning(0, 999, -1.0)]
    units = data.draw(st.lists(st.sampled_from(passing), unique=True)) if passing else []
    expected = asked(plain, window=where).around(units, 2)
    around = asked(coded, window=where).around(units, 2)
    assert around.units.tolist() == expected.units.tolist()
    near = [
        row for row in range(len(around.units)) if any(abs(row - own) <= 1 for own in around.rows_of.tolist())
    ]
    np.testing.assert_allclose(around.cosines[near], expected.cosines[near], atol=1e-4)
    np.testing.assert_allclose(around.cosines, expected.cosines, atol=0.05)
    for who in (None, SaidBy(role="assistant")):
        found = dict(asked(coded, window=where).by_meaning(1, 999, -1.0, who))
        exact = dict(asked(plain, window=where).by_meaning(1, 999, -1.0, who))
        assert found == pytest.approx(exact, abs=1e-4)
    some = asked(plain, window=where).cosines_of(0, passing)
    assert asked(coded, window=where).cosines_of(0, passing) == pytest.approx(some, abs=1e-4)


@settings(max_examples=60, deadline=None)
@given(batches, st.data(), st.integers(0, 3))
def test_of_long_sessions_what_is_near_is_the_same_as_in_the_whole(
    given_batches: list[list[Told]], data: st.DataObject, reach: int
) -> None:
    total = sum(map(len, given_batches))
    units = data.draw(st.lists(st.integers(1, total), unique=True))
    index = index_of(*given_batches)
    whole = asked(index).around(units, reach)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "MANY_ROWS", 0)
        near = asked(index).around(units, reach)
    keep = [
        row
        for row in range(len(whole.units))
        if any(
            whole.sessions[row] == whole.sessions[own] and abs(whole.places[row] - whole.places[own]) <= reach
            for own in whole.rows_of
        )
    ]
    for name in (
        "units",
        "at",
        "sessions",
        "places",
        "speakers",
        "roles",
        "asks",
        "cosines",
        "counts",
        "lengths",
    ):
        np.testing.assert_array_equal(getattr(near, name), getattr(whole, name)[keep])
    assert near.units[near.rows_of].tolist() == units


def test_a_session_that_spans_blocks_is_put_together() -> None:
    index = index_of(
        [(0, "a", "Ana", ["oak"]), (4, "a", "Ana", ["elm"]), (5, "b", "Ana", [])],
        [(2, "a", "Ben", ["yew"]), (6, "a", "Ben", [])],
    )
    assert len(index.blocks) == 2
    around = asked(index).around([4], 1)
    assert around.units.tolist() == [1, 4, 2, 5]
    assert around.said_by(SaidBy(frozenset({"BEN"}))).tolist() == [False, True, False, True]
    assert around.said_by(SaidBy(role="user")).tolist() == [True, False, True, False]


def test_nothing_is_around_nothing() -> None:
    for index in (Index(), index_of([(0, "a", "Ana", ["oak"])])):
        around = asked(index).around([], 3)
        assert not len(around.units) and not len(around.rows_of)
        assert around.counts.shape == (0, 2) and around.cosines.shape == (0, 2)


def test_what_was_written_after_the_snapshot_is_not_in_it() -> None:
    scan = asked(index_of([(0, "a", "Ana", ["oak"])], [(1, "a", "Ana", ["elm"])]))
    assert scan.held([3, 2, 1, 7]) == [2, 1]
    assert scan.held([]) == []
    assert asked(Index()).held([1]) == []


def test_a_word_was_said_by_whoever_said_it_inside_the_window() -> None:
    index = index_of(
        [(0, "a", "Ana", ["oak"]), (9, "a", "Ben", ["yew"])],
        [(5, None, None, ["elm"]), (6, "b", "Ben", ["oak"])],
    )
    scan = asked(index, "oak yew elm fir")
    order = {term: place for place, term in enumerate(TOKENIZER.query("oak yew elm fir"))}

    def said(who: SaidBy | None, one: Scan = scan) -> set[str]:
        ever = one.ever_said(who)
        return {word for word in ("oak", "yew", "elm", "fir") if ever[order[TOKENIZER.query(word)[0]]]}

    assert said(None) == {"oak", "yew", "elm"}
    assert said(SaidBy(frozenset({"Ana"}))) == {"oak"}
    assert said(SaidBy(role="assistant")) == {"oak", "yew"}
    assert said(SaidBy(frozenset({"Ben"})), asked(index, "oak yew elm fir", IndexFilter(start=8))) == {"yew"}


def test_names_are_told_from_other_words_unless_there_are_no_others() -> None:
    index = index_of([(0, "a", "Ana", ["oak"])])
    terms = TOKENIZER.query("Ana oak")
    assert asked(index, "Ana oak").names({"Ana"}).tolist() == [
        term == TOKENIZER.query("Ana")[0] for term in terms
    ]
    assert asked(index, "Ana").names({"Ana"}).tolist() == [False]
    assert not asked(index, "Ana oak").names(()).any()
    assert asked(index, "").names({"Ana"}).tolist() == []


def test_a_rare_word_is_more_telling_than_a_common_one_and_a_stop_word_not_at_all() -> None:
    index = index_of([(at, "a", "Ana", ["oak"] + ["yew"] * (at == 3)) for at in range(9)])
    oak, yew, the, unheard, nothing = asked(index).telling(["oaks", "yew", "the", "violin", ""])
    assert unheard > yew > oak > 0 and the == nothing == 0
    assert asked(index).telling([]).shape == (0,)


def test_a_unit_has_the_vector_of_its_first_piece_and_one_that_is_gone_zeros() -> None:
    entries: list[list[Told]] = [[(at, "a", "Ana", []) for at in (5, 1, 3)], [(2, "a", "Ana", [])]]
    index = index_of(*entries, pieces=2)
    found = asked(index).vectors_of([4, 2, 99, 1])
    np.testing.assert_array_equal(found[0], rows_of(4, entries[1], 2).vectors[0])
    np.testing.assert_array_equal(found[1], rows_of(1, entries[0], 2).vectors[2])
    np.testing.assert_array_equal(found[3], rows_of(1, entries[0], 2).vectors[0])
    assert not found[2].any()


def test_a_role_is_there_when_somebody_speaks_in_it() -> None:
    scan = asked(index_of([(0, "a", "Ana", [])], [(0, "a", "Ben", []), (1, None, None, [])]))
    assert scan.has_role("user") and scan.has_role("assistant") and not scan.has_role("tool")


def test_an_empty_bank_has_nothing_to_say() -> None:
    scan: Any = asked(Index(), "oak and the yew")
    assert scan.by_meaning(0, 5, -1.0) == [] and scan.by_words(5) == []
    assert not scan.ever_said(None).any() and not scan.has_role("user")
