"""Forgetting, retention and repairs: rows are removed in one transaction, with every place that holds their words."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from everwhen.store.base import (
    BankRows,
    Sql,
    Tombstones,
    VectorModel,
    hash_term,
    index_units,
    next_epoch,
    note_changed,
    remove_units,
    restart_turns,
    turn_of,
)
from everwhen.store.index import codes, sound
from everwhen.store.rows import Follower, NodePlace, ReembeddedTurn, RemovedNodes, RemovedUnits, Rule
from everwhen.store.sql.facts import FactLedger
from everwhen.store.sql.records import Loader, Snapshot
from everwhen.store.sql.tree import above, put_marks
from everwhen.types import KINDS, Turn
from everwhen.types.times import from_text, to_text
from everwhen_time import Grain

_AT_ONCE = 2048


class MaintenanceStore(ABC):
    """Used by: `upkeep/`. Uses: the same database as the turns."""

    def __init__(self, bank: BankRows) -> None:
        self._bank = bank

    def followers(self, turns: Sequence[str]) -> list[Follower]:
        """The turns that are searched with the end of one of these, and are none of them."""
        with self._bank.reader.use() as sql:
            return followers(sql, turns)

    def around(self, turn: Turn, before: int, after: int) -> list[str]:
        """The ids of so many turns of its session on each side of a turn."""
        place = {
            "session": turn.session,
            "said_at": to_text(turn.said_at),
            "seq": turn.seq,
            "before": before,
            "after": after,
        }
        return [row[0] for row in self._bank.read("turns_around", place)]

    def turns_about(self, entity: str) -> tuple[list[str], list[str]]:
        """The turns that name an identity or that it spoke, and the names that it goes by."""
        with self._bank.reader.use() as sql:
            names = [row[0] for row in sql.run("names_of_entity", {"entity": entity})]
            asked = {"entity": entity, "names": names}
            turns = [row[0] for row in sql.run("turns_mentioning", asked)]
        return turns, names

    @contextmanager
    def snapshot(self) -> Iterator[Snapshot]:
        with self._bank.reader.snapshot() as sql:
            yield Snapshot(sql)

    @abstractmethod
    def loader(self, source: str) -> Loader:
        """Begin to load a bank, or go on with what was begun from the same source."""

    @abstractmethod
    def take_over(self) -> None:
        """Replace this bank by the loaded one, in one transaction: others see the old or the new."""

    @contextmanager
    def forgetting(self) -> Iterator[Eraser]:
        try:
            with self._bank.writer.transaction() as sql:
                yield Eraser(sql, self._bank)
        except DryRunRollback:
            return

    def said_before(self, instant: datetime) -> list[str]:
        """The turns that were said before an instant, were read, and still have their words."""
        return [row[0] for row in self._bank.read("turns_said_before", (to_text(instant),))]

    def rule(self, name: Rule) -> str:
        """A rule of the bank as a sentence; empty where none was set."""
        rows = self._bank.read("kept_value", (name,))
        return rows[0][0] if rows else ""

    def set_rule(self, name: Rule, text: str) -> None:
        with self._bank.writer.transaction() as sql:
            sql.run("put_kept_value", (name, text))

    def pseudonym(self, text: str) -> str:
        """A short name for a text, made with the bank's secret: the same each time, and the text cannot be guessed from
        it."""
        with self._bank.reader.use() as sql:
            return Tombstones(sql).pseudonym(text)

    def unfound(self) -> list[str]:
        """The ids of turns that cannot be found by search, because they have no unit."""
        return [row[0] for row in self._bank.read("turns_unfound")]

    def badly_embedded(self, dimension: int) -> dict[str, str]:
        """Units that lack a vector, or have one of another dimension or length than one: id and kind."""
        with self._bank.reader.use() as sql:
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
        """Give some units, by id, other vectors."""
        with self._bank.writer.transaction() as sql:
            self._bank.check_model(sql, made_with)
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
        """Turns under derived units that are not whole: they are to be read again."""
        return [row[0] for row in self._bank.read("turns_to_read_again")]

    def unit_texts(self, ids: Sequence[str]) -> dict[str, str]:
        """The words of derived units."""
        return dict(self._bank.read("texts_of_units", (list(ids),)))

    def unit_dates(self, ids: Sequence[str]) -> dict[str, tuple[datetime, str, Grain]]:
        """What derived units are about in time, for their embedded text: an instant, its zone, and how exact it is.

        When an event occurred and a node begins, since when a fact holds; else when it was said, as a day.
        """
        rows = self._bank.read("dates_of_units", (list(ids),))
        return {id_: (from_text(at), zone, grain) for id_, at, zone, grain in rows}

    def first_vectors(self, units: Sequence[int]) -> dict[int, NDArray[np.float32]]:
        rows = self._bank.read("vectors_of_units", (list(units),))
        return {unit: np.frombuffer(blob, "<f4") for unit, blob in rows}

    def placed(self, units: Sequence[int]) -> dict[int, str]:
        """Those of some units that lie on a line of time, with its kind."""
        return dict(self._bank.read("placed_units", (list(units),)))


LEFT = frozenset({"bank", "keeping", "tombstones", "migrations", "names_version"})
"""The tables that forgetting everything leaves alone: settings, and what must not come back."""
FIRST_LOOK = 2
"""Turns that are looked at first for a word: the index may still have the one that is forgotten."""
UNSAID = "what this said was forgotten"


class DryRunRollback(Exception):
    """Raised to roll back a transaction that was only a dry run."""


class Eraser:
    """Removals inside one transaction: all or nothing."""

    def __init__(self, sql: Sql, bank: BankRows) -> None:
        self._sql = sql
        self._bank = bank
        self.facts = FactLedger(sql, bank)

    def followers(self, turns: Sequence[str]) -> list[Follower]:
        """As `MaintenanceStore.followers`, at this moment."""
        return followers(self._sql, turns)

    def remember(self, turns: Sequence[str], at: datetime) -> None:
        """Write a tombstone for each turn, so that it cannot be added again."""
        tombstones, when = Tombstones(self._sql), to_text(at)
        for row in self._rows("turns_by_id", (list(turns),)):
            tombstones.put(row[1], row[7], row[9], row[6], when)

    # Facts

    def uncite(self, turns: Sequence[str]) -> dict[str, list[str]]:
        """Take turns from the sources of facts; the facts that had them, each with the sources that are left."""
        touched = [row[0] for row in self._rows("facts_from_sources", (list(turns),))]
        self._do("drop_fact_sources", (list(turns),))
        return {fact: [row[0] for row in self._rows("sources_left", (fact,))] for fact in touched}

    def is_only_learned(self, fact: str) -> bool:
        """Whether no person ever spoke of a fact."""
        return {row[0] for row in self._rows("fact_acts", (fact,))} == {"learn"}

    def fact_words(self, fact: str) -> str:
        """The subjects and objects of all versions of a fact."""
        return " ".join(f"{row[2]} {row[0]}" for row in self._rows("fact_words", (fact,)))

    def facts_about(self, names: Sequence[str]) -> list[str]:
        """The facts with one of some folded names for a subject or object."""
        return [row[0] for row in self._rows("facts_about", {"names": list(names)})]

    def erase_facts(self, facts: Sequence[str]) -> tuple[str, ...]:
        """Every version, conflict and quotation of some facts; the words of theirs that had been embedded."""
        if not facts:
            return ()
        rows = [row for fact in facts for row in self._rows("fact_words", (fact,))]
        places = self._rows("places_of_facts", (list(facts),))
        tombstones, now = Tombstones(self._sql), to_text(datetime.now(UTC))
        for fact in facts:
            tombstones.put_fact(fact, now)
            self._do("forget_past_nodes_of_fact", (f'"{fact}"',))
        self._do("drop_conflicts_of", {"facts": list(facts)})
        self.facts.erase(facts)
        objects = {row[0] for row in rows}
        for seq, reason in self._rows("reasons_quoting", ()):
            if any(said in reason for said in objects):
                self._do("set_reason", (UNSAID, seq))
        self._do("drop_empty_slots", ([slot for slot, _ in places],))
        self._do("drop_empty_keys", ([key for _, key in places],))
        return tuple({row[4] for row in rows if row[4]})

    # Turns

    def uproot(self, turns: Sequence[str], places: Sequence[NodePlace]) -> RemovedNodes:
        """Remove the nodes above some turns and mark them to be built again; `places` are those of the sessions."""
        units = above(self._sql, turns, places)
        rows = self._rows("nodes_of_units", (units,))
        remove_units(self._sql, units)
        put_marks(self._sql, places)
        return RemovedNodes(
            tuple(row[0] for row in rows),
            tuple(row[1] for row in rows),
            from_text(max(row[2] for row in rows)) if rows else None,
        )

    def mark(self, places: Sequence[NodePlace]) -> None:
        """Mark sessions to be checked when the tree is next built: the facts learned from them may change."""
        put_marks(self._sql, places)

    def echoes(self, words: Sequence[str]) -> list[tuple[str, str, tuple[str, ...]]]:
        """Derived units that contain a word which no turn says: id, kind and turns."""
        index, tokenizer = self._bank.whole_index(), self._bank.tokenizer
        counted = zip(words, tokenizer.counts(words), strict=True)
        terms = {word: [hash_term(term) for term in counts] for word, counts in counted if counts}
        turns, others = codes(("turn",), None), codes([kind for kind in KINDS if kind != "turn"], None)

        def holding(
            asked: Sequence[str], kinds: NDArray[np.int16], limit: int | None
        ) -> dict[str, list[int]]:
            found = index.holding([terms[word] for word in asked], kinds, limit)
            return {word: units.tolist() for word, units in zip(asked, found, strict=True)}

        waiting, unsaid, looked, most = list(terms), list[str](), 0, FIRST_LOOK
        while waiting:  # most words are said in the first turn that is looked at
            found = holding(waiting, turns, most)
            said = self._saying({word: units[looked:] for word, units in found.items()})
            unsaid += [word for word in waiting if word not in said and len(found[word]) < most]
            waiting = [word for word in waiting if word not in said and len(found[word]) == most]
            looked, most = most, 8 * most
        echoing = self._saying(holding(unsaid, others, None))
        found_units = sorted({unit for units in echoing.values() for unit in units})
        return [
            (id_, kind, tuple(row[0] for row in self._rows("turns_of_unit", (unit,))))
            for unit, id_, kind in self._rows("units_named", (found_units,))
        ]

    def _saying(self, asked: Mapping[str, Sequence[int]]) -> dict[str, set[int]]:
        """For each word those of its units that say it, context aside; nothing for a word that none does."""
        units = sorted({unit for several in asked.values() for unit in several})
        if not units:
            return {}
        texts, owners = [], []
        for unit, speaker, text in self._rows("words_of_units", (units,)):
            texts += [speaker, text]
            owners += [unit, unit]
        said = self._bank.tokenizer.saying(texts, asked)
        found = {word: {owners[place] for place in places} for word, places in said.items()}
        return {word: own for word, places in found.items() if (own := places & set(asked[word]))}

    def told_with(self, turns: Sequence[str]) -> list[str]:
        """The turns, and those that share an event with one of them, and so on."""
        return [row[1] for row in self._rows("told_with", (list(self._seqs(turns).values()),))]

    def remove(
        self,
        turns: Sequence[str],
        again: Sequence[str],
        retold: Sequence[ReembeddedTurn],
        *,
        reports: Sequence[str] = (),
    ) -> RemovedUnits:
        """Remove turns with all that was made of them, and put others on the to-do list to be read again.

        `retold` are the followers' new contexts. `reports` are names whose reports of change go as well.
        """
        seqs, read_again = list(self._seqs(turns).values()), list(self._seqs(again).values())
        with self._sql.pipeline():
            raws = self._sql.run("raw_units", (seqs,))
            resting = self._sql.run("units_resting_on", (seqs,))
            resting_again = self._sql.run("units_resting_on", (read_again,))
        raw, derived, restarted = [row[0] for row in raws], resting.fetchall(), resting_again.fetchall()
        taken = [*raw, *(row[0] for row in derived)]
        counted = self._counted(taken, [*taken, *(row[0] for row in restarted)])
        names = self._rows("names_mentioned_by", (taken,))
        with self._sql.pipeline():
            self._do("same_failures", (seqs,))
            self._do("forget_past_nodes", (list(turns),))
            if reports:
                self._do("reports_of", (list(reports),))
        entities = self._forget_names(names, raw)
        remove_units(self._sql, [row[0] for row in derived])
        restart_turns(self._sql, [*seqs, *read_again])
        for one in retold:
            self._retell(one)
        remove_units(self._sql, raw)
        with self._sql.pipeline():
            self._do("delete_provenance", (seqs,))
            self._do("reseat_units", (seqs,))
            self._do("delete_turns", (seqs,))
        for segment, first in self._rows("broken_segments", (list(turns),)):
            self._do("rename_segment", (f"x-{first}", segment))
        self._note()
        kinds: dict[str, list[str]] = {}
        for _, id_, kind, _ in derived:
            kinds.setdefault(kind, []).append(id_)
        return RemovedUnits(
            units={kind: tuple(ids) for kind, ids in kinds.items()},
            entities=tuple(entities),
            texts=tuple({row[3] for row in (*derived, *restarted) if row[3]}),
            **counted,
        )

    def expire(self, turns: Sequence[str], retold: Sequence[ReembeddedTurn], at: datetime) -> RemovedUnits:
        """Delete the text of turns; what was derived from them stays, and still says where it came from."""
        seqs = list(self._seqs(turns).values())
        raw = [row[0] for row in self._rows("raw_units", (seqs,))]
        counted = self._counted(raw, raw)
        self._do("same_failures", (seqs,))
        for one in retold:
            self._retell(one)
        remove_units(self._sql, raw)
        for seq in seqs:
            self._do("blank_turn", (seq,))
            self._do("insert_expired", (seq, to_text(at)))
        self._note()
        return RemovedUnits({}, (), (), **counted)

    def _counted(self, taken: Sequence[int], removed: Sequence[int]) -> dict[str, Any]:
        """The vectors and links of units that are taken, and who loses a neighbour by what is removed in all."""
        with self._sql.pipeline():
            vectors = self._sql.run("count_vectors", (list(taken),))
            links = self._sql.run("count_links", {"units": list(taken)})
            linked = self._sql.run("linked_to", {"units": list(removed)})
        return {
            "vectors": vectors.fetchone()[0],
            "links": links.fetchone()[0],
            "unlinked": dict(linked.fetchall()),
        }

    def drop_old(self, kind: str, before: datetime) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Remove events, narratives or nodes (whole trees) from before an instant; their ids and words."""
        if kind == "node":
            units = [row[0] for row in self._rows("trees_ended_before", (to_text(before),))]
            rows = self._rows("nodes_of_units", (units,))
            ids, texts = tuple(row[0] for row in rows), tuple(row[1] for row in rows)
            self._do("drop_past_nodes_before", (to_text(before),))
        else:
            found = self._rows("units_told_before", (kind, to_text(before)))
            units = [row[0] for row in found]
            ids, texts = tuple(row[1] for row in found), tuple(row[2] for row in found)
        remove_units(self._sql, units)
        if units:
            self._note()
        return ids, texts

    def drop_unspoken(self) -> tuple[str, ...]:
        """Remove entities and names that nothing mentions any more; the ids of the entities."""
        removed: list[str] = []
        lost: set[str] = set()
        for entity, id_, name, merged_into in self._rows("unspoken_entities", ()):
            lost.update(row[0].casefold() for row in self._rows("names_of_seq", (entity,)))
            lost.add(name.casefold())
            self._do("lead_past", (merged_into, entity))
            self._do("delete_entity", (entity,))
            removed.append(id_)
        for entity, name in self._rows("unspoken_names", ()):
            self._do("drop_entity_name", (entity, name))
            lost.add(name.casefold())
        self._scrub_log(set(removed), lost)
        return tuple(removed)

    def old_facts(self, before: datetime) -> list[str]:
        """Facts that were not stated or confirmed since an instant."""
        return [row[0] for row in self._rows("facts_last_seen_before", (to_text(before),))]

    def remove_everything(self) -> None:
        """Remove everything but the bank's settings and its tombstones."""
        tombstones, now = Tombstones(self._sql), to_text(datetime.now(UTC))
        for (fact,) in self._rows("all_facts", ()):
            tombstones.put_fact(fact, now)
        self._sql.empty(LEFT)
        next_epoch(self._sql)
        self._note()

    def undo(self) -> None:
        """Roll back: this was a dry run."""
        raise DryRunRollback

    def _note(self) -> None:
        """What other processes are building comes too late, and the files are to be scrubbed, even after a crash."""
        with self._sql.pipeline():
            self._do("renumber_marks", ())
            self._do("put_kept_value", ("erasing", "1"))

    def _retell(self, one: ReembeddedTurn) -> None:
        """Give a turn another context to be searched with, and the vectors that go with it."""
        self._bank.check_model(self._sql, one.made_with)
        unit = self._sql.run("turn_units", ([one.turn],)).fetchone()[1]
        ((_, speaker, text),) = self._rows("words_of_units", ([unit],))
        self._do("delete_vectors", ([unit],))
        if one.codes:
            self._sql.run_batch("put_codes", [(unit, one.codes)])
        terms = self._bank.tokenizer.packed([f"{speaker} {text}"], [one.context])[0]
        index_units(self._sql, {unit: one.vectors}, {unit: terms})
        self._do(
            "set_context",
            {
                "unit": unit,
                "context": one.context,
                "before": one.before,
                "pieces": len(one.vectors),
                "terms": terms,
            },
        )
        note_changed(self._sql, [unit])

    # Entities

    def _forget_names(self, names: Sequence[tuple[int, str]], raw: Sequence[int]) -> list[str]:
        """Take away the names that no other turn says, and the identities that none is left of; their ids."""
        removed: list[str] = []
        lost: set[str] = set()
        mentioned = list(raw)
        touched = sorted({entity for entity, _ in names})
        for entity, name in names:
            asked = {"entity": entity, "name": name, "units": mentioned}
            if self._sql.run("name_still_said", asked).fetchone() is None:
                self._do("drop_entity_name", (entity, name))
                self._do("drop_mentions_under", (entity, name))
                lost.add(name.casefold())
        for entity in touched:
            id_, name, merged_into = self._sql.run("entity_of_seq", (entity,)).fetchone()
            left = [row[0] for row in self._rows("names_of_seq", (entity,))]
            asked = {"entity": entity, "units": mentioned}
            if not left or self._sql.run("still_spoken_of", asked).fetchone() is None:
                lost.update(one.casefold() for one in left)
                self._do("drop_mentions_of", (entity,))
                self._do("lead_past", (merged_into, entity))
                self._do("delete_entity", (entity,))
                removed.append(id_)
                lost.add(name.casefold())
            else:
                if name.casefold() in lost:
                    self._do("rename_entity", (left[0], entity))
                self._do("last_spoken_of", (entity,))
        self._scrub_log(set(removed), lost)
        return removed

    def _scrub_log(self, entities: set[str], names: set[str]) -> None:
        """Decisions that name what is forgotten cannot be taken back any more."""
        if not entities and not names:
            return
        for seq, detail in self._rows("logs", ()):
            words = set(_strings(json.loads(detail)))
            if words & entities or {word.casefold() for word in words} & names:
                self._do("delete_log", (seq,))
        for name in names:
            self._do("forget_past_names", (name,))
            self._do("forget_identity_names", (name,))

    def _seqs(self, turns: Sequence[str]) -> dict[str, int]:
        return dict(self._rows("turn_seqs", (list(turns),)))

    def _do(self, name: str, values: Any) -> None:
        self._sql.run(name, values)

    def _rows(self, name: str, values: Any) -> list[tuple[Any, ...]]:
        return self._sql.run(name, values).fetchall()


def followers(sql: Sql, turns: Sequence[str]) -> list[Follower]:
    """The turns that are searched with the end of one of these, each with the one that will stand before it."""
    listed = list(turns)
    found = []
    for row in sql.run("turns_told_after", {"turns": listed}).fetchall():
        place = {"session": row[2], "said_at": row[7], "seq": row[0], "turns": listed}
        before = sql.run("turn_before", place).fetchone()
        found.append(Follower(turn_of(row), turn_of(before) if before else None))
    return found


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [text for one in value for text in _strings(one)] if isinstance(value, list) else []
