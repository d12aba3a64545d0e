"""The banks of a home: the one place that chooses a database."""

from __future__ import annotations

from pathlib import Path

from everwhen.store.banks import Banks
from everwhen.store.sqlite.banks import SqliteBanks


def open_banks(home: Path, busy_seconds: float = 30.0) -> Banks:
    """The banks of a home folder. `busy_seconds` is how long a write waits for another process."""
    return SqliteBanks(home, busy_seconds)
