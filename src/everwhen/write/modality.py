"""Did it happen? Tense, negation, supposition, questions and irony: the one test of them, for all who ask.

Of a parsed clause the grammar says it (`status`, `denied`, `tense`, `unmeant`). Where no parse is at hand (recall has
hundreds of sentences to look at), `unreal` reads it off the words, and `is_no_longer` and `is_rejected` what ends
something or sets a time aside.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Literal

from everwhen.write.extract import grammar
from everwhen.write.extract.base import Status
from everwhen.write.extract.clauses import Clause
from everwhen.write.extract.grammar import AHEAD, FAILED, HYPOTHETICAL, Parse, ProseLine, Word, vocabulary

Tense = Literal["past", "present", "progressive", "perfect", "future", "bare"]
Unreal = Literal["nearly", "quoted", "supposed", "denied", "wished"]

_IF = ("if", "unless", "whether")
_WORDS: dict[Unreal, re.Pattern[str]] = {
    # "Almost bought" did not happen; "almost two years ago" did.
    "nearly": re.compile(
        r"(?i)\b(?:almost|nearly)\s+(?!\d|(?:a|an|all|every|the|as|there|one|two|three|four|five|six|seven|eight|nine|ten|"
        r"half|done|finished|always|never)\b)"
    ),
    # Words that somebody else is made to say: "In chapter one he says: 'I quit smoking.'"
    "quoted": re.compile(r"(?i)^\W*[\"'“‘„«](?:i|we|my|our)\b"),
    "supposed": re.compile(
        rf"(?i)\b(?:{'|'.join(_IF)}|would|wouldn['’]t|(?:could|should)(?: have|['’]ve)|might|maybe|perhaps)\b"
        r"|\bwish(?:es|ed)? (?:i|we|he|she|they|to)\b|\w['’]d (?:have|be|love|like|never)\b"
    ),
    # "Not on Friday" corrects a date; "did not go" denies.
    "denied": re.compile(
        r"(?i)\b(?:never|\w+n['’]t|nobody|without)\b|\bnot (?:yet|going|happening)\b"
        r"|\b(?:am|is|are|was|were|do|does|did|have|has|had|will|can|could) not\b"
    ),
    "wished": re.compile(
        r"(?i)\b(?:want(?:s|ed|ing)? (?:to(?! (?:tell|say|share|let|ask|show)\b)|a|an)|wanna|hop(?:e|es|ed|ing) to"
        r"|(?:think(?:ing)?|thought|dream(?:s|ing|ed)?) (?:of|about)|consider(?:s|ing|ed)?|suppos\w+ to"
        r"|needs? (?:to|a|an))\b"
    ),
}
_NO_LONGER = re.compile(r"(?i)\b(?:any ?more|no longer|any longer)\b")
_REJECTS = frozenset({"not", "than", "instead"})
_IRONIC = re.compile(
    r"""(?ix) \b (?: yeah,?\ right | as\ if | oh,?\ (?:great|joy|wonderful|fantastic|sure) | in\ your\ dreams |
        said\ no\ ?one\ ever | what\ could\ (?:possibly\ )?go\ wrong |
        sure,.* \b (?:totally|obviously|clearly|definitely|absolutely) |
        (?-i: just\ LOVE | because \b .* \b SO) ) \b
    | (?:^|\W)/s\b"""
)
_HAVE = frozenset({"have", "has", "'ve", "ve", "'d", "having"})
_PAST = frozenset({"had", "did", "was", "were", "got"})
_PRESENT = vocabulary("do does is are am 's 're 'm m re get gets")
_CUTS = vocabulary(", ; : - – — ... … (")
_POINTING = frozenset({"here", "there", "this", "that", "it", "these", "those"})


# Of words, where no parse is at hand


def unreal(words: str, *kinds: Unreal) -> bool:
    """Whether words say in one of some ways that something did not happen."""
    return any(_WORDS[kind].search(words) for kind in kinds)


def is_no_longer(words: str) -> bool:
    """Whether words say that something held before: "I don't run any more"."""
    return _NO_LONGER.search(words) is not None


def is_rejected(before: str) -> bool:
    """Whether the words before a time set it aside: "not the 12th", "earlier than Friday"."""
    return not _REJECTS.isdisjoint(before.lower().split()[-2:])


def is_ironic(sentence: str) -> bool:
    return _IRONIC.search(sentence) is not None


# Of parsed clauses


def unmeant(parse: Parse, passage: ProseLine | None = None) -> set[int]:
    """The places of words that are asked, ironic or, in a passage, quoted."""
    found: set[int] = set()
    for sentence in parse.sentences:
        if is_ironic(parse.text[sentence[0].start : sentence[-1].end]):
            found |= {word.i for word in sentence}
        elif passage is not None:
            found |= {word.i for word in sentence if passage.quoted(word.start)}
        found |= asked(sentence)
    return found


def tense(clause: Clause) -> Tense:
    """The tense of the clause's first verb with its auxiliaries."""
    helpers = {word.lower for word in clause.auxiliaries}
    tag = clause.first.tag
    if helpers & grammar.FUTURE:
        return "future"
    if helpers & _HAVE and tag in ("VBN", "VBD", "VBG"):
        return "progressive" if tag == "VBG" and "'d" not in helpers else "perfect"
    if helpers & _PAST:
        return "past"
    if tag == "VBG":
        return "progressive"
    if helpers & _PRESENT:
        return "present"  # "is booked" is a state; a past participle without any helper is a past
    if tag in ("VBD", "VBN"):
        return "past"
    return "present" if tag in ("VBZ", "VBP") else "bare"


def status(clause: Clause) -> Status:
    """Happened, ongoing, planned, hypothetical or negated, by grammar alone; the time may still correct it."""
    helpers = {word.lower for word in clause.auxiliaries}
    introduced = [link.lemma for link in clause.chain[:-1]]
    was = bool(helpers & {"was", "were"}) or clause.first.tag == "VBD"
    if _is_unreal(clause) or (was and not {"go", "gon", "suppose"}.isdisjoint(introduced)):
        return "hypothetical"  # "was gonna take the train"
    if denied(clause):
        return "negated"
    # "I'd seen it": the 'd is a had, because a participle follows it.
    had = helpers & HYPOTHETICAL == {"'d"} and clause.verb.tag == "VBN"
    if helpers & HYPOTHETICAL and not had:
        return "hypothetical"
    if any(word in AHEAD or word in ("go", "gon") for word in introduced):
        return "planned"
    if introduced and introduced[0] in ("have", "get", "got") and clause.chain[1].child("aux") is not None:
        return "happened" if clause.first.tag == "VBD" and clause.first.lemma == "have" else "planned"
    kind = tense(clause)
    if kind in ("progressive", "present"):
        return "ongoing"
    return "happened" if kind in ("past", "perfect") else "planned"


def denied(clause: Clause) -> bool:
    children = [child for link in clause.chain for child in link.children]
    denials = [child for child in children if child.dep == "neg" or child.lower in grammar.DENIAL]
    if any(not _is_apart(child, clause.subject) for child in denials):
        return True
    if any(word is not None and _is_none(word) for word in (clause.subject, clause.object)):
        return True
    return any(link.lemma in FAILED for link in clause.chain[:-1])


def _is_apart(word: Word, subject: Word | None) -> bool:
    """ "Can't, I sprained my ankle": the denial before the comma is an answer of its own."""
    return (
        subject is not None
        and word.i < subject.i
        and any(one.text in (",", ";", ".") and word.i < one.i < subject.i for one in word.head.children)
    )


def _is_none(word: Word) -> bool:
    """ "nobody", "no train"."""
    return word.lower in grammar.NOBODY or any(
        child.lower in ("no", "zero", "neither") for child in word.children
    )


def _is_unreal(clause: Clause) -> bool:
    """A condition, what would follow from it, and what is only wished or supposed."""
    below = [child for link in clause.chain for child in link.children if child.dep == "advcl"]
    if any(_is_condition(word) for word in (clause.first, *below)):
        return True
    if clause.parent is None or not (clause.link == "said" or (clause.link == "joined" and clause.inherited)):
        return False
    wished = clause.link == "said" and clause.parent.verb.lemma in grammar.UNREAL
    return wished or _is_unreal(clause.parent)


def _is_condition(word: Word) -> bool:
    marker = word.child("mark", "advmod")
    return marker is not None and marker.lower in (*_IF, "lest")


def asked(sentence: Sequence[Word]) -> set[int]:
    """The places of the words that are a question: all of the sentence, or its last part."""
    words = [word for word in sentence if word.pos != "SPACE"]
    marked = next((at for at in range(len(words) - 1, -1, -1) if words[at].text.startswith("?")), None)
    if marked is None:
        start = _inverted(words)
        return set() if start is None else {word.i for word in words[start:]}
    starts = [at + 1 for at in range(marked) if words[at].text in _CUTS]
    for start in reversed(starts):
        # A tag ("right?", "doesn't she?", "anyone in?") asks nothing about what stands before it.
        if marked - start <= 4 or _inverted(words[start:marked]) is not None:
            return {word.i for word in words[start : marked + 1]}
    return {word.i for word in words[: marked + 1]}


def _inverted(words: Sequence[Word]) -> int | None:
    """Where a question begins by its order of words: "did you …", "is the …"; None where there is none."""
    if not words or words[0].lower in _POINTING:
        return None
    for at, (helper, after) in enumerate(pairwise(words)):
        if helper.lower in grammar.INVERTING and after.pos != "VERB" and _is_subject(after, helper):
            return at
    return None


def _is_subject(word: Word, helper: Word) -> bool:
    """Whether a word is, or begins, the subject of the helper's verb."""
    head = word.head if word.dep in ("det", "poss", "compound", "amod") else word
    return head.dep in ("nsubj", "nsubjpass", "expl") and helper in (head.head, *head.head.children)
