"""What the reader learns from noted facts: which relations a turn tells, where the value stands, and whose it is.

A fact of `training/written` gives rows of question and turn: "whose" (the subject is the answer; where no words say it,
the speaker's name), a person's question (the value is), and the same about others or of another relation, which the
turn does not answer. Which relations a turn tells at all is learned at a glance (`Glances` in `train.py`): those that
a conversation's notes leave out are not told there.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from typing import Any

from relations import asked_of
from written import RELATIONS, place_in

Row = dict[str, Any]
"""Like a status: question, speaker, text, status, kind; `before`, and `place`: characters of `speaker: text`."""

NAMES = ("Priya", "Tom", "Ana", "Mehmet", "Keiko", "Lars", "Fatima", "Joe", "Oksana", "Diego")
_ME = {"i", "my", "me", "mine", "i'm", "im", "i've", "ive", "i'd", "we", "our", "us", "ours", "myself"}
_PRONOUNS = frozenset(
    ("he", "she", "it", "they", "his", "her", "their", "its", "him", "them", "you", "your", "who", "this", "that")
)  # fmt: skip
_ALIKE = (
    ("lives in", "comes from", "located", "address", "works at", "studies at", "plans"),
    ("works at", "works as", "works on", "leads", "member of", "reports to", "studies"),
    ("partner", "has child", "has sibling", "has parent", "has relative", "friend of", "called", "has pet"),
    ("called", "reports to", "friend of", "leads"),
    ("likes", "dislikes", "favourite", "prefers", "wants", "eats", "allergic to", "plans", "plays"),
    ("has condition", "takes", "allergic to", "eats"),
    ("owns", "uses", "has pet", "runs on", "version", "takes"),
    ("costs", "owes", "number", "age", "version", "phone", "deadline", "birthday"),
    ("status", "deadline", "plans", "wants"),
)  # fmt: skip


def rows_of(bank: dict[str, Any], chance: random.Random) -> list[Row]:
    """All rows of one bank's facts."""
    told: dict[tuple[int, int], list[dict[str, Any]]] = {}
    for fact in bank["facts"]:
        told.setdefault((fact["place"][0], fact["place"][1]), []).append(fact)
    rows: list[Row] = []
    for place, facts in told.items():
        speaker, text = bank["sessions"][place[0]]["turns"][place[1]]
        turns = bank["sessions"][place[0]]["turns"]
        before = ": ".join(turns[place[1] - 1]) if place[1] else ""
        turn = {"speaker": speaker, "text": text, "before": before}
        for fact in facts:
            rows += _rows(fact, turn, facts, bank["names"], chance)
    return rows + [_mistaken(one, bank) for one in bank.get("mistaken", ())]


def _mistaken(one: dict[str, Any], bank: dict[str, Any]) -> Row:
    """What a reader took for a fact: nobody's it is."""
    session, place = one["place"]
    turns = bank["sessions"][session]["turns"]
    speaker, text = turns[place]
    asked = RELATIONS[one["relation"]].whose.replace("{value}", one["value"])
    before = ": ".join(turns[place - 1]) if place else ""
    return {"speaker": speaker, "text": text, "before": before, "question": asked, "kind": "none"}


def value_place(fact: dict[str, Any], speaker: str, text: str) -> tuple[int, int]:
    """Characters of the value in `speaker: text`."""
    start, end = place_in(text, fact["value"]) or (0, 0)
    shift = len(speaker) + 2
    return start + shift, end + shift


def _rows(
    fact: dict[str, Any],
    turn: Row,
    beside: Sequence[dict[str, Any]],
    names: Sequence[str],
    chance: random.Random,
) -> list[Row]:
    relation = RELATIONS[fact["relation"]]
    speaker, text = turn["speaker"], turn["text"]
    shift = len(speaker) + 2
    value = value_place(fact, speaker, text)
    near = value[0] - shift
    subject = place_in(text, fact["subject"], near) if fact["subject"] else None
    whose = (subject[0] + shift, subject[1] + shift) if subject else (0, len(speaker))
    asked = relation.whose.replace("{value}", fact["value"])
    said = {**turn, "status": fact["status"]}
    rows = [{**said, "question": asked, "kind": "span", "place": whose}]
    other = RELATIONS[_other(fact, beside, chance)]
    rows.append({**turn, "question": other.whose.replace("{value}", fact["value"]), "kind": "none"})
    who = _who(fact["subject"], speaker)
    question = chance.choice(relation.questions)
    if who:
        rows.append({**said, "question": asked_of(question, who), "kind": "span", "place": value})
    for wrong in _others(fact, speaker, beside, names, chance):
        rows.append({**turn, "question": asked_of(question, wrong), "kind": "none"})
    return rows


def _others(
    fact: dict[str, Any],
    speaker: str,
    beside: Sequence[dict[str, Any]],
    names: Sequence[str],
    chance: random.Random,
) -> list[str]:
    """Two of whom the same is not told: first one that the turn speaks of as well, then whoever talks in the bank."""
    same = {_who(one["subject"], speaker) for one in beside if one["relation"] == fact["relation"]}
    told = {_who(one["subject"], speaker) for one in beside} - same
    near = sorted(one for one in told if one[:1].isupper() and one != "I")
    rest = [one for one in (*names, *NAMES) if one not in (speaker, "user", "assistant", *same, *near)]
    return [*chance.sample(near, min(1, len(near))), *chance.sample(rest, 2)][:2]


def _who(subject: str, speaker: str) -> str:
    """The subject as a question names it: a name, "I" for the user, "Mira's sister"; empty for a pronoun."""
    words = subject.lower().split()
    own = "I" if speaker in ("user", "assistant") else speaker
    if not words or (words[0] in _ME and len(words) == 1):
        return own
    if words[0] in ("my", "our"):
        rest = " ".join(subject.split()[1:])
        return f"my {rest}" if own == "I" else f"{own}'s {rest}"
    if words[0] in _PRONOUNS:
        return ""
    return subject


def _other(fact: dict[str, Any], beside: Sequence[dict[str, Any]], chance: random.Random) -> str:
    """A relation that the turn does not tell; mostly one of the same field."""
    told = {one["relation"] for one in beside}
    alike = [name for group in _ALIKE if fact["relation"] in group for name in group if name not in told]
    every = [name for name in RELATIONS if name not in told]
    return chance.choice(alike if alike and chance.random() < 0.6 else every)
