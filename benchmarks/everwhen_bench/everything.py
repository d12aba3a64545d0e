"""`bench all`: every table of docs/results.md, one file each, in one run; what is there already is not run again.

Quality does not mind company, so the two data sets may be asked side by side; what is timed runs alone. The peers have
an environment of their own, and are run by `make peers`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

LOCOMO, WHEN = "locomo_dev.json", "locomo_when_dev.json"
LONGMEMEVAL = "longmemeval_pool_dev.json.xz"
TIMEX = ("timex_chat_dev.json", "timex_recognizers.json")
STUDIES = {"channels": False, "narratives": False, "satf": False, "stages": True, "writing": True}
"""Which studies are made, all on LoCoMo, and whether they are about time."""
UNITS = (10_000, 100_000)


@dataclass(frozen=True, slots=True)
class Step:
    """One command of `everwhen bench`, and the file that it writes."""

    name: str
    arguments: tuple[str, ...]
    needs: Path | None = None
    is_timed: bool = False


def steps(data: Path) -> Iterator[Step]:
    """In the order in which they are run: the longest of those that may run side by side first."""
    yield Step(
        "locomo",
        ("locomo", "--data", str(data / LOCOMO), "--when", str(data / WHEN), "--ablate"),
        data / LOCOMO,
    )
    yield Step(
        "longmemeval", ("longmemeval", "--data", str(data / LONGMEMEVAL), "--ablate"), data / LONGMEMEVAL
    )
    for study, is_timed in STUDIES.items():
        yield Step(f"study_{study}", ("study", study, "--data", str(data / LOCOMO)), data / LOCOMO, is_timed)
    for file in TIMEX:
        name = file.removesuffix(".json").removesuffix("_dev")
        yield Step(name, ("timex", "--data", str(data / file), "--peers"), data / file, True)
    for units in UNITS:
        yield Step(f"speed_{units // 1000}k", ("speed", "--units", str(units)), None, True)
