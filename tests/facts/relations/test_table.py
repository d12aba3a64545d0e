"""The table of relations: every row is whole, and its questions are of whoever is put in."""

from __future__ import annotations

import pytest

from everwhen.facts.predicates import Predicates
from everwhen.facts.relations import Relation, asked_of, relations


def test_names_are_unique_and_every_question_has_its_place_for_the_subject() -> None:
    names = [one.name for one in relations()]
    assert len(names) == len(set(names)) >= 40
    for one in relations():
        assert one.asks
        assert one.examples
        assert one.whose.count("{value}") == 1
        assert all(question.count("{who}") == 1 for question in one.questions)


@pytest.mark.parametrize("relation", relations(), ids=lambda one: one.name)
def test_a_relation_is_a_predicate_that_its_other_words_mean(relation: Relation) -> None:
    predicate = Predicates().find(relation.name)
    assert predicate.multi == relation.many
    assert predicate.domain == relation.domain
    for words in relation.means:
        assert Predicates().find(words).name  # some of the table's own predicates are more exact
    assert Predicates().find(relation.name.replace(" ", "_")).key == predicate.key


@pytest.mark.parametrize(
    ("question", "who", "asked"),
    [
        ("Where does {who} live?", "I", "Where do I live?"),
        ("Where does {who} live?", "Ana", "Where does Ana live?"),
        ("What is {who}'s job?", "I", "What is my job?"),
        ("How old is {who}?", "I", "How old am I?"),
        ("Where was {who} born?", "they", "Where were they born?"),
        ("Does {who} have a pet?", "we", "Do we have a pet?"),
    ],
)
def test_a_question_is_put_to_whoever_it_is_about(question: str, who: str, asked: str) -> None:
    assert asked_of(question, who) == asked
