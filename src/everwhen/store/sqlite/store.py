"""The SQLite store of a bank: turns, units, vectors and terms in one file; each `append` is one transaction."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from everwhen.errors import Damaged, ModelChanged, NotFound, Refused, Unavailable
from everwhen.instants import from_text, to_text
from everwhen.store.base import Access, BankInfo, NewTurn, Vectors
from everwhen.store.index import Index, IndexFilter
from everwhen.store.memory_search import MemorySearch
from everwhen.store.metadata_filter import contains
from everwhen.store.search import Filter, Search, SearchQuery
from everwhen.store.sqlite.checks import check
from everwhen.store.sqlite.connection import SCHEMA, Connection, create_file, is_writable, migrate
from everwhen.store.sqlite.facts import SqliteFacts
from everwhen.store.sqlite.files import bank_bytes, remove_file
from everwhen.store.sqlite.graph import SqliteGraph
from everwhen.store.sqlite.index_loading import to_window, wants_nodes
from everwhen.store.sqlite.index_sync import SyncedIndex, changed_model
from everwhen.store.sqlite.jobs import SqliteJobs
from everwhen.store.sqlite.maintenance import SqliteMaintenance
from everwhen.store.sqlite.rows import metadata_of, turn_of
from everwhen.store.sqlite.statements import next_epoch, statements
from everwhen.store.sqlite.tombstones import Tombstones
from everwhen.store.sqlite.tree import SqliteTree
from everwhen.store.sqlite.turn_cache import TurnCache
from everwhen.store.terms import Tokenizer
from everwhen.store.then import NOW, Then
from everwhen.store.vector_model import VectorModel
from everwhen.types import ROLES, Finding, Role, Session, Stats, Turn, UnitRow
from everwhen.when import Interval

_TURNS_AT_ONCE = 512
_PATIENCE = (
    0.25  # seconds that counts wait for another process: long enough for its commit, not for an import
)


class SqliteStore:
    """The `Store` of one bank file. The contract of each method is in `everwhen.store.base`."""

    def __init__(
        self, path: Path, info: BankInfo, writer: Connection, reader: Connection, busy_seconds: float = 30.0
    ) -> None:
        self.path = path
        self._info = info
        self._writer = writer
        self._reader = reader
        self.graph = SqliteGraph(writer, reader, lambda: self._tokenizer, self.index, self._still_ours)
        self.facts = SqliteFacts(writer, reader, lambda: self._tokenizer, self._still_ours)
        self._kept = TurnCache()
        self.keep = SqliteMaintenance(
            writer, reader, lambda: self._tokenizer, self._whole_index, self._still_ours, busy_seconds
        )
        self.jobs = SqliteJobs(writer, reader)
        self.tree = SqliteTree(writer, reader, lambda: self._tokenizer, self._still_ours)
        self._live = SyncedIndex(reader, lambda: self._info, nodes=False)
        self._live_nodes = SyncedIndex(reader, lambda: self._info, nodes=True)
        self._inode = path.stat().st_ino

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        embedder: str,
        dimension: int | Callable[[], int],
        zone: str,
        create: bool = True,
        busy_seconds: float = 30.0,
    ) -> SqliteStore:
        """Open a bank, or make it. Its embedder must be the one it was made with.

        `dimension` is asked for only when the bank is new: a bank can be read without its model. One that
        cannot be written is opened for reading.
        """
        made = not path.exists()
        if made:
            if not create:
                raise NotFound(
                    f"there is no bank '{path.stem}'; `everwhen banks` lists those that exist, and a first "
                    f"`everwhen add --bank {path.stem} TEXT` makes it"
                )
            create_file(path)
        elif not create and path.stat().st_size == 0:
            raise Damaged(f"bank '{path.stem}' is damaged: {path} is empty; restore a backup in its place")
        read_only = not is_writable(path)
        writer = Connection(path, busy_seconds=busy_seconds, read_only=read_only)
        try:
            migrate(writer, read_only=read_only)
            values = _introduce(writer, path.stem, embedder, dimension, zone)
            reader = Connection(path, busy_seconds=busy_seconds, read_only=read_only)
        except BaseException:
            writer.close()
            if made:  # a full disk, say: half a bank must not look like one
                remove_file(path)
            raise
        info = BankInfo(path.stem, values["embedder"], int(values["dimension"]), values["zone"], SCHEMA)
        store = cls(path, info, writer, reader, busy_seconds)
        if not read_only and store.jobs.scrubbing.waits():
            store.jobs.scrubbing.run()  # a crash came between forgetting and the last byte of it
        return store

    @property
    def info(self) -> BankInfo:
        return self._info

    def refresh(self) -> None:
        """Read again what the bank says of itself: another one took its place, or it has another model."""
        with self._writer.use() as sql:
            values = _values(sql)
            self._info = BankInfo(
                self.path.stem, values["embedder"], int(values["dimension"]), values["zone"], SCHEMA
            )

    def close(self) -> None:
        self._reader.close()
        self._writer.close()

    # Writing

    def append(self, turns: Sequence[NewTurn]) -> list[bool]:
        packed = self._tokenizer.packed(
            [f"{new.turn.speaker} {new.turn.text}" for new in turns], [new.context for new in turns]
        )
        with self._writer.transaction() as sql:
            for model in {new.made_with for new in turns}:
                self._still_ours(sql, model)
            stones = Tombstones(sql)
            forgotten = stones.any and [
                stones.holds(new.turn.id, to_text(new.turn.said_at), new.turn.text) for new in turns
            ]
            return [
                not (forgotten and forgotten[place]) and self._append_one(sql, new, terms)
                for place, (new, terms) in enumerate(zip(turns, packed, strict=True))
            ]

    def _still_ours(self, sql: sqlite3.Connection, made_with: VectorModel) -> None:
        """That the file is where it was, and that the bank, as it is inside this transaction, has the model that the
        vectors to be written were made with."""
        values = _values(sql)
        model = VectorModel(values["embedder"], int(values["dimension"]))
        if model.embedder != made_with.embedder:
            raise ModelChanged(changed_model(self._info.name, model.embedder))
        if model != made_with:
            raise ModelChanged(
                f"bank '{self._info.name}' has vectors of {model}, and {made_with} was to be written; "
                f"`everwhen reembed {self._info.name} --model {made_with.embedder}` makes all of them anew"
            )
        if not self.path.exists() or self.path.stat().st_ino != self._inode:
            raise Unavailable(f"bank '{self._info.name}' was removed; open it again to make a new one")

    def _append_one(self, sql: sqlite3.Connection, new: NewTurn, terms: bytes) -> bool:
        turn, ask = new.turn, statements()
        if sql.execute(ask["known_turn"], (turn.id,)).fetchone():
            return False
        said_at, recorded_at = to_text(turn.said_at), to_text(turn.recorded_at)
        turn_seq = sql.execute(
            ask["insert_turn"],
            (
                turn.id,
                turn.session,
                turn.segment or turn.id,
                turn.role,
                turn.speaker,
                turn.text,
                said_at,
                turn.zone,
                recorded_at,
                turn.tokens,
                json.dumps(dict(turn.metadata), ensure_ascii=False),
            ),
        ).lastrowid
        assert turn_seq is not None
        self._add_unit(sql, new, turn_seq, terms)
        return True

    def add_missing_units(self, turns: Sequence[NewTurn]) -> None:
        packed = self._tokenizer.packed(
            [f"{new.turn.speaker} {new.turn.text}" for new in turns], [new.context for new in turns]
        )
        with self._writer.transaction() as sql:
            for model in {new.made_with for new in turns}:
                self._still_ours(sql, model)
            unfound = {row[0] for row in sql.execute(statements()["turns_unfound"])}
            for new, terms in zip(turns, packed, strict=True):
                if new.turn.id in unfound:
                    self._add_unit(sql, new, new.turn.seq, terms)

    def _add_unit(self, sql: sqlite3.Connection, new: NewTurn, turn_seq: int, terms: bytes) -> None:
        """What makes a turn findable."""
        turn, ask = new.turn, statements()
        unit = sql.execute(
            ask["insert_unit"],
            (
                turn.id,
                "turn",
                new.network,
                0,
                turn_seq,
                new.context,
                new.before,
                to_text(turn.said_at),
                to_text(turn.recorded_at),
                len(new.vectors),
                terms,
            ),
        ).lastrowid
        sql.execute(ask["insert_unit_turn"], (unit, turn_seq))
        sql.executemany(
            ask["insert_vector"], [(unit, piece, _blob(vector)) for piece, vector in enumerate(new.vectors)]
        )
        if new.codes:
            sql.execute(ask["put_codes"], (unit, new.codes))

    def put_codes(self, codes: Mapping[str, bytes], made_with: VectorModel) -> None:
        with self._writer.transaction() as sql:
            self._still_ours(sql, made_with)
            sql.executemany(
                statements()["put_codes_of_turn"], [{"id": id_, "codes": code} for id_, code in codes.items()]
            )

    def replace_vectors(
        self,
        embedder: str,
        dimension: int,
        vectors: Mapping[str, Vectors],
        codes: Mapping[str, bytes] | None = None,
    ) -> list[str]:
        ask = statements()
        # The lock is kept until `info` says it too: whoever is refused because of the new model then finds it there.
        with self._writer.use():
            with self._writer.transaction() as sql:
                units = {id_: unit for unit, id_ in sql.execute(ask["units_for_reembedding"])}
                if missing := [id_ for id_ in units if id_ not in vectors]:
                    return missing
                sql.execute("DELETE FROM vectors")
                sql.execute("DELETE FROM token_codes")
                sql.executemany(
                    ask["put_codes"],
                    [(units[id_], code) for id_, code in (codes or {}).items() if code and id_ in units],
                )
                for id_, unit in units.items():
                    sql.executemany(
                        ask["insert_vector"],
                        [(unit, piece, _blob(vector)) for piece, vector in enumerate(vectors[id_])],
                    )
                    sql.execute(ask["set_pieces"], (len(vectors[id_]), unit))
                _put(sql, {"embedder": embedder, "dimension": str(dimension)})
                next_epoch(sql)
            self._info = replace(self._info, embedder=embedder, dimension=dimension)
        return []

    def count_accesses(self, recalls: int, counts: Mapping[str, Access]) -> None:
        ask = statements()
        given = json.dumps([(id_, one.times, to_text(one.last_at)) for id_, one in counts.items()])
        with self._writer.transaction(wait=_PATIENCE) as sql:
            sql.execute(ask["count_recalls"], {"recalls": recalls})
            sql.execute(ask["count_accesses"], {"counts": given})

    def set_zone(self, zone: str) -> None:
        with self._writer.use():
            with self._writer.transaction() as sql:
                _put(sql, {"zone": zone})
            self._info = replace(self._info, zone=zone)

    # Reading

    def known(self, ids: Sequence[str]) -> dict[str, str]:
        with self._reader.use() as sql:
            return dict(sql.execute(statements()["known_turns"], (json.dumps(list(ids)),)).fetchall())

    def contexts(self, ids: Sequence[str]) -> dict[str, str]:
        with self._reader.use() as sql:
            return dict(sql.execute(statements()["turn_contexts"], (json.dumps(list(ids)),)).fetchall())

    def turns(
        self,
        *,
        ids: Sequence[str] | None = None,
        session: str | None = None,
        between: Interval | None = None,
    ) -> Iterator[Turn]:
        if ids is not None:
            with self._reader.use() as sql:
                rows = sql.execute(statements()["turns_by_id"], (json.dumps(list(ids)),)).fetchall()
            yield from map(turn_of, rows)
            return
        page = {
            "session": session,
            "start": to_text(between.start) if between and between.start else None,
            "end": to_text(between.end) if between and between.end else None,
            "after_at": "",
            "after_seq": 0,
            "page": _TURNS_AT_ONCE,
        }
        # Page by page rather than with one open cursor, which would hold an old snapshot for as long as
        # the caller takes.
        while rows := self._page("turns" if session is None else "session_turns", page):
            yield from map(turn_of, rows)
            page |= {"after_at": rows[-1][7], "after_seq": rows[-1][0]}

    def _page(self, statement: str, page: dict[str, Any]) -> list[tuple[Any, ...]]:
        with self._reader.use() as sql:
            return sql.execute(statements()[statement], page).fetchall()

    def last_turn(self, session: str, before: datetime) -> Turn | None:
        with self._reader.use() as sql:
            row = sql.execute(statements()["last_turn"], (session, to_text(before))).fetchone()
        return turn_of(row) if row else None

    def turns_around(self, turn: Turn, reach: int) -> list[Turn]:
        place = (turn.session, to_text(turn.said_at), turn.seq, reach)
        with self._reader.use() as sql:
            before = [turn_of(row) for row in sql.execute(statements()["turns_before"], place)]
            after = [turn_of(row) for row in sql.execute(statements()["turns_after"], place)]
        return [*reversed(before), turn, *after]

    def segment_speakers(self, segment: str, limit: int) -> list[str]:
        with self._reader.use() as sql:
            return [row[0] for row in sql.execute(statements()["segment_speakers"], (segment, limit))]

    def sessions(self, then: Then = NOW) -> list[Session]:
        with self._reader.use() as sql:
            rows = sql.execute(statements()["sessions"], then.texts).fetchall()
        return [
            Session(name, turns, from_text(first), from_text(last), tuple(json.loads(speakers)))
            for name, turns, first, last, speakers in rows
        ]

    def search(self, query: SearchQuery) -> Search:
        where = query.where
        return MemorySearch(query, self._index_for(where), self._window(where), self._tokenizer, self)

    def speakers(self) -> frozenset[str]:
        return self.index().speakers

    def roles(self) -> frozenset[Role]:
        return frozenset(ROLES[role] for block in self.index().blocks for role in block.roles if role >= 0)

    def units(self, seqs: Sequence[int]) -> dict[int, UnitRow]:
        with self._reader.use() as sql:
            return self._kept.read(sql, seqs)

    def accesses(self, limit: int) -> dict[int, Access]:
        with self._reader.use() as sql:
            rows = sql.execute(statements()["accesses"], (limit,)).fetchall()
        return {unit: Access(count, from_text(last)) for unit, count, last in rows}

    def token_codes(self, seqs: Sequence[int]) -> dict[int, bytes]:
        """The coded token vectors of those units that have any."""
        with self._reader.use() as sql:
            return dict(sql.execute(statements()["token_codes"], (json.dumps(list(seqs)),)).fetchall())

    def turns_without_codes(self, format: bytes) -> list[str]:
        with self._reader.use() as sql:
            rows = sql.execute(statements()["turns_without_codes"], {"format": format}).fetchall()
        return [row[0] for row in rows]

    def stats(self) -> Stats:
        with self._reader.use() as sql:
            turns, sessions, segments, vectors, first, last = sql.execute(statements()["stats"]).fetchone()
            recalls = int(_values(sql).get("recalls", "0"))
        events, narratives, entities, links = self.graph.counts()
        return Stats(
            bank=self._info.name,
            turns=turns,
            sessions=sessions,
            segments=segments,
            passages=vectors,
            first=from_text(first) if first else None,
            last=from_text(last) if last else None,
            embedder=self._info.embedder,
            dimension=self._info.dimension,
            bytes=bank_bytes(self.path),
            schema=SCHEMA,
            events=events,
            narratives=narratives,
            entities=entities,
            links=links,
            pending=self.jobs.extraction.pending(),
            recalls=recalls,
            nodes=self.tree.count(),
        )

    def check(self, *, fix: bool = False) -> list[Finding]:
        indexes = [(one.nodes, one.current) for one in (self._live, self._live_nodes)]
        findings = check(self._writer, indexes, self._tokenizer, self._info.dimension, fix=fix)
        findings += self.graph.check()
        findings += self.tree.check()
        if any(finding.fixed for finding in findings):
            with self._writer.transaction() as sql:
                next_epoch(sql)
        return findings

    # The derived index

    def index(self) -> Index:
        """The search index of everything but nodes, caught up with every commit of every process."""
        return self._live.current()

    def _index_for(self, where: Filter) -> Index:
        """The rows that a filter may let pass."""
        return self._whole_index() if wants_nodes(where) else self.index()

    def _whole_index(self) -> Index:
        return self.index().beside(self._live_nodes.current())

    def _window(self, where: Filter) -> IndexFilter:
        return to_window(where, self._with_metadata, self._reaching_back)

    def _reaching_back(self, start: datetime) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Nodes that rest on what was said before an instant as well: their one time is that of their last turn."""
        with self._reader.use() as sql:
            rows = sql.execute(statements()["nodes_since"], {"start": to_text(start)}).fetchall()
        return np.array([unit for (unit,) in rows], dtype=np.int64)

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        return Tokenizer()

    def _with_metadata(self, wanted: dict[str, Any]) -> np.ndarray[Any, np.dtype[np.int64]]:
        # SQLite finds those that can match; whether they do is for Python to say, since SQLite's JSON ends
        # a text at a NUL and has its own idea of large numbers.
        plain = {key: value for key, value in wanted.items() if isinstance(value, str) and value.isascii()}
        question = {"wanted": json.dumps(plain), "keys": json.dumps(list(wanted), ensure_ascii=False)}
        with self._reader.use() as sql:
            rows = sql.execute(statements()["units_with_metadata"], question).fetchall()
        return np.array([seq for seq, text in rows if contains(metadata_of(text), wanted)], dtype=np.int64)


def _introduce(
    writer: Connection, name: str, embedder: str, dimension: int | Callable[[], int], zone: str
) -> dict[str, str]:
    """What the bank says of itself, written when it is new; another embedder is refused."""
    with writer.use() as sql:
        values = _values(sql)
    if not values:
        with writer.transaction() as sql:
            values = _values(sql)
            if not values:
                width = dimension() if callable(dimension) else dimension
                values = {"name": name, "embedder": embedder, "dimension": str(width), "zone": zone}
                _put(sql, values)
    if missing := {"embedder", "dimension", "zone"} - values.keys():
        raise Damaged(f"bank '{name}' does not say its {', '.join(sorted(missing))}: restore a backup")
    if values["embedder"] != embedder:
        raise Refused(
            f"bank '{name}' was embedded with {values['embedder']} ({values['dimension']}), not with {embedder}; "
            f"open it with that one, or run `everwhen reembed {name} --model {embedder}`"
        )
    return values


def _values(sql: sqlite3.Connection) -> dict[str, str]:
    return dict(sql.execute(statements()["bank_values"]).fetchall())


def _put(sql: sqlite3.Connection, values: dict[str, str]) -> None:
    sql.executemany(statements()["put_bank_value"], list(values.items()))


def _blob(vector: Iterable[float]) -> bytes:
    return np.asarray(vector, dtype="<f4").tobytes()
