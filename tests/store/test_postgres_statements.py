"""The statements of the PostgreSQL store: they stay inside a bank, and the server understands each of them."""

from __future__ import annotations

import re

import pytest

from everwhen.store.postgres.banks import PostgresBanks
from everwhen.store.postgres.citus import DISTRIBUTED, REFERENCE
from everwhen.store.postgres.filters import fragment
from everwhen.store.postgres.statements import HERE, compiled, statements, with_parameters
from everwhen.store.postgres.tables import COUNTERS, NUMBERED, OF_A_BANK
from everwhen.store.sql.ledger import LAST
from everwhen.store.sqlite.statements import statements as of_sqlite

FRAGMENTS = {
    "fact_columns",
    "fact_columns_then",
    "event_columns",
    "node_columns",
    "around_units",
    "around_unit",
    "cosine_of",
    "no_cosine",
}
ONLY_SQLITE = {"tables", "last_number", "kept_removals", "removals_after", "last_unit", "count_units"}
PASSING = (
    "passes_seen passes_start passes_end passes_known passes_kinds passes_networks passes_units passes_reach"
)
PARTS = {
    "columns": "fact_columns",
    "event": "event_columns",
    "node": "node_columns",
    "where": "k.subject_key = :subject",
    "session": "session = :session",
    "which": LAST,
    "wanted": "?::bigint[]",
    "own": "own_units",
    "around": "around_unit",
    "provenance": "provenance_of",
    "cosine": "cosine_of",
    "totals": "AND NOT t.node",
    "standing": "s.units",
    "postings": "AND NOT p.node",
    "nearest": "neighbours_exactly",
    "shown": "versions_shown",
    "found": "found_facts",
}
"""What fills the gaps of statements. The conditions of a search are those of a filter that has them all."""
OF_TABLES = {
    "table": '"turns"',
    "columns": "seq, id",
    "key": "seq",
    "where": "TRUE",
    "since": "seq > :after",
    "order": "seq",
    "parent": "seq",
    "first": "id",
    "column": "seq",
    "owner": '"units"',
}
"""The same for the statements about the rows of any table."""
ASIDE = {"posting_totals", "counters", "banks", "migrations", "answers", "servers"}


def parts_of(name: str) -> tuple[tuple[str, str], ...]:
    text = statements()[name]
    row, unit = ("u", "seq") if "FROM units u" in text or "{own}" in text else ("v", "unit")
    passes = " ".join(fragment(one, row=row, unit=unit) for one in PASSING.split())
    among = fragment("said_by_speakers", row="v", place=0)
    where = f"{passes} {among}"
    lists = (
        fragment("nearest_list", place=0, among=where)
        + " UNION ALL\n"
        + fragment("nearest_list_of_index", place=1, among=where, number=1, dimension=8)
        if name == "nearest"
        else fragment("best_by_words_list", place=0, passes=passes, among=among)
    )
    parts = PARTS | {"passes": passes, "among": among, "lists": lists}
    parts |= OF_TABLES if "{table}" in text else {}
    return tuple(
        (key, part) for key, part in parts.items() if key in ("passes", "found") or f"{{{key}}}" in text
    )


def runnable() -> list[str]:
    """All but the fragments: those begin with a condition, or are an item of a list."""
    return [
        name
        for name in statements().names()
        if name not in FRAGMENTS and not re.match(r"(--.*\n)*(AND|\()", statements()[name])
    ]


def test_no_two_statements_share_a_name() -> None:
    headings = [
        heading
        for file in HERE.glob("*.sql")
        for heading in re.findall(r"^-- (\w+) --$", file.read_text(encoding="utf-8"), re.MULTILINE)
    ]
    assert len(headings) == len(set(headings)) == len(statements().names())


def test_parameters_become_those_of_psycopg() -> None:
    assert with_parameters("a = ? AND b = ?::text[] AND c = :name") == (
        "a = %(p1)s AND b = %(p2)s::text[] AND c = %(name)s"
    )
    assert with_parameters("x LIKE '%?:y' AND ?2 % :n::int") == "x LIKE '%%?:y' AND %(p2)s %% %(n)s::int"


@pytest.mark.parametrize("name", runnable())
def test_postgres_statement_names_its_bank_for_every_table(name: str) -> None:
    text = compiled(name, parts_of(name))
    assert "%(bank)s" in text
    named = set(re.findall(r"(?:FROM|JOIN|INTO|UPDATE|USING) \"?(\w+)", text)) & {*OF_A_BANK, *ASIDE}
    mentions = len(re.findall(r"\bbank_id\b", text))
    assert named, "a statement is about tables"
    assert mentions >= len(re.findall(rf"(?:FROM|JOIN|INTO|UPDATE|USING) (?:{'|'.join(named)})\b", text))


@pytest.mark.parametrize("name", sorted(set(of_sqlite().names()) - FRAGMENTS - ONLY_SQLITE))
def test_both_databases_have_a_statement_with_the_same_parameters(name: str) -> None:
    if name.startswith("index_"):
        pytest.skip("the index in memory is SQLite's")
    ours = set(re.findall(r"%\((\w+)\)s", compiled(name, parts_of(name)))) - {"bank"}
    theirs = set(re.findall(r"%\((\w+)\)s", with_parameters(of_sqlite().text(name, parts_of(name)))))
    assert ours <= theirs
    assert theirs - ours <= {"terms"}, "PostgreSQL posts terms by themselves"


def numbered(text: str) -> str:
    """A statement of psycopg as PREPARE reads it."""
    places: dict[str, int] = {}
    found = re.sub(r"%\((\w+)\)s", lambda match: f"${places.setdefault(match[1], len(places) + 1)}", text)
    return found.replace("%%", "%")


def test_postgres_understands_every_statement(postgres: str) -> None:
    wrong = {}
    with PostgresBanks(postgres).connect("ana").use() as sql:
        for name in runnable():
            try:
                sql.raw.execute(f"PREPARE asked AS {numbered(compiled(name, parts_of(name)))}".encode())
                sql.raw.execute("DEALLOCATE asked")
            except Exception as error:
                wrong[name] = str(error)
    assert wrong == {}


def test_every_table_of_postgres_belongs_to_banks(postgres: str) -> None:
    with PostgresBanks(postgres).connect("ana").use() as sql:
        tables = {
            row[0] for row in sql.raw.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'everwhen'")
        }
        assert tables == {*OF_A_BANK, *ASIDE}
        indexes = sql.raw.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'everwhen' "
            "AND tablename NOT IN ('banks', 'migrations', 'answers', 'servers') AND indexdef !~ '\\(bank_id'"
        ).fetchall()
        assert indexes == []
        counted = {
            row[0] for row in sql.raw.execute("SELECT name FROM counters WHERE bank_id = %s", (sql.bank,))
        }
        assert counted == set(COUNTERS)
        numbered = {
            row[0]
            for row in sql.raw.execute(
                "SELECT table_name FROM information_schema.columns "
                "WHERE table_schema = 'everwhen' AND column_name = 'seq'"
            )
        }
        assert numbered == set(NUMBERED)


def test_every_table_of_a_bank_can_be_distributed_by_bank(postgres: str) -> None:
    """As Citus asks for: unique keys and exclusions have the bank, references stay in it, rows can be told apart."""
    with PostgresBanks(postgres).connect("ana").use() as sql:
        keyed = {row[0] for row in sql.raw.execute(_KEYED)}
        assert set(DISTRIBUTED) == keyed == {*OF_A_BANK, "posting_totals", "counters"}
        references = sql.raw.execute(_REFERENCES).fetchall()
    for table, target, text in references:
        assert target in REFERENCE or text.startswith("FOREIGN KEY (bank_id,"), (table, text)
        assert target in REFERENCE or DISTRIBUTED.index(target) <= DISTRIBUTED.index(table), (table, target)


_KEYED = """
SELECT c.conrelid::regclass::text FROM pg_constraint c
WHERE c.connamespace = 'everwhen'::regnamespace AND c.contype = 'p'
  AND (SELECT attname FROM pg_attribute WHERE attrelid = c.conrelid AND attnum = c.conkey[1]) = 'bank_id'
  AND c.conrelid <> 'banks'::regclass
"""
_REFERENCES = """
SELECT conrelid::regclass::text, confrelid::regclass::text, pg_get_constraintdef(oid) FROM pg_constraint
WHERE connamespace = 'everwhen'::regnamespace AND contype = 'f'
"""
