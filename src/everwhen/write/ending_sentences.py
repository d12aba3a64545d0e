"""Whether a clause is built like one of the sentences with which a relation ends.

The table has them as they are said by the one whose fact it is, "I quit {value}", "{value} died". A clause is like one
if it has the same verb with the same particles, is said as done, has the same subject, and has nothing else beside but
when and why. "I quit last week" is like "I quit"; "I quit smoking" and "my sister quit"
are not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache

from everwhen.types import Turn
from everwhen.types.relations import Relation, relations
from everwhen.write.extract.grammar.cleaning import ProseLine, passages
from everwhen.write.extract.grammar.parsing import Parse, Word, parsed, parser, spoken
from everwhen.write.extract.grammar.word_lists import FIRST, vocabulary
from everwhen.write.extract.rules.clause_times import timed
from everwhen.write.extract.rules.clauses import Clause, base_form, clauses
from everwhen.write.extract.rules.modality import denied, status, tense, unmeant
from everwhen.write.fact_learning import words_apart

_VALUE = "Otto"
"""What stands for the value when a sentence of the table is parsed."""
_AGAIN = re.compile(r"\bany ?more\b|\bno longer\b|\bany longer\b", re.IGNORECASE)
_PARTS = vocabulary("away out off down over up there here back")
_BESIDE = vocabulary("without after before during for because since despite by until")
"""Prepositions that add something to a clause and leave what it says as it is."""
_THINGS = vocabulary("it that this him her them those these one")
_NOT_NOW = vocabulary("once almost nearly never")
"""Words with which something is not the end of what holds: "I got fired once"."""


@dataclass(frozen=True, slots=True)
class KnownFact:
    """Something that holds: of whom, what, and the sentence that told it."""

    subject: str
    relation: Relation
    value: str
    told: str
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
    prose = passages(turn.text)
    for passage, parse in zip(prose, parser().parse([one.text for one in prose]), strict=True):
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
    text = " ".join(word.text for word in words)
    over = bool(_AGAIN.search(text))
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
    for (relation, _), parse in zip(rows, parsed([f"{text}." for _, text in rows]), strict=True):
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
                named = named and any(_names(word, known.value, _about(relation)) for word in shape.words)
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
        return any(_names(one, known.subject) for one in both)
    if meant.pos == "PRON" or meant.lower == "somebody":  # whoever it was
        return word is not None and word.lower not in FIRST
    return word is not None and _is_same(word, meant, known, own)


def _is_same(word: Word, meant: Word, known: KnownFact, own: bool) -> bool:
    """Whether a word of a turn is what a word of the table's sentence means."""
    if meant.text == _VALUE:
        return word.lower in _THINGS or _names(word, known.value, _about(known.relation))
    if meant.lower in FIRST:
        return word.lower in FIRST if own else _names(word, known.subject)
    if meant.pos == "PRON":
        return word.pos == "PRON"
    return word.lemma == meant.lemma


def _names(word: Word, name: str, about: frozenset[str] = frozenset()) -> bool:
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
