"""Reading and telling apart: packed, broken, huge and misnamed files."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everwhen.errors import Damaged, NotFound, Refused, UsageError
from everwhen.ingest.importers import FORMATS, Conversation, detect, files, merged, read
from everwhen.types import Message

Write = Callable[[str, str | bytes], Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    def write_file(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write_file


@pytest.mark.parametrize(
    ("first", "expected"),
    [
        ({"role": "user", "content": "Hi"}, "jsonl"),
        ({"content": "Hi"}, "jsonl"),
        ([{"sample_id": "a", "conversation": {}, "qa": []}], "locomo"),
        ([{"haystack_sessions": [], "question": "?"}], "longmemeval"),
        ([{"title": "t", "mapping": {}}], "chatgpt"),
        ([{"uuid": "u", "chat_messages": []}], "claude"),
        ({"uuid": "u", "chat_messages": []}, "claude"),
    ],
)
def test_the_shape_tells_the_format_whatever_the_name(write: Write, first: Any, expected: str) -> None:
    assert detect(write("export.dat", json.dumps(first))) == expected
    assert detect(write("pretty.jsonl", "\n \n" + json.dumps(first, indent=2))) == expected


@pytest.mark.parametrize(
    ("content", "holds"),
    [
        ("", "nothing"),
        (" \n", "nothing"),
        ("[]", "an empty list"),
        ('{"a": 1}', "an object with 'a'"),
        ('[{"a": 1}]', "a list of objects with 'a'"),
        ("[1, 2]", "a list of int"),
        ('"hello"', "one str"),
    ],
)
def test_an_unknown_shape_is_described_with_the_formats_there_are(
    write: Write, content: str, holds: str
) -> None:
    with pytest.raises(UsageError, match=f"holds {holds}; say which with --format jsonl|locomo"):
        detect(write("some.json", content))


def test_one_list_of_messages_comes_with_the_command_that_makes_lines(write: Write) -> None:
    with pytest.raises(UsageError, match="jq -c"):
        detect(write("chat.json", '[{"role": "user", "content": "Hi"}]'))


def test_an_unknown_format_is_refused_before_the_file_is_looked_at(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="auto, jsonl, locomo, longmemeval, chatgpt, claude"):
        read(tmp_path / "absent", "csv")
    assert FORMATS[0] == "auto"


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress])
def test_packed_files_are_read_as_they_are(write: Write, pack: Callable[[bytes], bytes]) -> None:
    path = write("chat.jsonl.gz", pack(b'{"content": "Hi"}\n{"content": "there"}\n'))
    (conversation,) = read(path)
    assert [message.text for message in conversation.messages] == ["Hi", "there"]
    assert (conversation.name, conversation.total) == ("chat", 2)


def test_a_packed_file_that_is_cut_off_is_damaged(write: Write) -> None:
    packed = lzma.compress(os.urandom(3000).hex().encode())
    path = write("chat.jsonl.xz", packed[: len(packed) // 2])
    with pytest.raises(Damaged, match="cannot be unpacked"):
        list(files.lines(path))


def test_the_zip_of_an_export_is_opened(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w") as archive:
        archive.writestr("users.json", "[]")
        archive.writestr("data/conversations.json", '[{"uuid": "u", "chat_messages": []}]')
    assert detect(tmp_path / "export.zip") == "claude"
    with zipfile.ZipFile(tmp_path / "other.zip", "w") as archive:
        archive.writestr("users.json", "[]")
    with pytest.raises(UsageError, match=r"no conversations\.json"):
        detect(tmp_path / "other.zip")


def test_what_the_system_refuses_is_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NotFound, match="no file"):
        detect(tmp_path / "absent.json")
    with pytest.raises(UsageError, match="is a folder"):
        detect(tmp_path)
    monkeypatch.setattr(Path, "open", _forbid)
    with pytest.raises(Refused, match="permissions"):
        detect(tmp_path / "secret.json")


def _forbid(*_: object, **__: object) -> None:
    raise PermissionError


def test_a_list_is_read_one_element_at_a_time(write: Write, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "_CHUNK", 64)
    elements = [{"n": n, "text": "é" * n, "deep": [[n], {"x": None}]} for n in range(50)]
    path = write("a.json", json.dumps(elements, ensure_ascii=False) + "\n broken")
    reader = files.values(path)
    assert [next(reader) for _ in range(50)] == elements
    with pytest.raises(UsageError, match="line 2 is not valid JSON: there is more"):
        next(reader)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    elements=st.lists(
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=30),
            lambda inner: (
                st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
            ),
        ),
        max_size=8,
    ),
    chunk=st.integers(1, 40),
    indent=st.sampled_from([None, 1]),
    ascii_only=st.booleans(),
)
def test_values_agree_with_the_json_module(
    write: Write, elements: list[Any], chunk: int, indent: int | None, ascii_only: bool
) -> None:
    path = write("any.json", json.dumps(elements, indent=indent, ensure_ascii=ascii_only))
    expected = json.loads(path.read_bytes())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_CHUNK", chunk)
        assert list(files.values(path)) == expected


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('[{"a": 1}', "line 1 is not valid JSON: the file ends early"),
        ('[{"a": 1}\n,\n]', "line 3 is not valid JSON: Expecting value"),
        ('[{"a": 1} {"a": 2}]', "expected ','"),
        ('[{"a": "b', "Unterminated string"),
        ('[{"a": nope}]' + " " * 50, "line 1 is not valid JSON: Expecting value"),
        ("[" * 200_000, "maximum recursion depth"),
    ],
)
def test_broken_json_is_told_with_its_line(write: Write, content: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        list(files.values(write("a.json", content)))


def test_a_broken_first_line_is_found_without_reading_the_rest(write: Write) -> None:
    path = write("a.jsonl", '{"a": nope}\n' + '{"content": "x"}\n' * 100_000)
    with pytest.raises(UsageError, match="line 1 is not valid JSON"):
        detect(path)


def test_bytes_that_are_not_utf8_are_told_with_line_offset_and_fix(write: Write) -> None:
    content = b'[\n{"a": "ok"},\n{"a": "caf\xe9"}]'
    offset = content.index(b"\xe9")
    for name, start in (("a.json", b""), ("marked.json", b"\xef\xbb\xbf")):
        with pytest.raises(UsageError, match=rf"line 3: byte {offset}.*iconv -f WINDOWS-1252"):
            list(files.values(write(name, start + content)))
        offset += 3


def test_utf16_is_named_with_the_command(write: Write) -> None:
    for text in ('{"content": "Hi"}', '[{"a": 1}]'):
        with pytest.raises(UsageError, match="iconv -f UTF-16"):
            detect(write("a.json", text.encode("utf-16")))
    with pytest.raises(UsageError, match="iconv -f UTF-16"):
        list(files.lines(write("a.jsonl", '{"content": "Hi"}'.encode("utf-16"))))


def test_a_byte_order_mark_is_not_text(write: Write) -> None:
    path = write("a.jsonl", b'\xef\xbb\xbf{"content": "Hi"}')
    assert detect(path) == "jsonl"
    assert list(files.lines(path)) == [(1, '{"content": "Hi"}')]


def test_conversations_of_one_bank_do_not_collide() -> None:
    message = Message(text="Hi", id="D1:1", session="session_1")
    both = list(merged([Conversation("a", [message]), Conversation("b", [message])]))
    assert [(one.id, one.session) for one in both] == [("a/D1:1", "a/session_1"), ("b/D1:1", "b/session_1")]
