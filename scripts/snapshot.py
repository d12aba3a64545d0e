"""What the engine answers on the development data, as one JSON file, so that two versions of the code can be compared.

    python scripts/snapshot.py write before.json --data ../shared [--quick]
    python scripts/snapshot.py compare before.json after.json

`write` uses public names only: orders of recall, facts, events, answers and dates of the everyday conversations, of
LoCoMo and of our own sets, every time expression of the timex sets, the OpenAPI description, the tools of MCP and the
help of every command. `compare` prints each difference and exits with 1 if there are any.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def everyday(conversations: list[dict[str, Any]]) -> Iterator[tuple[str, Any]]:
    from everwhen import Memory

    for one in conversations:
        with tempfile.TemporaryDirectory() as home, Memory.open(home, "b", zone=one.get("zone")) as memory:
            for said in one["messages"]:
                message = {key: said[key] for key in ("role", "name", "content") if said.get(key)}
                memory.add([message], session=said["session"], at=datetime.fromisoformat(said["at"]))
            memory.flush()
            now = datetime.fromisoformat(one["now"])
            yield (
                f"{one['id']}/facts",
                sorted(
                    f"{f.subject} | {f.predicate} | {f.object} | {f.valid.to_json()} | {f.confidence:.2f} | {f.status}"
                    for f in memory.facts.current(now=now)
                ),
            )
            yield (
                f"{one['id']}/events",
                sorted(
                    f"{e.subject} | {e.verb} | {e.object} | {e.occurred and e.occurred.to_json()} | {e.status}"
                    for e in memory.events()
                ),
            )
            for check in one["checks"]:
                if question := check.get("q"):
                    yield f"{one['id']}/{question}", asked(memory, question, now)


def asked(memory: Any, question: str, now: datetime) -> dict[str, Any]:
    answer, dated, recalled = (
        memory.ask(question, at=now), memory.when(question, at=now), memory.recall(question, at=now)
    )  # fmt: skip
    return {
        "ask": None if answer.abstained else answer.text,
        "when": dated and [dated.interval.to_json(), round(dated.confidence, 2)],
        "recall": [f"{hit.text[:60]} {hit.score:.3f}" for hit in recalled],
    }


def locomo(samples: list[dict[str, Any]], questions: int) -> Iterator[tuple[str, Any]]:
    from everwhen import Memory
    from everwhen.write.importers.benchmarks import locomo_conversation

    for sample in samples:
        messages = list(locomo_conversation(sample).messages)
        now = max(message.said_at for message in messages if message.said_at) + timedelta(minutes=1)
        with tempfile.TemporaryDirectory() as home, Memory.open(home, "b") as memory:
            memory.add_many(messages)
            memory.flush()
            for question in sample["qa"][:questions]:
                yield (
                    f"{sample['sample_id']}/{question['question']}",
                    asked(memory, question["question"], now),
                )


def times(sets: list[Path]) -> Iterator[tuple[str, Any]]:
    import everwhen_time

    for path in sets:
        for number, case in enumerate(json.loads(path.read_text("utf-8"))):
            at = datetime.fromisoformat(case["ref"]).replace(tzinfo=UTC)
            found = everwhen_time.resolve(case["text"], at)
            yield (
                f"{path.name}/{number}",
                [[one.interval and one.interval.to_json(), one.kind] for one in found],
            )


def doors() -> Iterator[tuple[str, Any]]:
    from everwhen.serve.app import openapi_document

    yield "openapi", openapi_document()


def write(out: Path, data: Path, quick: bool) -> None:
    def read(name: str) -> Any:
        return json.loads((data / name).read_text("utf-8"))

    found: dict[str, Any] = {}
    own = json.loads((ROOT / "benchmarks" / "everyday.json").read_text("utf-8"))
    found.update(everyday(read("everyday/dev.json")[: 5 if quick else None]))
    found.update(everyday(own[: 3 if quick else None]))
    samples = read("data/locomo_dev.json")
    found.update(locomo(samples[: 0 if quick else None], 40))
    found.update(
        times([data / "data" / f"timex_{name}.json" for name in ("chat_dev", "languages_dev", "recognizers")])
    )
    found.update(doors())
    out.write_text(json.dumps(found, indent=1, ensure_ascii=False, sort_keys=True, default=str), "utf-8")
    print(f"{len(found)} entries in {out}")


def compare(before: Path, after: Path) -> int:
    old, new = (json.loads(path.read_text("utf-8")) for path in (before, after))
    different = [name for name in sorted(old.keys() | new.keys()) if old.get(name) != new.get(name)]
    for name in different:
        print(name)
        one, other = old.get(name), new.get(name)
        if isinstance(one, dict) and isinstance(other, dict):
            for key in sorted(one.keys() | other.keys()):
                if one.get(key) != other.get(key):
                    print(f"  {key}\n    - {str(one.get(key))[:1500]}\n    + {str(other.get(key))[:1500]}")
        elif isinstance(one, list) and isinstance(other, list):
            print(*(f"    - {line}" for line in one if line not in other), sep="\n")
            print(*(f"    + {line}" for line in other if line not in one), sep="\n")
        else:
            print(f"    - {str(one)[:1500]}\n    + {str(other)[:1500]}")
    print(f"{len(different)} of {len(old.keys() | new.keys())} entries differ")
    return 1 if different else 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write")
    writing.add_argument("out", type=Path)
    writing.add_argument("--data", type=Path, default=ROOT.parent / "shared")
    writing.add_argument("--quick", action="store_true")
    comparing = commands.add_parser("compare")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    given = parser.parse_args()
    if given.command == "compare":
        sys.exit(compare(given.before, given.after))
    write(given.out, given.data, given.quick)


if __name__ == "__main__":
    main()
