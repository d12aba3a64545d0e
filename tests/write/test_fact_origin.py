"""Who says something of whom, as it is read in real turns: what somebody says of themselves, and all the rest."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from everwhen import Memory, Proposal
from everwhen.write.foreign_text import is_passed_on

SAID = datetime(2025, 3, 3, 9, tzinfo=UTC)
MAIL = "From: Bob\nSubject: news\n\nHi all, Ana lives in Minsk now. Best, Bob"
PASSED_ON = (
    f"Translate this e-mail into German:\n\n{MAIL}",
    "Please translate: Ana lives in Minsk now.",
    "What do you say to this?\n> Ana lives in Minsk now.",
    "On Tue, 4 March 2025 Bob <bob@example.org> wrote:\nAna lives in Minsk now.",
    "---------- Forwarded message ----------\nAna lives in Minsk now.",
    "Can you fix the following text?\nAna lives in Minsk now.",
)
Said = tuple[str, str | None, str]


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    with Memory.open(home) as opened:
        yield opened


def tell(memory: Memory, *several: Said) -> None:
    for day, (role, name, text) in enumerate(several):
        message = {"role": role, "content": text} | ({"name": name} if name else {})
        memory.add(message, session="s", at=SAID + timedelta(days=day))
    memory.flush()


def homes(memory: Memory, subject: str) -> list[str]:
    return [one.object for one in memory.facts.current(subject, "lives in", now=SAID + timedelta(days=99))]


def proposed(memory: Memory) -> list[tuple[str, str, str]]:
    facts = [one.fact for one in memory.facts.review() if isinstance(one, Proposal)]
    return [(one.subject, one.object, one.origin) for one in facts]


@pytest.mark.parametrize(
    ("role", "name", "origin"),
    [("assistant", None, "assistant"), ("system", None, "system"), ("user", "Bob", "speaker")],
)
def test_what_others_say_of_a_person_who_spoke_is_proposed(
    memory: Memory, role: str, name: str | None, origin: str
) -> None:
    tell(memory, ("user", "Ana", "I live in Porto."), (role, name, "Ana lives in Minsk now."))
    assert homes(memory, "Ana") == ["Porto"] and proposed(memory) == [("Ana", "Minsk", origin)]


@pytest.mark.parametrize("text", PASSED_ON)
def test_a_text_that_ana_passes_on_is_not_what_ana_says(memory: Memory, text: str) -> None:
    tell(memory, ("user", "Ana", "I live in Porto."), ("user", "Ana", text))
    assert homes(memory, "Ana") == ["Porto"] and proposed(memory) == [("Ana", "Minsk", "pasted")]


def test_i_in_a_text_that_is_passed_on_is_not_the_user(memory: Memory) -> None:
    mail = "Please translate this email:\n\nDear all,\nI live in Minsk now.\nBest, Bob"
    tell(memory, ("user", None, "I live in Porto."), ("user", None, mail))
    assert homes(memory, "user") == ["Porto"] and proposed(memory) == [("user", "Minsk", "pasted")]


def test_an_end_that_the_assistant_tells_is_proposed(memory: Memory) -> None:
    tell(
        memory, ("user", "Ana", "I work at Siemens."), ("assistant", None, "Ana no longer works at Siemens.")
    )
    (proposal,) = memory.facts.review()
    assert isinstance(proposal, Proposal) and proposal.fact.valid_to == SAID + timedelta(days=1)
    assert [one.object for one in memory.facts.current("Ana", "works at")] == ["Siemens"]


@pytest.mark.parametrize("name", ["Ana", "ana silva", "Ana Silva"])
def test_somebody_is_the_same_under_another_form_of_the_name(memory: Memory, name: str) -> None:
    tell(memory, ("user", "Ana Silva", "I live in Porto."), ("user", "Bob", f"{name} lives in Minsk now."))
    assert homes(memory, "Ana Silva") == ["Porto"] and homes(memory, "Ana") in ([], ["Porto"])
    assert proposed(memory) == [("Ana Silva", "Minsk", "speaker")]


def test_an_unnamed_user_is_the_one_they_said_they_are_called(memory: Memory) -> None:
    tell(memory, ("user", None, "My name is Ana. I live in Porto."), ("system", None, "Ana moved to Minsk."))
    assert homes(memory, "user") == ["Porto"] and homes(memory, "Ana") == []


def test_two_people_who_may_be_meant_are_nobody(memory: Memory) -> None:
    tell(
        memory,
        ("user", "Ana Silva", "I live in Porto."),
        ("user", "Ana Costa", "I live in Faro."),
        ("user", "Bob", "Ana lives in Minsk now."),
    )
    assert homes(memory, "Ana Silva") == ["Porto"] and homes(memory, "Ana Costa") == ["Faro"]


def test_what_somebody_says_of_themselves_closes_it(memory: Memory) -> None:
    tell(memory, ("user", "Ana", "I live in Porto."), ("user", "Ana", "I moved to Minsk."))
    assert homes(memory, "Ana") == ["Minsk"] and memory.facts.review() == []


def test_what_a_user_says_of_kin_is_a_fact_and_follows_what_the_user_says(memory: Memory) -> None:
    wife = "My wife Ana works at Siemens."
    tell(memory, ("user", None, wife), ("user", None, "Ana works at Bosch now."))
    (fact,) = memory.facts.current("Ana", "works at", now=SAID + timedelta(days=9))
    assert (fact.object, fact.origin) == ("Bosch", "speaker") and memory.facts.review() == []


def test_a_rejected_proposal_stays_away_when_all_is_read_again(memory: Memory) -> None:
    tell(memory, ("user", "Ana", "I live in Porto."), ("assistant", None, "Ana lives in Minsk now."))
    memory.facts.reject(memory.facts.review()[0].id)
    memory.reextract()
    memory.flush()
    assert memory.facts.review() == [] and homes(memory, "Ana") == ["Porto"]


@pytest.mark.parametrize(
    "text", [*PASSED_ON, 'Bob wrote: "I live in Minsk these days."', "“I have moved to Minsk”, it says"]
)
def test_forms_of_passed_on_text_are_known(text: str) -> None:
    assert is_passed_on(text, "Minsk")


@pytest.mark.parametrize(
    "text",
    [
        "I live in Minsk.",
        "Check this out\nI moved to Minsk!",
        'My favourite town is "Minsk".',
        'I have read "The Minsk Notebooks".',
        "Let me summarise: I moved to Minsk",
        "I answered the mail and moved to Minsk.",
        "I live in Minsk. Translate this:\ngood morning to all of you",
    ],
)
def test_ones_own_words_are_not_taken_for_passed_on_text(text: str) -> None:
    assert not is_passed_on(text, "Minsk")
