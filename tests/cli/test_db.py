"""Banks in PostgreSQL at the doors: `Memory.open`, `--store`, `db`, `worker`."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from psycopg.conninfo import conninfo_to_dict

from everwhen import Memory
from everwhen.cli.app import run
from everwhen.errors import Unavailable, UsageError
from everwhen.store.banks import open_banks

Said = Callable[[], str]


@pytest.fixture
def url(postgres: str) -> str:
    """The address of an empty database, as people write it."""
    part = conninfo_to_dict(postgres)
    return f"postgresql://{part['user']}:{part['password']}@{part['host']}:{part['port']}/{part['dbname']}"


def test_memory_opens_a_bank_of_a_database_by_its_address(url: str) -> None:
    with Memory.open(url, "ana", embedder="fake", extract="none") as memory:
        memory.add("I live in Leeds", session="s")
        assert memory.stats().turns == 1
    with Memory.open(url, "ana", create=False, embedder="fake", extract="none") as memory:
        assert [turn.text for turn in memory.turns()] == ["I live in Leeds"]
        assert [one.text for one in memory.recall("where do I live in Leeds?")] == ["I live in Leeds"]


def test_a_command_finds_the_bank_of_the_store(
    url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERWHEN_EMBEDDER", "fake")
    monkeypatch.setenv("EVERWHEN_HOME", str(tmp_path / "home"))
    assert run(["add", "I live in Leeds", "--bank", "ana", "--store", url, "--no-wait"]) == 0
    capsys.readouterr()
    assert run(["bank", "list", "--json", "--store", url]) == 0
    assert [one["bank"] for one in json.loads(capsys.readouterr().out)] == ["ana"]
    assert not (tmp_path / "home" / "banks").exists()
    monkeypatch.setenv("EVERWHEN_STORE", url)
    assert run(["bank", "stats", "--bank", "ana", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pending"] == 1
    assert run(["server", "worker", "--once"]) == 0
    assert "bank ana: 1 turns extracted" in capsys.readouterr().out
    assert run(["bank", "stats", "--bank", "ana", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["pending"] == 0


def test_a_worker_goes_through_the_banks_of_a_home_as_well(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERWHEN_EMBEDDER", "fake")
    monkeypatch.setenv("EVERWHEN_HOME", str(tmp_path))
    for bank in ("ana", "ben", "cleo"):
        assert (
            run(["add", "I live in Leeds", "--bank", bank, *(["--no-wait"] if bank != "cleo" else [])]) == 0
        )
    assert open_banks(tmp_path).waiting() == ["ana", "ben"]
    capsys.readouterr()
    assert run(["server", "worker", "--once"]) == 0
    assert re.findall(r"bank (\w+): 1 turns", capsys.readouterr().out) == ["ana", "ben"]
    assert open_banks(tmp_path).waiting() == []


def test_a_worker_says_which_banks_have_facts_to_verify_whatever_waits(tmp_path: Path) -> None:
    for bank, since in (("ana", "2024-01-01"), ("ben", None), ("cleo", "2024-01-01")):
        with Memory.open(tmp_path, bank, embedder="fake", extract="none") as memory:
            memory.facts.assert_("web-1", "server_config", "4 GB", valid_from=since)
    next((tmp_path / "banks").glob("ben*")).write_bytes(b"no bank at all")
    command = [sys.executable, "-m", "everwhen", "--home", str(tmp_path), "server", "worker"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        assert worker.stdout is not None
        said = [worker.stdout.readline().strip() for _ in range(2)]
        worker.terminate()
    assert said == [f"bank {bank}: 1 facts to verify" for bank in ("ana", "cleo")]


def test_db_makes_the_tables_and_says_what_there_is(
    url: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVERWHEN_STORE", url)
    assert run(["db", "init"]) == 0 and run(["db", "migrate"]) == 0
    assert "nothing to do" in capsys.readouterr().out
    assert run(["db", "check", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["missing"] == [] and found["banks"] == 0 and int(found["postgresql"]) >= 16


def test_a_database_without_citus_is_not_distributed_and_says_why(
    url: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["db", "distribute", "--store", url]) != 0
    said = capsys.readouterr().err
    assert "has no Citus: install Citus 13 or newer" in said and said.count("\n") == 1


def test_mistakes_are_one_sentence_without_the_password(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EVERWHEN_STORE", raising=False)
    assert run(["db", "check"]) == 2
    assert "--store postgresql://" in capsys.readouterr().err
    assert run(["bank", "list", "--store", "mysql://root@host/x"]) == 2
    assert "postgresql://USER@HOST/NAME" in capsys.readouterr().err
    assert run(["bank", "list", "--store", "postgresql://ana:secret@127.0.0.1:1/x"]) != 0
    said = capsys.readouterr().err
    assert "127.0.0.1:1/x cannot be reached" in said and "secret" not in said


def test_an_install_without_psycopg_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    import everwhen.store.postgres

    # The import below makes another one, which is not to stay: other tests name what is in this one.
    monkeypatch.setattr(everwhen.store, "postgres", everwhen.store.postgres)
    for name in [one for one in sys.modules if one.startswith("everwhen.store.postgres")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(Unavailable, match=r"everwhen\[postgres\]"):
        open_banks(tmp_path, store="postgresql://host/x")
    with pytest.raises(UsageError):
        open_banks(tmp_path, store="host/x")
