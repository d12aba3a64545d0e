"""Reading and telling apart: packed, broken, huge and misnamed files."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
import os
import subprocess
import sys
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from everwhen.errors import Damaged, NotFound, Refused, UsageError
from everwhen.store.files import json_values
from everwhen.store.files import json_values as files
from everwhen.types import Message
from everwhen.write.importers.conversation import Conversation
from everwhen.write.importers.files import FORMATS, detect, merged, read

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


@pytest.mark.parametrize("pack", [gzip.compress, lzma.compress, bz2.compress])
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
        ("[" * 200_000, "it is nested too deeply"),
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


class TestOneRecordHasALargestSize:
    """Whatever the format, and whatever it unpacks to."""

    SMALL = 200_000

    @pytest.fixture(autouse=True)
    def small(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(files, "LARGEST_RECORD", self.SMALL)
        monkeypatch.setattr(files, "MOST_VALUES", 1000)

    @pytest.mark.parametrize("pack", [bytes, gzip.compress, lzma.compress, bz2.compress])
    def test_a_line(self, write: Write, pack: Callable[[bytes], bytes]) -> None:
        long = {"content": "a" * self.SMALL}
        path = write("chat.gz", pack(f'{{"content": "Hi"}}\n{json.dumps(long)}\n'.encode()))
        (conversation,) = read(path)
        with pytest.raises(
            UsageError, match=r"chat\.gz, line 2 is longer than 0\.2 MB, the most that one record"
        ):
            list(conversation.messages)

    @pytest.mark.parametrize("format", ["locomo", "longmemeval", "chatgpt", "claude"])
    def test_an_element_of_a_list(self, write: Write, format: str) -> None:
        element = '{"mapping": {}, "chat_messages": [], "x": "' + "é" * (self.SMALL // 2) + '"}'
        path = write("a.json", "[\n1,\n" + element)
        with pytest.raises(UsageError, match=r"a\.json, record 2 \(from line 3 on\) is longer than 0\.2 MB"):
            list(files.values(path))
        with pytest.raises(UsageError, match=r"record 1 .* is longer"):
            for conversation in read(write("b.json", element), format):
                list(conversation.messages)

    def test_a_number(self, write: Write) -> None:
        with pytest.raises(UsageError, match="is longer than"):
            list(files.values(write("a.json", "0." + "1" * 2 * self.SMALL)))

    def test_the_first_line_when_the_format_is_told(self, write: Write) -> None:
        with pytest.raises(UsageError, match=r"record 1 \(from line 1 on\) is longer"):
            detect(write("a.jsonl", '{"content": "' + "a" * 2 * self.SMALL))

    def test_one_of_just_that_size_is_read(self, write: Write) -> None:
        text = "a" * (self.SMALL - len('{"content": ""}'))
        (conversation,) = read(write("a.jsonl", json.dumps({"content": text})))
        assert [message.text for message in conversation.messages] == [text]

    def test_and_a_largest_number_of_values_outside_of_its_texts(self, write: Write) -> None:
        many = "[" + "{}," * 2000 + "{}]"
        with pytest.raises(UsageError, match="line 1 is not usable JSON: it holds more than 1,000 values"):
            list(next(read(write("a.jsonl", f'{{"content": "a", "x": {many}}}'), "jsonl")).messages)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(files, "_CHUNK", 64)
            with pytest.raises(UsageError, match=r"record 1 .* holds more than 1,000 values"):
                list(files.values(write("a.json", f"[{many}]")))
            assert list(files.values(write("b.json", json.dumps([many])))) == [many]
        (conversation,) = read(write("b.jsonl", json.dumps({"content": many, "x": 'say "hi" \\'})))
        assert [message.text for message in conversation.messages] == [many]


@pytest.mark.parametrize("content", ['{"content": "a", "x": ' + "[" * 900_000, '{"a":' * 900_000])
def test_nesting_without_end_is_one_sentence(write: Write, content: str) -> None:
    path = write("deep.json", content)
    for act in (lambda: detect(path), lambda: list(next(read(path, "jsonl")).messages)):
        with pytest.raises(
            UsageError, match=r"deep\.json, line 1 is not (valid|usable) JSON: it is nested too deeply$"
        ):
            act()


def test_a_value_of_the_wrong_kind_is_shown_shortly_however_deep_it_is(write: Write) -> None:
    deep = "[" * 900 + "]" * 900
    with pytest.raises(
        UsageError, match=r"line 1: a message is an object with 'content', not \[\[.{0,20}\]\]$"
    ):
        list(next(read(write("a.jsonl", deep), "jsonl")).messages)
    with pytest.raises(UsageError, match=r"'chat_messages' should be a list, and is .{1,60}$"):
        list(next(read(write("b.json", f'{{"chat_messages": {{"a": {deep}}}}}'), "claude")).messages)


def test_an_xz_file_of_several_streams_is_read_to_the_end(write: Write) -> None:
    parts = [lzma.compress(f'{{"content": "{n}"}}\n'.encode()) + b"\0" * 8 for n in range(3)]
    assert [text.strip() for _, text in files.lines(write("a.xz", b"".join(parts)))] == [
        f'{{"content": "{n}"}}' for n in range(3)
    ]
    with pytest.raises(Damaged, match="cannot be unpacked"):
        list(files.lines(write("b.xz", parts[0] + b"rubbish")))


def test_an_xz_file_does_not_say_how_much_memory_it_gets(write: Write) -> None:
    wide = [
        {
            "id": lzma.FILTER_LZMA2,
            "dict_size": 512 << 20,
            "mode": lzma.MODE_FAST,
            "mf": lzma.MF_HC3,
            "nice_len": 4,
        }
    ]
    # The dictionary's size is one byte of the first block's header; packing with a wide one takes its memory.
    small = lzma.compress(b'{"content": "Hi"}\n', filters=[{**wide[0], "dict_size": 1 << 20}])
    place = small.index(bytes([lzma.FILTER_LZMA2, 1])) + 2
    header = bytearray(small[12:24])
    header[place - 12] = 34  # 512 MB
    header[-4:] = zlib.crc32(header[:-4]).to_bytes(4, "little")
    path = write("a.xz", small[:12] + bytes(header) + small[24:])
    with pytest.raises(UsageError, match=r"a\.xz needs more than 302 MB of memory to unpack"):
        detect(path)


def test_a_zip_packed_in_a_way_of_its_own_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "export.zip", "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("conversations.json", "[]")
    with pytest.raises(UsageError, match="neither stored nor deflated"):
        detect(tmp_path / "export.zip")


def test_what_a_file_unpacks_to_can_be_bounded(write: Write) -> None:
    path = write("a.gz", lzma.compress(b"{}\n" * 100_000))
    json_values.check_unpacked_size(path, 300_000)
    with pytest.raises(UsageError, match=r"a\.gz unpacks to more than 0\.0002 GB"):
        json_values.check_unpacked_size(path, 200_000)


GROWTH = """
import resource, sys
from pathlib import Path
from everwhen.errors import UsageError
from everwhen.write.importers.files import detect, read
from everwhen.store.files.export import read_header
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
path, told = Path(sys.argv[1]), []
for act in (detect, lambda path: list(next(read(path, "jsonl")).messages), read_header):
    try:
        act(path)
    except UsageError as error:
        told.append(str(error))
assert len(told) == 3 and all("longer than 32 MB" in sentence for sentence in told), told
print((resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) // 1024)
"""


def test_a_line_of_150_mb_in_a_few_kb_takes_little_memory(tmp_path: Path) -> None:
    """It took as much as it unpacks to, and half of that again."""
    path = tmp_path / "bomb.jsonl.gz"
    megabytes = lzma.compress(b"a" * 10_000_000)
    path.write_bytes(lzma.compress(b'{"content": "') + megabytes * 15)
    assert path.stat().st_size < 40_000
    done = subprocess.run(
        [sys.executable, "-c", GROWTH, str(path)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) < 150
