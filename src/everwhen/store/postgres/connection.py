"""A way to one bank's rows in PostgreSQL: named statements, and transactions of one writer at a time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import psycopg
from numpy.typing import NDArray

from everwhen.errors import EverwhenError, Refused, Unavailable
from everwhen.store.base import Values
from everwhen.store.postgres.server import AGAIN, SCHEMA, Cursor, Lent, Raw, Server, compiled, translate
from everwhen.store.postgres.values import HalfVector, column

OF_A_BANK = (
    "postings",
    "terms",
    "links",
    "moments",
    "mentions",
    "past_mentions",
    "identity_changes",
    "entity_names",
    "entity_log",
    "entities",
    "events",
    "derived",
    "accesses",
    "token_codes",
    "vectors",
    "tree_marks",
    "past_nodes",
    "nodes",
    "unit_turns",
    "units",
    "fact_confirmations",
    "fact_sources",
    "fact_conflicts",
    "fact_reports",
    "fact_predicates",
    "facts",
    "fact_slots",
    "fact_keys",
    "extraction_failures",
    "extractions",
    "claims",
    "pending",
    "expired",
    "turns",
    "model_usage",
    "removals",
    "tombstones",
    "keeping",
    "bank",
)
"""In an order in which they can be emptied: what refers to a row comes before it."""

NUMBERED = (
    "turns",
    "units",
    "facts",
    "fact_keys",
    "fact_slots",
    "fact_confirmations",
    "fact_reports",
    "entities",
    "entity_log",
    "identity_changes",
    "past_mentions",
    "extraction_failures",
    "model_usage",
    "removals",
    "past_nodes",
    "tree_marks",
)
"""The tables whose rows have a number of the bank's own."""

COUNTERS = (*NUMBERED, "names_version", "writer")
"""The rows of `counters` that every bank has."""


T = TypeVar("T")

_ATTEMPTS = 5
_COMPLETED = frozenset({"turns", "extractions", "units"})
"""Tables whose rows have more than their records say."""
_LOCK = """
SELECT (SELECT max(version) FROM migrations) FROM counters WHERE bank_id = %(bank)s AND name = 'writer'
FOR UPDATE OF counters
"""
_PLANS = "SET LOCAL plan_cache_mode = force_generic_plan"
"""A transaction repeats few statements very often: planned each time, storing 2,048 turns took the server 1.54 s of CPU
and not 0.94. Citus needs the bank to find the machine: there each statement is planned as it is asked."""
_FACETS = """
SELECT CASE WHEN m <> '{}' AND pg_input_is_valid(m, 'jsonb') THEN m END
FROM unnest(%s::text[]) WITH ORDINALITY AS g (m, place) ORDER BY place
"""
"""JSON as far as PostgreSQL can read it. Asked without a table, since Citus lets no `UPDATE` call such a function."""
_STORED_TERM = np.dtype([("term", ">i8"), ("halves", "<u2")])
"""A packed term as PostgreSQL can unpack it: the bytes of the hash, read from the first to the last."""


class PostgresSql:
    """The `Sql` of one bank on a connection that was lent. `raw` is for what only PostgreSQL has."""

    def __init__(self, lent: Lent, bank: int) -> None:
        self.lent = lent
        self.bank = bank

    @property
    def raw(self) -> Raw:
        return self.lent.raw

    def run(self, name: str, values: Values = (), **parts: str) -> Cursor:
        return self.lent.execute(compiled(name, tuple(parts.items())), self._named(values))

    def together(
        self, several: Iterable[tuple[str, Values, Mapping[str, str]]]
    ) -> list[list[tuple[Any, ...]]]:
        """The rows of several named statements with their values and parts, in one round trip."""
        return self.lent.together(
            [(compiled(name, tuple(parts.items())), self._named(values)) for name, values, parts in several]
        )

    def run_many(self, name: str, rows: Iterable[Values]) -> None:
        given = [self._named(row) for row in rows]
        if given:
            self.raw.cursor().executemany(compiled(name), given)

    def run_batch(self, name: str, rows: Sequence[Values]) -> None:
        if not rows:
            return
        first = rows[0]
        if isinstance(first, Mapping):
            columns: Values = {key: column([row[key] for row in rows]) for key in first}  # type: ignore[call-overload]
        else:
            columns = [column(one) for one in zip(*rows, strict=True)]
        self.run(name, columns)

    @contextmanager
    def pipeline(self) -> Iterator[None]:
        with self.raw.pipeline():
            yield

    def numbers(self, table: str, count: int) -> range:
        """So many new numbers for rows of a table; none is ever given twice."""
        if not count:
            return range(0)
        row = self.run("take_numbers", {"name": table, "count": count}).fetchone()
        assert row is not None
        return range(row[0] - count + 1, row[0] + 1)

    def insert_rows(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """By COPY; then what the database has beside a record of the table."""
        if not rows:
            return
        names, records = list(columns), [list(row) for row in rows]
        match table:
            case "units":  # terms are set when they are posted
                place = names.index("terms")
                for row in (names, *records):
                    del row[place]
            case "entities":  # nobody is merged yet
                names.append("root")
                records = [[*row, row[0]] for row in records]
            case "identity_changes" | "fact_keys":  # '' is no time
                times = [place for place, name in enumerate(names) if name.endswith("_at")]
                for row in records:
                    for place in times:
                        row[place] = row[place] or "-infinity"
            case "turns":  # their metadata can be searched
                place = names.index("metadata")
                names.append("facets")
                found = self.raw.execute(_FACETS, ([row[place] for row in records],))
                records = [[*row, facets] for row, (facets,) in zip(records, found, strict=True)]
        with self.raw.cursor().copy(f"COPY {table} (bank_id, {', '.join(names)}) FROM STDIN") as copy:
            for row in records:
                copy.write_row([self.bank, *row])
        if table in _COMPLETED:
            self.run(f"complete_{table}", {"rows": [row[0] for row in rows]})

    def vector(self, vector: Sequence[float] | NDArray[np.float32]) -> HalfVector:
        return HalfVector(np.asarray(vector, dtype=np.float32))

    def post_terms(self, terms: Mapping[int, bytes]) -> None:
        """Index the search terms of units, in place of those that they had."""
        if not terms:
            return
        nodes = self.unpost(terms)
        packed = {
            unit: np.frombuffer(one, dtype=_STORED_TERM) for unit, one in terms.items() if unit in nodes
        }
        sizes = np.array([len(one) for one in packed.values()])
        units = np.fromiter(packed, dtype=np.int64, count=len(packed))
        sums = np.array([one["halves"].sum(dtype=np.int64) for one in packed.values()], dtype=np.int64)
        every = np.concatenate([*packed.values(), np.zeros(0, dtype=_STORED_TERM)])
        order = np.argsort(
            every["term"], kind="stable"
        )  # neighbours in the index are written one after the other
        rows = {
            "terms": every["term"],
            "units": np.repeat(units, sizes),
            "lengths": np.repeat((sums * 0.5).astype(np.float32), sizes),
            "halves": every["halves"].clip(max=32_767).astype(np.int16),
            "nodes": np.repeat(np.array([nodes[unit] for unit in packed], dtype=np.bool_), sizes),
        }
        with self.raw.pipeline():
            posted = {"units": units, "packed": [terms[unit] for unit in packed], "halves": sums}
            self.run("set_posted", posted)
            self.run("post_terms", {name: column[order] for name, column in rows.items()})

    def unpost(self, units: Iterable[int]) -> dict[int, bool]:
        """Take units out of the postings; of each that is there, whether it is a node of the tree."""
        known = self.run("posted_units", {"units": list(units)}).fetchall()
        posted = [row for row in known if row[2] is not None]
        if posted:
            packed = b"".join(row[2] for row in posted)
            asked = {
                "units": [row[0] for row in posted],
                "terms": np.unique(np.frombuffer(packed, dtype=_STORED_TERM)["term"]),
                "nodes": [row[1] for row in posted],
                "halves": [row[3] for row in posted],
            }
            self.run("unpost_units", asked)
        return {row[0]: row[1] for row in known}

    def empty(self, but: frozenset[str]) -> None:
        """Delete all rows of the bank but those of some tables; numbers are not given again."""
        with self.raw.pipeline():
            for table in OF_A_BANK:
                if table not in but:
                    self.raw.execute(f"DELETE FROM {table} WHERE bank_id = %s", (self.bank,))
            self.raw.execute(
                "UPDATE posting_totals SET units = 0, halves = 0 WHERE bank_id = %s", (self.bank,)
            )
            self.run("take_numbers", {"name": "names_version", "count": 1})

    def _named(self, values: Values) -> dict[str, Any]:
        if isinstance(values, Mapping):
            return {**values, "bank": self.bank}
        return {"bank": self.bank, **{f"p{place}": one for place, one in enumerate(values, start=1)}}


class PostgresConnection:
    """A way to one bank, usable from any thread: each takes a connection of the pool for as long as it needs one.

    Inside a block, what the same thread opens of the same object is the same connection.
    """

    def __init__(self, server: Server, bank: int, name: str, busy_seconds: float = 30.0) -> None:
        self.server = server
        self.bank = bank
        self._name = name
        self._busy_seconds = busy_seconds
        self._mine = threading.local()
        self._is_open = True

    @contextmanager
    def use(self) -> Iterator[PostgresSql]:
        """For a few reads, each of which stands by itself: one that meets a lost connection is asked once more."""
        with self._errors(), self._session() as sql:
            yield sql

    @contextmanager
    def snapshot(self) -> Iterator[PostgresSql]:
        """For reads that see the bank at one moment."""
        with self._errors(), self._session() as sql:
            if sql.lent.is_in_transaction:
                yield sql
                return
            sql.lent.begin("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
            with committed(sql.lent):
                yield sql

    @contextmanager
    def transaction(self, *, wait: float | None = None) -> Iterator[PostgresSql]:
        """All or nothing, by one writer of a bank at a time, so that the order of numbers is that of commits.

        `wait` is for how many seconds another writer is waited for; None is as the bank was opened.
        """
        with self._errors(), self._session() as sql:
            if sql.lent.is_in_transaction:
                raise EverwhenError(f"bank '{self._name}': a transaction cannot be begun within another one")
            seconds = self._busy_seconds if wait is None else wait
            patience = f"SET LOCAL lock_timeout = {max(1, round(seconds * 1000))}"
            plans = () if self.server.has_citus else (_PLANS,)
            locked = sql.lent.begin("BEGIN", patience, *plans, _LOCK, values={"bank": self.bank})
            with committed(sql.lent):
                self._check(locked.fetchone())
                yield sql

    def retried(self, work: Callable[[PostgresSql], T]) -> T:
        """Run a function in a transaction, and again where another transaction was in its way."""
        for _ in range(_ATTEMPTS - 1):
            try:
                with self.transaction() as sql:
                    return work(sql)
            except Unavailable as error:
                if not isinstance(error.__cause__, AGAIN):
                    raise
        with self.transaction() as sql:
            return work(sql)

    def check_present(self) -> None:
        """Every transaction has looked when it began."""

    def close(self) -> None:
        self._is_open = False

    @contextmanager
    def _session(self) -> Iterator[PostgresSql]:
        """A connection of the pool for this thread, or the one that it has already."""
        open_here: PostgresSql | None = getattr(self._mine, "sql", None)
        if open_here is not None:
            yield open_here
            return
        if not self._is_open:
            raise Unavailable(f"bank '{self._name}' was closed; open it again with Memory.open")
        with self.server.lent(self._busy_seconds) as lent:
            self._mine.sql = PostgresSql(lent, self.bank)
            try:
                yield self._mine.sql
            finally:
                self._mine.sql = None

    def _check(self, row: tuple[Any, ...] | None) -> None:
        """That the bank is there, with a schema that we know."""
        if row is None:
            raise Unavailable(f"bank '{self._name}' was removed; open it again to make a new one")
        if row[0] > SCHEMA:
            raise Refused(
                f"the database was upgraded by a newer everwhen meanwhile (schema {row[0]}, this one knows {SCHEMA}); "
                "upgrade with pip install --upgrade everwhen, and open the bank again"
            )

    @contextmanager
    def _errors(self) -> Iterator[None]:
        try:
            yield
        except psycopg.Error as error:
            raise translate(error, self._name, self.server.where, self._busy_seconds) from error


@contextmanager
def committed(lent: Lent) -> Iterator[None]:
    """What was begun is committed at the end of the block, or rolled back when it raises."""
    try:
        yield
        lent.raw.execute("COMMIT")
    except BaseException:
        lent.roll_back()
        raise


def term_key(term: int) -> int:
    """A term's hash as the postings have it."""
    return int.from_bytes(term.to_bytes(8, "little"), "big", signed=True)
