"""Names for the parts of a score, as the command line and the web page show them."""

from __future__ import annotations

from collections.abc import Mapping

from everwhen.types import Why

FEATURES: Mapping[str, str] = {
    "about": "said by whom it is about",
    "answers_match": "answers a similar question",
    "bm25": "words",
    "bm25_neighbour": "words around it",
    "by_user": "said by the user",
    "compared": "word by word, as learned",
    "compared_rank": "rank word by word",
    "cosine": "meaning",
    "hubness": "says something of its own",
    "maxsim_telling": "match of the telling words",
    "near_hits": "close to other hits",
    "newer": "newer than what it renews",
    "place_asked": "has a name, a place is asked",
    "read": "what the reader says",
    "session_affinity": "date fits the other hits",
    "session_bm25": "words of its session",
    "time_after": "near the time asked for",
    "time_asked": "has a time, as asked",
    "time_inside": "in the time asked for",
    "told_by_you": "said by the assistant",
}
"""The features of the learned fusion, as a person would call them."""


def score_label(feature: str) -> str:
    """The name of a feature for people."""
    return FEATURES.get(feature, feature.replace("_", " "))


PLAIN: Mapping[str, tuple[str, ...]] = {
    "meaning": ("cosine", "hubness", "maxsim_telling", "compared", "compared_rank"),
    "words": ("bm25", "bm25_neighbour", "session_bm25"),
    "time": ("time_after", "time_asked", "time_inside", "session_affinity"),
    "person": ("about", "by_user", "told_by_you"),
    "answers": ("answers_match", "read", "place_asked"),
    "newer": ("newer",),
    "neighbours": ("near_hits",),
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
