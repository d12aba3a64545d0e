"""A bank as records: what an export has on one line each, read from and written into any SQL database.

A record names other records by their ids, never by the numbers of rows, so that any database can read what another one
wrote. Reading and writing follow from the description of the kinds alone. A field is written `name=column:form>table`:
`=column` where the column has another name, `:form` where its value is not written as it is (json, bytes, vector,
flag), `>table` where it is the number of a row there.
"""

from __future__ import annotations

import base64
import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any, TypeAlias

import numpy as np

from everwhen.errors import Damaged, EverwhenError
from everwhen.store.base import Connection, Sql, Tokenizer, bank_values, quoted, texts_of_units
from everwhen.store.files.json_values import shown
from everwhen.store.rows import Record


@dataclass(frozen=True, slots=True)
class Field:
    """A value of a record, and the column that it is in."""

    name: str
    column: str
    form: str = ""
    table: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """What belongs to one record and is written inside it: one object, or a list (of plain values, if it has one
    field)."""

    name: str
    table: str
    parent: str
    """The column with the number of the record's row."""
    fields: tuple[Field, ...]
    is_list: bool = False
    order: str = ""
    place: str = ""
    """The column that counts the elements of the list."""
    statement: str = ""
    """The named statement that writes it: the parent's number, the place, the fields."""
    is_vector: bool = False
    """Left out of an export without vectors: it follows from the words and the model."""

    @property
    def is_plain(self) -> bool:
        return len(self.fields) == 1


@dataclass(frozen=True, slots=True)
class Kind:
    """Records of one kind: rows of a table, with what belongs to them."""

    name: str
    table: str
    fields: tuple[Field, ...]
    key: str = "seq"
    """The column by which pages are read. `seq` is a number that is given anew, in the same order."""
    order: str = ""
    """The order of the rows with one key."""
    parts: tuple[Part, ...] = ()
    where: str = "TRUE"
    statement: str = ""
    """The named statement that writes the fields, where they are not a new row."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """Columns that follow from others, and what they have until then."""


def fields(text: str) -> tuple[Field, ...]:
    """Fields as they are written above, with spaces between them."""
    found = []
    for word in text.split():
        rest, _, table = word.partition(">")
        rest, _, form = rest.partition(":")
        name, _, column = rest.partition("=")
        found.append(Field(name, column or name, form, table))
    return tuple(found)


NAMED_BY: Mapping[str, tuple[Field, ...]] = {
    "turns": fields("id"),
    "units": fields("id"),
    "entities": fields("id"),
    "fact_keys": fields("subject_key predicate_key"),
    "fact_slots": fields("key>fact_keys name"),
}
"""The fields that name a row of a table in other records: one value, or a list of them."""

_UNIT_PARTS = (
    Part("turns", "unit_turns", "unit", fields("turn>turns"), is_list=True, order="turn"),
    Part("derived", "derived", "unit", fields("extractor version confidence tokens")),
    Part(
        "event",
        "events",
        "unit",
        fields("subject verb object status polarity quantity expression inferred:flag aliases:json"),
    ),
    Part(
        "node",
        "nodes",
        "unit",
        fields(
            "id level parent session starts ends first_at built_at children:json statements:json facts:json "
            "fingerprint consolidator version tokens problem"
        ),
    ),
    Part(
        "mentions",
        "mentions",
        "unit",
        fields("entity>entities name type recorded_at"),
        is_list=True,
        order="entity, name",
    ),
    Part("moment", "moments", "unit", fields("line=kind at")),
    Part("accesses", "accesses", "unit", fields("count last_at")),
    Part(
        "vectors",
        "vectors",
        "unit",
        fields("vector:vector"),
        is_list=True,
        order="piece",
        place="piece",
        statement="insert_vector",
        is_vector=True,
    ),
    Part("token_codes", "token_codes", "unit", fields("codes:bytes"), is_vector=True),
)

KINDS = (
    Kind(
        "turn",
        "turns",
        fields("id session segment role speaker text said_at zone recorded_at tokens metadata:json"),
        parts=(
            Part("extraction", "extractions", "turn", fields("extractor version done_at")),
            Part("expired", "expired", "turn", fields("at")),
        ),
    ),
    Kind("extraction_failure", "extraction_failures", fields("turn>turns at reason")),
    Kind(
        "setting",
        "bank",
        fields("key value"),
        key="key",
        where="key NOT IN ('name', 'epoch')",
        statement="put_bank_value",
    ),
    Kind(
        "keeping",
        "keeping",
        fields("key value"),
        key="key",
        where="key NOT IN ('erasing', 'loading')",
        statement="put_kept_value",
    ),
    Kind("tombstone", "tombstones", fields("digest:bytes at"), key="digest"),
    Kind(
        "entity",
        "entities",
        fields("id name type last_at"),
        parts=(
            Part("names", "entity_names", "entity", fields("name decided:flag"), is_list=True, order="name"),
        ),
    ),
    Kind(
        "merged_entity",
        "entities",
        fields("into=merged_into>entities entity=seq>entities"),
        where="merged_into IS NOT NULL",
        statement="set_merged",
    ),
    Kind(
        "identity_change",
        "identity_changes",
        fields("entity>entities name merged_into>entities said_at recorded_at"),
    ),
    Kind(
        "unit",
        "units",
        fields(
            "id type=kind network level turn>turns text context context_turn>turns occurred_start occurred_end grain "
            "mentioned_at recorded_at pieces"
        ),
        parts=_UNIT_PARTS,
        given={"terms": b""},
    ),
    Kind("past_mention", "past_mentions", fields("unit>units entity>entities name type recorded_at until")),
    Kind("entity_decision", "entity_log", fields("at action detail:decision undone:flag")),
    Kind(
        "link",
        "links",
        fields("source>units type target>units weight"),
        key="source",
        order="type, target",
    ),
    Kind("fact_key", "fact_keys", fields("subject_key predicate_key subject predicate last_at")),
    Kind("fact_slot", "fact_slots", fields("key>fact_keys name")),
    Kind(
        "fact",
        "facts",
        fields(
            "id version slot>fact_slots object object_key domain grain valid_from claimed_to valid_to stated_at "
            "recorded_at superseded_at held_from held_to confidence origin standing act outcome reason support "
            "confirmed_at tokens"
        ),
    ),
    Kind("fact_confirmation", "fact_confirmations", fields("fact at confirmed_at support")),
    Kind("fact_source", "fact_sources", fields("fact source turn:flag at"), key="fact", order="source"),
    Kind(
        "fact_conflict",
        "fact_conflicts",
        fields("id key>fact_keys incumbent challenger why opened_at resolved_at kept"),
        key="id",
    ),
    Kind("fact_report", "fact_reports", fields("type=kind ref at")),
    Kind("fact_predicate", "fact_predicates", fields("key name multi:flag domain synonyms:json"), key="key"),
    Kind(
        "past_node",
        "past_nodes",
        fields(
            "id level parent session starts ends occurred_start occurred_end grain text children:json "
            "statements:json facts:json consolidator first_at last_at built_at until"
        ),
    ),
    Kind("tree_mark", "tree_marks", fields("node level parent session starts ends")),
    Kind("model_usage", "model_usage", fields("at purpose model calls input_tokens output_tokens cost")),
)
"""Every kind, in an order in which what is named comes before whoever names it."""

BY_NAME: Mapping[str, Kind] = {kind.name: kind for kind in KINDS}


Rows: TypeAlias = list[tuple[Any, ...]]

_PAGE = 500
_SEEN = "tree_seen"
"""The setting that says up to which turn the tree was marked: a number in the bank, the turn's id in a record."""


class Snapshot:
    """A bank at one moment, as records of the domain (docs/reliability.md has their kinds)."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def counts(self) -> dict[str, int]:
        """How many records there are of each kind."""
        return {
            kind.name: self._sql.run("record_count", table=quoted(kind.table), where=kind.where).fetchone()[0]
            for kind in KINDS
        }

    def values(self) -> dict[str, str]:
        """What the bank says of itself."""
        return bank_values(self._sql)

    def records(self, *, vectors: bool = True) -> Iterator[Record]:
        """Every record, in an order in which what is named comes before whoever names it."""
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
                    given = [self._object(part.fields, one, names) for one in own]
                    plain = [one[part.fields[0].name] for one in given] if part.is_plain else given
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
            one.name: names[one.table].get(value) if one.table else self._exported(one.form, value)
            for one, value in zip(fields, row, strict=True)
            if value is not None
        }

    def _exported(self, form: str, value: Any) -> Any:
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
        given = {row[0]: list(self._object(fields, row[1:], names).values()) for row in rows}
        return {number: name[0] if len(fields) == 1 else name for number, name in given.items()}

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


def _listed(part: Part, given: Any) -> list[Record]:
    """What a record says of a part, as objects."""
    every = given if part.is_list else [given]
    return [{part.fields[0].name: one} for one in every] if part.is_plain else list(every)


def _row(sql: Sql, fields: Sequence[Field], record: Record, numbers: Mapping[str, Any]) -> list[Any]:
    return [_value(sql, one, record.get(one.name), numbers) for one in fields]


def _value(sql: Sql, field: Field, given: Any, numbers: Mapping[str, Any]) -> Any:
    if given is None:
        return None
    if field.table:
        name = _hashable(given)
        if name not in numbers[field.table]:
            raise Damaged(f"the export names {shown(given)} in '{field.table}', and does not hold it")
        return numbers[field.table][name]
    match field.form:
        case "flag":
            return int(bool(given))
        case "bytes":
            return base64.b64decode(given, validate=True)
        case "vector":
            return sql.vector(np.frombuffer(base64.b64decode(given, validate=True), dtype="<f4"))
        case "json" | "decision" if not isinstance(given, str):
            found = _with_numbers(sql, given) if field.form == "decision" else given
            return json.dumps(found, ensure_ascii=False, separators=(",", ":"))
    if not isinstance(given, str | int | float):
        raise TypeError(f"{field.name} is {shown(given)}")
    return given


def _numbers(
    sql: Sql, given: Sequence[tuple[Sequence[Field], Sequence[Record]]]
) -> dict[str, dict[Any, int]]:
    """The numbers of all rows that some records name, by table and name."""
    wanted: dict[str, set[Any]] = defaultdict(set)
    for fields, records in given:
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
    given = [
        dict(zip((one.name for one in fields), name if len(fields) > 1 else [name], strict=True))
        for name in wanted
    ]
    numbers = _numbers(sql, [(fields, given)])
    keys = {tuple(_row(sql, fields, one, numbers)): name for one, name in zip(given, wanted, strict=True)}
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


_LOADING = "loading"
"""The key under which a bank that is being built says from what, and how far it came."""


class Loader:
    """A bank that is being built from records, beside the bank that it will replace."""

    def __init__(self, connection: Connection, source: str) -> None:
        self._connection = connection
        self._source = source
        with connection.use() as sql:
            begun = progress(sql)
        self.offset, self.chain = begun[1:] if begun else (0, "")

    def put(self, records: Sequence[Record], offset: int, chain: str) -> None:
        """Write records, and how far this came, in one transaction."""
        try:
            with self._connection.transaction() as sql:
                write_records(sql, records)
                sql.run("put_kept_value", (_LOADING, json.dumps([self._source, offset, chain])))
        except EverwhenError as error:
            if type(error) is not EverwhenError:
                raise
            raise Damaged(f"the export has a record that the bank cannot hold ({error})") from error
        self.offset, self.chain = offset, chain

    def finish(self, counts: Mapping[str, int], name: str) -> None:
        """Make what follows from the records, and check that all are there."""
        with self._connection.transaction() as sql:
            found = Snapshot(sql).counts()
            for kind, count in counts.items():
                if found.get(kind) != count:
                    raise Damaged(
                        f"the export promises {count} records of kind {kind}, and {found.get(kind, 0)} came"
                    )
            make_terms(sql)
            sql.run("put_bank_value", ("name", name))
            sql.run("drop_kept_value", (_LOADING,))

    def close(self) -> None:
        self._connection.close()


def progress(sql: Sql) -> tuple[str, int, str] | None:
    """What a bank is being built from, and how far that came; None where nobody builds it."""
    row = sql.run("kept_value", (_LOADING,)).fetchone()
    if row is None:
        return None
    source, offset, chain = json.loads(row[0])
    return source, offset, chain


def make_terms(sql: Sql) -> None:
    """Give every unit its search terms, which follow from its words."""
    tokenizer = Tokenizer()
    for page in texts_of_units(sql):
        fresh = tokenizer.packed([f"{row[1]} {row[2]}" for row in page], [row[3] for row in page])
        made = {row[0]: terms for row, terms in zip(page, fresh, strict=True)}
        sql.run_many("set_terms", [(terms, unit) for unit, terms in made.items()])
        sql.post_terms(made)
