"""When events took place that tense, a question before or a list of times dates."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from everwhen.types import Turn
from everwhen.write.extract.base import Batch, ExtractedEvent
from everwhen.write.extract.rule_extractor import RuleExtractor
from tests.write.extract.marked import days

AT = datetime(2023, 5, 10, 8, 15, tzinfo=UTC)  # a Wednesday morning


def told(*lines: str) -> list[ExtractedEvent]:
    """The events of "Speaker: text" lines, said a minute apart."""
    turns = []
    for number, line in enumerate(lines):
        speaker, _, text = line.partition(": ")
        at = AT + timedelta(minutes=number)
        turns.append(Turn(f"t{number}", "s", number, "user", speaker, text, at, "UTC", at))
    return list(RuleExtractor().extract(Batch("s", tuple(turns))).events)


@pytest.mark.parametrize(
    ("question", "reply", "subject", "verb", "wanted"),
    [
        ("When did you adopt Max?", "like 2 weeks ago", "Bob", "adopt", "2023-04-23..2023-04-30"),
        ("When did you move to Porto?", "In March I think", "Bob", "move", "2023-03-01..2023-04-01"),
        ("What year did you graduate?", "Back in 2014", "Bob", "graduate", "2014-01-01..2015-01-01"),
        ("When are you flying to Rome?", "On Friday!", "Bob", "fly", "2023-05-12..2023-05-13"),
        ("How long ago did your dad retire?", "Three years ago.", "Bob's dad", "retire", "2020-01-01..2021-01-01"),
        ("When is your exam?", "next Tuesday", "Bob's exam", "be", "2023-05-16..2023-05-17"),
    ],
)  # fmt: skip
def test_a_reply_that_only_says_a_time_dates_what_was_asked(
    question: str, reply: str, subject: str, verb: str, wanted: str
) -> None:
    (event,) = told(f"Ann: {question}", f"Bob: {reply}")
    assert (event.subject, event.verb, event.turns, event.inferred) == (subject, verb, ("t1",), False)
    assert days(event.occurred) == wanted


def test_the_answered_question_reads_as_a_statement() -> None:
    (event,) = told("Ann: When did you buy the van?", "Bob: last Friday")
    assert event.text == "Bob bought the van last Friday"


def test_a_reply_to_a_bare_when_dates_what_its_speaker_told() -> None:
    events = told("Ann: I finally quit my job.", "Bob: Oh wow, when?", "Ann: last Friday")
    assert [days(event.occurred) for event in events if not event.inferred] == ["2023-05-05..2023-05-06"]
    assert events[-1].verb == "quit" and events[-1].turns == ("t2",)


@pytest.mark.parametrize(
    "lines",
    [
        ("Ann: Do you like tea?", "Bob: yesterday"),
        ("Ann: When did you adopt Max?", "Bob: no idea"),
        ("Bob: When did I adopt Max?", "Bob: two weeks ago"),
        ("Bob: two weeks ago",),
    ],
)
def test_a_time_alone_dates_nothing_where_nobody_else_asked_for_it(lines: tuple[str, ...]) -> None:
    assert told(*lines) == []


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        (
            "We went to Lisbon in March and to Porto in April.",
            [("to Lisbon", "2023-03-01..2023-04-01"), ("to Porto", "2023-04-01..2023-05-01")],
        ),
        (
            "We went to Japan in 2016, 2018 and 2021.",
            [
                ("to Japan", "2016-01-01..2017-01-01"),
                ("to Japan", "2018-01-01..2019-01-01"),
                ("to Japan", "2021-01-01..2022-01-01"),
            ],
        ),
        ("We drove to Rome on Friday in March.", [("to Rome", None)]),
    ],
)
def test_each_time_of_a_list_is_an_event_with_its_place(
    text: str, wanted: list[tuple[str, str | None]]
) -> None:
    found = told(f"Ann: {text}")
    assert [event.object for event in found] == [place for place, _ in wanted]
    for event, (_, when) in zip(found, wanted, strict=True):
        assert when is None or days(event.occurred) == when


@pytest.mark.parametrize(
    ("text", "verb", "wanted"),
    [
        ("It's been three years since grandpa died.", "die", "2020-01-01..2021-01-01"),
        ("Two weeks since we moved to Hull.", "move", "2023-04-23..2023-04-30"),
        ("Signed the lease on Monday!", "sign", "2023-05-08..2023-05-09"),
        ("The server crashed at 23:40.", "crash", "2023-05-09..2023-05-10"),
        ("I moved to Leeds in October.", "move", "2022-10-01..2022-11-01"),
    ],
)
def test_a_past_event_is_never_in_the_future(text: str, verb: str, wanted: str) -> None:
    (event,) = told(f"Ann: {text}")
    assert event.verb == verb and not event.inferred
    assert days(event.occurred) == wanted


@pytest.mark.parametrize(
    ("said", "subject", "text"),
    [
        (
            "Dr. Sampaio rang yesterday afternoon. My iron is low.",
            "Dr. Sampaio",
            "Dr. Sampaio rang yesterday afternoon",
        ),
        ("Last night was Diwali, and the whole of Leeds was out.", "Last night", "Last night was Diwali"),
        ("Tom and I drive to Leeds on Friday.", "Tom and Bob", "Tom and Bob drive to Leeds on Friday"),
        ("I'll run it for the two of us on Sunday.", "Bob", "Bob will run it for the two of them on Sunday"),
    ],
)
def test_an_event_reads_as_a_person_would_write_it(said: str, subject: str, text: str) -> None:
    (event,) = (one for one in told(f"Bob: {said}") if not one.inferred)
    assert (event.subject, event.text) == (subject, text)


@pytest.mark.parametrize(
    ("text", "status", "wanted"),
    [
        ("The launch slipped to 12 June.", "planned", "2023-06-12..2023-06-13"),
        ("I have an exam on Friday.", "planned", "2023-05-12..2023-05-13"),
        ("We have guests on Sunday.", "planned", "2023-05-14..2023-05-15"),
        ("I sold the car on the 12th.", "happened", "2023-04-12..2023-04-13"),
        ("I studied in Leeds until June.", "happened", "..2022-06-01"),
    ],
)
def test_an_event_lies_where_its_sentence_puts_it(text: str, status: str, wanted: str) -> None:
    (event,) = told(f"Ann: {text}")
    assert (event.status, days(event.occurred)) == (status, wanted)
