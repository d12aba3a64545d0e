"""Doctor: reports what is wrong with a bank, one sentence each, and rebuilds derived data.

Turns are never changed. If turns themselves are damaged, nothing is repaired: a repaired index over lost turns would
look healthy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import Damaged, EverwhenError
from everwhen.models.embedder import Embedder, centroid
from everwhen.settings import Settings
from everwhen.store.base import VectorModel
from everwhen.store.rows import NewTurn
from everwhen.store.sql.store import Store
from everwhen.types import Finding, Turn
from everwhen.write.remember import check_codes, context_of, embed_spoken, embed_units, in_batches, spoken

PASSES = 2
"""Mending one thing can bring another to light: a vector whose unit was missing."""


def examine(store: Store, embedder: Embedder, settings: Settings) -> list[Finding]:
    """Run every check on a bank."""
    findings = store.check()
    if any(finding.check == "file" for finding in findings):
        return findings  # nothing else can be believed
    if store.jobs.scrubbing.waits():
        findings.append(Finding("erasure", "forgotten words may still stand in the free space of the file"))
    return findings + _model(store, embedder) + check_codes(store, embedder, settings, fix=False)


def _model(store: Store, embedder: Embedder) -> list[Finding]:
    try:
        dimension = embedder.dim
    except EverwhenError as error:
        return [Finding("model", f"the embedding model {store.info.embedder} cannot be used here: {error}")]
    if dimension == store.info.dimension:
        return []
    return [
        Finding(
            "model",
            f"{store.info.embedder} gives vectors of {dimension} here and gave {store.info.dimension} when the bank "
            "was made; `everwhen bank reembed` makes all of them anew",
        )
    ]


def repair(
    store: Store,
    embedder: Embedder,
    settings: Settings,
    rebuilding: Callable[[], Callable[[Sequence[str], bool], None]],
) -> list[Finding]:
    """Rebuild what is derived; every finding says whether that mended it.

    `rebuilding` looks at the bank before anything is changed; what it gives reads some turns again, and with True
    builds the tree anew. Raises `Damaged` where originals are damaged.
    """
    found = examine(store, embedder, settings)
    if lost := [finding.problem for finding in found if finding.original]:
        raise Damaged(
            f"what was said is damaged itself ({lost[0]}), so nothing was changed: restore a backup "
            "(`everwhen bank restore`), or save what can be read with `everwhen bank salvage OUT.jsonl`"
        )
    rebuild = rebuilding()
    for attempt in range(PASSES):
        again = [*store.keep.unfinished(), *_find_again(store, embedder, settings)]
        store.check(fix=True)
        _embed_again(store, embedder, settings)
        left = examine(store, embedder, settings)
        # What leads nowhere was taken out, and nodes are among it: nothing else would say that they are missing.
        tree = any(finding.check == "tree" for finding in left) or (
            attempt == 0 and any(finding.check == "provenance" for finding in found)
        )
        if again or tree:
            rebuild(list(dict.fromkeys(again)), tree)
        if any(finding.check == "tokens" for finding in left):
            check_codes(store, embedder, settings, fix=True)
        if store.jobs.scrubbing.waits():
            store.jobs.scrubbing.run()
        left = examine(store, embedder, settings)
        if not left:
            break
    return _compared(found, left)


def _compared(before: Sequence[Finding], after: Sequence[Finding]) -> list[Finding]:
    """What was found, each with whether it is gone; and what came to light on the way."""
    left = {(one.check, one.problem) for one in after}
    whole = {one.check for one in after}
    return [
        *(
            replace(one, fixed=True)
            for one in before
            if (one.check, one.problem) not in left and one.check not in whole
        ),
        *after,
    ]


def _find_again(store: Store, embedder: Embedder, settings: Settings) -> list[str]:
    """Make turns findable that are there and have no unit; they are read again too."""
    missing = store.keep.unfound()
    for ids in in_batches(missing, settings.batch):
        turns = list(store.turns(ids=ids))
        before = [_before(store, turn) for turn in turns]
        texts = [
            spoken(turn, context_of(one, settings), settings) for turn, one in zip(turns, before, strict=True)
        ]
        store.add_missing_units(
            [
                NewTurn(
                    turn,
                    made.vectors,
                    VectorModel.of(embedder),
                    context=text.before,
                    before=one.id if one else None,
                    network="experience" if turn.role == "assistant" else "world",
                    codes=made.codes,
                )
                for turn, one, text, made in zip(
                    turns, before, texts, embed_spoken(embedder, texts), strict=True
                )
            ]
        )
    return missing


def _before(store: Store, turn: Turn) -> Turn | None:
    """The turn that stands before another in its session."""
    last: Turn | None = None
    for other in store.turns(session=turn.session):
        if other.id == turn.id:
            return last
        last = other
    return last


def _embed_again(store: Store, embedder: Embedder, settings: Settings) -> None:
    """New vectors for the units that lack theirs."""
    wrong = store.keep.badly_embedded(store.info.dimension)
    vectors: dict[str, NDArray[np.float32]] = {}
    codes: dict[str, bytes] = {}
    for ids in in_batches([id_ for id_, kind in wrong.items() if kind == "turn"], settings.batch):
        turns, contexts = list(store.turns(ids=ids)), store.contexts(ids)
        texts = [spoken(turn, contexts.get(turn.id, ""), settings) for turn in turns]
        for turn, made in zip(turns, embed_spoken(embedder, texts), strict=True):
            vectors[turn.id], codes[turn.id] = made
    _put(store, embedder, vectors, codes)
    others = store.keep.unit_texts([id_ for id_, kind in wrong.items() if kind not in ("turn", "node")])
    _put(store, embedder, embed_units(store, embedder, others, settings), {})
    nodes = {id_ for id_, kind in wrong.items() if kind == "node"}
    if nodes:
        _put(store, embedder, dict(_node_vectors(store, embedder, settings, nodes)), {})


def _node_vectors(
    store: Store, embedder: Embedder, settings: Settings, nodes: set[str]
) -> Iterable[tuple[str, NDArray[np.float32]]]:
    for id_, text, consolidator, turns in store.tree.for_reembedding():
        if id_ in nodes:
            # As `reembed` does: what quotes turns points where they point.
            quoted = consolidator == "extractive" and bool(turns)
            yield (
                id_,
                centroid(store.graph.vectors(turns))
                if quoted
                else embed_units(store, embedder, {id_: text}, settings)[id_],
            )


def _put(
    store: Store, embedder: Embedder, vectors: dict[str, NDArray[np.float32]], codes: dict[str, bytes]
) -> None:
    if vectors:
        store.keep.put_vectors(vectors, codes, VectorModel.of(embedder))
