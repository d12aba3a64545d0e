"""Names for the parts of a score: every feature has a plain word, and reasons are few."""

from __future__ import annotations

from everwhen.recall.features import FEATURES, PLAIN, plain_reasons
from everwhen.types import Why


def test_every_named_feature_has_a_plain_word() -> None:
    assert {feature for several in PLAIN.values() for feature in several} == set(FEATURES)


def test_reasons_are_the_three_that_added_most() -> None:
    why = Why(
        ranks={"keyword": 2},
        scores={"keyword": 4.0},
        parts={"bm25": 0.5, "cosine": 2.0, "by_user": 0.2, "time_after": 1.0, "newer": -3.0},
    )
    assert plain_reasons(why) == ["meaning", "time", "words"]


def test_without_a_score_the_channels_are_the_reason() -> None:
    why = Why(ranks={"semantic": 4, "temporal": 1}, scores={"semantic": 0.5, "temporal": 0.1})
    assert plain_reasons(why) == ["time", "meaning"]


def test_a_neighbour_is_here_because_of_another_result() -> None:
    assert plain_reasons(Why(beside="t1")) == ["beside another result"]
    assert plain_reasons(Why(), "fact") == ["learned from a result"]
