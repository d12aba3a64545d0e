"""Text that somebody passes on and does not say: a quoted block, an e-mail, what is to be translated."""

from __future__ import annotations

import re
from functools import lru_cache

_BLOCK = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{2,4000})[\"”»]")
_FORWARDED = re.compile(
    r"^[ \t*>-]*(?:(?:from|sent|subject|von|betreff|de|objet|assunto|asunto|oggetto)[ \t*]*:[ \t*]*\S"
    r"|-{2,}[ \t]*(?:original|forwarded)\b|begin forwarded message|on\b.{4,120}\bwrote:[ \t]*$)[\s\S]*",
    re.IGNORECASE | re.MULTILINE,
)
"""From the head of an e-mail to the end."""
_TO_WORK_ON = re.compile(
    r"(?<!let me )(?<!['’]ll )\b(?:(?:translate|summari[sz]e|proof-?read|re-?write|re-?phrase|re-?word|paraphrase|"
    r"übersetze?|traduz|traduzir|traduce|traducir|traduis|traduire|traduci|tradurre|vertaal)\b"
    r"|(?:shorten|polish|edit|correct|improve|fix|reply|respond|answer|analy[sz]e|explain|check)\b"
    r"[^\n.!?:]{0,60}\b(?:e-?mail|mail|message|text|paragraph|letter|sentence|article|note|post|passage|document|following|below)s?\b)"
    r"[^\n.!?:]{0,120}[.?!]?(?::|[ \t]*\n)([\s\S]+)",
    re.IGNORECASE,
)
"""What follows a request to do something with a text."""
LOOKED = 20_000
"""Characters of a turn in which such a text may begin."""
SAYING = 3
"""Words that a quotation has beside a value, so that it says something of it: a title in quotation marks does not."""


@lru_cache(maxsize=64)  # a turn tells several facts
def passed_on(text: str) -> list[tuple[int, int]]:
    """Where a turn has somebody else's text."""
    looked = text[:LOOKED]
    found = [match.span() for pattern in (_BLOCK, _FORWARDED) for match in pattern.finditer(looked)]
    found += [match.span(1) for pattern in (_QUOTED, _TO_WORK_ON) for match in pattern.finditer(looked)]
    return sorted((start, len(text) if end == LOOKED else end) for start, end in found)


def is_passed_on(text: str, value: str) -> bool:
    """Whether a turn has a value only in a text that is passed on; where the words are others, whether most of the turn
    is such a text."""
    spans = passed_on(text)
    if not spans:
        return False
    said = re.escape(value)
    places = [match.span() for match in re.finditer(rf"(?<!\w){said}(?!\w)", text, re.IGNORECASE)]
    if not places:
        end = inside = 0
        for first, last in spans:
            inside, end = inside + max(0, last - max(first, end)), max(end, last)
        return 2 * inside > len(text)
    return all(
        any(
            start <= first
            and last <= end
            and len(text[start:end].split()) >= len(text[first:last].split()) + SAYING
            for start, end in spans
        )
        for first, last in places
    )
