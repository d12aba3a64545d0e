"""The banks of a home folder: one SQLite file for each."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any

from everwhen.store.banks import ForgetAgain
from everwhen.store.base import Store
from everwhen.store.sqlite.files import bank_bytes, bank_names, bank_path, part_of, remove_file
from everwhen.store.sqlite.restore import carry_over, restore
from everwhen.store.sqlite.salvage import salvage
from everwhen.store.sqlite.snapshot import copy_to
from everwhen.store.sqlite.store import SqliteStore


class SqliteBanks:
    """The `Banks` of one folder. See `everwhen.store.banks` for what each call promises."""

    def __init__(self, home: Path, busy_seconds: float = 30.0) -> None:
        self._home = home
        self._busy_seconds = busy_seconds

    def path(self, bank: str) -> Path:
        """The file of a bank."""
        return bank_path(self._home, bank)

    def check_name(self, bank: str) -> None:
        self.path(bank)

    def names(self) -> list[str]:
        return bank_names(self._home)

    def exists(self, bank: str) -> bool:
        return self.path(bank).is_file()

    def size(self, bank: str) -> int:
        return bank_bytes(self.path(bank))

    def embedder_of(self, bank: str) -> str | None:
        row = self._look(bank, "SELECT value FROM bank WHERE key = 'embedder'")
        return row[0] if row else None

    def waiting(self) -> list[str]:
        return [bank for bank in self.names() if self._look(bank, "SELECT 1 FROM pending LIMIT 1")]

    def _look(self, bank: str, query: str) -> tuple[Any, ...] | None:
        """One row of a bank that is not opened; None as well where it cannot be read: opening it says so better."""
        path = self.path(bank)
        if not path.exists():
            return None
        try:
            with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as sql:
                row: tuple[Any, ...] | None = sql.execute(query).fetchone()
        except sqlite3.Error:
            return None
        return row

    def open(
        self, bank: str, *, embedder: str, dimension: int | Callable[[], int], zone: str, create: bool = True
    ) -> Store:
        return SqliteStore.open(
            self.path(bank),
            embedder=embedder,
            dimension=dimension,
            zone=zone,
            create=create,
            busy_seconds=self._busy_seconds,
        )

    def alone(self, bank: str) -> AbstractContextManager[None]:
        self.check_name(bank)
        return nullcontext()

    def drop(self, bank: str) -> None:
        path = self.path(bank)
        for file in (path, part_of(path)):  # an import that was broken off lies beside it
            remove_file(file)

    def back_up(self, bank: str, target: Path) -> None:
        copy_to(self.path(bank), target, self._busy_seconds)

    def restore(self, bank: str, source: Path, *, replace: bool, forget: ForgetAgain) -> int:
        return restore(
            source, self.path(bank), replace=replace, forget=forget, busy_seconds=self._busy_seconds
        )

    def salvage(self, bank: str) -> Iterator[dict[str, Any]]:
        return salvage(self.path(bank))

    @contextmanager
    def loaded(self, bank: str, embedder: str, forget: ForgetAgain) -> Iterator[Store]:
        path = self.path(bank)
        store = SqliteStore.open(part_of(path), embedder=embedder, dimension=0, zone="UTC", create=False)
        with closing(store):
            yield store
            carry_over(path, store, forget)
