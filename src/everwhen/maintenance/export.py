"""A bank as one file of JSON lines, with everything in it, and back again (docs/reliability.md has the format).

Header, then rows in blocks, each closed by a line with its checksum, then the end. A checksum is that of the block's
bytes after the checksum before it, so that a file is whole up to wherever it was read, and loading can go on from any
block.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from everwhen.errors import Damaged
from everwhen.files.compressed import opened
from everwhen.files.export import FORMAT, MARK, ExportHeader, parsed_line, writing
from everwhen.files.json_values import one_line
from everwhen.store import Store
from everwhen.store.maintenance import Loader, Snapshot

BLOCK = 500
"""Rows between two checksums, and in one transaction of loading …"""
BLOCK_BYTES = 8_000_000
"""… or fewer, when they are this long already: a block is held in memory while it is loaded."""
LARGEST_BLOCK = 256_000_000
"""Bytes of a block that is still read: older exports counted rows alone."""
VECTORS = ("vectors", "token_codes")
"""Tables that an export without vectors leaves out: they follow from the words and the model."""


def export(
    store: Store, path: Path, *, vectors: bool = True, progress: Callable[[int], None] | None = None
) -> int:
    """Write a bank as it is at this moment; how many rows. The file is there when it is whole."""
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


def load(
    path: Path, header: ExportHeader, loader: Loader, progress: Callable[[int], None] | None = None
) -> int:
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
        raw = parsed_line(line, path, number)
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


def _plain(value: Any) -> Any:
    return {"base64": base64.b64encode(value).decode()} if isinstance(value, bytes) else value


def _stored(value: Any) -> Any:
    return base64.b64decode(value["base64"]) if isinstance(value, dict) else value
