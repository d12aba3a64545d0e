"""Who is meant: first person is the speaker, second the listener where there is one, third whom the talk was about."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass, field

from everwhen.write.extract.grammar.parsing import Parse, Word
from everwhen.write.extract.grammar.word_lists import FIRST, PEOPLE, PERSON_WORDS, SECOND, vocabulary
from everwhen.write.extract.rules.named_entities import cleaned

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
            text = self._told(word, subject)
            apart = before is not None and (
                word.start > before.end or (text != word.text and not text.startswith("'"))
            )
            out += (" " if apart else "") + text
        return _COMMAS.sub(",", " ".join(out.split())).strip(" ,;:-–—")

    def _told(self, word: Word, before: Word | None) -> str:
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
