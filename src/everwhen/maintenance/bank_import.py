"""Loads an export into an empty bank."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from everwhen.errors import Refused
from everwhen.files.export import ExportHeader, read_header
from everwhen.maintenance.export import load
from everwhen.store import Store
from everwhen.store.maintenance import OldExport


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
    old = OldExport(header.schema, header.sequences) if header.format == 1 else None
    loader = store.keep.loader(header.source, old)
    try:
        load(path, header, loader, progress)
        loader.finish(header.counts, store.info.name)
    finally:
        loader.close()
    return header
