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

    `sides` are the two things that are compared. `noun` is what is counted or wanted ("flats" of "how many flats",
    "brand" of "what brand"). `unit` is that of a length ("weeks"). `now` says that the present value is meant, `last`
    that the later of two is.
    """

    words: str
    kind: Kind
    sides: tuple[str, str] | None = None
    noun: str = ""
    unit: str = ""
    now: bool = False
    last: bool = False
    base: str = ""
    """The question without what follows "before", where what held before something is asked for."""
    before: str = ""
    """That something: "York" of "where did I live before York?"."""
    parts: tuple[str, ...] = ()
    """The same question of each of two things, where a number of both is asked for."""
    each: str = ""
    """The question for the things themselves, where they are to be counted: "which flats did I see?"."""
    total: bool = False
    """Whether a sum is asked for in so many words."""


_UNITS = r"(?:minute|hour|day|night|week|weekend|month|year|decade)s?"
_POLITE = re.compile(
    r"^\W*(?:(?:please|so|and|well|hey|in total|altogether|overall|ok(?:ay)?|"
    r"do you (?:know|remember|recall)|can you (?:tell|remind) me|"
    r"could you (?:tell|remind) me|tell me|remind me)[\s,:]+(?:of\s+)?)+",
    re.IGNORECASE,
)
_NOW = re.compile(
    r"\b(?:now|nowadays|currently|current|these days|at (?:the )?(?:moment|present)|today|still|at present|"
    r"lately|latest|most recent(?:ly)?|new(?:est)?)\b",
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"^(?:(?:since|until|from|by|around|exactly)\s+)?when\b"
    r"|^(?:(?:in|on|during|at|since|around|by|until)\s+)?(?:what|which)\s+(?:exact\s+|day\s+of\s+the\s+)?"
    r"(?:day|date|week|weekend|month|season|quarter|year|decade|time)\b"
    r"|^(?:what|which)\s+(?:is|was|were|are)\s+the\s+(?:exact\s+)?(?:date|day|month|year)\b"
    rf"|^how\s+(?:long|many\s+{_UNITS})\s+ago\b",
    re.IGNORECASE,
)
_SINCE = re.compile(
    rf"^(?:for\s+)?how\s+(?:long|many\s+{_UNITS})\s+(?:has|have|had|'ve|is it since)\b", re.IGNORECASE
)
_LENGTH = re.compile(rf"^(?:for\s+)?how\s+(?:long|many\s+(?P<unit>{_UNITS}))\b", re.IGNORECASE)
_BETWEEN = re.compile(
    r"\bbetween\s+(?:the\s+(?:day|time|date)s?\s+(?:that\s+|when\s+|of\s+)?)?(?P<first>.+?)\s+and\s+"
    r"(?:the\s+(?:day|time|date)\s+(?:that\s+|when\s+|of\s+)?)?(?P<second>.+?)\W*$",
    re.IGNORECASE,
)
_APART = re.compile(
    rf"^how\s+(?:long|many\s+{_UNITS})\s+(?P<side>before|after)\s+(?P<first>.+?)\s+"
    r"(?:did|was|were|had|has|is|do|does|will|would)\s+(?P<second>.+?)\W*$",
    re.IGNORECASE,
)
_TOOK = re.compile(
    rf"^how\s+(?:long|many\s+{_UNITS})\s+(?:did|does|had|has|have|was|were)\s+(?P<first>.+?)\s+"
    r"(?P<side>before|after|until|since)\s+(?P<second>.+?)\W*$",
    re.IGNORECASE,
)
_WHICH_FIRST = re.compile(
    r"\b(?P<order>first|earlier|sooner|last|later|most\s+recently)\b(?:\s+to\s+\w+)?\s*[,:;–-]*\s+"
    r"(?:was\s+it\s+|is\s+it\s+)?(?P<first>.+?),?\s+or\s+(?P<second>.+?)\W*$",
    re.IGNORECASE,
)
_BEFORE_OR_AFTER = re.compile(
    r"^(?:did|was|were|had|has|is|does)\s+(?P<first>.+?)\s+(?:before\s+or\s+after|after\s+or\s+before)\s+(?P<second>.+?)\W*$",
    re.IGNORECASE,
)
_AUXILIARY = re.compile(
    r"^(?:did|do|does|is|are|am|was|were|has|have|had|will|would|can|could|should|shall|might|may|must|"
    r"didn't|don't|doesn't|isn't|aren't|wasn't|weren't|hasn't|haven't|hadn't|won't|wouldn't|can't|couldn't)\b",
    re.IGNORECASE,
)
_REQUEST = re.compile(r"^(?:can|could|would|will)\s+you\s", re.IGNORECASE)
_YES_LATER = re.compile(
    r",\s*(?P<rest>(?:did|do|does|is|are|was|were|has|have|had|will|would)\s.+)$", re.IGNORECASE
)
_OR = re.compile(r"\b(\w+(?:\s+\w+){0,4}),?\s+or\s+(\w+)", re.IGNORECASE)
_COUNT = re.compile(
    r"^(?:(?:in|on|at|for|to|from|with|of)\s+)?how\s+many\s+(?:different\s+|other\s+|more\s+|of\s+(?:the|my|his|her|their)\s+)?"
    r"(?P<noun>.+?)(?=\s+(?:did|do|does|is|are|was|were|has|have|had|will|would|can|could|am|that|there|I|'ve|in|on|at|"
    r"of|from|for)\b|\W*$)"
    r"|\b(?:total\s+)?number\s+of\s+(?P<noun2>\w+)"
    r"|^how\s+many\s+times\b",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"^how\s+(?:much|often|old|far|tall|heavy|big|large|fast|high|deep|wide|expensive|late|early)\b"
    r"|^(?:at\s+)?what\s+(?:is|was|were|are|did)?\s*(?:\w+\s+){0,4}?(?:price|cost|age|score|percentage|amount|rent|salary|speed|"
    r"weight|height|size|distance|temperature|phone\s+number|discount|ratio|level)\b",
    re.IGNORECASE,
)
_WHO = re.compile(r"^(?:(?:with|to|from|for|by|of|about|at)\s+)?(?:who|whom|whose)\b", re.IGNORECASE)
_WHERE = re.compile(
    r"^(?:(?:from|to|in|at|on|near)\s+)?where\b"
    r"|^(?:(?:in|at|to|from|on|near)\s+)?(?:what|which)\s+(?:\w+\s+)?(?:city|town|country|place|street|neighbou?rhood|part|"
    r"island|state|region|location|village|area)\b",
    re.IGNORECASE,
)
_WHY = re.compile(
    r"^(?:why|how\s+come|for\s+what\s+reason|what\s+(?:was|is)\s+the\s+reason)\b", re.IGNORECASE
)
_NAME = re.compile(
    r"^what(?:'s|\s+is|\s+was|\s+are|\s+were)\s+the\s+(?:\w+\s+)?names?\s+of\s+(?P<noun>.+?)\W*$"
    r"|^what(?:'s|\s+is|\s+was|\s+are|\s+were)\s+(?P<noun2>.+?)\s+(?:called|named)\W*$"
    r"|^what(?:'s|\s+is|\s+was|\s+are|\s+were)\s+(?P<noun3>.+?)['’]s?\s+(?:sur|last\s+|first\s+|full\s+|middle\s+|nick)?names?\b",
    re.IGNORECASE,
)
_WHAT = re.compile(
    r"^(?:(?:in|at|on|to|from|with|for|of|about|by|under)\s+)?(?:what|which)\s+"
    r"(?:(?:kind|type|sort|colou?r|name|brand|piece)s?\s+of\s+)?(?P<noun>[^\W\d][\w-]*(?:\s+[\w-]+){0,3}?)"
    r"(?=\s+(?:did|do|does|is|are|was|were|has|have|had|will|would|can|could|am|that|in|on|for)\b|\W*$)",
    re.IGNORECASE,
)
_BEFORE = re.compile(r"^(?P<base>.+?)\s+before\s+(?P<than>(?:\S+\s+){0,3}\S*[^\W\d]\S*?)\W*$", re.IGNORECASE)
_TOTAL = re.compile(
    r"\bin total\b|\baltogether\b|\bcombined\b|\btotal\s+(?:number|amount|cost|price|sum|of)\b", re.IGNORECASE
)
_SPENDING = re.compile(r"\b(?:spend|spent|pay|paid|cost|costs)\b", re.IGNORECASE)
_COMPARING = re.compile(
    r"\b(?:difference|than|compared|average|each|respectively|percentage)\b", re.IGNORECASE
)
_BOTH = re.compile(
    r"^(?P<lead>[^\"“”]*\b(?P<how>of|for|from|on|in|at|with|to|pay|did|do|does)\s+)"
    r"(?!(?:I|you|he|she|it|we|they)\b)(?P<first>[^,?\"“”]+?)\s+and\s+"
    r"(?!where|when|who|what|which|why|how|back\b)(?:(?P=how)\s+)?(?P<second>[^,?\"“”]+?)(?P<tail>\s+(?:cost|take|have))?\W*$",
    re.IGNORECASE,
)
_AT_THE_END = re.compile(r"\s+(?:in total|altogether|combined)(?=\W*$)", re.IGNORECASE)
_HOW_MANY = re.compile(
    r"(?:how\s+many|what\s+(?:is|was)\s+the\s+(?:total\s+)?number\s+of)\s+(?:different\s+|other\s+|more\s+)?(?P<times>times\s+)?",
    re.IGNORECASE,
)
_NOT_A_NOUN = frozenset(
    re.findall(
        r"\w+",
        "did do does is are was were has have had will would can could am should might kind type the a an",
    )
)


def read_kind(words: str) -> Asked:
    """Take a question apart. What is no question of a known kind asks for "what"."""
    asked = _kind(words)
    if asked.kind in ("count", "amount", "lasting"):
        asked = _summing(asked, words.strip())
    if asked.kind == "count":
        asked = replace(asked, each=_each(words.strip()))
    found = _BEFORE.match(words.strip()) if asked.kind in ("who", "where", "what", "name", "amount") else None
    return (
        asked if found is None else replace(asked, base=f"{found.group('base')}?", before=found.group("than"))
    )


def _each(words: str) -> str:
    """The question for each of the things, or for when it was, where times are counted."""
    bare = _AT_THE_END.sub("", words)
    found = _HOW_MANY.search(bare)
    if found is None:
        return ""
    return (
        f"{bare[: found.start()]}{'when' if found['times'] else 'which'} {bare[found.end() :].rstrip(' ?')}?"
    )


def _summing(asked: Asked, words: str) -> Asked:
    """The parts, where the sum of two things is asked for: in so many words, or by what was paid for both."""
    total = bool(_TOTAL.search(words))
    both = _BOTH.match(_AT_THE_END.sub("", words))
    asked = replace(asked, total=total)
    if both is None or _COMPARING.search(words) or not (total or _SPENDING.search(words)):
        return asked
    return replace(
        asked, parts=tuple(f"{both['lead']}{both[side]}{both['tail'] or ''}?" for side in ("first", "second"))
    )


def _kind(words: str) -> Asked:
    text = _POLITE.sub("", words.strip()).strip()
    now = bool(_NOW.search(text))
    if sides := _compared(text):
        return Asked(words, "first", sides.sides, last=sides.last, now=now)
    if apart := _apart(text):
        return Asked(words, "between", apart, unit=_unit(text), now=now)
    if _WHEN.match(text):
        return Asked(words, "when", unit=_unit(text), now=now)
    if _SINCE.match(text):
        return Asked(words, "since", unit=_unit(text), now=now)
    if (length := _LENGTH.match(text)) and not re.match(
        r"^how\s+many\s+\w+\s+(?:a|per|in\s+a)\s", text, re.I
    ):
        return Asked(words, "lasting", unit=(length.group("unit") or "").lower().rstrip("s"), now=now)
    if _AMOUNT.match(text):
        return Asked(words, "amount", now=now)
    if not _AUXILIARY.match(text) and (count := _COUNT.search(text)):
        return Asked(
            words, "count", noun=(count.group("noun") or count.group("noun2") or "times").strip(), now=now
        )
    later = _YES_LATER.search(text)
    if (_AUXILIARY.match(text) and not _REQUEST.match(text)) or later:
        asked = later.group("rest") if later and not _AUXILIARY.match(text) else text
        offered = _OR.search(asked)
        if offered and offered.group(2).lower() not in ("not", "so", "more"):
            return Asked(
                words, "choice", (offered.group(1), asked[offered.start(2) :].rstrip(" ?.!")), now=now
            )
        return Asked(words, "yes or no", now=now)
    for kind, pattern in (("who", _WHO), ("where", _WHERE), ("why", _WHY)):
        if pattern.match(text):
            return Asked(words, kind, noun=_noun(text), now=now)  # type: ignore[arg-type]
    if called := _NAME.match(text):
        return Asked(words, "name", noun=next(one for one in called.groups() if one), now=now)
    return Asked(words, "what", noun=_noun(text), now=now)


def asks_about_time(words: str) -> bool:
    """Whether the answer is a date, as `Memory.when` gives it."""
    return read_kind(words).kind == "when"


@dataclass(frozen=True, slots=True)
class _Sides:
    sides: tuple[str, str]
    last: bool


def _compared(text: str) -> _Sides | None:
    if found := _BEFORE_OR_AFTER.match(text):
        return _Sides((found.group("first"), found.group("second")), last=False)
    if not re.match(r"^(?:\w+\s+)?(?:which|what|who|whom|did|was|were)\b", text, re.IGNORECASE):
        return None
    found = _WHICH_FIRST.search(text)
    if found is None:
        return None
    last = found.group("order").lower() not in ("first", "earlier", "sooner")
    return _Sides((_bare(found.group("first")), _bare(found.group("second"))), last)


def _apart(text: str) -> tuple[str, str] | None:
    """The two things whose distance is asked for."""
    if not _LENGTH.match(text):
        return None
    for pattern in (_BETWEEN, _APART, _TOOK):
        if found := pattern.search(text) if pattern is _BETWEEN else pattern.match(text):
            first, second = _bare(found.group("first")), _bare(found.group("second"))
            if pattern is _TOOK:
                # "did it take for me to find a house": what took the time is the thing itself.
                first = re.sub(r"^it\s+take\s+(?:for\s+)?", "", first, flags=re.IGNORECASE)
            return first, second
    return None


def _bare(side: str) -> str:
    return re.sub(
        r"^(?:the\s+(?:day|time|moment)\s+(?:that\s+|when\s+)?)", "", side.strip(" ,'\"‘’“”"), flags=re.I
    )


def _unit(text: str) -> str:
    found = re.search(rf"\bhow\s+many\s+({_UNITS})\b", text, re.IGNORECASE)
    return found.group(1).lower().rstrip("s") if found else ""


def _noun(text: str) -> str:
    found = _WHAT.match(text)
    noun = found.group("noun").strip() if found else ""
    return "" if noun.partition(" ")[0].lower() in _NOT_A_NOUN else noun
