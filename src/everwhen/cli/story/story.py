"""The story of `everwhen demo`: half a year of Marta, her assistant, her brother and her friend.

`truth.json` beside it is what a reader knows afterwards: dated events, what was put right later, and
questions with and without an answer. The tests and the later rooms are held against it.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any
from zoneinfo import ZoneInfo

from everwhen.types import Event, Message
from everwhen.write.importers import chats

if TYPE_CHECKING:
    from everwhen.api.memory import Memory

STORY_ZONE = "Europe/Lisbon"
ASKED_AT = datetime(2025, 7, 14, 9, 0, tzinfo=ZoneInfo(STORY_ZONE))
"""The moment of asking: the morning after the last conversation."""


CLEAR = 0.6
"""The confidence below which an event is not on the demo's calendar."""


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """A question of the demo, the words that what is recalled must contain, and the turns they stand in."""

    question: str
    contains: tuple[str, ...]
    evidence: tuple[str, ...]


QUESTIONS = (
    DemoQuestion(
        "Which drawing program does Marta use at the studio?", ("from Illustrator to Inkscape",), ("s20-03",)
    ),
    DemoQuestion("When was Noor's niece Salma born?", ("so 7 March",), ("s07-01",)),
    DemoQuestion("When did Marta move to Porto?", ("We moved yesterday",), ("s19-01",)),
)
ASKED = (
    ("When did I move?", "31 May 2025"),
    ("Who is my landlady?", "Dona Lurdes"),
    ("Where do I live?", "Porto"),
    ("Where do my parents live?", "Évora"),
    ("What did they give me on my last day?", "A model tram"),
    ("Where did Marta work in February?", "The city transit company"),
    ("Does Marta still drink coffee?", "No"),
    ("Do I still live in Lisbon?", "No"),
    ("Which came first, Figo coming home or Marta's interview at the studio?", "Figo coming home"),
    ("When does Noor move to Rotterdam?", "From 1 September 2025 to 10 September 2025"),
)
"""Ten questions as Marta and others would put them, after changes and before them, and how the right answer begins."""
NOT_TOLD = "What is the name of Davide's wife?"
"""She is spoken of, and nobody says what she is called."""


def story() -> list[Message]:
    """The story's messages, in order."""
    return list(chats.jsonl_messages(Path(__file__).with_name("story.jsonl"), "story"))


def calendar(memory: Memory) -> list[Event]:
    """The events of a bank that the words themselves date, in the order of what happened; what is said only in a few
    words ("Three viewings, all on Saturday") is left out."""
    return [
        event
        for event in memory.events()
        if not event.inferred and event.status != "hypothetical" and event.confidence >= CLEAR
    ]


def truth() -> dict[str, Any]:
    """What is true in the story: `events`, `corrections`, `answerable` and `unanswerable` questions.

    An event's `start` and `end` are days in its `zone`, half-open; null is an open side.
    """
    text = Path(__file__).with_name("truth.json").read_text(encoding="utf-8")
    loaded: dict[str, Any] = json.loads(text)
    return loaded
