"""One small number for a kind and a network together: the code that the search index filters by."""

from __future__ import annotations

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from everwhen.types import KINDS, NETWORKS

CODES = len(KINDS) * len(NETWORKS)
FEW_KINDS = 8


def code(kind: str, network: str) -> int:
    """The number of one kind in one network."""
    return KINDS.index(kind) * len(NETWORKS) + NETWORKS.index(network)


def kind_of(code: int) -> str:
    """The kind that a number stands for."""
    return KINDS[code // len(NETWORKS)]


def codes(kinds: Collection[str] | None, networks: Collection[str] | None) -> NDArray[np.int16]:
    """The numbers of all that some kinds can be in some networks; None is any."""
    return np.array(
        [
            code(kind, network)
            for kind in KINDS
            for network in NETWORKS
            if (kinds is None or kind in kinds) and (networks is None or network in networks)
        ],
        dtype=np.int16,
    )


def among(kinds: NDArray[np.int16], codes: NDArray[np.int16]) -> NDArray[np.bool_]:
    """Which kinds are among the codes: one comparison for each of a few, a look-up in a small table for more."""
    if len(codes) <= FEW_KINDS:
        some: NDArray[np.bool_] = np.zeros(len(kinds), dtype=np.bool_)
        for code in codes:
            some |= kinds == code
        return some
    table = np.zeros(CODES, dtype=np.bool_)
    table[codes] = True
    found: NDArray[np.bool_] = table[kinds]
    return found
