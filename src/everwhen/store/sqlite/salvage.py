"""Recovers turns from a file that SQLite can no longer read.

A table is a tree of pages, with its rows on the leaf pages. A broken file has usually lost some pages; every leaf
page that is left is read on its own, wherever it belongs (file format: sqlite.org/fileformat2.html). The write-ahead
log is applied first, up to its last complete commit. A row counts as a turn if it has the columns of one.
"""

from __future__ import annotations

import json
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from everwhen.errors import Damaged
from everwhen.types import ROLES

_INSTANT = re.compile(r"\d{4}-[01]\d-[0-3]\dT[0-2]\d:[0-5]\d:[0-5]\d\.\d{6}Z")
_LEAF = 0x0D
_COLUMNS = 12
_PAGE_SIZES = (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
LONGEST = 1 << 27
"""Bytes of a row; a longer one is a broken number."""


def salvage(path: Path) -> Iterator[dict[str, Any]]:
    """The turns that can be read in a bank's file, as messages for `everwhen import`, in the order of arrival."""
    pages = _Pages(path)
    found: dict[str, tuple[int, dict[str, Any]]] = {}
    for number in pages.numbers():
        for rowid, row in pages.rows(number):
            message = _message(row)
            if message is not None:
                found.setdefault(message["id"], (rowid, message))
    for _, message in sorted(found.values(), key=lambda one: one[0]):
        yield message


def _message(row: list[Any]) -> dict[str, Any] | None:
    """A row of `turns` as a message; None for a row of something else, or one that is not whole."""
    if (
        len(row) != _COLUMNS
        or row[0] is not None
        or not all(isinstance(one, str) for one in (*row[1:10], row[11]))
    ):
        return None
    _, id_, session, _, role, speaker, text, said_at, zone, recorded_at, tokens, metadata = row
    whole = isinstance(tokens, int) and role in ROLES and text and "\0" not in text
    if not whole or not _INSTANT.fullmatch(said_at) or not _INSTANT.fullmatch(recorded_at):
        return None
    try:
        extra = json.loads(metadata)
    except (ValueError, RecursionError):
        extra = {}
    return {
        "id": id_,
        "session": session,
        "role": role,
        **({"name": speaker} if speaker != role else {}),
        "content": text,
        "timestamp": said_at,
        "zone": zone,
        **({"metadata": extra} if isinstance(extra, dict) and extra else {}),
    }


class _Pages:
    """The pages of a database file, with the newer ones of its write-ahead log."""

    def __init__(self, path: Path) -> None:
        self._raw = path.read_bytes()
        if len(self._raw) < _PAGE_SIZES[0]:
            raise Damaged(f"{path} holds less than one page: there is nothing to salvage")
        size = int.from_bytes(self._raw[16:18], "big") if self._raw.startswith(b"SQLite format 3\0") else 4096
        self.size = 65536 if size == 1 else size
        reserved = self._raw[20] if self._raw.startswith(b"SQLite format 3\0") else 0
        if self.size not in _PAGE_SIZES or reserved > 64:
            self.size, reserved = 4096, 0  # the header is gone: as we make them
        if len(self._raw) < self.size:
            raise Damaged(f"{path} holds less than one page: there is nothing to salvage")
        self._usable = self.size - reserved
        self._over = self._log(path.with_name(path.name + "-wal"))

    def numbers(self) -> Iterator[int]:
        count = len(self._raw) // self.size
        yield from range(1, count + 1)
        yield from sorted(number for number in self._over if number > count)

    def page(self, number: int) -> bytes:
        if number in self._over:
            return self._over[number]
        return self._raw[(number - 1) * self.size : number * self.size]

    def rows(self, number: int) -> Iterator[tuple[int, list[Any]]]:
        """The whole rows of a page, where it is a leaf of a table."""
        page = self.page(number)
        start = 100 if number == 1 else 0
        if len(page) < self.size or page[start] != _LEAF:
            return
        cells = int.from_bytes(page[start + 3 : start + 5], "big")
        for place in range(cells):
            pointer = start + 8 + 2 * place
            offset = int.from_bytes(page[pointer : pointer + 2], "big")
            try:
                length, at = _varint(page, offset)
                rowid, at = _varint(page, at)
                payload = self._payload(page, at, length)
                yield rowid, _record(payload)
            except (IndexError, ValueError, struct.error):
                continue

    def _payload(self, page: bytes, at: int, length: int) -> bytes:
        """A row's bytes, those on other pages included."""
        if not 0 < length <= LONGEST:
            raise ValueError("no length of a row")
        most = self._usable - 35
        if length <= most:
            here = length
        else:
            least = (self._usable - 12) * 32 // 255 - 23
            here = least + (length - least) % (self._usable - 4)
            here = here if here <= most else least
        parts, left = [page[at : at + here]], length - here
        following = int.from_bytes(page[at + here : at + here + 4], "big") if left else 0
        while left > 0:
            other = self.page(following) if following else b""
            if len(other) < self.size:
                raise ValueError("the row goes on where no page is")
            parts.append(other[4 : 4 + min(left, self._usable - 4)])
            left -= len(parts[-1])
            following = int.from_bytes(other[:4], "big")
        return b"".join(parts)

    def _log(self, path: Path) -> dict[int, bytes]:
        """The pages that the write-ahead log holds, up to its last commit."""
        raw = path.read_bytes() if path.exists() else b""
        if len(raw) < 32 or raw[:4] not in (b"\x37\x7f\x06\x82", b"\x37\x7f\x06\x83"):
            return {}
        salts, step = raw[16:24], 24 + self.size
        done: dict[int, bytes] = {}
        pending: dict[int, bytes] = {}
        for start in range(32, len(raw) - step + 1, step):
            number, commit = struct.unpack(">II", raw[start : start + 8])
            if raw[start + 8 : start + 16] != salts or not number:
                break
            pending[number] = raw[start + 24 : start + step]
            if commit:
                done |= pending
                pending = {}
        return done


def _varint(raw: bytes, at: int) -> tuple[int, int]:
    value = 0
    for place in range(9):
        byte = raw[at + place]
        if place == 8:
            return (value << 8) | byte, at + 9
        value = (value << 7) | (byte & 0x7F)
        if not byte & 0x80:
            return value, at + place + 1
    raise ValueError("no number")


def _record(raw: bytes) -> list[Any]:
    """The columns of a row; text that is no UTF-8 raises."""
    size, at = _varint(raw, 0)
    types = []
    while at < size:
        type_, at = _varint(raw, at)
        types.append(type_)
    values: list[Any] = []
    place = size
    for type_ in types:
        length = _length(type_)
        if place + length > len(raw):
            raise ValueError("the row ends early")
        part = raw[place : place + length]
        place += length
        values.append(_value(type_, part))
    return values


def _length(type_: int) -> int:
    if type_ >= 12:
        return (type_ - 12) // 2
    return (0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0)[type_]


def _value(type_: int, part: bytes) -> Any:
    if type_ == 0:
        return None
    if type_ in (8, 9):
        return type_ - 8
    if type_ == 7:
        return struct.unpack(">d", part)[0]
    if type_ < 7:
        return int.from_bytes(part, "big", signed=True)
    return part.decode("utf-8") if type_ % 2 else part
