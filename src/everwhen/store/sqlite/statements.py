"""Loads the SQL: the named statements of every `*.sql` file beside this module, and the migrations."""

from __future__ import annotations

import re
import sqlite3
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
_HEADING = re.compile(r"^-- (\w+) --$", re.MULTILINE)


@cache
def statements() -> dict[str, str]:
    """Every named statement."""
    found: dict[str, str] = {}
    for file in sorted(HERE.glob("*.sql")):
        parts = _HEADING.split(file.read_text(encoding="utf-8"))
        found |= {name: sql.strip().rstrip(";") for name, sql in zip(parts[1::2], parts[2::2], strict=True)}
    return found


def next_epoch(sql: sqlite3.Connection) -> None:
    """Tell every process that rows which its index has seen are no longer as they were."""
    values = dict(sql.execute(statements()["bank_values"]).fetchall())
    sql.execute(statements()["put_bank_value"], ("epoch", str(int(values.get("epoch", "0")) + 1)))


@cache
def migrations() -> list[tuple[int, str, list[str]]]:
    """Numbered schema changes, oldest first: number, name, statements."""
    found = []
    for path in sorted((HERE / "migrations").glob("[0-9]*.sql")):
        number, _, name = path.stem.partition("_")
        found.append((int(number), name, _split(path.read_text(encoding="utf-8"))))
    return found


def _split(script: str) -> list[str]:
    """Cut a script into statements; `executescript` would commit half a migration when one of them fails."""
    out, rest = [], ""
    for line in script.splitlines(keepends=True):
        rest += line
        if rest.strip() and sqlite3.complete_statement(rest):
            out.append(rest.strip())
            rest = ""
    return out
