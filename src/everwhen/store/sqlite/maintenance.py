"""Forgetting, retention and scrubbing in a bank file: rows are removed in one transaction, then the bytes are
overwritten."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from everwhen.instants import from_text, to_text
from everwhen.store.index import Index
from everwhen.store.maintenance import Eraser, Follower
from everwhen.store.sqlite.connection import Connection
from everwhen.store.sqlite.eraser import DryRunRollback, SqliteEraser, followers
from everwhen.store.sqlite.files import part_of, remove_file
from everwhen.store.sqlite.scrubbing import truncate_log
from everwhen.store.sqlite.snapshot import SqliteLoader, SqliteSnapshot, snapshot, take_over
from everwhen.store.sqlite.statements import next_epoch, statements
from everwhen.store.sqlite.tombstones import Tombstones
from everwhen.store.terms import Tokenizer
from everwhen.store.vector_model import VectorModel
from everwhen.types import Turn
from everwhen.when import Grain

_AT_ONCE = 2048


class SqliteMaintenance:
    """The `KeepStore` of one bank file. The contract of each method is in `everwhen.store.maintenance`."""

    def __init__(
        self,
        writer: Connection,
        reader: Connection,
        tokenizer: Callable[[], Tokenizer],
        index: Callable[[], Index],
        still_ours: Callable[[sqlite3.Connection, VectorModel], None],
        busy_seconds: float = 30.0,
    ) -> None:
        self._still_ours = still_ours
        self._busy_seconds = busy_seconds
        self._writer = writer
        self._reader = reader
        self._tokenizer = tokenizer
        self._index = index

    def forgotten(self, turns: Iterable[Turn]) -> frozenset[str]:
        with self._reader.use() as sql:
            stones = Tombstones(sql)
            if not stones.any:
                return frozenset()
            return frozenset(
                turn.id for turn in turns if stones.holds(turn.id, to_text(turn.said_at), turn.text)
            )

    def followers(self, turns: Sequence[str]) -> list[Follower]:
        with self._reader.use() as sql:
            return followers(sql, turns)

    def around(self, turn: Turn, before: int, after: int) -> list[str]:
        place = {
            "session": turn.session,
            "said_at": to_text(turn.said_at),
            "seq": turn.seq,
            "before": before,
            "after": after,
        }
        with self._reader.use() as sql:
            return [row[0] for row in sql.execute(statements()["turns_around"], place)]

    def turns_about(self, entity: str) -> tuple[list[str], list[str]]:
        with self._reader.use() as sql:
            names = [row[0] for row in sql.execute(statements()["names_of_entity"], {"entity": entity})]
            asked = {"entity": entity, "names": json.dumps(names)}
            turns = [row[0] for row in sql.execute(statements()["turns_mentioning"], asked)]
        return turns, names

    @contextmanager
    def forgetting(self) -> Iterator[Eraser]:
        try:
            with self._writer.transaction() as sql:
                yield SqliteEraser(sql, self._tokenizer, self._index, self._still_ours)
        except DryRunRollback:
            return

    def said_before(self, instant: datetime) -> list[str]:
        with self._reader.use() as sql:
            return [row[0] for row in sql.execute(statements()["turns_said_before"], (to_text(instant),))]

    @property
    def retention(self) -> str:
        with self._reader.use() as sql:
            row = sql.execute(statements()["kept_value"], ("retention",)).fetchone()
        return row[0] if row else ""

    def set_retention(self, rule: str) -> None:
        with self._writer.transaction() as sql:
            sql.execute(statements()["put_kept_value"], ("retention", rule))

    @property
    def redaction(self) -> str:
        with self._reader.use() as sql:
            row = sql.execute(statements()["kept_value"], ("redaction",)).fetchone()
        return row[0] if row else ""

    def set_redaction(self, rule: str) -> None:
        with self._writer.transaction() as sql:
            sql.execute(statements()["put_kept_value"], ("redaction", rule))

    def pseudonym(self, text: str) -> str:
        with self._reader.use() as sql:
            return Tombstones(sql).pseudonym(text)

    @contextmanager
    def snapshot(self) -> Iterator[SqliteSnapshot]:
        with snapshot(self._writer.path, self._busy_seconds) as found:
            yield found

    def loader(self, schema: int, source: str) -> SqliteLoader:
        return SqliteLoader(part_of(self._writer.path), schema, source)

    def take_over(self) -> None:
        part = part_of(self._writer.path)
        take_over(part, self._writer)
        remove_file(part)
        truncate_log(self._writer)

    def unfound(self) -> list[str]:
        with self._reader.use() as sql:
            return [row[0] for row in sql.execute(statements()["turns_unfound"])]

    def badly_embedded(self, dimension: int) -> dict[str, str]:
        with self._reader.use() as sql:
            found = dict(
                sql.execute(statements()["units_badly_embedded"], {"bytes": 4 * dimension}).fetchall()
            )
            cursor = sql.execute(statements()["embedded_units"])
            while rows := cursor.fetchmany(_AT_ONCE):
                for id_, kind, blob in rows:
                    if (
                        id_ not in found
                        and abs(float(np.linalg.norm(np.frombuffer(blob, "<f4"))) - 1.0) >= 1e-3
                    ):
                        found[id_] = kind
        return found

    def put_vectors(
        self, vectors: Mapping[str, NDArray[np.float32]], codes: Mapping[str, bytes], made_with: VectorModel
    ) -> None:
        ask = statements()
        with self._writer.transaction() as sql:
            self._still_ours(sql, made_with)
            for id_, rows in vectors.items():
                known = sql.execute(ask["known_unit"], (id_,)).fetchone()
                if known is None:
                    continue
                unit = known[0]
                sql.execute(ask["delete_vectors"], (unit,))
                blobs = [(unit, piece, np.asarray(row, "<f4").tobytes()) for piece, row in enumerate(rows)]
                sql.executemany(ask["insert_vector"], blobs)
                sql.execute(ask["set_pieces"], (len(blobs), unit))
                if codes.get(id_):
                    sql.execute(ask["put_codes"], (unit, codes[id_]))
            next_epoch(sql)

    def unfinished(self) -> list[str]:
        with self._reader.use() as sql:
            return [row[0] for row in sql.execute(statements()["turns_to_read_again"])]

    def unit_texts(self, ids: Sequence[str]) -> dict[str, str]:
        with self._reader.use() as sql:
            return dict(sql.execute(statements()["texts_of_units"], (json.dumps(list(ids)),)).fetchall())

    def unit_dates(self, ids: Sequence[str]) -> dict[str, tuple[datetime, str, Grain]]:
        with self._reader.use() as sql:
            rows = sql.execute(statements()["dates_of_units"], (json.dumps(list(ids)),)).fetchall()
        return {id_: (from_text(at), zone, grain) for id_, at, zone, grain in rows}

    def first_vectors(self, units: Sequence[int]) -> dict[int, NDArray[np.float32]]:
        with self._reader.use() as sql:
            rows = sql.execute(statements()["vectors_of_units"], (json.dumps(list(units)),)).fetchall()
        return {unit: np.frombuffer(blob, "<f4") for unit, blob in rows}

    def placed(self, units: Sequence[int]) -> dict[int, str]:
        with self._reader.use() as sql:
            return dict(sql.execute(statements()["placed_units"], (json.dumps(list(units)),)).fetchall())
