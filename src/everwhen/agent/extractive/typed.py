"""The few words of a sentence that are of the kind asked for: a person, a place, a name, a number, a length."""

from __future__ import annotations

import re
from collections.abc import Collection

from everwhen.agent.extractive.evidence import Sentence
from everwhen.agent.extractive.kinds import Asked
from everwhen.when import resolve

_SMALL = """zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen
    seventeen eighteen nineteen twenty"""
NUMBERS = {word: number for number, word in enumerate(re.findall(r"\w+", _SMALL))} | {
    "a couple of": 2, "a dozen": 12, "once": 1, "twice": 2, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100,
}  # fmt: skip
_NUMBER = (
    r"(?:[$€£]\s?\d[\d,.]*\d|[$€£]\s?\d|\d[\d,.]*\d|\d|a couple of|a dozen|once|twice|"
    r"(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:-(?:one|two|three|four|five|six|seven|eight|nine))?|"
    + "|".join(word for word in NUMBERS if " " not in word and word not in ("once", "twice"))
    + r")"
)
_QUANTITY = re.compile(
    rf"(?<![\w:-]){_NUMBER}(?![\w:])(?:\s?%|\s?(?:percent|euros?|dollars?|pounds?|points?|k\b))?",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"\b(?:at|until|from|by)\s+$", re.IGNORECASE)  # "at nine" is an hour, whatever is counted
_MONTH = re.compile(
    r"\s*(?:(?:and|to|or|–|-)\s*\d+\s+)?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\b|\s*o['’]clock",
    re.IGNORECASE,
)
"""After a number that is part of a date or an hour: "3 and 4 May"."""
_AGE = re.compile(
    rf"(?<![\w:-]){_NUMBER}[\s-]+(?:years?|months?|weeks?)[\s-]+olds?\b|\b(?:turn(?:s|ed|ing)?|aged?|'m|am|is|be|was)\s+"
    rf"{_NUMBER}(?=\s*(?:[.,;!?]|$|now\b|today\b|this\b|years?\b))",
    re.IGNORECASE,
)
_LENGTH = re.compile(
    r"(?:about |around |almost |nearly |over )?(?<![\w:-])"
    rf"(?:{_NUMBER}|an?|half an?|several|a few)(?:\s+and\s+a\s+half)?[\s-]+"
    r"(?:more\s+)?(?:second|minute|hour|day|night|week|weekend|month|year|decade)s?\b"
    r"(?:\s+and\s+(?:a\s+half|\w+\s+(?:minute|hour|day|week|month)s?))?",
    re.IGNORECASE,
)
_CAUSE = re.compile(
    r"\b(?:because|since|so that|so|due to|thanks to|as a result|in order to|that's why|which is why|explains?|reason|"
    r"wanted to|to (?:help|raise|get|make|support|keep|be|show|spread))\b",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"\b(?:in|at|to|from|near|on|into|through|around|across|inside|outside)\s+((?:(?:the|a|an|my|our|their|his|her|some)\s+)?"
    r"[^\W\d][\w'’-]*(?:\s+(?:of|de|the)\s+\w+|\s+[A-ZÀ-Þ][\w'’-]*)*)",
)
_NAMED = re.compile(r"(?:Dona|Dr\.?|Mr\.?|Mrs\.?|Ms\.?)?\s?\b[A-ZÀ-ÖØ-Þ][\w’-]+(?:\s+[A-ZÀ-ÖØ-Þ][\w’-]+)*")
_KIN = re.compile(
    r"\b(?:my|our|his|her|their)\s+(?:\w+\s+)?(?:mother|father|mum|mom|dad|sister|brother|wife|husband|son|daughter|friends?|cousin|"
    r"aunt|uncle|parents|family|kids?|children|colleagues?|boss|manager|neighbou?rs?|partner|niece|nephew|grand\w+|"
    r"teacher|doctor|roommate|co-?workers?|team\w*)\b",
    re.IGNORECASE,
)
_TITLED = r"(?:(?:Dona|Dr\.?|Mr\.?|Mrs\.?|Ms\.?)\s)?[A-ZÀ-ÖØ-Þ][\w’&-]+(?:\s+[A-ZÀ-ÖØ-Þ][\w’&-]+)*"
_CALLED = re.compile(
    rf"(?i:\bcalled|\bnamed|\bnames?\s+(?:is|was|are|were)|\bname['’]s|\bcall\s+(?:him|her|it|them|this|that)|\bthis\s+is|\bmeet)\s+"
    rf"(?:the\s+)?({_TITLED}(?:(?:,\s+|\s+and\s+){_TITLED})*)"
)
_QUOTED = re.compile(r"[\"“]([^\"“”]{2,60})[\"”]")
_NO_PLACE = re.compile(
    r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day|january|february|march|april|may|june|july|august|september|october|"
    r"november|december|morning|afternoon|evening|night|weekend|week|month|year|day|time|moment|hour|minute|least|first|"
    r"last|all|fact|general|the end|\b(?:me|you|it|him|them|us|do|be|get|see|have|go|make)\b",
    re.IGNORECASE,
)
"""What stands after "in" or "to" and is a time, a person or a verb."""
PEOPLE, PLACES = frozenset({"PERSON"}), frozenset({"GPE", "LOC", "FAC", "ORG"})


def spans(asked: Asked, sentence: Sentence) -> list[str]:
    """What of a sentence is of the kind asked for; for "what", and what else has no form of its own, nothing."""
    text, known = sentence.text, asked.words.lower()
    match asked.kind:
        case "who":
            return people(sentence, known)
        case "where":
            return places(text, known)
        case "amount" | "count":
            return quantities(asked, sentence)
        case "lasting" | "since":
            return [one.group().strip() for one in _LENGTH.finditer(text)]
        case "name":
            return called(asked.noun, text, known)
        case "why":
            return [one.group() for one in _CAUSE.finditer(text)]
    return []


def expected(asked: Asked) -> bool:
    """Whether the kind has a form that can be looked for."""
    return asked.kind in ("who", "where", "amount", "count", "lasting", "why", "name")


def people(sentence: Sentence, known: str) -> list[str]:
    """Names and kin that the question does not name itself; else the speaker, where he speaks of himself."""
    named = [one for one in _names(sentence.text, PEOPLE) if one.lower() not in known]
    kin = [one.group() for one in _KIN.finditer(sentence.text)]
    if named or kin:
        return [*named, *kin]
    himself = re.search(r"\b(?:I|I'm|I've|my|me|we)\b", sentence.text)
    speaker = sentence.turn.speaker
    return [speaker] if himself and speaker.lower() not in known else []


def places(text: str, known: str) -> list[str]:
    """Named places, else what stands after "in", "at", "to"; what the question has itself is not the answer."""
    named = [one for one in _names(text, PLACES) if one.lower() not in known]
    after = [one.group(1).strip() for one in _PLACE.finditer(text)]
    told = [one for one in after if not _of_time(one) and not _inside(one, known)]
    return list(dict.fromkeys([*named, *told]))


def quantities(asked: Asked, sentence: Sentence) -> list[str]:
    """Numbers that are no part of a date, a time or a length; an age where one is asked for."""
    text, turn = sentence.text, sentence.turn
    if re.search(r"\bhow old\b|\bage\b", asked.words, re.IGNORECASE):
        return [one.group().strip() for one in _AGE.finditer(text)]
    times = [ref.span for ref in resolve(text, turn.said_at, turn.zone)]
    return [
        one.group().strip()
        for one in _QUANTITY.finditer(text)
        if not any(start <= one.start() < end for start, end in times)
        and not _CLOCK.search(text[: one.start()])
        and not _MONTH.match(text[one.end() :])
        and one.group().strip().lower() != "one"  # "one another", "this one": hardly ever a count
    ]


def called(noun: str, text: str, known: str) -> list[str]:
    """What a thing is called in a text: after the words of naming, in quotation marks, or beside the noun itself."""
    head = re.escape(_head(noun))
    told = [one.group(1) for one in _CALLED.finditer(text)]
    told += [one.group(1) for one in _QUOTED.finditer(text)]
    if head:
        after = rf"\b(?i:{head}\w*)(?:,|:|\s+(?:is|was|of|at)\b)?\s+({_TITLED})"
        before = rf"({_TITLED}),?\s+(?:(?:is|was)\s+)?(?:my|our|his|her|the|a)\s+(?:\w+\s+)?(?i:{head})"
        told += [one.group(1) or one.group(2) for one in re.finditer(f"{after}|{before}", text)]
    return [one for one in dict.fromkeys(told) if one.lower() not in known]


def number_before(noun: str, text: str) -> str:
    """The number that counts a noun in a text ("three flats", "four rare items"); empty where none does."""
    head = re.escape(_head(noun))
    if not head:
        return ""
    found = re.search(
        rf"(?<![\w:-])({_NUMBER})(?:\s+(?:more\s+)?[\w'’-]+){{0,2}}?\s+{head}\w{{0,3}}\b", text, re.IGNORECASE
    )
    return found.group(1) if found else ""


def _head(noun: str) -> str:
    """The word that a noun hangs on, without its plural: "item" of "rare items"."""
    words = noun.lower().split()
    return re.sub(r"['’]?s?['’]?$", "", words[-1]) if words else ""


def _names(text: str, labels: Collection[str]) -> list[str]:
    """Named entities of a text by their labels. spaCy is loaded here, at the first sentence that needs it."""
    from everwhen.ingest.extract.rules.parsing import parser

    parsed = parser().parse([text])[0]
    found = [name.text.removesuffix("'s").removesuffix("’s") for name in parsed.names if name.label in labels]
    # The small model misses names that it has not seen: a capital inside of a sentence is one as well.
    inner = [one.group().strip() for one in _NAMED.finditer(text) if one.start() > 0]
    return [
        one
        for one in dict.fromkeys([*found, *inner])
        if one not in ("I", "I’m", "I've", "OK") and not re.match(r"I['’]", one) and not _of_time(one)
    ]


def _of_time(words: str) -> bool:
    return bool(_NO_PLACE.search(words))


def _inside(words: str, known: str) -> bool:
    bare = re.sub(r"^(?:the|a|an|my|our|their|his|her|some)\s+", "", words.lower())
    return bool(re.search(rf"\b{re.escape(bare)}\b", known))
