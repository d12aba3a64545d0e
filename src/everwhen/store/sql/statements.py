"""Loads named SQL statements and numbered migrations from a folder."""

from __future__ import annotations

import re
import sqlite3
from functools import cache
from pathlib import Path

_HEADING = re.compile(r"^-- (\w+) --$", re.MULTILINE)


class Statements:
    """The named statements of every `*.sql` file of a folder."""

    def __init__(self, folder: Path) -> None:
        self._named: dict[str, str] = {}
        for file in sorted(folder.glob("*.sql")):
            parts = _HEADING.split(file.read_text(encoding="utf-8"))
            self._named |= {
                name: sql.strip().rstrip(";") for name, sql in zip(parts[1::2], parts[2::2], strict=True)
            }
        self.text = cache(self._text)

    def __getitem__(self, name: str) -> str:
        return self._named[name]

    def names(self) -> list[str]:
        return sorted(self._named)

    def _text(self, name: str, parts: tuple[tuple[str, str], ...] = ()) -> str:
        """A statement with its parts filled in: a part is the name of a statement, or SQL itself."""
        found = self._named[name]
        for key, part in parts:
            found = found.replace(f"{{{key}}}", self._body(part))
        return found

    def _body(self, part: str) -> str:
        lines = self._named.get(part, part).splitlines()
        return "\n".join(line for line in lines if not line.startswith("--"))


def read_migrations(folder: Path) -> list[tuple[int, str, list[str]]]:
    """Numbered schema changes, oldest first: number, name, statements."""
    found = []
    for path in sorted(folder.glob("[0-9]*.sql")):
        number, _, name = path.stem.partition("_")
        found.append((int(number), name, _split(path.read_text(encoding="utf-8"))))
    return found


def _split(script: str) -> list[str]:
    """Cut a script into statements, so that a transaction around all of them is possible."""
    out, rest = [], ""
    for line in script.splitlines(keepends=True):
        rest += line
        if rest.strip() and sqlite3.complete_statement(rest):
            out.append(rest.strip())
            rest = ""
    return out


def quoted(name: str) -> str:
    """A table or column as a part of a statement. In quotes it is never taken for the name of a statement."""
    return f'"{name}"'
