"""What a turn ends without telling anything new: after "I work at Siemens", "I quit last week".

The table of relations has sentences with which each of them ends. A turn with a verb of those, or with a word such as
"any more", is read beside the facts of its speaker and of those whom it names: "Is it still so that …?" A curve over
what the reader replies, and over whether a clause is built like a sentence of the table (the same verb, said as done,
by the one whose fact it is, with the fact's value where the sentence has one), is how sure the end is
(`endings.json`, by `training/fit_endings.py`).
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files

from everwhen.facts.predicates import Predicates, folded
from everwhen.ingest.extract.base import ExtractedFact
from everwhen.ingest.extract.grammar.cleaning import passages
from everwhen.ingest.extract.grammar.lexicon import FIRST, vocabulary
from everwhen.ingest.extract.grammar.parsing import Parse, Word, parsed, parser, spoken
from everwhen.ingest.extract.offline import is_told
from everwhen.ingest.extract.rules.clauses import Clause, clauses
from everwhen.ingest.extract.rules.modality import asked, denied, is_ironic, status
from everwhen.ingest.extract.rules.times import Moment, timed
from everwhen.ingest.facts import words_apart
from everwhen.models.reader import KINDS, STATUSES, Passage, Reader, Reading
from everwhen.relations import Relation, asked_of, relations
from everwhen.sentences import pieces, sentence_at, sentence_place
from everwhen.store import Store
from everwhen.types import Turn
from everwhen.when import Interval, resolve

SPEAKER = "user"
"""Who speaks, to the reader."""
PIECE = 280
"""Characters of a long turn that are read at once."""
MOST = 12
"""Facts that a turn is read beside."""
_VALUE = "Otto"
"""What stands for the value when a sentence of the table is parsed."""
_AGAIN = re.compile(r"\bany ?more\b|\bno longer\b|\bany longer\b", re.IGNORECASE)
_PARTS = vocabulary("away out off down over up there here back")
_BESIDE = vocabulary("with without after before during for because since despite by until in on at")
"""Prepositions that add something to a clause and leave what it says as it is."""
_OVER = re.compile(r"\b(?:any ?more|longer|over|gone|former|ex|single|died|last)\b", re.IGNORECASE)
"""Words that may end anything."""
_NAME = re.compile(r"\b[A-Z][\w'’-]+(?:\s[A-Z][\w'’-]+)*")
_YES, _NO, _ENDED = KINDS.index("yes"), KINDS.index("no"), STATUSES.index("ended")
_THINGS = vocabulary("it that this there him her them he she they one")


@dataclass(frozen=True, slots=True)
class Known:
    """Something that holds: of whom, what, and the sentence that told it."""

    subject: str
    relation: Relation
    value: str
    told: str


@dataclass(frozen=True, slots=True)
class Shape:
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


def endings(
    store: Store, reader: Reader | None, told: Sequence[ExtractedFact], turns: Mapping[str, Turn]
) -> list[ExtractedFact]:
    """The ends of facts that the turns tell of, beside what `told` says already."""
    found: list[ExtractedFact] = []
    for turn in sorted(turns.values(), key=_order):
        if reader is None or turn.role != "user" or not is_told(turn):
            continue
        shapes = _shapes_of(turn)
        places = ends_at(turn.text, shapes)
        if places:
            known = _known(store, turn, set(places), told, turns)[:MOST]
            found += _ended(reader, turn, shapes, [(one, places[one.relation.name]) for one in known])
    return found


def ends_at(text: str, shapes: Sequence[Shape]) -> dict[str, int]:
    """By the relations that a text may speak of the end of: the first place where it does."""
    found: dict[str, int] = {}
    for shape in shapes:
        for relation, _ in _endings().get(shape.verb, ()):
            found.setdefault(relation.name, shape.place)
    if over := _OVER.search(text):
        found = {one.name: over.start() for one in relations() if one.ends} | found
    return found


def _ended(
    reader: Reader, turn: Turn, shapes: Sequence[Shape], known: Sequence[tuple[Known, int]]
) -> Iterator[ExtractedFact]:
    own = [folded(one.subject) == folded(turn.speaker) for one, _ in known]
    seen = read(
        reader,
        [(one, mine, turn.text, place, shapes) for (one, place), mine in zip(known, own, strict=True)],
    )
    for (one, place), mine, signs in zip(known, own, seen, strict=True):
        chance = curve().chance(signs)
        if chance >= curve().least:
            shape = ending(shapes, one, own=mine)
            yield ExtractedFact(
                one.subject, one.relation.name, one.value, (turn.id,), one.relation.domain or "general",
                _since(turn, shape.place if shape else place), round(chance, 3), status="ended",
            )  # fmt: skip


def read(
    reader: Reader, asked: Sequence[tuple[Known, bool, str, int, Sequence[Shape]]]
) -> list[tuple[float, ...]]:
    """What the chance of each end is computed from: the fact, whether it is the speaker's, the text, where in it, and
    its clauses."""
    found = []
    pieces_read, facts = [], []
    for one, own, text, place, _ in asked:
        start, end = next(at for at in pieces(text, PIECE) if place < at[1])
        fact = f"{SPEAKER if own else one.subject} {one.relation.name} {one.value}"
        facts.append(fact)
        pieces_read.append(Passage(SPEAKER, text[start:end], f"{SPEAKER}: {one.told}"))
    readings = reader.read_each(
        [(f"Is it still so that {fact}?", passage) for fact, passage in zip(facts, pieces_read, strict=True)]
    )
    for (one, own, _, _, shapes), passage, reading in zip(asked, pieces_read, readings, strict=True):
        question = asked_of(one.relation.questions[0], SPEAKER if own else one.subject)
        pair = (Passage(SPEAKER, one.told), Passage(SPEAKER, passage.text))
        renews = float(reader.renews(question, [pair])[0])
        built = float(ending(shapes, one, own=own) is not None)
        found.append((*_signs(reading), renews, built))
    return found


def _signs(reading: Reading) -> tuple[float, ...]:
    kinds, ended = reading.kinds, reading.statuses[_ENDED]
    return reading.relevance, _logit(kinds[_YES]), _logit(kinds[_NO]), _logit(ended)


def ending(shapes: Sequence[Shape], known: Known, *, own: bool) -> Shape | None:
    """The clause that ends a fact; `own` says that it is the speaker's."""
    for shape in shapes:
        for relation, pattern in _endings().get(shape.verb, ()):
            if relation.name == known.relation.name and _is_like(shape, pattern, known, own):
                return shape
    return None


def _is_like(shape: Shape, pattern: Shape, known: Known, own: bool) -> bool:
    if not shape.is_done or shape.denied != pattern.denied or shape.passive != pattern.passive:
        return False
    if shape.parts - {"here", "back"} != pattern.parts - {"here", "back"}:
        return False
    if not _is_subject(shape.subject, pattern.subject, known, own) or len(shape.rest) != len(pattern.rest):
        return False
    if not all(
        role == other and _is_same(word, meant, known, own)
        for (role, word), (other, meant) in zip(shape.rest, pattern.rest, strict=True)
    ):
        return False
    for role, meant in pattern.beside:
        if not any(role == one and _is_same(word, meant, known, own) for one, word in shape.beside):
            return False
    wanted = {role for role, _ in pattern.beside}
    return all(role in wanted or role in _BESIDE for role, _ in shape.beside)


def _is_subject(word: Word | None, meant: Word | None, known: Known, own: bool) -> bool:
    if meant is None or meant.lower in FIRST:
        if word is None:
            return own
        both = [word, *(child for child in word.children if child.dep == "conj")]
        if own:
            return any(one.lower in FIRST for one in both)
        return any(_names(one, known.subject) for one in both)
    if meant.pos == "PRON" or meant.lower == "somebody":  # whoever it was
        return word is not None and word.lower not in FIRST
    return word is not None and _is_same(word, meant, known, own)


def _is_same(word: Word, meant: Word, known: Known, own: bool) -> bool:
    """Whether a word of a turn is what a word of the table's sentence means."""
    if meant.text == _VALUE:
        return word.lower in _THINGS - {"he", "she", "they"} or _names(word, known.value)
    if meant.lower in FIRST:
        return word.lower in FIRST if own else _names(word, known.subject)
    if meant.pos == "PRON":
        return word.pos == "PRON"
    return word.lemma == meant.lemma


def _names(word: Word, name: str) -> bool:
    """Whether a phrase names something: both have the same head, or it has all of a short name."""
    phrase = spoken([one for one in word.subtree() if one.dep not in ("relcl", "advcl", "acl", "punct")])
    said, held = set(re.findall(r"\w+", phrase.casefold())), set(re.findall(r"\w+", name.casefold()))
    return words_apart(name, phrase) is not None or word.lower in held or (bool(held) and held <= said)


def _shapes_of(turn: Turn) -> list[Shape]:
    found: list[Shape] = []
    moment = Moment(turn.said_at, turn.zone)
    prose = passages(turn.text)
    for passage, parse in zip(prose, parser().parse([one.text for one in prose]), strict=True):
        found += shapes(parse, timed(parse, moment), passage.start)
    return found


def shapes(parse: Parse, dated: frozenset[int] = frozenset(), start: int = 0) -> list[Shape]:
    """The clauses of a parse that tell something; `dated` are the places of words that say a time."""
    unmeant: set[int] = set()
    for sentence in parse.sentences:
        ironic = is_ironic(parse.text[sentence[0].start : sentence[-1].end])
        unmeant |= {word.i for word in sentence} if ironic else asked(sentence)
    return [_shape(one, dated, start) for one in clauses(parse) if one.first.i not in unmeant]


def _shape(clause: Clause, dated: frozenset[int], start: int) -> Shape:
    verb = clause.first
    rest: list[tuple[str, Word]] = []
    beside: list[tuple[str, Word]] = []
    parts: set[str] = set()
    for link in (verb, *_below(verb)):
        if link is not verb:
            rest.append((f"to {link.lemma}", link))
        for child in link.children:
            target = child.child("pobj")
            if child.i in dated or (target is not None and target.i in dated):
                continue
            led = child.dep in ("prep", "agent")
            apart = child.lower in _PARTS and (child.dep == "advmod" or (led and not target))
            if child.dep == "prt" or apart:
                parts.add(child.lower)
            elif led and target is not None:
                beside.append((child.lower, target))
            elif child.dep in ("dobj", "obj", "dative", "attr", "acomp", "oprd"):
                rest.append(("what", child))
            elif child.dep == "ccomp" and child.i > link.i:
                rest.append(("that", child))
    words = clause.words()
    text = " ".join(word.text for word in words)
    over = bool(_AGAIN.search(text))
    done = status(clause) in ("happened", "ongoing") or (over and denied(clause))
    subject = clause.subject
    passive = subject is not None and subject.dep == "nsubjpass"
    lemma = clause.chain[0].lemma
    lemma = "be" if lemma in ("'s", "'m", "'re", "m", "re") else lemma
    return Shape(
        lemma, frozenset(parts), denied(clause) or over, passive, subject, tuple(rest), tuple(beside),
        start + verb.start, done and (clause.link != "condition") and (over or not denied(clause)),
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
def _endings() -> Mapping[str, tuple[tuple[Relation, Shape], ...]]:
    """The sentences with which relations end, by their verbs."""
    rows = [(one, text.replace("{value}", _VALUE)) for one in relations() for text in one.ends]
    found: dict[str, list[tuple[Relation, Shape]]] = {}
    for (relation, _), parse in zip(rows, parsed([f"{text}." for _, text in rows]), strict=True):
        for shape in shapes(parse)[:1]:
            found.setdefault(shape.verb, []).append((relation, shape))
    return {verb: tuple(several) for verb, several in found.items()}


def _known(
    store: Store,
    turn: Turn,
    names: set[str],
    told: Sequence[ExtractedFact],
    turns: Mapping[str, Turn],
) -> list[Known]:
    """What holds when a turn is said, and may be ended by it; without what the turn itself tells of."""
    own = {(folded(one.subject), one.predicate) for one in told if turn.id in one.turns}
    kinds = {one.name: one for one in relations() if one.name in names}
    speaker, said = folded(turn.speaker), folded(turn.text)

    def is_meant(subject: str, predicate: str) -> bool:
        mine = folded(subject) == speaker or folded(subject) in said
        return mine and predicate in kinds and (folded(subject), predicate) not in own

    found: dict[tuple[str, str, str], Known] = {}
    for one in told:
        before = turns.get(one.turns[0]) if one.turns and one.status == "holds" else None
        if before is not None and _order(before) < _order(turn) and is_meant(one.subject, one.predicate):
            known = Known(one.subject, kinds[one.predicate], one.object, _sentence(before, one.object))
            found[folded(one.subject), one.predicate, folded(one.object)] = known
    people = {speaker, *(folded(name) for name in _NAME.findall(turn.text))}
    rows = [row for one in sorted(people) for row in store.facts.valid_at(turn.said_at, one, None, None)]
    rows += [  # what it has ended before, when it is read again
        row for row in store.facts.by_id(store.facts.from_sources([turn.id])) if row.valid_from < turn.said_at
    ]
    predicates = Predicates(store.facts.predicates())
    named = {row.id: (row, name) for row in rows if (name := predicates.find(row.predicate).name) in kinds}
    sources = store.facts.sources(list(named))
    for id_, (row, name) in named.items():
        if not is_meant(row.subject, name):
            continue
        first = next(iter(store.turns(ids=sources.get(id_, [])[:1])), None)
        text = _sentence(first, row.object) if first else f"{row.subject} {name} {row.object}."
        known = Known(row.subject, kinds[name], row.object, text)
        found.setdefault((folded(row.subject), name, folded(row.object)), known)
    return list(found.values())


def _sentence(turn: Turn, value: str) -> str:
    """The sentence of a turn that has a value."""
    start = max(turn.text.casefold().find(value.casefold()), 0)
    return sentence_at(turn.text, start, start + 1)


def _order(turn: Turn) -> tuple[datetime, int]:
    return turn.said_at, turn.seq


def _since(turn: Turn, place: int) -> Interval | None:
    """From when it holds no longer, where the sentence says one time that is over."""
    start, end = sentence_place(turn.text, place, place + 1)
    times = [
        one.interval
        for one in resolve(turn.text[start:end], turn.said_at, turn.zone, "past")
        if one.kind == "point" and one.interval is not None and one.interval.start is not None
    ]
    if len(times) != 1 or times[0].start is None or times[0].start > turn.said_at:
        return None
    return Interval(times[0].start, None, times[0].grain)


@dataclass(frozen=True, slots=True)
class Curve:
    """A logistic curve over what was read."""

    weights: tuple[float, ...]
    bias: float
    least: float
    """The chance from which a fact is ended."""

    def chance(self, signs: Sequence[float]) -> float:
        odds = self.bias + sum(w * x for w, x in zip(self.weights, signs, strict=True))
        return 1 / (1 + math.exp(-odds))


@cache
def curve() -> Curve:
    held = json.loads(files(__package__).joinpath("endings.json").read_text(encoding="utf-8"))
    return Curve(tuple(held["weights"]), held["bias"], held["least"])


def _logit(chance: float) -> float:
    inside = min(max(float(chance), 1e-3), 1 - 1e-3)
    return math.log(inside / (1 - inside))
