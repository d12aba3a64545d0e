"""What happened, in words that stand beside their date."""

from __future__ import annotations

import re

_LEANING = re.compile(
    r"^(?!.*\b(?:since|until|between)\b).*\b(?:yesterday|today|tomorrow|tonight|last|next|this|ago|"
    r"in \w+ (?:day|week|month|year)s?|(?:mon|tues|wednes|thurs|fri|satur|sun)day)\b",
    re.IGNORECASE,
)
"""Expressions that say nothing without the day on which they were said."""
_IT_WAS = re.compile(r"^(?:was|is|will be) (?=(?:the|a|an|my|our|his|her|their) |[A-Z])")
"""What is left of "last night was the concert"."""
_NO_START = frozenset(
    ("was", "is", "are", "were", "be", "been", "will", "would", "has", "have", "had", "of", "and", "or")
)
"""Words that no title begins with."""
_NO_END = _NO_START | frozenset(
    ("the", "a", "an", "on", "in", "at", "by", "to", "for", "from", "until", "since", "not", "before", "after",
     "all", "every", "about", "with")
)  # fmt: skip
"""Words that no title ends with."""
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_BARE_WEEKDAY = re.compile(_WEEKDAY, re.IGNORECASE)
_NO_MORE = rf"(?!['’]s\b|,? (?:and|or|to|until) (?:on )?(?:yesterday|today|tomorrow|{_WEEKDAY})\b)"
"""What does not follow an expression that may go: "Monday's meeting", "Monday and Tuesday"."""
_LOOSE_END = re.compile(r"\s+(?=[.!?]*$)")


def event_title(text: str, expression: str = "") -> str:
    """What happened, for a title that has its date beside it: without "yesterday", and with a capital letter.

    Where the sentence would fall apart without it ("the first one was last Tuesday"), it stays.
    """
    words = text
    if _LEANING.search(expression):
        # "The Friday market" and "Black Friday" are names; "on Friday" is a day.
        is_weekday = _BARE_WEEKDAY.fullmatch(expression)
        before = r"(?:^|,\s?|\s(?=on\s|from\s))" if is_weekday else r"(?:^|[\s,]{1,4})"
        found = re.search(
            rf"{before}(?:(?:on|from)\s+)?(?:the\s+)?{re.escape(expression)}\b{_NO_MORE}[,\s]{{0,4}}",
            text,
            re.IGNORECASE,
        )
        if found:
            between = ", " if "," in found.group() else " "
            words = f"{text[: found.start()]}{between}{text[found.end() :]}".strip(" ,;–-")
            words = _LOOSE_END.sub("", _IT_WAS.sub("", words))
    left = words.rstrip(".!").lower().split()
    if len(left) < 2 or left[0] in _NO_START or left[-1] in _NO_END:
        words = text
    return words[:1].upper() + words[1:]
