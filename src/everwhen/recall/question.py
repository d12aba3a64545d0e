"""One question, read once: who asks whom, which kind of answer is wanted, what is asked of time, and how much it needs.

Recall, answers and the interfaces look at the fields of a `Question` and read no words themselves; what time
expressions mean is said by `everwhen_time`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import lru_cache
from typing import Literal, TypeAlias, get_args

from everwhen.types.recall import Complexity
from everwhen_time import Constraint, Grain, Interval, constraint, resolve
from everwhen_time.constraints import FIRST, RELATION_WORDS

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


Kind: TypeAlias = Literal[
    "when",  # a date: "when did", "in which month", "how long ago"
    "since",  # how long something has lasted up to now: "how long have I had"
    "between",  # the days from one thing to another: "how many weeks between", "how long after"
    "first",  # which of two came first or last
    "lasting",  # how long something took, as it was said
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
Form: TypeAlias = Literal["when", "since", "ago", "lasting"]
Order: TypeAlias = Literal["first", "last"]
Edge: TypeAlias = Literal["start", "end"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question taken apart. `words` are its own; everything else is read from them."""

    words: str
    asks: bool = False  # a question, not a statement that something is looked for with

    # Which answer is wanted
    kind: Kind = "what"
    sides: tuple[str, str] | None = None  # the two things that are compared
    compared: tuple[str, str] | None = None  # the same with a verb that both share: "I join the choir"
    later: bool = False  # the later of the two is wanted
    noun: str = ""  # what is counted: "flats" of "how many flats"
    unit: str = ""  # the unit of a length: "week" of "how many weeks"
    each: str = ""  # the question for the things that are counted: "which flats did I see?"
    parts: tuple[str, ...] = ()  # the question of each of two things, where a number of both is asked for
    total: bool = False  # a sum is asked for in so many words
    base: str = ""  # the question without "before …", where it asks what held before something
    before: str = ""  # that something: "York" of "where did I live before York?"
    offered: tuple[tuple[str, str], ...] = ()  # each of the two of a choice, and the question for it
    asks_place: bool = False

    # How much it needs, and what said so
    complexity: Complexity = "simple"
    cues: tuple[str, ...] = ()

    # Who asks whom
    first_person: bool = False
    second_person: bool = False

    # What it asks of time
    event: str = ""  # what is asked about, without the words of asking: "Ana moved to Porto"
    form: Form = "when"
    grain: Grain | None = None  # the unit asked for: "in which month"
    order: Order | None = None  # the first or the last of several is asked for
    edge: Edge | None = None  # how something begins or ends is asked for: "when does the course end"
    ahead: bool | None = False  # it looks at what is to come; None where its words do not tell
    planned: bool = False  # what is only planned or wanted counts as well
    denied: bool = False  # it asks for what did not happen
    clock: bool = False  # it asks for the hour
    happened: bool = False  # it is in the past tense: it asks what happened, not how things stand
    past: bool = False  # the same, or what has been up to now
    formerly: bool = False  # it asks for what held once, without a date
    asks_time: bool = False  # it asks with words of time, or for the first or last
    vague_time: bool = False  # its time words name no window: "lately", "now", "how long ago"
    time: Constraint | None = None  # the window, order and event that it names; needs the moment of asking

    def past_asked(self, at: datetime) -> Interval | None:
        """The stretch of the past that it is about, or None where it asks about the present.

        "Where did she live in 2021" is about that year; "where did she live before", "her first job" and "what did
        he use to drink" about all that came until now.
        """
        if self.time is not None and self.time.interval is not None:
            start, end = self.time.interval.start, self.time.interval.end
            if end is not None and end <= at:
                return self.time.interval
            if start is None and end is not None:
                return Interval(None, min(end, at), "second")
        backwards = self.time is not None and (self.time.order == "first" or self.time.relation == "before")
        return Interval(None, at, "second") if backwards or self.formerly else None

    def asks_now(self, at: datetime) -> bool:
        """Whether it asks how things stand, so that what is newer counts for more. A statement asks nothing."""
        return self.asks and not self.happened and self.past_asked(at) is None


_OPENS = pattern(rf"^\W*(?:{ASKING}|{AUXILIARY}|can|should)\b")
_ASKS_PLACE = pattern(r"\bwhere\b", rf"\b(?:what|which) (?:{PLACE})\b")
_FIRST_PERSON = pattern(rf"\b(?:{FIRST_PERSON})\b")
_SECOND_PERSON = pattern(r"\b(?:you|your|yours)\b")


@lru_cache(maxsize=256)
def parse(words: str, at: datetime | None = None, zone: str | None = None) -> Question:
    """Take a question apart. With the moment of asking, and its zone, `time` has what it says about time."""
    if at is not None:
        return replace(parse(words), time=constraint(plainly(words), at, zone))
    text = plainly(words)
    needs, cues = complexity(words)
    question = Question(
        words,
        asks="?" in words or "？" in words or _OPENS.match(words) is not None,
        asks_place=_ASKS_PLACE.search(words) is not None,
        complexity=needs,
        cues=cues,
        first_person=_FIRST_PERSON.search(words) is not None,
        second_person=_SECOND_PERSON.search(words) is not None,
    )
    return with_kind(with_time(question, text), text)


def is_question(words: str) -> bool:
    """Whether a line of talk is a question as a whole."""
    return words.endswith("?") or _OPENS.match(words) is not None


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
_RELATION = pattern(rf"\b(?:{'|'.join(RELATION_WORDS)})\W*$")
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


_BEFORE_OR_AFTER = pattern(
    rf"(?:{AUXILIARY})\s+(?P<first>.+?)\s+(?:before\s+or\s+after|after\s+or\s+before)\s+(?P<second>.+?)\W*$"
)
_COMPARES = pattern(r"(?:\w+\s+)?(?:which|what|who|whom|did|was|were)\b")
_FIRST = r"first|earlier|sooner"
_ORDER = rf"{_FIRST}|last|later|most\s+recently"
_WHICH_FIRST = pattern(
    rf"\b(?P<order>{_ORDER})\b(?:\s+to\s+\w+)?\s*[,:;–-]*\s+(?:was\s+it\s+|is\s+it\s+)?"
    r"(?P<first>.+?),?\s+or\s+(?P<second>.+?)\W*$"
)
_SHARED = pattern(rf"(?:which|what|who)(?:\s+\w+)?\s+(?:{AUXILIARY})?\s*(?P<verb>.+?)\s+(?:{_ORDER})\b")
_DAY_OF = r"(?:the\s+(?:day|time|date)s?\s+(?:that\s+|when\s+|of\s+)?)?"
_BETWEEN = pattern(rf"\bbetween\s+{_DAY_OF}(?P<first>.+?)\s+and\s+{_DAY_OF}(?P<second>.+?)\W*$")
_APART = pattern(rf"^{HOW_LONG}\s+(?:before|after)\s+(?P<first>.+?)\s+(?:{AUXILIARY})\s+(?P<second>.+?)\W*$")
_TOOK = pattern(
    # "did it take for me to find a house": what took the time is the thing itself
    rf"^{HOW_LONG}\s+(?:{AUXILIARY})\s+(?:it\s+take\s+(?:for\s+)?)?(?P<first>.+?)\s+"
    r"(?:before|after|until|since)\s+(?P<second>.+?)\W*$"
)
_MOMENT = pattern(r"^the\s+(?:day|time|moment)\s+(?:that\s+|when\s+)?")
_RATE = pattern(r"how\s+many\s+\w+\s+(?:a|per|in\s+a)\s")
_AMOUNT = pattern(
    r"how\s+(?:much|often|old|far|tall|heavy|big|large|fast|high|deep|wide|expensive|late|early)\b",
    r"(?:at\s+)?what\s+(?:is|was|were|are|did)?\s*(?:\w+\s+){0,4}?(?:price|cost|age|score|percentage|amount|rent|salary|"
    r"speed|weight|height|size|distance|temperature|phone\s+number|discount|ratio|level)\b",
)
_SORT = r"(?:different\s+|other\s+|more\s+|of\s+(?:the|my|his|her|their)\s+)?"
_COUNT = pattern(
    rf"^(?:(?:in|on|at|for|to|from|with|of)\s+)?how\s+many\s+{_SORT}"
    rf"(?P<noun>.+?)(?=\s+(?:{AUXILIARY}|can|could|that|there|I|'ve|in|on|at|of|from|for)\b|\W*$)",
    r"\b(?:total\s+)?number\s+of\s+(?P<listed>\w+)",
)
_COUNTED = pattern(
    r"(?:how\s+many|what\s+(?:is|was)\s+the\s+(?:total\s+)?number\s+of)\s+(?:different\s+|other\s+|more\s+)?(?P<times>times\s+)?"
)
_AUXILIARY = pattern(
    rf"(?:{AUXILIARY}|{MODAL}|(?:did|do|does|is|are|was|were|has|have|had|wo|would|ca|could)n't)\b"
)
_REQUEST = pattern(r"(?:can|could|would|will)\s+you\s")
_YES_LATER = pattern(rf",\s*(?P<rest>(?:{AUXILIARY})\s.+)$")
_OR = pattern(r"\b(?:\w+(?:\s+\w+){0,4}),?\s+or\s+(\w+)")
_NAMED: tuple[tuple[Kind, str], ...] = (
    ("who", r"(?:(?:with|to|from|for|by|of|about|at)\s+)?(?:who|whom|whose)\b"),
    (
        "where",
        r"(?:(?:from|to|in|at|on|near)\s+)?(?:where|(?:what|which)\s+(?:\w+\s+)?"
        rf"(?:{PLACE}|street|neighbou?rhood|part|island|region|village|area))\b",
    ),
    ("why", r"(?:why|how\s+come|for\s+what\s+reason|what\s+(?:was|is)\s+the\s+reason)\b"),
    (
        "name",
        r"what(?:'s|\s+is|\s+was|\s+are|\s+were)\s+(?:the\s+(?:\w+\s+)?names?\s+of\s+.+|.+?\s+(?:called|named)\W*$"
        r"|(?:.+?['’]s?|my|your|our|his|her|its|their)\s+(?:sur|last\s+|first\s+|full\s+|middle\s+|maiden\s+|nick)?names?\b(?!\s+(?:day|tag)))",
    ),
)
_KINDS = tuple((kind, pattern(asked)) for kind, asked in _NAMED)
_BEFORE = pattern(r"^(?P<base>.+?)\s+before\s+(?P<than>(?:\S+\s+){0,3}\S*[^\W\d]\S*?)\W*$")
_TOTAL = pattern(rf"\b(?:{TOTAL}|total\s+(?:number|amount|cost|price|sum|of))\b")
_AT_THE_END = pattern(rf"\s+(?:{TOTAL})(?=\W*$)")
_SPENDING = pattern(r"\b(?:spend|spent|pay|paid|cost|costs)\b")
_COMPARING = pattern(r"\b(?:difference|than|compared|average|each|respectively|percentage)\b")
_BOTH = pattern(
    r"^(?P<lead>[^\"“”]*\b(?P<how>of|for|from|on|in|at|with|to|pay|did|do|does)\s+)"
    r"(?!(?:I|you|he|she|it|we|they)\b)(?P<first>[^,?\"“”]+?)\s+and\s+"
    r"(?!where|when|who|what|which|why|how|back\b)(?:(?P=how)\s+)?(?P<second>[^,?\"“”]+?)(?P<tail>\s+(?:cost|take|have))?\W*$"
)
_OPPOSITE = frozenset(("more", "less", "fewer", "higher", "lower", "better", "worse", "up", "down"))
_ARTICLES = frozenset(
    ("a", "an", "the", "my", "our", "his", "her", "their", "to", "in", "at", "by", "with", "without")
)


def with_kind(question: Question, text: str) -> Question:
    """Add which answer is wanted. What is no question of a known kind asks for "what"."""
    words = question.words.strip()
    asked = _with_kind(question, text)
    if asked.kind in ("count", "amount", "lasting"):
        asked = _summing(asked, _AT_THE_END.sub("", words))
    if asked.kind in ("who", "where", "what", "name", "amount") and (found := _BEFORE.match(words)):
        return replace(asked, base=f"{found['base']}?", before=found["than"])
    return asked


def _with_kind(question: Question, text: str) -> Question:
    if ordered := _ordered(text):
        sides, later = ordered
        return replace(question, kind="first", sides=sides, compared=_whole(sides, text), later=later)
    unit = length_unit(text)
    if apart := _apart(text):
        return replace(question, kind="between", sides=apart, compared=apart, unit=unit)
    if DATE.match(text):
        return replace(question, kind="when", unit=unit)
    if SINCE.match(text):
        return replace(question, kind="since", unit=unit)
    if LASTING.match(text) and not _RATE.match(text):
        return replace(question, kind="lasting", unit=unit)
    if _AMOUNT.match(text):
        return replace(question, kind="amount")
    opens = _AUXILIARY.match(text) is not None
    if not opens and (count := _COUNT.search(text)):
        return replace(question, kind="count", noun=(count["noun"] or count["listed"]).strip())
    later_on = _YES_LATER.search(text)
    if (opens and not _REQUEST.match(text)) or later_on:
        asked = later_on["rest"] if later_on and not opens else text
        offered = _OR.search(asked)
        if offered and offered.group(1).lower() not in ("not", "so", "more"):
            return replace(question, kind="choice", offered=_offered(asked))
        return replace(question, kind="yes or no")
    return replace(question, kind=next((kind for kind, asked in _KINDS if asked.match(text)), "what"))


def _summing(asked: Question, words: str) -> Question:
    """The question for each of the things that are counted (or for when it was, of times), and the parts where the sum
    of two things is asked for: in so many words, or by what was paid for both."""
    many = _COUNTED.search(words) if asked.kind == "count" else None
    if many is not None:
        rest = words[many.end() :].rstrip(" ?")
        asked = replace(asked, each=f"{words[: many.start()]}{'when' if many['times'] else 'which'} {rest}?")
    asked, both = replace(asked, total=bool(_TOTAL.search(asked.words))), _BOTH.match(words)
    if both is None or _COMPARING.search(words) or not (asked.total or _SPENDING.search(words)):
        return asked
    tail = f"{both['tail'] or ''}?"
    return replace(asked, parts=tuple(f"{both['lead']}{both[side]}{tail}" for side in ("first", "second")))


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


def _ordered(text: str) -> tuple[tuple[str, str], bool] | None:
    """The two things whose order is asked for, and whether the later one is wanted."""
    if found := _BEFORE_OR_AFTER.match(text):
        return (found["first"], found["second"]), False
    if not _COMPARES.match(text) or (found := _WHICH_FIRST.search(text)) is None:
        return None
    later = found["order"].lower() not in _FIRST.split("|")
    return (_bare(found["first"]), _bare(found["second"])), later


def _whole(sides: tuple[str, str], text: str) -> tuple[str, str]:
    """The sides with the verb that both share: "which group did I join first, A or B" asks when I joined A."""
    found = _SHARED.match(text)
    verb = found["verb"].strip() if found else ""
    if verb.lower() in ("", "came", "happened", "come", "happen"):
        return sides
    first, second = (side if len(side.split()) > 3 else f"{verb} {side}" for side in sides)
    return first, second


def _apart(text: str) -> tuple[str, str] | None:
    """The two things whose distance is asked for."""
    if not LASTING.match(text):
        return None
    found = _BETWEEN.search(text) or _APART.match(text) or _TOOK.match(text)
    return (_bare(found["first"]), _bare(found["second"])) if found else None


def _bare(side: str) -> str:
    return _MOMENT.sub("", side.strip(" ,'\"‘’“”"))


# "Could you remind me" asks for no judgement.
_COURTESY = pattern(
    r"\bmay i (?:please )?(?:ask|know|hear|see)\b",
    r"\bi (?:was|am|'m) wondering(?: if)?(?: you (?:could|can|would))?\b",
    r"\b(?:can|could|would|will) you(?: please)?\b(?! (?:\w+ )?(?:suggest|recommend|advise|help))",
)
_VERB = rf"(?:{AUXILIARY}|{MODAL})"
# What somebody can be by nature, along the five factors of personality; no word that is said of things as often. Parts
# of regular expressions; a hyphen may be a space or missing.
_TRAITS = r"""
    extro?verted extraverted introverted outgoing sociable talkative shy timid gregarious assertive bold confident
    insecure energetic adventurous impulsive spontaneous cautious careful careless reckless daring brave kind friendly
    unfriendly helpful generous selfish selfless stingy considerate inconsiderate compassionate empathetic caring
    trusting suspicious cooperative stubborn rude polite modest arrogant humble honest dishonest loyal forgiving jealous
    competitive supportive patient impatient tolerant intolerant affectionate organi[sz]ed disorgani[sz]ed punctual
    responsible irresponsible diligent hard-?working lazy disciplined ambitious thorough meticulous thrifty frugal
    anxious nervous moody temperamental sensitive irritable hot-?tempered resilient optimistic pessimistic cheerful
    gloomy creative imaginative curious open-?minded narrow-?minded intellectual philosophical analytical conservative
    liberal progressive religious superstitious sceptical skeptical materialistic idealistic patriotic sentimental
    nostalgic decisive indecisive independent family-?oriented career-?oriented goal-?oriented detail-?oriented athletic
    sporty outdoorsy extro?vert extravert introvert optimist pessimist realist idealist perfectionist workaholic
    procrastinator risk-?taker team-?player people-?pleaser homebody overthinker night-?owl early-?bird
""".replace("-?", "[- ]?").split()
_TRAIT = rf"(?:{'|'.join(_TRAITS)})"
_POLAR = (
    r"(?:^|[.!?,;:]\s)\W*(?:so |and |but )?(?:is|are|was|were|am)(?:n['’]t)?\s+"
    r"(?!(?:there|the|an?|it|this|that|these|those)\b)[^?.!;]{1,60}?\s"
)
"""A question for yes or no about somebody: "is Ana …", and not "is the soup …"."""
_ATTITUDE = (
    r"(?<!the )(?:prefer|enjoy|like|love|value|cherish|care (?:more|about)|favou?r|trust|respect|admire|fear|hate|"
    r"dislike|interested|drawn|devoted|loyal|committed|attached)"
)
_NOT_PLURAL = r"(?:news|series|this|his|its|does|is|was|has|us)\b"
_PLURAL = rf"(?!{_NOT_PLURAL})\w{{2,30}}(?<!ss)(?<!us)(?<!is)s"
_WORD = rf"(?!{_VERB}\b)[\w\-/.']{{1,30}}"

COMPLEX: Mapping[str, re.Pattern[str]] = {
    name: pattern(cue)
    for name, cue in {
        "modal": r"\b(?:would|wouldn['’]t|might|could|couldn['’]t|should|ought)\b",  # and `permits`
        "likelihood": r"\b(?:likely|unlikely|probably|possibly|potentially|presumably|considered|suitable|"
        r"appropriate|prone|open to|willing)\b",
        "inference": r"\b(?:based on|judging (?:by|from)|given (?:his|her|their|my|that)|assuming|suppose)\b",
        "character": r"\b(?:personalit\w+|traits?|attributes?|characteristics?|temperament|mindset|"
        r"(?:kind|type|sort) of person|habits?|tendenc(?:y|ies))\b"
        # "is Ana a morning person", "is he shy around strangers", "how patient is she": what one is, not what one did
        rf"|{_POLAR}(?:an?|the)\s+(?:[\w-]{{1,30}}\s+){{0,2}}(?:person|type|sort|kind)\b"
        rf"|{_POLAR}(?:an?\s+)?{_TRAIT}(?=\s*(?:$|[?.!,;]|(?:person|people|man|woman|guy|boy|girl|child|kid|friend|"
        r"partner|parent|mother|father|boss|colleague|soul|with|about|when|towards?|around|enough|or|and|at|in|as)\b))"
        rf"|\bhow {_TRAIT} (?:is|are|was|were|am)\b",
        # "does she care more for A or B", "does he tend to …": what weighs with somebody
        "values": r"\b(?:tend(?:s|ed)? to|inclined to)\b"
        r"|(?<!how )\b(?:do|does|did)\b[^?.!]{0,60}\bprioriti[sz]e\b"
        rf"|\b(?:do|does|did|is|are|was|were)\b[^?.!]{{0,60}}\b{_ATTITUDE}\b[^?.!]{{0,80}}\b(?:or|over|more than)\b"
        r"|\b(?:matters?|mattered|important)\b[^?.!]{0,40}\b(?:more|most|or)\b"
        r"|\b(?:more|most) important to\b"
        r"|(?:['’]s?|\b(?:his|her|their|my|your|our|core|personal|moral|political|religious))\s+"
        r"(?:values|beliefs|priorities|principles|attitudes?|outlook|world-?view|leanings?|temper)\b",
        "advice": r"\bany (?:\w+ )?(?:suggestions?|ideas?|tips?|advice|recommendations?|thoughts?)\b"
        r"|\b(?:can|could|would|will) you (?:please )?(?:suggest|recommend|advise|help)\b"
        r"|^\W*(?:please )?(?:suggest|recommend)\b",
    }.items()
}
"""What asks for a judgement, a prediction, advice, or what somebody is like."""

HYBRID: Mapping[str, re.Pattern[str]] = {
    name: pattern(cue)
    for name, cue in {
        # "what books has", "which areas of the country did": a plural before the verb
        "plural": rf"\b(?:what|which)\s+(?:{_WORD}\s+){{0,3}}?{_PLURAL}\s+"
        rf"(?:(?:of|for|at|in|with|from)\s+(?:[\w.']{{1,30}}\s+){{1,3}}?)?(?:that\s+)?(?:\w{{1,30}}\s+)?{_VERB}\b",
        "are": r"\b(?:what|who) (?:are|were) (?!the \w+ing|\w+ \w+ing)",
        # "what has she painted": all that happened until now
        "perfect": r"\b(?:what|which|where|who|how)\b(?! (?:long|much|old))"
        r"(?:\s+(?!do\b|does\b|did\b|is\b|are\b)[\w\-'/]{1,30}){0,5}?\s+(?:has|have)\s+(?!to\b)",
        "count": rf"\bhow many (?!{LENGTH}\b)",
        "repeated": r"\bmultiple\b|\bmost (?:often|frequently)\b|\bso far\b|\bover (?:time|the years)\b|\bthroughout\b",
        # a stretch of time has two ends, each said by itself
        "span": rf"\bhow many {LENGTH}\b(?! (?:ago|does|do|a )\b)",
        "together": r"\b(?:both|in common|each other)\b",
        "all": r"\b(?:all|every|various|several|total|altogether|combined|overall|average|list|"
        r"(?:types|kinds|sorts) of|(?:what|which|different) ways|names of)\b",
        "comparison": r"\b(?:compared?|comparison|percentage|difference between|"
        r"(?:more|less|fewer)\b[^?]{0,60} than|higher|lower|older than|faster|instead of)\b",
        "either": r"\b(?:first|earlier|later|last|more|most recently)\b[^?,:]{0,200}[,:][^?]{0,200}\bor\b"
        r"|\border of\b|\bin (?:the|what|which) order\b",
    }.items()
}
"""What asks for several facts at once: a plural, a count, a span, a comparison."""


def complexity(query: str) -> tuple[Complexity, tuple[str, ...]]:
    """How much a question needs, and the cues that say so.

    The cues were chosen on LoCoMo dev by forward selection with one conversation left out at a time (the same six were
    chosen each time), and completed by those that LongMemEval's other kinds of question ask for (tables in
    benchmarks/history/tree.md). No cue is made for one sentence.
    """
    plain = _COURTESY.sub(" ", query)
    judged = tuple(
        name
        for name, cue in COMPLEX.items()
        if cue.search(query if name == "advice" else plain) or (name == "modal" and permits(plain))
    )
    if judged:
        return "complex", judged
    several = tuple(name for name, cue in HYBRID.items() if cue.search(plain))
    return ("hybrid", several) if several else ("simple", ())


_MAY = pattern(r"\bmay\b")
# No verb stands behind these: "in May", "last May", "the May fair", "did May call" (a name), "was May busy".
_BEFORE_A_NOUN = pattern(
    r"(?:\b(?:in|on|at|by|of|for|from|to|since|until|till|through|during|before|after|around|between|within|about|"
    r"the|an?|last|next|every|each|early|mid|late|previous|coming|following|his|her|my|our|their|your|"
    rf"{AUXILIARY}|can|could|should)|['’]s|mid-)\s*$"
)
_AFTER_A_NOUN = pattern(r"\s*(?:['’]s|is|are|was|were|has|had|did|does|will|would)\b")
_SENTENCE_START = pattern(r"(?:^|[.!?,])\s*$")
_ASKS_LEAVE = pattern(r"\s+(?:i|we)\s+(?!be\b|have\b)")
_ANY_MOMENT = datetime(2024, 1, 1, tzinfo=UTC)
MOST_MAYS = 8
AROUND_MAY = 40
"""Characters around a "may" that are read as a time expression: a pasted document costs no more than a line."""


def permits(query: str) -> bool:
    """Whether a "may" in the question is the verb: neither the month nor a name.

    What stands beside it decides, and else the time grammar: "March or May" and "May 3rd" are times, "what may 5 people
    need" is not.
    """
    for found, _ in zip(_MAY.finditer(query), range(MOST_MAYS), strict=False):
        before, after = query[max(0, found.start() - AROUND_MAY) : found.start()], query[found.end() :]
        if _BEFORE_A_NOUN.search(before) or _AFTER_A_NOUN.match(after):
            continue
        if _SENTENCE_START.search(before) and _ASKS_LEAVE.match(after):
            continue  # "May I see the photos of June?" is polite, and asks for no judgement
        if not _is_time(before, found.group() + after[:AROUND_MAY]):
            return True
    return False


def _is_time(before: str, rest: str) -> bool:
    place = len(before)
    return any(
        start <= place < end for start, end in (ref.span for ref in resolve(before + rest, _ANY_MOMENT))
    )
