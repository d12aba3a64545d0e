"""A bank as one file of JSON lines and back again (docs/reliability.md has the format), or moved to another database.

Header, then records in blocks, each closed by a line with its checksum, then the end. A checksum is that of the block's
bytes after the checksum before it, so that a file is whole up to wherever it was read, and loading can go on from any
block. A move goes through the same records, is verified on both sides, and can be resumed.
"""

from __future__ import annotations

import base64
import hashlib
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import numpy as np

from everwhen.errors import Damaged, NotFound, Refused
from everwhen.store.banks import Banks
from everwhen.store.files.export import FORMAT, MARK, ExportHeader, parsed_line, read_header, writing
from everwhen.store.files.json_values import one_line, opened
from everwhen.store.rows import Record
from everwhen.store.sql.records import Loader, Snapshot
from everwhen.store.sql.store import Store

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


_OWN = ("setting", "keeping")
"""Kinds that every bank has records of, however empty it is."""


@dataclass(frozen=True, slots=True)
class MovedBank:
    """A bank that is now at the target, equal in every record."""

    bank: str
    records: Mapping[str, int]
    """How many records of each kind."""
    digests: Mapping[str, str]
    """The SHA-256 of each kind's records, the same on both sides."""
    was_there: bool = False
    """An earlier move had brought it."""
    deleted: bool = False
    """It was deleted from the source."""


def move_bank(
    source: Banks,
    target: Banks,
    bank: str,
    *,
    delete_source: bool = False,
    progress: Callable[[int, int], None] | None = None,
) -> MovedBank:
    """Copy a bank as it is at this moment, verify the copy, and only then let it be seen.

    A bank that holds something at the target is never overwritten. Broken off, the same call goes on, unless the bank
    was changed since: then it begins anew. `progress` gets how many records are written, and how many there are.
    """
    if not source.exists(bank):
        raise NotFound(f"there is no bank '{bank}' to be moved; `everwhen bank list` lists those that exist")
    with _reading(source, bank) as snapshot:
        digests = digests_of(snapshot)
        there = _held(target, bank)
        if there is None:
            _copy(snapshot, digests, target, bank, progress)
        elif there != digests:
            raise Refused(
                f"the target has a bank '{bank}' that differs in {_different(there, digests)}, and nothing is "
                "overwritten; remove it there, or move into another home"
            )
        counts = snapshot.counts()
    if delete_source:
        _delete(source, bank, digests)
    return MovedBank(bank, counts, digests, was_there=there is not None, deleted=delete_source)


def digests_of(snapshot: Snapshot) -> dict[str, str]:
    """The SHA-256 of the records of each kind, in their order.

    Vectors are taken as 16-bit floats: a database may keep no more of them.
    """
    sums = {kind: hashlib.sha256() for kind in snapshot.counts()}
    for record in snapshot.records():
        sums[record["kind"]].update(_plain(record))
    return {kind: found.hexdigest() for kind, found in sums.items()}


def _plain(record: Record) -> bytes:
    if "vectors" in record:
        half = [np.frombuffer(base64.b64decode(one), "<f4").astype("<f2") for one in record["vectors"]]
        record = {**record, "vectors": [one.tobytes().hex() for one in half]}
    return (json.dumps(record, ensure_ascii=False, sort_keys=True) + "\n").encode("utf-8", "surrogatepass")


def _held(target: Banks, bank: str) -> dict[str, str] | None:
    """What the target has of a bank, as digests; None where that is nothing."""
    if not target.exists(bank):
        return None
    with _reading(target, bank) as snapshot:
        if not any(count for kind, count in snapshot.counts().items() if kind not in _OWN):
            return None
        return digests_of(snapshot)


def _copy(
    snapshot: Snapshot,
    digests: Mapping[str, str],
    target: Banks,
    bank: str,
    progress: Callable[[int, int], None] | None,
) -> None:
    values, counts = snapshot.values(), snapshot.counts()
    store = target.open(
        bank, embedder=values["embedder"], dimension=int(values["dimension"]), zone=values["zone"]
    )
    with closing(store):
        # Named by what it is made from: what was begun with other contents is not gone on with.
        source = hashlib.sha256(repr(sorted(digests.items())).encode()).hexdigest()
        with closing(store.keep.loader(source)) as loader:
            _load_records(snapshot, loader, sum(counts.values()), progress)
            loader.finish(counts, bank)
        with (
            target.loaded(bank, values["embedder"], _nothing_forgotten) as made,
            made.keep.snapshot() as found,
        ):
            if (copied := digests_of(found)) != digests:
                raise Damaged(
                    f"the copy of bank '{bank}' differs in {_different(copied, digests)}; the source is as it was, "
                    "and nothing is seen of the copy: please report this"
                )
        store.keep.take_over()


def _load_records(
    snapshot: Snapshot, loader: Loader, total: int, progress: Callable[[int, int], None] | None
) -> None:
    """Write the records that an earlier attempt has not: it counted those that it wrote."""
    block: list[Record] = []
    begun = loader.offset
    for place, record in enumerate(snapshot.records(), start=1):
        if place > begun:
            block.append(record)
        if len(block) == BLOCK or (block and place == total):
            loader.put(block, place, "")
            block = []
            if progress:
                progress(place, total)


def _delete(source: Banks, bank: str, digests: Mapping[str, str]) -> None:
    with _reading(source, bank) as snapshot:
        now = digests_of(snapshot)
    if now != digests:
        raise Refused(
            f"bank '{bank}' was changed while it was moved ({_different(now, digests)}), so it is not deleted; the "
            "target has it as it was when the move began. Remove it there, and move it while nobody writes"
        )
    source.drop(bank)


@contextmanager
def _reading(banks: Banks, bank: str) -> Iterator[Snapshot]:
    embedder = banks.embedder_of(bank)
    store = banks.open(bank, embedder=embedder or "", dimension=0, zone="UTC", create=False)
    with closing(store), store.keep.snapshot() as snapshot:
        yield snapshot


def _different(one: Mapping[str, str], other: Mapping[str, str]) -> str:
    return ", ".join(sorted(kind for kind in {*one, *other} if one.get(kind) != other.get(kind)))


def _nothing_forgotten(store: Store, turns: object, facts: object) -> None:
    """The target's bank is empty: it has forgotten nothing that could come back."""
