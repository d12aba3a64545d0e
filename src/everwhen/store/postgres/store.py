"""The PostgreSQL store of a bank: its rows in the tables that all banks share."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import Refused
from everwhen.store.base import BankInfo, NewTurn, Vectors, Voices
from everwhen.store.jobs import Jobs
from everwhen.store.postgres.connection import PostgresConnection, term_key
from everwhen.store.postgres.filters import fragment
from everwhen.store.postgres.loading import Parts, PostgresMaintenance
from everwhen.store.postgres.nearest import Indexed, Seen
from everwhen.store.postgres.search import Asked, PostgresSearch
from everwhen.store.postgres.server import Lent
from everwhen.store.postgres.tables import OF_A_BANK
from everwhen.store.postgres.values import HalfVectors
from everwhen.store.postgres.vector_index import LARGE, VectorIndex, drop_index, name_of
from everwhen.store.search import Search, SearchQuery
from everwhen.store.sql.checks import check_rows
from everwhen.store.sql.facts import SqlFacts
from everwhen.store.sql.graph import SqlGraph
from everwhen.store.sql.jobs import SqlExtractionJobs, SqlTreeJobs
from everwhen.store.sql.rows import unit_of
from everwhen.store.sql.session import UnitIndex
from everwhen.store.sql.store import SqlStore
from everwhen.store.sql.tree import SqlTree
from everwhen.store.sql.values import next_epoch
from everwhen.types import KINDS, NETWORKS, Finding, UnitRow

_WEIGHED = 10_000
"""Units of a bank up to which its rows are weighed one by one; above it is told by its share of the tables."""
_SHARED = """
SELECT sum(pg_total_relation_size(c.oid))::bigint, max(c.reltuples) FILTER (WHERE c.relname = 'units')
FROM pg_class c WHERE c.relnamespace = 'everwhen'::regnamespace AND c.relname = ANY (%(tables)s::text[])
"""
WITH_THE_DATABASE = "banks in PostgreSQL are {done} with their database, by PostgreSQL's own means ({how})"


class PostgresStore(SqlStore):
    """The `Store` of one bank of a database. The contract of each method is in `everwhen.store.base`."""

    def __init__(
        self, info: BankInfo, parts: Parts, writer: PostgresConnection, reader: PostgresConnection
    ) -> None:
        super().__init__(info, writer, reader)
        self._rows = reader
        self._seen: Seen | None = None
        self._units = PostgresUnitIndex(writer, lambda: self._last_seen().index)
        self.graph = SqlGraph(self)
        self.facts = SqlFacts(self)
        self.tree = SqlTree(self)
        self._whole = self.keep = PostgresMaintenance(self, parts, (writer, reader))
        self.vector_index = VectorIndex(reader, lambda: self._info.dimension)
        scrubbing = PostgresScrubbing(writer)
        self.jobs = Jobs(SqlExtractionJobs(self), SqlTreeJobs(self), scrubbing, self.vector_index)

    def refresh(self) -> None:
        self._whole.follow()
        super().refresh()

    def size(self) -> int:
        with self._rows.use() as sql:
            return bytes_of(sql.lent, sql.bank)

    def append(self, turns: Sequence[NewTurn]) -> list[bool]:
        self._seen = None
        return super().append(turns)

    def replace_vectors(
        self,
        embedder: str,
        dimension: int,
        vectors: Mapping[str, Vectors],
        codes: Mapping[str, bytes] | None = None,
    ) -> list[str]:
        # Other vectors may have another dimension, and it is faster made anew.
        drop_index(self._rows.server, self._rows.bank)
        missing = super().replace_vectors(embedder, dimension, vectors, codes)
        self.vector_index.run()
        return missing

    def index(self) -> UnitIndex:
        return self._units

    def search(self, query: SearchQuery) -> Search:
        return PostgresSearch(
            query,
            self._rows,
            self.tokenizer,
            self._last_seen(),
            self._look(),
            self._saw,
            self._with_metadata,
        )

    def voices(self, *, latest: bool = True) -> Voices:
        if latest:
            self._seen = None
        return self._last_seen().voices

    def _look(self) -> list[Asked]:
        """What asks for all that `Seen` has."""
        return [
            ("speakers", (), {}),
            ("names_version", (), {}),
            ("vector_index", {"name": name_of(self._rows.bank)}, {}),
        ]

    def _saw(self, found: Sequence[list[Any]], before: Seen) -> Seen:
        """Keep what a search saw, unless the names must be read anew: whoever plans with them does that."""
        seen = self._read_seen(found, before.voices.names)
        if seen.state == before.state:
            self._seen = seen
        return seen

    def _read_seen(self, found: Sequence[list[Any]], names: frozenset[str]) -> Seen:
        spoken, [(version,)], [(has_index, derived, units)] = found
        roles, speakers = (frozenset(row[place] for row in spoken) for place in (0, 1))
        index = Indexed(self._rows.bank, self._info.dimension, derived >= LARGE) if has_index else None
        return Seen(Voices(speakers, roles, names), index, units, (spoken, version, has_index))

    def _last_seen(self) -> Seen:
        seen = self._seen
        if seen is None:
            with self._rows.use() as sql:
                found = sql.together(self._look())
                seen = self._read_seen(found, self.graph.names_of(sql, found[1][0][0]))
            self._seen = seen
        return seen

    def units(self, seqs: Sequence[int]) -> dict[int, UnitRow]:
        with self._reader.use() as sql:
            found = {row[0]: unit_of(row) for row in sql.run("units", (list(seqs),), wanted="?::bigint[]")}
        return {seq: found[seq] for seq in sorted(found)}

    def check(self, *, fix: bool = False) -> list[Finding]:
        findings = check_rows(self._writer, self.tokenizer, self._info.dimension, fix=fix)
        findings += self.graph.check()
        findings += self.tree.check()
        findings += self.vector_index.check(fix=fix)
        if any(finding.fixed for finding in findings):
            with self._writer.transaction() as sql:
                next_epoch(sql)
        return findings


class PostgresUnitIndex:
    """The `UnitIndex` of a bank, by vectors and postings: what is committed, or inside a transaction what it did."""

    def __init__(self, rows: PostgresConnection, index: Callable[[], Indexed | None]) -> None:
        self._rows = rows
        self._index = index

    def neighbours(
        self, vectors: NDArray[np.float32], kinds: NDArray[np.int16], floor: float, limit: int
    ) -> list[list[tuple[int, float]]]:
        found: list[list[tuple[int, float]]] = [[] for _ in vectors]
        if not len(vectors):
            return found
        wanted = _kinds(kinds)
        asked = {"vectors": HalfVectors(vectors), "kinds": wanted, "floor": floor, "limit": limit}
        index = self._index()
        nearest = "neighbours_exactly"
        if index is not None and (index.derived or "turn" in wanted):
            nearest = fragment("neighbours_of_index", number=index.bank, dimension=index.dimension)
        with self._rows.use() as sql:
            for place, unit, cosine in sql.run("neighbours", asked, nearest=nearest):
                found[place - 1].append((unit, cosine))
        return found

    def holding(
        self, words: Sequence[Sequence[int]], kinds: NDArray[np.int16], limit: int | None = None
    ) -> list[NDArray[np.int64]]:
        found: list[list[int]] = [[] for _ in words]
        asked = [(place, [term_key(term) for term in terms]) for place, terms in enumerate(words) if terms]
        more = [(place, term) for place, (_, terms) in enumerate(asked, start=1) for term in terms[1:]]
        if asked:
            values = {
                "firsts": [terms[0] for _, terms in asked],
                "places": [place for place, _ in more],
                "more": [term for _, term in more],
                "kinds": _kinds(kinds),
                "limit": limit,
            }
            with self._rows.use() as sql:
                for place, unit in sql.run("units_holding", values):
                    found[asked[place - 1][0]].append(unit)
        return [np.array(units, dtype=np.int64) for units in found]


class PostgresScrubbing:
    """The `ScrubJob` of a bank: the server itself clears the room of removed rows (autovacuum)."""

    def __init__(self, writer: PostgresConnection) -> None:
        self._writer = writer

    def waits(self) -> bool:
        with self._writer.use() as sql:
            return sql.run("kept_value", ("erasing",)).fetchone() is not None

    def run(self) -> bool:
        with self._writer.transaction() as sql:
            sql.run("drop_kept_value", ("erasing",))
        return True


def refuse(done: str, how: str) -> NoReturn:
    raise Refused(WITH_THE_DATABASE.format(done=done, how=how))


def _kinds(codes: NDArray[np.int16]) -> list[str]:
    """The kinds of some codes, which are asked for in all networks."""
    return sorted({KINDS[code // len(NETWORKS)] for code in codes.tolist()})


def bytes_of(sql: Lent, bank: int) -> int:
    """What a bank takes: its rows' bytes while they are few, then its units' share of all tables."""
    asked = {"bank": bank, "tables": list(OF_A_BANK)}
    row = sql.execute(
        "SELECT sum(units)::bigint FROM posting_totals WHERE bank_id = %(bank)s", asked
    ).fetchone()
    units = (row and row[0]) or 0
    if units > _WEIGHED:
        share = sql.execute(_SHARED, asked).fetchone()
        assert share is not None
        return int(share[0] * min(1.0, units / max(share[1], 1.0)))
    weighed = " + ".join(
        f"(SELECT coalesce(sum(pg_column_size(t.*)), 0) FROM {table} t WHERE t.bank_id = %(bank)s)"
        for table in OF_A_BANK
    )
    row = sql.execute(f"SELECT ({weighed})::bigint", asked).fetchone()
    return row[0] if row else 0
