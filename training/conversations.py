"""Step 1b, conversations: prompts for a language model that writes sessions of a kind which the public sets lack.

    python training/conversations.py prompts --out prompts.json.gz [--seed 2] [--small]
    python training/conversations.py banks --answers answers.json.gz --out written.json.gz

Two people tell each other of their lives over months; a user tells an assistant about themselves while asking for help.
Who they are is the same through a bank, and what they talk about is drawn anew for each session.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from banks import NAMES, read_json, write_json

BANKS, ASSISTED_BANKS, SESSIONS = 110, 60, 20

PEOPLE_TOPICS = (
    "a new flat and the move", "a job interview", "a promotion and a new boss", "quitting a job",
    "a birthday party", "a wedding", "a new baby in the family", "a sick parent",
    "a visit to the doctor and a new medicine", "an allergy", "a broken arm", "training for a race",
    "a football match of their child", "learning an instrument", "a painting that was sold", "a pottery class",
    "a book they have just read", "a film they saw with somebody", "a concert", "a camping trip",
    "a week in another country", "a missed flight", "a road trip with a brother", "a new dog or cat",
    "a pet at the vet", "a garden and what grows in it", "a recipe that went wrong", "a restaurant they tried",
    "becoming a vegetarian", "a car that broke down", "buying a bicycle", "a stolen phone",
    "saving money for something", "a tax bill", "a neighbour who makes noise", "repairing the house",
    "a course at the university", "an exam", "volunteering at a shelter", "a charity run", "an adoption",
    "a divorce in the family", "an old friend who came back", "a quarrel with a sister", "a lost key",
    "a language course", "a video game", "a chess club", "photography", "knitting a present", "a choir",
    "plans for the summer", "plans for Christmas", "a house for their parents", "a start-up idea",
    "a conference talk", "moving to another city", "a grandmother's stories", "a power cut", "a storm",
    "giving up smoking", "sleeping badly", "a new therapist", "a dance class", "a marathon", "a motorbike",
    "a driving test", "a tattoo", "a haircut", "a school play",
)  # fmt: skip
ASSISTANT_TOPICS = (
    "a dinner menu for guests, with an allergy in the family",
    "a training plan for a race they have signed up for", "a birthday present for a relative",
    "a trip with flights, hotel and days", "a letter to the landlord", "how to look after a plant they bought",
    "a budget for the month, with amounts", "a cover letter for a job", "exercises for a painful knee",
    "what to read next, naming books they liked", "a speech for a wedding", "learning a language before a move",
    "a name for a pet", "a Python script for their work", "a database that is slow",
    "a meeting that must be moved", "a complaint about an order, with its number",
    "a recipe with what is in the fridge", "help with a child's homework", "a better sleep routine",
    "choosing between two phones", "a home repair, with tools they own", "a workout with equipment they have",
    "a museum visit", "how to talk to a difficult manager", "planning the garden for spring",
    "a podcast about their hobby", "the rules of a board game", "an insurance claim",
    "a present for a colleague who leaves", "a diet after a doctor's advice", "an essay about a novel",
    "a new laptop for their studies", "a camera and lenses", "moving house, with dates",
    "a party for a five-year-old", "a cocktail for a friend", "a first half marathon", "a bank account abroad",
    "a piano piece to learn", "a bread that does not rise", "how to thank a nurse", "a car that makes noise",
)  # fmt: skip
TRAITS = (
    "a nurse with two sons", "a retired teacher", "a carpenter who paints", "a student of biology",
    "a software developer from Porto", "a baker", "a single mother who runs", "a musician who teaches guitar",
    "a bus driver", "a lawyer who hates her job", "a gardener", "a photographer who travels",
    "a chef from Naples", "an accountant with a cat", "a social worker", "a postman who collects stamps",
    "a dentist", "a librarian", "an engineer who cycles", "a waiter who writes poems", "a vet",
    "a kindergarten teacher", "a journalist", "a fisherman's son", "a physicist", "a hairdresser", "a farmer",
    "a pilot", "a shop owner", "a football coach",
)  # fmt: skip
SYSTEM = "You write natural, specific conversations. Follow the format exactly and write nothing else."

_LINE = re.compile(r"^\s*(?:\d+[.)]\s*)?\**([A-Za-z]{2,12})\**\s*:\**\s*(.+)$")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("step", choices=("prompts", "banks"))
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--small", action="store_true")
    given = parser.parse_args()
    plan = list(plans(given.seed, small=given.small))
    if given.step == "prompts":
        write_json(given.out, [{"id": one["id"], "system": SYSTEM, "user": one["prompt"]} for one in plan])
        print(f"{len(plan)} prompts")
    else:
        answers = {one["id"]: one["text"] for one in read_json(given.answers)}
        banks = list(make_banks(plan, answers))
        write_json(given.out, banks)
        print(f"{len(banks)} banks, {sum(len(s['turns']) for b in banks for s in b['sessions'])} turns")


def plans(seed: int, small: bool = False) -> Iterator[dict[str, Any]]:
    """One session each: which bank, who, when, and what the model is asked to write."""
    chance = random.Random(seed)
    for number in range(4 if small else BANKS):
        names, traits = chance.sample(NAMES, 2), chance.sample(TRAITS, 2)
        for session, at in enumerate(_dates(chance)):
            topics = chance.sample(PEOPLE_TOPICS, 2)
            yield _plan(f"people-{number}", session, at, names, people_prompt(names, traits, topics, at))
    for number in range(2 if small else ASSISTED_BANKS):
        trait = chance.choice(TRAITS)
        for session, at in enumerate(_dates(chance)):
            topic = chance.choice(ASSISTANT_TOPICS)
            yield _plan(
                f"assistant-{number}", session, at, ["user", "assistant"], assistant_prompt(trait, topic, at)
            )


def _plan(bank: str, session: int, at: datetime, names: list[str], prompt: str) -> dict[str, Any]:
    return {"id": f"{bank}/{session}", "bank": bank, "at": at, "names": names, "prompt": prompt}


def _dates(chance: random.Random) -> Iterator[datetime]:
    at = datetime(2022, 1, 1) + timedelta(minutes=chance.randrange(60 * 24 * 700))
    for _ in range(SESSIONS):
        at += timedelta(hours=chance.randrange(30, 24 * 15), minutes=chance.randrange(60))
        yield at


def people_prompt(names: Sequence[str], traits: Sequence[str], topics: Sequence[str], at: datetime) -> str:
    return (
        f"Today is {at:%A, %d %B %Y}. Write a chat of 14 lines between {names[0]}, {traits[0]}, and "
        f"{names[1]}, {traits[1]}, who are friends. {names[0]} tells about {topics[0]}, {names[1]} tells "
        f"about {topics[1]}. They mention concrete details: names of people and places, numbers, prices, "
        f"when things happened (such as 'last Saturday'), reasons, feelings. Each says I about themselves. "
        f"Format of each line: Name: text"
    )


def assistant_prompt(trait: str, topic: str, at: datetime) -> str:
    return (
        f"Today is {at:%A, %d %B %Y}. Write a chat of 8 lines between user, {trait}, and assistant, an AI. "
        f"The user asks for help with {topic} and mentions facts about their own life on the way: family, "
        f"job, city, habits, what they own or did, when, how much. The assistant answers in 30 to 70 words "
        f"with concrete recommendations. Format of each line: 'user: text' or 'assistant: text'"
    )


def make_banks(plan: Sequence[dict[str, Any]], answers: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Sessions of at least four turns that could be read, in banks of at least six sessions."""
    banks: dict[str, dict[str, Any]] = {}
    for one in plan:
        turns = read_lines(answers.get(one["id"], ""), one["names"])
        if len(turns) >= 4:
            source = "written-" + one["bank"].partition("-")[0]
            bank = banks.setdefault(
                one["bank"], {"id": one["bank"], "source": source, "names": one["names"], "sessions": []}
            )
            bank["sessions"].append({"at": one["at"].isoformat(" ", "minutes"), "turns": turns})
    yield from (bank for bank in banks.values() if len(bank["sessions"]) >= 6)


def read_lines(text: str, names: Sequence[str]) -> list[list[str]]:
    """`Name: text` lines of the two; a line that breaks the form is left out, a repeated one ends it."""
    known = {name.casefold(): name for name in names}
    turns: list[list[str]] = []
    for line in text.splitlines():
        found = _LINE.match(line)
        if found and found.group(1).casefold() in known:
            turn = [known[found.group(1).casefold()], found.group(2).strip().strip('"')]
            if turn in turns:
                break
            turns.append(turn)
    return turns


if __name__ == "__main__":
    main()
