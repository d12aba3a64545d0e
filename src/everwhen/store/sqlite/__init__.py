"""The embedded store: one SQLite file for each bank."""

from everwhen.store.sqlite.store import SqliteStore

__all__ = ["SqliteStore"]
