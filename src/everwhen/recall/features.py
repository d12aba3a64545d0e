"""The features of a candidate: numbers that are comparable between memories, each standardised within its question.

Pure functions over arrays. `features` gives one column for each feature; `recall/fusion.py` weighs them. The feature of
a stage that was left out, or that does not apply to a candidate, is 0. The features, and the few constants in here,
were chosen on LoCoMo dev and the LongMemEval pool by cross-validation. SATF: docs/five-documents.md.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from everwhen.recall.candidates import CandidatePool, bm25
from everwhen.settings import Settings
from everwhen.store.index import idf
from everwhen.store.rows import SaidBy
from everwhen.types import Why
from everwhen.write.wishes import states_wish
from everwhen_time import Interval

Array = NDArray[np.float32]
Days: TypeAlias = NDArray[np.float64]

RANK = 10.0
"""A rank feature is RANK / (RANK + rank): the head of a ranking counts, its tail hardly (as in RRF)."""
MIDDLE = 30
"""Turns from which on the middle of all candidates says what is ordinary."""
ANCHORS = Settings().satf_anchors
SESSION_DAYS = 3.0
"""SATF's number of anchors and its sigma, in days, where its affinity is a feature."""
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


def features(pool: CandidatePool) -> dict[str, Array]:
    """Every feature of every candidate, by name."""
    own = {"cosine": pool.found.own.cosines, "bm25": pool.bm25(pool.found.own), "hubness": _hubness(pool)}
    compared = dict(pool.rerank or {}) if pool.matches is None else {"compared": pool.matches.compared}
    columns = {name: standardised(values) for name, values in {**own, **compared}.items()}
    strong = columns["cosine"] + columns["bm25"] + columns.get("compared", np.float32(0.0))
    if pool.matches is not None:
        columns["compared_rank"] = _rank(columns["compared"])
    columns["answers_match"] = _answers_match(pool)
    return columns | _sessions(pool, strong) | _speaker(pool) | _surface(pool) | {"time_after": _time(pool)}


def gates(pool: CandidatePool) -> dict[str, float]:
    """What the weights depend on, from 0 to 1: whether something is asked, or the words are a request or a remark."""
    return {"asks": float(pool.plan.question.asks)}


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


def _hubness(pool: CandidatePool) -> Array:
    """The mean cosine of a turn with all turns among the candidates: what is near to everything says little.

    Only among people, who say "How lovely!" in between. What an assistant says is long and on its topic, and what was
    extracted always says something. A handful of turns has no middle: there whatever differs would gain.
    """
    vectors, said = pool.found.vectors, pool.found.roles >= 0
    found = np.full(len(said), np.nan, np.float32)
    if vectors is not None and said.sum() >= MIDDLE and not pool.has_assistant:
        turns = vectors[said]
        found[said] = np.einsum("rd,d->r", turns, turns.mean(axis=0))
    return found


def _answers_match(pool: CandidatePool) -> Array:
    """Whether the turn before is a question, times how near that is."""
    before = pool.found.before
    previous = standardised(np.where(before.units >= 0, before.cosines, NOTHING).astype(np.float32))
    return np.asarray(before.asks.astype(np.float32) * previous)


def _sessions(pool: CandidatePool, strong: Array) -> dict[str, Array]:
    """The session as evidence of its own: the log of the sum of exp of the plain scores of its candidates.

    Where one partner is an assistant, sessions have a topic each, and their words and dates count as well; among people
    they drift, and the same features are noise.
    """
    nothing, found = np.zeros(len(pool), np.float32), pool.found
    _, first, session = np.unique(found.sessions, return_index=True, return_inverse=True)
    odds = np.bincount(session, np.exp((strong - strong.max()).astype(np.float64)))
    out = {"session": standardised(np.log(odds)[session].astype(np.float32))}
    out |= {"session_bm25": nothing, "session_affinity": nothing}
    if not pool.has_assistant or found.session is None:
        return out
    counts, lengths = found.session.counts[first], found.session.lengths[first]
    rare = np.array([idf(len(first), int(number)) for number in (counts > 0).sum(axis=0)], np.float32)
    weights = np.where(found.terms.names, 0, rare).astype(np.float32)
    out["session_bm25"] = standardised(bm25(counts, lengths, float(lengths.mean()), weights)[session])
    order = np.argsort(-strong, kind="stable")
    days = found.at[order] / (86_400 * 1e6)
    fits = np.empty(len(order), np.float32)
    mass = anchored_mass(days, ANCHORS, SESSION_DAYS)
    fits[order] = mass / mass.max()
    out["session_affinity"] = standardised(fits)
    return out


def anchored_mass(times: Days, anchors: int, sigma: float) -> Days:
    """SATF's `A(t)` of candidates in rank order, given when each was said (days since any fixed instant).

    K_i(t) = (1/i) exp(-(t - t_i)^2 / 2 sigma^2)                  (2)
    A(t)   = sum of K_i(t) over the first N ranks                 (3)
    """
    weights = 1.0 / np.arange(1, min(anchors, len(times)) + 1)
    return np.asarray(np.exp(-np.square((times[:, None] - times[None, :anchors]) / sigma) / 2) @ weights)


def _speaker(pool: CandidatePool) -> dict[str, Array]:
    """Half a point for those whom the question is about, half against the others; nothing where it is about nobody. An
    assistant that is asked what it said is one of them."""
    found, plan = pool.found, pool.plan
    said = found.roles >= 0
    about = np.zeros(len(pool), np.float32)
    if pool.who is not None:
        about = np.where(said, found.said_by(pool.who) - 0.5, _subject(pool)).astype(np.float32)
    if plan.question.second_person and not plan.people and pool.has_assistant:
        assistant = found.said_by(SaidBy(role="assistant"))
        about = about + np.where(said, assistant - 0.5, 0.0).astype(np.float32)
    by_user = found.said_by(SaidBy(role="user"))
    wishes = (
        [
            bool(mine) and row.kind == "turn" and states_wish(row.text)
            for row, mine in zip(pool.rows, by_user, strict=True)
        ]
        if not plan.question.asks
        else np.zeros(len(pool))
    )
    return {
        "about": about,
        "by_user": (by_user * float(pool.has_assistant)).astype(np.float32),
        "wish": np.array(wishes, np.float32),
    }


def _subject(pool: CandidatePool) -> Array:
    """The same for a fact: by its subject, with which its words begin. Anything else that nobody said is neutral."""
    names = {name for person in pool.plan.people for name in (person, *person.split()[:1])} or {"user"}
    theirs = re.compile(rf"(?:{'|'.join(map(re.escape, sorted(names)))})\s", re.IGNORECASE)
    return np.array(
        [0.0 if row.kind != "fact" else 0.5 if theirs.match(row.text) else -0.5 for row in pool.rows],
        np.float32,
    )


def _surface(pool: CandidatePool) -> dict[str, Array]:
    """Whether its words look like what is asked for: a time, or the name of a place."""
    asked = np.zeros(len(pool), np.float32)
    if pool.plan.question.asks_time:
        asked += [_has_time(row.text) for row in pool.rows]
    if pool.plan.question.asks_place:
        asked += [_NAME.search(row.text) is not None for row in pool.rows]
    return {"asked": asked}


def _has_time(text: str) -> bool:
    """Whether a text speaks of a time."""
    return not _TIMES.isdisjoint(_words_of(text)) or _YEAR.search(text) is not None


def _words_of(text: str) -> list[str]:
    """The runs of letters, in lower case. Plain ASCII, which is most of it, goes three times as fast by a table."""
    if text.isascii():
        return text.translate(_LETTERS).split()
    return _WORD.findall(text.lower())


def _time(pool: CandidatePool) -> Array:
    """How well the time of saying (or of the fact) fits the one asked for: it fades with the distance from the window,
    and what is said a while later counts as inside, since on Monday people tell of the weekend."""
    asked = pool.plan.question
    windows = asked.time.intervals if asked.time is not None and not asked.vague_time else ()
    fits = np.zeros(len(pool), np.float32)
    days = pool.found.at / (86_400 * 1e6)
    for window in windows:
        start, end = _sides(window)
        scale = max(end - start, LEAST_DAYS) if np.isfinite(end - start) else LEAST_DAYS
        late = max(0.5 * (end - start), 2.0) if np.isfinite(end - start) else 2.0
        gap = np.maximum(np.maximum(start - days, days - (end + late)), 0)
        fits = np.maximum(fits, np.exp(-gap / scale).astype(np.float32))
    return fits


def _sides(window: Interval) -> tuple[float, float]:
    day = timedelta(days=1).total_seconds()
    start = window.start.timestamp() / day if window.start else -np.inf
    return start, window.end.timestamp() / day if window.end else np.inf


def _rank(values: Array) -> Array:
    """RANK / (RANK + rank), ranks from zero."""
    order = np.argsort(np.argsort(-values, kind="stable"), kind="stable")
    return np.asarray(RANK / (RANK + order), dtype=np.float32)


FEATURES: Mapping[str, str] = {
    "about": "said by whom it is about",
    "answers_match": "answers a similar question",
    "asked": "has a time or name asked for",
    "bm25": "words",
    "by_user": "said by the user",
    "compared": "word by word, as learned",
    "compared_rank": "rank word by word",
    "cosine": "meaning",
    "hubness": "says something of its own",
    "newer": "newer than what it renews",
    "read": "what the reader says",
    "session": "its session has other hits",
    "session_affinity": "date fits the other hits",
    "session_bm25": "words of its session",
    "time_after": "near the time asked for",
    "wish": "a wish, for a request",
}
"""The features of the learned fusion, as a person would call them."""


def score_label(feature: str) -> str:
    """The name of a feature for people."""
    return FEATURES.get(feature, feature.replace("_", " "))


PLAIN: Mapping[str, tuple[str, ...]] = {
    "meaning": ("cosine", "hubness", "compared", "compared_rank"),
    "words": ("bm25",),
    "time": ("time_after", "session_affinity"),
    "person": ("about", "by_user"),
    "answers": ("answers_match", "read", "asked"),
    "wish": ("wish",),
    "newer": ("newer",),
    "neighbours": ("session", "session_bm25"),
}
"""One plain word for what features have in common."""
_CHANNELS = {"semantic": "meaning", "keyword": "words", "temporal": "time", "graph": "person"}


def plain_reasons(why: Why, kind: str = "turn", most: int = 3) -> list[str]:
    """Why a memory is here, in a few plain words: what added most to its score first."""
    sums = {word: sum(why.parts.get(name, 0.0) for name in names) for word, names in PLAIN.items()}
    words = [word for word in sorted(sums, key=lambda word: -sums[word]) if sums[word] > 0]
    words = words or [_CHANNELS[name] for name in sorted(why.ranks, key=lambda name: why.ranks[name])]
    if why.beside is not None or not words:
        words = ["beside another result" if kind != "fact" else "learned from a result"]
    return words[:most]
