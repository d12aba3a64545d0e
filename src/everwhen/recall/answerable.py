"""Whether the memory holds an answer at all: the engine's own confidence, from what the best candidates match."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from everwhen.models.rerank.maxsim import mean_maxsim, weakest_half
from everwhen.recall.channels import ASKED, BARE
from everwhen.recall.features import Pool


def signs(pool: Pool) -> dict[str, float]:
    """What tells an answer that is there from one that is not: absolute, not relative to the other candidates.

    Each is taken over all candidates and over those by whom the question is about: what somebody else said is the
    commonest reason for finding words that match and no answer.
    """
    around, rows = pool.around, pool.around.rows_of
    whole = float(around.idf.sum()) or 1.0
    values = {
        "cosine": around.cosines[rows, BARE],
        "cosine_asked": around.cosines[rows, ASKED],
        "coverage": (around.counts[rows] > 0) @ around.idf / whole,
        **_matched(pool),
    }
    theirs = around.said_by(pool.who)[rows] if pool.who is not None else np.ones(len(rows), np.bool_)
    out = {"names_somebody": float(pool.who is not None)}
    for name, value in values.items():
        best = np.sort(value)[::-1]
        out[f"{name}_best"] = float(best[0])
        out[f"{name}_third"] = float(best[min(2, len(best) - 1)])
        own = value[theirs]
        others = value[~theirs]
        out[f"{name}_theirs"] = float(own.max()) if len(own) else float(value.min())
        out[f"{name}_lead"] = out[f"{name}_theirs"] - (
            float(others.max()) if len(others) else float(value.min())
        )
    return out


def _matched(pool: Pool) -> dict[str, NDArray[np.float32]]:
    if pool.matches is None:
        return {}
    best = np.nan_to_num(pool.matches.best, nan=-1.0)
    return {"maxsim": mean_maxsim(best), "weakest_half": weakest_half(best)}


def answerable(pool: Pool) -> float:
    """A logistic of the signs, fitted by `scripts/fit_fusion.py`."""
    said = signs(pool)
    return 1.0 / (1.0 + math.exp(-said["cosine_best"]))
