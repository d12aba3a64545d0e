"""forget, retain, export, import, backup, restore, doctor from the command line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from everwhen import Memory
from everwhen.cli.app import run


@pytest.fixture
def said(home: Path) -> Path:
    with Memory.open(home, "default", embedder="fake", reader="none") as memory:
        memory.add(
            [
                {
                    "id": "a",
                    "name": "Ana",
                    "content": "I moved to Porto.",
                    "timestamp": "2025-05-01T09:00:00Z",
                },
                {
                    "id": "b",
                    "name": "Ben",
                    "content": "I bought a bicycle.",
                    "timestamp": "2025-05-02T09:00:00Z",
                },
                {"id": "c", "name": "Ana", "content": "Hello again.", "timestamp": "2025-05-03T09:00:00Z"},
            ],
            session="s",
        )
        memory.flush()
    return home


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_forgetting_is_looked_at_confirmed_and_done(said: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["forget", "--turn", "a"]) == 2
    assert "--yes" in capsys.readouterr().err
    assert run(["forget", "--turn", "a", "--dry-run", "--json"]) == 0
    assert printed(capsys)["turns"] == ["a"]
    assert run(["show", "turns", "--json"]) == 0 and "Porto" in capsys.readouterr().out
    assert run(["forget", "--turn", "a", "--yes"]) == 0
    assert "deleted: 1 turns" in capsys.readouterr().out
    assert run(["forget", "--between", "2025-05-02", "2025-05-02", "--yes", "--json"]) == 0
    assert printed(capsys)["turns"] == ["b"]
    assert run(["forget", "--entity", "Nobody", "--yes"]) == 3
    assert run(["forget", "--everything", "--yes"]) == 0
    assert run(["show", "turns", "--json"]) == 0
    assert "Hello" not in capsys.readouterr().out
    assert run(["forget"]) == 2


def test_a_rule_is_set_and_applied(said: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert (
        run(["bank", "retain", "--rule", "keep raw turns 30 days", "--now", "2025-06-02", "--dry-run"]) == 0
    )
    out = capsys.readouterr().out
    assert "keep raw turns 30 days" in out and "would be deleted: 2 turns" in out
    assert run(["bank", "retain", "--now", "2025-06-02", "--json"]) == 0
    assert printed(capsys)["turns"] == []  # a rule that was only tried is not set
    assert run(["bank", "retain", "--rule", "as you like", "--dry-run"]) == 2
    assert run(["bank", "retain", "--rule", "keep raw turns 30 days", "--now", "2025-06-02", "--json"]) == 0
    assert printed(capsys)["turns"] == ["a", "b"]
    assert run(["bank", "retain", "--rule", "as you like"]) == 2


def test_a_bank_goes_out_and_comes_back(
    said: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "bank.jsonl.gz")
    assert run(["bank", "export", file]) == 0
    assert run(["import", file, "--bank", "copy", "--json"]) == 0
    assert '"turns": 3' in capsys.readouterr().out
    assert run(["import", file]) == 4  # its own bank is not empty
    assert "holds memories already" in capsys.readouterr().err
    saved = str(tmp_path / "b.db")
    assert run(["bank", "backup", saved]) == 0 and run(["bank", "backup", saved]) == 4
    assert run(["bank", "backup", saved, "--overwrite"]) == 0
    capsys.readouterr()
    assert run(["bank", "restore", saved, "--bank", "third", "--json"]) == 0
    assert printed(capsys)["turns"] == 3
    assert run(["bank", "restore", saved, "--bank", "third"]) == 4
    assert run(["bank", "restore", saved, "--bank", "third", "--overwrite"]) == 0
    assert run(["bank", "doctor", "--bank", "third"]) == 0
    assert run(["bank", "export", "-", "--no-vectors"]) == 0


def test_a_damaged_bank_is_told_and_salvaged(
    said: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bank = said / "banks" / "default.db"
    raw = bytearray(bank.read_bytes())
    raw[:100] = bytes(100)
    bank.write_bytes(raw)
    assert run(["bank", "doctor"]) == 5
    assert "damaged" in capsys.readouterr().err
    out = str(tmp_path / "saved.jsonl")
    assert run(["bank", "salvage", out, "--json"]) == 0
    assert printed(capsys)["turns"] == 3
    assert run(["import", out, "--bank", "new"]) == 0


def test_forgetting_nothing_in_particular_is_asked_back(
    said: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["forget", "--yes"]) == 2
    asked_back = capsys.readouterr().err
    assert "a session" in asked_back and "everything" in asked_back and "turns=" not in asked_back


def test_a_dry_run_shows_the_first_turns_and_counts_the_rest(
    said: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with Memory.open(said, "default", embedder="fake", reader="none") as memory:
        memory.add(
            [{"name": "Ana", "content": f"Remark {n}. " + "word " * 40} for n in range(6)], at="2025-05-04"
        )
    capsys.readouterr()
    assert run(["forget", "--everything", "--dry-run"]) == 0
    counts, *turns, more = capsys.readouterr().out.splitlines()
    assert counts.startswith("would be deleted: 9 turns")
    assert turns[:2] == ["  2025-05-01 Ana: I moved to Porto.", "  2025-05-02 Ben: I bought a bicycle."]
    assert len(turns) == 5 and turns[4].endswith("word…") and more == "  and 4 more turns"
    assert run(["forget", "--turn", "a", "--dry-run", "--json"]) == 0
    assert printed(capsys)["turns"] == ["a"]
