"""Names for the parts of a score, as the command line and the web page show them."""

from __future__ import annotations

from collections.abc import Mapping

FEATURES: Mapping[str, str] = {
    "about": "said by whom it is about",
    "answers": "answers a question",
    "answers_match": "answers a similar question",
    "bm25": "words",
    "bm25_neighbour": "words around it",
    "by_user": "said by the user",
    "compared": "word by word, as learned",
    "compared_rank": "rank word by word",
    "cosine": "meaning",
    "maxsim_telling": "match of the telling words",
    "near_hits": "close to other hits",
    "newer": "newer than what it renews",
    "place_asked": "has a name, a place is asked",
    "read": "what the reader says",
    "session_affinity": "date fits the other hits",
    "session_bm25": "words of its session",
    "session_maxsim": "session, word by word",
    "time_after": "near the time asked for",
    "time_asked": "has a time, as asked",
    "time_inside": "in the time asked for",
    "told_by_you": "said by the assistant",
}
"""The features of the learned fusion, as a person would call them."""


def score_label(feature: str) -> str:
    """The name of a feature for people."""
    return FEATURES.get(feature, feature.replace("_", " "))
