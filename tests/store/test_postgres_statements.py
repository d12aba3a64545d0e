"""The statements of the PostgreSQL store: they stay inside a bank, and the server understands each of them."""

from __future__ import annotations

import re

import pytest

from everwhen.store.postgres.banks import PostgresBanks
from everwhen.store.postgres.statements import compiled, statements, with_parameters
from everwhen.store.postgres.tables import COUNTERS, NUMBERED, OF_A_BANK
from everwhen.store.sqlite.statements import statements as of_sqlite

FRAGMENTS = {"fact_columns", "fact_columns_then"}
ONLY_SQLITE = {"tables", "last_number"}
PARTS = {"columns": "fact_columns", "where": "k.subject_key = :subject"}
ASIDE = {"posting_totals", "counters", "banks", "migrations"}


def parts_of(name: str) -> tuple[tuple[str, str], ...]:
    return tuple((key, part) for key, part in PARTS.items() if f"{{{key}}}" in statements()[name])


def runnable() -> list[str]:
    return sorted(set(statements().names()) - FRAGMENTS)


def test_parameters_become_those_of_psycopg() -> None:
    assert with_parameters("a = ? AND b = ?::text[] AND c = :name") == (
        "a = %(p1)s AND b = %(p2)s::text[] AND c = %(name)s"
    )
    assert with_parameters("x LIKE '%?:y' AND ?2 % :n::int") == "x LIKE '%%?:y' AND %(p2)s %% %(n)s::int"


@pytest.mark.parametrize("name", runnable())
def test_postgres_statement_names_its_bank_for_every_table(name: str) -> None:
    text = compiled(name, parts_of(name))
    assert "%(bank)s" in text
    named = set(re.findall(r"(?:FROM|JOIN|INTO|UPDATE|USING) (\w+)", text)) & {*OF_A_BANK, *ASIDE}
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
            "AND tablename NOT IN ('banks', 'migrations') AND indexdef !~ '\\(bank_id'"
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
