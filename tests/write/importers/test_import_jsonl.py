"""JSONL: one message a line, streamed, with ids that make a second import add only what is missing."""

from __future__ import annotations

import json
import tracemalloc
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from everwhen.errors import UsageError
from everwhen.types import Message
from everwhen.write.importers.conversation import ReadingOptions
from everwhen.write.importers.files import read


def messages(path: Path) -> list[Message]:
    (conversation,) = read(path, "jsonl")
    return list(conversation.messages)


def lines(path: Path, *rows: Any) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_every_field_of_a_line_arrives(tmp_path: Path) -> None:
    row = {
        "role": "assistant",
        "content": [{"type": "text", "text": "Here."}, {"type": "file", "file": {"filename": "map.pdf"}}],
        "name": "Ada",
        "timestamp": "2025-05-08T13:56:00",
        "zone": "Europe/Lisbon",
        "id": "m1",
        "session": "s1",
        "metadata": {"mood": "sunny"},
        "media": {"caption": "a map of Porto"},
    }
    assert messages(lines(tmp_path / "chat.jsonl", row)) == [
        Message(
            text="Here.\n[file: map.pdf] [image: a map of Porto]",
            role="assistant",
            name="Ada",
            said_at=datetime(2025, 5, 8, 12, 56, tzinfo=UTC),
            zone="Europe/Lisbon",
            id="m1",
            session="s1",
            metadata={"mood": "sunny"},
        )
    ]


def test_a_line_without_time_or_session_gets_the_files_session_and_no_time(tmp_path: Path) -> None:
    (told,) = messages(lines(tmp_path / "my notes.2025.jsonl", {"content": "Hi"}))
    assert (told.said_at, told.session) == (None, "my notes.2025")


def test_blank_lines_are_passed_over_and_line_endings_do_not_matter(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_bytes(b'\n{"content": "a"}\r\n   \r\n{"content": "b"}')
    assert [told.text for told in messages(path)] == ["a", "b"]


def test_messages_can_be_read_twice(tmp_path: Path) -> None:
    (conversation,) = read(lines(tmp_path / "chat.jsonl", {"content": "a"}, {"content": "b"}))
    assert list(conversation.messages) == list(conversation.messages)
    assert conversation.total == 2


def test_a_zone_for_the_file_makes_its_naive_times_local(tmp_path: Path) -> None:
    rows = [{"content": "a", "timestamp": "2025-05-08T13:56"}, {"content": "b", "zone": "Asia/Tokyo"}]
    path = lines(tmp_path / "chat.jsonl", *rows)
    (conversation,) = read(path, options=ReadingOptions("Europe/Lisbon"))
    first, second = conversation.messages
    assert (first.said_at, first.zone) == (datetime(2025, 5, 8, 12, 56, tzinfo=UTC), "Europe/Lisbon")
    assert second.zone == "Asia/Tokyo"


class TestIds:
    def test_another_zone_does_not_make_it_another_message(self, tmp_path: Path) -> None:
        path = lines(tmp_path / "chat.jsonl", {"content": "a", "timestamp": "2025-05-08T13:56"})
        ids = {
            m.id
            for zone in ("Asia/Tokyo", "UTC")
            for c in read(path, options=ReadingOptions(zone))
            for m in c.messages
        }
        assert len(ids) == 1

    def test_they_are_the_same_at_every_import_and_when_the_file_grows(self, tmp_path: Path) -> None:
        rows = [{"content": "yes"}, {"content": "yes"}, {"content": "no", "session": "b"}]
        before = [told.id for told in messages(lines(tmp_path / "chat.jsonl", *rows))]
        after = [told.id for told in messages(lines(tmp_path / "chat.jsonl", *rows, {"content": "more"}))]
        assert after[:3] == before
        assert len(set(after)) == 4
        assert all(after)

    def test_a_blank_line_more_changes_none(self, tmp_path: Path) -> None:
        path = lines(tmp_path / "chat.jsonl", {"content": "a"}, {"content": "b"})
        before = messages(path)
        path.write_text("\n\n" + path.read_text().replace("\n", "\n\n"))
        assert messages(path) == before

    def test_two_files_that_begin_alike_share_none(self, tmp_path: Path) -> None:
        one = messages(lines(tmp_path / "one.jsonl", {"content": "Hi"}))
        two = messages(lines(tmp_path / "two.jsonl", {"content": "Hi"}))
        assert one[0].id != two[0].id

    def test_one_id_for_two_texts_is_refused_because_the_second_would_be_lost(self, tmp_path: Path) -> None:
        path = lines(tmp_path / "chat.jsonl", {"content": "a", "id": 1}, {"content": "b", "id": 1})
        with pytest.raises(UsageError, match="line 2: id '1' stands on line 1 with other words"):
            messages(path)

    def test_the_same_line_twice_is_one_message(self, tmp_path: Path) -> None:
        path = lines(tmp_path / "chat.jsonl", *[{"content": "a", "id": "x"}] * 2)
        assert len(messages(path)) == 1


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b'{"content": "a"', r"chat\.jsonl, line 2 is not valid JSON: .* at column"),
        (b'["a"]', r"line 2: a message is an object with 'content'"),
        (b'{"content": ""}', r"line 2: the text is empty"),
        (b'{"role": "king", "content": "a"}', r"line 2: unknown role 'king'; use one of user"),
        (b'{"content": "a", "timestamp": "2025-05-08T13:56"}', r"line 2: timestamp .* has no zone"),
        (b'{"content": "caf\xe9"}', r"line 2: byte 36 is not UTF-8; convert the file: iconv"),
        (b'{"content": ' + b"9" * 5000 + b"}", r"line 2 is not usable JSON"),
        (b"[" * 100_000, r"line 2 is not usable JSON: it is nested too deeply"),
    ],
)
def test_a_bad_line_is_named_and_the_lines_before_it_are_good(
    tmp_path: Path, line: bytes, problem: str
) -> None:
    path = tmp_path / "chat.jsonl"
    path.write_bytes(b'{"content": "good"}\n' + line + b"\n")
    (conversation,) = read(path, "jsonl")
    reader = iter(conversation.messages)
    assert next(reader).text == "good"
    with pytest.raises(UsageError, match=problem) as caught:
        next(reader)
    assert "\n" not in str(caught.value)


def test_memory_does_not_grow_with_the_file(tmp_path: Path) -> None:
    path = tmp_path / "chat.jsonl"
    with path.open("w") as stream:
        for number in range(10_000):
            stream.write(json.dumps({"content": f"line {number} " + "x" * 500}) + "\n")
    tracemalloc.start()
    (conversation,) = read(path)
    assert sum(1 for _ in conversation.messages) == conversation.total == 10_000
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < path.stat().st_size / 2
