"""Which facts a turn states, as our reader reads it: relation, value and status; whose they are, from or until when.

One run of the reader sees every relation of the table at a glance: where in the turn a value might stand. Each value
is then asked about by itself, "Who lives in Ghent?": the answer is the subject, the status is how it is said, and
"not here" takes the value back. What is left is a `ReadStatement` with a chance: how often its relation and value are
right. What is said as true, planned for a day, ended or denied becomes a candidate; what is supposed, reported of
others' talk or fiction does not. Whether a candidate is right as a whole, `fact_chance` says.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Final, Literal

from everwhen.models.comparison import KINDS, Passage, Reader, Reading
from everwhen.types import Turn
from everwhen.types.facts import Relation, asked_of, relations
from everwhen.write.extract.base import ExtractedFact, FactStatus
from everwhen.write.extract.grammar import Parse, ProseLine, Word, parse_uncached, vocabulary
from everwhen.write.extract.names import GENDER, Coreference, possessive
from everwhen_time import Interval, TimeRef, resolve
from everwhen_time.sentences import pieces, sentence_place

MOST = 8
"""Values of one turn that are asked about, the likeliest ones."""
PART, MOST_PARTS = 280, 24
"""Characters of a long turn that are read at once, and how many such parts are read: a pasted book states no more."""
BEFORE = 160
"""Characters of what stands before that are read along."""
ANYBODY = "user"
"""Who speaks, to the reader: what is said does not depend on a name."""
AHEAD = 1.0
"""How far ahead, in log odds, another relation may be at the same place."""
SIGNS = ("seen", "here", "span", "rival", "behind")
"""Log odds: that a value stands here, seen at a glance; that the turn says whose it is; that this is its place; that
the same words are another relation's value; and by how much that is likelier."""
NO_RIVAL = -3.0
"""The log odds of another relation that has no value at the same place."""
_NONE = KINDS.index("none")
_NUMBER = re.compile(
    r"\d|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|\w+teen|twenty|thirty|forty|fifty|sixty|seventy|"
    r"eighty|ninety|hundred|thousand|million|half|dozen|free)\b",
    re.IGNORECASE,
)
_FIGURE = re.compile(r"\d[\d.,:]*")
_LEADING_ARTICLE = re.compile(r"^(?:an?|the)\s+(?=\S)", re.IGNORECASE)
_EDGE = " \t\n.,;:!?\"'“”‘’()[]{}*_-–—…"
_WHOSE = re.compile(r"^(?:my|your|his|her|our|their|its|the|an?)\s+")
_NO_VALUE = re.compile(
    r"(?:it|its|that|this|these|those|he|she|they|him|her|his|them|their|me|my|mine|i|we|us|our|you|your|one|there|here|"
    r"something|anything|nothing|someone|anyone|what|which|who)",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class ReadStatement:
    """A turn says that something is so, or is not, or will be."""

    relation: Relation
    value: str
    place: tuple[int, int]
    """Of the value, in the turn's text."""
    subject: str
    """The words that say whose it is; empty: nobody's, so the speaker's."""
    subject_at: int
    status: str
    chance: float
    """How likely relation and value are right."""
    signs: tuple[float, ...]
    """What the chance was computed from (`SIGNS`)."""
    status_chance: float
    """How sure the reader is of the status."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A value that was seen at a glance, and what came of asking whose it is."""

    relation: Relation
    place: tuple[int, int]
    """Characters of the passage's text."""
    reading: Reading
    signs: tuple[float, ...]
    """What the chance of a statement is computed from: log odds."""


def statements(reader: Reader, passages: Sequence[Passage]) -> list[list[ReadStatement]]:
    """What each passage states, in the order in which it is said; `calibration().least` is the least chance."""
    parts = [(number, *part) for number, passage in enumerate(passages) for part in _readable_parts(passage)]
    found: list[list[ReadStatement]] = [[] for _ in passages]
    for (number, start, part), proposed in zip(
        parts, proposals(reader, [one for _, _, one in parts]), strict=True
    ):
        stated = [one for one in (_sure_statement(part, start, each) for each in proposed) if one is not None]
        known_statuses = statuses(reader, [(part, one.relation, one.subject, one.status) for one in stated])
        known = (replace(one, status=status) for one, status in zip(stated, known_statuses, strict=True))
        found[number] += sorted(known, key=lambda one: one.place)
    return found


def statuses(reader: Reader, stated: Sequence[tuple[Passage, Relation, str, str]]) -> list[str]:
    """The status of what is said, as it is for the one of whom it is said, from what it is to the speaker: to my own
    life "Tom lives in Berlin" is a report, but of Tom it is true. "Tom says he lives in Berlin" is one of Tom, too."""
    others = [
        (asked_of(relation.questions[0], subject), replace(passage, before=""))
        for passage, relation, subject, status in stated
        if status == "reported" and subject
    ]
    readings = iter(reader.read_each(others) if others else ())
    return [
        next(readings).status if status == "reported" and subject else status
        for _, _, subject, status in stated
    ]


def _readable_parts(passage: Passage) -> list[tuple[int, Passage]]:
    """A passage in parts short enough to be read well, each with what stands before it; and where each begins."""
    before, found = passage.before, []
    for start, end in pieces(passage.text, PART)[:MOST_PARTS]:
        found.append((start, Passage(passage.speaker, passage.text[start:end], before)))
        before = f"{passage.speaker}: {passage.text[:end]}"[-BEFORE:]
    return found


def proposals(reader: Reader, passages: Sequence[Passage]) -> list[list[Proposal]]:
    """Every value that a passage might tell, the likeliest first, each asked about by itself."""
    passages = [replace(one, speaker=ANYBODY) for one in passages]
    asked = _all_questions()
    seen = reader.answers_in([question for _, question in asked], passages)
    values = [
        (number, *value)
        for number, (passage, glimpsed) in enumerate(zip(passages, seen, strict=True))
        for value in _values(
            passage.text, [(asked[one.question][0], one.span, one.chance) for one in glimpsed]
        )
    ]
    alone = [replace(one, before="") for one in passages]  # whose it is, stands beside the value
    whose = [
        (relation.whose.replace("{value}", alone[number].text[slice(*place)]), alone[number])
        for number, relation, place, _ in values
    ]
    readings = reader.read_each(whose)
    found: list[list[Proposal]] = [[] for _ in passages]
    for (number, relation, place, chance), reading in zip(values, readings, strict=True):
        signs = logit(chance), logit(1 - float(reading.kinds[_NONE])), logit(reading.span_chance)
        found[number].append(Proposal(relation, place, reading, signs))
    return [[_with_rivals(one, proposed) for one in proposed] for proposed in found]


def _with_rivals(one: Proposal, proposed: Sequence[Proposal]) -> Proposal:
    """A proposal that knows how likely the same words are another relation's value."""
    others = [
        other.signs[0]
        for other in proposed
        if other is not one and other.place[0] < one.place[1] and one.place[0] < other.place[1]
    ]
    rival = max(others, default=NO_RIVAL)
    return replace(one, signs=(*one.signs, rival, max(0.0, rival - one.signs[0])))


def _values(
    text: str, glimpsed: Sequence[tuple[Relation, tuple[int, int], float]]
) -> list[tuple[Relation, tuple[int, int], float]]:
    """The likeliest values; of one relation no two overlap, nor is any where another is much likelier."""
    found: list[tuple[Relation, tuple[int, int], float]] = []
    for asked, span, chance in sorted(glimpsed, key=lambda one: -one[2]):
        start, end = trimmed(text, span)
        relation = _relation_it_names(text[start:end]) or asked
        same = [one for one in found if start < one[1][1] and one[1][0] < end]
        taken = any(one is relation or logit(likelier) - logit(chance) > AHEAD for one, _, likelier in same)
        if not taken and is_value(relation, text[start:end]):
            found.append((relation, (start, end), chance))
    return found[:MOST]


def _relation_it_names(words: str) -> Relation | None:
    """The relation that a value names itself: "port 9443" is a port, whatever it was said to be an answer to."""
    noun, _, rest = words.partition(" ")
    return _numbers().get(noun.casefold()) if _FIGURE.fullmatch(rest.strip()) else None


@cache
def _numbers() -> Mapping[str, Relation]:
    """Relations whose values are numbers, by each of their names that is one word."""
    return {
        name.casefold(): one
        for one in relations()
        if one.value == "number"
        for name in (one.name, *one.means)
        if " " not in name
    }


def _sure_statement(part: Passage, at: int, one: Proposal) -> ReadStatement | None:
    """A proposal that is sure enough; `at` is where the part begins."""
    sure = calibration().chance(one.signs, one.relation.name)
    if sure < calibration().least:
        return None
    start, end = one.place
    subject = slice(*one.reading.span)
    return ReadStatement(
        one.relation, part.text[start:end], (at + start, at + end), part.text[subject], at + subject.start,
        one.reading.status, sure, one.signs, float(one.reading.statuses.max()),
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Calibration:
    """A logistic curve over signs, and the chance that is high enough."""

    weights: tuple[float, ...]
    bias: float
    least: float
    relations: Mapping[str, float] = field(default_factory=dict)
    """What a relation's values are right more often, or less, than others with the same signs."""

    @classmethod
    def load(cls, path: Path) -> Calibration:
        held = json.loads(path.read_text(encoding="utf-8"))
        return cls(tuple(held["weights"]), held["bias"], held["least"], held.get("relations", {}))

    def chance(self, signs: Sequence[float], relation: str = "") -> float:
        odds = self.bias + self.relations.get(relation, 0.0)
        return 1 / (1 + math.exp(-odds - sum(w * x for w, x in zip(self.weights, signs, strict=True))))


@cache
def calibration() -> Calibration:
    """Fitted on conversations that the reader has not learned from (`training/fit_reader_statements.py`)."""
    return Calibration.load(Path(__file__).with_name("reader_statements.json"))


def trimmed(text: str, span: tuple[int, int]) -> tuple[int, int]:
    """A place without the article before it and the punctuation around it."""
    start, end = span
    while start < end and text[start] in _EDGE:
        start += 1
    while start < end and text[end - 1] in _EDGE:
        if text[end - 1] == "." and text[start:end].count(".") > 1:
            break
        end -= 1
    if found := _LEADING_ARTICLE.match(text[start:end]):
        start += found.end()
    return start, end


def is_value(relation: Relation, words: str) -> bool:
    """Whether some words can be a value at all: a pronoun names nothing, a number is one, and of people the relation's
    own word says no more than the relation ("Noor has relative cousin")."""
    if not re.search(r"\w", words) or _NO_VALUE.fullmatch(words):
        return False
    if relation.value == "person":
        plain = _WHOSE.sub("", words.casefold())
        if {plain, plain.removesuffix("s")} & set(relation.means):
            return False
    return relation.value != "number" or bool(_NUMBER.search(words))


@cache
def _all_questions() -> tuple[tuple[Relation, str], ...]:
    return tuple((one, question) for one in relations() for question in one.asks)


def logit(chance: float, least: float = 1e-4) -> float:
    """Log odds, bounded on both sides."""
    inside = min(max(float(chance), least), 1 - least)
    return math.log(inside / (1 - inside))


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
"""Values that are read off at a time, and stand until another is said."""
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
        if one.relation.of == "thing" and any(
            ref.text == subject for ref in resolve(subject, turn.said_at, turn.zone)
        ):
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
    time and a likelier one is said of the same subject in the same way, this one is less likely."""
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
        inside = [word for _, word in _inside(stated.place, read)]
        above = (up for word in inside[-1:] for up in word.ancestors() if up not in inside)
        verb = next((up for up in above if up.pos in ("VERB", "AUX")), None)  # of the clause it is in
        if time.kind == "range" and not (verb and verb.lemma in _begins(stated.relation)):
            return status, whole
        if verb is not None and _is_past(verb) and verb.lemma in _states(stated.relation):
            return "held", whole
    return status, Interval(whole.start, None, whole.grain)


def _is_past(verb: Word) -> bool:
    """Whether a verb is about the past, and not of what lasts from it until now: "lived", not "have lived"."""
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
    words = [word for parse in parse_uncached(list(texts)) for word in parse.words]
    return [word for word in words if word.pos in ("VERB", "AUX") and word.dep not in ("aux", "auxpass")]


def _is_present(verb: Word) -> bool:
    helping = (one for one in verb.children if one.dep in ("aux", "auxpass") and one.lower not in _HAVE)
    return any(word.tag in ("VBZ", "VBP") for word in (verb, *helping))
