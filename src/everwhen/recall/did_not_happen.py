"""Recognises words about something that did not happen: denied, almost done, wished for, supposed or made up."""

from __future__ import annotations

import re

from everwhen.recall.question import Question
from everwhen.recall.time_evidence import TimeEvidence

# "Not on Friday" puts a date right; "did not go" denies.
_DENIED = re.compile(
    r"\b(?:never|\w+n['’]t|nobody|without)\b|\bnot (?:yet|going|happening)\b"
    r"|\b(?:am|is|are|was|were|do|does|did|have|has|had|will|can|could) not\b",
    re.IGNORECASE,
)
# "Almost bought" did not happen; "almost two years ago" did.
_NEARLY = re.compile(
    r"\b(?:almost|nearly)\s+(?!\d|(?:a|an|all|every|the|as|there|one|two|three|four|five|six|seven|eight|nine|ten|half|done"
    r"|finished|always|never)\b)",
    re.IGNORECASE,
)
_SUPPOSED = re.compile(
    r"\b(?:if|unless|whether|would|wouldn['’]t|(?:could|should)(?: have|['’]ve)|might|maybe|perhaps)\b"
    r"|\bwish(?:es|ed)? (?:i|we|he|she|they|to)\b|\w['’]d (?:have|be|love|like|never)\b",
    re.IGNORECASE,
)
_WISHED = re.compile(
    r"\b(?:want(?:s|ed|ing)? (?:to(?! (?:tell|say|share|let|ask|show)\b)|a|an)|wanna|hop(?:e|es|ed|ing) to"
    r"|(?:think(?:ing)?|thought|dream(?:s|ing|ed)?) (?:of|about)|consider(?:s|ing|ed)?|suppos\w+ to"
    r"|needs? (?:to|a|an))\b",
    re.IGNORECASE,
)
# Words that somebody else is made to say: "In chapter one he says: 'I quit smoking.'"
_QUOTED = re.compile(r"^\W*[\"'“‘„«](?:i|we|my|our)\b", re.IGNORECASE)


def did_not_happen(clue: TimeEvidence, words: str, question: Question) -> bool:
    """Whether a clue's words say that it did not happen, where the question asks for what did.

    `words` are those of the clue that the question is about. What a question about plans asks for may well be supposed
    or wished.
    """
    status = clue.event.status if clue.event else ""
    if _NEARLY.search(words) or _QUOTED.search(words):
        return True
    if not question.planned and (status == "hypothetical" or _SUPPOSED.search(words)):
        return True
    if not question.denied and (status == "negated" or _DENIED.search(words)):
        return True
    return question.ahead is False and not question.planned and bool(_WISHED.search(words))
