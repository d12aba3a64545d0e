"""The command line as a person and as a script meet it: output, JSON, exit codes, one-line errors."""

from __future__ import annotations

import json
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from everwhen import Memory, __version__
from everwhen.cli.app import hoisted, main, run


class Shell:
    """Runs a command in this process, with the fake embedder, and keeps what it printed."""

    def __init__(self, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys

    def __call__(self, *arguments: str) -> tuple[int, str, str]:
        code = run(list(arguments))
        out, err = self._capsys.readouterr()
        return code, out, err

    def json(self, *arguments: str) -> Any:
        code, out, err = self(*arguments, "--json")
        assert (code, err) == (0, "")
        return json.loads(out)


@pytest.fixture
def shell(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    monkeypatch.setenv("EVERWHEN_EMBEDDER", "fake")
    monkeypatch.setenv("EVERWHEN_READER", "none")
    return Shell(capsys)


def test_the_version_is_told(shell: Shell) -> None:
    assert shell("--version") == (0, f"everwhen {__version__}\n", "")


def test_add_and_recall_go_together(shell: Shell) -> None:
    code, out, _ = shell("add", "I play the violin", "--name", "Ana", "--at", "2025-03-03T10:00:00Z")
    assert code == 0 and "remembered 1 turn in session 2025-03-03" in out
    code, out, _ = shell("recall", "who plays the violin", "--explain")
    assert code == 0
    assert "Mon 03 Mar 2025 10:00" in out and "Ana: I play the violin" in out and "keyword #1" in out


def test_json_has_the_shape_of_the_contract(shell: Shell) -> None:
    added = shell.json("add", "violin", "--session", "s1", "--at", "2025-03-03T10:00:00+01:00")
    assert added["session"] == "s1" and len(added["turns"]) == 1
    found = shell.json("recall", "violin")
    (memory,) = found["memories"]
    assert memory["said_at"] == "2025-03-03T09:00:00Z"
    assert memory["turns"] == added["turns"] and memory["why"]["ranks"]["keyword"] == 1
    assert {"tokens", "trace", "dropped", "query"} <= found.keys()
    assert shell.json("show", "turns")[0]["text"] == "violin"
    assert shell.json("show", "sessions")[0]["turns"] == 1
    assert shell.json("show", "grep", "VIO")[0]["spans"] == [[0, 3]]
    assert shell.json("bank", "stats")["turns"] == 1
    assert shell.json("bank", "list")[0]["bank"] == "default"
    assert shell.json("bank", "doctor") == []


def test_shared_options_work_before_and_after_the_command(shell: Shell, tmp_path: Path) -> None:
    home = str(tmp_path / "elsewhere")
    assert shell("--home", home, "-b", "a", "add", "violin")[0] == 0
    assert shell.json("bank", "stats", "--bank", "a", f"--home={home}")["turns"] == 1
    assert hoisted(["recall", "q", "--json", "--", "--bank"]) == ["--json", "recall", "q", "--", "--bank"]


def test_a_window_keeps_out_what_was_said_at_other_times(shell: Shell) -> None:
    for day in ("01", "05", "09"):
        shell("add", f"violin on {day}", "--at", f"2025-03-{day}T10:00:00Z")
    found = shell.json("recall", "violin", "--between", "2025-03-04T00:00:00Z", "2025-03-06T00:00:00Z")
    assert [memory["text"] for memory in found["memories"]] == ["violin on 05"]
    assert len(shell.json("show", "turns", "--between", "2025-03-04T00:00:00Z", "2025-03-10T00:00:00Z")) == 2


def test_an_empty_bank_has_no_events_since_nothing_is_remembered(shell: Shell) -> None:
    shell("facts", "assert", "Ana", "likes", "tea")
    assert shell("show", "events") == (0, "nothing is remembered yet\n", "")
    shell("add", "hello")
    assert shell("show", "events") == (0, "no such event\n", "")


def test_a_window_is_one_expression_or_two_times(shell: Shell) -> None:
    for day in ("2025-03-01", "2025-03-05", "2025-04-09"):
        shell("add", f"violin on {day}", "--at", f"{day}T10:00:00Z")

    def within(*window: str) -> set[str]:
        found = shell.json("recall", *window, "violin")["memories"]
        return {memory["text"].removeprefix("violin on 2025-") for memory in found}

    assert within("--between", "March 2025") == within("--between=March 2025") == {"03-01", "03-05"}
    assert within("--between", "2025-03-04..2025-04-30") == {"03-05", "04-09"}
    assert within("--between", "2025-03-04", "April 2025") == {"03-05", "04-09"}
    assert within("--between", "2025-03-04..") == {"03-05", "04-09"}
    assert within("--between", "..2025-03-04") == {"03-01"}
    code, out, _ = shell("forget", "--between", "March 2025", "--dry-run")
    assert code == 0 and "would be deleted: 2 turns" in out
    assert shell("recall", "violin", "--between", "soon enough")[0] == 2


@pytest.mark.parametrize(
    ("arguments", "code", "sentence"),
    [
        (["recall", "x", "--bank", "nobody"], 3, "there is no bank 'nobody'"),
        (["recall", "x", "--bank", "../../etc"], 2, "is not a bank name"),
        (["add", "  "], 2, "the text is empty"),
        (
            ["add", "x", "--role", "wizard"],
            2,
            "unknown role 'wizard'; use one of user, assistant, system, tool",
        ),
        (["add", "x", "--zone", "Moon/Sea"], 2, "unknown zone 'Moon/Sea'"),
        (["frobnicate"], 2, "No such command 'frobnicate'"),
        (["recall"], 2, "Missing argument"),
        (["import", "nowhere.json"], 3, "there is no file nowhere.json"),
        (["bench", "locomo", "--data", "nowhere.json"], 3, "there is no file nowhere.json"),
        (["bank", "reembed", "nobody", "--model", "fake"], 3, "there is no bank 'nobody'"),
        (["forget", "--everything", "--bank", ""], 2, "--bank is empty; leave it out"),
        (["add", "x", "--home="], 2, "--home is empty; leave it out"),
        (
            ["recall", "x", "--max-tokens", "few"],
            2,
            "max_tokens must be a whole number, not 'few'",
        ),
        (["recall", "x", "--sideways"], 2, "No such option: --sideways. Try"),
        (
            ["recall", "x", "y"],
            2,
            "'everwhen recall' takes QUERY and nothing more: put several words into quotes (y).",
        ),
        (["bank", "stats", "ana"], 2, "'everwhen bank stats' takes no words (ana). Try"),
        (
            ["timeline", "Ana"],
            2,
            "'everwhen timeline' takes no words (Ana), only options: --about, --between,",
        ),
        (
            ["forget", "nuts"],
            2,
            "only options: --turn, --session, --entity, --between, --everything, --dry-run, "
            "--yes. `everwhen show grep WORD` shows the ids of turns. Try",
        ),
        (
            ["bank", "restore", __file__],
            5,
            "is no backup of a bank; name a file that `everwhen bank backup` wrote",
        ),
    ],
)
def test_mistakes_get_one_line_with_the_fix_and_a_code(
    shell: Shell, arguments: list[str], code: int, sentence: str
) -> None:
    got, out, err = shell(*arguments)
    assert (got, out) == (code, "")
    assert sentence in err and err.startswith("everwhen: ") and err.count("\n") == 1
    got, out, err = shell(*arguments, "--json")
    assert got == code and json.loads(err)["error"]["exit_code"] == code


def test_a_setting_that_is_wrong_is_named(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERWHEN_BATCH", "many")
    code, _, err = shell("add", "violin")
    assert code == 2 and "EVERWHEN_BATCH" in err and "'many'" in err


def test_files_are_imported_once(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    file.write_text(
        '{"role": "user", "content": "I play the violin", "timestamp": "2025-03-03T10:00:00Z"}\n'
        '{"role": "assistant", "content": "Lovely", "timestamp": "2025-03-03T10:01:00Z"}\n'
    )
    assert shell.json("import", str(file))["new"] == 2
    assert shell.json("import", str(file))["new"] == 0
    assert shell.json("recall", "violin")["memories"][0]["text"] == "I play the violin"


def test_several_conversations_become_a_bank_each_or_one(shell: Shell, tmp_path: Path) -> None:
    def sample(name: str, text: str) -> dict[str, Any]:
        said = [{"speaker": "Ana", "dia_id": "D1:1", "text": text}]
        talk = {"speaker_a": "Ana", "speaker_b": "Ben", "session_1_date_time": "1:00 pm on 3 March, 2025"}
        return {"sample_id": name, "conversation": {**talk, "session_1": said}, "qa": []}

    file = tmp_path / "talks.json"
    file.write_text(json.dumps([sample("one", "I play the violin"), sample("two", "I bake bread")]))
    assert shell.json("import", str(file))["banks"] == {"one": 1, "two": 1}
    for bank, text in (("one", "I play the violin"), ("two", "I bake bread")):
        found = shell.json("recall", "do I bake or play", "--bank", bank)["memories"]
        assert [one["text"] for one in found] == [text]
    assert shell.json("import", str(file), "--bank", "all")["banks"] == {"all": 2}
    assert {session["id"] for session in shell.json("show", "sessions", "--bank", "all")} == {
        "one/session_1",
        "two/session_1",
    }


def test_a_broken_file_keeps_what_came_before_and_names_the_line(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "talk.jsonl"
    for bank, broken in (
        ("utf8", b'{"role": "user", "content": "caf\xe9"}'),
        ("json", b'{"role": "user", }'),
    ):
        file.write_bytes(b'{"role": "user", "content": "fine"}\n' + broken + b"\n")
        code, _, err = shell("import", str(file), "--format", "jsonl", "--bank", bank)
        assert code == 2 and "line 2" in err
        assert [turn["text"] for turn in shell.json("show", "turns", "--bank", bank)] == ["fine"]


def test_an_id_with_other_words_is_reported_and_not_overwritten(shell: Shell, tmp_path: Path) -> None:
    for name, text in (("a", "one"), ("b", "two")):
        file = tmp_path / f"{name}.jsonl"
        file.write_text(json.dumps({"id": "1", "role": "user", "content": text}) + "\n")
        code, out, _ = shell("import", str(file))
    assert code == 1 and "1 messages were left out" in out
    assert [turn["text"] for turn in shell.json("show", "turns")] == ["one"]


def test_what_is_remembered_is_printed_and_never_obeyed(shell: Shell) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J [bold]x[/bold] [/none] \u202eabc"
    assert shell("add", evil, "--session", "[/red]\x1b[31m", "--name", "[b]\x9b")[0] == 0
    for command in (
        ["show", "turns"],
        ["show", "sessions"],
        ["recall", "owned"],
        ["show", "grep", "owned"],
        ["show", "grep", "[/zzz]\x1b[2J"],
    ):
        code, out, _ = shell(*command)
        assert code == 0
        assert not set(out) & set("\x1b\x07\x9b\u202e"), command
    assert "[bold]x[/bold]" in shell("show", "turns")[1]
    assert "\x1b" not in shell("recall", "x", "--bank", "\x1b[2J")[2]


def test_as_of_a_day_includes_that_day(shell: Shell) -> None:
    shell("add", "violin", "--at", "2025-03-10T15:00:00Z")
    assert len(shell.json("recall", "violin", "--as-of", "2025-03-10")["memories"]) == 1
    assert len(shell.json("recall", "violin", "--as-of", "2025-03-09")["memories"]) == 0


def test_an_import_leaves_the_zone_of_the_bank_alone(shell: Shell, tmp_path: Path, home: Path) -> None:
    with Memory.open(home, "z", zone="Europe/Lisbon"):
        pass
    file = tmp_path / "talk.jsonl"
    file.write_text('{"role": "user", "content": "hi", "timestamp": "2025-06-01T10:00:00"}\n')
    assert shell("import", str(file), "--bank", "z", "--zone", "Asia/Tokyo")[0] == 0
    (turn,) = shell.json("show", "turns", "--bank", "z")
    assert (turn["said_at"], turn["zone"]) == ("2025-06-01T01:00:00Z", "Asia/Tokyo")
    with Memory.open(home, "z") as memory:
        assert memory.zone == "Europe/Lisbon"


def test_odd_files_in_the_folder_do_not_hide_the_banks(shell: Shell, home: Path) -> None:
    shell("add", "violin", "--bank", "good")
    (home / "banks" / "a b.db").touch()
    (home / "banks" / "gone.db").symlink_to("/nonexistent/x.db")
    (home / "banks" / "folder.db").mkdir()
    assert [one["bank"] for one in shell.json("bank", "list")] == ["good"]
    assert shell("add", "x", "--bank", "gone")[0] == 4
    assert shell("recall", "x", "--bank", "folder")[0] in (4, 5, 6)


def test_banks_tells_their_size_and_a_slip_in_a_name_makes_nothing(
    shell: Shell, home: Path, tmp_path: Path
) -> None:
    shell("add", "violin", "--bank", "Good")
    with Memory.open(home, "Good", embedder="fake", reader="none", cache_entries=0, extract="none") as memory:
        memory.add("and more of it")
        (one,) = shell.json("bank", "list")
        assert one["bytes"] == memory.stats().bytes > (home / "banks" / "Good.db").stat().st_size
    code, _, err = shell("add", "violin", "--bank", "good")
    assert code == 2 and "there is a bank 'Good'" in err
    for command in (("bank", "export"), ("bank", "backup"), ("bank", "salvage")):
        code, _, err = shell(*command, str(tmp_path / "no" / "out"), "--bank", "Good")
        assert code == 2 and "there is no folder" in err, command
    assert not (tmp_path / "no").exists()


def test_reembed_leads_out_of_any_setting(shell: Shell) -> None:
    shell("add", "violin", "--bank", "z")
    assert shell("bank", "reembed", "z", "--model", "conversation-1")[0] == 0
    assert shell("recall", "violin", "--bank", "z")[0] == 4  # EVERWHEN_EMBEDDER says fake
    assert shell("bank", "reembed", "z", "--model", "fake")[0] == 0
    assert shell("recall", "violin", "--bank", "z")[0] == 0


def test_a_damaged_bank_is_reported_with_code_five(shell: Shell, home: Path) -> None:
    (home / "banks").mkdir(parents=True)
    (home / "banks" / "default.db").write_bytes(b"not a database at all, really" * 100)
    code, _, err = shell("recall", "x")
    assert code == 5 and "is damaged" in err


def test_doctor_fails_when_something_is_wrong_and_mends_it(shell: Shell, home: Path) -> None:
    shell("add", "violin")
    with sqlite3.connect(home / "banks" / "default.db") as sql:
        sql.execute("UPDATE units SET terms = x''")
    sql.close()
    code, out, _ = shell("bank", "doctor")
    assert code == 1 and "other search terms" in out
    assert shell("bank", "doctor", "--fix")[0] == 0
    assert shell("bank", "doctor")[1].strip() == "bank default is sound"


def test_a_closed_pipe_ends_the_command_in_silence() -> None:
    code = "from everwhen.cli.app import main; main(['--help'])"
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None and process.stderr is not None
    process.stdout.close()  # before it has written anything
    assert process.stderr.read() == "" and process.wait() == 0


def test_a_closed_output_is_no_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("everwhen.cli.app.end_at_once_on_ctrl_c", lambda: None)
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(SystemExit) as end:
        main(["time", "resolve", "today"])
    assert end.value.code == 0 and capsys.readouterr().err == ""


def test_without_a_command_the_help_is_shown_line_by_line(shell: Shell) -> None:
    for arguments in ([], ["facts"]):
        code, out, err = shell(*arguments)
        assert (code, out) == (2, "") and err.startswith("Usage: everwhen") and err.count("\n") > 10


def test_what_does_not_fit_is_told_apart_from_what_is_not_there(shell: Shell) -> None:
    shell("add", "I play the violin")
    code, out, _ = shell("recall", "violin", "--max-tokens", "3")
    assert code == 0 and "none of 1 memories is short enough; allow more tokens with --max-tokens" in out


def test_help_is_quick_to_load() -> None:
    code = (
        "import sys; from everwhen.cli.app import run; run(['--help']);"
        "print([m for m in ('numpy', 'onnxruntime', 'spacy', 'pydantic_settings') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip().endswith("[]")


@pytest.mark.parametrize(
    "command",
    [
        ["time", "resolve", "last spring", "--at", "2025-03-03"],
        ["recall", "violin"],
        ["show", "grep", "violin"],
        ["show", "turns"],
        ["show", "sessions"],
        ["show", "context", "violin"],
        ["bank", "list"],
        ["bank", "stats"],
        ["bank", "zone"],
        ["forget", "--everything", "--dry-run"],
    ],
)
def test_quiet_leaves_the_result_and_takes_remarks_away(shell: Shell, command: list[str]) -> None:
    assert shell("-q", "add", "I play the violin", "--at", "2025-03-03T10:00:00Z") == (0, "", "")
    code, loud, _ = shell(*command)
    quiet = shell("-q", *command)[1].splitlines()
    assert code == 0 and quiet and loud.splitlines()[: len(quiet)] == quiet
    assert not any("tokens" in line or "rules:" in line for line in quiet)


def test_a_turn_is_found_by_a_word_and_forgotten_by_the_id_beside_it(shell: Shell) -> None:
    shell("add", "I am allergic to nuts.", "--name", "Ana")
    shell("add", "I like rain.", "--name", "Ana")
    found = shell("show", "grep", "nuts")[1].split()[-1]
    assert shell("forget", "--turn", found, "--yes")[0] == 0
    assert "nuts" not in shell("show", "turns")[1] and "rain" in shell("show", "turns")[1]
