"""Memories of Mem0 and notes in Markdown: whose they are, and from when."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from everwhen.errors import UsageError
from everwhen.types import Message
from everwhen.write.importers.conversation import Conversation, ReadingOptions
from everwhen.write.importers.files import detect, read
from everwhen.write.importers.notes import LARGEST_SECTION, LONGEST_SECTION, UNDATED

FIXTURES = Path(__file__).parent / "fixtures"


def _read(path: Path, **options: Any) -> tuple[list[Message], Conversation]:
    (conversation,) = read(path, options=ReadingOptions(**options))
    messages = list(conversation.messages)
    assert list(conversation.messages) == messages
    return messages, conversation


class TestMem0:
    def test_each_memory_is_told_by_the_one_whose_it_is_when_its_words_were_written(self) -> None:
        told, conversation = _read(FIXTURES / "mem0.json")
        assert detect(FIXTURES / "mem0.json") == conversation.name == "mem0"
        assert [(one.role, one.speaker, one.session, one.text) for one in told] == [
            ("user", "ana", "mem0", "Lives in Leeds and works at the hospital"),
            ("user", "user", "run-7", "Prefers answers in short sentences"),
            ("assistant", "helper", "mem0", "Suggested the ferry instead of the train"),
        ]
        assert told[0].said_at == datetime(2025, 6, 10, 15, 30, tzinfo=UTC)
        assert told[0].metadata == {
            "categories": ["personal"],
            "created_at": "2025-05-02T09:00:00.123456-07:00",
        }
        assert told[0].id == "11111111-aaaa-4bbb-8ccc-000000000001"
        assert conversation.left_out == {"memories without words": 1}

    def test_the_backup_of_openmemory_is_read_without_what_was_deleted(self) -> None:
        told, conversation = _read(FIXTURES / "openmemory.jsonl")
        assert [one.text for one in told] == ["Has a boat in the harbour"]
        assert conversation.left_out == {"memories that were deleted or archived": 1}

    @pytest.mark.parametrize("shape", ["list", "memories", "lines"])
    def test_the_shapes_of_a_file_make_no_difference(self, tmp_path: Path, shape: str) -> None:
        memories = json.loads((FIXTURES / "mem0.json").read_text())["results"]
        path = tmp_path / "a.json"
        whole = {"list": memories, "memories": {"memories": memories}}
        lines = "\n".join(map(json.dumps, memories))
        path.write_text(lines if shape == "lines" else json.dumps(whole[shape]))
        assert detect(path) == "mem0"
        assert _read(path)[0] == _read(FIXTURES / "mem0.json")[0]

    @pytest.mark.parametrize(
        ("memory", "problem"),
        [
            (
                {"full_name": "Ana"},
                r"memory 0 has no 'memory': an export by a schema of one's own cannot be read",
            ),
            ({"memory": "x", "created_at": "2025-05-02T09:00"}, r"names no zone; say which, such as --zone"),
            ({"memory": "x", "created_at": "May"}, r"memory 0: timestamp 'May' is not ISO 8601"),
            ("x", r"memory 0: it should be an object"),
        ],
    )
    def test_what_cannot_be_read_is_told_with_its_place(
        self, tmp_path: Path, memory: Any, problem: str
    ) -> None:
        path = tmp_path / "a.json"
        path.write_text(json.dumps({"results": [memory]}))
        with pytest.raises(UsageError, match=problem):
            _read(path)

    def test_a_time_without_a_zone_is_local_where_one_is_told(self, tmp_path: Path) -> None:
        path = tmp_path / "a.json"
        path.write_text(json.dumps([{"memory": "x", "created_at": "2025-05-02T09:00"}]))
        (told,), _ = _read(path, zone="Europe/Lisbon")
        assert told.said_at == datetime(2025, 5, 2, 8, tzinfo=UTC)


class TestMarkdown:
    def test_sections_come_under_their_headings_with_the_nearest_date(self) -> None:
        told, conversation = _read(FIXTURES / "MEMORY.md", zone="Europe/Lisbon")
        assert detect(FIXTURES / "MEMORY.md") == conversation.name == "markdown"
        assert [(one.said_at.date().isoformat() if one.said_at else "", one.text) for one in told] == [
            ("2026-01-05", "Ben owns the deploy scripts."),
            (
                "2026-01-05",
                "Deploy > Staging\n- listens on port 8443 \n- restarts every night\n\n"
                "```toml\n# this is no heading\nport = 8443\n```",
            ),
            ("2026-02-27", "Deploy > 2026-02-27 Change of the balancer\nWe moved to the new load balancer."),
            ("2026-02-27", "Deploy > 2026-02-27 Change of the balancer > Who\nAna did it with Ben."),
            ("2026-01-05", "People\nCarla joins in April."),
        ]
        assert {one.session for one in told} == {"fixtures/MEMORY"}
        assert told[0].metadata == {"file": "MEMORY.md", "title": "Harbour notes"}
        assert conversation.left_out == {} and conversation.left_out.notes == {}

    def test_a_day_is_a_day_somewhere(self) -> None:
        with pytest.raises(
            UsageError, match=r"MEMORY\.md, line 1: '2026-01-05' names no zone; say which, such as"
        ):
            _read(FIXTURES / "MEMORY.md")

    def test_a_note_without_a_date_is_from_when_the_file_was_changed_or_from_when_it_is_said(
        self, tmp_path: Path
    ) -> None:
        path = tmp_path / "CLAUDE.md"
        path.write_text("Use tabs.\n")
        os.utime(path, (1_760_000_000, 1_760_000_000))
        (told,), conversation = _read(path)
        assert told.said_at == datetime.fromtimestamp(1_760_000_000, UTC)
        assert conversation.left_out.notes == {UNDATED: 1}
        at = datetime(2024, 1, 1, tzinfo=UTC)
        (told,), conversation = _read(path, at=at)
        assert told.said_at == at and conversation.left_out.notes == {}

    @pytest.mark.parametrize(
        "name", ["2025-05-02.md", "2025-05-02 Boat.md", "20250502-boat.md", "2025_05_02.md"]
    )
    def test_the_name_of_a_diarys_page_is_its_date(self, tmp_path: Path, name: str) -> None:
        path = tmp_path / name
        path.write_text("# Boat\n\nWe sailed.\n")
        (told,), _ = _read(path, zone="UTC")
        assert told.said_at == datetime(2025, 5, 2, tzinfo=UTC)

    def test_numbers_that_are_no_date_and_front_matter_that_never_ends_are_text(self, tmp_path: Path) -> None:
        path = tmp_path / "20259999.md"
        path.write_text("---\ndate: soon\n---\n# Call 2025-13-40\nIt rained.\n")
        (told,), _ = _read(path)
        assert told.text == "Call 2025-13-40\nIt rained."
        path.write_text("---\nIt rained, and that is all.\n")
        assert "It rained" in _read(path)[0][0].text

    def test_a_changed_section_is_new_and_the_others_are_known(self, tmp_path: Path) -> None:
        path = tmp_path / "MEMORY.md"
        path.write_text("# A\none\n# B\ntwo\n# A\none\n")
        before = [one.id for one in _read(path)[0]]
        path.write_text("# A\none\n# B\ntwo and a half\n# A\none\n")
        after = [one.id for one in _read(path)[0]]
        assert len(set(before)) == 3
        assert [a == b for a, b in zip(before, after, strict=True)] == [True, False, True]

    def test_a_long_section_goes_on_in_further_messages_and_loses_nothing(self, tmp_path: Path) -> None:
        path = tmp_path / "a.md"
        words = [f"sentence {n} of the story." for n in range(2000)]
        path.write_text("# Story\n" + "\n\n".join(words))
        told, _ = _read(path)
        assert all(len(one.text) < LONGEST_SECTION + 200 and one.text.startswith("Story\n") for one in told)
        assert [line for one in told for line in one.text.split("\n") if line.startswith("sentence")] == words
        path.write_text("\n".join("x" * 99 for _ in range(LARGEST_SECTION // 50)))
        assert len(_read(path)[0]) == 2

    @pytest.mark.parametrize(
        "text", ["# Title\n\ntext", "- a point\n- another", "Some words.\n\n```\ncode\n```\n"]
    )
    def test_it_is_known_by_its_marks_whatever_its_name(self, tmp_path: Path, text: str) -> None:
        path = tmp_path / "notes.txt"
        path.write_text(text)
        assert detect(path) == "markdown"
        path.write_text("Just some words, no marks.\n")
        with pytest.raises(UsageError, match="it holds plain text; say which with --format"):
            detect(path)
        assert _read(path.rename(tmp_path / "notes.md"))[0][0].text == "Just some words, no marks."
