"""The banks of a home folder, one SQLite file each: copies, backups and what takes a bank's place."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from everwhen.errors import Damaged, Refused
from everwhen.store.files.home import make_private_folder
from everwhen.store.sql.store import ForgetAgain, Store, forget_again
from everwhen.store.sqlite.connection import (
    SqliteConnection,
    bank_bytes,
    bank_names,
    bank_path,
    part_of,
    remove_file,
)
from everwhen.store.sqlite.copies import check_backup, copy_to, take_over
from everwhen.store.sqlite.salvage import salvage
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


def restore(source: Path, bank: Path, *, replace: bool, forget: ForgetAgain, busy_seconds: float) -> int:
    """Put a backup into a bank's place; how many turns it holds.

    The bank's own tombstones hold for the backup too: what was forgotten since is forgotten again, by `forget`. A bank
    that cannot be read any more is kept beside, under another name.
    """
    values = check_backup(source)
    live = _opened(bank, values, replace, busy_seconds) if bank.exists() else None
    part = part_of(bank)
    remove_file(part)
    try:
        make_private_folder(bank.parent)
        copy_to(source, part, busy_seconds)
        made = SqliteStore.open(part, embedder=values["embedder"], dimension=0, zone="UTC", create=False)
        with closing(made):
            if live is not None:
                _forget_again(live, made, forget)
            turns = made.stats().turns
        if live is not None:
            take_over(part, live)
        else:
            _set_aside(bank)
            _one_file(part)
            part.replace(bank)
    finally:
        remove_file(part)
        if live is not None:
            live.close()
    return turns


def _opened(
    bank: Path, values: dict[str, str], replace: bool, busy_seconds: float
) -> SqliteConnection | None:
    """The bank whose place is taken; None where it cannot be read, and may be set aside."""
    if not replace:
        raise Refused(
            f"bank '{bank.stem}' exists; restore under another name (--bank NAME), or let it be replaced (--overwrite)"
        )
    try:
        connection = SqliteConnection(bank, busy_seconds=busy_seconds)
    except Damaged:
        return None
    try:
        with connection.use() as sql:
            sql.run("any_tombstone").fetchone()
            if sql.raw.execute("PRAGMA quick_check(1)").fetchone()[0] != "ok":
                raise Damaged("found by the check")
    except Exception:
        connection.close()
        return None
    return connection


def carry_over(bank: Path, made: SqliteStore, forget: ForgetAgain) -> None:
    """Let what a bank has forgotten be forgotten in the one that will take its place."""
    with closing(SqliteConnection(bank, busy_seconds=5.0)) as live:
        _forget_again(live, made, forget)


def _forget_again(live: SqliteConnection, made: SqliteStore, forget: ForgetAgain) -> None:
    with closing(SqliteConnection(made.path, busy_seconds=5.0)) as copy:
        forget_again(live, made, copy, forget)


def _set_aside(bank: Path) -> None:
    """Keep a bank that cannot be read: somebody may salvage more of it."""
    stamp = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}"
    for suffix in ("", "-wal", "-shm"):
        file = bank.with_name(bank.name + suffix)
        if file.exists():
            file.replace(bank.with_name(f"{bank.name}.damaged-{stamp}{suffix}"))


def _one_file(path: Path) -> None:
    """Move the write-ahead log into the file, before the file gets another name."""
    with closing(SqliteConnection(path, busy_seconds=5.0)) as connection, connection.use() as sql:
        sql.raw.execute("PRAGMA wal_checkpoint(TRUNCATE)")
