"""`everwhen import`: every format once and again, folders, and files that are broken in each way there is."""

from __future__ import annotations

import gzip
import json
import shutil
import tracemalloc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from everwhen.cli.app import run
from everwhen.store.files import json_values
from everwhen.write.importers.conversation import ReadingOptions
from everwhen.write.importers.files import read

FIXTURES = Path(__file__).parents[1] / "write" / "importers" / "fixtures"
NEW = {
    "claude-code.jsonl": 7,
    "codex.jsonl": 5,
    "mem0.json": 3,
    "openmemory.jsonl": 1,
    "MEMORY.md": 5,
    "whatsapp-android.txt": 7,
    "whatsapp-ios.txt": 5,
}
"""New turns of each fixture."""


@pytest.fixture
def shell(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    monkeypatch.setenv("EVERWHEN_EMBEDDER", "fake")
    monkeypatch.setenv("EVERWHEN_READER", "none")

    def shell(*arguments: str) -> tuple[int, str, str]:
        code = run([*arguments, "--zone", "Europe/Lisbon"])
        return code, *capsys.readouterr()

    return shell


Shell = Callable[..., tuple[int, str, str]]


def _json(shell: Shell, *arguments: str) -> Any:
    code, out, err = shell(*arguments, "--json")
    assert (code, err) == (0, "")
    return json.loads(out)


@pytest.mark.parametrize("name", NEW)
def test_a_file_is_known_by_what_it_holds_and_imported_once(shell: Shell, tmp_path: Path, name: str) -> None:
    unnamed = shutil.copy(FIXTURES / name, tmp_path / "export.dat")
    first = _json(shell, "import", str(unnamed), "--no-wait")
    assert first["new"] == NEW[name] and first["conflicts"] == [] and first["problems"] == []
    assert _json(shell, "import", str(unnamed), "--no-wait", "--format", first["format"])["new"] == 0
    packed = tmp_path / "packed.dat"
    packed.write_bytes(gzip.compress(Path(unnamed).read_bytes()))
    assert _json(shell, "import", str(packed), "--no-wait", "--bank", "packed")["new"] == NEW[name]


def test_what_was_left_out_is_told_with_the_reason(shell: Shell) -> None:
    code, out, _ = shell("import", str(FIXTURES / "claude-code.jsonl"))
    assert code == 0 and "bank default: 7 new turns" in out
    assert "left out: thoughts of the model: 1\n" in out
    assert "left out: answers and repetitions of what a recall had given back: 1\n" in out
    told = _json(shell, "import", str(FIXTURES / "openmemory.jsonl"))
    assert told["left_out"] == {"memories that were deleted or archived": 1}


def test_notes_without_a_date_are_told_and_take_one_that_is_given(shell: Shell, tmp_path: Path) -> None:
    note = tmp_path / "CLAUDE.md"
    note.write_text("Use tabs.\n")
    code, out, _ = shell("import", str(note), "--no-wait")
    assert (
        code == 0 and "note: sections have no date of their own and count as written when the file was" in out
    )
    code, out, _ = shell("import", str(note), "--at", "2024-02-03T10:00:00Z", "--bank", "b", "--no-wait")
    assert code == 0 and "note:" not in out
    assert _json(shell, "show", "turns", "--bank", "b")[0]["said_at"] == "2024-02-03T10:00:00Z"
    lines = tmp_path / "talk.jsonl"
    lines.write_text('{"content": "Hello"}\n')
    shell("import", str(lines), "--at", "2024-02-03T10:00:00Z", "--bank", "c", "--no-wait")
    assert _json(shell, "show", "turns", "--bank", "c")[0]["said_at"] == "2024-02-03T10:00:00Z"


def test_an_order_of_dates_that_is_not_shown_is_asked_for(shell: Shell, tmp_path: Path) -> None:
    chat = tmp_path / "chat.txt"
    chat.write_text("03/04/2024, 10:00 - Ana: Hello\n")
    code, _, err = shell("import", str(chat))
    assert (
        code == 2 and "can be day/month/year or month/day/year; say which with --date-order dmy or mdy" in err
    )
    assert shell("import", str(chat), "--date-order", "dmy", "--no-wait")[0] == 0
    assert _json(shell, "show", "turns")[0]["said_at"] == "2024-04-03T09:00:00Z"
    code, _, err = shell("import", str(chat), "--date-order", "us")
    assert code == 2 and "unknown order of dates 'us'; use one of dmy, mdy, ymd" in err


HUGE = 200_000
HOSTILE: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda content: b"",
    "binary": lambda content: b"\x89PNG\r\n\x1a\n\x00\x00\x00\x0dIHDR" + bytes(range(256)),
    "utf-16": lambda content: content.decode().encode("utf-16"),
    "windows": lambda content: content.replace(b"a", b"\xe9", 9),
    "huge line": lambda content: content.replace(b"a", b"a" * HUGE, 1),
}
SENTENCES = {
    "empty": "cannot tell the format of {path}: it holds nothing; say which with --format",
    "binary": "{path} is a binary file; import reads text and JSON",
    "utf-16": "{path} is UTF-16; convert it: iconv -f UTF-16 -t UTF-8",
    "windows": " is not UTF-8; convert the file: iconv -f WINDOWS-1252 -t UTF-8",
    "huge line": " is longer than 0.1 MB, the most that one record may have",
}


@pytest.mark.parametrize("way", HOSTILE)
@pytest.mark.parametrize("name", NEW)
def test_a_hostile_file_is_one_sentence_and_leaves_a_bank_that_works(
    shell: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, way: str
) -> None:
    monkeypatch.setattr(json_values, "LARGEST_RECORD", HUGE // 2)
    path = tmp_path / "export.dat"
    path.write_bytes(HOSTILE[way]((FIXTURES / name).read_bytes()))
    code, out, err = shell("import", str(path), "--no-wait")
    assert code == 2 and out == ""
    assert SENTENCES[way].format(path=path) in err and err.count("\n") == 1
    assert shell("import", str(FIXTURES / name), "--no-wait")[0] == 0
    assert _json(shell, "import", str(FIXTURES / name), "--no-wait")["new"] == 0


@pytest.mark.parametrize(
    ("name", "code", "told"),
    [
        ("claude-code.jsonl", 0, "left out: lines that are not complete: 1\n"),
        ("codex.jsonl", 0, "left out: lines that are not complete: 1\n"),
        ("mem0.json", 2, "export.dat, line 40 is not valid JSON"),
        ("openmemory.jsonl", 2, "export.dat, line 2 is not valid JSON"),
        ("MEMORY.md", 0, "bank default: 5 new turns"),
        ("whatsapp-android.txt", 0, "bank default: 7 new turns"),
        ("whatsapp-ios.txt", 0, "bank default: 4 new turns"),
    ],
)
def test_a_file_that_was_cut_off_gives_what_it_has_or_one_sentence_with_the_place(
    shell: Shell, tmp_path: Path, name: str, code: int, told: str
) -> None:
    path = tmp_path / "export.dat"
    content = (FIXTURES / name).read_bytes()
    path.write_bytes(content[: -len(content.splitlines()[-1]) // 2 - 2])
    found, out, err = shell("import", str(path), "--no-wait")
    assert found == code and told in (err if code else out)
    assert (err if code else out.splitlines()[0] + "\n").count("\n") == 1


def test_a_message_without_end_is_no_chat(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_text("13/04/2024, 10:00 - Ana: Hello\n" + ("x" * 99 + "\n") * 51_000)
    code, _, err = shell("import", str(path))
    assert code == 2 and "line 1: the message has more than 5 MB; it is no chat" in err


def test_an_import_that_broke_off_goes_on_where_it_stopped(shell: Shell, tmp_path: Path) -> None:
    path = tmp_path / "memories.jsonl"
    rows = [{"id": f"m{n}", "memory": f"memory {n}", "created_at": "2025-05-02T09:00:00Z"} for n in range(3)]
    path.write_text(json.dumps(rows[0]) + "\n{broken\n")
    code, _, err = shell("import", str(path), "--no-wait")
    assert code == 2 and "line 2 is not valid JSON" in err
    path.write_text("\n".join(map(json.dumps, rows)))
    assert _json(shell, "import", str(path), "--no-wait")["new"] == 2


class TestFolder:
    def test_all_files_of_a_folder_go_into_one_bank(self, shell: Shell, tmp_path: Path) -> None:
        for name in NEW:
            place = tmp_path / "history" / Path(name).stem
            place.mkdir(parents=True)
            shutil.copy(FIXTURES / name, place)
        (tmp_path / "history" / "package.json").write_text('{"version": 1}')
        (tmp_path / "history" / "photo.jpg").write_bytes(b"\xff\xd8\x00")
        hidden = tmp_path / "history" / ".git"
        hidden.mkdir()
        (hidden / "notes.md").write_text("# Hidden\nnothing")
        told = _json(shell, "import", str(tmp_path / "history"), "--no-wait")
        assert told["banks"] == {"default": sum(NEW.values())}
        assert told["left_out"]["files of another kind"] == 1
        assert set(told["format"].split(", ")) == {"claude-code", "codex", "mem0", "markdown", "whatsapp"}
        assert _json(shell, "import", str(tmp_path / "history"), "--no-wait")["new"] == 0

    def test_a_broken_file_is_told_and_stops_none_of_the_others(self, shell: Shell, tmp_path: Path) -> None:
        for n in range(7):
            (tmp_path / f"a{n}.json").write_text('[{"memory": "x"')
        (tmp_path / "z.md").write_text("# Boat\nIt is blue.\n")
        code, out, _ = shell("import", str(tmp_path), "--no-wait")
        assert code == 1 and "bank default: 1 new turns" in out
        assert out.count("not read to its end: ") == 5 and "a0.json, line 1 is not valid JSON" in out
        assert "and 2 more files" in out

    def test_a_format_that_there_is_not_is_refused_before_any_file(
        self, shell: Shell, tmp_path: Path
    ) -> None:
        for format in ("csv", "everwhen"):
            code, _, err = shell("import", str(tmp_path), "--format", format)
            assert code == 2 and f"unknown format '{format}'; use one of auto, jsonl" in err

    def test_a_folder_with_nothing_to_read_is_not_found(self, shell: Shell, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        code, _, err = shell("import", str(tmp_path / "empty"))
        assert code == 3 and "there is nothing to import in" in err


@pytest.mark.parametrize(
    "name", ["claude-code.jsonl", "codex.jsonl", "openmemory.jsonl", "whatsapp-android.txt"]
)
def test_memory_does_not_grow_with_the_file(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    content = (FIXTURES / name).read_bytes()
    with path.open("wb") as stream:
        for _ in range(1_000_000 // len(content)):
            stream.write(content)
    tracemalloc.start()
    for conversation in read(path, options=ReadingOptions("UTC", "dmy")):
        assert sum(1 for _ in conversation.messages) > 500
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < path.stat().st_size / 2


def test_the_user_of_a_chat_gets_the_name_that_is_given(shell: Shell, tmp_path: Path) -> None:
    code, _, _ = shell("import", str(FIXTURES / "claude-code.jsonl"), "--name", "Ana")
    assert code == 0
    speakers = {(one["role"], one["speaker"]) for one in _json(shell, "show", "turns")}
    assert ("user", "Ana") in speakers and ("user", "user") not in speakers
    assert ("assistant", "assistant") in speakers
    whatsapp = str(FIXTURES / "whatsapp-ios.txt")
    before = _json(shell, "import", whatsapp, "--no-wait", "--bank", "said", "--name", "Ana")
    assert before["new"] == NEW["whatsapp-ios.txt"]
    assert {one["speaker"] for one in _json(shell, "show", "turns", "--bank", "said")} != {"Ana"}
    export = str(tmp_path / "bank.jsonl")
    assert shell("bank", "export", export)[0] == 0
    code, _, err = shell("import", export, "--bank", "copy", "--name", "Ana")
    assert code == 2 and "leave --name out" in err


def test_a_refused_import_makes_no_bank(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    chat, notes, empty = tmp_path / "chat.txt", tmp_path / "notes.md", tmp_path / "folder"
    chat.write_text("12/03/2025, 18:04 - Bea: hey are we still on for saturday\n")
    notes.write_text("# 2025-04-02\nBike serviced, 85 euros.\n")
    empty.mkdir()
    for refused, code in ((chat, 2), (notes, 2), (empty, 3)):
        assert run(["import", str(refused), "--no-wait", "--bank", "new"]) == code
    capsys.readouterr()
    assert run(["bank", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == []


def test_a_file_without_messages_says_so(shell: Shell, tmp_path: Path) -> None:
    deleted = tmp_path / "mem0.jsonl"
    lines = (FIXTURES / "openmemory.jsonl").read_text().splitlines()
    deleted.write_text("".join(f"{line}\n" for line in lines if "deleted" in line or "archived" in line))
    code, out, err = shell("import", str(deleted), "--format", "mem0")
    assert (code, err) == (0, "") and "there is no message in it to add\nleft out: memories" in out
