"""A bank's file: where it lies, its connections with pragmas and migrations, and SQLite's errors as sentences."""

from __future__ import annotations

import errno
import json
import os
import sqlite3
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import Damaged, EverwhenError, NotFound, Refused, Unavailable, UsageError
from everwhen.store.base import R, Statements, Values, read_migrations
from everwhen.store.files.home import BANK_NAME, check_bank_name, make_private_folder
from everwhen.store.files.private import make_empty
from everwhen.store.files.sqlite_wipe import open_files
from everwhen.types.times import to_text

HERE = Path(__file__).parent


@cache
def statements() -> Statements:
    """Every named statement."""
    return Statements(HERE)


@cache
def migrations() -> list[tuple[int, str, list[str]]]:
    """Numbered schema changes, oldest first: number, name, statements."""
    return read_migrations(HERE / "migrations")


SUFFIX = ".db"


def bank_path(home: Path, bank: str) -> Path:
    """The file of a bank. Its name may not differ from another one's in capitals alone: `Ana` and `ana` are one file on
    the disks of most Macs and of Windows, and a home folder that holds both cannot be moved there."""
    check_bank_name(bank)
    path = home / "banks" / f"{bank}{SUFFIX}"
    # Where the other spelling leads to a file as well, the disk may ignore case: only the folder's list tells.
    if not path.exists() or path.with_name(path.name.swapcase()).exists():
        names = bank_names(home)
        twin = next((name for name in names if name.casefold() == bank.casefold()), bank)
        if bank not in names and twin != bank:
            raise UsageError(
                f"there is a bank '{twin}', and a name that differs from it in capitals alone is the same file on "
                "some disks; use that one, or choose another name"
            )
    return path


def bank_names(home: Path) -> list[str]:
    """The banks that exist, by name."""
    names = (path.name.removesuffix(SUFFIX) for path in (home / "banks").glob(f"*{SUFFIX}") if path.is_file())
    return sorted(name for name in names if BANK_NAME.fullmatch(name))


def bank_bytes(path: Path) -> int:
    """What a bank takes on the disk: its file, and the log of what is not in there yet."""
    return sum(file.stat().st_size for file in (path, path.with_name(f"{path.name}-wal")) if file.is_file())


def part_of(bank: Path) -> Path:
    """Where a bank is made that will take another one's place."""
    return bank.with_name(f".{bank.name}.part")


def remove_file(path: Path) -> None:
    """Remove a database with what SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


SCHEMA = migrations()[-1][0]


class SqliteSql:
    """The `Sql` of a SQLite connection. `raw` is for what only SQLite has."""

    def __init__(self, raw: sqlite3.Connection) -> None:
        self.raw = raw
        self._text = statements().text

    def run(self, name: str, values: Values = (), **parts: str) -> sqlite3.Cursor:
        return self.raw.execute(self._text(name, tuple(parts.items())), _plain(values))

    def together(self, several: Iterable[tuple[str, Values, Mapping[str, str]]]) -> list[list[Any]]:
        return [self.run(name, values, **parts).fetchall() for name, values, parts in several]

    def run_many(self, name: str, rows: Iterable[Values]) -> None:
        self.raw.executemany(self._text(name), map(_plain, rows))

    def run_batch(self, name: str, rows: Sequence[Values]) -> None:
        self.raw.executemany(self._text(name), rows)

    def pipeline(self) -> AbstractContextManager[None]:
        return nullcontext()

    def numbers(self, table: str, count: int) -> range:
        row = self.run("last_number", (table,)).fetchone()
        row = row or self.raw.execute(f"SELECT coalesce(max(seq), 0) FROM {table}").fetchone()
        return range(row[0] + 1, row[0] + 1 + count)

    def insert_rows(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        marks = ", ".join("?" * len(columns))
        self.raw.executemany(f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({marks})", rows)

    def vector(self, vector: Sequence[float] | NDArray[np.float32]) -> bytes:
        return np.asarray(vector, dtype="<f4").tobytes()

    def post_terms(self, terms: Mapping[int, bytes]) -> None:
        """The index in memory reads the terms from the rows."""

    def unpost(self, units: Iterable[int]) -> None:
        """It hears of removed units by `removals`."""

    def empty(self, but: frozenset[str]) -> None:
        self.raw.execute("PRAGMA defer_foreign_keys = ON")  # until the commit, when nothing is left to point
        for (table,) in self.run("tables").fetchall():
            if table not in but:
                self.raw.execute(f"DELETE FROM {table}")


def _plain(values: Values) -> Values:
    """With lists as JSON, which `json_each` reads."""
    if isinstance(values, Mapping):
        return {key: json.dumps(one) if isinstance(one, list) else one for key, one in values.items()}
    return [json.dumps(one) if isinstance(one, list) else one for one in values]


class SqliteConnection:
    """A SQLite connection with a lock, usable from any thread; it raises our errors instead of SQLite's.

    A bank uses two: a writer, and a reader that can go on while the writer commits (WAL).
    """

    def __init__(self, path: Path, *, busy_seconds: float, read_only: bool = False) -> None:
        self.path = path
        self._lock = threading.RLock()
        self._busy_seconds = busy_seconds
        self._cookie = -1  # SQLite's own count of changes to the schema
        # Nobody writes where nobody can: SQLite then needs no lock file beside the bank.
        address = f"{path.absolute().as_uri()}{'?immutable=1' if read_only else ''}"
        with self.errors():
            self._raw = sqlite3.connect(
                address, timeout=busy_seconds, isolation_level=None, check_same_thread=False, uri=True
            )
        try:
            with self.errors():
                self._raw.execute("PRAGMA foreign_keys = ON")
                self._raw.execute("PRAGMA synchronous = FULL")
                self._raw.execute("PRAGMA secure_delete = ON")  # what is deleted is overwritten
        except BaseException:
            self._raw.close()
            raise
        self._sql = SqliteSql(self._raw)
        self.file = open_files.enter(path)
        self._is_open = True

    @contextmanager
    def use(self) -> Iterator[SqliteSql]:
        """The connection, alone, for a few reads."""
        with self._lock, self.errors():
            yield self._sql

    def snapshot(self) -> AbstractContextManager[SqliteSql]:
        """For reads that see the bank at one moment."""
        return self._begun("DEFERRED")

    def transaction(self, *, wait: float | None = None) -> AbstractContextManager[SqliteSql]:
        """All or nothing: committed at the end of the block, rolled back when it raises.

        `wait` is for how many seconds another process's writing is waited for; None is as the bank was opened.
        """
        return self._begun("IMMEDIATE", wait)

    def retried(self, work: Callable[[SqliteSql], R]) -> R:
        """Run a function in a transaction: SQLite has one writer at a time, which nothing is in the way of."""
        with self.transaction() as sql:
            return work(sql)

    @contextmanager
    def _begun(self, kind: str, wait: float | None = None) -> Iterator[SqliteSql]:
        with self._lock, self.errors():
            try:
                self._begin(kind, wait)
                self._same_schema()
                yield self._sql
                self._raw.execute("COMMIT")
            except BaseException:
                # A full disk or an I/O error has rolled back already; asking again would hide the first error.
                if self._raw.in_transaction:
                    self._raw.execute("ROLLBACK")
                raise

    def _same_schema(self) -> None:
        """That nobody with a newer everwhen has changed the schema since: writing on would write it wrongly."""
        cookie = self._raw.execute("PRAGMA schema_version").fetchone()[0]
        if cookie != self._cookie:
            version = max(_versions(self._raw), default=0)
            if version > SCHEMA:
                raise Refused(
                    f"bank '{self.path.stem}' was upgraded by a newer everwhen meanwhile (schema {version}, this one "
                    f"knows {SCHEMA}); upgrade with pip install --upgrade everwhen, and open it again"
                )
            self._cookie = cookie

    def _begin(self, kind: str, wait: float | None) -> None:
        if wait is None:
            self._raw.execute(f"BEGIN {kind}")
            return
        self._raw.execute(f"PRAGMA busy_timeout = {round(wait * 1000)}")
        try:
            self._raw.execute(f"BEGIN {kind}")
        finally:
            self._raw.execute(f"PRAGMA busy_timeout = {round(self._busy_seconds * 1000)}")

    @contextmanager
    def errors(self) -> Iterator[None]:
        """Turn SQLite's errors into ours."""
        try:
            yield
        except sqlite3.Error as error:
            raise translate(error, self.path, self._busy_seconds) from error
        except UnicodeDecodeError as error:  # SQLite quotes a broken schema in what it reports
            raise _damaged(self.path, "its schema is no text") from error

    @contextmanager
    def hurried(self, wait: float) -> Iterator[SqliteSql]:
        """As `use`, waiting for other processes for so many seconds at the most."""
        with self._lock, self.errors():
            self._raw.execute(f"PRAGMA busy_timeout = {round(wait * 1000)}")
            try:
                yield self._sql
            finally:
                self._raw.execute(f"PRAGMA busy_timeout = {round(self._busy_seconds * 1000)}")

    def check_present(self) -> None:
        if not self.path.exists() or self.path.stat().st_ino != self.file[1]:
            raise Unavailable(f"bank '{self.path.stem}' was removed; open it again to make a new one")

    def close(self) -> None:
        with self._lock:
            self._raw.close()
            if self._is_open:
                self._is_open = False
                open_files.leave(self.file)


def translate(error: sqlite3.Error, path: Path, busy_seconds: float) -> EverwhenError:
    """One clear sentence with the fix for each way in which SQLite can fail."""
    bank = path.stem
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        return Unavailable(
            f"bank '{bank}' is locked by another process for more than {busy_seconds:g} s; "
            "wait for it or end it, then try again (what was committed before is kept)"
        )
    if code == sqlite3.SQLITE_FULL:
        return Unavailable(
            f"the disk that holds bank '{bank}' is full; free some space and try again "
            "(what was committed before is kept)"
        )
    if code == sqlite3.SQLITE_READONLY or (code == sqlite3.SQLITE_CANTOPEN and path.exists()):
        return Refused(f"bank '{bank}' cannot be written: make {path} and its folder writable for this user")
    if code == sqlite3.SQLITE_CANTOPEN:
        return NotFound(f"bank '{bank}' cannot be opened: there is no {path}")
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return _damaged(path, str(error))
    if code == sqlite3.SQLITE_IOERR:
        return Unavailable(f"bank '{bank}': the disk reports an error ({error}); check it, then try again")
    if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
        return Unavailable(f"bank '{bank}' was closed; open it again with Memory.open")
    return EverwhenError(f"bank '{bank}': the database says: {error}")


def _damaged(path: Path, what: str) -> Damaged:
    return Damaged(
        f"bank '{path.stem}' is damaged ({what}): keep {path} as it is, and restore a backup in its place; "
        "`everwhen bank salvage OUT.jsonl` saves the turns that can be read"
    )


def create_file(path: Path) -> None:
    """Make the file private before SQLite writes into it; WAL and shared memory inherit its mode."""
    try:
        make_private_folder(path.parent)
        make_empty(path)
    except (FileExistsError, NotADirectoryError) as error:
        raise Refused(f"{error.filename} is a file: choose another home folder") from error
    except OSError as error:
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS, errno.ELOOP):
            raise Refused(
                f"cannot write {error.filename}: make it writable, or choose another home folder"
            ) from error
        raise Unavailable(f"cannot create {path}: {error.strerror}") from error


def is_writable(path: Path) -> bool:
    """Whether a bank's file can be changed: SQLite writes into its folder too."""
    return os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)


def migrate(connection: SqliteConnection, *, read_only: bool = False) -> None:
    """Bring the schema to the newest version, in one transaction; a new bank gets all of it."""
    with connection.use() as sql:
        version = max(_versions(sql.raw), default=0)
        if version == 0 and sql.raw.execute("SELECT 1 FROM sqlite_master").fetchone():
            raise Damaged(
                f"{connection.path} is no bank of everwhen, but another program's database: move it away, or choose "
                "another bank"
            )
    if version > SCHEMA:
        raise Refused(
            f"bank '{connection.path.stem}' was written by a newer everwhen (schema {version}, this one knows "
            f"{SCHEMA}); upgrade with pip install --upgrade everwhen"
        )
    if read_only:
        if version < SCHEMA:
            raise Refused(
                f"bank '{connection.path.stem}' must be upgraded to be read, and cannot be written; "
                f"make {connection.path} and its folder writable"
            )
        return
    with connection.use() as sql:
        sql.raw.execute("PRAGMA journal_mode = WAL")
    if version == SCHEMA:
        return
    with connection.transaction() as sql:
        sql.raw.execute(
            "CREATE TABLE IF NOT EXISTS migrations (version INTEGER PRIMARY KEY, name TEXT, applied_at TEXT)"
        )
        applied = _versions(sql.raw)  # another process may have been faster
        for number, name, script in migrations():
            if number not in applied:
                for statement in script:
                    sql.raw.execute(statement)
                now = to_text(datetime.now(UTC))
                sql.raw.execute("INSERT INTO migrations VALUES (?, ?, ?)", (number, name, now))


def _versions(sql: sqlite3.Connection) -> set[int]:
    """The schema changes that a file has been through."""
    if not sql.execute("SELECT 1 FROM sqlite_master WHERE name = 'migrations'").fetchone():
        return set()
    return {row[0] for row in sql.execute("SELECT version FROM migrations")}
