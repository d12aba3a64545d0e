"""Answers without a model, over the demo story and small talks of our own, with the real engine."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from everwhen.answer.extractive.turn_replies import find_replies
from everwhen.api.memory import Memory
from everwhen.cli.story.story import ASKED_AT
from everwhen.recall.question import parse
from everwhen.types import Answer
from tests.answer.demo_answers import questions, right

WANTED = {"answerable": 0.65, "unanswerable": 0.8}
"""The share of the questions about the story that is to be right."""


@pytest.fixture(scope="module")
def talk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    said = [
        ("Ines", "2024-03-04T18:00:00Z", "I adopted a tortoise called Basil yesterday."),
        ("Tom", "2024-03-04T18:01:00Z", "Lovely! My sister Clara lives in Ghent and has a parrot."),
        ("Ines", "2024-03-20T18:00:00Z", "I ran the city marathon last Sunday, it took me five hours."),
        ("Tom", "2024-04-02T18:00:00Z", "I never finished the novel, it bored me."),
        ("Ines", "2024-04-10T18:00:00Z", "I bought three cactuses at the market in Bruges for 24 euros."),
        ("Tom", "2024-05-06T18:00:00Z", "I started violin lessons on 1 May because Clara plays too."),
    ]
    with Memory.open(tmp_path_factory.mktemp("home"), bank="talk") as memory:
        memory.add_many(
            {"role": "user", "name": name, "timestamp": at, "content": text, "session": at[:10]}
            for name, at, text in said
        )
        memory.flush()
        yield memory


AT = datetime(2024, 5, 8, 9, tzinfo=UTC)


def ask(memory: Memory, question: str) -> Answer:
    return memory.ask(question, at=AT, model="none")


@pytest.mark.parametrize("every", [3, pytest.param(1, marks=pytest.mark.long)])
@pytest.mark.parametrize("which", ["answerable", "unanswerable"])
def test_the_demo_story_is_answered_and_left_unanswered_rightly(
    story_told: Memory, which: str, every: int
) -> None:
    cases = questions(which)[::every]
    wrong = [
        case["question"]
        for case in cases
        if not right(case, story_told.ask(case["question"], at=ASKED_AT, model="none"))
    ]
    assert len(cases) == (20 if every == 1 else 7)
    assert 1 - len(wrong) / len(cases) >= WANTED[which], wrong


def test_an_answer_says_that_it_is_extractive_and_quotes_what_was_said(talk: Memory) -> None:
    answer = ask(talk, "What did Ines adopt?")
    assert answer.method == "extractive"
    assert answer.trace["how"] == "reading"
    assert "tortoise" in answer.text
    for citation in answer.citations:
        assert citation.quote in talk.turn(citation.turn).text


def test_a_date_is_the_interval_of_when_in_words(talk: Memory) -> None:
    answer = ask(talk, "When did Ines adopt a tortoise?")
    assert answer.text.startswith("3 March 2024")
    assert [interval.to_json()["start"] for interval in answer.intervals] == ["2024-03-03T00:00:00Z"]


def test_days_between_two_things_are_computed(talk: Memory) -> None:
    question = "How many days passed between Ines adopting a tortoise and Ines running the marathon?"
    assert ask(talk, question).text.startswith("14 days")


def test_which_came_first_is_told_with_both_dates(talk: Memory) -> None:
    answer = ask(talk, "Which came first, Tom starting violin lessons or Ines running the marathon?")
    assert answer.text.startswith("Ines running the marathon came first")
    assert len(answer.intervals) == 2


def test_a_side_that_nobody_spoke_of_is_not_compared(talk: Memory) -> None:
    answer = ask(talk, "Which came first, Tom's skydiving course or Ines running the marathon?")
    assert answer.abstained
    assert (answer.citations, answer.intervals, answer.confidence) == (
        (),
        (),
        0.0,
    )  # there is no answer to cite for
    assert "skydiving" in answer.text


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("How many cactuses did Ines buy?", "Three"),
        ("How long did the marathon take Ines?", "Five hours"),
        ("Who is Tom's sister?", "Clara"),
        ("Where does Tom's sister live?", "Ghent"),
        ("What is the name of Ines's tortoise?", "Basil"),
    ],
)
def test_the_short_answer_is_of_the_kind_asked_for(talk: Memory, question: str, short: str) -> None:
    assert ask(talk, question).text.startswith(short)


def test_a_yes_and_a_no_come_with_the_sentence_that_says_so(talk: Memory) -> None:
    yes, no = ask(talk, "Did Ines run the city marathon?"), ask(talk, "Did Tom finish the novel?")
    assert yes.text.startswith("Yes")
    assert no.text.startswith("No.")
    assert "never finished" in no.citations[0].quote


def test_yes_or_no_to_a_day_is_what_the_calendar_says(talk: Memory) -> None:
    assert ask(talk, "Did Ines run the city marathon on 17 March?").text.startswith("Yes, 17 March 2024")
    assert ask(talk, "Did Ines run the city marathon on 24 March?").text.startswith("No, 17 March 2024")


@pytest.fixture(scope="module")
def moved(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """What a newcomer types: one person, no name, and a change."""
    said = [
        ("2024-03-04T18:00:00Z", "I live in Leeds with my partner Tom. I work as a nurse."),
        ("2024-03-04T18:02:00Z", "Tom is allergic to walnuts."),
        ("2024-09-10T18:00:00Z", "We moved to York last week, I love the new flat."),
    ]
    with Memory.open(tmp_path_factory.mktemp("home"), bank="moved") as memory:
        memory.add_many(
            {"role": "user", "timestamp": at, "content": text, "session": at[:10]} for at, text in said
        )
        memory.flush()
        yield memory


@pytest.mark.parametrize(
    ("question", "short"),
    [
        ("Where do I live?", "york"),
        ("Where did I live before York?", "leeds"),
        ("What do I do for a living?", "nurse"),
        ("What is my partner called?", "tom"),
        ("What is Tom allergic to?", "walnuts"),
    ],
)
def test_questions_in_the_first_person_are_of_the_one_who_talks(
    moved: Memory, question: str, short: str
) -> None:
    answer = moved.ask(question, at=datetime(2024, 10, 1, tzinfo=UTC), model="none")
    assert not answer.abstained
    assert short in answer.text.partition(". user,")[0].lower()


def test_a_friend_who_puts_a_word_in_is_not_the_one_who_asks(tmp_path: Path) -> None:
    said = [
        ("user", "Ana", "Hello, I'm Ana. I live in Leeds, on the third floor, there is no lift."),
        ("assistant", "Juno", "Noted. What do you do there?"),
        ("user", "Ana", "I work at the library, where I repair old maps."),
        ("user", "Ben", "Third floor, Ana. No lift."),
        ("user", "Ana", "Ben carried my sofa up to the flat."),
    ]
    with Memory.open(tmp_path, bank="guest") as memory:
        memory.add_many(
            {"role": role, "name": name, "timestamp": "2024-03-04T18:00:00Z", "content": text, "session": "s"}
            for role, name, text in said
        )
        memory.flush()
        asked = parse("Where do I live?", AT, memory.zone)
        found = find_replies(memory, memory._bank.reader, asked, at=AT)
        assert "Ben" in {one.turn.speaker for one in found.replies}
        assert found.asker == "Ana"
        assert ask(memory, "Where do I live?").text.startswith("Leeds")


def test_of_two_who_say_as_much_neither_is_the_one_who_asks(talk: Memory) -> None:
    asked = parse("What did I adopt?", AT, talk.zone)
    assert find_replies(talk, talk._bank.reader, asked, at=AT).asker is None


def test_what_somebody_else_did_is_no_answer(talk: Memory) -> None:
    answer = ask(talk, "When did Tom run the city marathon?")
    assert answer.abstained
    assert not answer.intervals


def test_a_refusal_says_what_was_searched_and_what_came_nearest(talk: Memory) -> None:
    answer = ask(talk, "What colour is Tom's submarine?")
    assert answer.abstained
    assert answer.text.startswith("Not known")
    assert "turns" in answer.text
    assert answer.trace["searched"]["turns"]
    assert not answer.citations


def test_an_empty_bank_refuses(tmp_path: Path) -> None:
    with Memory.open(tmp_path, bank="empty") as memory:
        answer = memory.ask("Who lives in Porto?", model="none")
    assert answer.abstained
    assert answer.citations == ()


def pasted(folder: Path, sentences: int) -> Answer:
    """What is answered where one sentence of a long text says it."""
    rain = "The rain fell on the hill and nobody came. " * (sentences // 2)
    with Memory.open(folder, bank="pasted", extract="none") as memory:
        memory.add({"role": "user", "content": f"{rain}My parrot is called Pepe. {rain}"}, at=AT)
        return memory.ask("What is my parrot called?", at=AT, model="none")


def test_a_long_turn_is_read_where_it_speaks_of_the_question(tmp_path: Path) -> None:
    answer = pasted(tmp_path, 360)
    assert answer.text == 'Pepe. user, 8 May 2024: "My parrot is called Pepe."'


def test_a_turn_beyond_what_is_recalled_is_refused_in_a_short_sentence(tmp_path: Path) -> None:
    answer = pasted(tmp_path, 4_000)
    assert answer.abstained and len(answer.text) < 200


def test_without_a_reader_the_best_turn_is_quoted(tmp_path: Path) -> None:
    with Memory.open(tmp_path, bank="unread", reader="none") as memory:
        memory.add({"role": "user", "name": "Ines", "content": "I adopted a tortoise called Basil."}, at=AT)
        answer = memory.ask("What is Ines's tortoise called?", at=AT, model="none")
    assert answer.trace["how"] == "best turn"
    assert "Basil" in answer.text  # as the answer, or as what comes nearest


@pytest.mark.parametrize(
    "question", ["?", "Basil", "🐢" * 50, "where " * 3000, "东京在哪里？", "Where is \x00 it?"]
)
def test_whatever_is_asked_gets_an_answer_or_a_refusal(talk: Memory, question: str) -> None:
    answer = ask(talk, question)
    assert answer.text
    assert 0 <= answer.confidence <= 1


def test_what_is_said_again_later_was_known_before(tmp_path: Path) -> None:
    with Memory.open(tmp_path, bank="twice") as memory:
        for month in (3, 6):
            said = datetime(2024, month, 5, tzinfo=UTC)
            memory.add({"name": "Ann", "content": "I moved to Porto on 3 March 2024."}, at=said)
        then = datetime(2024, 4, 1, tzinfo=UTC)
        answer = memory.ask("When did I move to Porto?", at=AT, as_of=then, model="none")
    assert not answer.abstained and "3 March 2024" in answer.text
    assert all(one.said_at <= then for one in answer.citations)


def test_what_was_said_later_is_not_known_as_of_then(talk: Memory) -> None:
    then = datetime(2024, 3, 10, tzinfo=UTC)
    for question in (
        "What did Ines buy at the market?",
        "When did Tom start violin lessons?",
        "Did Tom start violin lessons on 1 May?",
        "Which came first, Tom starting violin lessons or Ines running the marathon?",
        "How long has Tom had violin lessons?",
    ):
        answer = talk.ask(question, at=AT, as_of=then, model="none")
        assert answer.abstained, answer.text
        assert not answer.intervals


@pytest.fixture(scope="module")
def notes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    said = [
        ("2026-01-05", "You can call me Max, everybody does. My full name is Maximilian Berger."),
        ("2026-03-02", "We signed the lease, I'm moving to Bristol on the 14th."),
        ("2026-04-18", "Aoife is pregnant!! Due in November."),
        ("2026-04-30", "Someone stole the cargo bike from outside the flat last night."),
        ("2026-05-02", "The housewarming is on 5 September, forty guests."),
        (
            "2026-05-03",
            "Somebody from the council repaired the street lamp. I'm allergic to peanuts, so no satay.",
        ),
        ("2026-05-04", "Release 3.2 shipped last night, everybody is asleep."),
        ("2026-05-05", "We had an offer accepted on a cottage in Wicklow, taking it over in August."),
    ]
    with Memory.open(tmp_path_factory.mktemp("notes"), bank="notes") as memory:
        memory.add_many(
            {"role": "user", "timestamp": f"{day}T10:00:00Z", "content": text, "session": day}
            for day, text in said
        )
        memory.flush()
        yield memory


def noted(memory: Memory, question: str) -> Answer:
    return memory.ask(question, at=datetime(2026, 6, 15, 12, tzinfo=UTC), model="none")


def test_a_plan_that_lies_behind_is_what_facts_answer_with(notes: Memory) -> None:
    assert noted(notes, "Where do I live?").trace["short"] == "Bristol"


def test_a_name_is_not_put_behind_the_words_that_ask_for_it(notes: Memory) -> None:
    assert noted(notes, "What's my full name?").trace["short"] == "Maximilian Berger"


def test_when_something_is_due_is_not_the_day_on_which_it_was_told(notes: Memory) -> None:
    answer = noted(notes, "When is the baby due?")
    assert answer.trace["short"] == "November 2026"


def test_of_two_augusts_neither_is_kept_back_where_the_words_do_not_say_which(notes: Memory) -> None:
    answer = noted(notes, "When are we taking over the cottage?")
    years = {interval.start.year for interval in answer.intervals if interval.start}
    assert years == {2025, 2026}
    assert answer.text.startswith("August 2025, or August 2026: the words do not say which.")
    in_years = noted(notes, "In which year are we taking over the cottage?")
    assert in_years.text.startswith("2025, or 2026: the words do not say which.")
    been = noted(notes, "When did we take over the cottage?")  # only one of them lies behind
    assert been.trace["short"] == "August 2025"


def test_what_is_planned_has_not_been_yet(notes: Memory) -> None:
    answer = noted(notes, "When did we have the housewarming?")
    assert (
        answer.text.startswith("Not yet: 5 September 2026. ") and answer.trace["short"] == "5 September 2026"
    )
    assert noted(notes, "When was the housewarming again?").text.startswith("5 September 2026. ")


def test_somebody_is_nobody(notes: Memory) -> None:
    refused = noted(notes, "Who stole the cargo bike?")
    assert refused.abstained
    assert "it was only said that it was someone" in refused.text
    assert noted(notes, "Who repaired the street lamp?").trace["short"] == "Somebody from the council"


@pytest.mark.parametrize(
    "question", ["Can you tell me if I'm allergic to peanuts?", "I'm allergic to peanuts, right?"]
)
def test_a_question_of_yes_or_no_in_other_words_may_still_be_answered_so(
    notes: Memory, question: str
) -> None:
    found = find_replies(notes, notes._bank.reader, parse(question), at=datetime(2026, 6, 15, tzinfo=UTC))
    assert found.replies[0].reading.kinds[1:3].any()


def test_the_date_of_another_release_is_no_answer(notes: Memory) -> None:
    assert noted(notes, "When did 3.2 ship?").trace["short"] == "3 May 2026"
    assert noted(notes, "When did 3.3 ship?").abstained


@pytest.mark.parametrize("question", ["How much was the rent?", "Where is the cottage?", "What is my name?"])
def test_a_question_for_words_is_never_answered_with_yes_or_no(notes: Memory, question: str) -> None:
    found = find_replies(notes, notes._bank.reader, parse(question), at=datetime(2026, 6, 15, tzinfo=UTC))
    assert found.replies
    assert all(reply.kind == "span" and not reply.reading.kinds[1:3].any() for reply in found.replies)
