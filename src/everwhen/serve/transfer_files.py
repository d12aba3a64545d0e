"""Exports that leave and come: files of the server's own, for as long as they travel.

An export is written whole before its first byte leaves, so that a slow reader holds no snapshot of the bank open. An
import comes in parts that each keep to the size of a request; what came stays until all of it is there, so that a
broken connection costs one part.
"""

from __future__ import annotations

import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from pydantic import BaseModel

from everwhen.api.memory import Memory
from everwhen.errors import Damaged, EverwhenError, Refused, Unavailable, UsageError
from everwhen.serve.banks import Banks
from everwhen.serve.responses import Problem
from everwhen.serve.server_settings import ServerSettings
from everwhen.store.files.export import read_header
from everwhen.store.files.json_values import PACKED, is_packed
from everwhen.store.files.private import private_file, private_folder

FOLDER = "moving"
PIECE = 256 * 1024
"""Bytes that are sent at once."""
LONGEST_HEADER = 100_000
_COMPRESSED = "the import is compressed; send the JSON lines as they are"


class Imported(BaseModel):
    """How much of an export has come, and once it is all there and in the bank, how many rows."""

    received: int
    source: str | None = None
    """SHA-256 of its first line, which names the export."""
    rows: int | None = None


class TransferFiles:
    """The folder `serve/transfer_files`: what is on its way into or out of a bank."""

    def __init__(self, serving: ServerSettings) -> None:
        self._folder = serving.folder / FOLDER
        self._most = serving.largest_import
        self._lock = threading.Lock()
        self._busy: set[str] = set()
        self._sweep(serving.remember_hours * 3600)

    # Out

    def written(self, memory: Memory, vectors: bool) -> IO[bytes]:
        """An export of the bank, open for reading; the file has no name any more, and ends when it is closed."""
        path = private_folder(self._folder) / f"{memory.bank}.{threading.get_ident()}.{time.time_ns()}.out"
        try:
            memory.export(path, vectors=vectors)
            return path.open("rb")
        finally:
            path.unlink(missing_ok=True)

    # In

    def received(self, bank: str) -> Imported:
        try:
            with self._part(bank).open("rb") as stream:
                first = stream.readline(LONGEST_HEADER)
                size = stream.seek(0, 2)
        except FileNotFoundError:
            return Imported(received=0)
        source = hashlib.sha256(first).hexdigest() if first.endswith(b"\n") else None
        return Imported(received=size, source=source)

    def take(self, banks: Banks, bank: str, body: bytes, offset: int, more: bool) -> Imported:
        """Take a part that begins at `offset`; after the last one, fill the bank."""
        with self._alone(bank):
            self._append(bank, body, offset)
            come = self.received(bank)
            if not more:
                come.rows = self._fill(banks, bank)
            return come

    def forget(self, bank: str) -> None:
        self._part(bank).unlink(missing_ok=True)

    def _append(self, bank: str, body: bytes, offset: int) -> None:
        here = self.received(bank).received
        if offset > here:
            raise Problem(409, f"offset: {here} bytes of this import have come; go on from there")
        if offset + len(body) > self._most:
            raise Problem(
                413, f"the import is larger than {self._most / 1e9:g} GB; use `everwhen import`", "UsageError"
            )
        if offset == 0 and body.startswith(PACKED):
            raise Problem(422, _COMPRESSED, "UsageError")
        with private_file(self._part(bank)).open("r+b") as stream:
            stream.seek(offset)
            stream.truncate()
            stream.write(body)

    def _fill(self, banks: Banks, bank: str) -> int:
        path = self._part(bank)
        try:
            if is_packed(path):  # its first bytes may have come in two parts
                raise UsageError(_COMPRESSED)
            read_header(path)  # before a bank comes into being for nothing
            with banks.lease(bank, create=True) as memory:
                rows = memory.import_(path)
        except (UsageError, Refused, Damaged) as error:
            path.unlink(missing_ok=True)
            raise self._without_path(error, path) from error
        except Unavailable as error:  # what came stays: the last part may be sent again
            raise self._without_path(error, path) from error
        path.unlink(missing_ok=True)
        return rows

    @staticmethod
    def _without_path(error: EverwhenError, path: Path) -> Exception:
        """The same, without where the server keeps its files. What is damaged here is what was sent."""
        sentence = str(error).replace(str(path), "the import").replace(path.name, "FILE")
        if isinstance(error, Damaged):
            return Problem(422, sentence, "Damaged")
        return type(error)(sentence)

    @contextmanager
    def _alone(self, bank: str) -> Iterator[None]:
        with self._lock:
            if bank in self._busy:
                raise Problem(
                    409,
                    "another part of an import into this bank is being taken; ask again later",
                    headers={"Retry-After": "1"},
                )
            self._busy.add(bank)
        try:
            yield
        finally:
            with self._lock:
                self._busy.discard(bank)

    def _part(self, bank: str) -> Path:
        return self._folder / f"{bank}.in"

    def _sweep(self, seconds: float) -> None:
        """What a server that was killed, or a client that never came back, left behind."""
        for path in self._folder.glob("*"):
            try:
                if time.time() - path.stat().st_mtime > seconds:
                    path.unlink()
            except OSError:
                continue


def pieces(stream: IO[bytes]) -> Iterator[bytes]:
    """A file in pieces, closed at the end or when nobody reads on."""
    with stream:
        while piece := stream.read(PIECE):
            yield piece
