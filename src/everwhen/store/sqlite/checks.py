"""The doctor's checks of a bank file: the file is whole, its rows agree, and the index agrees with them."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from everwhen.errors import Damaged
from everwhen.store.index import Index
from everwhen.store.sql.checks import check_rows
from everwhen.store.sqlite.connection import SqliteConnection, SqliteSql
from everwhen.store.sqlite.statements import migrations
from everwhen.store.terms import Tokenizer
from everwhen.types import Finding


def check(
    connection: SqliteConnection,
    indexes: Sequence[tuple[bool, Callable[[], Index]]],
    tokenizer: Tokenizer,
    dimension: int,
    *,
    fix: bool,
) -> list[Finding]:
    """Every finding in one sentence. `fix` rebuilds terms; turns are never touched."""
    findings: list[Finding] = []
    with connection.use() as sql:
        for row in sql.raw.execute("PRAGMA integrity_check(20)"):
            if row[0] != "ok":
                findings.append(Finding("file", f"SQLite finds the file damaged: {row[0]}", original=True))
        if findings:
            return findings  # nothing else can be believed
        for row in sql.raw.execute("PRAGMA foreign_key_check"):
            findings.append(Finding("rows", f"row {row[1]} of {row[0]} points at a missing {row[2]}"))
        findings += _schema(sql)
    findings += check_rows(connection, tokenizer, dimension, fix=fix)
    if not any(finding.check in ("rows", "vectors") and not finding.fixed for finding in findings):
        for nodes, index in indexes:
            try:
                findings += _index(connection, index(), nodes)
            except Damaged as error:
                findings.append(Finding("index", str(error)))
    return findings


def _schema(sql: SqliteSql) -> list[Finding]:
    there = {row[0] for row in sql.raw.execute("SELECT version FROM migrations")}
    missing = [name for number, name, _ in migrations() if number not in there]
    if not missing:
        return []
    return [
        Finding(
            "schema",
            f"the bank's schema skipped {', '.join(missing)}; restore a backup, or export and import",
        )
    ]


def _index(connection: SqliteConnection, index: Index, nodes: bool) -> list[Finding]:
    """The index against the rows that it has seen (others may be writing)."""
    with connection.use() as sql:
        units, pieces = sql.run("count_units", {"seen": index.seen, "nodes": nodes}).fetchone()
    findings = []
    if (units, pieces) != (len(index), index.vectors):
        findings.append(
            Finding(
                "index",
                f"up to {index.seen} the index holds {len(index)} units and {index.vectors} vectors, "
                f"the rows {units} and {pieces}",
            )
        )
    return findings
