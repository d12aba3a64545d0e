"""Reading files that may be large, packed or broken: lines and JSON values one by one, errors with a place.

One record (a line, or an element of the list that a file holds) is in memory at a time, and a record has a largest
size: whoever made the file, reading it takes no more memory than that.
"""

from __future__ import annotations

import codecs
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from reprlib import Repr
from typing import IO, Any

from everwhen.errors import UsageError
from everwhen.store.files.compressed import opened

LARGEST_RECORD = 32_000_000
"""Bytes of one message, chat, sample or row: a message of five million that is escaped throughout, or one with a
picture inside."""
MOST_VALUES = 1_000_000
"""Values in one record: `{},{},…` takes 25 times its size in memory."""
_CHUNK = 1 << 16
_LONGEST_LITERAL = 16
"""A fault this near the buffer's edge may only be a word or number cut in two ("-Infinity", "\\u00e9")."""
_SPACE = " \t\r\n"
_SHORT = Repr()
_SHORT.maxlevel = 2
_STRING = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?', re.DOTALL)


def parsed(text: str) -> Any:
    """`json.loads` for what strangers wrote: a ValueError where it holds too much, or is nested too deeply."""
    if _too_many_values(text):
        raise ValueError(f"it holds more than {MOST_VALUES:,} values")
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def shown(value: Any) -> str:
    """A value for an error message: its beginning, however large it is and however deep."""
    return _SHORT.repr(value)[:60]


def one_line(stream: IO[bytes], where: str) -> bytes:
    """The next line of a file, refused where it is longer than a record may be; empty at the end."""
    raw = stream.readline(LARGEST_RECORD + 1)
    if len(raw) > LARGEST_RECORD:
        raise UsageError(
            f"{where} is longer than {LARGEST_RECORD / 1e6:g} MB, the most that one record may have"
        )
    return raw


def lines(path: Path, *, blank: bool = False) -> Iterator[tuple[int, str]]:
    """Each line (`blank` ones where they are wanted), with its number from 1; never more than one in memory."""
    with opened(path) as stream:
        offset = 0
        number = 0
        while True:
            raw = one_line(stream, f"{path}, line {number + 1}")
            if not raw:
                return
            number += 1
            if number == 1:
                whole, raw = raw, _without_mark(path, raw)
                offset = len(whole) - len(raw)
            try:
                text = raw.decode()
            except UnicodeDecodeError as error:
                raise _not_utf8(path, number, offset + error.start) from error
            offset += len(raw)
            if blank or text.strip():
                yield number, text


def count_lines(path: Path) -> int:
    """How many lines a file has, for a progress bar."""
    with opened(path) as stream:
        count = 0
        last = b"\n"
        while block := stream.read(_CHUNK * 16):
            count += block.count(b"\n")
            last = block
        return count + (not last.endswith(b"\n"))


def values(path: Path) -> Iterator[Any]:
    """The elements of the JSON list that a file holds (or its values, where they just follow one another).

    One element is in memory at a time. The buffer at least doubles before an unfinished value is tried again,
    so that a large one costs twice its size and not its square.
    """
    for _, value in _scan(path):
        yield value


def first_value(path: Path) -> tuple[bool, Any]:
    """Whether the file is one JSON list, and its first value; None where there is none."""
    for listed, value in _scan(path):
        return listed, value
    with opened(path) as stream:
        return stream.read(_CHUNK).decode(errors="replace").strip(_SPACE + "\ufeff").startswith("["), None


def beginning(path: Path) -> str:
    """The first characters of a text; refused where it is none."""
    with opened(path) as stream:
        raw = _without_mark(path, stream.read(_CHUNK))
    if b"\x00" in raw:
        raise UsageError(
            f"{path} is a binary file; import reads text and JSON, also packed with gzip, xz, bzip2 or zip"
        )
    return raw.decode(errors="replace")


def _scan(path: Path) -> Iterator[tuple[bool, Any]]:
    with opened(path) as stream:
        text = _Text(path, stream)
        listed = text.peek() == "["
        if listed:
            text.skip(1)
        first = True
        while (mark := text.peek()) and mark != "]":
            if listed and not first:
                text.demand(",")
            text.record += 1
            yield listed, text.value()
            first = False
        if listed:
            text.demand("]")
        if text.peek():
            raise text.broken("there is more after the end of the list")


@dataclass(slots=True)
class _Text:
    """A file's characters from where reading stands, decoded as they come."""

    path: Path
    stream: IO[bytes]
    buffer: str = ""
    line: int = 1
    record: int = 0
    offset: int = 0
    ended: bool = False
    decoder: codecs.IncrementalDecoder | None = None

    def peek(self) -> str:
        """The next character that is not white space; empty at the end."""
        while True:
            rest = self.buffer.lstrip(_SPACE)
            self.line += self.buffer.count("\n", 0, len(self.buffer) - len(rest))
            self.buffer = rest
            if rest or not self._more(_CHUNK):
                return rest[:1]

    def skip(self, characters: int) -> None:
        self.line += self.buffer.count("\n", 0, characters)
        self.buffer = self.buffer[characters:]

    def demand(self, mark: str) -> None:
        if self.peek() != mark:
            raise self.broken(
                f"expected {mark!r}, found {self.buffer[:20]!r}" if self.buffer else "the file ends early"
            )
        self.skip(1)

    def value(self) -> Any:
        self.peek()
        while True:
            try:
                value, end = json.JSONDecoder().raw_decode(self.buffer)
            except json.JSONDecodeError as error:
                at_edge = (
                    error.msg.startswith("Unterminated") or error.pos >= len(self.buffer) - _LONGEST_LITERAL
                )
                if not at_edge or not self._longer():
                    self.line += error.lineno - 1
                    raise self.broken(error.msg) from error
            except RecursionError:
                raise self.broken("it is nested too deeply") from None
            except ValueError as error:  # a number of 4,300 digits
                raise self.broken(str(error)) from error
            else:
                # A number at the buffer's edge may go on.
                if end + _LONGEST_LITERAL <= len(self.buffer) or not self._longer():
                    self.skip(end)
                    return value

    def broken(self, what: str) -> UsageError:
        return UsageError(f"{self.path}, line {self.line} is not valid JSON: {what}")

    def _longer(self) -> bool:
        """Read on, because the record goes beyond the buffer; refused where it is too large already."""
        size = len(self.buffer)
        if size * 4 > LARGEST_RECORD:  # characters: how many bytes they are is worth counting only now
            size = len(self.buffer.encode("utf-8", "surrogatepass"))
        if size > LARGEST_RECORD:
            raise self._too_large(f"is longer than {LARGEST_RECORD / 1e6:g} MB")
        if _too_many_values(self.buffer):
            raise self._too_large(f"holds more than {MOST_VALUES:,} values")
        return self._more(max(_CHUNK, min(size, LARGEST_RECORD + 1 - size)))

    def _too_large(self, what: str) -> UsageError:
        return UsageError(
            f"{self.path}, record {self.record} (from line {self.line} on) {what}, the most that one record may have"
        )

    def _more(self, size: int) -> bool:
        if self.ended:
            return False
        raw = self.stream.read(size)
        if self.decoder is None:
            self.decoder = codecs.getincrementaldecoder("utf-8")()
            whole, raw = raw, _without_mark(self.path, raw)
            self.offset = len(whole) - len(raw)
        pending = len(self.decoder.getstate()[0])
        self.ended = not raw
        try:
            self.buffer += self.decoder.decode(raw, final=not raw)
        except UnicodeDecodeError as error:
            line = self.line + self.buffer.count("\n") + raw.count(b"\n", 0, max(0, error.start - pending))
            raise _not_utf8(self.path, line, self.offset - pending + error.start) from error
        self.offset += len(raw)
        return bool(raw)


def _too_many_values(text: str) -> bool:
    """Whether brackets and commas, those inside of strings left out, are more than a record may have."""
    if _structure(text) <= MOST_VALUES:
        return False
    return _structure(_STRING.sub("", text)) > MOST_VALUES


def _structure(text: str) -> int:
    return text.count(",") + text.count("[") + text.count("{")


def _without_mark(path: Path, start: bytes) -> bytes:
    if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise UsageError(
            f"{path} is UTF-16; convert it: iconv -f UTF-16 -t UTF-8 {path.name} > utf8-{path.name}"
        )
    return start.removeprefix(codecs.BOM_UTF8)


def _not_utf8(path: Path, line: int, offset: int) -> UsageError:
    return UsageError(
        f"{path}, line {line}: byte {offset} is not UTF-8; convert the file: "
        f"iconv -f WINDOWS-1252 -t UTF-8 {path.name} > utf8-{path.name}"
    )
