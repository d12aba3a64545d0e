"""The doctor's check of the tree: is every node what its turns would make it?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from everwhen.store import Store
from everwhen.tree.levels import Levels
from everwhen.types import Consolidated, Finding


def reaches_open(store: Store, levels: Levels) -> bool:
    """Whether windows that are still open were built too."""
    newest = store.jobs.tree.watermark()
    return newest is not None and any(row.place.end > newest for row in store.tree.nodes(levels.top))


def repair_tree(
    store: Store,
    levels: Levels,
    findings: Sequence[Finding],
    build: Callable[[bool], Consolidated],
    open_too: bool | None = None,
) -> list[Finding]:
    """The findings, those about the tree as mended: all of it is built again, as far as it was built before.

    `build` is told whether windows that are still open were built too: that is read from the nodes, unless somebody
    looked before they were taken out.
    """
    if not any(finding.check in ("tree", "consolidation") for finding in findings):
        return list(findings)
    reached = reaches_open(store, levels) if open_too is None else open_too
    store.tree.restart(str(levels))
    build(reached)
    left = {finding.problem for finding in store.tree.check()}
    return [
        replace(one, fixed=one.problem not in left) if one.check in ("tree", "consolidation") else one
        for one in findings
    ]
