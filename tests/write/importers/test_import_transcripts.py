"""Transcripts of coding agents: who said what when, what tools did, and nothing that the program or a recall put in."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from everwhen import Memory
from everwhen.errors import UsageError
from everwhen.types import Message
from everwhen.write.foreign_text import LONGEST
from everwhen.write.importers.coding_agents import MOST_CALLS
from everwhen.write.importers.conversation import Conversation, ReadingOptions
from everwhen.write.importers.files import detect, read

FIXTURES = Path(__file__).parent / "fixtures"


def _read(path: Path, **options: Any) -> tuple[list[Message], Conversation]:
    (conversation,) = read(path, options=ReadingOptions(**options))
    messages = list(conversation.messages)
    counted = dict(conversation.left_out)
    assert list(conversation.messages) == messages and dict(conversation.left_out) == counted
    return messages, conversation


def _lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def _claude(text: Any, uuid: str = "u1", kind: str = "user", **more: Any) -> dict[str, Any]:
    return {
        "type": kind,
        "uuid": uuid,
        "sessionId": "s1",
        "timestamp": "2026-03-04T09:15:01Z",
        "message": {"role": kind, "content": text},
        **more,
    }


class TestClaudeCode:
    def test_what_people_agents_and_tools_said_arrives_with_time_and_place(self) -> None:
        told, conversation = _read(FIXTURES / "claude-code.jsonl")
        assert detect(FIXTURES / "claude-code.jsonl") == conversation.name == "claude-code"
        assert [(one.id, one.role, one.speaker, one.text) for one in told] == [
            ("u1", "user", "user", "Which port does staging use now? I will be in Leeds until Friday."),
            ("a1", "assistant", "assistant", "I will check the configuration."),
            (
                "u2/1",
                "tool",
                "Bash",
                '[call: Bash {"command": "grep -n port deploy/staging.toml", "description": "find the port"}]\n'
                "3:port = 8443\nowner lives in Porto",
            ),
            ("a2", "assistant", "assistant", "The file deploy/staging.toml agrees, line 3."),
            ("a4", "assistant", "assistant", "Shall I write to him?"),
            ("u8", "user", "user", "Yes, write to Ben.\n[image]"),
            ("u8b", "user", "user", "And tell Carla, too."),
        ]
        assert told[0].said_at == datetime(2026, 3, 4, 9, 15, 1, 250_000, tzinfo=UTC)
        assert told[0].metadata == {"cwd": "/home/ana/harbour", "gitBranch": "main"}
        assert {one.session for one in told} == {"6f0c1f34-1111-4222-8333-aaaaaaaaaaaa"}
        assert conversation.left_out == {
            "lines that are no messages (settings, titles, snapshots)": 5,
            "thoughts of the model": 1,
            "answers and repetitions of what a recall had given back": 1,
            "messages that the program wrote itself (instructions, reminders, commands)": 5,
            "messages between an agent and its helpers": 1,
            "summaries of what the transcript holds itself": 1,
            "calls of tools without a result": 1,
        }

    def test_without_the_echo_filter_repetitions_are_kept(self) -> None:
        told, _ = _read(FIXTURES / "claude-code.jsonl", echo_words=0)
        assert any(one.text.startswith("Staging listens on port 8443") for one in told)

    def test_html_that_a_person_pasted_is_no_markup_of_the_program(self, tmp_path: Path) -> None:
        told, _ = _read(_lines(tmp_path / "a.jsonl", _claude("<div>Why is this red?</div>")))
        assert [one.text for one in told] == ["<div>Why is this red?</div>"]

    def test_long_output_and_long_code_keep_their_beginning_and_their_end(self, tmp_path: Path) -> None:
        output = "first line\n" + "x" * 50_000 + "\nlast line"
        code = f"Look:\n```\n{output}\n```\nIs it right?"
        result = [{"type": "tool_result", "tool_use_id": "t", "content": output}]
        told, _ = _read(_lines(tmp_path / "a.jsonl", _claude(result), _claude(code, "u2")))
        for one in told:
            assert "first line" in one.text and "last line" in one.text and "characters left out" in one.text
            assert len(one.text) < LONGEST + 100
        assert told[1].text.startswith("Look:") and told[1].text.endswith("Is it right?")

    def test_a_line_that_is_still_being_written_is_left_out_and_comes_with_the_next_import(
        self, tmp_path: Path
    ) -> None:
        path = _lines(tmp_path / "a.jsonl", _claude("One."), _claude("Two.", "u2"))
        whole = path.read_text()
        path.write_text(whole[:-30])
        told, conversation = _read(path)
        assert [one.text for one in told] == ["One."]
        assert conversation.left_out == {"lines that are not complete": 1}
        path.write_text(whole)
        assert [one.id for one in _read(path)[0]] == ["u1", "u2"]

    def test_lines_without_an_id_get_one_that_stays(self, tmp_path: Path) -> None:
        path = _lines(tmp_path / "a.jsonl", _claude("One.", ""), _claude("One.", ""))
        first, second = _read(path)[0]
        assert first.id and second.id and first.id != second.id
        assert [one.id for one in _read(path)[0]] == [first.id, second.id]

    def test_calls_that_never_end_do_not_pile_up(self, tmp_path: Path) -> None:
        calls = [
            _claude([{"type": "tool_use", "id": str(n), "name": "Bash", "input": {}}], f"a{n}", "assistant")
            for n in range(MOST_CALLS + 5)
        ]
        told, conversation = _read(_lines(tmp_path / "a.jsonl", *calls))
        assert told == [] and conversation.left_out == {"calls of tools without a result": MOST_CALLS + 5}

    def test_a_zone_that_is_told_is_where_it_was_said(self) -> None:
        assert {one.zone for one in _read(FIXTURES / "claude-code.jsonl", zone="Asia/Tokyo")[0]} == {
            "Asia/Tokyo"
        }


class TestCodex:
    def test_what_people_agents_and_tools_said_arrives_with_time_and_place(self) -> None:
        told, conversation = _read(FIXTURES / "codex.jsonl")
        assert detect(FIXTURES / "codex.jsonl") == conversation.name == "codex"
        session = "01a1e93b-2222-7f42-ba47-bbbbbbbbbbbb"
        assert [(one.id, one.role, one.speaker, one.text) for one in told] == [
            (f"{session}:6", "user", "user", "Run the tests, please. We dropped Celery last week."),
            (f"{session}:11", "tool", "exec_command", '[call: exec_command {"cmd": "pytest -q"}]\n3 passed'),
            (
                f"{session}:13",
                "tool",
                "apply_patch",
                "[call: apply_patch *** Begin Patch\n*** End Patch]\nSuccess",
            ),
            (f"{session}:15", "assistant", "assistant", "All three tests pass."),
            (f"{session}:17", "user", "user", "Thanks. Ben takes over on Monday."),
        ]
        assert told[0].said_at == datetime(2026, 3, 5, 17, 40, 2, 100_000, tzinfo=UTC)
        assert {one.zone for one in told} == {"Europe/Lisbon"}
        assert told[0].metadata == {"cwd": "/home/ana/harbour", "gitBranch": "main"}
        assert conversation.left_out == {
            "lines that are no messages (settings, titles, snapshots)": 7,
            "thoughts of the model": 1,
            "messages that the program wrote itself (instructions, reminders, commands)": 3,
            "calls of tools without a result": 1,
        }

    def test_files_of_before_autumn_2025_stand_where_their_session_began(self, tmp_path: Path) -> None:
        rows = [
            {"id": "old", "timestamp": "2025-06-01T08:00:00.000Z", "instructions": None, "git": {}},
            {"record_type": "state"},
            {"type": "message", "role": "user", "content": "<user_instructions>\nx\n</user_instructions>"},
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello"}]},
            {"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls"]}},
            {"type": "function_call_output", "call_id": "c", "output": '{"output": "a.py"}'},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi"}]},
        ]  # fmt: skip
        path = _lines(tmp_path / "rollout.jsonl", *rows)
        assert detect(path) == "codex"
        told, _ = _read(path)
        assert [(one.role, one.text) for one in told] == [
            ("user", "Hello"),
            ("tool", '[call: local_shell {"command": ["ls"]}]\na.py'),
            ("assistant", "Hi"),
        ]
        assert {one.said_at for one in told} == {datetime(2025, 6, 1, 8, tzinfo=UTC)}

    def test_the_answer_of_a_memory_tool_is_found_in_its_wrapping(self, tmp_path: Path) -> None:
        answer = json.dumps(
            {"memories": [{"text": "Ben owns the deploy scripts now.", "said_at": "2026-02-01T10:00:00Z"}]}
        )
        rows = [
            ("function_call_output", {"call_id": "c", "output": json.dumps([{"type": "text", "text": answer}])}),
            ("message", {"role": "assistant", "content": "Ben owns the deploy scripts now."}),
            ("message", {"role": "assistant", "content": [{"type": "output_text", "text": "Anything else?"}]}),
        ]  # fmt: skip
        lines = [
            {
                "timestamp": "2026-03-05T17:40:00Z",
                "type": "response_item",
                "payload": {"type": kind, **payload},
            }
            for kind, payload in rows
        ]
        told, conversation = _read(_lines(tmp_path / "a.jsonl", *lines))
        assert [one.text for one in told] == ["Anything else?"]
        assert conversation.left_out == {"answers and repetitions of what a recall had given back": 2}


@pytest.mark.parametrize("format", ["claude-code", "codex"])
def test_what_was_read_of_a_shorter_transcript_stays_as_it_was(tmp_path: Path, format: str) -> None:
    lines = (FIXTURES / f"{format}.jsonl").read_text().splitlines(keepends=True)
    whole, _ = _read(FIXTURES / f"{format}.jsonl")
    path = tmp_path / f"{format}.jsonl"
    for count in range(1, len(lines)):
        path.write_text("".join(lines[:count]))
        told, _ = _read(path)
        assert told == whole[: len(told)]


@pytest.mark.parametrize("format", ["claude-code", "codex"])
def test_a_first_line_that_is_no_json_is_another_kind_of_file(tmp_path: Path, format: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text("hello\n{}\n")
    (conversation,) = read(path, format)
    with pytest.raises(UsageError, match=r"a\.jsonl, line 1 is not valid JSON: Expecting value$"):
        list(conversation.messages)


def test_tool_output_and_code_are_found_and_tell_nothing_about_people(home: Path) -> None:
    """The same sentence is a fact where somebody says it, and none in code or in the output of a tool."""
    said = "Ana lives in Porto."
    with Memory.open(home, "code") as memory:
        memory.add(
            [
                {"role": "user", "name": "Ben", "content": f"Why does this print so?\n```\n{said}\n```"},
                {"role": "tool", "name": "Bash", "content": said},
            ]
        )
        memory.flush()
        assert memory.facts.current() == [] and memory.events() == []
        assert {one.speaker for one in memory.recall("Where does Ana live?")} == {"Ben", "Bash"}
    with Memory.open(home, "talk") as memory:
        memory.add({"role": "user", "name": "Ben", "content": said})
        memory.flush()
        assert [(one.subject, one.object) for one in memory.facts.current()] == [("Ana", "Porto")]
