"""From what a reader sees in a turn to facts: whose they are, how they are said, from when on they hold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import process_time

import numpy as np
import pytest

from everwhen.models.comparison import KINDS, STATUSES, Passage, ProposedAnswer, Reading
from everwhen.types import Turn
from everwhen.types.facts import relations
from everwhen.write.extract import stated_facts
from everwhen.write.extract.base import ExtractedFact
from everwhen.write.extract.grammar import Parse, ProseLine, caching_parser, prose_lines
from everwhen.write.extract.names import Coreference, Referents
from everwhen.write.extract.stated_facts import (
    PART,
    Calibration,
    ReadStatement,
    candidates,
    is_value,
    statements,
    subject_of,
    subject_words,
    trimmed,
)

RELATIONS = {one.name: one for one in relations()}
AT = datetime(2024, 5, 15, 12, tzinfo=UTC)  # a Wednesday


def turn(text: str) -> Turn:
    return Turn("t1", "s", 0, "user", "Ana", text, AT, "UTC", AT)


def coref(*people: tuple[str, str]) -> Coreference:
    referents = Referents()
    for place, (name, gender) in enumerate(people):
        referents.note(0, place, name, gender)
    return Coreference("Ana", "Ben", 1, referents=referents)


def said(
    text: str, value: str, name: str = "lives in", status: str = "true", subject: str = "I"
) -> ReadStatement:
    start = text.index(value)
    return ReadStatement(
        RELATIONS[name],
        value,
        (start, start + len(value)),
        subject,
        max(0, text.find(subject)),
        status,
        0.9,
        (),
        0.9,
    )


def facts(
    turn: Turn,
    stated: Sequence[ReadStatement],
    coref: Coreference,
    read: Sequence[tuple[ProseLine, Parse]] = (),
) -> list[ExtractedFact]:
    return [one.fact for one in candidates(turn, stated, coref, read)]


@pytest.mark.parametrize(
    ("words", "whom"),
    [
        ("I", "Ana"), ("", "Ana"), ("my", "Ana"), ("We", "Ana"), ("you", "Ben"), ("your", "Ben"),
        ("my sister", "Ana's sister"), ("my friend Rui", "Rui"), ("your mother", "Ben's mother"), ("Rui", "Rui"),
        ("the office", "office"), ("it", None), ("they", None), ("someone", None), ("she", "Mira"), ("He", None),
        ("her brother", "Mira's brother"), ("Dr. Costa", "Dr. Costa"), ("the", "Ana"),
    ],
)  # fmt: skip
def test_a_subject_is_somebody_or_nobody(words: str, whom: str | None) -> None:
    assert subject_of(words, 50, coref(("Mira", "she"))) == whom


@pytest.mark.parametrize(
    ("text", "pointed", "words"),
    [
        ("My dad's flat is in Bergen.", "My dad's flat", "My dad's flat"),
        ("My dad moved in downstairs, he sold his flat.", "My dad moved in downstairs", "My dad"),
        ("Good news. The dog, who is old, slept here.", "The dog, who is old, slept", "The dog"),
        ("Paid 612 for the whole year.", "Paid 612 for the whole year", None),
        ("Rui lives here.", "Rui", "Rui"),
    ],
)
def test_of_a_clause_that_is_pointed_at_its_subject_is_meant(
    text: str, pointed: str, words: str | None
) -> None:
    read = [(one, caching_parser().parse([one.text])[0]) for one in prose_lines(text)]
    start = text.index(pointed)
    assert subject_words(text, (start, start + len(pointed)), read) == words


@pytest.mark.parametrize(
    ("status", "kept"),
    [
        ("true", True),
        ("ended", True),
        ("denied", True),
        ("supposed", False),
        ("reported", False),
        ("fiction", False),
    ],
)
def test_what_is_supposed_reported_or_made_up_is_no_fact(status: str, kept: bool) -> None:
    text = "I live in Porto."
    assert bool(facts(turn(text), [said(text, "Porto", status=status)], coref())) is kept


def test_words_that_may_tell_two_things_tell_the_one_that_is_not_told_already() -> None:
    text = "I live in Leeds and work at Siemens."
    read = [
        replace(said(text, "Leeds"), chance=0.97),
        replace(said(text, "Siemens"), chance=0.75),
        replace(said(text, "Siemens", "works at"), chance=0.74),
    ]
    assert told_in(text, read) == [("lives in", "Leeds"), ("works at", "Siemens")]
    unsaid = [read[0], *(replace(one, subject="") for one in read[1:])]
    assert told_in(text, unsaid) == [("lives in", "Leeds"), ("works at", "Siemens")]


def test_a_reading_that_is_far_likelier_stays() -> None:
    text = "I lived in Leeds until May, now I live in Porto."
    read = [
        replace(said(text, "Porto"), chance=0.97),
        replace(said(text, "Leeds", status="ended"), chance=0.93),
        replace(said(text, "Leeds", "works at"), chance=0.6),
    ]
    assert told_in(text, read) == [("lives in", "Leeds"), ("lives in", "Porto")]
    text = "If I lived in Leeds, fine, but I live in Porto."
    read = [
        replace(said(text, "Leeds", status="supposed"), chance=0.97),
        replace(said(text, "Porto"), chance=0.95),
        replace(said(text, "Porto", "works at"), chance=0.6),
    ]
    assert told_in(text, read) == [("lives in", "Porto")]


def told_in(text: str, read: Sequence[ReadStatement]) -> list[tuple[str, str]]:
    return [(fact.predicate, fact.object) for fact in facts(turn(text), read, coref())]


def test_a_day_is_no_thing_that_is_due_and_a_person_may_be_called_like_a_month() -> None:
    text = "Thursday, 3 April. The report is due on 7 April. June lives in Leeds."
    read = [
        said(text, "3 April", "deadline", subject="Thursday"),
        said(text, "7 April", "deadline", subject="The report"),
        said(text, "Leeds", subject="June"),
    ]
    assert [(fact.subject, fact.object) for fact in facts(turn(text), read, coref())] == [
        ("report", "7 April"), ("June", "Leeds"),
    ]  # fmt: skip


def test_an_assistant_tells_nothing_of_itself() -> None:
    text = "I live in the cloud, and you live in Porto."
    answer = replace(turn(text), role="assistant")
    (fact,) = facts(answer, [said(text, "the cloud"), said(text, "Porto", subject="you")], coref())
    assert (fact.subject, fact.object) == ("Ben", "Porto")


def test_a_plan_is_a_fact_from_its_day_on_and_none_without_a_day() -> None:
    text = "I'm moving to Porto in July."
    (planned,) = facts(turn(text), [said(text, "Porto", status="planned")], coref())
    assert planned.valid is not None and planned.valid.start == datetime(2024, 7, 1, tzinfo=UTC)
    text = "I'm moving to Porto one day."
    assert not facts(turn(text), [said(text, "Porto", status="planned")], coref())


def test_a_fact_holds_from_the_time_said_beside_it_and_not_from_that_of_another_clause() -> None:
    text = "I moved to Porto in March."
    (fact,) = facts(turn(text), [said(text, "Porto")], coref())
    assert fact.valid is not None and fact.valid.start == datetime(2024, 3, 1, tzinfo=UTC)
    text = "I live in Porto, and in March we saw Rome."
    (fact,) = facts(turn(text), [said(text, "Porto")], coref())
    assert fact.valid is None
    text = "It was cold in March. I live in Porto."
    (fact,) = facts(turn(text), [said(text, "Porto")], coref())
    assert fact.valid is None


def year(number: int) -> datetime:
    return datetime(number, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "value", "name", "until"),
    [
        ("I lived in Madrid from 2010 to 2015.", "Madrid", "lives in", year(2016)),
        ("I lived in Oslo in 2010.", "Oslo", "lives in", year(2011)),
        ("We were based in Nairobi in 2010.", "Nairobi", "lives in", year(2011)),
        ("I worked at Shell in 2010.", "Shell", "works at", year(2011)),
        ("I was working at Shell in 2010.", "Shell", "works at", year(2011)),
        ("I studied physics in 2010.", "physics", "studies", year(2011)),
        ("I was a nurse in 2010.", "nurse", "works as", year(2011)),
        ("I had a parrot in 2010.", "parrot", "has pet", year(2011)),
        ("I have lived in Oslo since 2010.", "Oslo", "lives in", None),
        ("I moved to York in 2010.", "York", "lives in", None),
        ("I started at Monzo in 2010.", "Monzo", "works at", None),
        ("I started working at Monzo in 2010.", "Monzo", "works at", None),
        ("I was promoted to team lead in 2010.", "team lead", "works as", None),
        ("I got a dog in 2010.", "dog", "has pet", None),
        ("We had a baby boy in 2010.", "boy", "has child", None),
        ("The fee was 30 euros in 2010.", "30 euros", "costs", None),
    ],
)
def test_what_was_so_at_a_time_held_then_and_what_began_then_holds_still(
    text: str, value: str, name: str, until: datetime | None
) -> None:
    read = [(one, caching_parser().parse([one.text])[0]) for one in prose_lines(text)]
    (fact,) = facts(turn(text), [said(text, value, name)], coref(), read)
    assert fact.valid is not None and (fact.valid.start, fact.valid.end) == (year(2010), until)


def test_nothing_is_told_of_itself_or_twice() -> None:
    text = "Porto is Porto, and I live in Porto."
    assert not facts(turn(text), [said(text, "Porto", subject="Porto")], coref())
    assert len(facts(turn(text), [said(text, "Porto"), said(text, "Porto")], coref())) == 1


def test_a_value_stands_without_article_and_punctuation() -> None:
    text = 'I work as "the nurse".'
    assert text[slice(*trimmed(text, (9, len(text))))] == "nurse"
    text = "at 5 p.m."
    assert text[slice(*trimmed(text, (3, len(text))))] == "5 p.m."
    assert trimmed("...", (0, 3))[0] == trimmed("...", (0, 3))[1]


@pytest.mark.parametrize("words", ["it", "They", "something", "...", ""])
def test_a_word_that_names_nothing_is_no_value(words: str) -> None:
    assert not any(is_value(one, words) for one in relations())


@pytest.mark.parametrize(
    ("words", "name"),
    [("port 9443", "listens on"), ("Version 5.1", "version"), ("port town", "located"), ("9443", "located")],
)
def test_a_number_that_says_what_it_is_belongs_to_that_relation(words: str, name: str) -> None:
    asked = next(one for one in relations() if one.name == "located")
    text = f"staging moved to {words}"
    [(relation, place, _)] = stated_facts._values(text, [(asked, (text.index(words), len(text)), 0.9)])
    assert (relation.name, text[slice(*place)]) == (name, words)


def test_of_people_the_word_of_the_relation_alone_names_nobody() -> None:
    kin = next(one for one in relations() if one.name == "has relative")
    assert not any(is_value(kin, words) for words in ("cousin", "Her cousins", "an aunt"))
    assert all(is_value(kin, words) for words in ("Bea", "my cousin Bea", "Grandpa Otto"))
    pet = next(one for one in relations() if one.name == "has pet")
    assert is_value(pet, "dog")  # which kind of animal is worth knowing


def test_a_number_is_one() -> None:
    costs = next(one for one in relations() if one.value == "number")
    assert is_value(costs, "forty euros") and is_value(costs, "12.50") and not is_value(costs, "a lot")


@dataclass
class Pointing:
    """Sees `values` in every passage, each as the first relation's; whoever is asked about is the speaker."""

    values: Sequence[str]
    answers: float = 0.99
    name: str = "pointing"

    def answers_in(self, questions: Sequence[str], passages: Sequence[Passage]) -> list[list[ProposedAnswer]]:
        return [
            [
                ProposedAnswer(0, (one.text.index(value), one.text.index(value) + len(value)), 0.9)
                for value in self.values
                if value in one.text
            ]
            for one in passages
        ]

    def read_each(self, pairs: Sequence[tuple[str, Passage]]) -> list[Reading]:
        kinds = np.full(len(KINDS), (1 - self.answers) / 3, np.float32)
        kinds[KINDS.index("none")] = 1 - self.answers
        kinds[0] = self.answers
        statuses = np.eye(len(STATUSES), dtype=np.float32)[0]
        return [Reading(3.0, kinds, statuses, (0, 1), 0.9) for _ in pairs]


def test_every_part_of_a_long_turn_is_read_and_places_are_of_the_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(stated_facts, "calibration", lambda: Calibration((1.0, 1.0, 1.0, 0.0, 0.0), 0.0, 0.5))
    text = "I live in Porto. " + "The weather is mild here. " * 40 + "I used to live in Lisbon."
    assert len(text) > 3 * PART
    ((first, last),) = statements(Pointing(["Porto", "Lisbon"]), [Passage("Ana", text)])  # type: ignore[arg-type]
    assert [text[slice(*one.place)] for one in (first, last)] == ["Porto", "Lisbon"]
    assert last.subject_at > PART and text[last.subject_at] == last.subject


def test_what_nobody_is_said_to_have_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stated_facts, "calibration", lambda: Calibration((1.0, 1.0, 1.0, 0.0, 0.0), 0.0, 0.5))
    doubtful = replace(Pointing(["Porto"]), answers=0.001)
    assert statements(doubtful, [Passage("Ana", "Porto is nice.")]) == [[]]  # type: ignore[arg-type]
    assert statements(doubtful, []) == []  # type: ignore[arg-type]


def test_words_that_are_likelier_another_relation_s_value_are_less_sure() -> None:
    class Undecided(Pointing):
        def answers_in(
            self, questions: Sequence[str], passages: Sequence[Passage]
        ) -> list[list[ProposedAnswer]]:
            other = len(RELATIONS["lives in"].asks)  # the first question of the relation after it
            return [
                [ProposedAnswer(0, (10, 15), 0.6), ProposedAnswer(other, (10, 15), 0.7)] for _ in passages
            ]

    ((likely, rival),) = stated_facts.proposals(Undecided([]), [Passage("Ana", "I live in Porto.")])  # type: ignore[arg-type]
    assert likely.signs[0] > rival.signs[0]
    assert likely.signs[3] == rival.signs[0] and likely.signs[4] == 0.0
    assert rival.signs[3] == likely.signs[0] and rival.signs[4] == likely.signs[0] - rival.signs[0]


def test_a_relation_that_is_often_mistaken_has_to_be_surer() -> None:
    signs, weights = (0.0, 0.0, 0.0, -3.0, 0.0), (1.0, 1.0, 1.0, 0.0, 0.0)
    mistaken = Calibration(weights, 0.0, 0.5, {"lives in": -1.0})
    assert mistaken.chance(signs, "lives in") < mistaken.chance(signs, "works at")


def test_of_a_pasted_book_only_what_stands_around_a_value_is_looked_at() -> None:
    text = "I moved to Porto in March. " * 40_000
    began = process_time()
    found = facts(turn(text), [said(text, "Porto")] * 50, coref())
    assert len(found) == 1 and found[0].valid is not None and found[0].valid.start is not None
    assert process_time() - began < 5  # to look through all of it for each value takes half a minute
