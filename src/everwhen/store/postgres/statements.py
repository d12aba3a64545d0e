"""The SQL of this folder: named statements, compiled to psycopg's parameters, and the migrations."""

from __future__ import annotations

import re
from functools import cache
from itertools import count
from pathlib import Path

from everwhen.store.sql.statements import Statements, read_migrations

HERE = Path(__file__).parent
_WORDS = re.compile(
    r"(?P<comment>^--.*\n?)|(?P<as_is>'(?:[^']|'')*'|::)|:(?P<name>\w+)|\?(?P<place>\d*)|(?P<percent>%)",
    re.MULTILINE,
)


@cache
def statements() -> Statements:
    """Every named statement as it is written."""
    return Statements(HERE)


@cache
def compiled(name: str, parts: tuple[tuple[str, str], ...] = ()) -> str:
    """A statement for psycopg. `parts` fill its `{…}`: each is the name of another statement, or SQL itself."""
    return with_parameters(statements().text(name, parts))


def with_parameters(sql: str) -> str:
    """`:name` becomes `%(name)s`, and `?` the next of `%(p1)s`, `%(p2)s`; `?2` is the second wherever it stands."""
    places = count(1)

    def one(match: re.Match[str]) -> str:
        if match["comment"]:
            return ""
        if match["name"]:
            return f"%({match['name']})s"
        if match["place"] is not None:
            return f"%(p{match['place'] or next(places)})s"
        return match[0].replace("%", "%%")

    return _WORDS.sub(one, sql)


@cache
def migrations() -> list[tuple[int, str, list[str]]]:
    """Numbered schema changes, oldest first: number, name, statements."""
    return read_migrations(HERE / "migrations")
