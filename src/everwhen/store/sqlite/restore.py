"""Restores a bank from a backup: checked first, built beside the bank, then put in its place in one step."""

from __future__ import annotations

from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path

from everwhen.errors import Damaged, Refused
from everwhen.store.banks import ForgetAgain
from everwhen.store.files.home import make_private_folder
from everwhen.store.sql.tombstones import forget_again
from everwhen.store.sqlite.connection import SqliteConnection
from everwhen.store.sqlite.files import part_of, remove_file
from everwhen.store.sqlite.snapshot import check_backup, copy_to, take_over
from everwhen.store.sqlite.store import SqliteStore


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
