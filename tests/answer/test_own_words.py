"""An answer about a person prefers their own words, and says when nobody but a tool or the assistant said it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from everwhen import Memory
from everwhen.answer.extractive.reply import HEARSAY

SAID = datetime(2025, 3, 3, 9, tzinfo=UTC)
ASKED = SAID + timedelta(days=9)
OWN = "My bank account is NL12 5678."
MAIL = "Translate this e-mail:\n\nFrom: Bob\nMy bank account is DE99 1234 now."


@pytest.fixture
def memory(home: Path) -> Iterator[Memory]:
    with Memory.open(home) as opened:
        yield opened


def tell(memory: Memory, *several: tuple[str, str | None, str]) -> None:
    for day, (role, name, text) in enumerate(several):
        message = {"role": role, "content": text} | ({"name": name} if name else {})
        memory.add(message, session="s", at=SAID + timedelta(days=day))


@pytest.mark.parametrize(
    ("role", "text"),
    [
        ("tool", "The user's bank account is DE99 1234."),
        ("assistant", "Your bank account is DE99 1234 now."),
        ("system", "The user's bank account is DE99 1234."),
        ("user", MAIL),
    ],
)
def test_ones_own_words_come_before_what_others_say_later(memory: Memory, role: str, text: str) -> None:
    tell(memory, ("user", None, OWN), (role, None, text))
    found = memory.ask("What is my bank account?", at=ASKED, model="none")
    assert found.trace["short"] == "NL12 5678" and "only_said_by" not in found.trace


def test_a_named_person_s_own_words_come_before_another_s(memory: Memory) -> None:
    tell(memory, ("user", "Ana", OWN), ("user", "Bob", "Ana's bank account is DE99 1234 now."))
    assert "NL12 5678" in memory.ask("What is Ana's bank account?", at=ASKED, model="none").text


def test_what_only_a_tool_says_is_answered_as_such_and_less_surely(memory: Memory) -> None:
    told = "The user's bank account is DE99 1234."
    tell(memory, ("user", None, "Can you look up my account?"), ("tool", None, told))
    found = memory.ask("What is my bank account?", at=ASKED, model="none")
    assert "DE99 1234" in found.text and found.text.endswith("(a tool returned it; nobody else did)")
    assert found.trace["only_said_by"] == "a tool returned it" and found.confidence <= HEARSAY


def test_what_one_says_later_oneself_is_still_the_newer_answer(memory: Memory) -> None:
    later = "My bank account is NL77 0000 now."
    tell(memory, ("user", None, OWN), ("assistant", None, "Noted."), ("user", None, later))
    assert memory.ask("What is my bank account?", at=ASKED, model="none").trace["short"] == "NL77 0000"


def test_a_confirmed_proposal_is_answered_as_ones_own(memory: Memory) -> None:
    tell(memory, ("user", "Ana", "I live in Porto."), ("assistant", None, "Ana lives in Minsk now."))
    before = memory.ask("Where does Ana live?", at=ASKED, model="none")
    (proposal,) = memory.facts.review()
    assert before.trace["short"] == "Porto" and proposal.id in before.asks[0]
    memory.facts.confirm(proposal.id, by="Ana")
    after = memory.ask("Where does Ana live?", at=ASKED, model="none")
    assert after.trace["short"] == "Minsk" and after.asks == () and "only_said_by" not in after.trace


def test_only_what_bears_on_a_question_is_asked_about(memory: Memory) -> None:
    tell(memory, ("user", "Ana", "I live in Porto."), ("assistant", None, "Ana lives in Minsk now."))
    tell(memory, ("user", "Bob", "I live in Riga."))
    assert memory.ask("Where does Bob live?", at=ASKED, model="none").asks == ()
    assert memory.ask("Where does Ana live?", at=ASKED, as_of=SAID, model="none").asks == ()
