"""Step 1, banks: public conversations become memories of many sessions, several people, names and dates.

    python training/banks.py --dialogues dialogues.json.xz --out banks.json.gz [--seed 1] [--small]

A bank is one memory. Its sessions come from one source, so that its turns are alike and the wrong ones are hard to tell
from the right one. Speakers get names, the same two through a bank; users of an assistant stay `user` and `assistant`.
"""

from __future__ import annotations

import argparse
import gzip
import json
import lzma
import random
import re
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

SESSIONS = 24
"""Of a bank. With fewer, most turns are about something else, and any of them that shares a word is the right one."""
ASSISTED = ("schema-guided-dialogue", "taskmaster-4")
NAMES = [
    "Ana", "Ben", "Carla", "Daniel", "Elif", "Farid", "Grace", "Henrik", "Ines", "Jamal", "Keiko", "Liam",
    "Mona", "Niko", "Olga", "Pedro", "Quentin", "Rosa", "Samir", "Tara", "Umar", "Vera", "Wei", "Ximena",
    "Yara", "Zack", "Amara", "Bruno", "Chloe", "Dmitri", "Esther", "Felix", "Gita", "Hugo", "Ingrid", "Joao",
    "Katya", "Lars", "Mei", "Noah", "Oona", "Paula", "Rafael", "Signe", "Tomas", "Ursula", "Viktor", "Wanda",
    "Yusuf", "Zoe", "Aisha", "Bjorn", "Cormac", "Delia", "Emre", "Fiona", "Gustav", "Hana", "Ivan", "Jess",
    "Kofi", "Lucia", "Marek", "Nadia", "Otis", "Priya", "Rhys", "Selma", "Theo", "Una", "Vikram", "Willa",
    "Yannick", "Zainab", "Alma", "Boris", "Celine", "Dario", "Eva", "Frank", "Gemma", "Hassan", "Irene",
    "Jonas", "Kirsten", "Leo", "Maya", "Nils", "Odette", "Pavel", "Ruth", "Stefan", "Thea", "Ulrich", "Violet",
    "Walter", "Yvonne", "Zeke",
]  # fmt: skip

_PLACEHOLDER = re.compile(
    r"[\[({<]\s*(?:user|person|speaker|name of user|insert)[^\])}>]*?([12])?[^\])}>]*[\])}>]", re.IGNORECASE
)
"""The number counts only where it follows at once: `[user2]` is the second name, but `[user 2]` the first.

Left so: to mend it changes 662 turns, and what 6 of the spans in `generated/questions.json.gz` cover.
"""
_NAME = re.compile(r"[\[({<]\s*(your |the other person's )?(?:first |full )?name\s*[\])}>]", re.IGNORECASE)
_SPACED = (
    (" n't", "n't"),
    (" '", "'"),
    (" ,", ","),
    (" .", "."),
    (" !", "!"),
    (" ?", "?"),
    ("gon na", "gonna"),
    ("wan na", "wanna"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--dialogues", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--small", action="store_true", help="four banks of each source")
    given = parser.parse_args()
    dialogues = json.loads(lzma.decompress(given.dialogues.read_bytes()))
    banks = list(make_banks(dialogues, given.seed, 4 if given.small else None))
    write_json(given.out, banks)
    turns = sum(len(session["turns"]) for bank in banks for session in bank["sessions"])
    print(f"{len(banks)} banks, {turns} turns")


def make_banks(
    dialogues: Sequence[dict[str, Any]], seed: int, most: int | None = None
) -> Iterator[dict[str, Any]]:
    """Banks of every source, each dialogue in one of them."""
    chance = random.Random(seed)
    by_source: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for number, dialogue in enumerate(dialogues):
        by_source.setdefault(dialogue["source"], []).append((number, dialogue))
    for source, several in sorted(by_source.items()):
        chance.shuffle(several)
        size = SESSIONS * 3 if source == "taskmaster-4" else SESSIONS
        groups = [several[start : start + size] for start in range(0, len(several), size)][:most]
        for number, group in enumerate(groups):
            yield _bank(f"{source}-{number}", source, group, chance)


def _bank(
    name: str, source: str, group: Sequence[tuple[int, dict[str, Any]]], chance: random.Random
) -> dict[str, Any]:
    names = ["user", "assistant"] if source in ASSISTED else chance.sample(NAMES, 2)
    at = datetime(2021, 1, 1) + timedelta(minutes=chance.randrange(60 * 24 * 1000))
    sessions = []
    for number, dialogue in group:
        at += timedelta(hours=chance.randrange(18, 24 * 12), minutes=chance.randrange(60))
        said = [(_speaker(speaker, names), text) for speaker, text in dialogue["turns"]]
        turns = [[speaker, clean(text, names, speaker)] for speaker, text in said]
        session = {"at": at.isoformat(" ", "minutes"), "turns": turns, "dialogue": number}
        if "qa" in dialogue:
            session["qa"] = dialogue["qa"]
        sessions.append(session)
    return {"id": name, "source": source, "names": names, "sessions": sessions}


def _speaker(speaker: str, names: Sequence[str]) -> str:
    """A number is one of the bank's two; the characters of a series keep their first names."""
    return names[int(speaker) - 1] if speaker in ("1", "2") else speaker.split(maxsplit=1)[0]


def clean(text: str, names: Sequence[str], speaker: str) -> str:
    """Without placeholders for names and without the blanks of a tokenizer."""
    other = next((name for name in names if name != speaker), speaker)
    text = _NAME.sub(lambda found: other if found.group(1) else speaker, text)
    text = _PLACEHOLDER.sub(lambda found: names[int(found.group(1) or 1) - 1], text)
    for spaced, plain in _SPACED:
        text = text.replace(spaced, plain)
    return " ".join(text.split())


def write_json(path: Path, value: Any) -> None:
    """Gzip without a time stamp and a name: the same content is the same file."""
    with path.open("wb") as raw, gzip.GzipFile("", fileobj=raw, mode="wb", mtime=0) as packed:
        packed.write(json.dumps(value, ensure_ascii=False).encode())


def read_json(path: Path) -> Any:
    return json.loads(gzip.decompress(path.read_bytes()))


if __name__ == "__main__":
    main()
