"""Recognises words about something that did not happen: denied, almost done, wished for, supposed or made up."""

from __future__ import annotations

from everwhen.recall.calendar.evidence import TimeEvidence
from everwhen.recall.question import Question
from everwhen.write.modality import unreal


def did_not_happen(clue: TimeEvidence, words: str, question: Question) -> bool:
    """Whether a clue's words say that it did not happen, where the question asks for what did.

    `words` are those of the clue that the question is about. What a question about plans asks for may well be supposed
    or wished.
    """
    status = clue.event.status if clue.event else ""
    if unreal(words, "nearly", "quoted"):
        return True
    if not question.planned and (status == "hypothetical" or unreal(words, "supposed")):
        return True
    if not question.denied and (status == "negated" or unreal(words, "denied")):
        return True
    return question.ahead is False and not question.planned and unreal(words, "wished")
