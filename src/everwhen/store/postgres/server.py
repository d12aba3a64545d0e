"""One PostgreSQL database: its pool of connections, statements, migrations, and its errors as sentences."""

from __future__ import annotations

import atexit
import logging
import os
import re
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

import numpy as np
import psycopg
from psycopg import errors
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.pq import TransactionStatus
from psycopg.types import TypeInfo
from psycopg_pool import ConnectionPool, PoolClosed, PoolTimeout

from everwhen.errors import Damaged, EverwhenError, Refused, Unavailable, UsageError
from everwhen.store.base import Statements, read_migrations
from everwhen.store.postgres import values

Raw: TypeAlias = psycopg.Connection[tuple[Any, ...]]
Cursor: TypeAlias = psycopg.Cursor[tuple[Any, ...]]
T = TypeVar("T")

CONNECTIONS = 16
"""The most connections that one process holds to one database."""
_ATTEMPTS = 5
_LONG = 16
"""Elements of a list from which its statement is planned anew."""
_OLDEST_SERVER, _OLDEST_VECTOR = 16, (0, 8, 4)
_MIGRATING = 0x65766572  # the advisory lock under which schemas are changed: "ever"
_LOOKED_AT = 340
"""Vectors of an index that are looked at for a list of candidates: with fewer, more of the best are missed."""
_SEARCH_PATH = "SELECT set_config('search_path', 'everwhen, ' || current_setting('search_path'), false)"


class Lent:
    """A connection of the pool while somebody has it. Where it turns out to be lost before anything was done with it,
    another one takes its place."""

    def __init__(self, pool: ConnectionPool[Raw], timeout: float) -> None:
        self._pool = pool
        self._timeout = timeout
        self.raw: Raw = pool.getconn(timeout)

    @property
    def is_in_transaction(self) -> bool:
        return self.raw.info.transaction_status != TransactionStatus.IDLE

    def execute(self, text: str, values: Mapping[str, Any] | None = None) -> Cursor:
        """Run a statement; outside of a transaction, once more where the connection was lost."""
        if self.is_in_transaction:
            return _executed(self.raw, text, values)
        return self._again(lambda raw: _executed(raw, text, values))

    def together(self, asked: Sequence[tuple[str, Mapping[str, Any]]]) -> list[list[tuple[Any, ...]]]:
        """The rows of several questions, which are asked in one round trip."""

        def answers(raw: Raw) -> list[list[tuple[Any, ...]]]:
            with raw.pipeline():
                cursors = [_executed(raw, text, values) for text, values in asked]
            return [cursor.fetchall() for cursor in cursors]

        return answers(self.raw) if self.is_in_transaction else self._again(answers)

    def begin(self, *statements: str, values: Mapping[str, Any] | None = None) -> Cursor:
        """Begin a transaction with some statements, of which the last has values, in one round trip; its rows."""

        def begun(raw: Raw) -> Cursor:
            *first, last = statements
            with raw.pipeline():
                for one in first:
                    raw.execute(one.encode())
                return raw.execute(last.encode(), values, binary=True)

        try:
            return self._again(begun)
        except BaseException:
            self.roll_back()
            raise

    def roll_back(self) -> None:
        """A connection that is lost has rolled back already; asking again would hide the first error."""
        if not self.raw.closed and self.is_in_transaction:
            self.raw.execute("ROLLBACK")

    def give_back(self) -> None:
        self._pool.putconn(self.raw)

    def _again(self, work: Callable[[Raw], T]) -> T:
        for _ in range(_ATTEMPTS - 1):
            try:
                return work(self.raw)
            except psycopg.OperationalError as error:
                if not is_lost(error):
                    raise
                self.give_back()
                self._pool.check()  # those that lie idle may be lost with it
                self.raw = self._pool.getconn(self._timeout)
        return work(self.raw)


def _executed(raw: Raw, text: str, values: Mapping[str, Any] | None) -> Cursor:
    """Run a statement. With a long list it is planned anew: a plan that is kept expects a few elements, or is one of
    when the table was empty."""
    is_long = any(isinstance(one, list | np.ndarray) and len(one) > _LONG for one in (values or {}).values())
    return raw.execute(text.encode(), values, binary=True, prepare=False if is_long else None)


class Server:
    """A database by its address. It is checked and migrated when it is first used."""

    def __init__(self, address: str, connections: int = CONNECTIONS) -> None:
        try:
            parts = conninfo_to_dict(address)
            self._address = make_conninfo(address, application_name="everwhen")
        except psycopg.ProgrammingError as error:
            raise UsageError(
                f"that is no address of a PostgreSQL database ({error}); write postgresql://USER@HOST/NAME"
            ) from error
        self.where = (
            f"{parts.get('host') or 'localhost'}:{parts.get('port') or 5432}/{parts.get('dbname') or ''}"
        )
        self._connections = connections
        self._lock = threading.Lock()
        self._pool: ConnectionPool[Raw] | None = None
        self._halfvec: TypeInfo | None = None
        self.has_citus = False

    @contextmanager
    def lent(self, timeout: float = 30.0) -> Iterator[Lent]:
        """A connection of the pool, for as long as the block lasts."""
        lent = Lent(self._ready(), timeout)
        try:
            yield lent
        finally:
            lent.give_back()

    def close(self) -> None:
        with self._lock:
            if self._pool is not None:
                self._pool.close()
                self._pool = None

    def migrate(self) -> list[str]:
        """Check the server, and bring the schema to the newest version; the names of the changes that were made.

        Safe when several processes do it at once: one does, the others wait and find it done.
        """
        with self.directly() as raw:
            _check_server(raw, self.where)
            applied = _versions(raw)
            if max(applied, default=0) > SCHEMA:
                raise Refused(
                    f"the database at {self.where} was written by a newer everwhen (schema {max(applied)}, this one "
                    f"knows {SCHEMA}); upgrade with pip install --upgrade everwhen"
                )
            if applied.issuperset(number for number, _, _ in migrations()):
                return []
            with raw.transaction():
                raw.execute("SELECT pg_advisory_xact_lock(%s)", (_MIGRATING,))
                raw.execute("CREATE EXTENSION IF NOT EXISTS vector")
                raw.execute("CREATE EXTENSION IF NOT EXISTS btree_gist")
                raw.execute("CREATE SCHEMA IF NOT EXISTS everwhen")
                raw.execute(_SEARCH_PATH)
                raw.execute(
                    "CREATE TABLE IF NOT EXISTS migrations (version integer PRIMARY KEY, name text NOT NULL, "
                    "applied_at timestamptz NOT NULL DEFAULT now())"
                )
                made = []
                applied = _versions(raw)  # another process may have been faster
                for number, name, script in migrations():
                    if number not in applied:
                        for statement in script:
                            raw.execute(statement.encode())
                        raw.execute("INSERT INTO migrations (version, name) VALUES (%s, %s)", (number, name))
                        made.append(name)
            return made

    @contextmanager
    def changing(self) -> Iterator[Raw]:
        """A connection beside the pool to a schema that is the newest, which nobody else changes meanwhile."""
        self.migrate()
        with self.directly() as raw:
            raw.execute("SELECT pg_advisory_lock(%s)", (_MIGRATING,))
            yield raw

    def describe(self) -> dict[str, Any]:
        """What the database is: versions, and the changes of the schema that it lacks."""
        with self.directly() as raw:
            _check_server(raw, self.where)
            applied = _versions(raw)
            banks = raw.execute("SELECT count(*) FROM everwhen.banks").fetchone() if applied else None
            return {
                "database": self.where,
                "postgresql": str(raw.info.server_version // 10_000),
                "pgvector": _vector_versions(raw)[0] or "not made yet",
                "schema": max(applied, default=0),
                "missing": [name for number, name, _ in migrations() if number not in applied],
                "banks": banks[0] if banks else 0,
            }

    def _ready(self) -> ConnectionPool[Raw]:
        with self._lock:
            if self._pool is None:
                self.migrate()
                with self.directly() as raw:
                    self._halfvec = TypeInfo.fetch(raw, "halfvec")
                    found = raw.execute("SELECT 1 FROM pg_extension WHERE extname = 'citus'")
                    self.has_citus = found.fetchone() is not None
                self._pool = ConnectionPool(
                    self._address,
                    min_size=0,
                    max_size=self._connections,
                    kwargs={"autocommit": True},
                    configure=self._configure,
                    name=f"everwhen {self.where}",
                    open=True,
                )
            return self._pool

    @contextmanager
    def directly(self) -> Iterator[Raw]:
        """A connection beside the pool, which says at once what is wrong with the address or the server."""
        try:
            with psycopg.connect(self._address, autocommit=True, connect_timeout=10) as raw:
                yield raw
        except psycopg.OperationalError as error:
            reason = (
                str(error).strip().splitlines()[0].rpartition("failed: ")[2]
            )  # a hint of libpq comes below
            raise Unavailable(
                f"PostgreSQL at {self.where} cannot be reached ({reason}); "
                "check the address, the password and whether it runs"
            ) from error
        except psycopg.Error as error:
            raise translate(error, "", self.where, 0) from error

    def _configure(self, raw: Raw) -> None:
        """What every connection of the pool is told once."""
        # The start of JIT costs more than it saves. What is asked is a few rows of one bank, in the cache, and
        # which an index finds: a table that nobody has analysed yet looks so small that all of it would be read.
        raw.execute(
            "SET timezone = 'UTC'; SET jit = off; SET random_page_cost = 1.1; SET enable_seqscan = off; "
            f"{_SEARCH_PATH}; SET hnsw.iterative_scan = strict_order; SET hnsw.ef_search = {_LOOKED_AT}"
        )
        if self.has_citus:
            # A plan for any bank does not know the machine. What a transaction sets for itself goes to the machine too.
            raw.execute("SET plan_cache_mode = force_custom_plan; SET citus.propagate_set_commands = 'local'")
        values.register(raw, self._halfvec)


# What the pool says of a lost connection comes to the caller as an error.
logging.getLogger("psycopg.pool").addHandler(logging.NullHandler())


def server_of(address: str, purpose: str = "") -> Server:
    """The server of an address: one pool in a process for each purpose, whoever asks."""
    return _server_of(address, purpose, os.getpid())  # a pool does not survive a fork


@cache
def _server_of(address: str, _purpose: str, _process: int) -> Server:
    server = Server(address)
    atexit.register(server.close)
    return server


def _check_server(raw: Raw, where: str) -> None:
    version = raw.info.server_version // 10_000
    if version < _OLDEST_SERVER:
        raise Refused(
            f"PostgreSQL at {where} is version {version}, and everwhen needs {_OLDEST_SERVER} or newer: upgrade it"
        )
    encoding = raw.info.parameter_status("server_encoding")
    if encoding != "UTF8":
        raise Refused(f"the database at {where} has the encoding {encoding}; make one with ENCODING 'UTF8'")
    installed, available = _vector_versions(raw)
    wanted = ".".join(map(str, _OLDEST_VECTOR))
    if installed is None and available is None:
        raise Refused(
            f"PostgreSQL at {where} has no pgvector; install version {wanted} or newer on its machine"
        )
    if _numbers(installed or available) < _OLDEST_VECTOR:
        upgrade = (
            "run ALTER EXTENSION vector UPDATE"
            if _numbers(available) >= _OLDEST_VECTOR
            else f"install {wanted} or newer on its machine"
        )
        raise Refused(
            f"pgvector at {where} is version {installed or available}, and versions before {wanted} can damage an "
            f"index: {upgrade}"
        )


def _vector_versions(raw: Raw) -> tuple[str | None, str | None]:
    """The version of pgvector that the database has, and the one that its machine offers."""
    row = raw.execute(
        "SELECT installed_version, default_version FROM pg_available_extensions WHERE name = 'vector'"
    ).fetchone()
    return (row[0], row[1]) if row else (None, None)


def _numbers(version: str | None) -> tuple[int, ...]:
    return tuple(int(part) for part in (version or "0").split(".") if part.isdigit())


def _versions(raw: Raw) -> set[int]:
    """The schema changes that a database has been through."""
    row = raw.execute("SELECT to_regclass('everwhen.migrations')").fetchone()
    if row is None or row[0] is None:
        return set()
    return {row[0] for row in raw.execute("SELECT version FROM everwhen.migrations")}


HERE = Path(__file__).parent
_WORDS = re.compile(
    r"(?P<comment>^--.*\n?)|(?P<as_is>'(?:[^']|'')*'|::)|:(?P<name>\w+)|\?(?P<place>\d*)|(?P<percent>%)",
    re.MULTILINE,
)


@cache
def statements() -> Statements:
    """Every named statement as it is written."""
    return Statements(HERE)


@cache
def compiled(name: str, parts: tuple[tuple[str, str], ...] = ()) -> str:
    """A statement for psycopg. `parts` fill its `{…}`: each is the name of another statement, or SQL itself."""
    return with_parameters(statements().text(name, parts))


def with_parameters(sql: str) -> str:
    """`:name` becomes `%(name)s`, and `?` the next of `%(p1)s`, `%(p2)s`; `?2` is the second wherever it stands."""
    places = count(1)

    def one(match: re.Match[str]) -> str:
        if match["comment"]:
            return ""
        if match["name"]:
            return f"%({match['name']})s"
        if match["place"] is not None:
            return f"%(p{match['place'] or next(places)})s"
        return match[0].replace("%", "%%")

    return _WORDS.sub(one, sql)


@cache
def migrations() -> list[tuple[int, str, list[str]]]:
    """Numbered schema changes, oldest first: number, name, statements."""
    return read_migrations(HERE / "migrations")


SCHEMA = migrations()[-1][0]


_LOST = (
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.CannotConnectNow,
    errors.IdleInTransactionSessionTimeout,
)
AGAIN = (errors.SerializationFailure, errors.DeadlockDetected)
"""What another attempt of the whole transaction may get past."""


def is_lost(error: psycopg.Error) -> bool:
    """Whether the connection is gone, rather than a statement refused."""
    return isinstance(error, _LOST) or (
        isinstance(error, psycopg.OperationalError)
        and not isinstance(error, errors.PipelineAborted)
        and (error.sqlstate is None or error.sqlstate.startswith("08"))
    )


def translate(error: psycopg.Error, bank: str, where: str, busy_seconds: float) -> EverwhenError:
    """One clear sentence with the fix for each way in which PostgreSQL can fail."""
    if isinstance(error, errors.LockNotAvailable):
        return Unavailable(
            f"bank '{bank}' is locked by another process for more than {busy_seconds:g} s; "
            "wait for it or end it, then try again (what was committed before is kept)"
        )
    if isinstance(error, PoolClosed):
        return Unavailable(f"bank '{bank}' was closed; open it again with Memory.open")
    if isinstance(error, errors.TooManyConnections):
        return Unavailable(
            f"PostgreSQL at {where} takes no more connections; raise max_connections there, or serve with fewer workers"
        )
    if isinstance(error, PoolTimeout):
        return Unavailable(
            f"PostgreSQL at {where} gave no connection within {busy_seconds:g} s: it does not answer, or all "
            "connections of this process are in use; try again"
        )
    if is_lost(error):
        return Unavailable(
            f"the connection to PostgreSQL at {where} was lost ({_line(error)}); try again: what was acknowledged is "
            f"kept, and of the rest of bank '{bank}' nothing is half-done"
        )
    if isinstance(error, AGAIN):
        return Unavailable(f"bank '{bank}' was changed by another process at the same time; try again")
    if isinstance(error, errors.DiskFull | errors.OutOfMemory):
        return Unavailable(
            f"the machine of PostgreSQL at {where} has no room left ({_line(error)}); free some and try again "
            "(what was committed before is kept)"
        )
    if isinstance(error, errors.ReadOnlySqlTransaction):
        return Refused(
            f"bank '{bank}' cannot be written: PostgreSQL at {where} is read-only (a replica?); name the primary"
        )
    if isinstance(error, errors.InsufficientPrivilege):
        return Refused(f"PostgreSQL at {where} does not allow that to this user: {_line(error)}")
    if isinstance(error, errors.DataCorrupted | errors.IndexCorrupted):
        return Damaged(f"bank '{bank}' is damaged ({_line(error)}): restore a backup of the database")
    if isinstance(error, errors.UndefinedTable | errors.UndefinedColumn):
        return Damaged(
            f"the database at {where} lacks a part of everwhen's schema ({_line(error)}): restore a backup"
        )
    if isinstance(error, errors.ExclusionViolation) and error.diag.constraint_name == "facts_never_overlap":
        return EverwhenError(f"bank '{bank}': two facts of one slot would overlap")
    return EverwhenError(f"bank '{bank}': the database says: {_line(error)}")


def _line(error: psycopg.Error) -> str:
    """The first line of what PostgreSQL says; the rest may quote rows."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
