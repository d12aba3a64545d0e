"""Doctor's questions to a bank file: do rows, vectors, full text and index agree?"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

from everwhen.store.index import Index
from everwhen.store.sqlite.connection import Connection
from everwhen.store.sqlite.statements import statements
from everwhen.store.terms import Tokenizer
from everwhen.types import Finding

_AT_ONCE = 1024


def check(
    connection: Connection,
    index: Callable[[], Index],
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
    if not findings:
        findings += _index(connection, index())
    findings += _terms(connection, tokenizer, fix=fix)
    findings += _full_text(connection, fix=fix)
    return findings


def _counts(sql: sqlite3.Connection, dimension: int) -> list[Finding]:
    questions = {
        "turns_without_unit": ("units", "turns cannot be recalled, because they have no unit"),
        "units_without_turn": ("provenance", "units do not lead to a turn or a fact"),
        "units_with_wrong_pieces": ("vectors", "units lack a vector for a piece of theirs"),
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


def _index(connection: Connection, index: Index) -> list[Finding]:
    with connection.use() as sql:
        units, pieces, last = sql.execute(statements()["count_units"]).fetchone()
    if (units, pieces, last) != (len(index), index.vectors, index.seen):
        return [
            Finding(
                "index",
                f"the index holds {len(index)} units and {index.vectors} vectors up to {index.seen}, "
                f"the rows {units} and {pieces} up to {last}",
            )
        ]
    return []


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
    except Exception as error:
        if fix:
            with connection.transaction() as sql:
                sql.execute("INSERT INTO unit_fts (unit_fts) VALUES ('rebuild')")
        return [
            Finding("full text", f"the full-text index does not agree with the text ({error})", fixed=fix)
        ]
