"""The embedded store: one SQLite file for each bank."""

from everwhen.store.sqlite.bank import SqliteStore, embedder_of

__all__ = ["SqliteStore", "embedder_of"]
