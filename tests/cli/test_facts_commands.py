"""`everwhen facts` as a person and as a script meet it."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from everwhen.cli.app import run
from everwhen.cli.printing import time_bar

LISBON = ("facts", "assert", "Marta", "lives in", "Lisbon", "--from", "2021-03-01", "--at", "2025-02-03")
PORTO = ("facts", "assert", "Marta", "moved to", "Porto", "--from", "2025-05-31", "--at", "2025-06-01")


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.setenv("EVERWHEN_EMBEDDER", "fake")
    monkeypatch.setenv("EVERWHEN_READER", "none")
    monkeypatch.setenv("COLUMNS", "140")

    def call(*arguments: str, code: int = 0) -> str:
        assert run(list(arguments)) == code
        out, err = capsys.readouterr()
        return err if code else out

    return call


def test_facts_are_told_and_asked_for(shell: Any) -> None:
    assert "Lisbon" in shell(*LISBON)
    shell(*PORTO)
    now = shell("facts", "current", "Marta")
    assert "Porto" in now and "Lisbon" not in now
    assert "Lisbon" in shell("facts", "as-of", "2025-06-15", "Marta", "--known-at", "2025-03-01")
    history = shell("facts", "history", "Marta", "lives in", "--versions")
    assert history.count("Lisbon") == 2 and "superseded" in history


def test_a_later_beginning_of_what_is_known_is_not_dropped_in_silence(shell: Any) -> None:
    assert "already known" not in shell(*LISBON)
    later = [("2023-01-01" if one == "2021-03-01" else one) for one in LISBON]
    assert "already known since 1 March 2021: that beginning was kept" in shell(*later)
    assert "already known since 1 March 2021" in json.loads(shell(*later, "--json"))["note"]


def test_every_reading_command_has_json(shell: Any) -> None:
    shell(*LISBON)
    shell(*PORTO)
    (fact,) = json.loads(shell("facts", "current", "Marta", "--json"))
    assert fact["object"] == "Porto" and fact["valid"]["start"] == "2025-05-31T00:00:00Z"
    assert len(json.loads(shell("facts", "history", "Marta", "lives in", "--json"))) == 2
    assert json.loads(shell("facts", "as-of", "2024-01-01", "--json"))[0]["object"] == "Lisbon"
    assert json.loads(shell("facts", "timeline", "Marta", "--json"))[1]["object"] == "Porto"
    assert json.loads(shell("facts", "stale", "--now", "2030-01-01", "--json"))[0]["signal"] == "age"
    assert json.loads(shell("facts", "review", "--json")) == []
    changed = json.loads(shell("facts", "diff", "2025-01-01", "2025-07-01", "--json"))["changed"]
    assert [side["object"] for side in changed[0]] == ["Lisbon", "Porto"]


def test_every_writing_command_changes_what_holds(shell: Any) -> None:
    shell(*LISBON)
    porto = json.loads(shell(*PORTO, "--json"))
    shell("facts", "confirm", porto["id"], "--at", "2025-07-01")
    shell("facts", "retract", porto["id"], "--reason", "a joke")
    assert "Lisbon" in shell("facts", "current", "Marta")
    shell("facts", "correct", "Marta", "lives in", "Gaia")
    assert "Gaia" in shell("facts", "current", "Marta")
    shell("facts", "end", "Marta", "lives in", "--on", "2025-12-01")
    assert "nothing is known" in shell("facts", "current", "Marta", "--now", "2026-01-01")
    assert "several objects" in shell("facts", "define", "drinks", "--multi", "--synonym", "sips")
    shell("facts", "assert", "Marta", "drinks", "tea")
    shell("facts", "assert", "Marta", "sips", "water")
    assert len(json.loads(shell("facts", "current", "Marta", "drinks", "--json"))) == 2


def test_a_conflict_is_shown_and_decided(shell: Any) -> None:
    for place in ("Lisbon", "Porto"):
        shell("facts", "assert", "Ana", "lives in", place, "--from", "2025-01-01")
    (conflict,) = json.loads(shell("facts", "review", "--json"))
    assert conflict["id"] in shell("facts", "review") and conflict["id"] in shell("facts", "stale")
    assert "kept: Ana lives in Porto" in shell("facts", "resolve", conflict["id"], "--keep", "Porto")
    assert "nothing to decide" in shell("facts", "review")


def test_reports_and_half_lives_make_facts_stale(shell: Any) -> None:
    shell("facts", "assert", "Ana", "works on", "Atlas", "--from", "2025-01-01", "--at", "2025-01-01")
    assert "Atlas" in shell("facts", "report-missing", "atlas", "--at", "2025-01-05")
    assert "Atlas" in shell("facts", "report-change", "Atlas", "--at", "2025-01-06")
    found = json.loads(shell("facts", "stale", "--now", "2025-01-07", "--json"))
    assert {one["signal"] for one in found} == {"context_mismatch", "external_change"}
    assert "half-life of 3 days" in shell("facts", "half-life", "project_status", "3")
    found = json.loads(shell("facts", "stale", "--now", "2025-01-07", "--json"))
    assert {one["signal"] for one in found} >= {"age"}
    assert "days must be" in shell("facts", "half-life", "project_status", "0", code=2)


def test_the_timeline_draws_bars(shell: Any) -> None:
    shell(*LISBON)
    shell(*PORTO)
    drawn = shell("facts", "timeline", "Marta", "--now", "2025-08-01").splitlines()
    lisbon, porto = (next(line for line in drawn if place in line) for place in ("Lisbon", "Porto"))
    assert lisbon.rindex("█") < porto.index("▶") and lisbon.count("█") > porto.count("█")
    assert "2021-03-01 – 2025-05-31" in lisbon and "now on" in porto
    assert "nothing is known" in shell("facts", "timeline", "Nobody")


def test_a_bar_lies_where_the_fact_holds() -> None:
    start = datetime(2025, 1, 1, tzinfo=UTC)

    def bar(begin: int, end: int | None) -> str:
        at = start + timedelta(days=begin)
        until = None if end is None else start + timedelta(days=end)
        return time_bar(at, until, start, start + timedelta(days=10), 10)

    assert bar(0, 5) == "█████     " and bar(5, 10) == "     █████"
    assert bar(5, None) == "     ████▶" and bar(10, None) == "         ▶" and bar(3, 3) == "   █      "


def test_export_writes_every_version_as_json_and_csv(shell: Any, tmp_path: Path) -> None:
    shell(*LISBON, "--source", "t1", "--source", "t2")
    shell(*PORTO)
    shell("facts", "assert", "Marta", "likes", "=1+1")
    as_json, as_csv = tmp_path / "facts.json", tmp_path / "facts.csv"
    assert "4 versions" in shell("facts", "export", str(as_json))
    shell("facts", "export", str(as_csv))
    listed = json.loads(as_json.read_text())
    rows = list(csv.DictReader(as_csv.open(newline="")))
    assert [one["id"] for one in listed] == [row["id"] for row in rows] and len(rows) == 4
    lisbon = next(row for row in rows if row["object"] == "Lisbon")
    assert (lisbon["sources"], lisbon["valid_from"]) == ("t1 t2", "2021-03-01T00:00:00Z")
    assert "'=1+1" in {row["object"] for row in rows}  # no spreadsheet takes it for a formula
    assert json.loads(shell("facts", "export", "-")) == listed
    assert "unknown format" in shell("facts", "export", "-", "--format", "xml", code=2)


def test_mistakes_have_exit_codes_and_one_line(shell: Any) -> None:
    shell(*LISBON)
    assert "confidence must be" in shell("facts", "assert", "a", "b", "c", "--confidence", "3", code=2)
    assert "unknown origin" in shell("facts", "assert", "a", "b", "c", "--origin", "rumour", code=2)
    assert "no fact" in shell("facts", "confirm", "f0", code=3)
    assert "no time" in shell("facts", "as-of", "gibberish", code=2)
    assert shell("facts", "end", "Marta", "owns", "--on", "2025-01-01", code=3).count("\n") == 1


def test_a_proposal_is_shown_confirmed_and_rejected(shell: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVERWHEN_READER")
    shell("add", "I live in Faro.", "--name", "Bea", "--at", "2025-03-01")
    for day, town in ((2, "Minsk"), (3, "Riga")):
        shell("add", f"Bea lives in {town} now.", "--role", "assistant", "--at", f"2025-03-0{day}")
    minsk, riga = json.loads(shell("facts", "review", "--json"))
    shown = shell("facts", "review")
    assert minsk["id"] in shown and "the assistant said it" in shown and "proposed" in shown
    assert minsk["id"] in shell("ask", "Where does Bea live?")
    assert "Minsk" in shell("facts", "confirm", minsk["id"], "--by", "Bea")
    shell("facts", "reject", riga["id"], "--by", "Bea")
    assert "nothing to decide" in shell("facts", "review") and "Minsk" in shell("facts", "current", "Bea")
    assert "no proposal" in shell("facts", "reject", minsk["id"], code=2)
