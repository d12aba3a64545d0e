"""What a question about time asks for, read from its own words: the event, the side, the grain, the order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from everwhen.when import Grain, Interval
from everwhen.when.iso import Duration

Form = Literal["when", "since", "ago", "lasting"]
Order = Literal["first", "last"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question about time, taken apart.

    `event` is what is asked about, without the words of asking ("Ana moved to Porto"). `ahead` says that the
    question looks at what is to come (None: its words do not tell), `denied` that it asks for what did not happen.
    `grain` is the unit asked for ("in which month"). `order` asks for the first or last of several. `window`,
    `relation`, `anchor` and `distance` are those of `when.constraint`.
    """

    words: str
    event: str
    form: Form = "when"
    ahead: bool | None = False
    denied: bool = False
    grain: Grain | None = None
    order: Order | None = None
    window: Interval | None = None
    relation: str | None = None
    anchor: str | None = None
    distance: Duration | None = None


_UNIT = r"(?P<unit>day|date|week|weekend|month|season|quarter|year|decade|time)"
_ASKING = re.compile(
    rf"""^\W*(?:(?:please|so|and|do\ you\ (?:know|remember|recall)|can\ you\ tell\ me|tell\ me|remind\ me)[\s,]+)*
    (?:(?:since|until|from|by)\s+when
      |(?:exactly\s+)?when(?:\s+exactly)?
      |(?:in|on|during|at|since|around)?\s*(?:what|which)\s+(?:exact\s+)?{_UNIT}(?:\s+of\s+(?:the\s+)?(?:month|year|week))?
      |how\s+long\s+ago|how\s+long|how\s+many\s+(?P<count>days|weeks|months|years)(?:\s+ago)?(?:\s+is\s+it\s+since)?)
    (?:\s+(?:did|do|does|is|are|am|was|were|will|would|has|have|had|can|shall|'s))?\b\s*""",
    re.IGNORECASE | re.VERBOSE,
)
_SINCE = re.compile(
    r"^\W*(?:since\s+(?:when|what|which)|how\s+(?:long|many\s+\w+)\s+(?:has|have|had)\b)", re.IGNORECASE
)
_AGO = re.compile(
    r"\bhow\s+(?:long|many\s+\w+)\s+(?:ago\b|is\s+it\s+since\b)|\bhow\s+long\s+since\b", re.IGNORECASE
)
_LASTING = re.compile(r"^\W*how\s+(?:long|many\s+\w+)\b", re.IGNORECASE)
# What is to come: a plan, a future, or a present progressive that is asked with "when".
_AHEAD = re.compile(
    r"\b(?:will|going\s+to|gonna|plan(?:s|ned|ning)?|intend\w*|schedul\w*|upcoming|supposed\s+to|due|next|"
    r"expect\w*|hop(?:e|es|ing)\s+to|about\s+to)\b|^\W*(?:when|what\s+\w+|which\s+\w+)\s+(?:is|are|am)\b.*\w{2}ing\b",
    re.IGNORECASE,
)
# "When is the exam": of any time, as a mere name is ("the move to Porto").
_EITHER = re.compile(r"^\W*(?:when|what\s+\w+|which\s+\w+)\s*(?:is|are|am|do|does|'s)\b", re.IGNORECASE)
_DENIED = re.compile(r"\b(?:not|never|\w+n['’]t|miss(?:ed)?|skip(?:ped)?|cancel(?:l?ed)?)\b", re.IGNORECASE)
_BEHIND = re.compile(r"\b(?:was|were|had)\s+going\s+to\b", re.IGNORECASE)
# The order of several: "did she first meet", "the last time", "most recently"; not "her first screenplay".
_TIMES = re.compile(r"\b(?:the\s+)?(first|last|latest|earliest|most\s+recent)\s+time\b", re.IGNORECASE)
_ADVERB = re.compile(
    r"^\W*(?:when|what\s+\w+|which\s+\w+)\s+(?:did|do|does|was|were|has|have|had|is)\s+(?:\S+\s+){1,4}?(first|last|"
    r"most\s+recently|initially|originally)\s+(?!name|night|week|month|year|one|two|three|time)(\w+)",
    re.IGNORECASE,
)
_SUPERLATIVE = re.compile(
    r"\b(?:the|my|our|his|her|their|\w+'s)\s+(most\s+recent|latest|earliest|newest|last)\b", re.IGNORECASE
)
_RECENTLY = re.compile(r"\b(most\s+recently)\b", re.IGNORECASE)
_OWNING = re.compile(r"\b(?:my|our|his|her|its|their|your|the|a|an)$|'s$", re.IGNORECASE)
_GRAINS: dict[str, Grain] = {
    "day": "day",
    "date": "day",
    "week": "week",
    "weekend": "day",
    "month": "month",
    "season": "season",
    "quarter": "quarter",
    "year": "year",
    "decade": "decade",
}


def read_question(words: str, at: datetime, zone: str) -> Question:
    """Take a question apart. Words that ask nothing of time are taken as the event itself ("my move to Porto")."""
    from everwhen.when import constraint

    asked = constraint(words, at, zone)
    opening = _ASKING.match(words)
    event = words[opening.end() :] if opening else words
    event = _RECENTLY.sub("", _TIMES.sub("", event)).strip(" ?!.,")
    since = bool(_SINCE.match(words))
    return Question(
        words=words,
        event=event or words,
        form=_form(words, since),
        ahead=_ahead(words, asks=opening is not None),
        denied=bool(_DENIED.search(words)),
        grain=_GRAINS.get((opening.group("unit") or "").lower()) if opening else None,
        order=_order(words),
        window=asked.interval if asked else None,
        relation=asked.relation if asked and not since else None,
        anchor=asked.anchor if asked and not since else None,
        distance=asked.distance if asked and not since else None,
    )


def _ahead(words: str, *, asks: bool) -> bool | None:
    if _AHEAD.search(words) and not _BEHIND.search(words):
        return True
    return False if asks and not _EITHER.search(words) else None


def _form(words: str, since: bool) -> Form:
    if _AGO.search(words):
        return "ago"
    if since:
        return "since"
    return "lasting" if _LASTING.match(words) else "when"


def _order(words: str) -> Order | None:
    """Whether the first or the last of several occurrences is meant.

    An ordinal that belongs to a thing ("her first screenplay", "his third tourney") names which thing it is, and is
    left to the words: an event that says "first" matches it.
    """
    for pattern in (_TIMES, _ADVERB, _SUPERLATIVE, _RECENTLY):
        found = pattern.search(words)
        if found is None:
            continue
        if pattern is _ADVERB and _OWNING.search(words[: found.start(1)].rstrip()):
            continue
        return (
            "first" if found.group(1).lower() in ("first", "earliest", "initially", "originally") else "last"
        )
    return None
