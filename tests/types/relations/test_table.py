"""The table of relations: every row is whole, and its questions are of whoever is put in."""

from __future__ import annotations

import pytest

from everwhen.facts.statements import Predicates
from everwhen.models.embedder import count_tokens
from everwhen.types.facts import Relation, asked_of, in_words, relations


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


PAST = {"is": "was", "has": "had", "include": "included", "leads": "led", "takes": "took", "eats": "ate",
        "speaks": "spoke", "runs": "ran", "comes": "came", "costs": "cost"}  # fmt: skip


@pytest.mark.parametrize("name", [*(one.name for one in relations()), "married to", "born on", "name"])
def test_a_fact_is_a_sentence_and_one_that_has_ended_stands_in_the_past(name: str) -> None:
    """Its verb alone is another, and it costs as many tokens: the budget counts them once."""
    holds, held = (in_words("Ana", name, "tea", ended=ended) for ended in (False, True))
    if "was" not in holds.split():
        ((now, then),) = [
            pair for pair in zip(holds.split(), held.split(), strict=True) if pair[0] != pair[1]
        ]
        assert then == PAST.get(now, then)
        assert now in PAST or (now.endswith("s") and then.endswith("ed"))
    assert count_tokens(f"fact: {holds}") == count_tokens(f"fact: {held}")


@pytest.mark.parametrize(
    ("predicate", "value", "holds", "held"),
    [
        ("allergic to", "nuts", "Ana is allergic to nuts", "Ana was allergic to nuts"),
        ("plans", "Lagos", "Ana's plans include Lagos", "Ana's plans included Lagos"),
        ("has_condition", "asthma", "Ana has asthma", "Ana had asthma"),
        ("prefers", "tea", "Ana prefers tea", "Ana preferred tea"),
        ("married to", "Tom", "Ana is married to Tom", "Ana was married to Tom"),
        (
            "weighs in at",
            "60 kg",
            "Ana weighs in at 60 kg",
            "Ana weighs in at 60 kg",
        ),  # nobody knows its past
    ],
)
def test_facts_are_told_as_people_say_them(predicate: str, value: str, holds: str, held: str) -> None:
    assert in_words("Ana", predicate, value) == holds
    assert in_words("Ana", predicate, value, ended=True) == held
