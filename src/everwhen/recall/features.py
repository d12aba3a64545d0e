"""What speaks for a candidate: numbers that mean the same in any memory, each standardised within its question.

Pure functions over arrays. `features` gives a column for each name in `NAMES`; what a weight makes of it is fusion's.
A feature of a stage that was left out, or that a candidate cannot have, is 0: neither for nor against.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from everwhen.models.rerank import Scores
from everwhen.recall.channels import ASKED, BARE, Found
from everwhen.recall.plan import Plan
from everwhen.recall.temporal import affinity
from everwhen.store import UnitRow
from everwhen.store.bm25 import K1, B
from everwhen.store.scan import SaidBy, Surroundings
from everwhen.when import Interval

Array = NDArray[np.float32]

NEAR = 3.0
"""Turns over which the nearness to another strong candidate falls to 1/e. Tuned on LoCoMo dev."""
RANK = 10.0
"""A rank feature is RANK / (RANK + rank): the head of a ranking counts, its tail hardly (as in RRF)."""

_NUMBER = re.compile(
    r"\d|\b(one|two|three|four|five|six|seven|eight|nine|ten|dozen|first|second|third|once|twice)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(yesterday|today|tonight|tomorrow|last|next|ago|weeks?|weekend|months?|years?|morning|evening|monday|tuesday|"
    r"wednesday|thursday|friday|saturday|sunday|january|february|march|april|june|july|august|september|october|"
    r"november|december|recently|since|\d{4})\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")


@dataclass(frozen=True, slots=True)
class Pool:
    """The candidates of a question with everything that was read about them, in one order."""

    plan: Plan
    rows: Sequence[UnitRow]
    around: Surroundings
    who: SaidBy | None
    """Whose turns would tell, where the question says so."""
    found: Found
    rerank: Scores

    def __len__(self) -> int:
        return len(self.rows)


def features(pool: Pool) -> dict[str, Array]:
    """Every feature of every candidate, by name."""
    plain = {**_own(pool), **_context(pool), **_reranked(pool)}
    columns = {name: standardised(values) for name, values in plain.items()}
    columns |= {f"{name}_rank": _rank(plain[name]) for name in ("cosine", "bm25", "maxsim") if name in plain}
    columns["near_hits"] = standardised(_near_hits(pool, columns))
    return columns | _speaker(pool) | _surface(pool) | _structure(pool)


def standardised(values: Array) -> Array:
    """Mean 0 and deviation 1 over the candidates; what is unknown (NaN) is as good as the mean."""
    known = values[~np.isnan(values)]
    if not len(known):
        return np.zeros(len(values), np.float32)
    deviation = float(known.std())
    scaled = (values - known.mean()) / (deviation if deviation > 1e-6 else 1.0)
    return np.asarray(np.nan_to_num(scaled, nan=0.0), dtype=np.float32)


def _rank(values: Array) -> Array:
    """RANK / (RANK + rank), ranks from zero, the unknown last."""
    order = np.argsort(np.argsort(-np.nan_to_num(values, nan=-np.inf), kind="stable"), kind="stable")
    return np.asarray(RANK / (RANK + order), dtype=np.float32)


def bm25(around: Surroundings, counts: Array, lengths: Array, mean_length: float) -> Array:
    """BM25 of given counts (a row each), with the bank's idf."""
    norm = K1 * (1.0 - B + B * lengths / max(mean_length, 1e-6))
    return np.asarray((counts * (K1 + 1.0) / (counts + norm[:, None])) @ around.idf, dtype=np.float32)


def _own(pool: Pool) -> dict[str, Array]:
    """The candidate itself: its cosines, its BM25, how much of the question's words it has."""
    around, rows = pool.around, pool.around.rows_of
    own = bm25(around, around.counts[rows], around.lengths[rows], around.mean_length)
    whole = float(around.idf.sum()) or 1.0
    return {
        "cosine": around.cosines[rows, BARE],
        "cosine_asked": around.cosines[rows, ASKED],
        "bm25": own,
        "coverage": ((around.counts[rows] > 0) @ around.idf / whole).astype(np.float32),
        "length": np.log1p(around.lengths[rows]).astype(np.float32),
    }


def _context(pool: Pool) -> dict[str, Array]:
    """What stands around it: the turns before and after, and its session as a whole."""
    around, rows = pool.around, pool.around.rows_of
    own = bm25(around, around.counts, around.lengths, around.mean_length)
    before, after = _neighbours(around)
    cosine = around.cosines[:, BARE]
    starts = np.flatnonzero(np.append(True, around.sessions[1:] != around.sessions[:-1]))
    session = np.cumsum(np.append(False, around.sessions[1:] != around.sessions[:-1]))
    lengths = np.add.reduceat(around.lengths, starts)
    counts = np.add.reduceat(around.counts, starts, axis=0)
    whole = bm25(around, counts, lengths, float(lengths.mean()))
    both = standardised(cosine) + standardised(own)
    return {
        "cosine_neighbour": np.maximum(_at(cosine, before, -0.2), _at(cosine, after, -0.2))[rows],
        "cosine_next": _at(cosine, after, -0.2)[rows],
        "bm25_neighbour": np.maximum(_at(own, before, 0.0), _at(own, after, 0.0))[rows],
        "bm25_session": whole[session][rows],
        "session_best": _best_three(both, starts)[session][rows],
    }


def _reranked(pool: Pool) -> dict[str, Array]:
    return {name: np.asarray(values, dtype=np.float32) for name, values in pool.rerank.items()}


def _near_hits(pool: Pool, columns: Mapping[str, Array]) -> Array:
    """How close in the session other strong candidates are: `sum of exp(-d/3) p`, p a softmax of the plain scores."""
    strong = columns["cosine"] + columns["bm25"] + columns.get("maxsim", np.float32(0.0))
    weight = np.exp(strong - strong.max())
    sessions, places = pool.around.sessions[pool.around.rows_of], pool.around.places[pool.around.rows_of]
    apart = np.abs(places[:, None] - places[None, :])
    close = np.where((sessions[:, None] == sessions[None, :]) & (apart > 0), np.exp(-apart / NEAR), 0.0)
    return np.asarray(close @ weight, dtype=np.float32)


def _speaker(pool: Pool) -> dict[str, Array]:
    """Half a point for those whom the question is about, half against the others; nothing where it is about nobody."""
    around, rows, plan = pool.around, pool.around.rows_of, pool.plan
    said = around.roles[rows] >= 0
    nobody = np.zeros(len(rows), np.float32)
    about = nobody
    if pool.who is not None:
        about = np.where(said, around.said_by(pool.who)[rows] - 0.5, _subject(pool)).astype(np.float32)
    assistant = around.said_by(SaidBy(role="assistant"))
    has_assistant = bool(assistant.any())
    told = plan.second_person and not plan.people and has_assistant
    return {
        "about": about,
        "told_by_you": np.where(said, assistant[rows] - 0.5, 0.0).astype(np.float32) if told else nobody,
        "by_user": (around.said_by(SaidBy(role="user"))[rows] * float(has_assistant)).astype(np.float32),
    }


def _subject(pool: Pool) -> Array:
    """The same for a fact: by its subject."""
    names = {name.casefold() for name in pool.plan.people} or {"user"}
    subjects = [str(row.metadata.get("subject", "")).casefold() for row in pool.rows]
    return np.array([0.5 if subject in names else -0.5 for subject in subjects], np.float32)


def _surface(pool: Pool) -> dict[str, Array]:
    """What its words look like, beside what the question wants to hear."""
    texts, plan = [row.text for row in pool.rows], pool.plan
    number, time, name = (_has(pattern, texts) for pattern in (_NUMBER, _TIME, _NAME))
    return {
        "is_question": np.array([text.rstrip().endswith("?") for text in texts], np.float32),
        "has_question": np.array(["?" in text for text in texts], np.float32),
        "has_number": number,
        "has_time": time,
        "time_asked": time * plan.asks_time,
        "amount_asked": number * plan.asks_amount,
        "place_asked": name * plan.asks_place,
    }


def _structure(pool: Pool) -> dict[str, Array]:
    """What the structure adds: activation in the graph, and how well its time fits the one asked for."""
    activation = dict(pool.found.get("graph", ()))
    graph = np.array([activation.get(row.seq, 0.0) for row in pool.rows], np.float32)
    windows = pool.plan.time.intervals if pool.plan.time is not None and "temporal" in pool.found else ()
    fits = [
        max(
            (affinity(row.occurred or Interval(row.said_at, row.said_at, "second"), one) for one in windows),
            default=0.0,
        )
        for row in pool.rows
    ]
    return {"graph": graph, "time_fits": np.array(fits, np.float32)}


def _has(pattern: re.Pattern[str], texts: Sequence[str]) -> Array:
    return np.array([pattern.search(text) is not None for text in texts], np.float32)


def _neighbours(around: Surroundings) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The row of the turn before and after each, -1 where there is none."""
    rows = np.arange(len(around.units))
    follows = (around.sessions[1:] == around.sessions[:-1]) & (around.places[1:] == around.places[:-1] + 1)
    before = np.where(np.append(False, follows), rows - 1, -1)
    after = np.where(np.append(follows, False), rows + 1, -1)
    return before, after


def _at(values: Array, rows: NDArray[np.int64], nothing: float) -> Array:
    return np.where(rows >= 0, values[rows], np.float32(nothing)).astype(np.float32)


def _best_three(values: Array, starts: NDArray[np.intp]) -> Array:
    """For each session the mean of its three best turns."""
    ends = np.append(starts[1:], len(values))
    return np.array(
        [np.sort(values[low:high])[-3:].mean() for low, high in zip(starts, ends, strict=True)], np.float32
    )
