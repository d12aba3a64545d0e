"""Doctor's questions to a bank file: do rows, vectors, full text and index agree?"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from zoneinfo import ZoneInfo

import numpy as np

from everwhen.errors import Damaged
from everwhen.store.index import Index
from everwhen.store.sqlite.connection import Connection
from everwhen.store.sqlite.statements import statements
from everwhen.store.terms import Tokenizer
from everwhen.types import Finding

_AT_ONCE = 1024


def check(
    connection: Connection,
    indexes: Sequence[tuple[bool, Callable[[], Index]]],
    tokenizer: Tokenizer,
    dimension: int,
    *,
    fix: bool,
) -> list[Finding]:
    """Every finding in one sentence. `fix` rebuilds terms and full text; turns are never touched."""
    findings: list[Finding] = []
    with connection.use() as sql:
        for row in sql.execute("PRAGMA integrity_check(20)"):
            if row[0] != "ok":
                findings.append(Finding("file", f"SQLite finds the file damaged: {row[0]}"))
        if findings:
            return findings  # nothing else can be believed
        for row in sql.execute("PRAGMA foreign_key_check"):
            findings.append(Finding("rows", f"row {row[1]} of {row[0]} points at a missing {row[2]}"))
        findings += _counts(sql, dimension)
        findings += _zones(sql)
    findings += _terms(connection, tokenizer, fix=fix)
    if not any(finding.check in ("rows", "vectors") for finding in findings):
        for nodes, index in indexes:
            try:
                findings += _index(connection, index(), nodes)
            except Damaged as error:
                findings.append(Finding("index", str(error)))
    findings += _full_text(connection, fix=fix)
    return findings


def _counts(sql: sqlite3.Connection, dimension: int) -> list[Finding]:
    questions = {
        "turns_without_unit": ("units", "turns cannot be recalled, because they have no unit"),
        "units_without_turn": ("provenance", "units do not lead to a turn or a fact"),
        "units_with_wrong_pieces": ("vectors", "units lack a vector for a piece of theirs"),
        "codes_without_turn": ("tokens", "codes of token vectors belong to no turn"),
        "turns_with_wrong_times": ("rows", "turns have a time that is none"),
        "turns_with_wrong_metadata": ("rows", "turns have metadata that is no JSON"),
        "units_unlike_their_turn": ("rows", "units have another id or time than their turn"),
        "facts_overlapping": ("facts", "facts overlap the next one of the same subject and predicate"),
        "facts_believed_twice": ("facts", "facts are believed in two versions at once"),
    }
    findings = []
    for name, (what, problem) in questions.items():
        count = sql.execute(statements()[name]).fetchone()[0]
        if count:
            findings.append(Finding(what, f"{count} {problem}"))
    wrong = sql.execute(statements()["vectors_of_wrong_size"], (dimension * 4,)).fetchone()[0]
    if wrong:
        findings.append(Finding("vectors", f"{wrong} vectors do not have the bank's {dimension} dimensions"))
    return findings


def _index(connection: Connection, index: Index, nodes: bool) -> list[Finding]:
    """The index against the rows that it has seen (others may be writing), and every vector's length."""
    with connection.use() as sql:
        units, pieces = sql.execute(
            statements()["count_units"], {"seen": index.seen, "nodes": nodes}
        ).fetchone()
    findings = []
    if (units, pieces) != (len(index), index.vectors):
        findings.append(
            Finding(
                "index",
                f"up to {index.seen} the index holds {len(index)} units and {index.vectors} vectors, "
                f"the rows {units} and {pieces}",
            )
        )
    lengths = [np.linalg.norm(block.rows.vectors, axis=1) for block in index.blocks]
    odd = sum(int(np.count_nonzero(~(np.abs(length - 1.0) < 1e-3))) for length in lengths)
    if odd:
        findings.append(
            Finding("vectors", f"{odd} vectors are not of length one; `everwhen reembed` makes them anew")
        )
    return findings


def _zones(sql: sqlite3.Connection) -> list[Finding]:
    wrong = [zone for (zone,) in sql.execute(statements()["zones"]) if not _known(zone)]
    return (
        [Finding("rows", f"turns are said in zones that do not exist: {', '.join(map(str, wrong))}")]
        if wrong
        else []
    )


def _known(zone: object) -> bool:
    try:
        ZoneInfo(str(zone))
    except (LookupError, ValueError, OSError):
        return False
    return True


def _terms(connection: Connection, tokenizer: Tokenizer, *, fix: bool) -> list[Finding]:
    """Each unit's stored terms against the tokenizer's."""
    wrong: list[tuple[bytes, int]] = []
    with connection.use() as sql:
        cursor = sql.execute(statements()["unit_terms"])
        while rows := cursor.fetchmany(_AT_ONCE):
            fresh = tokenizer.packed([f"{row[1]} {row[2]}" for row in rows], [row[3] for row in rows])
            wrong += [(new, row[0]) for new, row in zip(fresh, rows, strict=True) if new != row[4]]
    if not wrong:
        return []
    if fix:
        with connection.transaction() as sql:
            sql.executemany(statements()["set_terms"], wrong)
    return [Finding("terms", f"{len(wrong)} units have other search terms than their text", fixed=fix)]


def _full_text(connection: Connection, *, fix: bool) -> list[Finding]:
    """FTS5's own comparison of its index with the text."""
    try:
        with connection.transaction() as sql:
            sql.execute("INSERT INTO unit_fts (unit_fts, rank) VALUES ('integrity-check', 1)")
            return []
    except Damaged as error:
        if fix:
            with connection.transaction() as sql:
                sql.execute("INSERT INTO unit_fts (unit_fts) VALUES ('rebuild')")
        return [
            Finding("full text", f"the full-text index does not agree with the text ({error})", fixed=fix)
        ]
