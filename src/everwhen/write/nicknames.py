"""Short forms of first names: "Bob" may be "Robert"."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from everwhen_time.word_lists import word_table


def _table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for full, short in word_table(Path(__file__).with_name("nicknames.toml")).items():
        for name in short.split():
            table.setdefault(full, set()).add(name)
            table.setdefault(name, set()).add(full)
    return {name: frozenset(others) for name, others in table.items()}


NICKNAMES = _table()


@lru_cache(maxsize=4096)
def akin(name: str) -> frozenset[str]:
    """The other first names that can be the same person's: its full and short forms, and those of its full forms."""
    name = name.lower()
    near = NICKNAMES.get(name, frozenset())
    longer = (full for full in near if len(full) > len(name))
    beside = {other for full in longer for other in NICKNAMES.get(full, ()) if len(other) < len(full)}
    return (near | beside) - {name}


def may_be(one: str, other: str) -> bool:
    """Whether two first names can be one person's: the full name and a short form, or two short forms of it."""
    return one.lower() == other.lower() or other.lower() in akin(one)
