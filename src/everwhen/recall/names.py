"""A question read in one memory: whom it names, misspelt names corrected, and names put to descriptions.

A capitalised word that the memory does not know is compared with all known names. It is read as the nearest one if that
is near enough and no other name is as near; the answer says so. Other words are never changed: an ordinary word that
was never said is a sign that there is no answer.

"Where does my sister live?" is read as "Where does my sister Ana live?". Facts know whose sister somebody is; the turns
about her often only name her. With both in the question, those that say "my sister" are found and those that say "Ana".
Facts propose names; the reader confirms, in the turns that the facts are from, that "my sister" is Ana there.

TiMem is a system of the source documents: docs/five-documents.md.
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache

from everwhen.facts.statements import folded, normalised
from everwhen.models.comparison import Passage, Reader
from everwhen.recall.question import Question, parse, pattern
from everwhen.store.base import STOP_WORDS
from everwhen.store.rows import AsOf, FactRow, Filter, SaidBy, SearchQuery, Wanted
from everwhen.store.sql.store import Store
from everwhen.types import ROLES, Turn
from everwhen.types.facts import Relation, asked_of, relations
from everwhen_time.sentences import sentence_at


@dataclass(frozen=True, slots=True)
class Plan:
    """A question, read in a memory in which some people speak."""

    question: Question
    people: frozenset[str]
    """Speakers whom the question names."""
    keywords: tuple[str, ...] = ()
    """One to three words that it turns on, without the names of people."""
    note: str = ""
    """Why a language model did not plan, where one was asked."""
    read_as: tuple[tuple[str, str], ...] = ()
    """Names that were misspelt, and as whose they were read; `query` has them as they are spelt."""

    @property
    def query(self) -> str:
        return self.question.words

    def whose(self, has_assistant: bool) -> SaidBy | None:
        """Whose turns would tell: the people named, or the user where the question says "I"."""
        if self.people:
            return SaidBy(speakers=self.people)
        # Among people only, "I" is whoever asks, and the memory does not know who that is.
        return SaidBy(role="user") if self.question.first_person and has_assistant else None


def plan(
    query: str, at: datetime, zone: str, speakers: Iterable[str], names: frozenset[str] = frozenset()
) -> Plan:
    """Read a question, asked at a moment, of a memory in which some people speak and things have names."""
    people, bare = speakers_named(query, speakers)
    return Plan(parse(query, at, zone), people, keywords(bare, names))


KEYWORDS = 3
"""Keywords of a question, at most (TiMem)."""
_WORD = re.compile(r"\w+")
_CONTENT = re.compile(r"[^\W\d_][\w'’-]{2,40}")
_COMMON = frozenset(STOP_WORDS.split()) | frozenset(
    "ever many much often long kind kinds type types sort name names mention mentioned according get got".split()  # noqa: SIM905
)
_CAPITALISED = re.compile(r"\b[A-Z][\w'’-]+")
_INSIDE = re.compile(r"(?<=[\w,] )[A-Z]\w{2,}(?!\w*['’])")
LONGEST = 3
"""Words of a description: "old maths teacher"."""
DESCRIPTION = re.compile(
    r"\b(?:(?P<own>[Mm]y|[Oo]ur)|(?P<any>[Tt]he)|(?P<name>[^\W\d_a-z]\w*)['’]s)"
    rf"\s+(?P<noun>[^\W\d_A-Z][\w-]*(?:\s+[^\W\d_A-Z][\w-]*){{0,{LONGEST - 1}}})"
)
"""Words that may describe somebody: "my sister", "Tomas's daughter", "the electrician", and up to two words more."""
_WHO_IS = re.compile(r"\bwho(?:['’]s|\s+(?:is|are|was|were))?\s*\Z", re.IGNORECASE)
_FIRST_NAMES = re.compile(r"(?<=\s)(?:[^\W\d_a-z]\w*\s+)+\Z")
_WHOLE = re.compile(r"[^\W\d_a-z]\w+(?: [^\W\d_a-z]\w+)*")
_DATES = frozenset((*calendar.month_name, *calendar.day_name))
# "Kez and Theo become official"
_LEADING = re.compile(r"(?:[^\W\d_a-z][\w'’.-]*)(?:\s+(?:(?:and|&)\s+)?[^\W\d_a-z][\w'’.-]*)*")


def speakers_named(words: str, speakers: Iterable[str]) -> tuple[frozenset[str], str]:
    """The speakers that a question names, by their whole name or its first word, and what it says without them."""
    said = {word.casefold() for word in _WORD.findall(words)}
    named: set[str] = set()
    bare = words
    for speaker in speakers:
        first = speaker.split()[0] if speaker.split() else ""
        if speaker.casefold() in ROLES or not first or first.casefold() not in said:
            continue
        name = pattern(rf"\b({re.escape(speaker)}|{re.escape(first)})(['’]s)?\b")
        if name.search(words):
            named.add(speaker)
            bare = name.sub(" ", bare)
    bare = " ".join(bare.split())
    # A question that is nothing but a name keeps it.
    return frozenset(named), bare if re.search(r"\w{3,}", bare) else words


def keywords(bare: str, names: frozenset[str] = frozenset()) -> tuple[str, ...]:
    """The words that a question turns on, as TiMem's planner names them: at most three, no function words, no names.

    The longest come first where there are more: in English the rarer word is the longer one. A capital inside the
    question is taken for a name; so is what the memory knows as one.
    """
    words = [
        word.casefold()
        for place, word in enumerate(_CONTENT.findall(bare))
        if word.casefold() not in _COMMON and (place == 0 or not word[0].isupper())
    ]
    words = without_names(words, names)
    chosen = sorted(dict.fromkeys(words), key=lambda word: -len(word))[:KEYWORDS]
    return tuple(word for word in dict.fromkeys(words) if word in chosen)


def without_names(words: Iterable[str], names: frozenset[str]) -> list[str]:
    """Keywords, without those that are or have a name that the memory knows with a capital."""
    parts = {word: (word, *_WORD.findall(word)) for word in words}
    return [
        word
        for word, some in parts.items()
        if names.isdisjoint(x for one in some for x in (one.title(), one.upper()))
    ]


def capitalised(words: str) -> list[str]:
    """Words that may be names, the first one among them: what is no name is found nowhere."""
    return [name.removesuffix("'s") for name in _CAPITALISED.findall(words)]


def surely_named(words: str) -> list[str]:
    """Words that are names: they do not begin the question, are no dates, and own nothing."""
    return [name for name in _INSIDE.findall(words) if name not in _DATES]


def whole_names(words: str) -> list[str]:
    """The same with what stands together as one: "Mister Peeps"."""
    surely = set(surely_named(words))
    return [name for name in _WHOLE.findall(words) if surely.issuperset(name.split())]


def asks_who(words: str, found: re.Match[str]) -> bool:
    """Whether it is asked who a description in some words is: "Who is my boss", "do you know who my boss is"."""
    return _WHO_IS.search(words[: found.start()]) is not None


def owner_named(found: re.Match[str]) -> str | None:
    """The whole name of the owner that a description has: "Tom Smith" of "Tom Smith's sister"."""
    if found["name"] is None:
        return None
    first = _FIRST_NAMES.search(found.string[: found.start()])
    return f"{first.group() if first else ''}{found['name']}"


def leading_name(event: str) -> str:
    """The name, or two, that an event begins with, without the words of asking."""
    found = _LEADING.match(event)
    return found.group() if found else ""


SHORTEST = 4
"""Letters of a name that may be misspelt: among shorter ones nearly all are one letter apart."""
LONG = 6
"""Letters from which two mistakes are forgiven instead of one."""

_LETTERS = re.compile(r"[^\W\d_]+")
_STOP = frozenset(STOP_WORDS.split())


class KnownNames:
    """The words of all known names."""

    def __init__(self, names: Iterable[str]) -> None:
        words = {word for name in names for word in _LETTERS.findall(name)}
        spelt = {word.casefold(): word for word in sorted(words)}
        self.known = spelt.keys()
        self._long = {word: small for small, word in spelt.items() if len(small) >= SHORTEST}

    def nearest(self, word: str) -> str | None:
        """The one name that a word may stand for: a letter put in, left out, changed, or swapped with the next one is
        one mistake (optimal string alignment)."""
        from rapidfuzz.distance import OSA
        from rapidfuzz.process import extract

        small = word.casefold()
        allowed = 2 if len(small) >= LONG else 1
        near = extract(small, self._long, scorer=OSA.distance, score_cutoff=allowed, limit=2)
        distances = [distance for _, distance, _ in near]
        return near[0][2] if distances and distances.count(distances[0]) == 1 else None


def corrected(query: str, names: KnownNames, is_said: Callable[[str], bool]) -> tuple[str, dict[str, str]]:
    """The question with its misspelt names as they are spelt, and what was read as what."""
    read: dict[str, str] = {}
    for found in _LETTERS.finditer(query):
        word = found.group()
        small = word.casefold()
        if (
            len(word) < SHORTEST
            or not word[0].isupper()
            or small in _STOP
            or small in names.known
            or word in read
        ):
            continue
        name = names.nearest(word)
        if name is not None and not is_said(word):
            read[word] = name
    for word, name in read.items():
        query = re.sub(rf"\b{re.escape(word)}\b", name, query)
    return query, read


SURE = 1.0
"""The reader's logit from which a turn says what somebody is called."""
MOST = 3
"""Descriptions of one question that are looked up."""
SPEAKERS = 4
"""People of a memory, at the most, each of whom may be the "I" of a question."""
PROPOSED = 4
"""Turns that the reader looks at for one description, the newest ones."""
FOUND = 20
"""Turns that say a description's words, the best ones, among which the reader's are chosen."""
AROUND = 200
"""Characters around a name that are read."""

_BEHIND = re.compile(
    r"\s+(?:[^\W\d_a-z]|in\s+law\b|(?:is\s+)?(?:called|named)\b)|['’]s\s+(?:\w+\s+)?names?\b"
)
"""What stands behind a description whose name is there, is asked for, or that goes on."""
_WHO = ("What is {who} called?", "Who is {who}?")
_CALLED, _PET = normalised("called"), normalised("has pet")
_NO_NAME = frozenset(STOP_WORDS.split())


@dataclass(frozen=True, slots=True)
class DescribedNames:
    """Whom descriptions stand for, in one memory at one time. Without a reader only what facts say outright counts."""

    store: Store
    reader: Reader | None
    at: datetime
    moment: AsOf
    in_turns: bool = False
    """Whether turns propose names where facts do not: the reader looks at those that say the description's words."""

    @property
    def _instant(self) -> datetime:
        """Of which it is asked who somebody is: the present, or what was the present then."""
        return self.at if self.moment.as_of is None else min(self.at, self.moment.as_of)

    def put_in(self, question: str) -> tuple[str, dict[str, str]]:
        """The question with a name behind each description that has just one; and what was read as whom."""
        both = self.in_turns and self.reader is not None
        if not (both or DESCRIPTION.search(question)):
            return question, {}
        asked = parse(question, self.at, self.store.info.zone)
        past = asked.past_asked(self.at)
        if asked.kind == "name" or (past is not None and past.start is None):  # who was it, of several?
            return question, {}
        before_end = self if past is None or past.end is None else replace(self, at=past.end)
        words, read = before_end._with_names(question)
        return before_end._with_descriptions(words, read) if both else (words, read)

    def _with_names(self, question: str) -> tuple[str, dict[str, str]]:
        """ "What did my husband break?" is read as "What did my husband Tariq break?"."""
        words, read, place = question, dict[str, str](), 0
        for _ in range(MOST):
            found = DESCRIPTION.search(words, place)
            if found is None:
                break
            place = found.start("noun")
            if asks_who(words, found):
                continue
            noun, name = self._name(found) or ("", "")
            end = place + len(noun)
            if not name or _BEHIND.match(words[end:]) or _folded_words(name) <= _folded_words(words):
                continue
            read[words[found.start() : end]] = name
            words, place = f"{words[:end]} {name}{words[end:]}", end + 1
        return words, read

    def _with_descriptions(self, question: str, read: dict[str, str]) -> tuple[str, dict[str, str]]:
        """The same the other way round: "What did Tariq break?" is read as "What did my husband Tariq break?"."""
        words = question
        described = {found.end("noun") for found in DESCRIPTION.finditer(question)}
        for name in whole_names(question)[:MOST]:
            if question.index(name) - 1 in described:  # "my sister Ana"
                continue
            if (description := self._description(name)) is not None:
                place = question.index(name) + len(words) - len(question)
                words = f"{words[:place]}{description} {words[place:]}"
                read = {**read, name: description}
        return words, read

    def _description(self, name: str) -> str | None:
        """What the speakers call somebody whom a question names."""
        assert self.reader is not None
        turns = sorted(self._saying("", name), key=lambda one: one[0].said_at)
        for turn, _ in [one for one in turns if DESCRIPTION.search(one[0].text)][:PROPOSED]:
            text = _around(turn.text, name)
            [reading] = self.reader.read(f"Who or what is called {name}?", [Passage(turn.speaker, text)])
            found = DESCRIPTION.fullmatch(text[slice(*reading.span)].strip())
            if found is None or found["name"]:
                continue
            owner = "" if found["any"] else turn.speaker
            others = self._confirmed(self.reader, owner, found["noun"], self._saying(owner, found["noun"]))
            if _one([name, *others]) and self._confirmed(self.reader, owner, found["noun"], [(turn, name)]):
                mine = found["any"] or self._owners(None) == [owner]
                whose = (found["any"] or found["own"]).lower() if mine else f"{owner}'s"
                return f"{whose} {found['noun']}"
        return None

    def _name(self, found: re.Match[str]) -> tuple[str, str] | None:
        """The noun of a match that describes somebody, and who that is."""
        nouns = _nouns(found["noun"])
        if not nouns:  # "the same"
            return None
        owners = self._owners(owner_named(found))
        if not found["any"]:
            known = {one: owned for one in owners if (owned := self._owned(one, nouns))}
            if known or found["name"]:
                return self._only(known, owners)
        if (called := self._called(owners, nouns)) is not None or not self.in_turns or self.reader is None:
            return called
        for noun in nouns:
            if named := self._confirmed(self.reader, "", noun, self._saying("", noun)):
                return _with_one(noun, named)
        return None

    def _only(self, known: Mapping[str, tuple[str, str]], owners: Sequence[str]) -> tuple[str, str] | None:
        """What is known of one owner, where no other speaks of somebody of the kind."""
        if len(set(known.values())) != 1:
            return None
        noun, name = next(iter(known.values()))
        others = [one for one in owners if one not in known]
        said = (turn for one in others for turn, _ in self._saying(one, noun) if turn.speaker == one)
        return None if any(said) else (noun, name)

    def _owners(self, name: str | None) -> Sequence[str]:
        """Whose a description may be: of those who speak here, each may be "I"."""
        if name is not None:
            return [name]
        speakers = sorted(self.store.voices(latest=False).speakers - {"assistant", "system", "tool"})
        return speakers if len(speakers) <= SPEAKERS else []

    def _owned(self, owner: str, nouns: Sequence[str]) -> tuple[str, str] | None:
        """Who is somebody's sister, dog or dentist; the longest noun counts for which facts know somebody."""
        of = {folded(f"{owner}'s {noun}"): noun for noun in nouns}
        subjects = {folded(owner), *of}
        facts = self._with_turns(
            self.store.facts.valid_at(self._instant, subjects, _naming().keys(), self.moment.known_at)
        )
        for noun in nouns:
            called = _names_of(facts, of, noun)
            if called or self.reader is None:
                if one := _with_one(noun, called):
                    return one
                continue
            proposed = [
                (turn, row.object)
                for row, turns in facts
                for turn in turns
                if folded(row.subject) == folded(owner) and _may_mean(row, turn, noun)
            ]
            if proposed or self.in_turns:
                named = self._confirmed(self.reader, owner, noun, proposed or self._saying(owner, noun))
                if proposed or named:
                    return _with_one(noun, named)
        return None

    def _saying(self, owner: str, noun: str) -> list[tuple[Turn, str]]:
        """Turns of people that say a noun and, unless it is their speaker's, whose."""
        where = Filter(self.moment.said, self.moment.known_at, kinds=frozenset({"turn"}))
        search = self.store.search(SearchQuery(words=f"{owner} {noun}", where=where))
        [found] = search.candidates(Wanted(FOUND, meaning=False)).words
        ids = [row.id for row in self.store.units([one.unit for one in found]).values()]
        turns = self.store.turns(ids=ids)
        return [
            (turn, "")
            for turn in turns
            if turn.role == "user"
            and _says(turn, noun)
            and (turn.speaker == owner or _folded_words(owner) <= _folded_words(turn.text))
        ]

    def _confirmed(
        self, reader: Reader, owner: str, noun: str, proposed: list[tuple[Turn, str]]
    ) -> list[str]:
        """The names of which a turn says that they are the description's; what is proposed has one, or none yet."""
        names = []
        for turn, name in sorted(proposed, key=lambda one: one[0].said_at)[-PROPOSED:]:
            own = turn.speaker == owner
            who = f"my {noun}" if own else f"{owner}'s {noun}" if owner else f"the {noun}"
            text = _around(turn.text, name or noun)
            passage = Passage("user" if own else turn.speaker, text)
            # What a thing is called and who somebody is, a turn may say; only of somebody it says both.
            asked = _WHO[:1] if name else _WHO
            readings = reader.read_each([(asked_of(one, who), passage) for one in asked])
            said = text[slice(*readings[0].span)]
            meant = _is_name(said, text) and (not name or _folded_words(said) & _folded_words(name))
            if meant and min(one.relevance for one in readings) >= SURE:
                names.append(name or said)
        return names

    def _called(self, owners: Sequence[str], nouns: Sequence[str]) -> tuple[str, str] | None:
        """Who "the electrician" is, by the facts that say what one is called, whosever it is."""
        of = {
            folded(subject): noun
            for noun in nouns
            for subject in (noun, f"the {noun}", *(f"{owner}'s {noun}" for owner in owners))
        }
        facts = self._with_turns(
            self.store.facts.valid_at(self._instant, of.keys(), {_CALLED}, self.moment.known_at)
        )
        for noun in nouns:
            if named := _names_of(facts, of, noun):
                return _with_one(noun, named)
        return None

    def _with_turns(self, rows: Sequence[FactRow]) -> list[tuple[FactRow, list[Turn]]]:
        """Facts with the turns that state them by then; a fact without turns was set by a user."""
        sources = self.store.facts.sources([row.id for row in rows], self.moment.known_at) if rows else {}
        ids = [id_ for several in sources.values() for id_ in several]
        turns = {turn.id: turn for turn in self.store.turns(ids=ids)} if ids else {}
        found = []
        for row in rows:
            stated_in = [turns[id_] for id_ in sources.get(row.id, ()) if id_ in turns]
            seen = [turn for turn in stated_in if self.moment.sees(turn)]
            if seen or (
                not stated_in and (self.moment.as_of is None or row.recorded_at <= self.moment.as_of)
            ):
                found.append((row, seen))
        return found


@cache
def _naming() -> dict[str, Relation]:
    """The relations whose values are somebody, or an animal, by their keys."""
    return {
        key: one for one in relations() if one.value == "person" or normalised(one.name) == _PET
        for key in (normalised(one.name),)
    }  # fmt: skip


def _nouns(words: str) -> list[str]:
    """What may describe somebody, the longest first. Of "older sister live" it is "older sister", since the relations
    know sisters; "maths teacher live" may be all of it, or only its beginning."""
    several = words.split()
    stops = [place for place, one in enumerate(several) if one.casefold() in _NO_NAME]
    kin = [place + 1 for place, one in enumerate(several) if _is_kin(one)]
    until = min([*stops, *kin[:1], len(several)])
    return [" ".join(several[:count]) for count in range(until, 0 if not kin else until - 1, -1)]


def _is_kin(word: str) -> bool:
    """Whether relations have a word for people of a kind: sisters, bosses, dogs."""
    return any(word.casefold() in one.means for one in _naming().values())


def _may_mean(row: FactRow, turn: Turn, noun: str) -> bool:
    """Whether a fact may tell whom a noun describes: its turn says the noun, or its relation is one of such people.

    "My younger brother" is not the one who was named as the older one.
    """
    if _folded_words(row.object) <= _folded_words(noun):  # "has pet: dog"
        return False
    relation = _naming().get(normalised(row.predicate))
    return _says(turn, noun) or (relation is not None and noun.casefold() in relation.means)


def _says(turn: Turn, noun: str) -> bool:
    return re.search(rf"\b{re.escape(noun)}\b", turn.text, re.IGNORECASE) is not None


def _is_said_as_name(name: str, turns: Sequence[Turn]) -> bool:
    """Whether some words are a name where they were said; what a user set is one by itself."""
    return any(_is_name(name, text) for text in ([turn.text for turn in turns] or [name]))


def _is_name(words: str, text: str) -> bool:
    """Whether words that stand in a text are a name: with capitals; one word without article, where it has none."""
    several = words.split()
    if _folded_words(words) & _NO_NAME:
        return False
    if text.islower():
        return words.isalpha() and not re.search(rf"\b(?:an?|the)\s+{re.escape(words)}\b", text)
    return 0 < len(several) <= LONGEST and all(one[:1].isupper() for one in several)


def _names_of(facts: Sequence[tuple[FactRow, list[Turn]]], of: Mapping[str, str], noun: str) -> list[str]:
    """The names of the subjects that a noun stands for."""
    return [
        row.object
        for row, turns in facts
        if of.get(folded(row.subject)) == noun and _is_said_as_name(row.object, turns)
    ]


def _with_one(noun: str, names: Iterable[str]) -> tuple[str, str] | None:
    name = _one(names)
    return None if name is None else (noun, name)


def _one(names: Iterable[str]) -> str | None:
    """The name, where all are one: "Martin" and "Martin Huber" are."""
    longest = max(names := list(names), key=len, default=None)
    return longest if longest and all(_folded_words(one) <= _folded_words(longest) for one in names) else None


def _around(text: str, name: str) -> str:
    """The sentences around a name."""
    start = max(text.casefold().find(name.casefold()), 0)
    return sentence_at(text, start, start + len(name), longest=AROUND)


def _folded_words(text: str) -> frozenset[str]:
    return frozenset(_WORD.findall(text.casefold()))
