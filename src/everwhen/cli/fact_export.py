"""Facts as files: JSON for programs, CSV for spreadsheets, one version after the other."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from everwhen.errors import UsageError
from everwhen.jsonable import jsonable

if TYPE_CHECKING:
    from everwhen.types import Fact

COLUMNS = (
    "id", "version", "subject", "predicate", "object", "valid_from", "valid_to", "grain", "recorded_at",
    "superseded_at", "confidence", "origin", "status", "domain", "support", "confirmed_at", "sources", "reason",
)  # fmt: skip
_RISKY = ("=", "+", "-", "@", "\t", "\r")


def write(facts: Iterable[Fact], path: Path, format: str | None) -> int:
    """Write facts as they come, without holding them all; how many there were."""
    chosen = format or ("csv" if path.suffix.lower() == ".csv" else "json")
    if chosen not in ("json", "csv"):
        raise UsageError(f"unknown format '{chosen}'; use json or csv")
    writer = write_json if chosen == "json" else write_csv
    if str(path) == "-":
        return writer(facts, sys.stdout)
    with path.open("w", encoding="utf-8", newline="") as file:
        return writer(facts, file)


def write_json(facts: Iterable[Fact], file: IO[str]) -> int:
    """A JSON array, an element a line."""
    count = 0
    file.write("[")
    for fact in facts:
        file.write(("," if count else "") + "\n" + json.dumps(jsonable(fact), ensure_ascii=False))
        count += 1
    file.write("\n]\n")
    return count


def write_csv(facts: Iterable[Fact], file: IO[str]) -> int:
    writer = csv.writer(file)
    writer.writerow(COLUMNS)
    count = 0
    for fact in facts:
        values = {
            **jsonable(fact),
            "valid_from": jsonable(fact.valid_from),
            "valid_to": jsonable(fact.valid_to),
            "grain": fact.valid.grain,
            "sources": " ".join(fact.sources),
        }
        writer.writerow([_cell(values[name]) for name in COLUMNS])
        count += 1
    return count


def _cell(value: Any) -> Any:
    """A spreadsheet must not take a remembered text for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(_RISKY) else value
