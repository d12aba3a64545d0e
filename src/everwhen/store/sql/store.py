"""The store of one bank, as every SQL database has it; each `append` is one transaction."""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import datetime
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import Damaged, Refused
from everwhen.store.base import (
    BankInfo,
    BankRows,
    Connection,
    Sql,
    Tombstones,
    VectorModel,
    bank_values,
    index_units,
    metadata_of,
    next_epoch,
    put_values,
    turn_of,
)
from everwhen.store.rows import NOW, Access, AsOf, NewTurn, Search, SearchQuery, Vectors, Voices, contains
from everwhen.store.sql.facts import FactStore
from everwhen.store.sql.graph import GraphStore
from everwhen.store.sql.jobs import Jobs
from everwhen.store.sql.maintenance import MaintenanceStore
from everwhen.store.sql.tree import TreeStore
from everwhen.types import Finding, Session, Stats, Turn, UnitRow
from everwhen.types.times import from_text, to_text
from everwhen_time import Interval

_TURNS_AT_ONCE = 512
_PATIENCE = (
    0.25  # seconds that counts wait for another process: long enough for its commit, not for an import
)


ForgetAgain: TypeAlias = "Callable[[Store, Sequence[str], Sequence[str]], None]"
"""Forgets turns and facts of a store, by their ids."""


class Store(BankRows):
    """One bank's database, spoken to in the words of the domain.

    Used by: ingest, recall, facts, tree. Uses: one database and the search index derived from it. What a
    write call returned is durable; every derived thing can be rebuilt from the rows. Whoever writes vectors says with
    which model they were made: where the bank has another by then, nothing is written (`ModelChanged`).
    """

    graph: GraphStore
    facts: FactStore
    keep: MaintenanceStore
    jobs: Jobs
    tree: TreeStore

    def refresh(self) -> None:
        """Read again what the bank says of itself: another one took its place, or it has another model."""
        with self.model_lock.changing(), self.writer.use() as sql:
            self._info = info_of(self._info.name, bank_values(sql), self._info.schema)

    def follow_model(self) -> None:
        """Learn whether another process gave the bank another model."""
        with self.reader.use() as sql:
            is_same = self._info.has_model(bank_values(sql))
        if not is_same:
            self.refresh()

    @abstractmethod
    def reading(self) -> AbstractContextManager[None]:
        """Inside, what is searched is of one model, which `info` names: whoever gives the bank another one waits, or is
        not seen before the end. Inside another such block of the same thread nothing is done."""

    def close(self) -> None:
        self.reader.close()
        self.writer.close()

    # Writing

    def append(self, turns: Sequence[NewTurn]) -> list[bool]:
        """Write turns, their units, vectors and terms in one transaction; False where the id was there, or the turn
        was forgotten."""
        packed = self._packed(turns)
        with self.writer.transaction() as sql:
            for model in {new.made_with for new in turns}:
                self.check_model(sql, model)
            known = {row[0] for row in sql.run("known_turns", ([new.turn.id for new in turns],))}
            tombstones = Tombstones(sql)
            any_forgotten = tombstones.any
            fresh: dict[str, tuple[NewTurn, bytes]] = {}
            written = []
            for new, terms in zip(turns, packed, strict=True):
                turn = new.turn
                is_new = turn.id not in known and turn.id not in fresh
                if is_new and any_forgotten:
                    is_new = not tombstones.holds(turn.id, to_text(turn.said_at), turn.text)
                if is_new:
                    fresh[turn.id] = (new, terms)
                written.append(is_new)
            seqs = sql.numbers("turns", len(fresh))
            rows = [(new, seq, terms) for (new, terms), seq in zip(fresh.values(), seqs, strict=True)]
            sql.run_batch("insert_turn", [_turn_row(new.turn, seq) for new, seq, _ in rows])
            self._add_units(sql, rows)
            return written

    def add_missing_units(self, turns: Sequence[NewTurn]) -> None:
        """Make turns findable that are stored and have no unit; others are passed over."""
        packed = self._packed(turns)
        with self.writer.transaction() as sql:
            for model in {new.made_with for new in turns}:
                self.check_model(sql, model)
            unfound = {row[0] for row in sql.run("turns_unfound")}
            given = zip(turns, packed, strict=True)
            self._add_units(
                sql, [(new, new.turn.seq, terms) for new, terms in given if new.turn.id in unfound]
            )

    def _packed(self, turns: Sequence[NewTurn]) -> list[bytes]:
        return self.tokenizer.packed(
            [f"{new.turn.speaker} {new.turn.text}" for new in turns], [new.context for new in turns]
        )

    def _add_units(self, sql: Sql, turns: Sequence[tuple[NewTurn, int, bytes]]) -> None:
        """What makes turns findable; each with its number and its terms."""
        if not turns:
            return
        numbered = list(zip(sql.numbers("units", len(turns)), turns, strict=True))
        sql.run_batch("insert_unit", [_unit_row(unit, *given) for unit, given in numbered])
        sql.run_batch("insert_unit_turn", [(unit, turn) for unit, (_, turn, _) in numbered])
        index_units(
            sql,
            {unit: new.vectors for unit, (new, _, _) in numbered},
            {unit: terms for unit, (_, _, terms) in numbered},
        )
        sql.run_batch("put_codes", [(unit, new.codes) for unit, (new, _, _) in numbered if new.codes])

    def put_codes(self, codes: Mapping[str, bytes], made_with: VectorModel) -> None:
        """Give turns, by their ids, their codes; one that was removed meanwhile is passed over."""
        with self.writer.transaction() as sql:
            self.check_model(sql, made_with)
            sql.run_many("put_codes_of_turn", [{"id": id_, "codes": code} for id_, code in codes.items()])

    def replace_vectors(
        self,
        embedder: str,
        dimension: int,
        vectors: Mapping[str, Vectors],
        codes: Mapping[str, bytes] | None = None,
    ) -> list[str]:
        """Give every unit, by its id (a turn's is the turn's own), new vectors, and codes to those that have
        any, all at once.

        Or none, when some units have no new ones yet: their ids are returned.
        """
        # The lock is kept until `info` has the new model too: whoever is refused because of it then finds it there.
        with self.model_lock.changing(), self._changing_model(), self.writer.use():
            with self.writer.transaction() as sql:
                units = {id_: unit for unit, id_ in sql.run("units_for_reembedding")}
                if missing := [id_ for id_ in units if id_ not in vectors]:
                    return missing
                sql.run("drop_all_vectors")
                sql.run("drop_all_codes")
                sql.run_batch(
                    "put_codes",
                    [(units[id_], code) for id_, code in (codes or {}).items() if code and id_ in units],
                )
                index_units(sql, {unit: vectors[id_] for id_, unit in units.items()}, {})
                sql.run_many("set_pieces", [(len(vectors[id_]), unit) for id_, unit in units.items()])
                put_values(sql, {"embedder": embedder, "dimension": str(dimension)})
                next_epoch(sql)
            self._info = replace(self._info, embedder=embedder, dimension=dimension)
        return []

    def _changing_model(self) -> AbstractContextManager[None]:
        """Keeps readers of other processes out, where they would see the change at once."""
        return nullcontext()

    def count_accesses(self, recalls: int, counts: Mapping[str, Access]) -> None:
        """Add a number of recalls, and what they gave back, by unit id; a unit that was removed is passed over.

        Hardly waits for another process: `Unavailable` when one goes on writing.
        """
        given = json.dumps([(id_, one.times, to_text(one.last_at)) for id_, one in counts.items()])
        with self.writer.transaction(wait=_PATIENCE) as sql:
            sql.run("count_recalls", {"recalls": recalls})
            sql.run("count_accesses", {"counts": given})

    def set_zone(self, zone: str) -> None:
        with self.writer.use():
            with self.writer.transaction() as sql:
                put_values(sql, {"zone": zone})
            self._info = replace(self._info, zone=zone)

    # Reading

    @abstractmethod
    def search(self, query: SearchQuery) -> Search:
        """One question against the bank as it is now: see `Search`."""

    @abstractmethod
    def voices(self, *, latest: bool = True) -> Voices:
        """Who has spoken, and who is spoken of; where not the `latest` is wanted, what was last known of it."""

    @abstractmethod
    def units(self, seqs: Sequence[int]) -> dict[int, UnitRow]:
        """Those of some units that are there, ascending."""

    @abstractmethod
    def check(self, *, fix: bool = False) -> list[Finding]:
        """Compare rows, vectors, full text and index with one another; `fix` rebuilds what is derived."""

    def known(self, ids: Sequence[str]) -> dict[str, str]:
        """Those of the turn ids that are stored already, with their words."""
        return dict(self.read("known_turns", (list(ids),)))

    def forgotten(self, turns: Iterable[Turn]) -> frozenset[str]:
        """Those of the turns that have been forgotten, by id."""
        with self.reader.use() as sql:
            tombstones = Tombstones(sql)
            if not tombstones.any:
                return frozenset()
            return frozenset(
                turn.id for turn in turns if tombstones.holds(turn.id, to_text(turn.said_at), turn.text)
            )

    def contexts(self, ids: Sequence[str]) -> dict[str, str]:
        """For turn ids, what of the turn before is searched with each."""
        return dict(self.read("turn_contexts", (list(ids),)))

    def turns(
        self,
        *,
        ids: Sequence[str] | None = None,
        session: str | None = None,
        between: Interval | None = None,
    ) -> Iterator[Turn]:
        """Turns in the order of time, then of arrival."""
        if ids is not None:
            yield from map(turn_of, self.read("turns_by_id", (list(ids),)))
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
        one = "TRUE" if session is None else "session = :session"
        while rows := self.read("turns", page, session=one):
            yield from map(turn_of, rows)
            page |= {"after_at": rows[-1][7], "after_seq": rows[-1][0]}

    def last_turn(self, session: str, before: datetime) -> Turn | None:
        """The turn of the session that was said last, at or before an instant."""
        rows = self.read("last_turn", (session, to_text(before)))
        return turn_of(rows[0]) if rows else None

    def turns_around(self, turn: Turn, reach: int) -> list[Turn]:
        """A turn with so many of its session before and after it, in the order of time, then of arrival."""
        place = (turn.session, to_text(turn.said_at), turn.seq, reach)
        with self.reader.use() as sql:
            before = [turn_of(row) for row in sql.run("turns_before", place)]
            after = [turn_of(row) for row in sql.run("turns_after", place)]
        return [*reversed(before), turn, *after]

    def segment_speakers(self, segment: str, limit: int) -> list[str]:
        """Who spoke in an exchange, turn by turn, in its first turns."""
        return [row[0] for row in self.read("segment_speakers", (segment, limit))]

    def sessions(self, moment: AsOf = NOW) -> list[Session]:
        """Conversations by when they began, as far as their turns had been said and recorded."""
        return [
            Session(name, turns, from_text(first), from_text(last), tuple(json.loads(speakers)), zone)
            for name, turns, first, last, speakers, zone in self.read("sessions", moment.texts)
        ]

    def accesses(self, limit: int) -> dict[int, Access]:
        """The units that were given back most often, those first."""
        rows = self.read("accesses", (limit,))
        return {unit: Access(count, from_text(last)) for unit, count, last in rows}

    def token_codes(self, seqs: Sequence[int]) -> dict[int, bytes]:
        return dict(self.read("token_codes", (list(seqs),)))

    def turns_without_codes(self, format: bytes) -> list[str]:
        """The ids of the turns without codes that begin with these bytes."""
        return [row[0] for row in self.read("turns_without_codes", {"format": format})]

    def stats(self) -> Stats:
        with self.reader.use() as sql:
            turns, sessions, segments, vectors, first, last = sql.run("stats").fetchone()
            recalls = int(bank_values(sql).get("recalls", "0"))
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
            bytes=self.size(),
            schema=self._info.schema,
            events=events,
            narratives=narratives,
            entities=entities,
            links=links,
            pending=self.jobs.extraction.pending(),
            recalls=recalls,
            nodes=self.tree.count(),
        )

    @abstractmethod
    def size(self) -> int:
        """The bytes that the bank takes."""

    def _reaching_back(self, start: datetime) -> NDArray[np.int64]:
        """Nodes that rest on what was said before an instant as well: their one time is that of their last turn."""
        rows = self.read("nodes_since", {"start": to_text(start)})
        return np.array([unit for (unit,) in rows], dtype=np.int64)

    def _with_metadata(self, wanted: dict[str, Any]) -> NDArray[np.int64]:
        # SQLite finds those that can match; whether they do is for Python to say, since SQLite's JSON ends
        # a text at a NUL and has its own idea of large numbers.
        plain = {key: value for key, value in wanted.items() if isinstance(value, str) and value.isascii()}
        question = {"wanted": json.dumps(plain), "keys": json.dumps(list(wanted), ensure_ascii=False)}
        rows = self.read("units_with_metadata", question)
        return np.array([seq for seq, text in rows if contains(metadata_of(text), wanted)], dtype=np.int64)


def introduced(
    writer: Connection, name: str, embedder: str, dimension: int | Callable[[], int], zone: str
) -> dict[str, str]:
    """What the bank says of itself, written when it is new; another embedder is refused."""
    with writer.use() as sql:
        values = bank_values(sql)
    if not values:
        with writer.transaction() as sql:
            values = bank_values(sql)
            if not values:
                width = dimension() if callable(dimension) else dimension
                values = {"name": name, "embedder": embedder, "dimension": str(width), "zone": zone}
                put_values(sql, values)
    if missing := {"embedder", "dimension", "zone"} - values.keys():
        raise Damaged(f"bank '{name}' does not say its {', '.join(sorted(missing))}: restore a backup")
    if values["embedder"] != embedder:
        raise Refused(
            f"bank '{name}' was embedded with {values['embedder']} ({values['dimension']}), not with {embedder}; "
            f"open it with that one, or run `everwhen bank reembed {name} --model {embedder}`"
        )
    return values


def info_of(name: str, values: Mapping[str, str], schema: int) -> BankInfo:
    return BankInfo(name, values["embedder"], int(values["dimension"]), values["zone"], schema)


def _turn_row(turn: Turn, seq: int) -> dict[str, Any]:
    return {
        "seq": seq,
        "id": turn.id,
        "session": turn.session,
        "segment": turn.segment or turn.id,
        "role": turn.role,
        "speaker": turn.speaker,
        "text": turn.text,
        "said_at": to_text(turn.said_at),
        "zone": turn.zone,
        "recorded_at": to_text(turn.recorded_at),
        "tokens": turn.tokens,
        "metadata": json.dumps(dict(turn.metadata), ensure_ascii=False),
    }


def _unit_row(unit: int, new: NewTurn, turn: int, terms: bytes) -> dict[str, Any]:
    return {
        "seq": unit,
        "id": new.turn.id,
        "network": new.network,
        "turn": turn,
        "context": new.context,
        "before": new.before,
        "said_at": to_text(new.turn.said_at),
        "recorded_at": to_text(new.turn.recorded_at),
        "pieces": len(new.vectors),
        "terms": terms,
    }


def forget_again(live: Connection, made: Store, copy: Connection, forget: ForgetAgain) -> None:
    """The tombstones of a bank, held over another (`copy` leads to its rows): what they mean goes from there, and they
    stand there too."""
    with live.use() as sql:
        secret = sql.run("kept_value", ("secret",)).fetchone()[0]
        rows = sql.run("all_tombstones").fetchall()
        tombstones = Tombstones(sql, secret)
        turns = made.turns() if rows else ()
        forgotten = [turn.id for turn in turns if tombstones.holds(turn.id, to_text(turn.said_at), turn.text)]
        facts = {row.id for row in made.facts.every_version()} if rows else set()
        lost = sorted(fact for fact in facts if tombstones.holds_fact(fact))
    if forgotten or lost:
        forget(made, forgotten, lost)
    with copy.transaction() as sql:
        if sql.run("kept_value", ("secret",)).fetchone()[0] == secret:
            sql.run_many("insert_tombstone", rows)
