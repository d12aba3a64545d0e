"""Entities and events as a person would write them: held against talk of every day, each case beside a control."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

import pytest

from everwhen import Entity, Event, Memory
from everwhen.api.memory.bank import OpenBank
from everwhen.models.llm.fake import FakeLLM
from everwhen.types import Turn
from everwhen.write.extract.base import Batch
from everwhen.write.extract.rule_extractor import RuleExtractor

SAID = datetime(2025, 6, 2, 10, tzinfo=UTC)

Line = list[str]
"""Who says, what, and on which day (2 June 2025 where it is left out)."""


@dataclass(frozen=True)
class Case:
    """What is said, and what the memory holds afterwards; names are compared without case."""

    kind: str
    outcome: str
    lines: list[Line]
    named: list[str] = field(default_factory=list)
    """Entities, by name or alias."""
    unnamed: list[str] = field(default_factory=list)
    """No entity has this name or alias."""
    same: list[list[str]] = field(default_factory=list)
    apart: list[list[str]] = field(default_factory=list)
    typed: dict[str, str] = field(default_factory=dict)
    """Each entity's type; "A|B" is one of them."""
    events: list[list[str]] = field(default_factory=list)
    """Subject, verb and words of the object: exactly one event of each."""
    no_event: list[str] = field(default_factory=list)
    """No event's text, verb or object holds this; "" is: there is none at all."""


CASES = [
    Case(**json.loads(line))
    for line in Path(__file__).with_name("who_did_what.jsonl").read_text("utf-8").splitlines()
]
LEFT = {"a toast is no event", "a goodnight is no name"}
"""What the parser reads otherwise: a name that it takes for a noun, a greeting that it takes for a name."""


def said(memory: Memory, lines: Sequence[Line]) -> None:
    for n, (who, text, *day) in enumerate(lines):
        at = f"{day[0] if day else '2025-06-02'}T10:{n:02d}:00Z"
        memory.add({"role": "user", "name": who, "content": text, "timestamp": at})


def known(memory: Memory) -> dict[str, Entity]:
    found = memory.entities()
    aliases = {name.lower(): one for one in found for name in one.aliases}
    return aliases | {one.name.lower(): one for one in found}  # the name that one is listed under comes first


def fits(event: Event, wanted: Sequence[str]) -> bool:
    subject, verb, object = wanted
    return (
        event.subject.lower() in (subject.lower(), f"sarah's brother {subject.lower()}")
        and event.verb.lower() in verb.split("|")
        and any(all(word in event.object.lower() for word in one.split()) for one in object.split("|"))
    )


def wrong(memory: Memory, case: Case) -> list[str]:
    """What does not hold, in words."""
    entities, events = known(memory), memory.events()
    shown = [f"{one.subject} / {one.verb} / {one.object}" for one in events]
    out = [f"no entity {name}: {sorted(entities)}" for name in case.named if name.lower() not in entities]
    out += [f"entity {name}" for name in case.unnamed if name.lower() in entities]
    out += [f"two: {a}, {b}" for a, b in case.same if identity(memory, a) != identity(memory, b)]
    out += [f"one: {a}, {b}" for a, b in case.apart if identity(memory, a) == identity(memory, b)]
    for name, types in case.typed.items():
        found = entities[name.lower()].type if name.lower() in entities else None
        if found not in types.split("|"):
            out.append(f"{name} is typed {found}")
    for wanted in case.events:
        if sum(fits(one, wanted) for one in events) != 1:
            out.append(f"not once {wanted}: {shown}")
    for words in case.no_event:
        if any(words.lower() in f"{one.text} {one.verb} {one.object}".lower() for one in events):
            out.append(f"event of {words!r}: {shown}")
    return out


def identity(memory: Memory, name: str) -> str:
    """The id of the one that the name is; a name that is nobody's own is its own identity."""
    found = known(memory).get(name.lower())
    return found.id if found else f"nobody: {name}"


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(
            one,
            id=f"{one.kind}: {one.outcome}",
            marks=[pytest.mark.xfail(strict=True)] if one.outcome in LEFT else [],
        )
        for one in CASES
    ],
)
def test_talk_of_every_day_gives_the_people_things_and_deeds_a_person_would_write(
    quick: Memory, case: Case
) -> None:
    said(quick, case.lines)
    quick.flush()
    assert not wrong(quick, case)


def mia(*texts: str) -> list[Line]:
    return [["Mia", text] for text in texts]


DECIDED = {
    "We decided to move the database to Postgres.": "The room was far too hot for us. Coffee was cold as always. "
    "The slides were full of numbers again. The chairs were hard and the light dim.",
    "Let's go with the third venue then.": "The first one was dark and small. The second had no kitchen at all. "
    "The third was lovely but expensive. It has a garden with old trees.",
    "We'll take the fixed rate for ten years.": "The weather was awful all day. The train was late again. "
    "The office has new chairs and plants. The bank people were friendly enough.",
    "In the end we chose Crete over Corfu.": "The trip was long and loud. The kids were tired and hungry. "
    "The hotel was nice enough for everybody. Breakfast was good and the staff friendly.",
}


@pytest.mark.parametrize("decision", DECIDED)
def test_a_narrative_keeps_what_was_decided_after_much_small_talk(decision: str) -> None:
    text = f"I called Petra yesterday. {DECIDED[decision]} {decision}"
    turn = Turn("t", "s", 0, "user", "Mia", text, SAID, "UTC", SAID)
    told = [
        one.text for one in RuleExtractor().extract(Batch("s", (turn,))).narratives if one.network == "world"
    ]
    assert decision.rsplit(maxsplit=1)[-1] in " ".join(told)


def test_a_language_model_says_whom_a_bare_name_means(quick: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    judge = FakeLLM([lambda asked: {"same": '"Daniel Kim"' in asked.prompt}])
    monkeypatch.setattr(OpenBank, "_judge", lambda self: judge)
    said(quick, mia("Daniel Reyes called me.", "Daniel Kim emailed me.", "I met Daniel at the gym."))
    quick.flush()
    assert quick.entity("Daniel").name == "Daniel Kim"
    assert quick.entity("Daniel Kim").mentions == 2


def test_a_language_model_may_keep_an_old_nickname_apart(
    quick: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(OpenBank, "_judge", lambda self: FakeLLM([{"same": False}]))
    said(quick, [["Mia", "I had lunch with Katherine."], ["Mia", "Kate called me.", "2025-12-06"]])
    quick.flush()
    assert quick.entity("Kate").id != quick.entity("Katherine").id


def test_a_bare_name_that_came_to_fit_two_counts_for_neither(quick: Memory) -> None:
    said(
        quick,
        mia("Sofia called me.", "Sofia Marin emailed me.", "Sofia Lund was late.", "I met Sofia again."),
    )
    quick.flush()
    assert {(one.name, one.mentions) for one in quick.entities() if "Sofia" in one.name} == {
        ("Sofia Marin", 2),
        ("Sofia Lund", 1),
        ("Sofia", 1),
    }


def test_a_full_name_in_one_sentence_and_the_first_name_in_the_next_are_one(quick: Memory) -> None:
    said(quick, mia("My manager is Priya Shah. Priya moved here in May.", "I met Priya again."))
    quick.flush()
    assert [(one.name, one.mentions) for one in quick.entities() if "Priya" in one.name] == [
        ("Priya Shah", 2)
    ]


def test_a_concept_that_is_said_again_is_mentioned_where_it_was_said_first_too(quick: Memory) -> None:
    said(quick, mia("We planned the budget migration.", "The budget migration is done."))
    quick.flush()
    assert (quick.entity("budget migration").type, quick.entity("budget migration").mentions) == (
        "CONCEPT",
        2,
    )
