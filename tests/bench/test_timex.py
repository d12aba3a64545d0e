"""The timex bench: cases are loaded, scored as the data's README says, and peers stand beside us."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from everwhen import cli
from everwhen_bench import timex, timex_peers
from everwhen_bench.timex_cases import Case
from everwhen_time import parse_interval

NOW = datetime(2023, 5, 10, 12, tzinfo=UTC)
CASES = [
    {"text": "We met yesterday.", "ref": "2023-05-10T12:00:00", "accept": [["2023-05-09", "2023-05-10"]]},
    {"text": "Open since 2019.", "ref": "2023-05-10T12:00:00", "accept": [["2019-01-01", None]]},
    {"text": "It listens on port 2024.", "ref": "2023-05-10T12:00:00", "accept": []},
    {"text": "Nothing to see.", "ref": "2023-05-10T12:00:00", "accept": [["2000-01-01", "2000-01-02"]]},
]


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "cases.json"
    path.write_text(json.dumps(CASES))
    return path


def test_a_run_has_a_summary_and_one_entry_a_case(file: Path) -> None:
    result = timex.run(file)
    summary, runs = result["summary"], result["runs"]
    assert isinstance(summary, dict) and isinstance(runs, list)
    assert (summary["cases"], summary["passed"], summary["false_hits"]) == (4, 3, 0)
    assert summary["failed"] == [3]
    assert runs[0] == {"index": 0, "found": [["2023-05-09", "2023-05-10"]]}
    assert runs[1] == {"index": 1, "found": [["2019-01-01", None]]}
    assert runs[2] == {"index": 2, "found": []}
    json.dumps(result)


def test_progress_is_told(file: Path) -> None:
    told: list[tuple[int, int]] = []
    timex.run(file, progress=lambda done, total: told.append((done, total)))
    assert told == [(0, 1), (1, 1)]


def test_peers_that_are_not_installed_are_listed_with_the_reason(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    peer = timex_peers.Peer("no_such_library", lambda case: [])
    answering = timex_peers.Peer("json", lambda case: [("2023-05-09", "2023-05-10")])
    monkeypatch.setattr(timex_peers, "PEERS", {"absent one": peer, "answering": answering})
    summary = timex.run(file, peers=True)["summary"]
    assert isinstance(summary, dict)
    assert "pip install" in summary["absent"]["absent one"]
    assert (summary["peers"]["answering"]["passed"], summary["peers"]["answering"]["false_hits"]) == (1, 1)


def test_a_peer_that_raises_has_found_nothing(file: Path) -> None:
    def failing(case: Case) -> list[timex.Days]:
        raise RuntimeError("no")

    outcome = timex.measure(failing, timex.load(file))
    assert outcome.passed == [False, False, True, False]


def test_dateparser_is_asked_for_days() -> None:
    found = timex_peers.dateparser_finds(Case("We moved on 4 August 2021.", NOW))
    assert ("2021-08-04", "2021-08-05") in found


def test_intervals_are_cut_to_days() -> None:
    assert timex.days(parse_interval("2023-05-09T18:00Z/2023-05-10T06:00Z")) == ("2023-05-09", "2023-05-10")
    assert timex.days(parse_interval("2023-05-10T06:00Z/2023-05-10T12:00Z")) == ("2023-05-10", "2023-05-11")
    assert timex.days(parse_interval("2023/..")) == ("2023-01-01", None)


def test_the_table_has_a_line_for_each_library(file: Path) -> None:
    lines = timex.table([timex.run(file)]).splitlines()
    assert lines[0].startswith("| library | cases.json")
    assert lines[2].startswith("| everwhen | 75.0% (3/4) |")


SPOKEN = [
    {
        "text": "due on 3/4",
        "ref": "2023-05-10T12:00:00",
        "accept": [["2024-04-03", "2024-04-04"]],
        "lang": "en",
        "source": "own",
        "opts": {"tense": "future", "day_first": True, "file": "own.txt"},
    },
    {
        "text": "Gestern war ich krank.",
        "ref": "2023-05-10T12:00:00",
        "accept": [["2023-05-09", "2023-05-10"]],
        "lang": "de",
        "source": "own",
    },
    {
        "text": "Ieri nulla.",
        "ref": "2023-05-10T12:00:00",
        "accept": [["2000-01-01", "2000-01-02"]],
        "lang": "it",
        "source": "own",
    },
]


@pytest.fixture
def spoken(tmp_path: Path) -> Path:
    path = tmp_path / "languages.json"
    path.write_text(json.dumps(SPOKEN))
    return path


def test_what_the_caller_of_a_case_knows_is_passed_on(spoken: Path) -> None:
    first, second, _ = timex.load(spoken)
    assert (first.tense, first.day_first, first.lang, first.source) == ("future", True, "en", "own")
    assert (second.tense, second.day_first) == (None, False)
    assert timex.everwhen_finds(first) == [("2024-04-03", "2024-04-04")]
    assert timex_peers.dateparser_finds(first) == [("2024-04-03", "2024-04-04")]


def test_a_file_with_languages_gives_a_table_by_language_beside_dateparser(spoken: Path) -> None:
    result = timex.run(spoken)
    languages, failed = result["languages"], result["failures"]
    assert isinstance(languages, dict) and isinstance(failed, list)
    assert list(languages) == ["all", "en", "de", "it"]
    assert {
        (lang, row["everwhen"]["passed"], row["everwhen"]["told"]) for lang, row in languages.items()
    } == {
        ("all", 2, 2),
        ("en", 1, 1),
        ("de", 1, 1),
        ("it", 0, 0),
    }
    assert languages["de"]["dateparser"]["cases"] == 1
    assert [(one["index"], one["lang"], one["source"]) for one in failed] == [(2, "it", "own")]
    assert failed[0]["found"] == [["2023-05-09", "2023-05-10"]]
    json.dumps(result)


def test_the_command_prints_the_languages_and_what_failed(
    spoken: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    assert cli.run(["bench", "timex", "--data", str(spoken)]) == 0
    told = capsys.readouterr().out
    assert "told the language" in told and "dateparser" in told
    assert "Ieri nulla." in told and "2000-01-01/2000-01-02" in told


def test_without_languages_only_the_peers_asked_for_are_there(file: Path) -> None:
    result = timex.run(file)
    assert "languages" not in result and "peers" not in result["summary"]
