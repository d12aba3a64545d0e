"""Reads a bank as records and writes records into one, with any SQL database (`record_kinds.py` describes them)."""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np

from everwhen.errors import Damaged
from everwhen.store.files.json_values import shown
from everwhen.store.maintenance import Record
from everwhen.store.sql.record_kinds import BY_NAME, KINDS, NAMED_BY, Field, Kind, Part
from everwhen.store.sql.session import Sql
from everwhen.store.sql.statements import quoted
from everwhen.store.sql.values import bank_values

Rows: TypeAlias = list[tuple[Any, ...]]

_PAGE = 500
_SEEN = "tree_seen"
"""The setting that says up to which turn the tree was marked: a number in the bank, the turn's id in a record."""


class SqlSnapshot:
    """The `Snapshot` of one bank, as its transaction sees it, page by page: as much as one page is in memory."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def counts(self) -> dict[str, int]:
        return {
            kind.name: self._sql.run("record_count", table=quoted(kind.table), where=kind.where).fetchone()[0]
            for kind in KINDS
        }

    def values(self) -> dict[str, str]:
        return bank_values(self._sql)

    def records(self, *, vectors: bool = True) -> Iterator[Record]:
        for kind in KINDS:
            parts = [part for part in kind.parts if vectors or not part.is_vector]
            for rows in self._pages(kind):
                yield from self._made(kind, parts, rows)

    def _pages(self, kind: Kind) -> Iterator[Rows]:
        """The rows of a kind, each with its key before it."""
        key, after = quoted(kind.key), None
        said = {"table": quoted(kind.table), "key": key, "where": kind.where}
        columns = ", ".join([key, *(quoted(one.column) for one in kind.fields)])
        order = f"{key}, {kind.order}" if kind.order else key
        while True:
            since = "TRUE" if after is None else f"{key} > :after"
            asked = {"after": after, "page": _PAGE}
            last = self._sql.run("record_bound", asked, since=since, **said).fetchone()
            if last is None:
                return
            asked = {"after": after, "until": last[0]}
            yield self._sql.run(
                "record_rows", asked, since=since, columns=columns, order=order, **said
            ).fetchall()
            after = last[0]

    def _made(self, kind: Kind, parts: Sequence[Part], rows: Rows) -> Iterator[Record]:
        inside = [self._inside(part, rows[0][0], rows[-1][0]) for part in parts]
        names = self._names(
            [(kind.fields, [row[1:] for row in rows])]
            + [
                (part.fields, [row for own in found.values() for row in own])
                for part, found in zip(parts, inside, strict=True)
            ]
        )
        for row in rows:
            record = {"kind": kind.name, **self._object(kind.fields, row[1:], names)}
            if kind.name == "setting" and record["key"] == _SEEN:
                record["value"] = self._last_seen(int(record["value"]))
            for part, found in zip(parts, inside, strict=True):
                if own := found.get(row[0]):
                    told = [self._object(part.fields, one, names) for one in own]
                    plain = [one[part.fields[0].name] for one in told] if part.is_plain else told
                    record[part.name] = plain if part.is_list else plain[0]
            yield record

    def _inside(self, part: Part, first: int, last: int) -> dict[int, Rows]:
        """The rows of a part, by the number of the record that they belong to."""
        parent = quoted(part.parent)
        rows = self._sql.run(
            "record_parts",
            {"first": first, "last": last},
            table=quoted(part.table),
            parent=parent,
            columns=", ".join([parent, *(quoted(one.column) for one in part.fields)]),
            order=f"{parent}, {part.order}" if part.order else parent,
        )
        found: dict[int, Rows] = defaultdict(list)
        for row in rows:
            found[row[0]].append(row[1:])
        return found

    def _object(self, fields: Sequence[Field], row: Sequence[Any], names: Mapping[str, Any]) -> Record:
        """The values of a row under their names; what is null is left out."""
        return {
            one.name: names[one.table].get(value) if one.table else self._told(one.form, value)
            for one, value in zip(fields, row, strict=True)
            if value is not None
        }

    def _told(self, form: str, value: Any) -> Any:
        match form:
            case "":
                return value
            case "flag":
                return bool(value)
            case "bytes" | "vector":
                return base64.b64encode(value).decode()
        try:
            found = json.loads(value)
        except (ValueError, RecursionError):
            return value  # as it is: whoever reads it says what is wrong with it
        if form == "decision" and "moved" in found:
            moved = found["moved"]
            units = self._named("units", {one[0] for one in moved})
            homes = self._named("entities", {one[1] for one in moved})
            found["moved"] = [
                [units[unit], homes[home], *rest]
                for unit, home, *rest in moved
                if unit in units and home in homes  # what was forgotten since cannot be given back
            ]
        return found

    def _names(self, read: Sequence[tuple[Sequence[Field], Rows]]) -> dict[str, dict[int, Any]]:
        """The names of all rows that some rows refer to, by table and number."""
        wanted: dict[str, set[int]] = defaultdict(set)
        for fields, rows in read:
            for place, one in enumerate(fields):
                if one.table:
                    wanted[one.table].update(row[place] for row in rows if row[place] is not None)
        return {table: self._named(table, numbers) for table, numbers in wanted.items()}

    def _named(self, table: str, numbers: Iterable[int]) -> dict[int, Any]:
        wanted = sorted(numbers)
        if not wanted:
            return {}
        fields = NAMED_BY[table]
        columns = ", ".join(["seq", *(quoted(one.column) for one in fields)])
        asked = {"numbers": wanted}
        rows = self._sql.run("record_names", asked, table=quoted(table), columns=columns).fetchall()
        names = self._names([(fields, [row[1:] for row in rows])])
        told = {row[0]: list(self._object(fields, row[1:], names).values()) for row in rows}
        return {number: name[0] if len(fields) == 1 else name for number, name in told.items()}

    def _last_seen(self, number: int) -> str:
        row = self._sql.run("last_turn_until", (number,)).fetchone()
        return str(row[0]) if row else ""


def write_records(sql: Sql, records: Sequence[Record]) -> None:
    """Write records in their order; what they name must be there, or come before."""
    try:
        for name, group in groupby(records, key=lambda record: record["kind"]):
            if name not in BY_NAME:
                raise Damaged(f"the export has a record of kind {shown(name)}, which is none")
            _write(sql, BY_NAME[name], list(group))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise Damaged(f"the export has a record that cannot be read ({shown(error)})") from error


def _write(sql: Sql, kind: Kind, records: Sequence[Record]) -> None:
    _check_names(kind, records)
    inside = {
        part.name: [_listed(part, record[part.name]) if part.name in record else [] for record in records]
        for part in kind.parts
    }
    numbers = _numbers(
        sql,
        [(kind.fields, records)]
        + [(part.fields, [one for own in inside[part.name] for one in own]) for part in kind.parts],
    )
    if kind.name == "setting":
        records = [_with_number(sql, record) for record in records]
    rows = [_row(sql, kind.fields, record, numbers) for record in records]
    if kind.statement:
        sql.run_many(kind.statement, rows)
        return
    columns = [one.column for one in kind.fields]
    given = list(kind.given.values())
    if kind.key != "seq":
        sql.insert_rows(kind.table, columns, rows)
        return
    seqs = sql.numbers(kind.table, len(rows))
    sql.insert_rows(
        kind.table,
        ["seq", *columns, *kind.given],
        [[seq, *row, *given] for seq, row in zip(seqs, rows, strict=True)],
    )
    for part in kind.parts:
        own = [part.place] if part.place else []
        rows = [
            [seq, *([place] if own else []), *_row(sql, part.fields, one, numbers)]
            for seq, found in zip(seqs, inside[part.name], strict=True)
            for place, one in enumerate(found)
        ]
        if part.statement:
            sql.run_batch(part.statement, rows)
        else:
            sql.insert_rows(part.table, [part.parent, *own, *(one.column for one in part.fields)], rows)


def _check_names(kind: Kind, records: Sequence[Record]) -> None:
    known = {"kind", *(one.name for one in kind.fields), *(part.name for part in kind.parts)}
    for record in records:
        if not known.issuperset(record):
            raise Damaged(
                f"the export has a record of kind '{kind.name}' with fields that are none of its: "
                f"{shown(sorted(set(record) - known))}"
            )


def _listed(part: Part, told: Any) -> list[Record]:
    """What a record says of a part, as objects."""
    every = told if part.is_list else [told]
    return [{part.fields[0].name: one} for one in every] if part.is_plain else list(every)


def _row(sql: Sql, fields: Sequence[Field], record: Record, numbers: Mapping[str, Any]) -> list[Any]:
    return [_value(sql, one, record.get(one.name), numbers) for one in fields]


def _value(sql: Sql, field: Field, told: Any, numbers: Mapping[str, Any]) -> Any:
    if told is None:
        return None
    if field.table:
        name = _hashable(told)
        if name not in numbers[field.table]:
            raise Damaged(f"the export names {shown(told)} in '{field.table}', and does not hold it")
        return numbers[field.table][name]
    match field.form:
        case "flag":
            return int(bool(told))
        case "bytes":
            return base64.b64decode(told, validate=True)
        case "vector":
            return sql.vector(np.frombuffer(base64.b64decode(told, validate=True), dtype="<f4"))
        case "json" | "decision" if not isinstance(told, str):
            found = _with_numbers(sql, told) if field.form == "decision" else told
            return json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    if not isinstance(told, str | int | float):
        raise TypeError(f"{field.name} is {shown(told)}")
    return told


def _numbers(sql: Sql, told: Sequence[tuple[Sequence[Field], Sequence[Record]]]) -> dict[str, dict[Any, int]]:
    """The numbers of all rows that some records name, by table and name."""
    wanted: dict[str, set[Any]] = defaultdict(set)
    for fields, records in told:
        for one in fields:
            if one.table:
                named = (record.get(one.name) for record in records)
                wanted[one.table].update(_hashable(name) for name in named if name is not None)
    return {table: _numbered(sql, table, names) for table, names in wanted.items()}


def _numbered(sql: Sql, table: str, names: Iterable[Any]) -> dict[Any, int]:
    wanted = list(names)
    if not wanted:
        return {}
    fields = NAMED_BY[table]
    told = [
        dict(zip((one.name for one in fields), name if len(fields) > 1 else [name], strict=True))
        for name in wanted
    ]
    numbers = _numbers(sql, [(fields, told)])
    keys = {tuple(_row(sql, fields, one, numbers)): name for one, name in zip(told, wanted, strict=True)}
    first = quoted(fields[0].column)
    columns = ", ".join(["seq", *(quoted(one.column) for one in fields)])
    asked = {"names": sorted({key[0] for key in keys})}
    rows = sql.run("record_numbers", asked, table=quoted(table), first=first, columns=columns)
    return {keys[tuple(row[1:])]: row[0] for row in rows if tuple(row[1:]) in keys}


def _with_number(sql: Sql, setting: Record) -> Record:
    if setting["key"] != _SEEN:
        return setting
    turn = setting["value"]
    seen = _numbered(sql, "turns", [turn]) if turn else {turn: 0}
    return {**setting, "value": str(seen[turn])}


def _with_numbers(sql: Sql, detail: Record) -> Record:
    """What a decision says of units and entities, as their numbers."""
    if "moved" not in detail:
        return detail
    units = _numbered(sql, "units", {one[0] for one in detail["moved"]})
    homes = _numbered(sql, "entities", {one[1] for one in detail["moved"]})
    return {**detail, "moved": [[units[one[0]], homes[one[1]], *one[2:]] for one in detail["moved"]]}


def _hashable(name: Any) -> Any:
    return tuple(map(_hashable, name)) if isinstance(name, list) else name
