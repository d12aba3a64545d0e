"""Reading files that may be large, packed or broken: lines and JSON values one by one, errors with a place.

A file may be plain, xz, gzip, or the zip that ChatGPT and Claude send (its `conversations.json` is read).
"""

from __future__ import annotations

import codecs
import gzip
import json
import lzma
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from everwhen.errors import Damaged, NotFound, Refused, UsageError

LONGEST_LINE = 64_000_000
"""Bytes of one line: a message with a picture inside is large, a file without line breaks is not JSONL."""
_CHUNK = 1 << 16
_LONGEST_LITERAL = 16
"""A fault this near the buffer's edge may only be a word or number cut in two ("-Infinity", "\\u00e9")."""
_SPACE = " \t\r\n"
_UNPACKING = (lzma.LZMAError, gzip.BadGzipFile, zlib.error, zipfile.BadZipFile, EOFError)


@contextmanager
def opened(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked; what the system refuses becomes one sentence."""
    try:
        with _open(path) as stream:
            yield stream
    except FileNotFoundError as error:
        raise NotFound(f"there is no file {path}") from error
    except IsADirectoryError as error:
        raise UsageError(
            f"{path} is a folder; name the file inside it, such as conversations.json"
        ) from error
    except PermissionError as error:
        raise Refused(f"{path} may not be read; change its permissions, or copy it") from error
    except _UNPACKING as error:
        raise Damaged(f"{path} cannot be unpacked ({error}); fetch it again") from error


def lines(path: Path) -> Iterator[tuple[int, str]]:
    """Each line that is not blank, with its number from 1; never more than one line in memory."""
    with opened(path) as stream:
        offset = 0
        number = 0
        while True:
            raw = stream.readline(LONGEST_LINE + 1)
            if not raw:
                return
            number += 1
            if len(raw) > LONGEST_LINE:
                raise UsageError(
                    f"{path}, line {number} is longer than {LONGEST_LINE // 10**6} MB; is it JSONL?"
                )
            if number == 1:
                whole, raw = raw, _without_mark(path, raw)
                offset = len(whole) - len(raw)
            try:
                text = raw.decode()
            except UnicodeDecodeError as error:
                raise _not_utf8(path, number, offset + error.start) from error
            offset += len(raw)
            if text.strip():
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
                if not at_edge or not self._more(max(_CHUNK, len(self.buffer))):
                    self.line += error.lineno - 1
                    raise self.broken(error.msg) from error
            except (ValueError, RecursionError) as error:  # a number of 4,300 digits, brackets without end
                raise self.broken(str(error)) from error
            else:
                # A number at the buffer's edge may go on.
                if end + _LONGEST_LITERAL <= len(self.buffer) or not self._more(_CHUNK):
                    self.skip(end)
                    return value

    def broken(self, what: str) -> UsageError:
        return UsageError(f"{self.path}, line {self.line} is not valid JSON: {what}")

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


def _open(path: Path) -> IO[bytes]:
    with path.open("rb") as plain:
        start = plain.read(6)
    if start.startswith(b"\xfd7zXZ\x00"):
        return lzma.open(path)
    if start.startswith(b"\x1f\x8b"):
        return gzip.open(path)  # type: ignore[return-value]
    if start.startswith(b"PK\x03\x04"):
        return _in_zip(path)
    return path.open("rb")


def _in_zip(path: Path) -> IO[bytes]:
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, ValueError, NotImplementedError, struct.error) as error:  # a changed byte in its list
        raise zipfile.BadZipFile(str(error)) from error
    names = [name for name in archive.namelist() if Path(name).name == "conversations.json"]
    if not names:
        archive.close()
        raise UsageError(f"{path} holds no conversations.json; unpack it and name the file to import")
    try:
        return archive.open(names[0])
    except (RuntimeError, NotImplementedError) as error:  # encrypted, or packed in a way of its own
        raise UsageError(f"{path} cannot be unpacked here ({error}); unpack it and name the file") from error
    except (OSError, ValueError, struct.error) as error:  # its list of files leads out of the file
        raise zipfile.BadZipFile(str(error)) from error
    finally:
        archive.close()  # the open member keeps the file until it is closed itself


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
