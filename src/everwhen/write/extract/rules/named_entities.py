"""Who and what a text names: runs of capitals that mean something, typed by what is said of them, or not at all."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from everwhen.types import Turn
from everwhen.write.entity_resolution import TITLES
from everwhen.write.extract.base import EntityType, ExtractedEntity
from everwhen.write.extract.grammar.parsing import Parse, Word, spoken
from everwhen.write.extract.grammar.word_lists import (
    FILES,
    MANNERS,
    PERSON_WORDS,
    PETS,
    THINGS,
    VAGUE,
    vocabulary,
)
from everwhen.write.nicknames import NICKNAMES

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
            told = "PERSON" if label == _SOMEBODY else _told(words)
            type_ = told or _labelled(words, label)
            if type_ == "PERSON" and len(words) > 1:
                full |= {word.lower: full.get(word.lower, place) for word in words}
            doubtful = (small and not told) or (words[0].pos == "NOUN" and not label)
            one = ExtractedEntity(name, type_, (turn.id,), tentative=doubtful, sure=bool(told))
            found.setdefault(name.casefold(), one)
        for name, kind in _in_code(parse.text):
            found[name.casefold()] = ExtractedEntity(name, kind, (turn.id,))
        for name in _concepts(parse, times):
            found.setdefault(name, ExtractedEntity(name, "CONCEPT", (turn.id,), tentative=True))
    return list(found.values())


def _in_code(text: str) -> Iterator[tuple[str, EntityType]]:
    """The files and commits that a text names: `src/auth/session.ts`, `7f3c9ae`."""
    for file in _FILE.finditer(text):
        if not _FRAMEWORK.fullmatch(file[0]):
            yield file[0], "FILE"
    for commit in _COMMIT.finditer(text):
        yield commit[0], "COMMIT"


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


def _told(words: Sequence[Word]) -> EntityType | None:
    """What the sentence says that it is; None where it does not."""
    head = _head(words)
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
    head = _head(words)
    if head.dep == "pobj" and head.head.lower in ("in", "near") and type_ in ("PERSON", "ORGANIZATION"):
        done = head.head.head.child("dobj") is not None  # "wrote it in Haskell"
        return "OTHER" if done else "LOCATION"
    if len(words) > 1 or words[0].lower in NICKNAMES:
        return "PERSON" if words[0].lower in NICKNAMES and head.dep == "nsubj" else type_
    acts = head.dep == "nsubj" and head.head.pos == "VERB" and head.head.lemma not in ("be", "'s")
    guessed = (acts and type_ != "PERSON") or (head.head is head and type_ == "PERSON")
    return "OTHER" if guessed else type_


def _head(words: Sequence[Word]) -> Word:
    return next((word for word in words if word.head not in words), words[-1])
