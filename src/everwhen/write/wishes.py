"""Wishes and constraints that go on holding: what a turn says of how things are to be done, or must not be."""

from __future__ import annotations

import re

from everwhen_time.sentences import sentence_texts

READ = 4_000
"""Characters of a turn that are looked at; what is longer is a document."""
_CAN = (
    r"(?:can['’]?t|cannot|won['’]?t|do(?:es)?n['’]?t|mustn['’]?t|shouldn['’]?t|not (?:allowed|supposed) to)"
)
_STANDS = re.compile(
    "|".join(
        (
            r"\b(?:always|never|ever|from now on|in future|every time|by default|under no circumstances)\b",
            r"\b(?:don['’]?t|do not|stop|avoid|keep|leave out|skip|use|give me|write|call|stick to)\b.{0,60}"
            r"\b(?:please|pls|anymore|again|any more)\b",
            r"\b(?:no|not|without)\s+[\w' -]{2,40}[, ]\s*(?:please|pls|thanks|for me)\b",
            r"\b(?:allerg\w+|intoleran\w+|vegetarian|vegan|c(?:o)?eliac|diabetic|kosher|halal|pregnant|asthma\w*)\b",
            rf"\b{_CAN}\s+(?:eat|drink|have|take|stand|bear|do|use|touch|want|like|work)\b",
            r"\bi\s+(?:really\s+)?(?:hate|detest|prefer|refuse|only\s+(?:ever\s+)?\w+)\b",
            r"\b(?:i['’]?d|i would)\s+rather\b",
            r"\bnot\s+(?:before|after)\s+(?:\d|ten|nine|eight|noon|six|seven|eleven)",
            r"\brules?\b",
        )
    ),
    re.IGNORECASE,
)


def states_wish(text: str) -> bool:
    """Whether a sentence says what is always, or never, to be done, or what somebody cannot have."""
    return any(_STANDS.search(one) and not one.endswith("?") for one in sentence_texts(text[:READ]))
