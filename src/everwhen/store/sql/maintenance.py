"""Forgetting, retention and repairs: rows are removed in one transaction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from everwhen.store.maintenance import Eraser, Follower, Rule
from everwhen.store.sql.eraser import DryRunRollback, SqlEraser, followers
from everwhen.store.sql.part import SqlPart
from everwhen.store.sql.records import SqlSnapshot
from everwhen.store.sql.tombstones import Tombstones
from everwhen.store.sql.units import index_units
from everwhen.store.sql.values import next_epoch
from everwhen.store.vector_model import VectorModel
from everwhen.store.vectors import sound
from everwhen.types import Turn
from everwhen.types.instants import from_text, to_text
from everwhen_time import Grain

_AT_ONCE = 2048


class SqlMaintenance(SqlPart):
    """The `KeepStore` of one bank. The contract of each method is in `everwhen.store.maintenance`."""

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
        return [row[0] for row in self._read("turns_around", place)]

    def turns_about(self, entity: str) -> tuple[list[str], list[str]]:
        with self._reader.use() as sql:
            names = [row[0] for row in sql.run("names_of_entity", {"entity": entity})]
            asked = {"entity": entity, "names": names}
            turns = [row[0] for row in sql.run("turns_mentioning", asked)]
        return turns, names

    @contextmanager
    def snapshot(self) -> Iterator[SqlSnapshot]:
        with self._reader.snapshot() as sql:
            yield SqlSnapshot(sql)

    @contextmanager
    def forgetting(self) -> Iterator[Eraser]:
        try:
            with self._writer.transaction() as sql:
                yield SqlEraser(sql, self._store)
        except DryRunRollback:
            return

    def said_before(self, instant: datetime) -> list[str]:
        return [row[0] for row in self._read("turns_said_before", (to_text(instant),))]

    def rule(self, name: Rule) -> str:
        rows = self._read("kept_value", (name,))
        return rows[0][0] if rows else ""

    def set_rule(self, name: Rule, text: str) -> None:
        with self._writer.transaction() as sql:
            sql.run("put_kept_value", (name, text))

    def pseudonym(self, text: str) -> str:
        with self._reader.use() as sql:
            return Tombstones(sql).pseudonym(text)

    def unfound(self) -> list[str]:
        return [row[0] for row in self._read("turns_unfound")]

    def badly_embedded(self, dimension: int) -> dict[str, str]:
        with self._reader.use() as sql:
            found = dict(sql.run("units_badly_embedded", {"bytes": 4 * dimension}).fetchall())
            cursor = sql.run("embedded_units")
            while rows := cursor.fetchmany(_AT_ONCE):
                rows = [row for row in rows if row[0] not in found]  # of which all have the right size
                matrix = np.frombuffer(b"".join(row[2] for row in rows), "<f4").reshape(len(rows), dimension)
                found |= {rows[place][0]: rows[place][1] for place in np.flatnonzero(~sound(matrix))}
        return found

    def put_vectors(
        self, vectors: Mapping[str, NDArray[np.float32]], codes: Mapping[str, bytes], made_with: VectorModel
    ) -> None:
        with self._writer.transaction() as sql:
            self._store.still_ours(sql, made_with)
            for id_, rows in vectors.items():
                known = sql.run("known_unit", (id_,)).fetchone()
                if known is None:
                    continue
                unit = known[0]
                sql.run("delete_vectors", ([unit],))
                index_units(sql, {unit: rows}, {})
                sql.run("set_pieces", (len(rows), unit))
                if codes.get(id_):
                    sql.run_batch("put_codes", [(unit, codes[id_])])
            next_epoch(sql)

    def unfinished(self) -> list[str]:
        return [row[0] for row in self._read("turns_to_read_again")]

    def unit_texts(self, ids: Sequence[str]) -> dict[str, str]:
        return dict(self._read("texts_of_units", (list(ids),)))

    def unit_dates(self, ids: Sequence[str]) -> dict[str, tuple[datetime, str, Grain]]:
        rows = self._read("dates_of_units", (list(ids),))
        return {id_: (from_text(at), zone, grain) for id_, at, zone, grain in rows}

    def first_vectors(self, units: Sequence[int]) -> dict[int, NDArray[np.float32]]:
        rows = self._read("vectors_of_units", (list(units),))
        return {unit: np.frombuffer(blob, "<f4") for unit, blob in rows}

    def placed(self, units: Sequence[int]) -> dict[int, str]:
        return dict(self._read("placed_units", (list(units),)))
