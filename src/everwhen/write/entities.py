"""Who is who: names that turns say, resolved to identities; and things without a name that are spoken of again.

A name that an identity already goes by is that identity, unless it is said to be something else: Paris the sister is
not the city, nor the fruit the company. A form of a person's name ("Alice", "Alice C.", "Liz" for "Elizabeth") is the
one known person that it fits, however long ago that was; one that fits two is neither. For everything else, `score =
0.5 name + 0.3 shared neighbours + 0.2 nearness in time`: from 0.85 it is the same, below 0.6 it is not. A language
model, where there is one, is given these signals and decides what is in between, which of two a bare name means, and
whether a known name that is introduced anew, or comes up in other company after a month, is somebody else's. Two
names in one unit are never one (the veto): "Alice and Alice Cooper" are two.

Things without a name of their own ("the budget migration", "woodworking") become entities once they are spoken of
again: a term that people come back to is a topic of theirs (Justeson and Katz 1995 keep the terms of a text in the
same way); one that is said once is only how a sentence was worded. Names in chat without capitals are found in the
same way.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from everwhen.models.llm.base import LLM, LLMError, complete_all
from everwhen.models.prompts import as_data, load
from everwhen.store.rows import EntityRow, Filter, Heard, SearchQuery, Wanted
from everwhen.store.sql.graph_writer import GraphWriter
from everwhen.store.sql.store import Store
from everwhen.types import Turn, UnitRow, Usage
from everwhen.write.extract.base import ExtractedEntity, Extraction
from everwhen_time.tokens import word_table


def _table() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = {}
    for full, short in word_table(Path(__file__).with_name("nicknames.toml")).items():
        for name in short.split():
            table.setdefault(full, set()).add(name)
            table.setdefault(name, set()).add(full)
    return {name: frozenset(others) for name, others in table.items()}


NICKNAMES = _table()


@lru_cache(maxsize=4096)
def other_first_names(name: str) -> frozenset[str]:
    """The other first names that can be the same person's: its full and short forms, and those of its full forms."""
    name = name.lower()
    near = NICKNAMES.get(name, frozenset())
    longer = (full for full in near if len(full) > len(name))
    short_forms = {other for full in longer for other in NICKNAMES.get(full, ()) if len(other) < len(full)}
    return (near | short_forms) - {name}


def can_be_same_first_name(one: str, other: str) -> bool:
    """Whether two first names can be one person's: the full name and a short form, or two short forms of it."""
    return one.lower() == other.lower() or other.lower() in other_first_names(one)


WEIGHTS = (0.5, 0.3, 0.2)
SAME, APART = 0.85, 0.6
NEAR_DAYS = 30.0
"""After so many days nearness in time counts half."""
TYPO = 0.88
"""Similarity of two spellings below which they are no candidates."""
SHORTEST_SPELLING = 5
"""Letters of a name from which a slip of the pen is thought of."""
MOST_EDITS = 2
"""Slips in a long name; a short one may have one."""

EXACT = frozenset({"FILE", "COMMIT"})
"""Types of names in which every letter counts: `test_a.py` is no slip of the pen for `test_b.py`."""

NEVER = datetime.min.replace(tzinfo=UTC)


class NamePair(NamedTuple):
    """A name as a turn says it, an identity that it may be, and the signals for it (TEMPR's three)."""

    name: str
    known: EntityRow
    turn: Turn
    similarity: float
    shared: float
    """The share of those named beside it who were named beside the identity before."""
    days: float
    """Since the identity was named last."""

    @property
    def score(self) -> float:
        near: float = 0.5 ** (self.days / NEAR_DAYS)
        return WEIGHTS[0] * self.similarity + WEIGHTS[1] * self.shared + WEIGHTS[2] * near


Decide = Callable[[NamePair], bool]
"""Whether a name is a known identity's, for scores in between: an LLM's answer."""


class KnownEntities:
    """All entities of a bank with their names, kept from batch to batch: reading them each time costs more and more.

    `open` and `keep` go around one transaction. What a transaction adds is kept only once it is committed, and all is
    read again when the store says that somebody else changed a name meanwhile.
    """

    def __init__(self) -> None:
        self.known: dict[int, EntityRow] = {}
        self.names = NameIndex()
        self._version: str | None = None

    def open(self, write: GraphWriter) -> None:
        """At the beginning of a transaction: read all again if the stored names have changed since `keep`."""
        kept, self._version = self._version, None
        if kept == write.names_version():
            return
        self.known = {known.seq: known for known in write.entities()}
        self.names = NameIndex()
        for known in self.known.values():
            for name in known.names:
                self.names.add(name, known.seq)

    def keep(self, version: str) -> None:
        """After the commit: keep what is in memory; `version` is that of the stored names at the end."""
        self._version = version


class Resolver:
    """Resolves the names of one batch inside its transaction; entities it adds are found from then on."""

    def __init__(
        self, write: GraphWriter, decide: Decide | None = None, entities: KnownEntities | None = None
    ) -> None:
        self.write = write
        self.decide = decide
        entities = entities or KnownEntities()
        entities.open(write)
        self._known, self._names = entities.known, entities.names
        self._heard: Heard | None = None

    def entities_of_turn(
        self, names: Sequence[ExtractedEntity], turn: Turn, recorded_at: datetime | None = None
    ) -> dict[str, int]:
        """The identities of the names of one turn, by name."""
        self._heard = None if recorded_at is None else Heard(turn.said_at, recorded_at)
        chosen: dict[str, int] = {}
        pending = []
        for entity in names:
            found = self._identity_named(entity, names, chosen.values(), turn)
            if found is None:
                pending.append(entity)
            else:
                chosen[entity.name] = found
        for entity in pending:
            same = [entity.name for name in chosen if key(name) == key(entity.name)]
            if same:
                continue
            found = self._as_other_form(entity, chosen, turn)
            if found is None:
                found = self._as_similar_spelling(entity, chosen, turn)
            chosen[entity.name] = found if found is not None else self._new(entity)
        return chosen

    def only_entity_named(self, name: str) -> int | None:
        """The one identity that goes by a name; None where there is none, or several."""
        found = set(self._names.going_by(name))
        return found.pop() if len(found) == 1 else None

    def is_mention(self, entity: ExtractedEntity) -> bool:
        """Whether a name counts as a mention: a tentative one does only where somebody is known by it."""
        known = not entity.tentative or entity.name.islower() or self._names.going_by(entity.name)
        return bool(known or self._people_of_name(replace(entity, type="PERSON")))

    def _identity_named(
        self, entity: ExtractedEntity, names: Sequence[ExtractedEntity], taken: Iterable[int], turn: Turn
    ) -> int | None:
        """The identity that goes by the name, whatever type the parser guesses this time; of several the one of
        the type, then the one spoken of last. None where it is said to be another thing, where the model says so, and
        where the name is a part of several people's."""
        candidates = [self._known[seq] for seq in self._names.going_by(entity.name) if seq not in taken]
        candidates = [one for one in candidates if not is_another(one, entity)]
        if self.decide is not None and key(entity.name) != key(turn.speaker):
            beside = [one.name for one in names if key(one.name) not in (key(entity.name), key(turn.speaker))]
            around = frozenset(seq for name in beside for seq in self._names.going_by(name))
            below = SAME if introduced(entity.name, turn.text) else APART
            pairs = [self._pair(entity, one, 1.0, around, turn) for one in candidates]
            candidates = [one.known for one in pairs if one.score >= below or self.decide(one)]
        if not candidates:
            return None
        alone = [
            one for one in candidates if not any(is_shorter_form(entity.name, name) for name in one.names)
        ]
        if not alone and len(self._people_of_name(entity)) > 1:
            return None
        candidates = alone or candidates
        if len(candidates) == 1:
            return candidates[0].seq
        last = self.write.last_seen(one.seq for one in candidates)
        return max(
            candidates, key=lambda one: (one.type == entity.type, last.get(one.seq, NEVER), -one.seq)
        ).seq

    def _people_of_name(self, entity: ExtractedEntity) -> list[EntityRow]:
        """The known people that a name may be a form of: it agrees with every name that they go by."""
        return [
            one
            for one in (self._known[seq] for seq in self._names.like(entity.name))
            if compatible(one.type, entity.type)
            and "PERSON" in (one.type, entity.type)
            and any(are_name_forms(entity.name, name) for name in one.names)
            and all(can_be_same_person(entity.name, name) for name in one.names)
        ]

    def _as_other_form(self, entity: ExtractedEntity, chosen: dict[str, int], turn: Turn) -> int | None:
        """The person whose name this is another form of: the only one, or the one that the model says."""
        around = frozenset(chosen.values())
        people = self._people_of_name(entity)
        free = [one for one in people if one.seq not in around and not self._has_fuller_other(one, entity)]
        only = len(people) == 1
        if self.decide is not None:
            pairs = [self._pair(entity, one, 1.0, around, turn) for one in free]
            free = [one.known for one in pairs if (only and one.score >= SAME) or self.decide(one)]
        return (
            self._add_name(free[0].seq, entity)
            if len(free) == 1 and (only or self.decide is not None)
            else None
        )

    def _has_fuller_other(self, known: EntityRow, entity: ExtractedEntity) -> bool:
        """Whether a known bare name is the short form of another person's name that this name contradicts.

        "Ana" is known and so is "Ana Ruiz": "Ana Costa" is then not taken for "Ana"."""
        others = {seq for name in known.names for seq in self._names.like(name)} - {known.seq}
        return any(
            all(is_shorter_form(name, longer) for name in known.names for longer in self._known[seq].names)
            and not all(can_be_same_person(entity.name, name) for name in self._known[seq].names)
            for seq in others
        )

    def _as_similar_spelling(self, entity: ExtractedEntity, chosen: dict[str, int], turn: Turn) -> int | None:
        best: NamePair | None = None
        around = frozenset(chosen.values())
        if entity.type in EXACT:
            return None
        for known in (self._known[seq] for seq in self._names.like(entity.name)):
            if known.seq in around or is_another(known, entity) or not compatible(known.type, entity.type):
                continue
            if "PERSON" in (known.type, entity.type) and any(
                are_name_forms(entity.name, one) for one in known.names
            ):
                continue  # decided by `_as_other_form`
            similarity = max(name_similarity(entity.name, one) for one in known.names)
            if similarity < TYPO:
                continue
            pair = self._pair(entity, known, similarity, around, turn)
            if best is None or (pair.score, -known.seq) > (best.score, -best.known.seq):
                best = pair
        if best is None or best.score < APART:
            return None
        if best.score >= SAME or (self.decide is not None and self.decide(best)):
            return self._add_name(best.known.seq, entity)
        return None

    def _pair(
        self, entity: ExtractedEntity, known: EntityRow, similarity: float, around: frozenset[int], turn: Turn
    ) -> NamePair:
        seen_with = self.write.mentioned_with(known.seq) if around else frozenset()
        shared = len(seen_with & around) / len(around) if around else 0.0
        last = self.write.last_seen([known.seq]).get(known.seq)
        days = abs((turn.said_at - last).total_seconds()) / 86_400 if last else 365.0
        return NamePair(entity.name, known, turn, similarity, shared, days)

    def _add_name(self, seq: int, entity: ExtractedEntity) -> int:
        """Let a known entity go by one more name; its seq."""
        known = self._known[seq]
        name = known.name
        if is_shorter_form(name, entity.name):  # "Alice" is listed as Alice Chen from now on
            self.write.rename_entity(seq, name := entity.name, self._heard)
        type_ = entity.type if known.type == "OTHER" else known.type
        self._known[seq] = known._replace(name=name, type=type_, names=known.names | {entity.name})
        self._names.add(entity.name, seq)
        return seq

    def _new(self, entity: ExtractedEntity) -> int:
        seq = self.write.add_entity(entity.name, entity.type, self._heard)
        self._known[seq] = EntityRow(seq, "", entity.name, entity.type, frozenset({entity.name}))
        self._names.add(entity.name, seq)
        return seq


class NameIndex:
    """The entities by name: those that go by exactly this name, and those with a name that may be similar.

    A bank has thousands of names, and a new name cannot be compared with all of them: only with those that share a
    word or a nickname of the first word, or that are spelled nearly the same.
    """

    def __init__(self) -> None:
        self._by_key: dict[str, list[int]] = {}
        self._by_word: dict[str, set[int]] = {}
        self._keys: list[str] = []

    def add(self, name: str, seq: int) -> None:
        spelling = key(name)
        if spelling not in self._by_key:
            self._by_key[spelling] = []
            self._keys.append(spelling)
        self._by_key[spelling].append(seq)
        for word in spelling.split():
            self._by_word.setdefault(word, set()).add(seq)

    def going_by(self, name: str) -> list[int]:
        return self._by_key.get(key(name), [])

    def like(self, name: str) -> set[int]:
        """All whose `name_similarity` to the name can be above 0, and some others: candidates to be compared."""
        from rapidfuzz.distance import Levenshtein
        from rapidfuzz.process import extract

        name_key = key(name)
        words = name_key.split()
        found: set[int] = set()
        for word in (*words, *(other_first_names(words[0]) if words else ())):
            found |= self._by_word.get(word, set())
        if len(name_key) >= SHORTEST_SPELLING:
            near = extract(
                name_key, self._keys, scorer=Levenshtein.distance, score_cutoff=MOST_EDITS, limit=None
            )
            for spelling, _, _ in near:
                found.update(self._by_key[spelling])
        return found


def key(name: str) -> str:
    """What two spellings of one name have in common."""
    words = (word.rstrip(".") for word in name.casefold().replace("’", "'").split())
    return " ".join(words).removesuffix("'s").removeprefix("the ")


def compatible(one: str, other: str) -> bool:
    """Whether one thing can have been given both types: the parser often errs, but a person is never a place."""
    loose = {"OTHER", "CONCEPT"}
    if EXACT & {one, other}:
        return one == other
    return one == other or one in loose or other in loose or {one, other} == {"ORGANIZATION", "PRODUCT"}


def is_another(known: EntityRow, entity: ExtractedEntity) -> bool:
    """Whether a name stands for another thing than the known entity of that name, by its type: Paris the person and
    Paris the city, or Apple the company and, in small letters, an apple."""
    if entity.sure and not compatible(known.type, entity.type):
        return True
    sides = [(known.name, known.type)] + [(entity.name, entity.type)] * entity.sure
    small = {type_ for name, type_ in sides if name.islower()} & {"CONCEPT", "OTHER", "PRODUCT"}
    named = {type_ for name, type_ in sides if not name.islower()} - {"CONCEPT", "OTHER"}
    return bool(small and named) and small != named


def introduced(name: str, text: str) -> bool:
    """Whether a turn says who is meant: "my cousin Daniel", "Daniel, the plumber", "Daniel from work"."""
    said = re.escape(name)
    before = rf"\b(?:my|our|his|her|their|a|an)\s+(?:[\w-]+\s+){{1,3}}{said}\b"
    return re.search(rf"{before}|\b{said},?\s+(?:my|our|the|a|an|from|at|who)\b", text, re.I) is not None


TITLES = {
    "mr": "he", "sir": "he", "mrs": "she", "ms": "she", "miss": "she", "dr": "", "prof": "", "professor": "",
}  # fmt: skip
"""The pronoun of those who are addressed so; empty where it can be either."""
_GENERATIONS = frozenset({"jr", "sr", "junior", "senior", "ii", "iii"})


def _name_words(name: str) -> tuple[list[str], str, frozenset[str]]:
    """The words of a name without titles, the pronoun of its title, and its generation (Jr, III)."""
    words = key(name).replace(",", "").split()
    title = TITLES.get(words[0], "") if len(words) > 1 else ""
    generation = frozenset(words[1:]) & _GENERATIONS
    kept = [word for n, word in enumerate(words) if word not in generation and (n or word not in TITLES)]
    return kept or words, title, generation


def _contradict(one: str, other: str) -> bool:
    """Mr. and Mrs. Jones, Carl Berg and Carl Berg Jr., Tom B. and Tom K."""
    (left, title, generation), (right, other_title, other_generation) = _name_words(one), _name_words(other)
    if generation != other_generation or (title and other_title and title != other_title):
        return True
    return len(left) == len(right) and any(
        a != b and len(a) == len(b) == 1 for a, b in zip(left, right, strict=True)
    )


def are_name_forms(one: str, other: str) -> bool:
    """Whether two names that differ can be one person's: parts left out, initials, short forms, titles."""
    shorter, longer = sorted((_name_words(one)[0], _name_words(other)[0]), key=len)
    if key(one) == key(other) or not shorter or _contradict(one, other):
        return False
    if len(shorter) == 1:
        (word,) = shorter
        return len(word) > 1 and (can_be_same_first_name(word, longer[0]) or word == longer[-1])
    rest = list(zip(shorter[1:], longer[1 - len(shorter) :], strict=True))
    agreeing = [a == b or (min(len(a), len(b)) == 1 and a[0] == b[0]) for a, b in rest]
    first = can_be_same_first_name(shorter[0], longer[0]) or (
        min(len(shorter[0]), len(longer[0])) == 1 and shorter[0][0] == longer[0][0]
    )
    whole = any(min(len(a), len(b)) > 1 for a, b in [(shorter[0], longer[0]), *rest])
    return first and all(agreeing) and whole


def is_shorter_form(one: str, other: str) -> bool:
    """Whether the first name is a shorter form of the second."""
    return len(one) < len(other) and are_name_forms(one, other)


def can_be_same_person(one: str, other: str) -> bool:
    """Whether two names can be one person's: the same, two forms of it, or a slip of the pen."""
    return are_name_forms(one, other) or name_similarity(one, other) >= TYPO


def name_similarity(one: str, other: str) -> float:
    """From 0 to 1: 1 for a nickname, 0.95 for a part of the name, else how much the spellings agree."""
    from rapidfuzz.distance import JaroWinkler, Levenshtein

    left, right = key(one).split(), key(other).split()
    if not left or not right or _contradict(one, other):
        return 0.0
    if left == right:
        return 1.0
    shorter, longer = sorted((left, right), key=len)
    if are_name_forms(one, other):
        return 1.0 if left[0] != right[0] and can_be_same_first_name(left[0], right[0]) else 0.95
    if all(word in longer for word in shorter) and len(shorter[0]) > 2:
        return 0.95
    a, b = " ".join(left), " ".join(right)
    shortest = min(len(a), len(b))
    if shortest < SHORTEST_SPELLING or Levenshtein.distance(a, b) > (MOST_EDITS if shortest > 9 else 1):
        return 0.0  # short names differ by a letter all the time: Jon and Joe are two
    return float(JaroWinkler.similarity(a, b))


LOOKED_AT = 5
"""Turns found by the words of a concept that are read."""


def with_topics(store: Store, extraction: Extraction) -> tuple[Extraction, Mapping[str, frozenset[int]]]:
    """The extraction without the concepts that only one turn names; and, for each concept that is left, some units of
    the turns that name it. "pottery" becomes an entity when a second turn says it, and then the first turn mentions
    it, too."""
    doubtful = {key(one.name) for one in extraction.entities if _is_doubtful(one)}
    units_by_name = {name: _turns_with(store, name) for name in doubtful}
    topics = {name: units for name, units in units_by_name.items() if len(units) > 1}
    kept = tuple(one for one in extraction.entities if not _is_doubtful(one) or key(one.name) in topics)
    return replace(extraction, entities=kept), topics


def _is_doubtful(entity: ExtractedEntity) -> bool:
    """Whether it is an entity only if another turn names it too: a tentative concept in small letters."""
    return entity.tentative and entity.name == entity.name.lower()


def turns_with_words_of(store: Store, name: str, most: int) -> Mapping[int, UnitRow]:
    """Some turns with the words of a name in them, by their units."""
    search = store.search(SearchQuery(words=name, where=Filter(kinds=frozenset({"turn"}))))
    [found] = search.candidates(Wanted(most)).words
    return store.units([one.unit for one in found])


def _turns_with(store: Store, name: str) -> frozenset[int]:
    rows = turns_with_words_of(store, name, LOOKED_AT)
    return frozenset(seq for seq, row in rows.items() if f" {name} " in f" {_in_plain_words(row.text)} ")


def _in_plain_words(text: str) -> str:
    """A text as words alone, so that a phrase is found at the end of a sentence, too."""
    return " ".join(re.findall(r"[\w'-]+", text.casefold()))


MOST_PAIRS = 16
"""Pairs of a batch that are asked about; more stay apart."""
SHOWN = 3
"""Turns with a name that the model is shown."""
LONGEST = 300
"""Characters of each."""


class UndecidedPairs(Exception):
    """Pairs came up that the model was not asked about yet: rolls the transaction back."""


class AmbiguousNames:
    """The pairs of one batch that the model decides, with its answers.

    The model must not be asked inside a transaction. So the first attempt to write collects the pairs without an
    answer, and `raise_if_undecided` rolls it back; the pipeline calls `ask` and writes again, now with the answers.
    Pairs that come up only then are not asked about.
    """

    def __init__(self, llm: LLM | None) -> None:
        self._llm = llm
        self._answers: dict[tuple[str, int, str], bool] = {}
        self._open: dict[tuple[str, int, str], NamePair] = {}
        self._asked = False
        self.usage = Usage()
        self.problems: list[str] = []

    def __call__(self, pair: NamePair) -> bool:
        """The model's answer; without one, the names are one only if they are spelled the same."""
        pair_key = (pair.name, pair.known.seq, pair.turn.id)
        if pair_key not in self._answers:
            self._open[pair_key] = pair
        return self._answers.get(pair_key, is_same_name(pair))

    @property
    def model(self) -> str:
        return self._llm.name if self._llm is not None else ""

    def raise_if_undecided(self) -> None:
        """Raise `UndecidedPairs` if there are pairs to ask about and the model was not asked before."""
        if self._open and self._llm is not None and not self._asked:
            raise UndecidedPairs

    def ask(self, store: Store) -> None:
        """Ask the model about the open pairs; without an answer, a pair is one only if spelled the same."""
        from everwhen.write.extract.llm_findings import SameEntity  # pydantic takes its time

        assert self._llm is not None
        self._asked = True
        pairs = list(self._open.items())[:MOST_PAIRS]
        questions = [_question(store, pair) for _, pair in pairs]
        answers = complete_all(self._llm, questions, SameEntity, instructions=load("same_name", self._llm))
        for (pair_key, pair), answer in zip(pairs, answers, strict=True):
            self.usage += answer.usage
            if isinstance(answer, LLMError):
                kept = "taken for one" if is_same_name(pair) else "kept apart"
                self.problems.append(f"{answer}; '{pair.name}' and '{pair.known.name}' were {kept}")
            else:
                self._answers[pair_key] = answer.output.same


def is_same_name(pair: NamePair) -> bool:
    return key(pair.name) in map(key, pair.known.names)


def _question(store: Store, pair: NamePair) -> str:
    """Both names as turns say them, the first in the turn that it is about, and the three signals."""
    units = store.graph.units_of_entity(pair.known.id, 4 * SHOWN)
    rows = (store.units(units) if units else turns_with_words_of(store, pair.known.name, SHOWN)).values()
    earlier = [_quoted_line(row) for row in rows if row.kind == "turn"][:SHOWN]
    both = [
        {"name": pair.name, "said": [_quoted_line(pair.turn)]},
        {"name": pair.known.name, "said": earlier},
    ]
    signals = {
        "name similarity": round(pair.similarity, 2),
        "share of the same company": round(pair.shared, 2),
        "days apart": round(pair.days),
    }
    return "\n".join(["<names>", *map(as_data, (*both, signals)), "</names>", "Are they the same?"])


def _quoted_line(row: Turn | UnitRow) -> str:
    return f"{row.said_at:%Y-%m-%d} {row.speaker}: {row.text[:LONGEST]}"
