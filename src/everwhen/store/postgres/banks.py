"""The banks of a PostgreSQL database, on one machine or spread over those of its Citus."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import psycopg

from everwhen.errors import NotFound, Refused, UsageError
from everwhen.store.base import bank_values, put_values
from everwhen.store.files.home import check_bank_name
from everwhen.store.postgres.connection import COUNTERS, OF_A_BANK, PostgresConnection, PostgresSql, committed
from everwhen.store.postgres.server import SCHEMA, Lent, Raw, Server, server_of, translate
from everwhen.store.postgres.store import PostgresStore, bytes_of, drop_index, refuse
from everwhen.store.sql.records import progress
from everwhen.store.sql.store import ForgetAgain, Store, forget_again, info_of, introduced

_MAKE = (
    "INSERT INTO banks (bank_id, name) VALUES (%(bank)s, %(name)s) ON CONFLICT DO NOTHING RETURNING bank_id"
)
_WITH_IT = (
    "INSERT INTO counters (bank_id, name) SELECT %(bank)s, name FROM unnest(%(counters)s::text[]) AS name",
    "INSERT INTO posting_totals (bank_id, node) VALUES (%(bank)s, false), (%(bank)s, true)",
    "INSERT INTO keeping (bank_id, key, value) VALUES (%(bank)s, 'secret', %(secret)s)",
)
"""What every bank has. Each is a statement of its own: with Citus, `banks` lies on all machines, and these on one."""


class PostgresBanks:
    """The `Banks` of one database. See `everwhen.store.banks` for what each call promises."""

    def __init__(self, address: str, busy_seconds: float = 30.0) -> None:
        self.server: Server = server_of(address)
        # Whoever waits for a bank holds a connection: it must not be one that the writer before them needs.
        self.locks: Server = server_of(address, "locks")
        self._busy_seconds = busy_seconds

    def check_name(self, bank: str) -> None:
        self.number(bank)

    def names(self) -> list[str]:
        with self._asking("") as sql:
            rows = sql.execute("SELECT name FROM banks WHERE name NOT LIKE '.%%' ORDER BY name", {})
            return [row[0] for row in rows]

    def exists(self, bank: str) -> bool:
        return self.number(bank) is not None

    def waiting(self) -> list[str]:
        with self._asking("") as sql:
            return [
                row[0]
                for row in sql.execute(
                    "SELECT b.name FROM (SELECT DISTINCT bank_id FROM pending) p JOIN banks b USING (bank_id) "
                    "WHERE b.name NOT LIKE '.%%' ORDER BY b.name"
                )
            ]

    def size(self, bank: str) -> int:
        number = self.number(bank)
        if number is None:
            return 0
        with self._asking(bank) as sql:
            return bytes_of(sql, number)

    def embedder_of(self, bank: str) -> str | None:
        number = self.number(bank)
        if number is None:
            return None
        with self._asking(bank) as sql:
            row = sql.execute(
                "SELECT value FROM bank WHERE bank_id = %(bank)s AND key = 'embedder'", {"bank": number}
            ).fetchone()
        return row[0] if row else None

    def connect(self, bank: str, *, create: bool = True) -> PostgresConnection:
        """A way to the rows of a bank, which is made where there is none."""
        number = self.number(bank)
        if number is None:
            if not create:
                raise NotFound(
                    f"there is no bank '{bank}'; `everwhen bank list` lists those that exist, and a first "
                    f"`everwhen add --bank {bank} TEXT` makes it"
                )
            number = self._make(bank)
        return self._way(bank, number)

    def open(
        self, bank: str, *, embedder: str, dimension: int | Callable[[], int], zone: str, create: bool = True
    ) -> PostgresStore:
        known = self.embedder_of(bank)
        writer = self.connect(bank, create=create)
        try:
            values = introduced(writer, bank, embedder, dimension, zone)
        except BaseException:
            if known is None:  # half a bank must not look like one
                self.drop(bank)
            raise
        return self._store(bank, writer, values)

    def _store(self, bank: str, writer: PostgresConnection, values: Mapping[str, str]) -> PostgresStore:
        reader = PostgresConnection(self.server, writer.bank, bank, self._busy_seconds)
        return PostgresStore(info_of(bank, values, SCHEMA), self, writer, reader)

    @contextmanager
    def alone(self, bank: str) -> Iterator[None]:
        number = self.number(bank)
        patience = f"SET LOCAL lock_timeout = {max(1, round(self._busy_seconds * 1000))}"
        try:
            with self.locks.lent(self._busy_seconds) as lent:
                lent.begin(
                    "BEGIN", patience, "SELECT pg_advisory_xact_lock(%(bank)s)", values={"bank": number or 0}
                )
                try:
                    yield
                finally:
                    lent.roll_back()
        except psycopg.Error as error:
            raise translate(error, bank, self.server.where, self._busy_seconds) from error

    def drop(self, bank: str) -> None:
        for name, number in ((bank, self.number(bank)), (_part_of(bank), self._found(_part_of(bank)))):
            if number is not None:
                self._delete(self._way(name, number))

    def back_up(self, bank: str, target: Path) -> None:
        self.check_name(bank)
        refuse("backed up", "pg_dump, or a base backup")

    def restore(self, bank: str, source: Path, *, replace: bool, forget: ForgetAgain) -> int:
        self.check_name(bank)
        refuse("restored", "pg_restore, or a base backup")

    def salvage(self, bank: str) -> Iterator[dict[str, Any]]:
        self.check_name(bank)
        refuse("saved from damage", "pg_amcheck, and a backup")

    @contextmanager
    def loaded(self, bank: str, embedder: str, forget: ForgetAgain) -> Iterator[Store]:
        part, live = self._found(_part_of(bank)), self.connect(bank, create=False)
        if part is None:
            raise NotFound(f"nothing was loaded beside bank '{bank}'")
        way = self._way(bank, part)
        with way.use() as sql:
            values = bank_values(sql)
        with closing(self._store(bank, way, values)) as store:
            yield store
            forget_again(live, store, way, forget)

    def building(self, bank: str, source: str) -> PostgresConnection:
        name = _part_of(bank)
        number = self._found(name)
        if number is not None:
            way = self._way(name, number)
            with way.use() as sql:
                found = progress(sql)
            if found is not None and found[0] == source:
                return way
            self._delete(way)
        return self._way(name, self._make(name))

    def replace(self, bank: str) -> None:
        part = self._found(_part_of(bank))
        if part is None:
            raise NotFound(f"nothing was loaded beside bank '{bank}'")
        with self.connect(bank, create=False).transaction() as sql:
            epoch = int(bank_values(sql).get("epoch", "0")) + 1
            _delete(sql)
            made = PostgresSql(sql.lent, part)
            put_values(made, {"epoch": str(max(epoch, int(bank_values(made).get("epoch", "0")) + 1))})
            sql.raw.execute("UPDATE banks SET name = %s WHERE bank_id = %s", (bank, part))
            replaced = sql.bank
        drop_index(self.server, replaced)

    def number(self, bank: str) -> int | None:
        check_bank_name(bank)
        return self._found(bank)

    def _way(self, name: str, number: int) -> PostgresConnection:
        return PostgresConnection(self.server, number, name, self._busy_seconds)

    def _found(self, bank: str) -> int | None:
        with self._asking(bank) as sql:
            row = sql.execute(
                'SELECT bank_id, name FROM banks WHERE lower(name) = lower(%(name)s::text COLLATE "C")',
                {"name": bank},
            ).fetchone()
        if row is None:
            return None
        if row[1] != bank:
            raise UsageError(
                f"there is a bank '{row[1]}', and a name that differs from it in capitals alone is the same file on "
                "some disks; use that one, or choose another name"
            )
        return int(row[0])

    def _make(self, bank: str) -> int:
        """A bank with what every bank has; the number of the one that somebody else made at the same time."""
        given = {"bank": secrets.randbits(62), "name": bank}
        more = {**given, "counters": list(COUNTERS), "secret": secrets.token_hex(32)}
        with self._asking(bank) as sql:
            row = sql.begin("BEGIN", _MAKE, values=given).fetchone()
            with committed(sql):
                for statement in _WITH_IT if row else ():
                    sql.execute(statement, more)
        number = row[0] if row else self._found(bank)  # nothing where somebody else was faster
        assert number is not None
        return number

    def _delete(self, way: PostgresConnection) -> None:
        with way.transaction() as sql:
            _delete(sql)
        drop_index(self.server, way.bank)

    @contextmanager
    def _asking(self, bank: str) -> Iterator[Lent]:
        try:
            with self.server.lent(self._busy_seconds) as lent:
                yield lent
        except psycopg.Error as error:
            raise translate(error, bank, self.server.where, self._busy_seconds) from error


def _part_of(bank: str) -> str:
    """What a bank is called that will take another one's place: no name that anybody could give."""
    return f".{bank}.part"


def _delete(sql: PostgresSql) -> None:
    """All of a bank, with its name."""
    with sql.raw.pipeline():
        for table in (*OF_A_BANK, "posting_totals", "counters", "banks"):
            sql.raw.execute(f"DELETE FROM {table} WHERE bank_id = %s", (sql.bank,))


REFERENCE = ("migrations", "banks")
ANCHOR = "counters"
"""The table that the others are colocated with."""
DISTRIBUTED = (ANCHOR, "posting_totals", *reversed(OF_A_BANK))
"""In an order in which what is referred to comes first, as Citus asks for."""
OLDEST = 13

_HOW_TO = "see https://docs.citusdata.com for its installation"


def distribute(
    server: Server, *, shards: int = 32, progress: Callable[[str], None] | None = None
) -> list[str]:
    """Distribute the tables that are not yet; their names. Safe to run again: what was done is left as it is.

    Nobody may use the banks meanwhile: while some tables are distributed and some are not, statements fail.
    """
    made = []
    with server.changing() as raw:
        check(raw, server.where)
        raw.execute("SELECT set_config('citus.shard_count', %s, false)", (str(shards),))
        # Tables that refer to a copy on every machine cannot be changed by several connections of a transaction.
        raw.execute("SET citus.multi_shard_modify_mode TO 'sequential'")
        for table in (*REFERENCE, *DISTRIBUTED):
            if _is_done(raw, table):
                continue
            if progress:
                progress(table)
            with raw.transaction():
                raw.execute(_call(table).encode())
            made.append(table)
        for table in reversed(made):  # what refers to others first
            raw.execute(
                "SELECT truncate_local_data_after_distributing_table(%s::regclass)", (f"everwhen.{table}",)
            )
    return made


def check(raw: Raw, where: str) -> None:
    """That the database has Citus, and a version that we know."""
    row = raw.execute(
        "SELECT installed_version, default_version FROM pg_available_extensions WHERE name = 'citus'"
    ).fetchone()
    if row is None:
        raise Refused(
            f"PostgreSQL at {where} has no Citus: install Citus {OLDEST} or newer on all its machines, name it in "
            f"shared_preload_libraries and restart them ({_HOW_TO})"
        )
    installed, available = row
    if installed is None:
        raise Refused(
            f"the database at {where} does not use Citus yet: run CREATE EXTENSION citus in it, name its machines with "
            f"citus_set_coordinator_host and citus_add_node, and run this again ({_HOW_TO})"
        )
    if int(installed.split(".")[0].split("-")[0]) < OLDEST:
        raise Refused(
            f"Citus at {where} is version {installed}, and everwhen needs {OLDEST} or newer (its machine offers "
            f"{available}): upgrade it"
        )


def _is_done(raw: Raw, table: str) -> bool:
    found = raw.execute(
        "SELECT 1 FROM pg_dist_partition WHERE logicalrelid = %s::regclass AND partmethod IN ('h', 'n') "
        "AND (partmethod = 'h' OR repmodel = 't')",
        (f"everwhen.{table}",),
    )
    return found.fetchone() is not None


def _call(table: str) -> str:
    """What distributes a table."""
    if table in REFERENCE:
        return f"SELECT create_reference_table('everwhen.{table}')"
    where = "none" if table == ANCHOR else f"everwhen.{ANCHOR}"
    return f"SELECT create_distributed_table('everwhen.{table}', 'bank_id', colocate_with => '{where}')"
