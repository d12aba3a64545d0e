"""Names in a text: the parser's named entities, cleaned of chat, and the proper nouns that it missed."""

from __future__ import annotations

import re

from everwhen.ingest.extract.base import EntityType, ExtractedEntity
from everwhen.ingest.extract.rules.parsing import Name, Parse, Word
from everwhen.ingest.extract.rules.wordlist import vocabulary
from everwhen.types import Turn

TYPES: dict[str, EntityType] = {
    "PERSON": "PERSON",
    "ORG": "ORGANIZATION",
    "GPE": "LOCATION",
    "LOC": "LOCATION",
    "FAC": "LOCATION",
    "PRODUCT": "PRODUCT",
    "WORK_OF_ART": "PRODUCT",
    "EVENT": "OTHER",
    "NORP": "OTHER",
    "LAW": "OTHER",
}
_SHAPE = re.compile(
    r"^(?:[A-ZÀ-Þ][\w'’.&-]*|of|the|and|de|da|do|la|le|van|von|der|den|del|di|&|\d{1,4})(?:\s|$)"
)
_CHAT = vocabulary(
    """
    lol omg wow aww awww haha hahaha yay yeah yep nope hey hi hello thanks thx congrats sure ok okay btw
    idk imo tbh lmao wtf fyi ugh oh ah hmm yes no good great nice happy cool awesome amazing monday
    tuesday wednesday thursday friday saturday sunday january february march april may june july august
    september october november december christmas easter halloween todo asap pls please sorry kudos
    woohoo yup dude bro mate damn god gosh mom mum dad mama papa grandma grandpa ma'am sir dr mr mrs ms
    merry i it's
    """
)
_TITLES = re.compile(r"^(?:the|a|an|my|your|our|his|her|their)\s+", re.IGNORECASE)
_LONGEST = 6


def entities(turn: Turn, parses: list[Parse]) -> list[ExtractedEntity]:
    """Who and what a turn names, the speaker first."""
    found: dict[str, ExtractedEntity] = {}

    def add(name: str, type_: EntityType) -> None:
        found.setdefault(name.casefold(), ExtractedEntity(name, type_, (turn.id,)))

    if turn.role not in ("tool", turn.speaker):
        add(turn.speaker, "PERSON")
    for parse in parses:
        covered: set[int] = set()
        for name in parse.names:
            type_ = _type(name)
            text = cleaned(name.text)
            if type_ is not None and text and len(text.split()) <= _LONGEST:
                add(text, type_)
                covered.update(word.i for word in name.words)
        for words in _runs(parse, covered):
            text = cleaned(" ".join(word.text for word in words))
            if text:
                add(text, "OTHER")
    return list(found.values())


def _type(name: Name) -> EntityType | None:
    """The parser's label, unless the words around it know better: what things happen in is a place."""
    type_ = TYPES.get(name.label)
    head = next((word for word in name.words if word.head not in name.words), name.words[-1])
    if type_ in ("PERSON", "ORGANIZATION") and head.dep == "pobj" and head.head.lower in ("in", "near"):
        return "LOCATION"
    return type_


def cleaned(text: str) -> str:
    """A name without article and possessive; '' where it is no name but a cry."""
    text = _TITLES.sub("", " ".join(text.split())).strip(" .,;:!?'\"’-–—()[]*#@")
    text = re.sub(r"['’]s$", "", text)
    words = text.split()
    if (
        not words
        or not all(_SHAPE.match(word) for word in words)
        or not any(word[0].isupper() for word in words)
    ):
        return ""
    if all(word.casefold().strip(".") in _CHAT for word in words):
        return ""
    shouted = len(words) == 1 and len(text) > 5 and text.isupper()
    return "" if len(text) < 2 or shouted or re.search(r"(.)\1\1", text.lower()) else text


def _runs(parse: Parse, covered: set[int]) -> list[list[Word]]:
    """Proper nouns in a row, written with capitals inside a sentence, that the parser gave no label."""
    runs: list[list[Word]] = []
    for sentence in parse.sentences:
        run: list[Word] = []
        for place, word in enumerate(sentence):
            proper = word.pos == "PROPN" and word.text[:1].isupper() and word.i not in covered
            if proper and (place > 0 or word.dep in ("nsubj", "compound", "poss")):
                run.append(word)
                continue
            runs, run = ([*runs, run], []) if run else (runs, run)
        if run:
            runs.append(run)
    return runs
