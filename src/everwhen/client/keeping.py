"""Forgetting, retention, moving and the memory tree, as steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import IO, Any

from typing_extensions import TypedDict

from everwhen import checked
from everwhen.client.calls import pages, span, when_given
from everwhen.client.wire import Call, Steps
from everwhen.errors import Unavailable, UsageError
from everwhen.types import Between, Consolidated, Node, Receipt, Statement, Time
from everwhen.when import Interval

PART = 4_000_000
"""Bytes of an export that are sent at once; a server takes twice as many."""


class Imported(TypedDict):
    """What a server says of an import."""

    received: int
    source: str | None
    rows: int | None


def forget(
    *,
    turns: str | Sequence[str] | None = None,
    session: str | None = None,
    entity: str | None = None,
    between: Between | None = None,
    everything: bool = False,
    dry_run: bool = False,
) -> Steps[Receipt]:
    """See `Memory.forget`. `everything` needs a key with the scope admin."""
    listed = [turns] if isinstance(turns, str) else list(turns or ())
    window = span(between)
    if not (listed or session or entity or window or everything):
        raise UsageError(
            "forget what? give turns=, session=, entity=, between= or everything=True (dry_run=True only looks)"
        )
    body = {
        "turns": listed or None,
        "session": checked.label(session, "session"),
        "entity": checked.label(entity, "entity"),
        "between": window,
        "everything": everything,
        "dry_run": dry_run,
    }
    receipt: Receipt = yield Call("DELETE", "/turns", Receipt, body, writes=True, patient=True)
    return receipt


def set_retention(rule: str) -> Steps[str]:
    """See `Memory.set_retention`."""
    body = {"retention": checked.words(rule, "rule")}
    found = yield Call("PATCH", "", dict[str, Any], body, writes=True)
    return str(found["retention"])


def retain(now: Time | None = None, *, dry_run: bool = False) -> Steps[Receipt]:
    """See `Memory.retain`."""
    body = {"now": when_given(now, "now"), "dry_run": dry_run}
    receipt: Receipt = yield Call("POST", "/retain", Receipt, body, writes=True, patient=True)
    return receipt


# Moving


def export(
    path: str | Path, *, vectors: bool = True, progress: Callable[[int], None] | None = None
) -> Steps[int]:
    """See `Memory.export`; the file is written where the client is."""
    from everwhen.keep.export import writing

    with writing(Path(path)) as stream:
        lines = _Lines(stream, progress)
        yield Call("POST", "/export", None, {"vectors": vectors}, into=lines.take, patient=True)
        if not lines.ended:
            raise Unavailable("the export ended early; ask for it again")
    return lines.rows


def import_(path: str | Path, *, progress: Callable[[int], None] | None = None) -> Steps[int]:
    """See `Memory.import_`; the file is read where the client is, and `progress` hears of the rows at the end.

    Interrupted, the same call goes on with what the server has not got yet.
    """
    from everwhen.ingest.importers.packed import opened
    from everwhen.keep.export import read_header

    header = read_header(Path(path))
    begun = yield Call("GET", "/import", Imported)
    offset, rows = (begun["received"] if begun["source"] == header.source else 0), None
    with opened(Path(path), offset) as stream:
        for part, more in _parts(stream):
            params = {"offset": offset, "more": more}
            got = yield Call(
                "POST", "/import", Imported, params=params, raw=part, writes=True, patient=not more
            )
            offset, rows = got["received"], got["rows"]
    if rows is None:
        raise Unavailable("the server did not say how many rows came; try again")
    if progress:
        progress(rows)
    return int(rows)


class _Lines:
    """Writes what comes, counts the rows in it, and sees whether the end is there."""

    def __init__(self, stream: IO[bytes], progress: Callable[[int], None] | None) -> None:
        self._stream = stream
        self._progress = progress
        self._rest = b""
        self.rows = 0
        self.ended = False

    def take(self, piece: bytes) -> None:
        self._stream.write(piece)
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            self.rows += line.startswith(b'{"table":')
            self.ended = self.ended or line.startswith(b'{"end":')
        if self._progress:
            self._progress(self.rows)


def _parts(stream: IO[bytes]) -> Iterator[tuple[bytes, bool]]:
    """A file in parts, and whether another one follows."""
    part = stream.read(PART)
    while True:
        following = stream.read(PART)
        yield part, bool(following)
        if not following:
            return
        part = following


# The tree


def consolidate(
    now: Time | None = None,
    *,
    progress: Callable[[int, int], None] | None = None,
) -> Steps[Consolidated]:
    """See `Memory.consolidate`; `progress` hears of it at the end."""
    made: Consolidated = yield Call(
        "POST", "/consolidate", Consolidated, {"now": when_given(now, "now")}, writes=True, patient=True
    )
    if progress:
        progress(made.built + made.rebuilt, made.built + made.rebuilt)
    return made


def tree(level: int | None = None, at: Time | Interval | None = None) -> Steps[list[Node]]:
    """See `Memory.tree`."""
    moment = {"from": at.start, "to": at.end} if isinstance(at, Interval) else {"at": when_given(at, "at")}
    return (yield from pages("/tree", Node, level=level, **moment))


def profile() -> Steps[list[Statement]]:
    """See `Memory.profile`."""
    return (yield from pages("/profile", Statement))
