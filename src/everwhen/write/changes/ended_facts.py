"""What a turn ends without saying anything new: after "I work at Siemens", "I quit last week".

The table of relations has sentences with which each of them ends, as they are said by the one whose fact it is: "I
quit {value}", "{value} died". A clause is built like one of them if it has the same verb with the same particles, is
said as done, has the same subject, and has nothing else beside but when and why. "I quit last week" is like "I quit";
"I quit smoking" and "my sister quit" are not. The reader decides: it reads such a turn beside the fact, "Is it still
so that …?", and a curve over what it replies is how sure the end is (`fact_endings.json`, by
`training/fit_endings.py`). Where the clause does not say what ends, only one fact of that kind may be known; what
lies ahead, or was a matter of hours, ends nothing.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path

from everwhen.facts.changes import INSTANT
from everwhen.facts.statements import Predicates, folded
from everwhen.models.comparison import KINDS, STATUSES, Passage, Reader
from everwhen.store.sql.store import Store
from everwhen.types import Turn
from everwhen.types.facts import Relation, asked_of, relations
from everwhen.write.changes.learned_facts import words_apart
from everwhen.write.extract.base import ExtractedFact
from everwhen.write.extract.clauses import Clause, base_form, clauses, timed
from everwhen.write.extract.grammar import (
    FIRST,
    Parse,
    ProseLine,
    Word,
    caching_parser,
    parse_uncached,
    prose_lines,
    spoken,
    vocabulary,
)
from everwhen.write.extract.rule_extractor import is_told
from everwhen.write.extract.stated_facts import Calibration, logit
from everwhen.write.modality import denied, is_no_longer, status, tense, unmeant
from everwhen_time import Interval, resolve
from everwhen_time.sentences import pieces, sentence_at, sentence_place

_VALUE = "Otto"
"""What stands for the value when a sentence of the table is parsed."""
_PARTS = vocabulary("away out off down over up there here back")
_BESIDE = vocabulary("without after before during for because since despite by until")
"""Prepositions that add something to a clause and leave what it says as it is."""
_THINGS = vocabulary("it that this him her them those these one")
_NOT_NOW = vocabulary("once almost nearly never")
"""Words with which something is not the end of what holds: "I got fired once"."""


@dataclass(frozen=True, slots=True)
class KnownFact:
    """Something that holds: of whom, what, and the sentence that said it."""

    subject: str
    relation: Relation
    value: str
    sentence: str
    sure: float = 1.0
    since: datetime | None = None


@dataclass(frozen=True, slots=True)
class ClauseShape:
    """How a clause is built: its verb with its particles, who does it, and what else belongs to it."""

    verb: str
    parts: frozenset[str]
    denied: bool
    passive: bool
    subject: Word | None
    rest: tuple[tuple[str, Word], ...]
    """Objects and complements by their roles."""
    beside: tuple[tuple[str, Word], ...]
    """What prepositions lead to."""
    place: int
    is_done: bool

    @property
    def words(self) -> list[Word]:
        """The heads of all that belongs to it."""
        return [word for _, word in (("", self.subject), *self.rest, *self.beside) if word is not None]


def shapes_of(turn: Turn) -> list[ClauseShape]:
    """The clauses of a turn, where any of them may end something."""
    found: list[ClauseShape] = []
    prose = prose_lines(turn.text)
    for passage, parse in zip(prose, caching_parser().parse([one.text for one in prose]), strict=True):
        if any(word.lemma in _endings() for word in parse.words):
            found += shapes(parse, timed(parse, turn), passage)
    return found


def shapes(
    parse: Parse, dated: frozenset[int] = frozenset(), passage: ProseLine | None = None
) -> list[ClauseShape]:
    """The clauses of a parse that tell something; `dated` are the places of words that say a time."""
    others, start = unmeant(parse, passage), passage.start if passage is not None else 0
    return [_shape(one, dated, start) for one in clauses(parse) if one.first.i not in others]


def _shape(clause: Clause, dated: frozenset[int], start: int) -> ClauseShape:
    verb = clause.first
    rest: list[tuple[str, Word]] = []
    beside: list[tuple[str, Word]] = []
    parts: set[str] = set()
    for link in (verb, *_below(verb)):
        if link is not verb:
            rest.append((f"to {link.lemma}", link))
        for child in link.children:
            led = child.dep in ("prep", "agent")
            inner = child.child("prep", "pcomp")  # "out of", "away from"
            target = child.child("pobj") or (inner.child("pobj") if inner is not None else None)
            if child.i in dated or (target is not None and target.i in dated):
                continue
            apart = child.lower in _PARTS and (child.dep == "advmod" or led)
            if (child.dep == "prt" or apart) and target is None:
                parts.add(child.lower)
            elif (led or apart) and target is not None:
                beside.append((child.lower if inner is None else f"{child.lower} {inner.lower}", target))
            elif child.dep in ("dobj", "obj", "dative", "attr", "acomp", "oprd"):
                rest.append(("what", child))
                beside += [
                    (one.lower, inside)
                    for one in child.children
                    if child.dep == "acomp" and (inside := one.child("pobj")) is not None
                ]
            elif child.dep == "ccomp" and child.i > link.i:
                rest.append(("that", child))
    words = clause.words()
    over = is_no_longer(" ".join(word.text for word in words))
    done = status(clause) in ("happened", "ongoing") or (over and tense(clause) != "future")
    subject = clause.subject
    passive = subject is not None and subject.dep == "nsubjpass"
    return ClauseShape(
        base_form(verb), frozenset(parts), denied(clause) or over, passive, subject, tuple(rest), tuple(beside),
        start + verb.start, done and clause.link not in ("condition", "said") and (over or not denied(clause))
        and _NOT_NOW.isdisjoint(word.lower for word in words),
    )  # fmt: skip


def _below(verb: Word) -> list[Word]:
    """The verbs that a verb leads to: "stopped [taking]"."""
    found: list[Word] = []
    below = verb.child("xcomp")
    while below is not None and below.pos in ("VERB", "AUX") and len(found) < 3:
        found.append(below)
        below = below.child("xcomp")
    return found


@cache
def _endings() -> Mapping[str, tuple[tuple[Relation, ClauseShape], ...]]:
    """The sentences with which relations end, by their verbs."""
    rows = [(one, text.replace("{value}", _VALUE)) for one in relations() for text in one.ends]
    found: dict[str, tuple[tuple[Relation, ClauseShape], ...]] = {}
    for (relation, _), parse in zip(rows, parse_uncached([f"{text}." for _, text in rows]), strict=True):
        for shape in shapes(parse)[:1]:
            if _VALUE not in parse.text or any(word.text == _VALUE for word in shape.words):
                found[shape.verb] = (*found.get(shape.verb, ()), (relation, shape))
    return found


def ending(shapes: Sequence[ClauseShape], known: KnownFact, *, own: bool) -> tuple[ClauseShape, bool] | None:
    """The clause that ends a fact, and whether it names what ends; `own` says that the fact is the speaker's."""
    found: tuple[ClauseShape, bool] | None = None
    for shape in shapes:
        for relation, pattern in _endings().get(shape.verb, ()):
            if relation.name == known.relation.name and _is_like(shape, pattern, known, own):
                named = any(word.text == _VALUE for word in pattern.words)
                named = named and any(
                    _is_name_of(word, known.value, _about(relation)) for word in shape.words
                )
                if named:
                    return shape, True
                found = found or (shape, False)
    return found


def relations_ended(shapes: Sequence[ClauseShape]) -> set[str]:
    """The relations that have a sentence with a verb of these clauses."""
    return {relation.name for shape in shapes for relation, _ in _endings().get(shape.verb, ())}


def _is_like(shape: ClauseShape, pattern: ClauseShape, known: KnownFact, own: bool) -> bool:
    def agree(one: tuple[str, Word], other: tuple[str, Word]) -> bool:
        return one[0] == other[0] and _is_same(one[1], other[1], known, own)

    wanted = {role for role, _ in pattern.beside}
    return (
        shape.is_done
        and shape.denied == pattern.denied
        and shape.passive == pattern.passive
        and shape.parts - {"here", "back"} == pattern.parts - {"here", "back"}
        and _is_subject(shape.subject, pattern.subject, known, own)
        and len(shape.rest) == len(pattern.rest)
        and all(map(agree, shape.rest, pattern.rest))
        and all(any(agree(one, meant) for one in shape.beside) for meant in pattern.beside)
        and all(role in wanted or role.split()[0] in _BESIDE for role, _ in shape.beside)
    )


def _is_subject(word: Word | None, meant: Word | None, known: KnownFact, own: bool) -> bool:
    if meant is None or meant.lower in FIRST:
        if word is None:
            return own
        both = [word, *(child for child in word.children if child.dep == "conj")]
        if own:
            return any(one.lower in FIRST for one in both)
        return any(_is_name_of(one, known.subject) for one in both)
    if meant.pos == "PRON" or meant.lower == "somebody":  # whoever it was
        return word is not None and word.lower not in FIRST
    return word is not None and _is_same(word, meant, known, own)


def _is_same(word: Word, meant: Word, known: KnownFact, own: bool) -> bool:
    """Whether a word of a turn is what a word of the table's sentence means."""
    if meant.text == _VALUE:
        return word.lower in _THINGS or _is_name_of(word, known.value, _about(known.relation))
    if meant.lower in FIRST:
        return word.lower in FIRST if own else _is_name_of(word, known.subject)
    if meant.pos == "PRON":
        return word.pos == "PRON"
    return word.lemma == meant.lemma


def _is_name_of(word: Word, name: str, about: frozenset[str] = frozenset()) -> bool:
    """Whether a phrase names something, and nothing else: "our dog Rex" is Rex, "my neighbour Rex" is not."""
    words = [one for one in word.subtree() if one.dep not in ("relcl", "advcl", "acl", "punct")]
    phrase = spoken(words)
    said, held = set(re.findall(r"\w+", phrase.casefold())), set(re.findall(r"\w+", name.casefold()))
    others = {one.lower for one in words if one.pos in ("NOUN", "PROPN")} - held - about
    if others or "and" in held:
        return bool(held) and held <= said and not others
    return words_apart(name, phrase) is not None


@cache
def _about(relation: Relation) -> frozenset[str]:
    """The words that say what a relation is about: a dog is a pet."""
    texts = " ".join((*relation.asks, *relation.questions, *relation.examples, *relation.begins))
    return frozenset(re.findall(r"[a-z]+", texts))


SPEAKER = "user"
"""Who speaks, to the reader."""
PIECE = 280
"""Characters of a long turn that are read at once."""
MOST = 12
"""Facts that a turn is read beside."""
_NAME = re.compile(r"\b[A-Z][\w'’-]+(?:\s[A-Z][\w'’-]+)*")
_YES, _NO, _ENDED = KINDS.index("yes"), KINDS.index("no"), STATUSES.index("ended")


def endings(
    store: Store, reader: Reader | None, stated: Sequence[ExtractedFact], turns: Mapping[str, Turn]
) -> list[ExtractedFact]:
    """The ends of facts that the turns speak of, beside what is `stated` already."""
    found: list[ExtractedFact] = []
    for turn in sorted(turns.values(), key=_time_order):
        if reader is None or turn.role != "user" or not is_told(turn):
            continue
        shapes = shapes_of(turn)
        names = relations_ended(shapes)
        if names:
            known = _facts_that_hold(store, turn, names, stated, turns)
            found += _surely_ended(reader, turn, shapes, _facts_it_may_end(turn, shapes, known)[:MOST])
    return found


def _facts_it_may_end(
    turn: Turn, shapes: Sequence[ClauseShape], known: Sequence[KnownFact]
) -> list[tuple[KnownFact, ClauseShape]]:
    """The facts that a clause may end: by its name, or the only one of its kind."""
    kinds = Counter((folded(one.subject), one.relation.name) for one in known)
    found = []
    for one in known:
        found_ending = ending(shapes, one, own=_is_own(one, turn))
        if found_ending is not None and (
            found_ending[1] or kinds[folded(one.subject), one.relation.name] == 1
        ):
            found.append((one, found_ending[0]))
    return found


def _is_own(one: KnownFact, turn: Turn) -> bool:
    return folded(one.subject) == folded(turn.speaker)


def _surely_ended(
    reader: Reader, turn: Turn, shapes: Sequence[ClauseShape], known: Sequence[tuple[KnownFact, ClauseShape]]
) -> Iterator[ExtractedFact]:
    known = [(one, shape) for one, shape in known if not _is_elsewhen(turn, shape, one)]
    seen = read(reader, [(one, _is_own(one, turn), turn.text, shape.place, shapes) for one, shape in known])
    for (one, shape), signs in zip(known, seen, strict=True):
        if calibration().chance(signs) >= calibration().least:
            yield ExtractedFact(
                one.subject, one.relation.name, one.value, (turn.id,), one.relation.domain or "general",
                _since(turn, shape, one), one.sure, status="ended",
            )  # fmt: skip


def read(
    reader: Reader, asked: Sequence[tuple[KnownFact, bool, str, int, Sequence[ClauseShape]]]
) -> list[tuple[float, ...]]:
    """What the chance of each end is computed from: the fact, whether it is the speaker's, the text, where in it, and
    its clauses."""
    found, still = [], []
    for one, own, text, place, _ in asked:
        start, end = next((at for at in pieces(text, PIECE) if place < at[1]), (0, PIECE))
        fact = f"{SPEAKER if own else one.subject} {one.relation.name} {one.value}"
        passage = Passage(SPEAKER, text[start:end], f"{SPEAKER}: {one.sentence}")
        still.append((f"Is it still so that {fact}?", passage))
    readings = reader.read_each(still)
    for (one, own, _, _, shapes), (_, passage), reading in zip(asked, still, readings, strict=True):
        question = asked_of(one.relation.questions[0], SPEAKER if own else one.subject)
        pair = (Passage(SPEAKER, one.sentence), Passage(SPEAKER, passage.text))
        renews = float(reader.renews(question, [pair])[0])
        built = float(ending(shapes, one, own=own) is not None)
        chances = reading.kinds[_YES], reading.kinds[_NO], reading.statuses[_ENDED]
        sure = (logit(float(chance), 1e-3) for chance in chances)
        found.append((reading.relevance, *sure, renews, built))
    return found


def _facts_that_hold(
    store: Store, turn: Turn, names: set[str], stated: Sequence[ExtractedFact], turns: Mapping[str, Turn]
) -> list[KnownFact]:
    """What holds when a turn is said, and may be ended by it; without what the turn itself speaks of."""
    kinds = {one.name: one for one in relations() if one.name in names}
    mine = [one for one in stated if turn.id in one.turns]
    own = {(folded(one.subject), one.predicate, _slot(one.predicate, one.object)) for one in mine}
    # Words with a capital, and several in a row, may be somebody's name.
    runs = [re.sub(r"['’]s?$", "", run) for run in _NAME.findall(turn.text)]
    people = {folded(turn.speaker), *(folded(name) for run in runs for name in (run, *run.split()))}

    def is_meant(subject: str, name: str, value: str) -> bool:
        key = (folded(subject), name, _slot(name, value))
        return name in kinds and folded(subject) in people and key not in own

    found: dict[tuple[str, str, str], KnownFact] = {}
    for one in stated:
        before = turns.get(one.turns[0]) if one.turns and one.status == "holds" else None
        earlier = before is not None and _time_order(before) < _time_order(turn)
        if before is not None and earlier and is_meant(one.subject, one.predicate, one.object):
            begun = one.valid.start if one.valid is not None and one.valid.start else before.said_at
            found[folded(one.subject), one.predicate, folded(one.object)] = KnownFact(
                one.subject, kinds[one.predicate], one.object, _sentence_with(before, one.object),
                one.confidence, begun,
            )  # fmt: skip
    rows = [row for one in sorted(people) for row in store.facts.valid_at(turn.said_at, {one}, None, None)]
    rows += [  # what it has ended before, when it is read again
        row for row in store.facts.by_id(store.facts.from_sources([turn.id])) if row.valid_from < turn.said_at
    ]
    predicates = Predicates(store.facts.predicates())
    named = {row.id: (row, predicates.find(row.predicate).name) for row in rows}
    named = {id_: one for id_, one in named.items() if is_meant(one[0].subject, one[1], one[0].object)}
    sources = store.facts.sources(list(named))
    for id_, (row, name) in named.items():
        first = next(iter(store.turns(ids=sources.get(id_, [])[:1])), None)
        text = _sentence_with(first, row.object) if first else f"{row.subject} {name} {row.object}."
        known = KnownFact(row.subject, kinds[name], row.object, text, row.confidence, row.valid_from)
        found.setdefault((folded(row.subject), name, folded(row.object)), known)
    return list(found.values())


def _slot(predicate: str, value: str) -> str:
    """What distinguishes a fact from others of its kind: its value, where several hold at a time."""
    many = any(one.name == predicate and one.many for one in relations())
    return folded(value) if many else ""


def _sentence_with(turn: Turn, value: str) -> str:
    start = max(turn.text.casefold().find(value.casefold()), 0)
    return sentence_at(turn.text, start, start + 1)


def _time_order(turn: Turn) -> tuple[datetime, int]:
    return turn.said_at, turn.seq


def _times(turn: Turn, shape: ClauseShape) -> list[Interval]:
    start, end = sentence_place(turn.text, shape.place, shape.place + 1)
    found = resolve(turn.text[start:end], turn.said_at, turn.zone)
    return [one.interval for one in found if one.interval is not None and one.kind in ("point", "range")]


def _is_elsewhen(turn: Turn, shape: ClauseShape, known: KnownFact) -> bool:
    """Whether the sentence speaks of a time at which the fact cannot have ended: one to come, an hour, or one before
    it was said."""
    for time in _times(turn, shape):
        ahead = time.start is not None and time.start > turn.said_at
        early = known.since is not None and time.end is not None and time.end <= known.since
        if ahead or early or time.grain in ("hour", "minute"):
            return True
    return False


def _since(turn: Turn, shape: ClauseShape, known: KnownFact) -> Interval | None:
    """From when it holds no longer, where the sentence says one time that is over; never from before it was said."""
    times = _times(turn, shape)
    start = times[0].start if len(times) == 1 else None
    begun = known.since
    if begun is not None and (start or turn.said_at) <= begun:
        return Interval(max(turn.said_at, begun + INSTANT), None, "second")
    return Interval(start, None, times[0].grain) if start is not None else None


@cache
def calibration() -> Calibration:
    return Calibration.load(Path(__file__).with_name("fact_endings.json"))
