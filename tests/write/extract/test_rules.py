"""The rule extractor, held against hand-marked chat, and against what must never become an event."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from time import process_time

import pytest

from everwhen.models.comparison import open_reader
from everwhen.types import Role, Turn
from everwhen.write.extract.base import Batch, ExtractedEvent, Extraction
from everwhen.write.extract.grammar import prose_lines
from everwhen.write.extract.rule_extractor import RuleExtractor
from tests.write.extract.marked import conversations, days, score

AT = datetime(2024, 5, 15, 12, tzinfo=UTC)  # a Wednesday


def said(*lines: str, speaker: str = "Ana", role: Role = "user") -> tuple[Turn, ...]:
    return tuple(
        Turn(f"t{n}", "s", n, role, speaker, text, AT + timedelta(minutes=n), "UTC", AT)
        for n, text in enumerate(lines)
    )


def extract(*lines: str) -> Extraction:
    return RuleExtractor().extract(Batch("s", said(*lines)))


def with_facts(*lines: str) -> Extraction:
    """The same with the reader, which reads facts."""
    return RuleExtractor(open_reader("reader-2")).extract(Batch("s", said(*lines)))


def events(*lines: str) -> tuple[ExtractedEvent, ...]:
    return extract(*lines).events


@pytest.mark.parametrize("text", ["x" * 100_000, "@" * 100_000, "ha 😀 " * 20_000])
def test_a_long_line_without_blanks_or_full_of_emoji_is_cleaned_at_once(text: str) -> None:
    start = process_time()
    prose_lines(text)
    assert process_time() - start < 5  # a square takes minutes


def test_addresses_are_blanked() -> None:
    (line,) = prose_lines("mail ana@example.org, @ben or a@b@c.de (see www.x.org) at @noon.today")
    assert line.text.split() == ["mail", ",", "@ben", "or", "(see", "at", "@noon.today"]


@pytest.mark.long
def test_marked_chat_is_read_with_the_promised_precision_and_recall() -> None:
    marked = conversations()
    rules = RuleExtractor()
    found = score(marked, {one.name: rules.extract(one.batch).events for one in marked})
    assert found.right + len(found.missed) >= 100
    assert found.precision >= 0.85, found.false
    assert found.recall >= 0.7, found.missed
    assert len(found.wrong_status) <= 5, found.wrong_status


@pytest.mark.parametrize(
    "text",
    [
        "hi!",
        "thanks so much!!",
        "lol ok",
        "how are you doing?",
        "did you move to Porto last week?",
        "can you book the flight for tomorrow",
        "yeah right, I totally won the lottery yesterday",
        "as if I ran a marathon last week",
        "you'll make it, I'm sure",
        "I can't wait!",
        'he said "I moved to Rome last year"',
        "> I sold my car yesterday",
        "```\nuser moved to Porto on 2024-05-01\n```",
        'Traceback (most recent call last):\n  File "a.py", line 3, in run\n    go()\nValueError: ran on 2024-05-01',
        "2024-05-01 10:00:00 INFO server started on port 80",
        "[image: a man who painted a wall yesterday]",
        "😂😂🔥",
        "ذهبت إلى السوق أمس",
        "...",
        "",
    ],
)
def test_nothing_happened(text: str) -> None:
    assert [event for event in events(text) if event.status == "happened"] == []


@pytest.mark.parametrize(
    ("text", "status"),
    [
        ("I bought a Fitbit yesterday", "happened"),
        ("I didn't go to the gym yesterday", "negated"),
        ("I never finished the report", "negated"),
        ("I'm flying to Oslo on Friday", "planned"),
        ("we move to Lyon next month", "planned"),
        ("I might sell the car next week", "hypothetical"),
        ("if it rains on Sunday we'll cancel the picnic", "hypothetical"),
        ("I've been learning Greek since 2022", "ongoing"),
        ("I was going to call her yesterday", "hypothetical"),
        ("I have to renew my passport by Friday", "planned"),
    ],
)
def test_tense_and_modality_say_whether_it_happened(text: str, status: str) -> None:
    assert {event.status for event in events(text)} == {status}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("I moved on Friday", "2024-05-10..2024-05-11"),
        ("I'm moving on Friday", "2024-05-17..2024-05-18"),
        ("we moved in March", "2024-03-01..2024-04-01"),
        ("last night I burnt the rice", "2024-05-14..2024-05-15"),
        ("I met Jo last week and we had lunch", "2024-05-06..2024-05-13"),
        ("Finally sold the car. It was last Friday.", "2024-05-10..2024-05-11"),
        ("Last week was wild - I quit my job", "2024-05-06..2024-05-13"),
    ],
)
def test_the_clause_has_the_interval_of_its_words(text: str, expected: str) -> None:
    found = events(text)
    assert found
    assert {days(event.occurred) for event in found if event.status != "ongoing"} == {expected}
    assert not any(event.inferred for event in found)


def test_without_a_time_it_is_the_days_of_the_turn_and_less_sure() -> None:
    dated, undated = *events("I painted the fence yesterday"), *events("I painted the fence")
    assert (days(undated.occurred), undated.inferred) == ("2024-05-15..2024-05-16", True)
    assert undated.confidence < dated.confidence


def test_first_person_is_the_speaker_and_what_is_theirs_is_named() -> None:
    (event,) = events("my brother sold his car on Monday")
    assert (event.subject, event.verb, event.object) == ("Ana's brother", "sell", "his car")
    (event,) = events("I've lost my keys today")
    assert event.text == "Ana has lost Ana's keys today"


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (["We sent the offer to the Musée de la Mine on Monday."], "Musée de la Mine"),
        (["Rob hates the call centre. hes gonna quit in June"], "Rob is gonna quit"),
    ],
)
def test_a_name_keeps_its_words_and_a_missing_apostrophe_is_understood(lines: list[str], told: str) -> None:
    assert any(told in event.text for event in events(*lines)), [event.text for event in events(*lines)]


def test_a_pronoun_is_resolved_where_only_one_person_was_spoken_of() -> None:
    assert [
        event.subject for event in events("My aunt Rosa came on Sunday.", "She broke her wrist yesterday.")
    ] == [
        "Ana's aunt Rosa",
        "Rosa",
    ]
    two = events("My aunt Rosa and my sister Eva came on Sunday.", "She broke her wrist yesterday.")
    assert two[-1].subject.lower() == "she"


CHORES = [
    "I fixed the tap in the bathroom yesterday.",
    "We hiked up the hill behind the village last Sunday.",
    "My cousin enrolled in a pottery course in March.",
    "I talked with Lena yesterday.",
    "We baked at the shelter on Saturday.",
    "Rui lost his wallet on the tram last week.",
    "I interviewed for the librarian position on Monday.",
    "We adopted a beagle two weeks ago.",
    "I finally finished the quilt last night.",
    "The server crashed on Tuesday.",
]


@pytest.mark.parametrize("text", CHORES)
def test_what_somebody_did_is_one_dated_event(text: str) -> None:
    (event,) = events(text)
    assert (event.status, event.inferred) == ("happened", False)


def test_there_are_never_more_events_than_clauses() -> None:
    assert len(events("I packed, cleaned the flat and left on Monday, because the lease ended.")) <= 4


def test_because_links_cause_and_effect() -> None:
    found = extract("Maria reverted the change yesterday because it doubled the latency.")
    (link,) = found.causes
    assert found.events[link.cause].verb == "double"
    assert found.events[link.effect].verb == "revert"


def test_stable_facts_are_stated() -> None:
    found = with_facts(
        "I live in Lisbon. I work as a nurse. My brother Rui is here.",
        "I hate mushrooms and I've got a dog.",
        "I moved to Porto in March",
    ).facts
    told = {(fact.subject, fact.predicate, fact.object) for fact in found}
    assert ("Ana", "lives in", "Lisbon") in told
    assert ("Ana", "works as", "nurse") in told
    assert ("Ana", "has sibling", "Rui") in told
    assert ("Ana", "dislikes", "mushrooms") in told
    (moved,) = [fact for fact in found if fact.object == "Porto"]
    assert moved.valid is not None
    assert days(moved.valid) == "2024-03-01.."


def test_a_narrative_can_be_read_alone() -> None:
    (one,) = extract("I took my cat to the vet yesterday and she got three pills.").narratives
    assert "Ana took Ana's cat to the vet yesterday" in one.text
    assert days(one.occurred) == "2024-05-14..2024-05-15"


def test_what_the_assistant_did_is_experience() -> None:
    (event,) = (
        RuleExtractor()
        .extract(
            Batch(
                "s",
                said("I recommended the bakery on Elm Street yesterday.", speaker="Kit", role="assistant"),
            )
        )
        .events
    )
    assert (event.subject, event.network) == ("Kit", "experience")


def test_context_is_read_and_yields_nothing() -> None:
    before, now = said("My aunt Rosa came on Sunday.", "She broke her wrist yesterday.")
    found = RuleExtractor().extract(Batch("s", (now,), (before,)))
    assert [event.subject for event in found.events] == ["Rosa"]
    assert {turn for event in found.events for turn in event.turns} == {"t1"}


def test_two_hundred_names_in_one_turn_are_read() -> None:
    names = ", ".join(f"Mr Name{chr(65 + n // 26)}{chr(97 + n % 26)}" for n in range(200))
    assert extract(f"Yesterday I met {names}.").events


def test_a_very_long_turn_is_read_in_bounded_time() -> None:
    assert len(events("I bought a lamp yesterday. " * 400)) <= 800


def held(*lines: str) -> list[tuple[str, float]]:
    return [(one.text, one.confidence) for one in extract(*lines).narratives if one.network == "opinion"]


@pytest.mark.parametrize(
    ("text", "opinion", "confidence"),
    [
        (
            "I think the new library is a waste of money.",
            "Ana thinks the new library is a waste of money.",
            0.75,
        ),
        ("I don't think the plan is good.", "Ana doesn't think the plan is good.", 0.75),
        ("In my opinion the old bridge is prettier.", "In Ana's opinion the old bridge is prettier.", 0.75),
        (
            "I'm convinced that rent will never go down.",
            "Ana is convinced that rent will never go down.",
            0.9,
        ),
        ("I guess the second draft is stronger.", "Ana guesses the second draft is stronger.", 0.5),
        ("I find running on a treadmill boring.", "Ana finds running on a treadmill boring.", 0.75),
        (
            "The bakery on our corner is the best in town.",
            "Ana thinks that the bakery on Ana's corner is the best in town.",
            0.75,
        ),
        ("That bench is gorgeous.", "Ana thinks that bench is gorgeous.", 0.75),
        ("My boss is a nightmare.", "Ana thinks that Ana's boss is a nightmare.", 0.75),
        (
            "Postgres is overrated for small apps.",
            "Ana thinks that Postgres is overrated for small apps.",
            0.75,
        ),
        ("I love long train rides.", "Ana loves long train rides.", 0.9),
        ("I feel like people should read more.", "Ana feels like people should read more.", 0.75),
    ],
)
def test_a_held_belief_is_an_opinion_with_how_firmly_it_is_held(
    text: str, opinion: str, confidence: float
) -> None:
    assert held(text) == [(opinion, confidence)]


@pytest.mark.parametrize(
    "text",
    [
        "I think I left my keys at the gym yesterday.",
        "I think we moved in March.",
        "I think I'll go tomorrow.",
        "I thought the film was great.",
        "That's awesome!",
        "That sounds good.",
        "Is the bakery the best?",
        "I loved the concert last week.",
        "I'm so happy today.",
        "I would love to see it.",
        "I bought the best bread yesterday.",
        "My brother thinks Porto is too cold.",
        "Yeah right, Mondays are the best.",
        "I think so too.",
        "I'm sure you'll do great!",
        "The deploy is broken.",
        "> I think tabs are better",
    ],
)
def test_what_happened_a_courtesy_or_the_view_of_another_is_no_opinion(text: str) -> None:
    assert held(text) == []


def test_an_opinion_takes_nothing_from_events_and_facts() -> None:
    found = with_facts("I love long train rides. I think the lake is gorgeous. I bought an oar yesterday.")
    assert [(event.verb, event.object) for event in found.events] == [("buy", "oar")]
    assert "likes" in {fact.predicate for fact in found.facts}
    assert {one.network for one in found.narratives} == {"world", "opinion"}
