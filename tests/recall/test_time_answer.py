"""`when` on stories of our own, through the real engine: real model, rules extraction."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from everwhen import Memory, TimeAnswer, UsageError
from everwhen.recall.question import parse

ASKED = datetime(2024, 11, 10, 12, tzinfo=UTC)

STORY = (
    ("2024-03-06", "user", "I moved to Porto last week! The flat is tiny but sunny."),
    ("2024-03-06", "assistant", "Congratulations on the move!"),
    ("2024-03-20", "user", "I went to the dentist yesterday, no cavities."),
    ("2024-04-11", "user", "We are going on vacation to Madeira from 3 June 2024 to 9 June 2024."),
    ("2024-05-02", "user", "I've been learning the cello for two years now."),
    ("2024-05-14", "user", "I ran my first half marathon on Sunday."),
    ("2024-09-18", "user", "I went to the dentist on Monday, one cavity this time."),
    ("2024-10-01", "user", "My sister Ines got married in August, it was lovely."),
    ("2024-10-05", "user", "I just bought a new bicycle."),
    ("2024-10-15", "user", "I didn't go to the concert on Friday, I was ill."),
    ("2024-11-04", "user", "I'm starting a new job at the aquarium on 2 December."),
)


@pytest.fixture(scope="module")
def diary(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("home"), "diary") as memory:
        for day, role, text in STORY:
            memory.add({"role": role, "content": text}, at=datetime.fromisoformat(f"{day}T10:00+00:00"))
        memory.flush()
        yield memory


def days(answer: TimeAnswer | None) -> tuple[str, str] | None:
    """The first day and the day after the last."""
    if answer is None or answer.interval.start is None or answer.interval.end is None:
        return None
    return answer.interval.start.date().isoformat(), answer.interval.end.date().isoformat()


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When did I move to Porto?", ("2024-02-26", "2024-03-04")),
        ("When did my sister get married?", ("2024-08-01", "2024-09-01")),
        ("When was my vacation in Madeira?", ("2024-06-03", "2024-06-10")),
        ("my move to Porto", ("2024-02-26", "2024-03-04")),
    ],
)
def test_the_answer_is_the_interval_that_the_words_mean(
    diary: Memory, question: str, expected: tuple[str, str]
) -> None:
    assert days(diary.when(question, at=ASKED)) == expected


def test_the_evidence_is_the_sentence_as_it_was_said(diary: Memory) -> None:
    answer = diary.when("When did I move to Porto?", at=ASKED)
    assert answer is not None
    (evidence,) = answer.evidence
    assert evidence.quote == "I moved to Porto last week!"
    assert (evidence.expression, evidence.inferred) == ("last week", False)
    assert evidence.turn == diary.turns()[0].id
    assert evidence.event in {event.id for event in diary.events(verb="move")}


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When did I last go to the dentist?", ("2024-09-16", "2024-09-17")),
        ("When did I first go to the dentist?", ("2024-03-19", "2024-03-20")),
        ("When was the most recent time I went to the dentist?", ("2024-09-16", "2024-09-17")),
    ],
)
def test_first_and_last_choose_among_the_times_it_happened(
    diary: Memory, question: str, expected: tuple[str, str]
) -> None:
    assert days(diary.when(question, at=ASKED)) == expected


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("In which month did I run the half marathon?", ("2024-05-01", "2024-06-01")),
        ("What year did I move to Porto?", ("2024-01-01", "2025-01-01")),
        ("On what day did my sister get married?", ("2024-08-01", "2024-09-01")),
    ],
)
def test_the_unit_asked_for_widens_the_answer_and_never_narrows_it(
    diary: Memory, question: str, expected: tuple[str, str]
) -> None:
    assert days(diary.when(question, at=ASKED)) == expected


TERMS = (
    ("2024-07-01", "My contract with Nordex runs until 31 August."),
    ("2024-07-02", "We're in Rome from 8 September to 14 October."),
    ("2024-07-03", "The passport is valid until 2029."),
    ("2024-07-05", "Mats is on holiday in Denmark till the 24th."),
    ("2024-07-08", "The loan runs until the end of November."),
    ("2024-07-09", "I'm allergic to almonds since two years."),
    ("2024-07-10", "My internship ended today! I stay in Leipzig until Friday."),
    ("2024-07-10", "My parents are coming over from 8 to 14 August."),
    ("2024-07-10", "The pilates course starts between 2 and 6 September."),
)


@pytest.fixture(scope="module")
def terms(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with Memory.open(tmp_path_factory.mktemp("home"), "terms") as memory:
        for day, text in TERMS:
            memory.add(text, at=datetime.fromisoformat(f"{day}T10:00+00:00"))
        memory.flush()
        yield memory


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("When does my contract with Nordex end?", ("2024-08-31", "2024-09-01")),
        ("Until when are we in Rome?", ("2024-10-14", "2024-10-15")),
        ("When does our stay in Rome begin?", ("2024-09-08", "2024-09-09")),
        ("When are we in Rome?", ("2024-09-08", "2024-10-15")),
        ("When does my passport expire?", ("2029-01-01", "2030-01-01")),
        ("When is Mats' holiday over?", ("2024-07-24", "2024-07-25")),
        ("When does the loan run out?", ("2024-11-30", "2024-12-01")),
        ("Since when am I allergic to almonds?", ("2022-01-01", "2023-01-01")),
        ("When did my internship end?", ("2024-07-10", "2024-07-11")),
        ("When are my parents coming over?", ("2024-08-08", "2024-08-15")),
        ("When does the pilates course start?", ("2024-09-02", "2024-09-07")),
    ],
)
def test_how_something_begins_or_ends_is_answered_by_that_side_of_its_time(
    terms: Memory, question: str, expected: tuple[str, str]
) -> None:
    assert days(terms.when(question, at=datetime(2024, 7, 12, tzinfo=UTC))) == expected


def test_an_end_that_retention_took_the_words_of_makes_nothing_fail(home: Path) -> None:
    with Memory.open(home, "terms") as memory:
        memory.add(TERMS[0][1], at=datetime(2024, 7, 1, 10, tzinfo=UTC))
        memory.flush()
        memory.retain(rule="keep raw turns 90 days")
        memory.when("When does my contract with Nordex end?", at=ASKED)


@pytest.mark.parametrize(
    ("question", "edge"),
    [
        ("When does it end?", "end"),
        ("When does my visa expire?", "end"),
        ("Can you tell me until when she is away?", "end"),
        ("When is the party over?", "end"),
        ("When did the fire start?", "start"),
        ("When does the course begin in Porto?", "start"),
        ("When did we end up in Porto?", None),
        ("When is the Front End conference?", None),
        ("When is the start-up fair?", None),
        ("When are they coming over?", None),
        ("When did she start the book she lost?", None),
    ],
)
def test_only_a_verb_asks_for_a_beginning_or_an_end(question: str, edge: str | None) -> None:
    assert parse(question, ASKED, "UTC").edge == edge


def test_a_plan_answers_what_is_to_come(diary: Memory) -> None:
    assert days(diary.when("When will I start my new job?", at=ASKED)) == ("2024-12-02", "2024-12-03")
    assert days(diary.when("When do I start at the aquarium?", at=ASKED)) == ("2024-12-02", "2024-12-03")


def test_since_when_is_answered_by_how_long_it_had_lasted(diary: Memory) -> None:
    assert days(diary.when("Since when have I been learning the cello?", at=ASKED)) == (
        "2022-01-01",
        "2023-01-01",
    )


def test_the_week_after_an_event_is_computed_from_its_date(diary: Memory) -> None:
    assert days(diary.when("the week after my vacation", at=ASKED)) == ("2024-06-10", "2024-06-17")
    assert days(diary.when("two days before my vacation", at=ASKED)) == ("2024-06-01", "2024-06-03")


def test_what_was_told_without_a_date_was_told_as_just_done_and_is_less_sure(diary: Memory) -> None:
    answer = diary.when("When did I buy a bicycle?", at=ASKED)
    assert answer is not None
    assert days(answer) == ("2024-10-05", "2024-10-06")
    assert answer.evidence[0].inferred
    dated = diary.when("When did I move to Porto?", at=ASKED)
    assert dated is not None and answer.confidence < dated.confidence


@pytest.mark.parametrize(
    "question",
    [
        "When did I climb Kilimanjaro?",
        "When did I adopt a tortoise?",
        "When did Marta call the plumber?",
        "When did I go to the concert?",
        "When did Ines move to Porto?",  # somebody else did
        "When did Ines run a half marathon?",
        "When did I get married?",
    ],
)
def test_what_was_never_told_or_never_happened_has_no_date(diary: Memory, question: str) -> None:
    assert diary.when(question, at=ASKED) is None


def test_what_is_asked_for_in_other_words_keeps_its_date(diary: Memory) -> None:
    assert days(diary.when("When did I relocate to Porto?", at=ASKED)) == ("2024-02-26", "2024-03-04")


def test_between_keeps_answers_that_may_lie_in_it(diary: Memory) -> None:
    spring = (datetime(2024, 3, 1, tzinfo=UTC), datetime(2024, 6, 1, tzinfo=UTC))
    assert days(diary.when("When did I go to the dentist?", at=ASKED, between=spring)) == (
        "2024-03-19",
        "2024-03-20",
    )
    far = (datetime(1990, 1, 1, tzinfo=UTC), datetime(1991, 1, 1, tzinfo=UTC))
    assert diary.when("When did I go to the dentist?", at=ASKED, between=far) is None


def test_the_answer_is_never_finer_than_its_evidence(diary: Memory) -> None:
    questions = [f"When did I {what}?" for what in ("move", "run", "buy a bicycle", "go to the dentist")]
    for question in (*questions, "When was my vacation?", "When did my sister get married?"):
        answer = diary.when(question, at=ASKED)
        assert answer is not None and answer.evidence, question
        assert all(answer.interval.covers(one.interval) for one in answer.evidence)
        assert 0 <= answer.confidence <= 1


def test_a_fact_that_nobody_said_dates_its_beginning(home: Path) -> None:
    with Memory.open(home, "facts") as memory:
        memory.facts.assert_("Marta", "lives in", "Lisbon", valid_from=datetime(2021, 3, 1, tzinfo=UTC))
        fact = memory.facts.assert_(
            "Marta", "lives in", "Porto", valid_from=datetime(2025, 5, 31, tzinfo=UTC)
        )
        answer = memory.when("Since when has Marta lived in Porto?")
        assert days(answer) == ("2025-05-31", "2025-06-01")
        assert answer is not None and (answer.evidence[0].turn, answer.evidence[0].fact) == (None, fact.id)
        assert days(memory.when("When did Marta move to Lisbon?")) == ("2021-03-01", "2021-03-02")


def test_the_day_is_that_of_the_speakers_zone(home: Path) -> None:
    with Memory.open(home, "tokyo", zone="Asia/Tokyo") as memory:
        memory.add("I broke my favourite mug yesterday.", at=datetime(2025, 3, 3, 1, tzinfo=UTC))
        answer = memory.when("When did I break my mug?")
        assert answer is not None and answer.interval.start == datetime(2025, 3, 1, 15, tzinfo=UTC)
        assert answer.zone == "Asia/Tokyo"


def test_an_empty_bank_knows_no_date(memory: Memory) -> None:
    assert memory.when("When did Ana move?") is None


@pytest.mark.parametrize("query", ["", "   ", "\n"])
def test_an_empty_question_is_refused(memory: Memory, query: str) -> None:
    with pytest.raises(UsageError, match="empty"):
        memory.when(query)
    with pytest.raises(UsageError, match="empty"):
        memory.compare("the move", query)
    with pytest.raises(UsageError, match="empty"):
        memory.timeline(about=query)


def test_an_impossible_window_is_refused(memory: Memory) -> None:
    window = (datetime(2030, 1, 1, tzinfo=UTC), datetime(2020, 1, 1, tzinfo=UTC))
    with pytest.raises(UsageError, match="ends before it starts"):
        memory.when("When did Ana move?", between=window)
    with pytest.raises(UsageError, match="ends before it starts"):
        memory.timeline(between=window)


def test_a_question_of_stop_words_has_no_answer(diary: Memory) -> None:
    assert diary.when("when was it?", at=ASKED) is None


def test_a_very_long_question_is_answered_by_what_it_says_first(diary: Memory) -> None:
    assert days(diary.when("when did I move to Porto " * 4000, at=ASKED)) == ("2024-02-26", "2024-03-04")
