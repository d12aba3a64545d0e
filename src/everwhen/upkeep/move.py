"""Moves a bank from one home or database to another: through records, verified on both sides, and resumable."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass

import numpy as np

from everwhen.errors import Damaged, NotFound, Refused
from everwhen.store.banks import Banks
from everwhen.store.base import Store
from everwhen.store.maintenance import Loader, Record, Snapshot

BLOCK = 500
"""Records in one transaction of writing: what a move that is broken off may have to repeat."""
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
    """It is gone from the source."""


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
    was changed since: then it begins anew. `progress` is told how many records are written, and how many there are.
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
            _write(snapshot, loader, sum(counts.values()), progress)
            loader.finish(counts, bank)
        with (
            target.loaded(bank, values["embedder"], _nothing_forgotten) as made,
            made.keep.snapshot() as found,
        ):
            if (told := digests_of(found)) != digests:
                raise Damaged(
                    f"the copy of bank '{bank}' differs in {_different(told, digests)}; the source is as it was, "
                    "and nothing is seen of the copy: please report this"
                )
        store.keep.take_over()


def _write(
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
