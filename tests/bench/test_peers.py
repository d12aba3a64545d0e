"""Peers beside the engine, on a conversation of our own; those that are not installed are told with the reason."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from everwhen.cli.app import run
from everwhen.errors import UsageError
from everwhen_bench.cases import bench_of, cases
from everwhen_bench.peers import ABSENT, PEERS, entry
from everwhen_bench.peers import run as runner
from everwhen_bench.peers.base import Lent, Said
from everwhen_bench.peers.dense import open_peer
from everwhen_bench.peers.worker import _is_here
from tests.bench.test_bench_locomo import SAMPLE
from tests.bench.test_bench_longmemeval import QUESTIONS


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("peers") / "locomo.json"
    path.write_text(json.dumps([SAMPLE]))
    return path


@pytest.fixture(scope="module")
def result(data: Path) -> dict[str, Any]:
    return runner.run(data, only=["everwhen", "dense", "Chroma"], python=Path(runner.sys.executable))


def test_every_peer_answers_the_same_questions(result: dict[str, Any]) -> None:
    rows = {row["peer"]: row for row in result["rows"]}
    assert {"everwhen", "dense"} <= set(rows)
    asked = {
        name: [(one["case"], one["question"]) for one in result["runs"] if one["peer"] == name]
        for name in rows
    }
    assert asked["dense"] == asked["everwhen"] and len(asked["dense"]) == result["questions"] == 3
    for row in rows.values():
        assert 0 <= row["turn"]["recall@10"] <= 1
        assert row["recall_ms"]["p50"] > 0 and row["ingest_s"] > 0 and row["rss_mb"] > 0
    assert rows["everwhen"]["installed_packages"] > 10
    assert rows["dense"]["against_everwhen"]["turn recall@10"]["interval_95"]


def test_a_peer_that_is_not_installed_is_told_with_the_reason(result: dict[str, Any]) -> None:
    told = {row["peer"] for row in result["rows"]} | set(result["absent"])
    assert "Chroma" in told
    if "Chroma" in result["absent"]:
        assert "chromadb" in result["absent"]["Chroma"]


def test_a_peer_that_does_not_exist_is_refused(data: Path) -> None:
    with pytest.raises(UsageError, match="there are: everwhen"):
        runner.run(data, only=["nobody"])


def test_a_peer_that_hangs_is_ended_and_the_others_go_on(
    data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    hanging = tmp_path / "python"
    hanging.write_text("#!/bin/sh\necho 'asked 1'\nexec sleep 600\n")
    hanging.chmod(0o755)
    monkeypatch.setattr(runner, "SILENCE", 0.2)
    told = runner.run(data, only=["dense", "Chroma"], python=hanging)
    assert told["rows"] == []
    assert all("said nothing for" in told["absent"][name] for name in ("dense", "Chroma"))


def test_those_that_cannot_be_asked_have_a_reason() -> None:
    assert all(ABSENT.values())
    assert not set(ABSENT) & {one.name for one in PEERS}
    assert entry("EVERWHEN") is PEERS[0]


def test_dense_ranks_by_cosine(tmp_path: Path, data: Path) -> None:
    (case,) = cases(data)
    peer = open_peer(tmp_path, Lent(None), "")
    peer.add([Said.of(message) for message in case.messages])
    assert peer.search("Ines: I adopted a tortoise called Basil last week.", 3, None)[0] == "D1:1"
    peer.close()


def test_cases_leave_out_what_has_no_evidence(tmp_path: Path, data: Path) -> None:
    (case,) = cases(data)
    assert [one.name for one in case.questions] == ["0", "1", "2"]
    other = tmp_path / "lme.json"
    other.write_text(json.dumps(QUESTIONS))
    assert [one.name for one in cases(other)] == ["q1", "q2"]
    assert (bench_of(data), bench_of(other)) == ("locomo", "longmemeval")
    (tmp_path / "else.json").write_text("[1]")
    with pytest.raises(UsageError, match="neither LoCoMo nor LongMemEval"):
        bench_of(tmp_path / "else.json")


def test_only_this_machine_is_here() -> None:
    assert _is_here("127.0.0.1") and _is_here("::1") and _is_here("localhost")
    assert not _is_here("93.184.216.34") and not _is_here("example.org")


def test_the_command_prints_quality_cost_and_who_is_missing(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert run(["bench", "peers", "--data", str(data), "--only", "dense"]) == 0
    printed = capsys.readouterr().out
    assert "turn recall@10" in printed and "ingest s" in printed and "dense" in printed
