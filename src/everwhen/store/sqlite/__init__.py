"""The embedded store: one SQLite file for each bank."""

from everwhen.store.sqlite.bank import SqliteStore

__all__ = ["SqliteStore"]
