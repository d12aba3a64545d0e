"""Clauses: who does what to whom in a parsed sentence, one for each verb that says something of its own; and its
times.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Literal

from everwhen.types import Turn
from everwhen.write.extract.base import Status
from everwhen.write.extract.grammar import AHEAD, FAILED, PHASES, WH, Parse, Word, vocabulary
from everwhen_time import Interval, TimeRef, resolve
from everwhen_time.calendar import floor, shift
from everwhen_time.zones import zone_of

_HEADS = vocabulary("ROOT conj ccomp advcl relcl parataxis dep appos")
_SUBJECTS = ("nsubj", "nsubjpass", "csubj")
_OBJECTS = ("dobj", "obj")
_COMPLEMENTS = ("attr", "acomp", "oprd")
_FINITE = frozenset({"VBD", "VBZ", "VBP", "MD"})
_AUXILIARIES = ("aux", "auxpass")
_PERCEIVING = vocabulary("help make let have see hear watch get find keep love like")
_TRYING = AHEAD | FAILED | {"manage", "able", "try"}
_LINKS = {
    **dict.fromkeys(("if", "unless", "whether"), "condition"),
    **dict.fromkeys(("because", "since", "as", "cause", "cuz", "cos"), "because"),
    "after": "after",
}
PLACES = frozenset({"there", "here", "home", "away", "abroad", "downstairs", "upstairs", "outside"})


@dataclass(slots=True)
class Clause:
    """A verb with what belongs to it. `chain` is the verbs that tell it together ("going" "to see": both)."""

    verb: Word
    chain: list[Word]
    subject: Word | None
    inherited: bool = False  # the subject stands in the clause that this one is joined to
    object: Word | None = None
    parent: Clause | None = None  # the clause it is joined to or hangs on
    link: str = "root"  # root, joined, because, when, relative, said, condition or after
    auxiliaries: list[Word] = field(default_factory=list)

    @property
    def first(self) -> Word:
        return self.chain[0]

    @property
    def lemma(self) -> str:
        """The verb with its particle."""
        particle, lemma = self.verb.child("prt"), base_form(self.verb)
        return f"{lemma} {particle.lower}" if particle else lemma

    def words(self) -> list[Word]:
        """The clause's own words: its subtree without the clauses below it."""
        stop = {id(word) for word in _clause_heads(self.chain)}
        return self.first.subtree(cut=lambda word: id(word) in stop)


def base_form(verb: Word) -> str:
    """The lemma; "be" for what is left of it behind an apostrophe."""
    return "be" if verb.lemma in ("'s", "'m", "'re", "m", "re") else verb.lemma


def clauses(parse: Parse) -> list[Clause]:
    found: list[Clause] = []
    by_word: dict[int, Clause] = {}
    for sentence in parse.sentences:
        for word in sentence:
            if is_predicate(word) and word.i not in by_word:
                clause = _clause(word)
                found.append(clause)
                for link in clause.chain:
                    by_word[link.i] = clause
    for clause in found:
        _attach(clause, by_word)
    for clause in found:  # subjects are inherited once every clause knows its parent
        _inherit(clause)
    return found


def is_predicate(word: Word) -> bool:
    """Whether a word heads a clause of its own."""
    if word.pos not in ("VERB", "AUX") or word.tag == "MD" or word.dep not in _HEADS:
        return False
    helper = word.child("aux")
    infinitive = helper is not None and helper.lower == "to" and word.child(*_SUBJECTS) is None
    if word.tag == "VB" and word.dep != "ROOT" and infinitive:
        return False  # "to perform there": its time belongs to the verb above
    if word.dep == "advcl" and word.tag in ("VBG", "VBN", "VBD") and not word.child(*_SUBJECTS):
        return word.tag != "VBG" and _opens(word)  # "Lost my job yesterday, so …" is about the speaker
    if word.dep == "ccomp" and is_small(word):
        return False
    return word.dep != "conj" or word.head.dep not in ("amod", "nsubj", "dobj", "pobj", "compound", "pcomp")


def is_small(word: Word) -> bool:
    """ "helped [him pack]", "had [my blood taken]": a bare verb below another says nothing of its own."""
    subject = word.child(*_SUBJECTS)
    bare = word.tag in ("VB", "VBN", "VBG") and word.child("aux", "auxpass", "mark") is None
    return bare and word.head.lemma in _PERCEIVING and subject is not None and word.i > word.head.i


def _opens(word: Word) -> bool:
    """Whether the word begins its sentence, cries aside, and a comma ends what it says."""
    top = [word, *word.ancestors()][-1]
    aside = ("INTJ", "PUNCT", "SPACE", "ADV", "CCONJ")
    return next((one for one in top.subtree() if one.pos not in aside), None) is word


def _clause(word: Word) -> Clause:
    chain = [word]
    while (below := _goes_on(chain[-1])) is not None and len(chain) < 4:
        chain.append(below)
    verb = chain[-1]
    subject = next((found for link in chain if (found := link.child(*_SUBJECTS)) is not None), None)
    if subject is not None and any(
        one.text == ":" and subject.i < one.i < verb.i for one in (*verb.children, *subject.children)
    ):
        subject = None  # "Box size: select a box": what stands before the colon is no subject
    if subject is None and (there := chain[0].child("expl")) is not None:
        subject = chain[0].child("attr", "dobj") if there.lower == "there" else there
    auxiliaries = [child for link in chain for child in link.children if child.dep in _AUXILIARIES]
    return Clause(verb, chain, subject, object=_object(verb, subject), auxiliaries=auxiliaries)


def _goes_on(verb: Word) -> Word | None:
    """The verb that this one only introduces: "am going to [see]", "want to [go]", "thinking about [moving]"."""
    below = verb.child("xcomp")
    if below is None and verb.lemma in ("think", "plan", "look", "dream"):
        preposition = verb.child("prep")
        below = preposition.child("pcomp") if preposition else None
    if below is None or below.pos not in ("VERB", "AUX"):
        return None
    marked = below.child("aux")
    infinitive = marked is not None and marked.lower in ("to", "ta", "na")
    if verb.lemma in ("go", "use", "have", "get", "suppose", "need", "gon", "got") and infinitive:
        return below if verb.tag != "VBD" or verb.lemma in ("use", "have", "need", "suppose", "get") else None
    return below if verb.lemma in _TRYING else None


def _object(verb: Word, subject: Word | None) -> Word | None:
    """What the verb is about: an object, else a complement, else what a preposition leads to."""
    for deps in (_OBJECTS, _COMPLEMENTS, ("dative",)):
        found = [word for word in verb.children if word.dep in deps and word is not subject]
        if found:
            # "Guess what - we sold the van"
            return next((word for word in found if word.lower not in WH), found[0])
    if verb.lemma in PHASES and (below := verb.child("xcomp")) is not None:
        return below
    if (small := verb.child("ccomp")) is not None and is_small(small):
        return small.child(*_SUBJECTS)
    if (below := verb.child("ccomp", "xcomp")) is not None and below.pos in ("NOUN", "PROPN", "ADJ"):
        return below  # a noun that the parser took for a clause
    after = [child for child in verb.children if child.i > verb.i]
    led = (child for child in after if child.dep in ("prep", "agent") and child.child("pobj"))
    return next(led, None) or next((child for child in after if child.lower in PLACES), None)


def _attach(clause: Clause, by_word: dict[int, Clause]) -> None:
    """Which clause this one hangs on, and how."""
    word = clause.first
    clause.parent = next((by_word[up.i] for up in word.ancestors() if up.i in by_word), None)
    mark = word.child("mark", "advmod")
    marker = mark.lower if mark is not None and mark.i < word.i else ""
    if clause.parent is None or word.dep == "ROOT" or (word.dep == "advcl" and _opens(word) and not marker):
        clause.link = "root"
    elif word.dep == "relcl":
        clause.link = "relative"
    elif word.dep == "ccomp":
        spliced = word.i < clause.parent.first.i and not marker
        clause.link = "joined" if spliced else "said"
    elif word.dep in ("conj", "parataxis", "dep", "appos"):
        clause.link = "joined"
    else:
        clause.link = _LINKS.get(marker, "when")


def _inherit(clause: Clause) -> None:
    if clause.link == "relative" and (clause.subject is None or clause.subject.lower in WH):
        clause.subject, clause.inherited = clause.first.head, True
        return
    if clause.link == "relative" and clause.object is None:
        clause.object = clause.first.head  # "the lamp I bought"
    if clause.subject is not None or clause.parent is None or clause.link not in ("joined", "when"):
        return
    finite = clause.first.tag in _FINITE or clause.auxiliaries or clause.first.tag == clause.parent.first.tag
    if clause.first.dep == "conj" and finite:
        clause.subject, clause.inherited = clause.parent.subject, True
        if clause.first.tag not in _FINITE:
            clause.auxiliaries = clause.auxiliaries or clause.parent.auxiliaries


def _clause_heads(chain: list[Word]) -> Iterator[Word]:
    """Below the chain, the words that begin clauses of their own."""
    mine = {id(word) for word in chain}
    rest = [child for word in chain for child in word.children if id(child) not in mine]
    while rest:
        word = rest.pop()
        if (
            is_predicate(word)
            or (word.dep in ("relcl", "advcl") and word.child(*_SUBJECTS))
            or (word.dep == "punct" and word.text in (";", "—", "–"))
        ):
            yield word
        else:
            rest += word.children


FIXED = 0.75
"""Confidence below which `when` calls an expression floating: no tense says which Friday."""

_PUT_ON = re.compile(r"\b(?:to|for|from)\s+(?:the\s+)?$", re.IGNORECASE)

SINCE = "so long since"
"""The rule of `when` that reads how long something is past."""

Side = Literal["past", "future", "nearest"]


@dataclass(frozen=True, slots=True)
class DatedExpression:
    """A time expression: what it means, its words, the text that they stand in and the turn that says it."""

    ref: TimeRef
    words: tuple[Word, ...]
    text: str
    turn: Turn

    @property
    def interval(self) -> Interval | None:
        return self.ref.interval

    @property
    def head(self) -> Word:
        """The word by which the expression hangs on the sentence."""
        inside = {word.i for word in self.words}
        return next(
            (word for word in self.words if word.head.i not in inside or word.head is word), self.words[0]
        )

    def placed(self, side: Side) -> DatedExpression:
        """The same in the past, in the future, or where it is nearest. One that says its year stays, and one that
        something was put on: "the launch slipped to 12 May" has slipped, and lies ahead."""
        interval, said_at = self.interval, self.turn.said_at
        if interval is None:
            return self
        ahead = interval.start is not None and interval.start > said_at
        behind = interval.end is not None and interval.end <= said_at
        if not (ahead and side != "future") and not (behind and side != "past"):
            return self
        if side == "nearest" and self.ref.confidence >= FIXED:
            return self  # "this weekend" says which one
        again = resolve(self.text, said_at, self.turn.zone, tense="past" if ahead else "future")
        ref = next((one for one in again if one.span == self.ref.span), None)
        if ref is None or ref.interval is None or (ahead and _PUT_ON.search(self.text[: ref.span[0]])):
            return self
        other = replace(self, ref=ref)
        return min((self, other), key=DatedExpression.distance) if side == "nearest" else other

    def distance(self) -> timedelta:
        """How far it is from when it was said."""
        middle = self.interval.middle if self.interval is not None else None
        return abs(middle - self.turn.said_at) if middle is not None else timedelta.max


def day_of(turn: Turn) -> Interval:
    """The speaker's day."""
    start = floor(turn.said_at.astimezone(zone_of(turn.zone)).replace(tzinfo=None, fold=0), "day")
    first, last = (at.replace(tzinfo=zone_of(turn.zone)) for at in (start, start + timedelta(days=1)))
    return Interval(first.astimezone(turn.said_at.tzinfo), last.astimezone(turn.said_at.tzinfo), "day")


def expressions(parse: Parse, turn: Turn) -> list[DatedExpression]:
    found = []
    for ref in resolve(parse.text, turn.said_at, turn.zone):
        start, end = ref.span
        if ref.kind == "duration" and parse.text[end : end + 1] == "-":
            continue  # "a second-hand car"
        words = tuple(word for word in parse.words if word.start < end and word.end > start)
        if words:
            found.append(DatedExpression(ref, words, parse.text, turn))
    return found


def timed(parse: Parse, turn: Turn) -> frozenset[int]:
    """The places of the words that say a time."""
    return frozenset(word.i for dated in expressions(parse, turn) for word in dated.words)


def attach(
    clauses: Sequence[Clause], found: Sequence[DatedExpression]
) -> tuple[dict[int, list[DatedExpression]], list[DatedExpression]]:
    """The expressions of each clause by its place in the list, and those that belong to none."""
    owners = {link.i: place for place, clause in enumerate(clauses) for link in clause.chain}
    by_clause: dict[int, list[DatedExpression]] = {}
    loose = []
    for dated in found:
        # "three years since grandpa died" dates what stands behind "since"
        since, last = SINCE in dated.ref.rule, dated.words[-1]
        head = last if since else dated.head
        place = next((owners[word.i] for word in (head, *head.ancestors()) if word.i in owners), None)
        verb = clauses[place].verb if place is not None else None
        if place is None or verb is None or verb in dated.words or (since and verb.i < last.i):
            loose.append(dated)
        else:
            by_clause.setdefault(place, []).append(dated)
    return by_clause, loose


def side_of(status: Status, present: bool) -> Side:
    """Where the time of a clause is to be looked for."""
    if status == "planned" or (status == "hypothetical" and present):
        return "future"
    if status in ("happened", "negated") and not present:
        return "past"
    return "nearest"


def chosen(found: Sequence[DatedExpression], side: Side) -> DatedExpression | None:
    """The one interval of a clause: of several the finest that lies inside the others, else the first.

    A time that floats ("on Friday") is put on the side that the clause asks for.
    """
    placed = [dated.placed(side) for dated in found if dated.interval is not None]
    best = placed[0] if placed else None
    for dated in placed[1:]:
        if best and best.interval and dated.interval and best.interval.covers(dated.interval):
            best = dated
    return best


def lasting(found: Sequence[DatedExpression]) -> DatedExpression | None:
    """ "I've had this bike for two years": with an interval that began then and goes on."""
    for dated in found:
        length, area = dated.ref.duration, zone_of(dated.turn.zone)
        if dated.ref.kind != "duration" or length is None:
            continue
        counts: dict[Literal["year", "month", "day"], float] = {
            "year": length.years, "month": length.months, "day": 7 * length.weeks + length.days,
        }  # fmt: skip
        local, said = dated.turn.said_at.astimezone(area).replace(tzinfo=None), dated.turn.said_at
        for grain, count in counts.items():
            if count >= 1:
                begun = shift(floor(local, grain), grain, -int(count)).replace(tzinfo=area)
                since = Interval(begun.astimezone(said.tzinfo), None, grain)
                return replace(dated, ref=replace(dated.ref, interval=since))
    return None
