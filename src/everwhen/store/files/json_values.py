"""Reading files that may be large, packed or broken: lines and JSON values one by one, errors with a place.

One record (a line, or an element of the list that a file holds) is in memory at a time, and a record has a largest
size: whoever made the file, reading it takes no more memory than that.
"""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import json
import lzma
import re
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from reprlib import Repr
from typing import IO, Any

from everwhen.errors import Damaged, NotFound, Refused, UsageError

XZ, GZIP, BZIP2, ZIP = b"\xfd7zXZ\x00", b"\x1f\x8b", b"BZh", b"PK\x03\x04"
EXPORTED = ("conversations.json", "_chat.txt", "memories.json")
"""Files in the zips that ChatGPT, Claude, WhatsApp (iOS) and OpenMemory send."""
PACKED = (XZ, GZIP, BZIP2, ZIP)
XZ_MEMORY = 288 << 20
"""Bytes that unpacking xz may take: `xz -9` needs 65 MB, some data sets 256 MB, and a file can ask for 4 GB."""
_PIECE = 1 << 16
_UNPACKING = (lzma.LZMAError, gzip.BadGzipFile, zlib.error, zipfile.BadZipFile, EOFError)


@contextmanager
def opened(path: Path, offset: int = 0) -> Iterator[IO[bytes]]:
    """The bytes of a file, unpacked, from `offset` on; what the system refuses becomes one sentence."""
    try:
        with _open(path) as stream:
            _skip(stream, offset)
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


def is_packed(path: Path) -> bool:
    """Whether a file holds something else than its own bytes."""
    with path.open("rb") as stream:
        return stream.read(len(XZ)).startswith(PACKED)


def check_unpacked_size(path: Path, most: int) -> None:
    """Refuse a file that unpacks to more than `most` bytes. Reads it once where it is packed, and keeps nothing."""
    size = 0
    with opened(path) as stream:
        while piece := stream.read(_PIECE):
            size += len(piece)
            if size > most:
                raise UsageError(f"{path} unpacks to more than {most / 1e9:g} GB; use `everwhen import`")


def _open(path: Path) -> IO[bytes]:
    with path.open("rb") as plain:
        start = plain.read(len(XZ))
    if start.startswith(XZ):
        return io.BufferedReader(_Xz(path), _PIECE)
    if start.startswith(GZIP):
        return gzip.open(path)  # type: ignore[return-value]
    if start.startswith(BZIP2):
        return bz2.open(path)
    if start.startswith(ZIP):
        return _in_zip(path)
    return path.open("rb")


def _skip(stream: IO[bytes], offset: int) -> None:
    if stream.seekable():
        stream.seek(offset)
        return
    while offset and (piece := stream.read(min(offset, _PIECE))):
        offset -= len(piece)


class _Xz(io.RawIOBase):
    """The bytes of an xz file. `lzma.open` does the same and gives a file all the memory that it asks for."""

    def __init__(self, path: Path) -> None:
        self._stream = path.open("rb")
        self._unpack = _decompressor()
        self._rest = b""
        """Packed bytes behind the end of a stream: another one may follow."""

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._stream.close()
        super().close()

    def readinto(self, into: memoryview) -> int:  # type: ignore[override]
        while True:
            if self._unpack.eof and not self._next_stream():
                return 0
            packed = b""
            if self._unpack.needs_input:
                packed = self._rest or self._stream.read(_PIECE)
                self._rest = b""
                if not packed:
                    raise EOFError("the file ends early")
            try:
                piece = self._unpack.decompress(packed, len(into))
            except lzma.LZMAError as error:
                if "limit" not in str(error):
                    raise
                raise UsageError(
                    f"{self._stream.name} needs more than {XZ_MEMORY / 1e6:.0f} MB of memory to unpack; "
                    "pack it with xz -9 or less"
                ) from error
            if piece:
                into[: len(piece)] = piece
                return len(piece)

    def _next_stream(self) -> bool:
        """Whether another stream follows; zeros between two of them are padding."""
        rest = self._unpack.unused_data.lstrip(b"\0")
        while not rest and (more := self._stream.read(_PIECE)):
            rest = more.lstrip(b"\0")
        if rest:
            self._rest, self._unpack = rest, _decompressor()
        return bool(rest)


def _decompressor() -> lzma.LZMADecompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=XZ_MEMORY)


def name_inside(path: Path) -> str | None:
    """The name of the file that is read out of a zip; None where the file is none."""
    with path.open("rb") as stream:
        if not stream.read(len(ZIP)).startswith(ZIP):
            return None
    try:
        with zipfile.ZipFile(path) as archive:
            found = _chosen(archive)
    except (OSError, ValueError, NotImplementedError, struct.error, zipfile.BadZipFile):
        return None  # opening it says what is wrong
    return None if found is None else Path(found.filename).name


def _chosen(archive: zipfile.ZipFile) -> zipfile.ZipInfo | None:
    """The file to read: by the name that an export gives it, else the only text (WhatsApp names it after the chat)."""
    for name in EXPORTED:
        for one in archive.infolist():
            if Path(one.filename).name == name:
                return one
    texts = [one for one in archive.infolist() if one.filename.endswith(".txt")]
    return texts[0] if len(texts) == 1 else None


def _in_zip(path: Path) -> IO[bytes]:
    try:
        archive = zipfile.ZipFile(path)
    except (OSError, ValueError, NotImplementedError, struct.error) as error:  # a changed byte in its list
        raise zipfile.BadZipFile(str(error)) from error
    found = _chosen(archive)
    if found is None:
        archive.close()
        raise UsageError(f"{path} holds no conversations.json; unpack it and name the file to import")
    try:
        # The other ways take as much memory as the file asks for, and nobody's export uses them.
        if found.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise NotImplementedError("it is neither stored nor deflated")
        return archive.open(found)
    except (RuntimeError, NotImplementedError) as error:  # encrypted, or packed in a way of its own
        raise UsageError(f"{path} cannot be unpacked here ({error}); unpack it and name the file") from error
    except (OSError, ValueError, struct.error) as error:  # its list of files leads out of the file
        raise zipfile.BadZipFile(str(error)) from error
    finally:
        archive.close()  # the open member keeps the file until it is closed itself


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
