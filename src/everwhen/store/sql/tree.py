"""The tree of a bank: nodes, which are stored as units, and the list of nodes to build."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from everwhen.store.base import (
    BankRows,
    Sql,
    VectorModel,
    bank_values,
    index_units,
    interval_of,
    put_values,
    remove_units,
)
from everwhen.store.rows import (
    Ancestor,
    AsOf,
    BuildMark,
    BuildOutcome,
    BuildResult,
    NewNode,
    NodePlace,
    NodeRow,
    Seen,
    SessionSpan,
)
from everwhen.types import Finding, Statement
from everwhen.types.times import from_text, to_text
from everwhen_time import Interval


class TreeStore:
    """Used by: `tree/` (writes), recall and `Memory` (reads). Uses: the same database as the turns."""

    def __init__(self, bank: BankRows) -> None:
        self._bank = bank

    # What is to be built

    def sessions_of(self, turns: Sequence[str]) -> list[SessionSpan]:
        """The sessions of some turns."""
        return [span_of(row) for row in self._bank.read("sessions_of_turns", (list(turns),))]

    def levels(self) -> str | None:
        """The levels that the tree is built by, as they were noted."""
        with self._bank.reader.use() as sql:
            return bank_values(sql).get("tree_levels")

    def restart(self, levels: str, *, drop: bool = True) -> None:
        """Note the levels, forget how far the turns were marked and empty the list; `drop` removes all nodes too."""
        with self._bank.writer.transaction() as sql:
            if drop:
                sql.run("drop_past_nodes")
                remove_units(sql, [row[0] for row in sql.run("node_units").fetchall()])
            sql.run("drop_marks")
            put_values(sql, {"tree_seen": "0", "tree_levels": levels})

    # Writing

    def put(self, built: Sequence[BuildResult], made_with: VectorModel) -> list[BuildOutcome]:
        """Write, replace or drop nodes in one transaction, and put what stands above them on the list.

        A mark that is not there any more, or was made again, leaves all as it is.
        """
        with self._bank.writer.transaction() as sql:
            self._bank.check_model(sql, made_with)
            now = to_text(datetime.now(UTC))
            return [self._put_one(sql, one, now) for one in built]

    def _put_one(self, sql: Sql, result: BuildResult, now: str) -> BuildOutcome:
        mark, node, exchanges = result.mark, result.node, result.exchanges
        standing = sql.run("mark", (mark.place.id,)).fetchone()
        if standing is None or standing[0] != mark.seq:
            return "late"
        if exchanges is None or not exchanges.waits:
            sql.run("drop_mark", (mark.seq,))
        old = sql.run("known_node", (mark.place.id,)).fetchone()
        known = old is not None or exchanges is not None
        if known and sql.run("session_expired", (mark.place.session,)).fetchone():
            return "same"  # its turns have lost their words: the summary that there is, is the last
        if exchanges is not None:
            self._put_below(sql, mark.place.id, exchanges.new, exchanges.kept, now)
            return "built" if exchanges.new else "same"
        if node is None:
            if old is not None:
                self._remove(sql, mark.place, old, now)
            return "dropped" if old is not None else "same"
        if old is not None and old[2] == node.fingerprint:
            return "same"
        if old is not None:
            _replace(sql, [old[0]], now)
            if old[1] != node.place.parent:  # it has moved: what it stood under is no longer what it was
                sql.run("put_mark_of_node", (old[1],))
        if node.place.session is not None:
            self._put_below(sql, node.place.id, node.below, node.kept, now)
        self._insert(sql, node, now)
        if node.above is not None:
            sql.run("put_mark", mark_row(node.above))
        return "built" if old is None else "rebuilt"

    def _remove(self, sql: Sql, place: NodePlace, old: tuple[Any, ...], now: str) -> None:
        below = sql.run("node_children", (place.id, 1)).fetchall() if place.level == 2 else []
        _replace(sql, [old[0], *(unit for unit, _ in below)], now)
        if old[1] is not None:
            sql.run("put_mark_of_node", (old[1],))

    def _put_below(
        self, sql: Sql, session: str, below: Sequence[NewNode], kept: frozenset[str], now: str
    ) -> None:
        """Level 1 under a session, where a model wrote it: what changed is replaced, and
        what is not among the new ones is removed."""
        under = sql.run("node_children", (session, 1)).fetchall()
        _replace(sql, [unit for unit, id_ in under if id_ not in kept], now)
        for one in below:
            self._insert(sql, one, now)

    def _insert(self, sql: Sql, node: NewNode, now: str) -> None:
        place, when = node.place, node.interval
        terms = self._bank.tokenizer.packed([f" {node.text}"], [""])[0]
        assert when.start is not None
        assert when.end is not None
        row = sql.run(
            "insert_node_unit",
            {
                "id": place.id,
                "level": place.level,
                "text": node.text,
                "start": to_text(when.start),
                "end": to_text(when.end),
                "grain": when.grain,
                "last_at": to_text(node.last_at),
                "recorded_at": to_text(node.recorded_at),
                "pieces": len(node.vectors),
                "terms": terms,
            },
        ).fetchone()
        unit = int(row[0])
        sql.run("insert_node_turns", {"unit": unit, "turns": list(node.turns)})
        index_units(sql, {unit: node.vectors}, {unit: terms})
        sql.run(
            "insert_node",
            {
                "unit": unit,
                "id": place.id,
                "level": place.level,
                "parent": place.parent,
                "session": place.session,
                "starts": to_text(place.start),
                "ends": to_text(place.end),
                "first_at": to_text(node.first_at),
                "children": json.dumps(list(node.children), ensure_ascii=False, separators=(",", ":")),
                "statements": json.dumps([_to_json(one) for one in node.statements], ensure_ascii=False),
                "facts": json.dumps({id_: list(turns) for id_, turns in node.facts.items()}),
                "fingerprint": node.fingerprint,
                "consolidator": node.consolidator,
                "version": node.version,
                "tokens": node.tokens,
                "problem": node.problem,
                "built_at": now,
            },
        )

    # Reading

    def nodes(
        self,
        level: int | None = None,
        between: Interval | None = None,
        *,
        ids: Sequence[str] | None = None,
        under: Sequence[str] | None = None,
    ) -> list[NodeRow]:
        """Nodes in the order of level and time: all, those whose interval overlaps, some, or the children of some."""
        if ids is not None:
            rows = self._bank.read("nodes_by_id", {"ids": list(ids)}, node="node_columns")
        elif under is not None:
            rows = self._bank.read("nodes_under", {"parents": list(under)}, node="node_columns")
        else:
            asked = {
                "level": level,
                "start": to_text(between.start) if between and between.start else None,
                "end": to_text(between.end) if between and between.end else None,
            }
            rows = self._bank.read("nodes", asked, node="node_columns")
        return [_node(row) for row in rows]

    def nodes_then(self, level: int | None, moment: AsOf) -> list[NodeRow]:
        """The nodes that stood at `known_at`, each in the newest version that was built by then from nothing said
        after `as_of`; those without such a version are left out. In the order of level and time."""
        with self._bank.reader.use() as sql:
            rows = versions_then(sql.run("node_versions", {"level": level}, node="node_columns"), moment)
        return sorted(
            (_node(row) for row in rows), key=lambda row: (row.place.level, row.place.start, row.place.id)
        )

    def sizes(self) -> dict[int, int]:
        """How many nodes are stored of each level that has any."""
        return dict(self._bank.read("nodes_by_level_count"))

    def before(self, level: int, instant: datetime, count: int) -> list[str]:
        """The texts of the last nodes of a level that start before an instant, oldest first."""
        rows = self._bank.read("node_texts_before", (level, to_text(instant), count))
        return [text for (text,) in reversed(rows)]

    def paths(self, turns: Sequence[str]) -> dict[str, list[Ancestor]]:
        """For each turn the nodes above it that are built, from its session up."""
        found: dict[str, list[Ancestor]] = {}
        for turn, id_, level, unit in self._bank.read("node_paths", (list(turns),)):
            found.setdefault(turn, []).append(Ancestor(id_, level, unit))
        return found

    def for_reembedding(self) -> Iterator[tuple[str, str, str, list[str]]]:
        """Each node's id, text, consolidator and turns, for another embedder."""
        rows = self._bank.read("nodes_for_reembedding")
        return ((id_, text, consolidator, json.loads(turns)) for id_, text, consolidator, turns in rows)

    def count(self) -> int:
        return int(self._bank.read("count_nodes")[0][0])

    def check(self) -> list[Finding]:
        questions = {
            "nodes_unlike_units": "nodes are no units, or units no nodes",
            "nodes_without_parent_level": "nodes stand under one that is not of the next level",
            "nodes_outside_parent": "nodes reach out of the interval of the one above",
            "nodes_unlike_children": "nodes were built from others than stand under them",
            "nodes_without_above": "nodes have nothing above them, and nothing is to be built there",
        }
        findings = []
        with self._bank.reader.use() as sql:
            ends_below = bank_values(sql).get("tree_levels", "").startswith("exchange")
            if ends_below:  # no session is built
                del questions["nodes_without_above"]
            for name, problem in questions.items():
                if count := sql.run(name).fetchone()[0]:
                    findings.append(Finding("tree", f"{count} {problem}"))
            if not ends_below and (
                count := sql.run("sessions_without_node", (seen_turns(sql),)).fetchone()[0]
            ):
                findings.append(Finding("tree", f"{count} sessions have no node, and none is to be built"))
            counts = sql.run("nodes_by_level_count").fetchall()
            # Level 1 is stored only where a model wrote it.
            sizes = [count for level, count in counts if level > 1]
            if sizes != sorted(sizes, reverse=True):
                findings.append(Finding("tree", "there are more nodes on a level than on the one below"))
            for problem, count in sql.run("node_problems"):
                findings.append(Finding("consolidation", f"{count} nodes: {problem}"))
        return findings


def _replace(sql: Sql, units: Sequence[int], now: str) -> None:
    """Take nodes out that others replace; as they were they stay among the past versions."""
    sql.run_many("keep_past_node", [{"unit": unit, "until": now} for unit in units])
    remove_units(sql, units)


def above(sql: Sql, turns: Sequence[str], places: Sequence[NodePlace]) -> list[int]:
    """The nodes above some turns, which are put on the list; `places` are those of the turns' sessions."""
    units: set[int] = set()
    for _, id_, _, unit in sql.run("node_paths", (list(turns),)).fetchall():
        units.add(unit)
        sql.run("put_mark_of_node", (id_,))
    for place in places:
        units.update(row[0] for row in sql.run("node_children", (place.id, 1)))
    return sorted(units)


def _to_json(one: Statement) -> list[Any]:
    return [
        one.text,
        one.speaker,
        to_text(one.first),
        to_text(one.last),
        one.support,
        list(one.turns),
        one.fact,
        to_text(one.ended) if one.ended else None,
    ]


def _from_json(row: list[Any]) -> Statement:
    text, speaker, first, last, support, turns, fact, ended = row
    return Statement(
        text,
        speaker,
        from_text(first),
        from_text(last),
        support,
        tuple(turns),
        fact,
        from_text(ended) if ended else None,
    )


def _node(row: tuple[Any, ...]) -> NodeRow:
    unit, id_, level, parent, session, starts, ends, start, end, grain, text, *rest = row
    children, span_of, facts, fingerprint, consolidator, version, problem, first, last, recorded = rest
    interval = interval_of(start, end, grain)
    assert interval is not None
    return NodeRow(
        unit=unit,
        place=NodePlace(id_, level, from_text(starts), from_text(ends), session, parent),
        interval=interval,
        text=text,
        children=tuple(json.loads(children)),
        statements=tuple(_from_json(one) for one in json.loads(span_of)),
        facts={fact: tuple(sources) for fact, sources in json.loads(facts).items()},
        fingerprint=fingerprint,
        consolidator=consolidator,
        version=version,
        problem=problem,
        first_at=from_text(first),
        last_at=from_text(last),
        recorded_at=from_text(recorded),
    )


class TreeJobs:
    """Nodes of the tree that are to be built (again). Nobody claims them: `TreeStore.put`, which takes a mark off the
    list, writes nothing where somebody else built or marked the node meanwhile."""

    def __init__(self, bank: BankRows) -> None:
        self._bank = bank

    def unseen(self) -> tuple[Seen, list[SessionSpan]]:
        """The sessions that turns were added to since the last `enqueue`, or held facts which people corrected or
        retracted since, and how far that list goes."""
        with self._bank.reader.snapshot() as sql:
            newest = sql.run("newest_turn").fetchone()[0]
            last = sql.run("last_taken_back").fetchone()[0]
            asked = {"seen": seen_turns(sql), "taken_back": bank_values(sql).get("tree_taken_back", "")}
            rows = sql.run("unseen_sessions", asked).fetchall()
        return Seen(newest, last), [span_of(row) for row in rows]

    def watermark(self) -> datetime | None:
        """When the newest turn was said: windows that end before it are closed."""
        ((newest,),) = self._bank.read("newest_said")
        return from_text(newest) if newest else None

    def enqueue(self, places: Sequence[NodePlace], seen: Seen | None = None) -> None:
        """Put nodes on the list; `seen` is how far the turns are on it then."""
        with self._bank.writer.transaction() as sql:
            put_marks(sql, places)
            if seen is not None:
                taken_back = max(seen.taken_back, bank_values(sql).get("tree_taken_back", ""))
                turn = max(seen.turn, seen_turns(sql))
                put_values(sql, {"tree_seen": str(turn), "tree_taken_back": taken_back})

    def marks(self, level: int) -> list[BuildMark]:
        """What is to be built of a level, in the order of time."""
        return [
            BuildMark(
                seq, NodePlace(node, level, from_text(starts), from_text(ends), session, parent), bool(waits)
            )
            for seq, node, level, parent, session, starts, ends, waits in self._bank.read("marks", (level,))
        ]

    def pending(self) -> int:
        return int(self._bank.read("count_marks")[0][0])


def put_marks(sql: Sql, places: Sequence[NodePlace]) -> None:
    sql.run_many("put_mark", [mark_row(place) for place in places])


def span_of(row: tuple[Any, ...]) -> SessionSpan:
    session, first, last = row
    return SessionSpan(session, from_text(first), from_text(last))


def mark_row(place: NodePlace) -> tuple[Any, ...]:
    return (place.id, place.level, place.parent, place.session, to_text(place.start), to_text(place.end))


def seen_turns(sql: Sql) -> int:
    return int(bank_values(sql).get("tree_seen") or 0)


NODE_COLUMNS = 21
"""Columns of a version of a node that make its row; when it was built, and until when it stood, come behind them."""


_LAST_AT = 19


def versions_then(rows: Iterable[tuple[Any, ...]], moment: AsOf) -> list[tuple[Any, ...]]:
    """Of all versions of nodes, oldest first, one for each node that stood at `known_at`: the newest that was built by
    then from nothing that was said after `as_of`."""
    as_of, known_at = moment.texts["as_of"], moment.texts["known_at"]
    standing: set[str] = set()
    newest: dict[str, tuple[Any, ...]] = {}
    for row in rows:
        id_, built, until = row[1], row[NODE_COLUMNS], row[NODE_COLUMNS + 1]
        if built > known_at:
            continue
        if until > known_at:
            standing.add(id_)
        if row[_LAST_AT] <= as_of:
            newest[id_] = row
    return [row[:NODE_COLUMNS] for id_, row in newest.items() if id_ in standing]
