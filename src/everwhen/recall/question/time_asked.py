"""What a question asks of time: the event, the unit, the order of several, and which side of now it looks at."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from everwhen.recall.question.parsed import Edge, Form, Order, Question
from everwhen.recall.question.word_patterns import AUXILIARY, HOW_LONG, LENGTH, pattern
from everwhen_time import Grain, Interval, resolve
from everwhen_time.constraints import FIRST, RELATIONS

_GRAINS: dict[str, Grain] = {
    "day": "day", "date": "day", "week": "week", "weekend": "day", "month": "month", "season": "season",
    "quarter": "quarter", "year": "year", "decade": "decade",
}  # fmt: skip
_DATE = (
    r"(?:(?:since|until|from|by|around|exactly)\s+)?when(?:\s+exactly|'s)?\b"
    r"|(?:(?:in|on|during|at|since|around|by|until)\s+)?(?:what|which)\s+(?:exact\s+)?"
    rf"(?P<unit>{'|'.join(_GRAINS)}|time)\b(?:\s+of\s+(?:the\s+)?(?:month|year|week)\b)?"
    rf"|{HOW_LONG}\s+ago\b"
)
DATE = pattern(_DATE, r"(?:what|which)\s+(?:is|was|were|are)\s+the\s+(?:exact\s+)?(?:date|day|month|year)\b")
"""How a question for a date begins."""
SINCE = pattern(rf"(?:for\s+)?{HOW_LONG}\s+(?:has|have|had|'ve|is\s+it\s+since)\b")
LASTING = pattern(rf"(?:for\s+)?{HOW_LONG}\b")
_OPENING = pattern(
    rf"(?:{_DATE}|(?:for\s+)?{HOW_LONG}(?:\s+is\s+it\s+since)?)(?:\s+(?:{AUXILIARY}|can|shall))?\b\s*"
)
_SINCE_WHEN = pattern(r"since\s+(?:when|what|which)")
_AGO = pattern(rf"\b{HOW_LONG}\s+(?:ago|is\s+it\s+since)\b", r"\bhow\s+long\s+since\b")
_CLOCK = pattern(r"\bwhat\s+time\b", r"\bo'clock\b", r"\bhour\b", r"\bexactly\b")
_WHEN = r"^(?:when|(?:what|which)\s+\w+)"
# A plan, a future, or a present progressive that is asked with "when"; but not "was going to".
_AHEAD = pattern(
    r"\b(?:will|going\s+to|gonna|plan(?:s|ned|ning)?|intend\w*|schedul\w*|upcoming|supposed\s+to|due|next|"
    r"expect\w*|hop(?:e|es|ing)\s+to|about\s+to)\b",
    rf"{_WHEN}\s+(?:is|are|am)\b.*\w{{2}}ing\b",
)
_NOT_AHEAD = pattern(r"\b(?:was|were|had)\s+going\s+to\b")
_WANTED = pattern(r"\b(?:need|want(?:s|ed)?|should|would|might|have to|left)\b")
_EITHER = pattern(rf"{_WHEN}\s*(?:is|are|am|do|does|'s)\b")  # "when is the exam": before or after now
_DENIED = pattern(r"\b(?:not|never|\w+n['’]t|miss(?:ed)?|skip(?:ped)?|cancel(?:l?ed)?)\b")
_HAPPENED = pattern(r"\b(?:did|was|were|had)(?:n['’]t)?\b")
_PAST = pattern(r"\b(?:used to|been)\b")
_FORMERLY = pattern(
    r"\b(?:used to|formerly|previous(?:ly)?|former|original(?:ly)?|at first|back then|in the past|once|no longer|"
    r"over the years|history|ever)\b"
)
_VAGUE = pattern(
    r"\b(?:recent(?:ly)?|lately|soon|now|current(?:ly)?|nowadays)\b", r"\bhow (?:many|long)\b.{0,200}\bago\b"
)
_ASKS_TIME = pattern(  # a feature of recall; its weight was fitted with these words
    r"^\W*(?:when|how long|since when)\b", r"\b(?:what|which) (?:date|day|month|year|time)\b",
    r"\bhow (?:many|long) (?:days|weeks|months|years)\b", r"\b(?:first|last|latest|earliest|recent)\b",
)  # fmt: skip
# The order of several: "did she first meet", "the last time", "most recently"; not "her first screenplay".
_TIMES = pattern(r"\b(?:the\s+)?(first|last|latest|earliest|most\s+recent)\s+time\b")
_ADVERB = pattern(
    rf"{_WHEN}\s+(?:{AUXILIARY})\s+(?:\S+\s+){{1,4}}?(first|last|most\s+recently|initially|originally)\s+"
    r"(?!name|night|week|month|year|one|two|three|time)(\w+)"
)
_SUPERLATIVE = pattern(
    r"\b(?:the|my|our|his|her|their|\w+'s)\s+(most\s+recent|latest|earliest|newest|last)\b"
)
_RECENTLY = pattern(r"\b(most\s+recently)\b")
# How something begins or ends: the verb stands last, or before a preposition ("the front end conference" has none).
_LAST = r"(?:\s+(?:in|at|on|for|with)\b|\s*[?!.]*$)"
_START = pattern(
    r"\b(?:since|from)\s+(?:when|what|which)\b",
    rf"\s(?:starts?|started|begins?|began|begun|commence[sd]?){_LAST}",
)
_END = pattern(
    r"\b(?:until|till|'?til)\s+(?:when|what|which)\b",
    rf"\s(?:ends?|ended|finish(?:es|ed)?|expire[sd]?|runs?\s+out|ran\s+out){_LAST}",
    r"\b(?:is|are|was|were|'s)\b.*(?<!ing)\s+over\s*[?!.]*$",
)
_OWNING = pattern(r"\b(?:my|our|his|her|its|their|your|the|a|an)$", r"'s$")
_PREPOSITION = pattern(r"\s(?:on|in|at|during)\s*$")
_CLAUSE = pattern(rf"\s(?:{AUXILIARY})\s")
_RELATION = pattern(rf"\b(?:{'|'.join(RELATIONS)})\W*$")
_ONLY_ASKING = pattern(
    r"^(?:(?:the|a|an|one|two|three|four|five|six|seven|\d+|days?|weeks?|weekend|months?|years?|morning|night|right|"
    r"just|shortly|immediately|was|is|it|that)\s*)*$"
)


def with_time(question: Question, text: str) -> Question:
    """Add what the words ask of time. Words that ask nothing of it are taken as the event ("my move to Porto")."""
    words, opening = question.words, _OPENING.match(text)
    event = _RECENTLY.sub("", _TIMES.sub("", text[opening.end() :] if opening else words)).strip(" ?!.,")
    happened = _HAPPENED.search(words) is not None
    ahead = _ahead(text, asks=opening is not None)
    return replace(
        question,
        event=event or words,
        form=_form(text),
        grain=_GRAINS.get((opening["unit"] or "").lower()) if opening else None,
        order=_order(text),
        edge=_edge(text),
        ahead=ahead,
        planned=ahead is True or _WANTED.search(words) is not None,
        denied=_DENIED.search(words) is not None,
        clock=_CLOCK.search(words) is not None,
        happened=happened,
        past=happened or _PAST.search(words) is not None,
        formerly=_FORMERLY.search(words) is not None,
        asks_time=_ASKS_TIME.search(words) is not None,
        vague_time=_VAGUE.search(words) is not None,
    )


def length_unit(text: str) -> str:
    """The unit that a length is asked in: "week" of "how many weeks"."""
    found = _HOW_MANY.search(text)
    return found.group(1).lower().rstrip("s") if found else ""


_HOW_MANY = pattern(rf"\bhow\s+many\s+({LENGTH})\b")


def undated(words: str, at: datetime, zone: str) -> tuple[str, Interval] | None:
    """A question without the one time that it names, and that time."""
    named = [
        (ref.span, ref.interval)
        for ref in resolve(words, at, zone, question=True)
        if ref.kind == "point" and ref.interval
    ]
    if len(named) != 1:
        return None
    (start, end), interval = named[0]
    return f"{_PREPOSITION.sub('', words[:start])}{words[end:]}", interval


def beside(anchor: str, question: Question) -> tuple[str, str]:
    """The words of the event that a question hangs on, and what it asks about beside that; empty where that is all."""
    parts = _CLAUSE.split(anchor, maxsplit=1)
    if len(parts) == 2 and question.form == "lasting":  # "how long after the wedding did I move"
        return parts[0], parts[1]
    rest = _RELATION.sub("", question.event.partition(anchor)[0])
    return anchor, "" if _ONLY_ASKING.match(rest.strip()) else rest.strip(" ,")


def _ahead(text: str, *, asks: bool) -> bool | None:
    if _AHEAD.search(text) and not _NOT_AHEAD.search(text):
        return True
    return False if asks and not _EITHER.search(text) else None


def _form(text: str) -> Form:
    if _AGO.search(text):
        return "ago"
    if SINCE.match(text) or _SINCE_WHEN.match(text):
        return "since"
    return "lasting" if LASTING.match(text) else "when"


def _edge(text: str) -> Edge | None:
    if _END.search(text):
        return "end"
    return "start" if _START.search(text) else None


def _order(text: str) -> Order | None:
    """Whether the first or the last of several occurrences is meant.

    An ordinal that belongs to a thing ("her first screenplay", "his third tourney") names which thing it is, and is
    left to the words: an event that says "first" matches it.
    """
    for order in (_TIMES, _ADVERB, _SUPERLATIVE, _RECENTLY):
        found = order.search(text)
        if found is None or (order is _ADVERB and _OWNING.search(text[: found.start(1)].rstrip())):
            continue
        return "first" if found.group(1).lower() in FIRST else "last"
    return None
