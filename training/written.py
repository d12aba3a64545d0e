"""Conversations written by hand with questions of every kind: `training/written/*.txt`; the format is in its README.

python training/written.py [FILE …]        checks every file and counts what is in it
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from relations import relations

FOLDER = Path(__file__).with_name("written")
RELATIONS = {one.name: one for one in relations()}
"""The package's own table of relations."""
STATUSES = ("true", "denied", "supposed", "planned", "ended", "reported", "fiction")
KINDS = (
    "fact", "para", "first", "you", "when", "count", "yes", "no", "list", "join", "newer", "instruct",
    "statement", "infer", "none",
)  # fmt: skip

Fact = dict[str, Any]
"""What a turn tells: relation, subject words (empty: none are said), value words, place and status."""
Glimpse = dict[str, Any]
"""What a reader thought that a turn tells, judged afterwards: relation, value words and place."""
Renewal = dict[str, Any]
"""A question with the turn that holds (`holds`), the turns that it replaced (`older`), and others (`others`)."""

_TURN = re.compile(r"^(\d+) ([^:]{1,30}): (.+)$")
_SESSION = re.compile(r"^@ (\d{4}-\d{2}-\d{2} \d{2}:\d{2})")


def main() -> None:
    paths = [Path(name) for name in sys.argv[1:]] or sorted(FOLDER.glob("*.txt"))
    kinds: Counter[str] = Counter()
    turns = 0
    renewed = 0
    told = judged = 0
    for path in paths:
        bank, questions, faults = read_bank(path)
        told += len(bank["facts"])
        judged += len(bank["told too"]) + len(bank["mistaken"])
        renewed += len(bank["renewals"])
        turns += sum(len(session["turns"]) for session in bank["sessions"])
        kinds.update(one["kind"] for one in questions)
        for fault in faults:
            print(f"{path.name}: {fault}")
    print(
        f"{len(paths)} banks, {turns} turns, {sum(kinds.values())} questions: {dict(kinds)}; {renewed} renewals, "
        f"{told} facts, {judged} judged afterwards"
    )


def read_all(folder: Path = FOLDER) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
    """Each bank with its questions; a line with a fault is left out."""
    for path in sorted(folder.glob("*.txt")):
        bank, questions, _ = read_bank(path)
        yield bank, questions


def read_bank(path: Path) -> tuple[dict[str, Any], list[dict[str, Any]], list[str]]:
    """A bank, its questions (`places` are session and turn), and what is wrong with the file."""
    sessions: list[dict[str, Any]] = []
    place_of: dict[int, tuple[int, int]] = {}
    questions: list[dict[str, Any]] = []
    renewals: list[Renewal] = []
    facts: list[Fact] = []
    glimpses: dict[str, list[Glimpse]] = {"+": [], "-": []}
    faults: list[str] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if session := _SESSION.match(line):
            sessions.append({"at": session.group(1), "turns": []})
        elif (turn := _TURN.match(line)) and sessions:
            place_of[int(turn.group(1))] = (len(sessions) - 1, len(sessions[-1]["turns"]))
            sessions[-1]["turns"].append([turn.group(2), turn.group(3)])
        elif line.startswith("?"):
            question = _question(line, sessions, place_of)
            if isinstance(question, str):
                faults.append(f"line {number}: {question}")
            else:
                questions.append(question)
        elif line.startswith("!"):
            fact = _fact(line, sessions, place_of)
            if isinstance(fact, str):
                faults.append(f"line {number}: {fact}")
            else:
                facts.append(fact)
        elif line.startswith(("+", "-")):
            glimpse = _glimpse(line, sessions, place_of)
            if isinstance(glimpse, str):
                faults.append(f"line {number}: {glimpse}")
            else:
                glimpses[line[0]].append(glimpse)
        elif line.startswith("~"):
            renewal = _renewal(line, place_of)
            if isinstance(renewal, str):
                faults.append(f"line {number}: {renewal}")
            else:
                renewals.append(renewal)
        elif line.strip() and not line.startswith("#"):
            faults.append(f"line {number}: neither session, turn nor question")
    names = sorted({speaker for session in sessions for speaker, _ in session["turns"]})
    bank = {
        "id": path.stem, "source": "by hand", "names": names, "sessions": sessions, "renewals": renewals,
        "facts": facts, "told too": glimpses["+"], "mistaken": glimpses["-"],
    }  # fmt: skip
    return bank, questions, faults


def _question(
    line: str, sessions: Sequence[dict[str, Any]], place_of: dict[int, tuple[int, int]]
) -> dict[str, Any] | str:
    parts = [part.strip() for part in line[1:].split("|")]
    if len(parts) != 5:
        return "a question has five parts"
    kind, _, person = parts[0].partition(" ")
    numbers = [int(one) for one in re.findall(r"\d+", parts[3])]
    if kind not in KINDS:
        return f"unknown kind '{kind}'"
    if not numbers or any(one not in place_of for one in numbers):
        return "it names no turn, or one that is not there"
    if parts[4] and parts[4] not in STATUSES:
        return f"unknown status '{parts[4]}'"
    first = place_of[numbers[0]]
    return {
        "kind": kind,
        "person": person,
        "question": parts[1],
        "answer": parts[2],
        "places": [list(place_of[one]) for one in numbers],
        "speaker": sessions[first[0]]["turns"][first[1]][0],
        "status": parts[4],
    }


def _renewal(line: str, place_of: dict[int, tuple[int, int]]) -> Renewal | str:
    parts = [part.strip() for part in line[1:].split("|")]
    if len(parts) != 4:
        return "what was replaced has four parts"
    holds, older, others = ([int(one) for one in re.findall(r"\d+", part)] for part in parts[1:])
    if not holds or any(one not in place_of for one in (*holds, *older, *others)):
        return "it names no turn, or one that is not there"
    if any(one >= holds[0] for one in older):
        return "what was replaced is said before what replaces it"
    places = {
        "holds": holds[:1], "older": older, "others": [one for one in others if one not in (*holds, *older)],
    }  # fmt: skip
    return {"question": parts[0]} | {
        name: [list(place_of[one]) for one in numbers] for name, numbers in places.items()
    }


def _fact(line: str, sessions: Sequence[dict[str, Any]], place_of: dict[int, tuple[int, int]]) -> Fact | str:
    parts = [part.strip() for part in line[1:].split("|")]
    if len(parts) != 5:
        return "a fact has five parts"
    relation, subject, value, number, status = parts
    if relation not in RELATIONS:
        return f"unknown relation '{relation}'"
    if not number.isdigit() or int(number) not in place_of:
        return "it names no turn, or one that is not there"
    if status not in STATUSES:
        return f"unknown status '{status}'"
    session, turn = place_of[int(number)]
    text = sessions[session]["turns"][turn][1]
    subject = "" if subject == "-" else subject
    for words in (subject, value):
        if words and place_in(text, words) is None:
            return f"the turn does not have '{words}'"
    return {
        "relation": relation, "subject": subject, "value": value, "place": [session, turn], "status": status,
    }  # fmt: skip


def _glimpse(
    line: str, sessions: Sequence[dict[str, Any]], place_of: dict[int, tuple[int, int]]
) -> Glimpse | str:
    parts = [part.strip() for part in line[1:].split("|")]
    if len(parts) != 3:
        return "what was seen at a glance has three parts"
    relation, value, number = parts
    # Nobody noted whose it is or how it is said: a fact of nobody's checks the rest.
    fact = _fact(f"!{relation}|-|{value}|{number}|true", sessions, place_of)
    if isinstance(fact, str):
        return fact
    return {name: fact[name] for name in ("relation", "value", "place")}


def place_in(text: str, words: str, near: int | None = None) -> tuple[int, int] | None:
    """Where some words stand in a text as whole words, whatever their case; the place nearest to `near`, if given."""
    pattern = rf"(?<!\w){re.escape(words)}(?!\w)"
    found = [match.span() for match in re.finditer(pattern, text, re.IGNORECASE)]
    if not found:
        return None
    return found[0] if near is None else min(found, key=lambda one: abs(one[0] - near))


if __name__ == "__main__":
    main()
