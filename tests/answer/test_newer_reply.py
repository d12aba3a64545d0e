"""What was said later and replaces what was said before, in answers without a model."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from everwhen.answer.extractive.reply import fitted, stated_reply, told_at, weight
from everwhen.answer.extractive.turn_replies import find_replies
from everwhen.api.memory import Memory
from everwhen.recall.question import parse
from everwhen.write.changes.newer_answers import SURE, replacing_signs

SAID = [
    ("Oda", "2024-02-05T18:00:00Z", "I take 30 euros for a piano lesson, first one is free."),
    ("Pim", "2024-02-05T18:01:00Z", "Fair! I swam the lake in 41 minutes this morning."),
    ("Oda", "2024-03-11T18:00:00Z", "Joost keeps the keys of the boathouse."),
    ("Pim", "2024-04-20T18:00:00Z", "Swam it in 36 minutes today, the water was like glass."),
    ("Oda", "2024-06-02T18:00:00Z", "From September I take 34 euros for a lesson, sorry everybody."),
    ("Pim", "2024-06-09T18:00:00Z", "My cousin paid 50 euros for one drum lesson in Antwerp!"),
    ("Oda", "2024-06-30T18:00:00Z", "The heating bill came, 210 euros."),
    ("Oda", "2024-07-30T18:00:00Z", "The heating bill again: 185 euros this time."),
]
AT = datetime(2024, 9, 1, 9, tzinfo=UTC)


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("home"), bank="talk") as memory:
        memory.add_many(
            {"role": "user", "name": name, "timestamp": at, "content": text, "session": at[:10]}
            for name, at, text in SAID
        )
        memory.flush()
        yield memory


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("How much does Oda take for a piano lesson?", "34 euros"),
        ("How much was the last heating bill?", "185 euros"),
        ("In how many minutes did Pim first swim the lake?", "41"),
        ("Who keeps the keys of the boathouse?", "Joost"),
    ],
)
def test_the_answer_is_what_holds_unless_the_first_is_asked_for(
    talk: Memory, question: str, answer: str
) -> None:
    assert talk.ask(question, at=AT, model="none").text.startswith(answer)


def test_an_answer_that_was_replaced_still_shows_that_it_was_told(talk: Memory) -> None:
    question = "How much does Oda take for a piano lesson?"
    found = find_replies(talk, talk._bank.reader, parse(question), at=AT)
    newer, surest = found.replies[0], max(found.replies, key=weight)
    assert told_at(newer) > told_at(surest) and newer.shown_by is surest.reading
    assert found.signs()["relevance"] == surest.reading.relevance > newer.reading.relevance


def test_the_weights_know_every_sign_and_none_counts_beyond_its_bound(talk: Memory) -> None:
    found = find_replies(talk, talk._bank.reader, parse("What does Oda take?"), at=AT)
    one, other = map(stated_reply, found.replies[:2])
    signs = replacing_signs(one, other, [one, other], 100.0)
    assert signs.keys() | {"constant"} == fitted()["replaces"].keys()
    assert signs["renews"] == SURE and -SURE <= signs["above"] <= SURE
    assert replacing_signs(one, other, [one, other], -100.0)["renews"] == -SURE
