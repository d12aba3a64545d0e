"""Doctor's question to the tree: is every node what its turns make it?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from everwhen.store import Store
from everwhen.tree.levels import Levels
from everwhen.types import Consolidated, Finding


def mend(
    store: Store, levels: Levels, findings: Sequence[Finding], build: Callable[[bool], Consolidated]
) -> list[Finding]:
    """The findings, those about the tree as mended: all of it is built again, as far as it was built before.

    `build` is told whether windows that are still open were built too.
    """
    if not any(finding.check in ("tree", "consolidation") for finding in findings):
        return list(findings)
    newest = store.tree.watermark()
    ends = [row.place.end for row in store.tree.nodes(levels.top)]
    open_too = newest is not None and any(end > newest for end in ends)
    store.tree.restart(str(levels))
    build(open_too)
    left = {finding.problem for finding in store.tree.check()}
    return [
        replace(one, fixed=one.problem not in left) if one.check in ("tree", "consolidation") else one
        for one in findings
    ]
