"""Words that several readers of a question look for, as pieces of regular expressions."""

from __future__ import annotations

import re

AUXILIARY = "did|do|does|is|are|am|was|were|has|have|had|will|would"
"""Verbs that a clause is asked with."""
MODAL = "can|could|should|shall|might|may|must"
ASKING = "who|whom|whose|what|when|where|which|why|how"
FIRST_PERSON = "i|me|my|mine|myself|we|our|ours|us"
PLACE = "city|country|state|place|town|location"
LENGTH = r"(?:minute|hour|day|night|week|weekend|month|year|decade)s?"
"""Units of a length of time."""
HOW_LONG = rf"how\s+(?:long|many\s+{LENGTH})"
TOTAL = "in total|altogether|combined"

_POLITE = re.compile(
    rf"^\W*(?:(?:please|so|and|well|hey|{TOTAL}|overall|ok(?:ay)?|do you (?:know|remember|recall)|"
    r"(?:(?:can|could) you )?(?:tell|remind|show|give) me)[\s,:]+(?:of\s+)?)*",
    re.IGNORECASE,
)


def pattern(*parts: str) -> re.Pattern[str]:
    """Any of these parts, in capitals or not."""
    return re.compile("|".join(parts), re.IGNORECASE)


def plainly(words: str) -> str:
    """A question without what is said before it for politeness."""
    return _POLITE.sub("", words.strip()).strip()
