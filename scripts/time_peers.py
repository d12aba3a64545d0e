"""Writes the table of `src/everwhen_time/README.md`: everwhen_time beside other libraries that read times.

    python scripts/time_peers.py ../shared/data

All are asked in one run, on every case of the timex development sets. Libraries that are not installed are left out
of the table; `pip install ctparse 'everwhen[bench]'` brings them.
"""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path
from statistics import median

from everwhen_bench.timex import everwhen_finds, measure
from everwhen_bench.timex_cases import Case, Days, load
from everwhen_bench.timex_peers import PEERS, unavailable

PAGE = Path(__file__).parents[1] / "src" / "everwhen_time" / "README.md"
PLACE = re.compile(r"(<!-- made by scripts/time_peers.py -->\n).*?(<!-- end -->)", re.DOTALL)
OTHERS = "8 other languages"
PACKAGES = {"recognizers-text": "recognizers-text-suite"}


def groups(folder: Path) -> dict[str, list[Case]]:
    """The cases by where they are from."""
    chat, own = load(folder / "timex_chat_dev.json"), load(folder / "timex_recognizers.json")
    others = load(folder / "timex_languages_dev.json")
    english = [case for case in others if case.lang == "en"]
    return {
        "conversation": chat,
        "Recognizers-Text": own,
        "ctparse": [case for case in english if case.source == "ctparse"],
        "chrono": [case for case in english if case.source == "chrono"],
        OTHERS: [case for case in others if case.lang != "en"],
    }


def row(
    name: str, find: Callable[[Case], list[Days]], sets: dict[str, list[Case]], finds_languages: bool
) -> str:
    """What one library passes of each set, and the time that a text takes it at the median."""
    asked = {name: cases for name, cases in sets.items() if finds_languages or name != OTHERS}
    outcomes = {name: measure(find, cases) for name, cases in asked.items()}
    cells = [
        f"{sum(outcomes[name].passed) / len(cases):.0%}" if name in outcomes else "–"
        for name, cases in sets.items()
    ]
    pace = median(lap for one in outcomes.values() for lap in one.seconds) * 1000
    return f"| {name} | {' | '.join(cells)} | {pace:.2f} ms |"


def main(folder: Path) -> None:
    logging.disable(logging.CRITICAL)  # ctparse logs each text that it gives up
    sets = groups(folder)
    sizes = [f"{name} ({len(cases)})" for name, cases in sets.items()]
    lines = [f"| | {' | '.join(sizes)} | median |", "|---|" + "---|" * (len(sets) + 1)]
    lines.append(row("**everwhen_time**", everwhen_finds, sets, True))
    versions = []
    for name, peer in PEERS.items():
        if unavailable(peer) is None:
            lines.append(row(name, peer.find, sets, peer.many_languages))
            versions.append(f"{name} {version(PACKAGES.get(name, name))}")
    text = "\n".join([*lines, "", f"Beside {', '.join(versions)}.", ""])
    page = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(PLACE.sub(lambda found: f"{found[1]}{text}{found[2]}", page), encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
