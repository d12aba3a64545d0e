"""How well `when` dates what our own talks tell: `talk/` by the questions in `when_talks.jsonl`, or `pairs/`.

    python training/score_when.py [--pairs [--writer p|q|r]] [--home FOLDER] [--show]

474 questions, written by readers who saw the talks and not the engine: 354 that a talk answers, with the interval
that a careful person would say (start, and end exclusive) and the turns that tell it, and 120 about what was not told.
Each talk has a bank of its own, read by the rules, and is asked half an hour after its last session began. Prints how
many are answered and how many rightly, by the same measure as LoCoMo's dated questions, and how many of the others are
refused.

`pairs/` are talks of two people by three writers (p, q, r), who saw no code, with 411 questions of several forms.
Their figures stand by form, and beside them those of one simple answer: the day on which the first hit was told.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from everwhen import Memory
from everwhen.types import Message
from everwhen_bench.extraction import is_right
from everwhen_time import Interval
from written import read_bank

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--home", type=Path, help="keep the banks here, and use those that are there already")
    parser.add_argument("--pairs", action="store_true")
    parser.add_argument("--writer", default="", help="only this one's talks")
    parser.add_argument("--show", action="store_true", help="print what is wrong")
    given = parser.parse_args()
    file = HERE / ("when_pairs.jsonl" if given.pairs else "when_talks.jsonl")
    asked = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    asked = [one for one in asked if one["talk"].startswith(given.writer)]
    told: list[bool | None] = []
    refused: list[bool] = []
    simple: list[bool] = []
    forms: dict[str, list[bool]] = {}
    with TemporaryDirectory() as scratch:
        for name in sorted({one["talk"] for one in asked}):
            messages = list(turns(name, "pairs" if given.pairs else "talk"))
            at = max(one.said_at for one in messages if one.said_at) + timedelta(minutes=30)
            with Memory.open(given.home or scratch, name) as memory:
                if not memory.stats().turns:
                    memory.add_many(messages)
                memory.flush()
                for one in (one for one in asked if one["talk"] == name):
                    answer = memory.when(one["question"], at=at)
                    if "start" not in one:
                        refused.append(answer is None)
                        continue
                    start, end = (
                        datetime.fromisoformat(one[side]).replace(tzinfo=UTC) for side in ("start", "end")
                    )
                    told.append(None if answer is None else is_right(answer.interval, start, end))
                    forms.setdefault(one.get("form", ""), []).append(told[-1] is True)
                    first = memory.recall(one["question"], at=at, kinds=["turn"])[0].said_at
                    day = first.replace(hour=0, minute=0, second=0)
                    simple.append(is_right(Interval(day, day + timedelta(days=1)), start, end))
                    if given.show and not told[-1]:
                        found = answer and (str(answer.interval), answer.evidence[0].quote[:90])
                        asked_so = (
                            one["talk"],
                            one.get("form", ""),
                            one["question"],
                            one["start"],
                            one["end"],
                        )
                        print(*asked_so, found)
    print(figures(told, refused))
    print(f"the day of telling of the first hit: {sum(simple) / len(simple):.3f}")
    print({form: f"{sum(right)} of {len(right)}" for form, right in forms.items()})


def turns(name: str, folder: str = "talk") -> Iterator[Message]:
    bank, _, _ = read_bank(HERE / folder / f"{name}.txt")
    number = 0
    for place, session in enumerate(bank["sessions"]):
        at = datetime.fromisoformat(str(session["at"])).replace(tzinfo=UTC)
        for speaker, text in session["turns"]:
            role = "assistant" if speaker == "assistant" else "user"
            who = None if speaker in ("user", "assistant") else speaker
            yield Message(text, role, who, at, None, f"{name}-{number}", f"s{place}")  # type: ignore[arg-type]
            number += 1


def figures(told: Sequence[bool | None], refused: Sequence[bool]) -> str:
    answered = [one for one in told if one is not None]
    right = sum(answered)
    return (
        f"{len(told)} told: {len(answered)} answered, {right} rightly: {right / len(told):.3f}, "
        f"{right / max(1, len(answered)):.3f} of those answered; "
        f"{len(refused)} not told: {sum(refused) / len(refused):.3f} refused"
    )


if __name__ == "__main__":
    main()
