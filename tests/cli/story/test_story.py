"""The demo's story and its truth: sound, dated rightly, and the one consistent with the other."""

from __future__ import annotations

import calendar
import re
from datetime import UTC, date, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest

from everwhen.api.memory import Memory
from everwhen.cli.story.story import ASKED, ASKED_AT, NOT_TOLD, QUESTIONS, STORY_ZONE, story, truth
from everwhen.types import Message

STORY = story()
BY_ID = {message.id: message for message in STORY}
TRUTH = truth()
DAYS = tuple(calendar.day_name)
MONTHS = tuple(calendar.month_name)


def said_on(message: Message) -> date:
    assert message.said_at is not None
    assert message.zone is not None
    return message.said_at.astimezone(ZoneInfo(message.zone)).date()


def test_the_story_has_the_size_it_promises() -> None:
    assert 150 <= len(STORY) <= 180
    assert len({message.session for message in STORY}) == 24
    assert {message.speaker for message in STORY} == {"Marta", "Juno", "Noor", "Rui"}
    assert {message.role for message in STORY if message.name == "Juno"} == {"assistant"}


def test_ids_name_the_session_and_the_place_in_it() -> None:
    places: dict[str, int] = {}
    for message in STORY:
        session = message.session or ""
        places[session] = places.get(session, 0) + 1
        assert message.id == f"{session}-{places[session]:02d}"


def test_time_runs_forward_over_half_a_year() -> None:
    times = [message.said_at for message in STORY if message.said_at]
    assert len(times) == len(STORY)
    assert all(earlier < later for earlier, later in pairwise(times))
    assert timedelta(days=150) < times[-1] - times[0] < timedelta(days=190)
    assert times[-1] < ASKED_AT.astimezone(UTC)


def test_two_zones_are_spoken_in_even_at_once() -> None:
    assert {message.zone for message in STORY} == {STORY_ZONE, "Asia/Tokyo"}
    assert {message.zone for message in STORY if message.session == "s17"} == {STORY_ZONE, "Asia/Tokyo"}
    # Morning in Kyoto is the evening before in UTC: "yesterday" depends on the zone.
    kyoto = BY_ID["s16-03"]
    assert kyoto.said_at is not None
    assert said_on(kyoto) == kyoto.said_at.astimezone(UTC).date() + timedelta(days=1)


def test_a_picture_is_remembered_by_its_caption() -> None:
    assert BY_ID["s17-09"].text.startswith("Here. [image: a grey greyhound")


def test_a_weekday_named_with_its_date_is_that_weekday() -> None:
    weekday, month = f"({'|'.join(DAYS)})", f"({'|'.join(MONTHS[1:])})"
    told = " ".join(message.text for message in STORY)
    dated = [(one[1], one[2], one[3]) for one in re.finditer(rf"{weekday}(?: is)? (\d+) {month}", told)]
    dated += [(one[3], one[1], one[2]) for one in re.finditer(rf"(\d+) {month}, a {weekday}", told)]
    assert len(dated) >= 5
    for weekday, day, month in dated:
        assert date(2025, MONTHS.index(month), int(day)).strftime("%A") == weekday


def _expected(phrase: str, said: date) -> date | None:
    """The day that a simple phrase means, worked out with the calendar alone."""
    words = phrase.lower()
    steps = {
        "the day before yesterday": 2,
        "yesterday": 1,
        "last night": 1,
        "this morning": 0,
        "this afternoon": 0,
    }
    for start, back in steps.items():
        if words.startswith(start):
            return said - timedelta(days=back)
    if words == "tomorrow":
        return said + timedelta(days=1)
    named = [day for day in DAYS if day.lower() in words]
    if re.search(r"\d", words) or len(named) != 1:
        return None
    ahead = (DAYS.index(named[0]) - said.weekday()) % 7 or 7
    if words.startswith(("next", "by next")):
        monday = said - timedelta(days=said.weekday()) + timedelta(days=7)
        return monday + timedelta(days=DAYS.index(named[0]))
    if words.startswith(("from", "until")):
        return said + timedelta(days=ahead)
    return said - timedelta(days=7 - ahead if ahead < 7 else 7)


@pytest.mark.parametrize("event", TRUTH["events"], ids=lambda event: f"{event['turn']} {event['phrase']}")
def test_every_event_is_dated_as_its_words_say(event: dict[str, str]) -> None:
    message = BY_ID[event["turn"]]
    assert event["phrase"].lower() in message.text.lower()
    ZoneInfo(event["zone"])
    start = date.fromisoformat(event["start"])
    if event["end"] is not None:
        assert start < date.fromisoformat(event["end"])
    expected = _expected(event["phrase"], said_on(message))
    if event["status"] == "planned" and expected and expected < said_on(message):
        expected += timedelta(days=7)
    if expected is not None:
        assert start == expected, f"{event['phrase']} said on {said_on(message):%a %d %b}"
    if event["status"] == "happened":
        assert start <= said_on(message)
    if event["status"] == "planned":
        assert start > said_on(message)


def test_there_are_enough_events_and_most_can_be_worked_out() -> None:
    assert len(TRUTH["events"]) >= 25
    worked_out = [_expected(event["phrase"], said_on(BY_ID[event["turn"]])) for event in TRUTH["events"]]
    assert sum(day is not None for day in worked_out) >= 35


def test_questions_point_at_turns_that_are_there() -> None:
    assert len(TRUTH["answerable"]) == len(TRUTH["unanswerable"]) == 20
    for question in TRUTH["answerable"]:
        assert question["answer"]
        assert question["evidence"]
        assert set(question["evidence"]) <= set(BY_ID)
    asked = [question["question"] for kind in ("answerable", "unanswerable") for question in TRUTH[kind]]
    assert len(set(asked)) == 40


def test_a_correction_comes_after_what_it_corrects() -> None:
    for correction in TRUTH["corrections"]:
        assert said_on(BY_ID[correction["turn"]]) < said_on(BY_ID[correction["corrected_by"]])


def test_the_demo_asks_what_the_story_answers() -> None:
    assert len(QUESTIONS) == 3
    answerable = {question["question"]: question["evidence"] for question in TRUTH["answerable"]}
    for question in QUESTIONS:
        assert list(question.evidence) == answerable[question.question]
        told = " ".join(BY_ID[turn].text for turn in question.evidence)
        assert all(words in told for words in question.contains)


def test_the_engine_recalls_what_the_demo_shows(story_told: Memory) -> None:
    for question in QUESTIONS:
        recalled = story_told.recall(question.question, at=ASKED_AT).memories
        told = " ".join(one.text for one in recalled[:2])
        assert all(words in told for words in question.contains)


def test_the_moment_of_asking_is_the_day_after() -> None:
    assert datetime(2025, 7, 13, 20, tzinfo=UTC) < ASKED_AT
    assert ASKED_AT.date() - said_on(STORY[-1]) == timedelta(days=1)


@pytest.mark.parametrize(("question", "answer"), ASKED)
def test_every_question_of_the_demo_is_answered_rightly(
    story_told: Memory, question: str, answer: str
) -> None:
    assert story_told.ask(question, at=ASKED_AT, model="none").text.startswith(answer)


def test_what_the_demo_calls_not_known_is_not_in_the_story() -> None:
    assert {"question": NOT_TOLD} in TRUTH["unanswerable"]
