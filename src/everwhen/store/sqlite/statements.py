"""The SQL of this folder."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from everwhen.store.sql.statements import Statements, read_migrations

HERE = Path(__file__).parent


@cache
def statements() -> Statements:
    """Every named statement."""
    return Statements(HERE)


@cache
def migrations() -> list[tuple[int, str, list[str]]]:
    """Numbered schema changes, oldest first: number, name, statements."""
    return read_migrations(HERE / "migrations")
