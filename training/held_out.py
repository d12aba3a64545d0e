"""How well the packaged reader reads short turns that nothing was learned from: `statuses_held_out.json`.

    python training/held_out.py [FOLDER]        of a quantised reader; without it, the packaged one

Runs in the package's own environment: it asks the reader as everwhen does.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from everwhen.models.comparison import PackagedReader, Passage
from everwhen_bench.metrics import auroc

HELD_OUT = Path(__file__).with_name("statuses_held_out.json")


def main() -> None:
    reader = PackagedReader(folder=Path(sys.argv[1])) if sys.argv[1:] else PackagedReader()
    rows = json.loads(HELD_OUT.read_text(encoding="utf-8"))
    read = [reader.read(row["question"], [Passage(row["speaker"], row["text"])])[0] for row in rows]
    both = list(zip(rows, read, strict=True))
    spans = [
        _same(row["answer"], row["text"][slice(*one.span)]) for row, one in both if row["kind"] == "span"
    ]
    print(f"{len(rows)} questions, {len(spans)} with an answer word for word")
    print(f"kind of answer right  {_share([one.kind == row['kind'] for row, one in both]):.3f}")
    print(f"status right          {_share([one.status == row['status'] for row, one in both]):.3f}")
    print(f"answer word for word  {_share(spans):.3f}")
    answers, others = (
        [one.relevance for row, one in both if (row["kind"] != "none") is wanted] for wanted in (True, False)
    )
    print(f"AUROC of relevance    {auroc(answers, others):.3f}")


def _same(one: str, other: str) -> bool:
    return one.strip(" .,").lower() == other.strip(" .,").lower()


def _share(right: list[bool]) -> float:
    return sum(right) / len(right)


if __name__ == "__main__":
    main()
