"""The frame of an export: its first line, and a file that appears when it is whole.

docs/reliability.md has the format; `upkeep/transfer.py` writes and loads the records.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from everwhen.errors import Damaged, EverwhenError, Refused, Unavailable, UsageError
from everwhen.store.files.home import check_folder
from everwhen.store.files.json_values import one_line, opened, parsed, shown

FORMAT = 1
"""The only one there is; an export of another one is refused."""
MARK = "everwhen"


@dataclass(frozen=True, slots=True)
class ExportHeader:
    """The first line of an export."""

    bank: str
    embedder: str
    dimension: int
    vectors: bool
    counts: Mapping[str, int]
    """The number of records of each kind."""
    line: bytes

    @property
    def source(self) -> str:
        """Names the export: loading goes on only with the same one."""
        return hashlib.sha256(self.line).hexdigest()


def read_header(path: Path) -> ExportHeader:
    """What an export says of itself."""
    with opened(path) as stream:
        line = one_line(stream, f"{path}, line 1")
    raw = parsed_line(line, path, 1)
    if raw.get(MARK) != "bank":
        raise UsageError(f"{path} is no export of a bank; `everwhen bank export` writes one")
    if raw.get("format") != FORMAT:
        raise Refused(
            f"{path} has format {shown(raw.get('format'))}, and this everwhen reads {FORMAT}; upgrade with "
            "pip install --upgrade everwhen"
        )
    try:
        return ExportHeader(
            bank=str(raw["bank"]),
            embedder=str(raw["embedder"]),
            dimension=int(raw["dimension"]),
            vectors=bool(raw["vectors"]),
            counts={str(kind): int(count) for kind, count in raw["records"].items()},
            line=line,
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Damaged(f"the first line of {path} is not that of an export ({error})") from error


def is_export(path: Path) -> bool:
    """Whether a file begins as an export does."""
    try:
        with opened(path) as stream:
            return stream.readline(200).startswith(b'{"%s":"bank"' % MARK.encode())
    except (OSError, EverwhenError):  # whatever is wrong with the file, reading it says so better
        return False


def parsed_line(line: bytes, path: Path, number: int) -> dict[str, Any]:
    """One line of an export as an object."""
    try:
        raw = parsed(line.decode("utf-8", "surrogatepass"))
    except ValueError as error:
        raise Damaged(f"{path}, line {number} is not valid JSON: {error}") from error
    if not isinstance(raw, dict):
        raise Damaged(f"{path}, line {number} is no object")
    return raw


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears when it is whole, for its owner alone; `-` is standard output, `.gz` is compressed."""
    if str(path) == "-":
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    check_folder(path)
    part = path.with_name(f".{path.name}.part")
    try:
        raw = os.fdopen(os.open(part, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "wb")
        try:
            with raw:
                if path.suffix == ".gz":
                    with gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=6) as stream:
                        yield stream  # type: ignore[misc]
                else:
                    yield raw
                raw.flush()
                os.fsync(raw.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror or error}") from error
