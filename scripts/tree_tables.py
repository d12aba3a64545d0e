"""Write the tables of `everwhen bench study tree --out FILE` into benchmarks/history/tree.md, each between its markers.

python scripts/tree_tables.py FILE [--docs benchmarks/history/tree.md]
"""

from __future__ import annotations

import argparse
import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from everwhen_bench.studies.tree import TITLES, tables

MARKS = ("planner", *TITLES)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("study", type=Path)
    parser.add_argument("--docs", type=Path, default=Path("benchmarks/history/tree.md"))
    args = parser.parse_args()
    figures = json.loads(args.study.read_text("utf-8"))["figures"]
    page = args.docs.read_text("utf-8")
    for mark in MARKS:

        def placed(match: re.Match[str], mark: str = mark) -> str:
            return match[1] + drawn(figures, mark) + match[2]

        page = re.sub(rf"(<!-- study-{mark} -->\n).*?(<!-- /study-{mark} -->)", placed, page, flags=re.DOTALL)
    args.docs.write_text(page, "utf-8")


def drawn(figures: Mapping[str, Any], mark: str) -> str:
    """The tables of one study, each under its title."""
    title = "What the planner takes" if mark == "planner" else TITLES[mark]
    out = []
    for table in tables(figures):
        if table["title"].startswith(title):
            heads = " | ".join(map(str, table["heads"]))
            rows = "".join(f"| {' | '.join(map(str, row))} |\n" for row in table["rows"])
            out.append(f"{table['title']}:\n\n| {heads} |\n|{' --- |' * len(table['heads'])}\n{rows}")
    return "\n".join(out)


if __name__ == "__main__":
    main()
