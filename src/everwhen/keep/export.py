"""Export: a whole bank as one file of JSON lines, and loading it again (the format is in docs/reliability.md).

The file is a header, then rows in blocks, then an end line. Each block is closed by a line with a checksum of the
block's bytes and of the checksum before it. So a damaged file is noticed at the first bad block, and an interrupted
load goes on from the last good one.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from everwhen.errors import Damaged, EverwhenError, Refused, Unavailable, UsageError
from everwhen.home import check_folder
from everwhen.ingest.importers.conversation import shown
from everwhen.ingest.importers.files import one_line, parsed
from everwhen.ingest.importers.packed import opened
from everwhen.store import Store
from everwhen.store.keep import Loader, Snapshot

FORMAT = 1
BLOCK = 500
"""Rows between two checksums, and in one transaction of loading …"""
BLOCK_BYTES = 8_000_000
"""… or fewer, when they are this long already: a block is held in memory while it is loaded."""
LARGEST_BLOCK = 256_000_000
"""Bytes of a block that is still read: older exports counted rows alone."""
VECTORS = ("vectors", "token_codes")
"""Tables that an export without vectors leaves out: they follow from the words and the model."""
MARK = "everwhen"


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of an export: what the file holds, and with which schema and embedder it was made."""

    format: int
    schema: int
    bank: str
    embedder: str
    dimension: int
    vectors: bool
    rows: Mapping[str, int]
    sequences: Mapping[str, int]
    line: bytes

    @property
    def source(self) -> str:
        """Names the export: loading goes on only with the same one."""
        return hashlib.sha256(self.line).hexdigest()


def export(
    store: Store, path: Path, *, vectors: bool = True, progress: Callable[[int], None] | None = None
) -> int:
    """Write a bank as it is at this moment; the number of rows. The file appears when it is complete."""
    with store.keep.snapshot() as snapshot, writing(path) as stream:
        return _write(stream, snapshot, vectors, progress)


def _write(
    stream: IO[bytes], snapshot: Snapshot, vectors: bool, progress: Callable[[int], None] | None
) -> int:
    tables = {name: n for name, n in snapshot.tables().items() if vectors or name not in VECTORS}
    values = snapshot.values()
    out = _Chain(stream)
    out.line(
        {
            MARK: "bank",
            "format": FORMAT,
            "schema": snapshot.schema,
            "bank": values.get("name", ""),
            "embedder": values["embedder"],
            "dimension": int(values["dimension"]),
            "exported_at": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
            "vectors": vectors,
            "rows": tables,
            "sequences": snapshot.sequences(),
        }
    )
    out.close_block()
    done = 0
    for table in tables:
        for row in snapshot.rows(table):
            out.line({"table": table, "row": {name: _plain(value) for name, value in row.items()}})
            done += 1
            if out.full:
                out.close_block()
                if progress:
                    progress(done)
    out.close_block()
    out.line({"end": True, "rows": done})
    out.close_block()
    return done


class _Chain:
    """Lines, and a checksum over all of them so far at the end of each block."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._chain = ""
        self._sum = hashlib.sha256()
        self._rows = self._bytes = 0

    @property
    def full(self) -> bool:
        """Whether the block has as many rows or bytes as one should have."""
        return self._rows >= BLOCK or self._bytes >= BLOCK_BYTES

    def line(self, value: Mapping[str, Any]) -> None:
        raw = (json.dumps(value, ensure_ascii=False, separators=(",", ":")) + "\n").encode(
            "utf-8", "surrogatepass"
        )
        self._sum.update(raw)
        self._stream.write(raw)
        self._rows += 1
        self._bytes += len(raw)

    def close_block(self) -> None:
        self._chain = self._sum.hexdigest()
        self._stream.write(b'{"check":"%s"}\n' % self._chain.encode())
        self._sum = hashlib.sha256(self._chain.encode())
        self._rows = self._bytes = 0


def read_header(path: Path) -> Header:
    """What an export says of itself."""
    with opened(path) as stream:
        line = one_line(stream, f"{path}, line 1")
    raw = _parsed(line, path, 1)
    if raw.get(MARK) != "bank":
        raise UsageError(f"{path} is no export of a bank; `everwhen export` writes one")
    if raw.get("format") != FORMAT:
        raise Refused(
            f"{path} has format {shown(raw.get('format'))}, and this everwhen reads {FORMAT}; upgrade with "
            "pip install --upgrade everwhen"
        )
    try:
        return Header(
            format=FORMAT,
            schema=int(raw["schema"]),
            bank=str(raw["bank"]),
            embedder=str(raw["embedder"]),
            dimension=int(raw["dimension"]),
            vectors=bool(raw["vectors"]),
            rows={str(name): int(count) for name, count in raw["rows"].items()},
            sequences={str(name): int(seq) for name, seq in raw["sequences"].items()},
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


def load(path: Path, header: Header, loader: Loader, progress: Callable[[int], None] | None = None) -> int:
    """Load the rows of an export, block by block; goes on where an earlier attempt stopped. How many rows."""
    done = 0
    with opened(path, loader.offset) as stream:
        for rows, offset, chain, ended in _blocks(stream, path, loader.offset, loader.chain):
            loader.put(rows, offset, chain)
            done += len(rows)
            if progress:
                progress(done)
            if ended is not None:
                if ended != sum(header.rows.values()):
                    raise Damaged(
                        f"{path} ends with {ended} rows where its beginning promises another number"
                    )
                return done
    raise Damaged(f"{path} ends early: {done} rows came, and no end; what came is kept for another attempt")


_Block = tuple[list[tuple[str, Mapping[str, Any]]], int, str, int | None]


def _blocks(stream: IO[bytes], path: Path, offset: int, chain: str) -> Iterator[_Block]:
    """Verified blocks: their rows, the place and checksum after them, and at the end the promised number."""
    block = hashlib.sha256(chain.encode())
    rows: list[tuple[str, Mapping[str, Any]]] = []
    ended: int | None = None
    place = start = offset
    for number in itertools.count(1):
        line = one_line(stream, f"{path}, line {number}")
        if not line:
            return
        place += len(line)
        if len(rows) > BLOCK or place - start > LARGEST_BLOCK:
            raise Damaged(
                f"{path} is damaged before byte {place}: a block has a checksum after at most {BLOCK} rows and "
                f"{LARGEST_BLOCK / 1e6:g} MB, and this one has none"
            )
        raw = _parsed(line, path, number)
        if "check" in raw:
            if raw["check"] != block.hexdigest():
                raise Damaged(f"{path} is damaged before byte {place}: the checksum of a block is another")
            yield rows, place, str(raw["check"]), ended
            block = hashlib.sha256(str(raw["check"]).encode())
            rows, start = [], place
            continue
        block.update(line)
        try:
            if "table" in raw:
                rows.append((str(raw["table"]), {name: _stored(value) for name, value in raw["row"].items()}))
            elif "end" in raw:
                ended = int(raw["rows"])
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Damaged(f"{path}, line {number} is not that of an export ({error})") from error


def _parsed(line: bytes, path: Path, number: int) -> dict[str, Any]:
    try:
        raw = parsed(line.decode("utf-8", "surrogatepass"))
    except ValueError as error:
        raise Damaged(f"{path}, line {number} is not valid JSON: {error}") from error
    if not isinstance(raw, dict):
        raise Damaged(f"{path}, line {number} is no object")
    return raw


def _plain(value: Any) -> Any:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def _stored(value: Any) -> Any:
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value


@contextmanager
def writing(path: Path) -> Iterator[IO[bytes]]:
    """A file that appears when it is complete, readable by its owner only; `-` is standard output, `.gz` is
    compressed."""
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
