"""The doctor's checks of a bank's rows: rows, vectors and terms agree, and every reference leads somewhere."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import numpy as np

from everwhen.store.base import Connection, Sql, Tokenizer, Tombstones, quoted, remove_units, texts_of_units
from everwhen.store.index import sound
from everwhen.types import Finding
from everwhen.types.times import to_text
from everwhen_time.zones import zone_of

_AT_ONCE = 1024
CLOCK_SLACK = timedelta(minutes=10)
"""By how much the clocks of two machines that share a bank may differ."""


def check_rows(
    connection: Connection,
    tokenizer: Tokenizer,
    dimension: int,
    *,
    fix: bool,
) -> list[Finding]:
    """Every finding about the rows in one sentence. `fix` rebuilds terms; turns are never touched."""
    findings: list[Finding] = []
    with connection.use() as sql:
        findings += _counts(sql, dimension)
        findings += _lengths(sql, dimension)
        findings += _zones(sql)
        findings += _clock(sql)
        findings += _returned(sql)
    findings += _orphans(connection, fix=fix)
    findings += _provenance(connection, fix=fix)
    findings += _terms(connection, tokenizer, fix=fix)
    return findings


def _counts(sql: Sql, dimension: int) -> list[Finding]:
    questions = {
        "turns_without_unit": ("units", "turns cannot be recalled, because they have no unit"),
        "units_with_wrong_pieces": ("vectors", "units lack a vector for a piece of theirs"),
        "turns_with_wrong_times": ("rows", "turns have a time that is none"),
        "turns_with_wrong_metadata": ("rows", "turns have metadata that is no JSON"),
        "facts_overlapping": ("facts", "facts overlap the next one of the same subject and predicate"),
        "facts_believed_twice": ("facts", "facts are believed in two versions at once"),
    }
    findings = []
    for name, (what, problem) in questions.items():
        count = sql.run(name).fetchone()[0]
        if count:
            findings.append(Finding(what, f"{count} {problem}", original=name in _ORIGINAL))
    wrong = sql.run("vectors_of_wrong_size", (dimension * 4,)).fetchone()[0]
    if wrong:
        findings.append(Finding("vectors", f"{wrong} vectors do not have the bank's {dimension} dimensions"))
    return findings


_ORIGINAL = ("turns_with_wrong_times", "turns_with_wrong_metadata")


def _clock(sql: Sql) -> list[Finding]:
    """A clock that ran ahead: what it recorded is not known yet at any `known_at` until the time has come."""
    now = to_text(datetime.now(UTC) + CLOCK_SLACK)
    turns, facts, last = sql.run("recorded_after", {"now": now}).fetchone()
    if not turns and not facts:
        return []
    return [
        Finding(
            "clock",
            f"{turns} turns and {facts} facts were recorded in the future, up to {last}: the clock was or is wrong",
        )
    ]


def _returned(sql: Sql) -> list[Finding]:
    tombstones = Tombstones(sql)
    if not tombstones.any:
        return []
    rows = sql.run("digest_rows")
    count = sum(tombstones.holds(id_, said_at, text) for id_, said_at, _, text in rows)
    if not count:
        return []
    return [
        Finding(
            "forgotten", f"{count} turns are here that were forgotten; `everwhen forget` takes them out again"
        )
    ]


def _orphans(connection: Connection, *, fix: bool) -> list[Finding]:
    """Rows that belong to nothing any more. They are derived, or mean nothing by themselves."""
    questions = {
        "sources belong to no fact": ("orphans", _owned("fact_sources", "fact", "facts", "id")),
        "confirmations belong to no fact": ("orphans", _owned("fact_confirmations", "fact", "facts", "id")),
        "conflicts are about a fact that is not there": ("conflicts_without_fact", {}),
        "places for facts hold none": ("orphans", _owned("fact_slots", "seq", "facts", "slot")),
        "codes of token vectors belong to no turn": ("codes_without_turn", {}),
        "vectors belong to no memory": ("orphans", _owned("vectors")),
        "traces to a turn belong to no memory": ("orphans", _owned("unit_turns")),
        "mentions belong to no memory": ("orphans", _owned("mentions")),
        "links leave from no memory": ("orphans", _owned("links", "source")),
        "links lead to no memory": ("orphans", _owned("links", "target")),
        "places on the line of time belong to no memory": ("orphans", _owned("moments")),
        "counts of recall belong to no memory": ("orphans", _owned("accesses")),
        "notes of extraction belong to no memory": ("orphans", _owned("derived")),
        "parts of an event belong to no memory": ("orphans", _owned("events")),
        "parts of the tree belong to no memory": ("orphans", _owned("nodes")),
    }
    findings = []
    for problem, (name, parts) in questions.items():
        with connection.use() as sql:
            count = len(sql.run(name, **parts).fetchall())
        if count:
            if fix:
                with connection.transaction() as sql:
                    sql.run(f"drop_{name}", **parts)
            findings.append(Finding("orphans", f"{count} {problem}", fixed=fix))
    return findings


def _owned(table: str, column: str = "unit", owner: str = "units", key: str = "seq") -> dict[str, str]:
    """The parts of the statements about rows whose column names a row of their owner's table."""
    named = {"table": table, "column": column, "owner": owner, "key": key}
    return {part: quoted(name) for part, name in named.items()}


def _provenance(connection: Connection, *, fix: bool) -> list[Finding]:
    """That a unit says what its turn says, and leads to where it came from."""
    questions = {
        "units_unlike_their_turn": ("rows", "units have another id or time than their turn"),
        "raw_units_without_provenance": ("provenance", "turns do not lead to themselves"),
        "units_without_turn": ("provenance", "units do not lead to a turn or a fact"),
    }
    findings = []
    for name, (what, problem) in questions.items():
        with connection.use() as sql:
            units = [row[0] for row in sql.run(name)]
        if not units:
            continue
        if fix:
            with connection.transaction() as sql:
                if name == "units_without_turn":
                    remove_units(sql, units)
                else:
                    sql.run(f"mend_{name}")
        findings.append(Finding(what, f"{len(units)} {problem}", fixed=fix))
    return findings


def _lengths(sql: Sql, dimension: int) -> list[Finding]:
    """Every vector's length, as it is stored."""
    odd = 0
    cursor = sql.run("vectors_of_size", (4 * dimension,))
    while rows := cursor.fetchmany(_AT_ONCE):
        matrix = np.frombuffer(b"".join(row[0] for row in rows), "<f4").reshape(len(rows), dimension)
        odd += int(np.count_nonzero(~sound(matrix)))
    return [Finding("vectors", f"{odd} vectors are damaged: their length is not one")] if odd else []


def _zones(sql: Sql) -> list[Finding]:
    wrong = [zone for (zone,) in sql.run("zones") if not _known(zone)]
    return (
        [
            Finding(
                "rows",
                f"turns are said in zones that do not exist: {', '.join(map(str, wrong))}",
                original=True,
            )
        ]
        if wrong
        else []
    )


def _known(zone: object) -> bool:
    try:
        zone_of(str(zone))
    except ValueError:
        return False
    return True


def _terms(connection: Connection, tokenizer: Tokenizer, *, fix: bool) -> list[Finding]:
    """Each unit's stored terms against the tokenizer's."""
    wrong: list[tuple[bytes, int]] = []
    with connection.use() as sql:
        for rows in texts_of_units(sql):
            fresh = tokenizer.packed([f"{row[1]} {row[2]}" for row in rows], [row[3] for row in rows])
            wrong += [(new, row[0]) for new, row in zip(fresh, rows, strict=True) if new != row[4]]
    if not wrong:
        return []
    if fix:
        with connection.transaction() as sql:
            sql.run_many("set_terms", wrong)
            sql.post_terms({unit: terms for terms, unit in wrong})
    return [Finding("terms", f"{len(wrong)} units have other search terms than their text", fixed=fix)]
