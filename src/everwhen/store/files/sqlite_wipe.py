"""The unused bytes in the middle of a database's pages, overwritten with zeros.

`secure_delete` overwrites cells and pages that are deleted, and misses one copy: where SQLite moves rows to a
neighbouring page, their bytes stay behind in the page that they came from, between the list of its cells and the cells,
until something is written over them. Such a row may be deleted years later, in its new place only. Of 3,600 rows that a
test deleted at random, 6 to 158 left something there, and nothing anywhere else.

`VACUUM` takes 16 s for a bank of 100,000 turns, since it writes everything. This reads the file once and writes what is
not zero. No reader looks at those bytes, whatever it is doing at that moment.
"""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import BinaryIO

import numpy as np

AT_ONCE = 16 * 2**20
BTREE = (2, 5, 10, 13)
"""The first byte of a page of a tree: interior of an index, of a table, leaf of an index, of a table. The first byte of
any other page is the highest of a page's number, which is 0 in a file that has less than `MOST_PAGES`."""
INTERIOR = (2, 5)
MOST_PAGES = 1 << 25
ZEROS = bytes(65_536)


class OpenFiles:
    """Files that SQLite has open in this process, and a handle of our own for some of them.

    When a process closes any handle of a file, POSIX drops all locks that it has on that file, SQLite's included. So
    ours stays open for as long as a connection of this process does.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._users: dict[tuple[int, int], int] = {}
        self._handles: dict[tuple[int, int], BinaryIO] = {}

    def enter(self, path: Path) -> tuple[int, int]:
        """Say that a connection is open; what `leave` wants to hear when it is closed."""
        found = path.stat()
        key = (found.st_dev, found.st_ino)
        with self._lock:
            self._users[key] = self._users.get(key, 0) + 1
        return key

    def leave(self, key: tuple[int, int]) -> None:
        with self._lock:
            self._users[key] -= 1
            if not self._users[key]:
                del self._users[key]
                if handle := self._handles.pop(key, None):
                    handle.close()

    def handle(self, key: tuple[int, int], path: Path) -> BinaryIO:
        """A handle for reading and writing, while a connection is open."""
        with self._lock:
            if key not in self._handles:
                self._handles[key] = path.open("rb+", buffering=0)
            return self._handles[key]


open_files = OpenFiles()


def can_be_wiped(file: BinaryIO) -> bool:
    """Whether pages of trees are told by their first byte: not in a file that vacuums itself, nor in a giant."""
    file.seek(0)
    head = _read(file, 100)
    return len(head) == 100 and not any(head[52:56]) and _pages(file, head) < MOST_PAGES


def wipe_slack(file: BinaryIO) -> None:
    """Overwrite the slack of every page. The caller sees to it that nobody writes meanwhile, that all pages are in the
    file, and that no cache keeps older ones."""
    file.seek(0)
    head = _read(file, 100)
    size, pages = _page_size(head), _pages(file, head)
    many = AT_ONCE // size
    for first in range(0, pages, many):
        file.seek(first * size)
        data = _read(file, min(many, pages - first) * size)
        for low, high in _slack(data, size, first=first == 0):
            if data[low:high] != ZEROS[: high - low]:
                file.seek(first * size + low)
                file.write(ZEROS[: high - low])
    os.fsync(file.fileno())


def log_is_empty(path: Path) -> bool:
    """Whether all pages of a database are in its file, and none in the write-ahead log beside it."""
    log = path.with_name(f"{path.name}-wal")
    return not log.exists() or log.stat().st_size == 0


def _page_size(head: bytes) -> int:
    size = int.from_bytes(head[16:18], "big")
    return 65_536 if size == 1 else size


def _pages(file: BinaryIO, head: bytes) -> int:
    return os.fstat(file.fileno()).st_size // _page_size(head)


def _slack(data: bytes, size: int, *, first: bool) -> list[tuple[int, int]]:
    """From where to where the slack of each page of a tree goes, in the bytes of some pages.

    https://www.sqlite.org/fileformat2.html#b_tree_pages: byte 0 is the kind, 3 the number of cells, 5 where the cells
    begin (0 is 65,536); after 8 bytes, or 12 of an interior page, come 2 for each cell.
    """
    page = np.frombuffer(data, np.uint8).reshape(-1, size)
    starts = np.zeros(len(page), np.int64)
    if first:
        starts[0] = 100  # the file's own header comes before
    rows = np.arange(len(page))
    kind = page[rows, starts]
    cells = page[rows, starts + 3].astype(np.int64) << 8 | page[rows, starts + 4]
    content = page[rows, starts + 5].astype(np.int64) << 8 | page[rows, starts + 6]
    low = starts + np.where(np.isin(kind, INTERIOR), 12, 8) + 2 * cells
    high = np.where(content == 0, 65_536, content)
    tree = np.isin(kind, BTREE) & (low < high) & (high <= size)  # no more is touched of a damaged page
    base = rows[tree] * size
    return list(zip((base + low[tree]).tolist(), (base + high[tree]).tolist(), strict=True))


def _read(file: BinaryIO, size: int) -> bytes:
    """All of it: an unbuffered file may give less at a time."""
    parts = []
    while size and (part := file.read(size)):
        parts.append(part)
        size -= len(part)
    return parts[0] if len(parts) == 1 else b"".join(parts)
