"""What kind of answer a question asks for, read from its own words: a date, a length, a number, a person, a yes."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

Kind: TypeAlias = Literal[
    "when",  # a date: "when did", "in which month", "how long ago"
    "since",  # how long something has lasted up to now: "how long have I had"
    "between",  # the days from one thing to another: "how many weeks between", "how long after"
    "first",  # which of two came first or last
    "lasting",  # how long something took, as it was told
    "count",  # how many
    "amount",  # how much, how old, how far, how often: a number that was said
    "choice",  # a yes-or-no question that offers two: "did it go up or down"
    "yes or no",
    "who",
    "where",
    "why",
    "name",  # what somebody or something is called
    "what",
]
KINDS: tuple[Kind, ...] = get_args(Kind)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question taken apart.

    `sides` are the two things that are compared. `noun` is what is counted ("flats" of "how many flats"). `unit` is
    that of a length ("weeks"). `last` says that the later of two is meant.
    """

    words: str
    kind: Kind
    sides: tuple[str, str] | None = None
    noun: str = ""
    unit: str = ""
    last: bool = False
    base: str = (
        ""  # the question without what follows "before", where what held before something is asked for
    )
    before: str = ""  # that something: "York" of "where did I live before York?"
    parts: tuple[
        str, ...
    ] = ()  # the same question of each of two things, where a number of both is asked for
    each: str = (
        ""  # the question for the things themselves, where they are to be counted: "which flats did I see?"
    )
    total: bool = False  # whether a sum is asked for in so many words
    offered: tuple[tuple[str, str], ...] = ()  # each of the two that a choice offers, and the question for it


_UNITS = r"(?:minute|hour|day|night|week|weekend|month|year|decade)s?"
_POLITE = re.compile(
    r"(?i)^\W*(?:(?:please|so|and|well|hey|in total|altogether|overall|ok(?:ay)?|"
    r"do you (?:know|remember|recall)|can you (?:tell|remind) me|"
    r"could you (?:tell|remind) me|tell me|remind me)[\s,:]+(?:of\s+)?)+"
)
_WHEN = re.compile(
    r"(?i)^(?:(?:since|until|from|by|around|exactly)\s+)?when\b"
    r"|^(?:(?:in|on|during|at|since|around|by|until)\s+)?(?:what|which)\s+(?:exact\s+|day\s+of\s+the\s+)?"
    r"(?:day|date|week|weekend|month|season|quarter|year|decade|time)\b"
    r"|^(?:what|which)\s+(?:is|was|were|are)\s+the\s+(?:exact\s+)?(?:date|day|month|year)\b"
    rf"|^how\s+(?:long|many\s+{_UNITS})\s+ago\b"
)
_SINCE = re.compile(rf"(?i)^(?:for\s+)?how\s+(?:long|many\s+{_UNITS})\s+(?:has|have|had|'ve|is it since)\b")
_LENGTH = re.compile(rf"(?i)^(?:for\s+)?how\s+(?:long|many\s+(?P<unit>{_UNITS}))\b")
_BETWEEN = re.compile(
    r"(?i)\bbetween\s+(?:the\s+(?:day|time|date)s?\s+(?:that\s+|when\s+|of\s+)?)?(?P<first>.+?)\s+and\s+"
    r"(?:the\s+(?:day|time|date)\s+(?:that\s+|when\s+|of\s+)?)?(?P<second>.+?)\W*$"
)
_APART = re.compile(
    rf"(?i)^how\s+(?:long|many\s+{_UNITS})\s+(?P<side>before|after)\s+(?P<first>.+?)\s+"
    r"(?:did|was|were|had|has|is|do|does|will|would)\s+(?P<second>.+?)\W*$"
)
_TOOK = re.compile(
    rf"(?i)^how\s+(?:long|many\s+{_UNITS})\s+(?:did|does|had|has|have|was|were)\s+(?P<first>.+?)\s+"
    r"(?P<side>before|after|until|since)\s+(?P<second>.+?)\W*$"
)
_WHICH_FIRST = re.compile(
    r"(?i)\b(?P<order>first|earlier|sooner|last|later|most\s+recently)\b(?:\s+to\s+\w+)?\s*[,:;–-]*\s+"
    r"(?:was\s+it\s+|is\s+it\s+)?(?P<first>.+?),?\s+or\s+(?P<second>.+?)\W*$"
)
_BEFORE_OR_AFTER = re.compile(
    r"(?i)^(?:did|was|were|had|has|is|does)\s+(?P<first>.+?)\s+(?:before\s+or\s+after|after\s+or\s+before)\s+(?P<second>.+?)\W*$"
)
_AUXILIARY = re.compile(
    r"(?i)^(?:did|do|does|is|are|am|was|were|has|have|had|will|would|can|could|should|shall|might|may|must|"
    r"didn't|don't|doesn't|isn't|aren't|wasn't|weren't|hasn't|haven't|hadn't|won't|wouldn't|can't|couldn't)\b"
)
_REQUEST = re.compile(r"(?i)^(?:can|could|would|will)\s+you\s")
_YES_LATER = re.compile(r"(?i),\s*(?P<rest>(?:did|do|does|is|are|was|were|has|have|had|will|would)\s.+)$")
_OR = re.compile(r"(?i)\b(\w+(?:\s+\w+){0,4}),?\s+or\s+(\w+)")
_COUNT = re.compile(
    r"(?i)^(?:(?:in|on|at|for|to|from|with|of)\s+)?how\s+many\s+(?:different\s+|other\s+|more\s+|of\s+(?:the|my|his|her|their)\s+)?"
    r"(?P<noun>.+?)(?=\s+(?:did|do|does|is|are|was|were|has|have|had|will|would|can|could|am|that|there|I|'ve|in|on|at|"
    r"of|from|for)\b|\W*$)"
    r"|\b(?:total\s+)?number\s+of\s+(?P<noun2>\w+)"
    r"|^how\s+many\s+times\b"
)
_AMOUNT = re.compile(
    r"(?i)^how\s+(?:much|often|old|far|tall|heavy|big|large|fast|high|deep|wide|expensive|late|early)\b"
    r"|^(?:at\s+)?what\s+(?:is|was|were|are|did)?\s*(?:\w+\s+){0,4}?(?:price|cost|age|score|percentage|amount|rent|salary|speed|"
    r"weight|height|size|distance|temperature|phone\s+number|discount|ratio|level)\b"
)
_WHO = re.compile(r"(?i)^(?:(?:with|to|from|for|by|of|about|at)\s+)?(?:who|whom|whose)\b")
_WHERE = re.compile(
    r"(?i)^(?:(?:from|to|in|at|on|near)\s+)?where\b"
    r"|^(?:(?:in|at|to|from|on|near)\s+)?(?:what|which)\s+(?:\w+\s+)?(?:city|town|country|place|street|neighbou?rhood|part|"
    r"island|state|region|location|village|area)\b"
)
_WHY = re.compile(r"(?i)^(?:why|how\s+come|for\s+what\s+reason|what\s+(?:was|is)\s+the\s+reason)\b")
_NAME = re.compile(
    r"(?i)^what(?:'s|\s+is|\s+was|\s+are|\s+were)\s+(?:the\s+(?:\w+\s+)?names?\s+of\s+.+|.+?\s+(?:called|named)\W*$"
    r"|.+?['’]s?\s+(?:sur|last\s+|first\s+|full\s+|middle\s+|nick)?names?\b)"
)
_BEFORE = re.compile(r"(?i)^(?P<base>.+?)\s+before\s+(?P<than>(?:\S+\s+){0,3}\S*[^\W\d]\S*?)\W*$")
_TOTAL = re.compile(r"(?i)\b(?:in total|altogether|combined|total\s+(?:number|amount|cost|price|sum|of))\b")
_SPENDING = re.compile(r"(?i)\b(?:spend|spent|pay|paid|cost|costs)\b")
_COMPARING = re.compile(r"(?i)\b(?:difference|than|compared|average|each|respectively|percentage)\b")
_BOTH = re.compile(
    r"(?i)^(?P<lead>[^\"“”]*\b(?P<how>of|for|from|on|in|at|with|to|pay|did|do|does)\s+)"
    r"(?!(?:I|you|he|she|it|we|they)\b)(?P<first>[^,?\"“”]+?)\s+and\s+"
    r"(?!where|when|who|what|which|why|how|back\b)(?:(?P=how)\s+)?(?P<second>[^,?\"“”]+?)(?P<tail>\s+(?:cost|take|have))?\W*$"
)
_AT_THE_END = re.compile(r"(?i)\s+(?:in total|altogether|combined)(?=\W*$)")
_OPPOSITE = frozenset(("more", "less", "fewer", "higher", "lower", "better", "worse", "up", "down"))
_ARTICLES = frozenset(
    ("a", "an", "the", "my", "our", "his", "her", "their", "to", "in", "at", "by", "with", "without")
)
_HOW_MANY = re.compile(
    r"(?i)(?:how\s+many|what\s+(?:is|was)\s+the\s+(?:total\s+)?number\s+of)\s+(?:different\s+|other\s+|more\s+)?(?P<times>times\s+)?"
)


def read_kind(words: str) -> Asked:
    """Take a question apart. What is no question of a known kind asks for "what"."""
    asked = _kind(words)
    if asked.kind in ("count", "amount", "lasting"):
        asked = _summing(asked, _AT_THE_END.sub("", words.strip()))
    if asked.kind in ("who", "where", "what", "name", "amount") and (found := _BEFORE.match(words.strip())):
        return replace(asked, base=f"{found['base']}?", before=found["than"])
    return asked


def _summing(asked: Asked, words: str) -> Asked:
    """The question for each of the things that are counted (or for when it was, of times), and the parts where the sum
    of two things is asked for: in so many words, or by what was paid for both."""
    many = _HOW_MANY.search(words) if asked.kind == "count" else None
    if many is not None:
        rest = words[many.end() :].rstrip(" ?")
        asked = replace(asked, each=f"{words[: many.start()]}{'when' if many['times'] else 'which'} {rest}?")
    asked, both = replace(asked, total=bool(_TOTAL.search(asked.words))), _BOTH.match(words)
    if both is None or _COMPARING.search(words) or not (asked.total or _SPENDING.search(words)):
        return asked
    tail = f"{both['tail'] or ''}?"
    return replace(asked, parts=tuple(f"{both['lead']}{both[side]}{tail}" for side in ("first", "second")))


def _kind(words: str) -> Asked:
    text = _POLITE.sub("", words.strip()).strip()
    if sides := _compared(text):
        return Asked(words, "first", sides[0], last=sides[1])
    if apart := _apart(text):
        return Asked(words, "between", apart, unit=_unit(text))
    if _WHEN.match(text):
        return Asked(words, "when", unit=_unit(text))
    if _SINCE.match(text):
        return Asked(words, "since", unit=_unit(text))
    if (length := _LENGTH.match(text)) and not re.match(
        r"^how\s+many\s+\w+\s+(?:a|per|in\s+a)\s", text, re.I
    ):
        return Asked(words, "lasting", unit=(length.group("unit") or "").lower().rstrip("s"))
    if _AMOUNT.match(text):
        return Asked(words, "amount")
    if not _AUXILIARY.match(text) and (count := _COUNT.search(text)):
        return Asked(words, "count", noun=(count["noun"] or count["noun2"] or "times").strip())
    later = _YES_LATER.search(text)
    if (_AUXILIARY.match(text) and not _REQUEST.match(text)) or later:
        asked = later.group("rest") if later and not _AUXILIARY.match(text) else text
        offered = _OR.search(asked)
        if offered and offered.group(2).lower() not in ("not", "so", "more"):
            return Asked(words, "choice", offered=_offered(asked))
        return Asked(words, "yes or no")
    named: tuple[tuple[Kind, re.Pattern[str]], ...] = (
        ("who", _WHO), ("where", _WHERE), ("why", _WHY), ("name", _NAME),
    )  # fmt: skip
    return Asked(words, next((kind for kind, pattern in named if pattern.match(text)), "what"))


def _offered(text: str) -> tuple[tuple[str, str], ...]:
    """What a choice offers, with the question for each: "did it go up or down in May" asks "did it go up in May".

    Each is a word, or begins with an article; of "more water, or less" the one is the other's opposite."""
    before, _, after = text.rstrip(" ?.!").rpartition(" or ")
    said, follows = before.rstrip(" ,").split(), after.split()
    opposite = next((n for n, one in enumerate(said) if one in _OPPOSITE), len(said) - 1)
    place, long = len(said) - 1, 1
    if len(follows) == 1:
        place = opposite
    elif follows[0].lower() in _ARTICLES:
        long = min(len(follows), 3)
        place = next((n for n in range(len(said) - 1, 0, -1) if said[n].lower() in _ARTICLES), place)
    one, other = " ".join(said[place:]) if place != opposite else said[place], " ".join(follows[:long])
    tail = said[place + 1 :] if place == opposite and len(follows) == 1 else []
    first, second = [*said, *follows[long:]], [*said[:place], other, *tail, *follows[long:]]
    return (one, f"{' '.join(first)}?"), (other, f"{' '.join(second)}?")


def asks_about_time(words: str) -> bool:
    """Whether the answer is a date, as `Memory.when` gives it."""
    return read_kind(words).kind == "when"


def _compared(text: str) -> tuple[tuple[str, str], bool] | None:
    """The two things whose order is asked for, and whether the later one is wanted."""
    if found := _BEFORE_OR_AFTER.match(text):
        return (found["first"], found["second"]), False
    if not re.match(r"^(?:\w+\s+)?(?:which|what|who|whom|did|was|were)\b", text, re.IGNORECASE):
        return None
    if (found := _WHICH_FIRST.search(text)) is None:
        return None
    last = found["order"].lower() not in ("first", "earlier", "sooner")
    return (_bare(found["first"]), _bare(found["second"])), last


def _apart(text: str) -> tuple[str, str] | None:
    """The two things whose distance is asked for."""
    if not _LENGTH.match(text):
        return None
    for pattern in (_BETWEEN, _APART, _TOOK):
        if found := pattern.search(text) if pattern is _BETWEEN else pattern.match(text):
            # "did it take for me to find a house": what took the time is the thing itself.
            first = re.sub(r"(?i)^it\s+take\s+(?:for\s+)?", "", _bare(found["first"]))
            return first, _bare(found["second"])
    return None


def _bare(side: str) -> str:
    return re.sub(
        r"^(?:the\s+(?:day|time|moment)\s+(?:that\s+|when\s+)?)", "", side.strip(" ,'\"‘’“”"), flags=re.I
    )


def _unit(text: str) -> str:
    found = re.search(rf"\bhow\s+many\s+({_UNITS})\b", text, re.IGNORECASE)
    return found.group(1).lower().rstrip("s") if found else ""
