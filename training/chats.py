"""A person's months with an assistant and what they send later: `training/chats/*/`; the format is in its README.

python training/chats.py [FOLDER …]        checks every folder and counts what is in it
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from everwhen.types import Message

FOLDER = Path(__file__).with_name("chats")
LOCKED = frozenset({"08", "09", "10"})
"""Two writers of ten who are locked away, and one who is left out as a whole: figures only, at the end."""
KINDS = {
    "fact": "question", "assistant": "question", "when": "question", "newer": "question", "list": "coverage",
    "order": "coverage", "summary": "coverage", "request": "request", "wish": "request", "prefer": "request",
    "continue": "continuation", "none": "none",
}  # fmt: skip
"""Kinds of query, and the larger kind that each belongs to."""

_SESSION = re.compile(r"^@ (\d{4}-\d{2}-\d{2} \d{2}:\d{2})$")
_TURN = re.compile(r"^(\d+) (user|assistant): (.*)$")


@dataclass(frozen=True, slots=True)
class Query:
    """What the user sends later; the turns that it needs, the most needed first, and those that no longer hold."""

    kind: str
    words: str
    evidence: tuple[str, ...]
    answer: str
    replaced: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Chats:
    """All conversations of one user as one bank, in the order of time."""

    name: str
    messages: list[Message]
    queries: list[Query]
    asked_at: datetime


def read(folder: Path) -> Chats:
    """One user; a mistake in a file is an error."""
    messages: list[Message] = []
    for file in sorted(folder.glob("[0-9]*.txt")):
        messages += _conversation(file)
    messages.sort(key=lambda one: (one.said_at or datetime.max.replace(tzinfo=UTC), str(one.session)))
    there = {one.id for one in messages}
    queries = []
    for number, line in enumerate((folder / "queries.txt").read_text("utf-8").splitlines(), 1):
        if not line.strip():
            continue
        kind, words, evidence, answer, replaced = (part.strip() for part in line.split("|"))
        query = Query(kind, words, _turns(evidence), answer, _turns(replaced))
        if kind not in KINDS or there.issuperset(query.evidence + query.replaced) is False:
            raise ValueError(f"{folder.name}/queries.txt, line {number}: unknown kind or turn")
        queries.append(query)
    last = max(one.said_at for one in messages if one.said_at)
    return Chats(folder.name, messages, queries, last + timedelta(days=1))


def read_all(*, locked: bool = False) -> Iterator[Chats]:
    """The users that may be looked at and fitted on, or those that are locked."""
    for folder in sorted(FOLDER.iterdir()):
        if folder.is_dir() and (folder.name in LOCKED) == locked and folder.name < "11":
            yield read(folder)


def _turns(listed: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one.strip() for one in listed.split(",") if one.strip()))


def _conversation(file: Path) -> Iterator[Message]:
    said: datetime | None = None
    session, number, who, lines = 0, "", "", list[str]()
    for line in [*file.read_text("utf-8").splitlines(), "@ 9999-12-31 00:00"]:
        begins, turn = _SESSION.match(line), _TURN.match(line)
        if (begins or turn) and number and said is not None:
            yield Message(
                "\n".join(lines).strip(),
                "user" if who == "user" else "assistant",
                said_at=said + timedelta(minutes=2 * int(number)),
                session=f"{file.stem}-{session}",
                id=f"{file.stem}.{number}",
            )
            number = ""
        if begins:
            said, session = datetime.fromisoformat(begins[1]).replace(tzinfo=UTC), session + 1
        elif turn:
            number, who, lines = turn[1], turn[2], [turn[3]]
        else:
            lines.append(line.removeprefix("  "))


def main() -> None:
    turns, kinds = 0, Counter[str]()
    for folder in [Path(name) for name in sys.argv[1:]] or sorted(FOLDER.iterdir()):
        if folder.is_dir():
            chats = read(folder)
            turns += len(chats.messages)
            kinds.update(query.kind for query in chats.queries)
    print(f"{turns} turns, {sum(kinds.values())} queries: {dict(kinds)}")


if __name__ == "__main__":
    main()
