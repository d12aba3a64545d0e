"""The features of a candidate: numbers that are comparable between memories, each standardised within its question.

Pure functions over arrays. `features` gives one column for each feature; `recall/fuse.py` weighs them. The feature of
a stage that was left out, or that does not apply to a candidate, is 0. The features, and the few constants in here,
were chosen on LoCoMo dev and the LongMemEval pool by cross-validation.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from everwhen.models.rerank import Scores
from everwhen.models.rerank.maxsim import weighted_maxsim
from everwhen.recall.plan import Plan
from everwhen.recall.satf import satf
from everwhen.store.index import K1, B, idf
from everwhen.store.search import Evidence, SaidBy, Turns
from everwhen.types import UnitRow
from everwhen_time import Interval

Array = NDArray[np.float32]

NEAR = 3.0
"""Turns over which the nearness to another strong candidate falls to 1/e."""
RANK = 10.0
"""A rank feature is RANK / (RANK + rank): the head of a ranking counts, its tail hardly (as in RRF)."""
NAME_WEIGHT = 0.3
BASE_WEIGHT = 0.5
"""A word's weight in MaxSim: BASE_WEIGHT + idf, and NAME_WEIGHT for the name of whom the question is about."""
MIDDLE = 30
"""Turns from which on the middle of all candidates tells what is ordinary."""
SESSION_DAYS = 3.0
"""SATF's sigma where its affinity is a feature."""
LEAST_DAYS = 3.0
"""The shortest scale on which a time fits the one asked for."""
NOTHING = np.float32(-0.2)
"""The cosine of a neighbour that is not there."""

_WORD = re.compile(r"[^\W\d_]+")
_LETTERS = {code: chr(code).lower() if chr(code).isalpha() else " " for code in range(128)}
_YEAR = re.compile(r"\b\d{4}\b")
_TIMES = frozenset(
    """yesterday today tonight tomorrow last next ago week weekend month year morning monday tuesday wednesday thursday
    friday saturday sunday january february march april june july august september october november december recently
    since""".split()  # noqa: SIM905
)
_NAME = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+")


@dataclass(frozen=True, slots=True)
class TokenMatches:
    """Late interaction before it is summed up: for each candidate (row) the best match of each word of the question."""

    best: Array
    compared: Array
    """The learned comparison's score of each candidate."""
    telling: Array
    """How telling each word is; 0 for a stop word."""
    named: NDArray[np.bool_]
    """Which words are the name of somebody whom the question is about."""


@dataclass(frozen=True, slots=True)
class CandidatePool:
    """The candidates of a question with everything that is known about them, in one order."""

    plan: Plan
    found: Evidence
    who: SaidBy | None
    """Whose turns would tell, where the question says so."""
    has_assistant: bool
    matches: TokenMatches | None = None
    rerank: Scores | None = None
    """A cross-encoder's scores, or those of a caller's own reranker."""

    def __len__(self) -> int:
        return len(self.found)

    @property
    def rows(self) -> Sequence[UnitRow]:
        return self.found.rows

    @property
    def idf(self) -> Array:
        """How rare each of the question's terms is in this memory; 0 for the names of those it is about."""
        terms = self.found.terms
        return np.where(terms.names, 0, terms.idf).astype(np.float32)

    def bm25(self, turns: Turns) -> Array:
        """The BM25 of some turns, without the names."""
        return bm25(turns.counts, turns.lengths, self.found.terms.mean_length, self.idf)


def features(pool: CandidatePool) -> dict[str, Array]:
    """Every feature of every candidate, by name."""
    words = _words(pool)
    columns = {name: standardised(values) for name, values in {**_own(pool), **words}.items()}
    strong = columns["cosine"] + columns["bm25"] + columns.get("compared", np.float32(0.0))
    columns["near_hits"] = standardised(_near_hits(pool, strong))
    if pool.matches is not None:
        columns["compared_rank"] = _rank(columns["compared"])
    return columns | _context(pool) | _sessions(pool, strong) | _speaker(pool) | _surface(pool) | _time(pool)


def standardised(values: Array) -> Array:
    """Mean 0 and deviation 1 over the candidates; an unknown value (NaN) counts as the mean."""
    wide = values.astype(np.float64)
    known = wide[~np.isnan(wide)]
    if not len(known):
        return np.zeros(len(values), np.float32)
    wide -= known.sum() / len(known)
    known = wide if len(known) == len(wide) else wide[~np.isnan(wide)]
    deviation = math.sqrt(np.dot(known, known) / len(known))
    if deviation > 1e-6:
        wide /= deviation
    if known is not wide:
        wide[np.isnan(wide)] = 0.0
    return wide.astype(np.float32)


def bm25(counts: Array, lengths: Array, mean_length: float, weights: Array) -> Array:
    """BM25 from given term counts (one row each) and idf values."""
    norm = K1 * (1.0 - B + B * lengths / max(mean_length, 1e-6))
    parts = counts * (K1 + 1.0) / (counts + norm[:, None])
    # Not `@`: OpenBLAS's product of a narrow matrix with a vector raises the flag of an invalid number now and then,
    # for finite numbers and with a right result, and NumPy passes that on as a warning.
    return np.asarray(np.einsum("rt,t->r", parts, weights), dtype=np.float32)


def _own(pool: CandidatePool) -> dict[str, Array]:
    """The candidate itself: its cosine, its BM25 without the names, and how ordinary it is."""
    return {"cosine": pool.found.own.cosines, "bm25": pool.bm25(pool.found.own), "hubness": _hubness(pool)}


def _hubness(pool: CandidatePool) -> Array:
    """The mean cosine of a turn with all turns among the candidates: what is near to everything tells little.

    Only among people, who say "How lovely!" in between. What an assistant says is long and on its topic, and what was
    extracted always says something. A handful of turns has no middle: there whatever differs would gain.
    """
    vectors, said = pool.found.vectors, pool.found.roles >= 0
    found = np.full(len(said), np.nan, np.float32)
    if vectors is not None and said.sum() >= MIDDLE and not pool.has_assistant:
        turns = vectors[said]
        found[said] = np.einsum("rd,d->r", turns, turns.mean(axis=0))
    return found


def _words(pool: CandidatePool) -> dict[str, Array]:
    """Late interaction: as it was learned, and the mean best match, weighted by how telling a word is."""
    if pool.matches is None:
        return dict(pool.rerank or {})
    return {
        "compared": pool.matches.compared,
        "maxsim_telling": weighted_maxsim(pool.matches.best, _importance(pool.matches)),
    }


def _importance(matches: TokenMatches) -> Array:
    return np.where(matches.named, np.float32(NAME_WEIGHT), matches.telling + np.float32(BASE_WEIGHT))


def _context(pool: CandidatePool) -> dict[str, Array]:
    """The turns before and after: what they say, and whether this one answers a question that matches."""
    before, after = pool.found.before, pool.found.after
    previous = standardised(np.where(before.units >= 0, before.cosines, NOTHING).astype(np.float32))
    answers = before.asks.astype(np.float32)
    neighbour = np.maximum(pool.bm25(before), pool.bm25(after))
    return {"bm25_neighbour": standardised(neighbour), "answers_match": answers * previous}


def _sessions(pool: CandidatePool, strong: Array) -> dict[str, Array]:
    """The session as a whole, where one partner is an assistant: there sessions have a topic each.

    Among people they drift, and the same features are noise (fitted without this condition they hurt LoCoMo).
    """
    nothing = np.zeros(len(pool), np.float32)
    out = {"session_bm25": nothing, "session_affinity": nothing}
    found = pool.found
    if not pool.has_assistant or found.session is None:
        return out
    _, first, session = np.unique(found.sessions, return_index=True, return_inverse=True)
    counts, lengths = found.session.counts[first], found.session.lengths[first]
    rare = np.array([idf(len(first), int(number)) for number in (counts > 0).sum(axis=0)], np.float32)
    weights = np.where(found.terms.names, 0, rare).astype(np.float32)
    out["session_bm25"] = standardised(bm25(counts, lengths, float(lengths.mean()), weights)[session])
    order = np.argsort(-strong, kind="stable")
    days = found.at[order] / (86_400 * 1e6)
    fits = np.empty(len(order), np.float32)
    fits[order] = satf(days, sigma=SESSION_DAYS).affinity
    out["session_affinity"] = standardised(fits)
    return out


def _near_hits(pool: CandidatePool, strong: Array) -> Array:
    """How close in the session other strong candidates are: `sum of exp(-d/3) p`, p a softmax of the plain scores."""
    weight = np.exp((strong - strong.max()).astype(np.float64))
    sessions, places = pool.found.sessions, pool.found.places
    order = np.lexsort((places, sessions))
    # What reaches a turn from one side is what reached the one before it on that side, and that one, over the gap
    # between them: exp(-d/3) is a product along the way. So it is a sum along the session, not one over all pairs.
    apart = np.diff(places[order])
    passed = np.where(np.diff(sessions[order]) == 0, np.exp(-apart / NEAR), 0.0)
    close = np.zeros(len(order))
    for way, share in ((order, passed), (order[::-1], passed[::-1])):
        reached = 0.0
        for here, there, part in zip(way[:-1].tolist(), way[1:].tolist(), share.tolist(), strict=True):
            reached = (reached + weight[here]) * part
            close[there] += reached
    return close.astype(np.float32)


def _speaker(pool: CandidatePool) -> dict[str, Array]:
    """Half a point for those whom the question is about, half against the others; nothing where it is about nobody."""
    found, plan = pool.found, pool.plan
    said = found.roles >= 0
    about = told = np.zeros(len(pool), np.float32)
    if pool.who is not None:
        about = np.where(said, found.said_by(pool.who) - 0.5, _subject(pool)).astype(np.float32)
    if plan.question.second_person and not plan.people and pool.has_assistant:
        assistant = found.said_by(SaidBy(role="assistant"))
        told = np.where(said, assistant - 0.5, 0.0).astype(np.float32)
    by_user = found.said_by(SaidBy(role="user")) * float(pool.has_assistant)
    return {"about": about, "told_by_you": told, "by_user": by_user.astype(np.float32)}


def _subject(pool: CandidatePool) -> Array:
    """The same for a fact: by its subject, with which its words begin. Anything else that nobody said is neutral."""
    names = {name for person in pool.plan.people for name in (person, *person.split()[:1])} or {"user"}
    theirs = re.compile(rf"(?:{'|'.join(map(re.escape, sorted(names)))})\s", re.IGNORECASE)
    return np.array(
        [0.0 if row.kind != "fact" else 0.5 if theirs.match(row.text) else -0.5 for row in pool.rows],
        np.float32,
    )


def _surface(pool: CandidatePool) -> dict[str, Array]:
    """What its words look like, beside what the question wants to hear."""
    asked, nothing = pool.plan.question, np.zeros(len(pool), np.float32)
    times = [_has_time(row.text) for row in pool.rows] if asked.asks_time else nothing
    names = [_NAME.search(row.text) is not None for row in pool.rows] if asked.asks_place else nothing
    return {"time_asked": np.array(times, np.float32), "place_asked": np.array(names, np.float32)}


def _has_time(text: str) -> bool:
    """Whether a text speaks of a time."""
    return not _TIMES.isdisjoint(_words_of(text)) or _YEAR.search(text) is not None


def _words_of(text: str) -> list[str]:
    """The runs of letters, in lower case. Plain ASCII, which is most of it, goes three times as fast by a table."""
    if text.isascii():
        return text.translate(_LETTERS).split()
    return _WORD.findall(text.lower())


def _time(pool: CandidatePool) -> dict[str, Array]:
    """How well the time of saying (or of the fact) fits the one asked for.

    `time_inside` is the window itself; `time_after` fades with the distance from it, and lets what is told a while
    later count as inside: on Monday people tell of the weekend.
    """
    asked = pool.plan.question
    windows = asked.time.intervals if asked.time is not None and not asked.vague_time else ()
    out = {name: np.zeros(len(pool), np.float32) for name in ("time_inside", "time_after")}
    days = pool.found.at / (86_400 * 1e6)
    for window in windows:
        start, end = _sides(window)
        scale = max(end - start, LEAST_DAYS) if np.isfinite(end - start) else LEAST_DAYS
        late = max(0.5 * (end - start), 2.0) if np.isfinite(end - start) else 2.0
        gap = np.maximum(np.maximum(start - days, days - end), 0)
        gap_after = np.maximum(np.maximum(start - days, days - (end + late)), 0)
        inside, after = (gap <= 0).astype(np.float32), np.exp(-gap_after / scale).astype(np.float32)
        out["time_inside"] = np.maximum(out["time_inside"], inside)
        out["time_after"] = np.maximum(out["time_after"], after)
    return out


def _sides(window: Interval) -> tuple[float, float]:
    day = timedelta(days=1).total_seconds()
    start = window.start.timestamp() / day if window.start else -np.inf
    return start, window.end.timestamp() / day if window.end else np.inf


def _rank(values: Array) -> Array:
    """RANK / (RANK + rank), ranks from zero."""
    order = np.argsort(np.argsort(-values, kind="stable"), kind="stable")
    return np.asarray(RANK / (RANK + order), dtype=np.float32)
