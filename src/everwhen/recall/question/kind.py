"""Which kind of answer a question asks for: a date, a length, a number, a person, a yes; and its parts."""

from __future__ import annotations

from dataclasses import replace

from everwhen.recall.question.parsed import Kind, Question
from everwhen.recall.question.time_asked import DATE, LASTING, SINCE, length_unit
from everwhen.recall.question.word_patterns import AUXILIARY, HOW_LONG, MODAL, PLACE, TOTAL, pattern

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
_HOW_MANY = pattern(
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
    many = _HOW_MANY.search(words) if asked.kind == "count" else None
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
