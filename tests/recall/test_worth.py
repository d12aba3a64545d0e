"""What a memory is worth to a question of its kind."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen.recall.complexity import Complexity
from everwhen.recall.worth import CONSIDERED, STANDING, signs, weigh
from everwhen.types import Recalled
from tests.recall.memories import recalled

KINDS: tuple[Complexity, ...] = get_args(Complexity)


def said(name: str, text: str, score: float = 1.0, session: str = "s") -> Recalled:
    return replace(recalled(name, score, text), session=session)


@settings(deadline=None)
@given(st.lists(st.floats(0, 1), max_size=80), st.sampled_from(KINDS))
def test_nothing_is_lost_and_the_best_has_a_score_of_one(values: list[float], kind: Complexity) -> None:
    memories = [recalled(f"m{place}", one) for place, one in enumerate(sorted(values, reverse=True))]
    out = weigh(memories, kind)
    assert sorted(one.id for one in out) == sorted(one.id for one in memories)
    assert [one.score for one in out] == sorted((one.score for one in out), reverse=True)
    assert not out or kind == "simple" or out[0].score == pytest.approx(1.0)


def test_signs_tell_deeds_names_and_the_speaker() -> None:
    read = signs(
        [
            said("a", "I went to the lake with Clara."),
            said("b", "That sounds lovely!"),
            said("c", "My sister painted a boat."),
            said("d", "Have you seen it?"),
        ]
    )
    assert read["did"].tolist() == [1, 0, 1, 0]
    assert read["named"].tolist() == [1, 0, 0, 0]
    assert read["self"].tolist() == [1, 0, 1, 0]


def test_kin_are_the_others_of_the_session_among_the_first() -> None:
    read = signs(
        [said("a", "x", session="one"), said("b", "x", session="one"), said("c", "x", session="two")]
    )
    assert read["kin"][0] == read["kin"][1] > read["kin"][2] == 0


def test_what_nobody_said_is_neither_for_nor_against() -> None:
    fact = replace(said("f", "Ana lives in Porto"), kind="fact")
    read = signs([said("a", "I moved to Porto."), said("b", "Nice."), fact])
    assert read["did"][2] == pytest.approx(0.5)


def test_a_list_prefers_deeds_by_name_and_a_judgement_what_people_say_of_themselves() -> None:
    first = [said(f"first {place}", "Climbing it is.", session="other") for place in range(STANDING)]
    deed = said("deed", "I climbed Ben Nevis with Clara.", 0.9)
    plain = said("plain", "Climbing is great fun.", 1.0)
    assert [one.id for one in weigh([*first, plain, deed], "hybrid")[STANDING:]] == ["deed", "plain"]
    own = said("own", "I am afraid of heights.", 0.9)
    assert [one.id for one in weigh([*first, plain, own], "complex")[STANDING:]] == ["own", "plain"]


@settings(deadline=None)
@given(st.lists(st.floats(0.01, 1), min_size=1, max_size=30), st.sampled_from(KINDS))
def test_the_first_five_stay_where_they_are(values: list[float], kind: Complexity) -> None:
    memories = [
        said(f"m{place}", ("I went to Porto.", "Nice!")[place % 2], one, f"s{place % 3}")
        for place, one in enumerate(sorted(values, reverse=True))
    ]
    assert [one.id for one in weigh(memories, kind)[:STANDING]] == [one.id for one in memories[:STANDING]]


def test_what_the_kind_of_question_added_is_told() -> None:
    [first] = weigh([said("a", "I climbed Ben Nevis with Clara.")], "hybrid")
    assert set(first.why.need) == {"did", "named", "self"}


def test_what_stands_below_those_considered_has_no_signs() -> None:
    many = [said(f"m{place}", "I went to Porto.", 1.0 - place / 200) for place in range(CONSIDERED + 5)]
    assert not weigh(many, "hybrid")[-1].why.need
