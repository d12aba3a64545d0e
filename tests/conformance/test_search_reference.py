"""The search of a store against a plain one: the same candidates, links, evidence and neighbours."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from itertools import count
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from everwhen.store.rows import DERIVED, Evidence, Filter, SaidBy, Scored, SearchQuery, Turns, Wanted
from everwhen.store.sql.store import Store
from everwhen_time import Interval
from tests.conformance.conftest import Open
from tests.conformance.plain_search import TOKENIZER, PlainSearch, PlainUnit
from tests.conformance.turns import DIMENSION, START, turn
from tests.conformance.units import event, raw, write

HOUR = timedelta(hours=1)
WORDS = ("oak", "elm", "fir", "yew", "ash")
QUESTION = "Did Ben say oak or yew?"
ANYBODY = (None, SaidBy(frozenset({"ben"})), SaidBy(role="assistant"))
NUMBER = count()

words = st.lists(st.sampled_from(WORDS), max_size=5)
said = st.tuples(
    st.integers(0, 20), st.sampled_from("abc"), st.sampled_from(["Ana", "Ben"]), words, words, st.booleans()
)
happened = st.tuples(st.integers(0, 9), st.integers(0, 20), words)
hours = st.none() | st.integers(0, 20)
filters = st.builds(
    lambda sides, kinds: Filter(
        between=None
        if sides == (None, None)
        else Interval(*(None if side is None else START + side * HOUR for side in sides)),
        kinds=kinds,
    ),
    st.tuples(hours, hours).map(lambda both: both if None in both else (min(both), max(both))),  # type: ignore[type-var]
    st.sampled_from([None, frozenset({"turn"}), frozenset({"turn", "event"})]),
)
banks = st.tuples(
    st.lists(st.lists(said, min_size=1, max_size=8), min_size=1, max_size=3), st.lists(happened, max_size=3)
)
checked = settings(
    max_examples=20,
    phases=[Phase.explicit, Phase.generate],
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
Tell = Callable[[Any], tuple[Store, list[PlainUnit]]]


def vectors(seed: int, pieces: int) -> NDArray[np.float32]:
    """Random ones of length one, as precise as every database keeps them: 16 bits a number."""
    found = np.random.default_rng(seed).standard_normal((pieces, DIMENSION))
    return (found / np.linalg.norm(found, axis=1, keepdims=True)).astype(np.float16).astype(np.float32)


@pytest.fixture
def tell(opened: Open) -> Tell:
    """A new bank with some turns and events in it, and what it holds."""

    def new(told: Any) -> tuple[Store, list[PlainUnit]]:
        store, held, seed = opened(f"b{next(NUMBER)}"), [], count(1)
        for batch in told[0]:
            turns = []
            for at, session, who, own, context, asks in batch:
                made = turn(
                    f"t{next(NUMBER)}",
                    " ".join(own) + "?" * asks,
                    hours=at,
                    session=session,
                    speaker=who,
                    vectors=list(vectors(next(seed), 1 + at % 2)),
                    context=" ".join(context),
                )
                role = "assistant" if who == "Ben" else "user"
                turns.append(replace(made, turn=replace(made.turn, role=role), codes=made.turn.id.encode()))
            store.append(turns)
            for one, unit in zip(turns, raw(store, *(one.turn.id for one in turns)), strict=True):
                own_turn = one.turn
                held.append(
                    PlainUnit(
                        unit, "turn", own_turn.said_at, own_turn.text, one.context, own_turn.speaker, one.vectors,
                        own_turn.session, own_turn.role, asks=own_turn.text.endswith("?"),
                    )
                )  # fmt: skip
        told_by = [store.units([one.unit])[one.unit].id for one in held]
        for number, (at, occurred, own) in enumerate(told[1]):
            source = at % len(told_by)
            made = event(
                f"e{number}",
                told_by[source],
                text=" ".join(own) or "nothing",
                vectors=list(vectors(next(seed), 1)),
                occurred=Interval(START + occurred * HOUR, START + (occurred + 2) * HOUR) if at % 3 else None,
            )
            unit = write(store, made)[made.id]
            # It stands where its turn does.
            held.append(
                replace(
                    held[source], unit=unit, kind="event", text=made.text, context="", vectors=made.vectors,
                    occurred=made.occurred,
                )
            )  # fmt: skip
        return store, held

    return new


def both(tell: Tell, told: Any, where: Filter) -> tuple[Store, SearchQuery, PlainSearch]:
    store, held = tell(told)
    query = SearchQuery(vectors(999, 1)[0], QUESTION, where)
    assert query.vector is not None
    return store, query, PlainSearch(held, query.vector, QUESTION, where)


@checked
@given(banks, filters, st.integers(1, 12), st.sampled_from([-1.0, 0.1]))
def test_candidates_are_the_best_of_all_and_of_each_that_is_asked_for(
    tell: Tell, told: Any, where: Filter, limit: int, floor: float
) -> None:
    store, query, plain = both(tell, told, where)
    found = store.search(query).candidates(Wanted(limit, floor, whose=ANYBODY))
    for who, meaning, by_words in zip(ANYBODY, found.meaning, found.words, strict=True):
        own = plain.own(who)
        same(meaning, {unit: plain.cosines[unit] for unit in own if plain.cosines[unit] >= floor}, limit)
        bm25 = {unit: plain.bm25(unit) for unit in own}
        same(by_words, {unit: score for unit, score in bm25.items() if score > 0}, limit)


def same(found: list[Scored], scores: dict[int, float], limit: int) -> None:
    """The best scores are the same, and each is its unit's; units with the same one may change places."""
    assert [one.score for one in found] == pytest.approx(
        sorted(scores.values(), reverse=True)[:limit], abs=1e-4
    )
    assert {one.unit: one.score for one in found} == pytest.approx(
        {one.unit: scores[one.unit] for one in found}, abs=1e-4
    )
    assert len({one.unit for one in found}) == len(found)


@checked
@given(banks, filters, st.integers(1, 12), st.tuples(st.integers(0, 20), st.integers(1, 9)))
def test_timed_candidates_are_turns_of_the_windows_and_whatever_has_a_time_of_its_own(
    tell: Tell, told: Any, where: Filter, limit: int, sides: tuple[int, int]
) -> None:
    store, query, plain = both(tell, told, where)
    window = Interval(START + sides[0] * HOUR, START + sum(sides) * HOUR)
    found = store.search(query).candidates(
        Wanted(0, meaning=False, words=False, windows=(window,), timed=limit, timed_floor=0.0)
    )
    assert not found.meaning and not found.words
    between = window if where.between is None else where.between.intersection(window)
    turns = [] if between is None else plain.nearest(limit, 0.0, plain.passing({"turn"}, between))
    derived = plain.nearest(limit, 0.0, plain.passing(DERIVED))
    expected = {unit: Interval(at := plain.units[unit].at, at, "second") for unit in turns} | {
        unit: plain.units[unit].occurred for unit in derived if plain.units[unit].occurred is not None
    }
    assert {one.unit: one.when for one in found.timed} == expected
    assert all(one.kind == plain.units[one.unit].kind for one in found.timed)
    assert [one.cosine for one in found.timed] == pytest.approx(
        [plain.cosines[one.unit] for one in found.timed], abs=1e-5
    )


@checked
@given(banks, filters, st.data())
def test_evidence_is_what_stands_in_the_units_and_right_beside_them(
    tell: Tell, told: Any, where: Filter, data: st.DataObject
) -> None:
    store, query, plain = both(tell, told, where)
    wanted = data.draw(st.lists(st.sampled_from([*plain.units, 9999]), unique=True))
    who = data.draw(st.sampled_from(ANYBODY))
    found = store.search(query).evidence(
        wanted,
        who=who,
        people={"Ben"},
        tokens=("oak", "the", "violin"),
        sessions=True,
        vectors=True,
        codes=True,
    )
    units = sorted(set(wanted) & set(plain.own()))
    assert [row.seq for row in found.rows] == units == found.own.units.tolist()
    assert [row.text for row in found.rows] == [plain.units[unit].text for unit in units]
    assert found.at.tolist() == [round(plain.units[unit].at.timestamp() * 1e6) for unit in units]
    same_turns(found.own, units, plain)
    same_turns(found.before, [plain.beside(unit, -1) for unit in units], plain)
    same_turns(found.after, [plain.beside(unit, 1) for unit in units], plain)
    sessions = [plain.session(unit) for unit in units]
    assert found.places.tolist() == [
        session.index(unit) for session, unit in zip(sessions, units, strict=True)
    ]
    keys = dict(zip(found.sessions.tolist(), map(tuple, sessions), strict=True))
    assert [keys[key] for key in found.sessions.tolist()] == [tuple(one) for one in sessions]
    assert len(set(keys.values())) == len(keys)
    assert found.session is not None and found.vectors is not None and found.codes is not None
    for place, (unit, session) in enumerate(zip(units, sessions, strict=True)):
        assert found.session.counts[place].tolist() == [
            sum(plain.counts[one].get(term, 0.0) for one in session) for term in plain.terms
        ]
        assert found.session.lengths[place] == sum(map(plain.length, session))
        np.testing.assert_allclose(found.vectors[place], plain.units[unit].vectors[0], atol=1e-6)
        assert found.codes[place].decode() == (
            found.rows[place].id if plain.units[unit].kind == "turn" else ""
        )
    for one in ANYBODY[1:]:
        assert one is not None
        assert found.said_by(one).tolist() == [plain.said(unit, one) for unit in units]
    same_terms(found, plain, who)
    some = found.only(set(units[::2]))
    assert [row.seq for row in some.rows] == units[::2] == some.own.units.tolist()
    assert some.codes is not None and some.codes.tolist() == found.codes.tolist()[::2]


def same_turns(found: Turns, units: list[int], plain: PlainSearch) -> None:
    assert found.units.tolist() == units
    there = [unit for unit in units if unit >= 0]
    here = found.units >= 0
    assert found.cosines[here].tolist() == pytest.approx([plain.cosines[unit] for unit in there], abs=1e-5)
    assert found.counts[here].tolist() == [
        [plain.counts[unit].get(term, 0.0) for term in plain.terms] for unit in there
    ]
    assert found.lengths[here].tolist() == [plain.length(unit) for unit in there]
    assert found.asks[here].tolist() == [plain.units[unit].asks for unit in there]
    assert not found.counts[~here].any() and not found.asks[~here].any() and not found.lengths[~here].any()


def same_terms(found: Evidence, plain: PlainSearch, who: SaidBy | None) -> None:
    [ben], [oak], [violin] = (TOKENIZER.query(word) for word in ("Ben", "oak", "violin"))
    terms = found.terms
    assert terms.idf.tolist() == pytest.approx([plain.idf(term) for term in plain.terms], abs=1e-5)
    assert terms.mean_length == pytest.approx(plain.mean_length)
    assert terms.names.tolist() == [term == ben for term in plain.terms]
    assert terms.said.tolist() == [
        any(term in plain.counts[unit] for unit in plain.own(who)) for term in plain.terms
    ]
    assert terms.telling.tolist() == pytest.approx([plain.idf(oak), 0.0, plain.idf(violin)], abs=1e-5)


@checked
@given(banks, filters, st.integers(0, 3), st.data())
def test_around_a_unit_are_the_turns_of_its_session_in_order(
    tell: Tell, told: Any, where: Filter, reach: int, data: st.DataObject
) -> None:
    store, query, plain = both(tell, told, where)
    wanted = data.draw(st.lists(st.sampled_from([*plain.units, 9999]), unique=True))
    found = store.search(query).around(wanted, reach)
    expected = {}
    for unit in set(wanted) & set(plain.own()):
        near = [plain.beside(unit, step) for step in range(-reach, reach + 1) if step]
        expected[unit] = [one for one in near if one >= 0]
    assert {unit: [row.seq for row in rows] for unit, rows in found.items()} == expected


@checked
@given(banks, filters, st.data())
def test_links_come_with_the_kinds_and_cosines_of_what_passes(
    tell: Tell, told: Any, where: Filter, data: st.DataObject
) -> None:
    store, query, plain = both(tell, told, where)
    units = list(plain.units)
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(units), st.sampled_from(units)), max_size=6))
    with store.graph.writing(store.info.model) as writer:
        for source in {source for source, _ in pairs}:
            targets = {target for other, target in pairs if other == source and target != source}
            writer.relink("temporal", {source: [(target, 0.5) for target in targets]})
    wanted = data.draw(st.lists(st.sampled_from(units), unique=True, min_size=1))
    found = store.search(query).links(wanted, ("temporal",), 0.1)
    expected = store.graph.neighbours(wanted, ("temporal",), 0.1)
    assert set(found.edges) == {(link.source, link.target, link.weight) for link in expected}
    assert set(found.made_of) == set(store.graph.provenance(wanted))
    named = {*wanted, *(link.target for link in expected), *(unit for pair in found.made_of for unit in pair)}
    assert set(found.units) == named & set(plain.passing())
    for unit, near in found.units.items():
        assert near.kind == plain.units[unit].kind
        assert near.cosine == pytest.approx(plain.cosines[unit], abs=1e-5)
    assert not store.search(query).links(wanted, ()).edges


def test_an_empty_bank_has_nothing_to_say(store: Store) -> None:
    search = store.search(SearchQuery(vectors(1, 1)[0], "oak and the yew"))
    found = search.candidates(Wanted(5, windows=(Interval(START, None),), timed=5))
    assert found.meaning == [[]] and found.words == [[]] and not found.timed
    evidence = search.evidence([1, 2], sessions=True, vectors=True, codes=True)
    assert len(evidence) == 0 and not evidence.terms.said.any()
    assert search.around([1], 2) == {} and not search.links([1]).units
    assert store.voices() == (frozenset(), frozenset(), frozenset())


def test_without_a_vector_only_words_are_found(store: Store) -> None:
    store.append([turn("a", "oak"), turn("b", "elm")])
    search = store.search(SearchQuery(words="oak"))
    found = search.candidates(Wanted(5))
    assert not found.meaning and [[row.unit for row in one] for one in found.words] == [[1]]
    assert search.evidence([1]).own.counts.tolist() == [[1.0]]


def test_names_are_told_from_other_words_unless_there_are_no_others(store: Store) -> None:
    store.append([turn("a", "oak")])

    def names(query: str, people: set[str]) -> list[bool]:
        found: list[bool] = (
            store.search(SearchQuery(words=query)).evidence((), people=people).terms.names.tolist()
        )
        return found

    assert sorted(names("Ana oak", {"Ana"})) == [False, True]
    assert names("Ana", {"Ana"}) == [False] and not any(names("Ana oak", set())) and names("", {"Ana"}) == []


def test_what_was_written_or_removed_since_is_not_told_of(store: Store) -> None:
    store.append([turn("a", "oak", vectors=[vectors(1, 1)[0]])])
    search = store.search(SearchQuery(vectors(1, 1)[0], "oak"))
    search.candidates(Wanted(5))
    store.append([turn("b", "oak", hours=1)])
    assert [row.id for row in search.evidence([1, 2]).rows] == ["a"] and search.around([1], 1) == {1: []}
    assert store.voices() == ({"Ana"}, {"user"}, frozenset())
