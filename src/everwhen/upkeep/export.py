"""A bank as one file of JSON lines, with everything in it, and back again (docs/reliability.md has the format).

Header, then records in blocks, each closed by a line with its checksum, then the end. A checksum is that of the block's
bytes after the checksum before it, so that a file is whole up to wherever it was read, and loading can go on from any
block.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from everwhen.errors import Damaged, Refused
from everwhen.store.base import Store
from everwhen.store.files.compressed import opened
from everwhen.store.files.export import FORMAT, MARK, ExportHeader, parsed_line, read_header, writing
from everwhen.store.files.json_values import one_line
from everwhen.store.maintenance import Loader, Record, Snapshot

BLOCK = 500
"""Records between two checksums, and in one transaction of loading …"""
BLOCK_BYTES = 8_000_000
"""… or fewer, when they are this long already: a block is held in memory while it is loaded."""
LARGEST_BLOCK = 256_000_000
"""Bytes of a block that is still read: its last record may be long."""


def export(
    store: Store, path: Path, *, vectors: bool = True, progress: Callable[[int], None] | None = None
) -> int:
    """Write a bank as it is at this moment; how many records. The file is there when it is whole."""
    with store.keep.snapshot() as snapshot, writing(path) as stream:
        return _write(stream, snapshot, vectors, progress)


def _write(
    stream: IO[bytes], snapshot: Snapshot, vectors: bool, progress: Callable[[int], None] | None
) -> int:
    values = snapshot.values()
    out = _Chain(stream)
    out.line(
        {
            MARK: "bank",
            "format": FORMAT,
            "bank": values.get("name", ""),
            "embedder": values["embedder"],
            "dimension": int(values["dimension"]),
            "exported_at": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
            "vectors": vectors,
            "records": snapshot.counts(),
        }
    )
    out.close_block()
    done = 0
    for record in snapshot.records(vectors=vectors):
        out.line(record)
        done += 1
        if out.full:
            out.close_block()
            if progress:
                progress(done)
    out.close_block()
    out.line({"end": True, "records": done})
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


def import_bank(store: Store, path: Path, progress: Callable[[int], None] | None = None) -> ExportHeader:
    """Fill an empty bank with an export: all of it, or nothing. Interrupted, the same call goes on.

    A bank that holds something is refused: two banks cannot be told apart once they are one. Vectors that the export
    leaves out are missing afterwards; whoever calls this embeds them.
    """
    header = read_header(path)
    if store.stats().turns or next(iter(store.facts.every_version()), None) is not None:
        raise Refused(
            f"bank '{store.info.name}' holds memories already; import an export into a new one: "
            f"`everwhen import {path.name} --bank NAME`"
        )
    if header.vectors and header.embedder != store.info.embedder:
        raise Refused(
            f"the export has vectors of {header.embedder}, and bank '{store.info.name}' uses {store.info.embedder}; "
            f"open it with embedder='{header.embedder}', or export without vectors"
        )
    with closing(store.keep.loader(header.source)) as loader:
        load(path, header, loader, progress)
        loader.finish(header.counts, store.info.name)
    return header


def load(
    path: Path, header: ExportHeader, loader: Loader, progress: Callable[[int], None] | None = None
) -> int:
    """Load an export, block by block; goes on where an earlier attempt stopped. How many records."""
    done = 0
    with opened(path, loader.offset) as stream:
        for records, offset, chain, ended in _blocks(stream, path, loader.offset, loader.chain):
            loader.put(records, offset, chain)
            done += len(records)
            if progress:
                progress(done)
            if ended is not None:
                if ended != sum(header.counts.values()):
                    raise Damaged(
                        f"{path} ends with {ended} records where its beginning promises another number"
                    )
                return done
    raise Damaged(
        f"{path} ends early: {done} records came, and no end; what came is kept for another attempt"
    )


_Block = tuple[list[Record], int, str, int | None]


def _blocks(stream: IO[bytes], path: Path, offset: int, chain: str) -> Iterator[_Block]:
    """Verified blocks: their records, the place and checksum after them, and at the end the promised number."""
    block = hashlib.sha256(chain.encode())
    records: list[Record] = []
    ended: int | None = None
    place = start = offset
    for number in itertools.count(1):
        line = one_line(stream, f"{path}, line {number}")
        if not line:
            return
        place += len(line)
        if len(records) > BLOCK or place - start > LARGEST_BLOCK:
            raise Damaged(
                f"{path} is damaged before byte {place}: a block has a checksum after at most {BLOCK} records and "
                f"{LARGEST_BLOCK / 1e6:g} MB, and this one has none"
            )
        raw = parsed_line(line, path, number)
        if "check" in raw:
            if raw["check"] != block.hexdigest():
                raise Damaged(f"{path} is damaged before byte {place}: the checksum of a block is another")
            yield records, place, str(raw["check"]), ended
            block = hashlib.sha256(str(raw["check"]).encode())
            records, start = [], place
            continue
        block.update(line)
        if "end" in raw:
            ended = raw.get("records")
        elif MARK not in raw:  # the header
            records.append(raw)
