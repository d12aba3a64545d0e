"""How many tokens a date adds to a text, without the tokenizer's table of 100,000 entries: loading it takes longer
than a recall. Only where it is certain; what else stands around a date is counted by the tokenizer."""

from __future__ import annotations

import re
from collections.abc import Iterable

from everwhen_time.interval import MONTHS

_WORDS = frozenset(
    [*MONTHS, *(f" {month}" for month in MONTHS), " to", " at", "since", "up", " since", ",", ":", " "]
)
"""What dates are made of, besides digits: each is one token."""
_PIECE = re.compile(r"[^\r\nA-Za-z0-9]?[A-Za-z]+|[0-9]{1,3}|[^\sA-Za-z0-9]+|\s")
"""How cl100k cuts plain ASCII before it looks for tokens; three digits are one token."""
_PLAIN = re.compile(r"[A-Za-z0-9]\Z")
_SPACE = re.compile(r" ")
_STOP = re.compile(r"[.,!?;:](?: |\s*\Z)")
""" "last week." becomes "last week (…).": the bracket and the stop are one token, as the stop was."""


def added_tokens(text: str, inserted: Iterable[tuple[int, str]]) -> int | None:
    """Tokens that dates in brackets add, each behind a place of the text; None where only the tokenizer can tell."""
    added = 0
    for place, date in inserted:
        pieces = _PIECE.findall(date)
        if not _PLAIN.search(text[:place][-1:]) or not all(one.isdigit() or one in _WORDS for one in pieces):
            return None
        behind = text[place : place + 40]
        if _SPACE.match(behind) and text[place:].strip():
            added += len(pieces) + 2  # " (" and ")"
        elif _STOP.match(behind) or not text[place:].strip():
            added += len(pieces) + 1  # the other bracket is one token with what follows it
        else:
            return None
    return added
