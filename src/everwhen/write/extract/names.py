"""Who and what a text names, and who is meant where it names nobody.

Names are runs of capitals that mean something, typed by what is said of them, or not at all. First person is the
speaker, second the listener where there is one, third whom the talk was about.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Sequence
from dataclasses import dataclass, field

from everwhen.types import Turn
from everwhen.write.entities import NICKNAMES, TITLES
from everwhen.write.extract.base import EntityType, ExtractedEntity
from everwhen.write.extract.grammar import (
    FILES,
    FIRST,
    MANNERS,
    PEOPLE,
    PERSON_WORDS,
    PETS,
    SECOND,
    THINGS,
    VAGUE,
    Parse,
    Word,
    spoken,
    vocabulary,
)

LABELS: dict[str, EntityType] = {
    "PERSON": "PERSON", "ORG": "ORGANIZATION", "GPE": "LOCATION", "LOC": "LOCATION", "FAC": "LOCATION",
    "PRODUCT": "PRODUCT", "WORK_OF_ART": "PRODUCT", "EVENT": "OTHER", "NORP": "OTHER", "LAW": "OTHER",
}  # fmt: skip
_SHAPE = re.compile(
    r"^(?:[A-ZÀ-Þ][\w'’.&-]*|of|the|and|de|da|do|la|le|van|von|der|den|del|di|&|\d{1,4})(?:\s|$)"
)
_OWNERS = re.compile(r"^(?:the|a|an|my|your|our|his|her|their)\s+", re.IGNORECASE)
_SOMEBODY = "somebody"
"""The label of who has a title, is somebody's cousin, or is greeted, thanked or wished well."""
_NO_NAMES = (
    MANNERS
    | PERSON_WORDS
    | {*TITLES}
    | vocabulary("lol omg lmao wtf idk imo tbh fyi btw asap pls haha yeah yes no ok okay oh god nothing")
)
_FILE = re.compile(rf"(?<![\w/.@:~-])(?:[\w.@-]+/)*[\w.-]*\w\.(?:{'|'.join(sorted(FILES))})(?![\w/-]|\.\w)")
_FRAMEWORK = re.compile(r"[A-Z]\w*\.js")
"""A product that is named like a file: Node.js."""
_COMMIT = re.compile(r"(?<![\w/.-])(?=[0-9a-f]*[0-9])(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![\w/-])")
_DWELL = vocabulary("live move travel fly drive arrive land grow")
_WORK = vocabulary("work intern start")
_MEET = vocabulary("meet call marry phone text email message hug thank invite tell ask date")


def entities(
    turn: Turn, parses: Sequence[Parse], dated: Sequence[Collection[int]] = ()
) -> list[ExtractedEntity]:
    """Who and what a turn names, the speaker first; `dated` are the places of the words of times in each parse."""
    found: dict[str, ExtractedEntity] = {}
    if turn.role not in ("tool", turn.speaker):
        found[turn.speaker.casefold()] = ExtractedEntity(turn.speaker, "PERSON", (turn.id,))
    small = turn.text == turn.text.lower()
    full: dict[str, tuple[int, int]] = {}  # where the full name of a person was said that has the word
    for number, parse in enumerate(parses):
        times = dated[number] if dated else ()
        for words, label in _spans(parse, times, small=small):
            name = cleaned(spoken(words), small=small)
            place = (number, words[0].sentence)
            if not name or full.get(name.casefold(), place) < place:
                continue  # "Priya Shah is new. Priya …" names her once
            said = "PERSON" if label == _SOMEBODY else _type_said(words)
            type_ = said or _labelled(words, label)
            if type_ == "PERSON" and len(words) > 1:
                full |= {word.lower: full.get(word.lower, place) for word in words}
            doubtful = (small and not said) or (words[0].pos == "NOUN" and not label)
            one = ExtractedEntity(name, type_, (turn.id,), tentative=doubtful, sure=bool(said))
            found.setdefault(name.casefold(), one)
        for file in _FILE.finditer(parse.text):
            if not _FRAMEWORK.fullmatch(file[0]):
                found[file[0].casefold()] = ExtractedEntity(file[0], "FILE", (turn.id,))
        for commit in _COMMIT.finditer(parse.text):
            found[commit[0].casefold()] = ExtractedEntity(commit[0], "COMMIT", (turn.id,))
        for name in _concepts(parse, times):
            found.setdefault(name, ExtractedEntity(name, "CONCEPT", (turn.id,), tentative=True))
    return list(found.values())


def _concepts(parse: Parse, dated: Collection[int]) -> list[str]:
    """What one can come back to without a name for it: "the budget migration", "juggling"."""
    found = []
    for word in parse.words:
        whole = [*(one for one in word.children if one.dep == "compound"), word]
        nouns = all(one.pos == "NOUN" and one.text.isalpha() and one.lemma not in VAGUE for one in whole)
        timed = any(one.i in dated for one in whole)
        if not nouns or timed or word.dep == "compound" or word.lemma in PERSON_WORDS:
            continue
        activity = word.lower.endswith("ing") and not word.children and word.dep in ("dobj", "nsubj", "pobj")
        if activity or (len(whole) in (2, 3) and word.i - whole[0].i == len(whole) - 1):
            found.append(spoken(whole).lower())
    return found


def cleaned(text: str, *, small: bool = False) -> str:
    """A name without article and possessive; '' where it is no name but a cry. `small` is chat without capitals."""
    text = _OWNERS.sub("", " ".join(text.split())).strip(" ,;:!?'\"’-–—()[]*#@")
    text = re.sub(r"['’]s$", "", text)
    words = text.split()
    if not words or len(words[-1]) > 2 or not words[-1].endswith("."):
        text = text.rstrip(".")  # but "Alice C."
    if not small and not (words and all(_SHAPE.match(word) for word in words) and text != text.lower()):
        return ""
    if all(word.casefold().strip(".") in _NO_NAMES for word in words):
        return ""
    shouted = len(words) == 1 and len(text) > 5 and text.isupper()
    return "" if len(text) < 2 or shouted or re.search(r"(.)\1\1", text.lower()) else text


def _spans(parse: Parse, dated: Collection[int], *, small: bool) -> list[tuple[tuple[Word, ...], str]]:
    """The names of a text with the parser's label, in its order; a label is '' where the parser gave none."""
    labels = {word.i: name for name in parse.names if name.label in LABELS for word in name.words}
    dates = {name.words[0].i for name in parse.names if name.label == "DATE" and len(name.words) == 1}
    found: list[tuple[tuple[Word, ...], str]] = []
    for sentence in parse.sentences:
        words = [word for word in sentence if word.text != "," and "." not in word.text.rstrip(".")]
        named = [word for word in words if (word.i in labels and not small) or _proper(word, small=small)]
        while named:
            name = labels.get(named[0].i)
            run = [named.pop(0)]
            while named and named[0].i == run[-1].i + 1 and labels.get(named[0].i) is name:
                run.append(named.pop(0))
            found += _kept(run, name.label if name is not None else "", sentence, {*dated, *dates})
    return found


def _proper(word: Word, *, small: bool) -> bool:
    """A word that is tagged as a name, or one in front that may be a name which the parser does not know."""
    if small:
        return word.pos == "PROPN" and word.text.isalpha() and len(word.text) > 2 and word.lower not in THINGS
    unknown = word.tag == "NN" and word.dep in ("nsubj", "nsubjpass") and not word.children
    return word.text[:1].isupper() and (word.pos == "PROPN" or (unknown and word.text.istitle()))


def _kept(
    run: list[Word], label: str, sentence: Sequence[Word], dated: Collection[int]
) -> list[tuple[tuple[Word, ...], str]]:
    """A run without the times at its ends and the greeting before it; nothing where its capitals mean nothing."""
    while run and (
        run[0].i in dated or run[0].pos == "INTJ" or (run[0] is sentence[0] and run[0].lower in MANNERS)
    ):
        run = run[1:]
    while run and run[-1].i in dated:
        run = run[:-1]
    if not run:
        return []
    around = {word.i: word for word in sentence}
    before, after = around.get(run[0].i - 1), around.get(run[-1].i + 1)
    if before is not None and before.lower.rstrip(".") in TITLES:
        return [((before, *run), _SOMEBODY)]
    if before is not None and before.lemma in PERSON_WORDS and before.lemma not in PETS:
        return [(tuple(run), _SOMEBODY)]
    if before is sentence[0] and before.lower in MANNERS:
        return [] if label in ("EVENT", "ORG") else [(tuple(run), _SOMEBODY)]
    if len(run) == 1 and _opens(run[0], sentence):
        acts = run[0].dep in ("nsubj", "nsubjpass", "compound", "poss")
        called = label or (acts and after is not None and after.text != ",")
        if run[0].lower.removesuffix("s") in THINGS or (before is None and not called):
            return []
    return [(tuple(run), label)]


def _opens(word: Word, sentence: Sequence[Word]) -> bool:
    """Whether a capital says nothing here: at the beginning, after a colon, and in a list that begins there."""
    before = next((one for one in sentence if one.i == word.i - 1), None)
    if before is None or before.text == ":":
        return True
    listed = next((one for one in sentence if one.i == word.i - 2 and one.text[:1].isupper()), None)
    return before.text == "," and listed is not None and _opens(listed, sentence)


def _type_said(words: Sequence[Word]) -> EntityType | None:
    """What the sentence says that it is; None where it does not."""
    head = _head_word(words)
    above = head.head
    verb = next((up for up in head.ancestors() if up.pos == "VERB"), above)
    if head.dep == "pobj" and len(words) == 1:
        if above.lower in ("in", "to", "from") and verb.lemma in _DWELL:
            return "LOCATION"
        return "ORGANIZATION" if above.lower in ("at", "for") and verb.lemma in _WORK else None
    met = head.dep in ("nsubj", "dobj", "dative") and above.lemma in _MEET
    theirs = (
        head.dep == "nsubj"
        and above.pos == "VERB"
        and any(one.lower in ("his", "her") for child in above.children for one in child.children)
    )
    return "PERSON" if met or theirs else None


def _labelled(words: Sequence[Word], label: str) -> EntityType:
    """The parser's label, where nothing in the sentence is against it."""
    type_ = LABELS.get(label, "OTHER")
    head = _head_word(words)
    if head.dep == "pobj" and head.head.lower in ("in", "near") and type_ in ("PERSON", "ORGANIZATION"):
        done = head.head.head.child("dobj") is not None  # "wrote it in Haskell"
        return "OTHER" if done else "LOCATION"
    if len(words) > 1 or words[0].lower in NICKNAMES:
        return "PERSON" if words[0].lower in NICKNAMES and head.dep == "nsubj" else type_
    acts = head.dep == "nsubj" and head.head.pos == "VERB" and head.head.lemma not in ("be", "'s")
    guessed = (acts and type_ != "PERSON") or (head.head is head and type_ == "PERSON")
    return "OTHER" if guessed else type_


def _head_word(words: Sequence[Word]) -> Word:
    return next((word for word in words if word.head not in words), words[-1])


_MINE = frozenset({"my", "our", "mine", "ours"})
_YOURS = frozenset({"your", "ur", "yours"})
GENDER = {"he": "he", "him": "he", "his": "he", "she": "she", "her": "she", "hers": "she"}
_ARTICLES = frozenset({"the", "a", "an", "this", "that", "these", "those", "some"})
_CUT = vocabulary("relcl advcl punct acl ccomp conj cc dep parataxis")
_COMMAS = re.compile(r"\s*,(?:\s*,)+")
_LONGEST = 10
_AGREES = {
    **dict.fromkeys(("am", "'m", "m", "are", "'re", "re"), "is"),
    **dict.fromkeys(("have", "'ve", "ve"), "has"),
    **{"do": "does", "'ll": "will", "'d": "would"},
}


@dataclass(slots=True)
class Referents:
    """The people that the talk was about in this turn and the one before it."""

    people: list[tuple[int, int, str, str]] = field(default_factory=list)
    """The turn, the place in it, the name, and the gender or ''."""

    def note(self, turn: int, place: int, name: str, gender: str) -> None:
        self.people = [one for one in self.people if one[0] >= turn - 1]
        self.people.append((turn, place, name, gender))

    def who(self, pronoun: str, turn: int, place: int, but: Sequence[str]) -> str | None:
        """The one person that the pronoun can mean, spoken of before it; None where there are two, or none."""
        near = [
            (at, name)
            for at, where, name, gender in self.people
            if (at == turn - 1 or (at == turn and where < place))
            and gender in ("", GENDER[pronoun])
            and name not in but
        ]
        here = {name for at, name in near if at == turn}
        names = here or {name for _, name in near}
        return next(iter(names)) if len(names) == 1 else None


@dataclass(slots=True)
class Coreference:
    """The speaker of a turn, the listener where there is exactly one, and whom "she" may mean."""

    speaker: str
    listener: str | None = None
    turn: int = 0
    offset: int = 0  # where the passage that is read stands in the turn
    referents: Referents = field(default_factory=Referents)

    def person(self, word: Word) -> str | None:
        """Whom a pronoun means; None where it is no pronoun, or nobody can tell."""
        if word.lower in FIRST:
            return self.speaker
        if word.lower in SECOND:
            return self.listener
        if word.pos == "PRON" and word.lower in GENDER and word.tag != "PRP$":
            return self.referents.who(
                word.lower, self.turn, self.offset + word.start, (self.speaker, self.listener or "")
            )
        return None

    def owner(self, word: Word) -> str | None:
        """Whose: "my" is the speaker's, "Mine" of a name nobody's."""
        if word.pos == "PROPN":
            return None
        if word.lower in _MINE:
            return possessive(self.speaker)
        if word.lower in _YOURS and self.listener:
            return possessive(self.listener)
        return None

    def phrase(self, head: Word, but: Container[int] = ()) -> str:
        """A noun phrase as it can be read alone: owners named, articles, relative clauses and the words at the
        places `but` left out."""
        meant = self.person(head)
        if meant is not None:
            return self._with_others(meant, head)
        words = [word for word in head.subtree(cut=_hangs_on) if word.pos != "SPACE" and word.i not in but]
        while words and words[-1].pos == "ADP":
            words = words[:-1]
        while words and words[0].lower in _ARTICLES and words[0] is not head:
            words = words[1:]
        return self._with_others(self.tell(words[:_LONGEST]), head)

    def _with_others(self, first: str, head: Word) -> str:
        """Names joined to the head: "Noor and I" are both meant."""
        for child in head.children:
            if child.dep == "conj" and child.pos in ("PROPN", "PRON", "NOUN"):
                return f"{first} and {self.phrase(child)}"
        return first

    def tell(self, words: Sequence[Word]) -> str:
        """Words as somebody else would tell them: "I've lost my keys" by Ana is "Ana has lost Ana's keys"."""
        out = ""
        for at, word in enumerate(words):
            before = words[at - 1] if at else None
            subject = next((one for one in reversed(words[:at]) if one.pos != "ADV"), None)  # "I only miss"
            text = self._retold(word, subject)
            apart = before is not None and (
                word.start > before.end or (text != word.text and not text.startswith("'"))
            )
            out += (" " if apart else "") + text
        return _COMMAS.sub(",", " ".join(out.split())).strip(" ,;:-–—")

    def _retold(self, word: Word, before: Word | None) -> str:
        if (owner := self.owner(word)) is not None:
            return owner
        if word.lower == "us" and word.head.lower == "of":
            return "them"  # "the two of us" is more than the speaker
        if word.pos in ("PRON", "NOUN", "PROPN", "X") and (meant := self.person(word)) is not None:
            return meant
        if word.lower == "s" and before is not None and before.end == word.start and before.lower in GENDER:
            return "is"  # "hes gonna quit", written without its apostrophe
        if before is None or before.lower not in ("i", "im", "we", "you", "u") or before.dep == "conj":
            return word.text  # "Rui and I drive"
        agrees = self.person(before) is not None
        if agrees and word.tag == "VBP" and word.pos == "VERB" and word.lower not in _AGREES:
            return third_person(word.text)
        return _AGREES.get(word.lower, word.text) if agrees else word.text


def possessive(name: str) -> str:
    return f"{name}'s"


def third_person(verb: str) -> str:
    """ "take" -> "takes"."""
    if verb.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{verb}es"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ies"
    return f"{verb}s"


def gender_of(head: Word) -> str:
    """ "she" for a sister, "he" for a brother, "" where the word does not say."""
    lemma = head.lemma.lower()
    return "she" if lemma in PEOPLE["she"] else "he" if lemma in PEOPLE["he"] else ""


def people_in(parse: Parse, coref: Coreference) -> list[tuple[Word, str, str]]:
    """The people that a text speaks of, in its order: the head word, the name, the gender where it is said."""
    found: dict[int, tuple[Word, str, str]] = {}
    for name in parse.names:
        if name.label == "PERSON" and cleaned(name.text):
            head = next((word for word in name.words if word.head not in name.words), name.words[-1])
            found[head.i] = (head, cleaned(name.text), "")
    for word in parse.words:
        if word.pos not in ("NOUN", "PROPN") or word.lemma not in PERSON_WORDS or word.tag == "NNS":
            continue
        named = next((child for child in word.children if child.dep == "appos" and child.i in found), None)
        if word.dep == "compound" and word.head.pos == "PROPN":
            named = word.head  # "my sister Eva", whatever the parser makes of Eva
            found.setdefault(named.i, (named, named.text, ""))
        if named is not None:  # "my cousin Ada" is one person
            found[named.i] = (named, found[named.i][1], gender_of(word))
            continue
        owned = any(child.dep == "poss" for child in word.children)
        if (owned or word.dep in ("nsubj", "nsubjpass")) and not any(
            child.i in found for child in word.children
        ):
            found[word.i] = (word, coref.phrase(word), gender_of(word))
    return [found[place] for place in sorted(found)]


def _hangs_on(word: Word) -> bool:
    """Whether a word below a noun begins a clause or a list that hangs on the phrase."""
    joint = word.text in "/-" and word.dep == "punct"
    return (word.dep in _CUT and not joint) or (word.dep == "appos" and abs(word.i - word.head.i) > 2)
