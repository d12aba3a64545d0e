"""The statements of the PostgreSQL store: they stay inside a bank, and the server understands each of them."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from everwhen.store.postgres.banks import DISTRIBUTED, REFERENCE, PostgresBanks
from everwhen.store.postgres.connection import COUNTERS, NUMBERED, OF_A_BANK, PostgresConnection
from everwhen.store.postgres.search import fragment
from everwhen.store.postgres.server import HERE, Server, compiled, statements, with_parameters
from everwhen.store.sql.facts import LAST
from everwhen.store.sqlite.connection import statements as of_sqlite

FRAGMENTS = {
    "fact_columns",
    "fact_columns_then",
    "event_columns",
    "node_columns",
    "around_units",
    "around_unit",
    "cosine_of",
    "no_cosine",
    "packed_words",
    "no_words",
}
ONLY_SQLITE = {"tables", "last_number", "kept_removals", "removals_after", "last_unit", "count_units"}
PASSING = "passes_snapshot passes_start passes_end passes_known passes_kinds passes_networks passes_units passes_reach"
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
    "words": "packed_words",
    "totals": "AND NOT t.node",
    "document_frequency": "s.units",
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
OF_SERVERS = {"answers", "servers", "keys", "audit"}
ASIDE = {"posting_totals", "counters", "banks", "migrations", *OF_SERVERS}


def parts_of(name: str) -> tuple[tuple[str, str], ...]:
    text = statements()[name]
    of_units = "FROM units u" in text and not name.startswith("nearest")
    row, unit = ("u", "seq") if of_units or "{own}" in text else ("v", "unit")
    passes = " ".join(fragment(one, row=row, unit=unit) for one in PASSING.split())
    among = fragment("said_by_speakers", row="v", place=0)
    where = f"{passes} {among}"
    lists = (
        " UNION ALL\n".join(
            (
                fragment("nearest_list", place=0, among=where),
                fragment("nearest_lists_of_all_and_some", passes=passes, among=among),
                "",
            )
        )
        + fragment("nearest_list_of_index", place=1, among=where, number=1, dimension=8)
        if name.startswith("nearest")
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


@pytest.mark.parametrize("name", runnable())
def test_a_statement_has_no_form_that_citus_refuses(name: str) -> None:
    """What failed on a real Citus: each table must say by itself which bank it is asked for, before anything is run."""
    assert refused(compiled(name, parts_of(name))) == []


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("SELECT 1 FROM turns t WHERE t.bank_id = %(bank)s AND t.seq = 1", []),
        (
            "SELECT 1 FROM turns t JOIN units u ON (u.bank_id, u.turn) = (t.bank_id, t.seq) WHERE t.bank_id = %(bank)s",
            ["the bank is compared in a row", "units u does not name the bank"],
        ),
        (
            "SELECT 1 FROM turns t JOIN units u ON u.bank_id = t.bank_id AND u.turn = t.seq WHERE t.bank_id = %(bank)s",
            ["the bank comes from t.bank_id", "units u does not name the bank"],
        ),
        (
            "INSERT INTO pending (bank_id, turn) "
            "VALUES (%(bank)s, (SELECT max(seq) FROM turns WHERE bank_id = %(bank)s))",
            ["VALUES with a sub-select"],
        ),
        (
            "WITH a AS (INSERT INTO turns (bank_id) SELECT %(bank)s) INSERT INTO pending (bank_id) SELECT %(bank)s",
            ["nothing reads the insert a"],
        ),
        (
            "WITH a AS (INSERT INTO turns (bank_id) SELECT %(bank)s RETURNING 1) "
            "INSERT INTO pending (bank_id) SELECT %(bank)s FROM a",
            [],
        ),
        (
            "UPDATE turns SET facets = NULL WHERE bank_id = %(bank)s AND pg_input_is_valid(metadata, 'jsonb')",
            ["a change calls what is not immutable"],
        ),
    ],
)
def test_each_form_that_citus_refuses_is_seen(text: str, why: list[str]) -> None:
    assert refused(text) == why


def refused(text: str) -> list[str]:
    """Why Citus cannot send a statement to one machine, by the forms that it was seen to refuse."""
    found = []
    if re.search(r"\((?:\w+\.)?bank_id, [^()]*\) (?:=|<|>|IN)", text):
        found.append("the bank is compared in a row")
    compared = re.findall(r"\bbank_id = (%\(\w+\)s|[^\s)]+)", text)
    found += [f"the bank comes from {one}" for one in compared if one != "%(bank)s" and not one.isdigit()]
    table = rf"(?:FROM|JOIN|UPDATE|USING) \"?({'|'.join(DISTRIBUTED)})\b\"?(?: AS)?(?: ([a-z]\w*))?"
    read = Counter((one, alias) for one, alias in re.findall(table, text))
    for (one, alias), times in read.items():
        own = rf"\b{alias}\.bank_id" if alias else r"(?<![\w.])bank_id"
        if len(re.findall(rf"{own} = %\(bank\)s", text)) < times:
            found.append(f"{one} {alias}".strip() + " does not name the bank")
    if re.search(r"VALUES \([^;]*\(SELECT\b", text):
        found.append("VALUES with a sub-select")
    for one in (
        re.findall(r"(\w+) AS (?:MATERIALIZED )?\(\s*INSERT\b", text) if text.count("INSERT INTO") > 1 else ()
    ):
        if not re.search(rf"(?:FROM|JOIN) {one}\b", text):
            found.append(f"nothing reads the insert {one}")
    if re.search(r"\b(?:UPDATE \w+|DELETE FROM)\b", text) and "pg_input_is_valid" in text:
        found.append("a change calls what is not immutable")
    return found


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


def test_a_writer_plans_for_any_bank_but_on_citus_for_the_one_that_it_names(postgres: str) -> None:
    plain = PostgresBanks(postgres).connect("ana")
    citus = Server(postgres)
    citus._ready()
    citus.has_citus = (
        True  # as where the extension is: PostgreSQL takes settings of one that it does not know
    )
    asked = "SELECT current_setting('plan_cache_mode'), current_setting('citus.propagate_set_commands', true)"
    try:
        with plain.transaction() as sql:
            assert sql.raw.execute(asked).fetchone() == ("force_generic_plan", None)
        with PostgresConnection(citus, plain.bank, "ana").transaction() as sql:
            assert sql.raw.execute(asked).fetchone() == ("force_custom_plan", "local")
    finally:
        citus.close()


def test_loaded_turns_can_be_searched_by_the_metadata_that_postgres_can_read(postgres: str) -> None:
    given = ['{"kind": "note"}', '{"kind": "a\\u0000b"}', "{}", "no JSON"]
    columns = [
        *("seq", "id", "session", "segment", "role", "speaker"),
        *("text", "said_at", "zone", "recorded_at", "tokens", "metadata"),
    ]
    at = "2025-05-01T00:00:00.000000Z"
    with PostgresBanks(postgres).connect("ana").transaction() as sql:
        rows = [
            [seq, f"t{seq}", "s", "x", "user", "Ana", "hello", at, "UTC", at, 1, metadata]
            for seq, metadata in enumerate(given, start=1)
        ]
        sql.insert_rows("turns", columns, rows)
        found = sql.raw.execute("SELECT facets FROM turns WHERE bank_id = %s ORDER BY seq", (sql.bank,))
        assert [row[0] for row in found] == [{"kind": "note"}, None, None, None]
        assert sql.raw.execute("SELECT count(*) FROM pending WHERE bank_id = %s", (sql.bank,)).fetchone() == (
            4,
        )


def test_no_table_has_statistics_of_its_banks(postgres: str) -> None:
    with PostgresBanks(postgres).connect("ana").use() as sql:
        rows = sql.raw.execute(
            "SELECT attrelid::regclass::text FROM pg_attribute WHERE attname = 'bank_id' AND attstattarget = 0"
        ).fetchall()
    tables = {table.removeprefix("everwhen.") for (table,) in rows}
    assert {*OF_A_BANK, "posting_totals", "counters"} <= tables


def test_every_table_of_postgres_belongs_to_banks(postgres: str) -> None:
    with PostgresBanks(postgres).connect("ana").use() as sql:
        tables = {
            row[0] for row in sql.raw.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'everwhen'")
        }
        assert tables == {*OF_A_BANK, *ASIDE}
        indexes = sql.raw.execute(
            "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'everwhen' "
            "AND tablename <> ALL (%s) AND indexdef !~ '\\(bank_id'",
            (["banks", "migrations", *OF_SERVERS],),
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
