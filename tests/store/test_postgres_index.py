"""A large bank in PostgreSQL: the index of its vectors, and words that stand in very many of its turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from numpy.typing import NDArray

from everwhen.store.postgres import search, store
from everwhen.store.postgres.banks import PostgresBanks
from everwhen.store.postgres.store import PostgresStore
from everwhen.store.rows import Filter, SaidBy, Scored, SearchQuery, Wanted
from everwhen_time import Interval
from tests.conformance.turns import START, turn

UNITS, RARE, DIMENSION = 600, 7, 16


@pytest.fixture
def large(monkeypatch: pytest.MonkeyPatch, postgres: str) -> Iterator[PostgresStore]:
    """A bank that counts as large: two who talk, and one who says a little in between."""
    for module in (store, store):
        monkeypatch.setattr(module, "LARGE", 500)
    chance = np.random.default_rng(3)
    opened = PostgresBanks(postgres).open("big", embedder="fake", dimension=DIMENSION, zone="UTC")
    vectors = chance.standard_normal((UNITS, DIMENSION)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    spoken = ["Rui" if place % (UNITS // RARE) == 5 else ("Ana", "Ben")[place % 2] for place in range(UNITS)]
    opened.append(
        [
            replace(
                turn(
                    f"t{place}",
                    f"they talked about thing{place % 50}",
                    hours=2.4 * place,
                    speaker=spoken[place],
                    vectors=vectors[place : place + 1],
                ),
                made_with=opened.info.model,
            )
            for place in range(UNITS)
        ]
    )
    yield opened
    opened.close()


def nearest(
    bank: PostgresStore, vector: NDArray[np.float32], who: SaidBy | None = None, **where: object
) -> list[Scored]:
    query = SearchQuery(vector, where=Filter(**where))  # type: ignore[arg-type]
    [found] = bank.search(query).candidates(Wanted(10, words=False, whose=(who,))).meaning
    return found


def asked() -> list[NDArray[np.float32]]:
    chance = np.random.default_rng(4)
    some = chance.standard_normal((12, DIMENSION)).astype(np.float32)
    return list(some / np.linalg.norm(some, axis=1, keepdims=True))


def way(bank: PostgresStore) -> str:
    bank.voices()  # as a recall does first
    search = bank.search(SearchQuery(asked()[0]))
    search.candidates(Wanted(10, words=False))
    return search.way


def test_a_large_bank_gets_an_index_and_finds_nearly_the_same_by_it(large: PostgresStore) -> None:
    assert way(large) == "exact" and large.jobs.indexing.waits()
    exactly = [nearest(large, vector) for vector in asked()]
    assert large.jobs.indexing.run() and not large.jobs.indexing.waits()
    assert way(large) == "hnsw"
    again = [nearest(large, vector) for vector in asked()]
    same = [
        len({one.unit for one in a} & {one.unit for one in b}) for a, b in zip(exactly, again, strict=True)
    ]
    assert np.mean(same) >= 9.5
    assert not large.jobs.indexing.run(), "there is one already"


def test_a_small_bank_gets_none(monkeypatch: pytest.MonkeyPatch, large: PostgresStore) -> None:
    monkeypatch.setattr(store, "LARGE", UNITS + 1)
    assert not large.jobs.indexing.waits() and not large.jobs.indexing.run()
    assert way(large) == "exact"


def test_what_few_said_is_found_as_completely_as_without_the_index(large: PostgresStore) -> None:
    rui = SaidBy(frozenset({"rui"}))
    exactly = [nearest(large, vector, rui) for vector in asked()]
    assert all(len(found) == RARE for found in exactly)
    large.jobs.indexing.run()
    assert way(large) == "hnsw"
    assert [nearest(large, vector, rui) for vector in asked()] == exactly


def test_a_short_while_is_searched_exactly(large: PostgresStore) -> None:
    week = Interval(START, START + timedelta(days=7))
    exactly = [nearest(large, vector, between=week) for vector in asked()]
    large.jobs.indexing.run()
    large.voices()
    assert [nearest(large, vector, between=week) for vector in asked()] == exactly


def test_similar_turns_are_found_by_the_index_as_well(large: PostgresStore) -> None:
    vectors = np.stack(asked())
    exactly = large.graph.similar(vectors, "turn", 0.3, 5)
    large.jobs.indexing.run()
    large.voices()
    again = large.graph.similar(vectors, "turn", 0.3, 5)
    same = [len({*dict(a)} & {*dict(b)}) / max(1, len(a)) for a, b in zip(exactly, again, strict=True)]
    assert np.mean(same) >= 0.95


def test_doctor_misses_the_index_and_makes_it(large: PostgresStore) -> None:
    [finding] = [one for one in large.check() if one.check == "index"]
    assert "everwhen db index" in finding.problem and not finding.fixed
    [finding] = [one for one in large.check(fix=True) if one.check == "index"]
    assert finding.fixed
    assert not [one for one in large.check() if one.check == "index"]


def test_other_vectors_of_another_dimension_take_the_place_of_indexed_ones(large: PostgresStore) -> None:
    large.jobs.indexing.run()
    chance = np.random.default_rng(5)
    others = {f"t{place}": chance.standard_normal((1, 8)).astype(np.float32) for place in range(UNITS)}
    assert large.replace_vectors("other", 8, others) == []
    large.voices()
    assert nearest(large, others["t3"][0] / np.linalg.norm(others["t3"]))
    assert way_with(large, np.ones(8, np.float32)) == "hnsw", "the index was made anew"


def way_with(bank: PostgresStore, vector: NDArray[np.float32]) -> str:
    search = bank.search(SearchQuery(vector))
    search.candidates(Wanted(10, words=False))
    return search.way


def test_the_index_goes_with_its_bank(large: PostgresStore, postgres: str) -> None:
    large.jobs.indexing.run()
    banks = PostgresBanks(postgres)
    banks.drop("big")
    with banks.server.directly() as raw:
        assert raw.execute("SELECT 1 FROM pg_class WHERE relname LIKE 'vectors_near_%'").fetchone() is None


def words(bank: PostgresStore, asked: str, limit: int = 10) -> list[Scored]:
    [found] = bank.search(SearchQuery(words=asked)).candidates(Wanted(limit)).words
    return found


def test_words_of_very_many_turns_count_for_those_that_rarer_words_find(
    large: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = words(large, "Ana talked thing3 thing4")
    monkeypatch.setattr(search, "_MANY", 40)
    few = words(large, "Ana talked thing3 thing4")
    assert [one.unit for one in few] == [one.unit for one in whole]
    assert [one.score for one in few] == pytest.approx([one.score for one in whole])


def test_of_a_word_of_very_many_turns_alone_the_newest_are_found(
    large: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "_MANY", 40)
    found = {one.unit for one in words(large, "talked", 40)}
    assert found == set(range(UNITS - 39, UNITS + 1))
