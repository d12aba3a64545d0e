"""From what a turn states to facts that it may tell: whose they are, from when or until when they hold.

What is said as true, planned for a day, ended or denied goes on; what is supposed, reported of others' talk or
fiction does not. How likely each is right, `fact_chance` says.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Final, Literal

from everwhen.types import Turn
from everwhen.types.relations import Relation
from everwhen.write.extract.base import ExtractedFact, FactStatus
from everwhen.write.extract.grammar.cleaning import ProseLine
from everwhen.write.extract.grammar.parsing import Parse, Word, parsed
from everwhen.write.extract.grammar.word_lists import vocabulary
from everwhen.write.extract.reader_statements import AHEAD, ReadStatement, logit
from everwhen.write.extract.rules.coreference import GENDER, Coreference, possessive
from everwhen_time import Interval, TimeRef, resolve
from everwhen_time.sentences import sentence_place

KEPT: Final[dict[str, FactStatus]] = {
    "true": "holds", "planned": "planned", "ended": "ended", "denied": "denied",
}  # fmt: skip
FIRST = vocabulary("i me my mine myself we us our ours i'm im i've ive i’m") | {""}
_SECOND = vocabulary("you your yours u ur")
_NOBODY = vocabulary(
    "it its they them their theirs this that these those who which someone everyone anyone somebody everybody nobody "
    "one people"
)
_FILLERS = vocabulary("the a an new old still now") | {""}
_OWNED = re.compile(r"^(my|our|your|his|her)\s+(.+)$", re.IGNORECASE | re.DOTALL)
_NAME_LAST = re.compile(r"(?:^|\s)((?:[^\W\d_a-zß-ÿ][\w'’.-]*\s?)+)$")
_ARTICLE = re.compile(r"^(?:an?|the|this|that)\s+(?=\S)", re.IGNORECASE)
_HAVE = frozenset(("have", "has", "'ve", "’ve"))
_LASTING = frozenset(("number", "date"))
"""Values that are read off at a time, and stand until another is told."""
_CLAUSE = re.compile(r"[,;:()–—]|\b(?:and|but|so|because|who|which|while|then)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Phrase:
    """Words of a turn: those that depend on no other of them, and how many there are, without punctuation."""

    tops: tuple[Word, ...]
    words: int


@dataclass(frozen=True, slots=True)
class FactCandidate:
    """A fact that a turn seems to tell, with what it was read from."""

    fact: ExtractedFact
    stated: ReadStatement
    turn: Turn
    listener: str | None
    subject: Phrase
    value: Phrase


def candidates(
    turn: Turn,
    stated: Sequence[ReadStatement],
    coref: Coreference,
    read: Sequence[tuple[ProseLine, Parse]] = (),
) -> list[FactCandidate]:
    """The facts that a turn's statements may make; `read` are its passages with their grammar.

    The same words are one thing of one subject: of "I hate olives" that she dislikes them, and not that she eats them.
    Which one, the chances say; but in "I live in Leeds and work at Siemens" Leeds is where I live.
    """
    found: dict[tuple[str, int], FactCandidate] = {}
    for one in sorted(stated, key=lambda one: -_odds(one, stated)):
        place = one.subject_at, one.subject_at + len(one.subject)
        words = subject_words(turn.text, place, read)
        subject = subject_of(words, one.subject_at, coref) if words is not None else None
        status = KEPT.get(one.status)
        if subject is None or status is None or subject.casefold() == one.value.casefold():
            continue
        if turn.role == "assistant" and subject == coref.speaker:
            continue  # it has no life to tell of
        if one.relation.of == "thing" and subject in (coref.speaker, coref.listener):
            continue  # "signed!" is no status of the one who says it
        if one.relation.of == "thing" and _is_time(subject, turn):
            continue  # "Thursday, 3 April": no thing is due then
        status, valid = _valid(turn, one, status, read)
        if status == "planned" and valid is None:
            continue  # nobody knows from when
        domain = one.relation.domain or "general"
        fact = ExtractedFact(subject, one.relation.name, one.value, (turn.id,), domain, valid, status=status)
        candidate = FactCandidate(
            fact, one, turn, coref.listener, _phrase(place, read), _phrase(one.place, read)
        )
        found.setdefault((subject, one.place[0]), candidate)
    return [one for _, one in sorted(found.items(), key=lambda one: one[0][1])]


def _is_time(words: str, turn: Turn) -> bool:
    return any(ref.text == words for ref in resolve(words, turn.said_at, turn.zone))


def _phrase(place: tuple[int, int], read: Sequence[tuple[ProseLine, Parse]]) -> Phrase:
    inside = [word for _, word in _inside(place, read)]
    return Phrase(tuple(_tops(inside)), len(inside))


def _inside(place: tuple[int, int], read: Sequence[tuple[ProseLine, Parse]]) -> list[tuple[int, Word]]:
    """The words at a place of a turn, without punctuation and line breaks; each with where its passage begins."""
    start, end = place
    return [
        (passage.start, word)
        for passage, parse in read
        for word in parse.words
        if passage.start + word.start < end
        and start < passage.start + word.end
        and word.pos not in ("PUNCT", "SPACE")
    ]


def _tops(words: Sequence[Word]) -> list[Word]:
    return [word for word in words if word.head is word or all(word.head is not one for one in words)]


def _odds(one: ReadStatement, stated: Sequence[ReadStatement]) -> float:
    """How likely a statement is beside others of the same words, in log odds. Where one value of a relation holds at a
    time and a likelier one is told of the same subject in the same way, this one is less likely."""
    likelier = not one.relation.many and any(
        other.relation is one.relation
        and other.place != one.place
        and other.status == one.status
        and _same_words(other.subject, one.subject)
        and other.chance > one.chance
        for other in stated
    )
    return logit(one.chance) - (AHEAD if likelier else 0.0)


def _same_words(one: str, other: str) -> bool:
    """Whether the same is meant by the words for two subjects: all words for the speaker are the same."""
    one, other = one.strip().casefold(), other.strip().casefold()
    return one == other or (one in FIRST and other in FIRST)


def subject_words(text: str, place: tuple[int, int], read: Sequence[tuple[ProseLine, Parse]]) -> str | None:
    """The words at a place, where they are one phrase; of a clause its subject; None: it has none."""
    inside = _inside(place, read)
    tops = _tops([word for _, word in inside])
    clauses = [(at, word) for at, word in inside if word in tops and word.pos in ("VERB", "AUX")]
    if len(inside) < 2 or not clauses:
        return text[slice(*place)]
    for at, verb in clauses:
        if subject := verb.child("nsubj", "nsubjpass"):
            phrase = [word for word in subject.subtree() if not _is_aside(word, subject)]
            return text[at + phrase[0].start : at + phrase[-1].end]
    return None


def _is_aside(word: Word, phrase: Word) -> bool:
    """Whether a word belongs to a clause or an apposition inside a phrase."""
    while word is not phrase:
        if word.dep in ("relcl", "acl", "appos", "advcl", "conj", "cc", "punct"):
            return True
        word = word.head
    return False


def subject_of(words: str, at: int, coref: Coreference) -> str | None:
    """Whom some words of a turn mean: the speaker, the listener, somebody spoken of, a name; None: nobody can tell.

    `at` is where they stand in the turn.
    """
    words = words.strip(' ,.;:!?"“”()')
    low = words.lower()
    if low in FIRST:
        return coref.speaker
    if low in _SECOND:
        return coref.listener
    if low in GENDER:
        return coref.referents.who(low, coref.turn, at, (coref.speaker, coref.listener or ""))
    if low in _NOBODY:
        return None
    if owned := _OWNED.match(words):
        owner = subject_of(owned.group(1), at, coref)
        thing = owned.group(2).strip()
        named = _NAME_LAST.search(thing)
        if named and named.start() > 0:
            return named.group(1).strip()
        return f"{possessive(owner)} {thing}" if owner else None
    words = _ARTICLE.sub("", words)
    return coref.speaker if words.lower() in _FILLERS else words


def _valid(
    turn: Turn, stated: ReadStatement, status: FactStatus, read: Sequence[tuple[ProseLine, Parse]]
) -> tuple[FactStatus, Interval | None]:
    """From when it holds, or until when it did, where the sentence says one time beside the value itself.

    What "was so in 2012" held then; from 2010 to 2015 it held until the end. What began in 2012 holds from then on.
    """
    start, end = sentence_place(turn.text, *stated.place)
    tense: Literal["future"] | None = "future" if status == "planned" else None
    times: list[TimeRef] = []
    for ref in resolve(turn.text[start:end], turn.said_at, turn.zone, tense):
        first, last = ref.span[0] + start, ref.span[1] + start
        between = turn.text[stated.place[1] : first] or turn.text[last : stated.place[0]]
        if ref.kind not in ("point", "range") or ref.interval is None or ref.interval.start is None:
            continue
        if not between or _CLAUSE.search(between):
            continue  # it is the value itself, or the time of another clause
        if (ref.interval.start > turn.said_at) == (status == "planned"):
            times.append(ref)
    if len(times) != 1 or times[0].interval is None:
        return status, None
    (time,), whole = times, times[0].interval
    over = whole.end is not None and whole.end <= turn.said_at
    if status == "holds" and over and stated.relation.value not in _LASTING:
        verb = _verb(stated.place, read)
        if time.kind == "range" and not (verb and verb.lemma in _begins(stated.relation)):
            return status, whole
        if verb is not None and _is_past(verb) and verb.lemma in _states(stated.relation):
            return "held", whole
    return status, Interval(whole.start, None, whole.grain)


def _verb(place: tuple[int, int], read: Sequence[tuple[ProseLine, Parse]]) -> Word | None:
    """The verb of the clause that a place is in."""
    inside = [word for _, word in _inside(place, read)]
    above = (one for word in inside[-1:] for one in word.ancestors() if one not in inside)
    return next((one for one in above if one.pos in ("VERB", "AUX")), None)


def _is_past(verb: Word) -> bool:
    """Whether a verb tells of the past, and not of what lasts from it until now: "lived", not "have lived"."""
    finite = [word.tag for word in (verb, *verb.children) if word is verb or word.dep in ("aux", "auxpass")]
    return "VBD" in finite and not {"VBP", "VBZ", "MD"}.intersection(finite)


@cache
def _states(relation: Relation) -> frozenset[str]:
    """The verbs that tell a relation as a state: those of its name and of its examples, in the present tense."""
    verbs = _verbs([f"Somebody {relation.name} something.", *relation.examples])
    return frozenset(verb.lemma for verb in verbs if _is_present(verb)) - _begins(relation) | {"be"}


@cache
def _begins(relation: Relation) -> frozenset[str]:
    return frozenset(verb.lemma for verb in _verbs(relation.begins)) - {"be"}


def _verbs(texts: Sequence[str]) -> list[Word]:
    words = [word for parse in parsed(list(texts)) for word in parse.words]
    return [word for word in words if word.pos in ("VERB", "AUX") and word.dep not in ("aux", "auxpass")]


def _is_present(verb: Word) -> bool:
    helping = (one for one in verb.children if one.dep in ("aux", "auxpass") and one.lower not in _HAVE)
    return any(word.tag in ("VBZ", "VBP") for word in (verb, *helping))
