"""Loads the SQL of this folder: named statements, compiled to psycopg's parameters, and the migrations."""

from __future__ import annotations

import re
from functools import cache
from itertools import count
from pathlib import Path

HERE = Path(__file__).parent
_HEADING = re.compile(r"^-- (\w+) --$", re.MULTILINE)
_WORDS = re.compile(r"(?P<quoted>'(?:[^']|'')*'|::)|:(?P<name>\w+)|\?(?P<place>\d*)|(?P<percent>%)")


@cache
def statements() -> dict[str, str]:
    """Every named statement as it is written, without its comments."""
    found: dict[str, str] = {}
    for file in sorted(HERE.glob("*.sql")):
        parts = _HEADING.split(file.read_text(encoding="utf-8"))
        for name, sql in zip(parts[1::2], parts[2::2], strict=True):
            lines = [line for line in sql.strip().splitlines() if not line.startswith("--")]
            found[name] = "\n".join(lines).rstrip(";")
    return found


@cache
def compiled(name: str, parts: tuple[tuple[str, str], ...] = ()) -> str:
    """A statement for psycopg. `parts` fill its `{…}`: each is the name of another statement, or SQL itself."""
    found = statements()[name]
    for key, part in parts:
        found = found.replace(f"{{{key}}}", statements().get(part, part))
    return with_parameters(found)


def with_parameters(sql: str) -> str:
    """`:name` becomes `%(name)s`, and `?` the next of `%(p1)s`, `%(p2)s`; `?2` is the second wherever it stands."""
    places = count(1)

    def one(match: re.Match[str]) -> str:
        if match["name"]:
            return f"%({match['name']})s"
        if match["place"] is not None:
            return f"%(p{match['place'] or next(places)})s"
        return match[0].replace("%", "%%")

    return _WORDS.sub(one, sql)


@cache
def migrations() -> list[tuple[int, str, str]]:
    """Numbered schema changes, oldest first: number, name, script."""
    found = []
    for path in sorted((HERE / "migrations").glob("[0-9]*.sql")):
        number, _, name = path.stem.partition("_")
        found.append((int(number), name, path.read_text(encoding="utf-8")))
    return found
