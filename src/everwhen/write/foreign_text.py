"""Text in a message that its speaker did not write: output of machines, what is passed on, memories given back.

Tool output and fenced code are searched, but bounded, and never read for facts. A quoted block, an e-mail or a text
to translate is passed on: what it says is nobody's word here. And what a recall put into a prompt is not remembered
again when it comes back in a conversation (an echo). It is recognised by its frame (`<memories>…</memories>`, as
`Recall.to_openai` writes it, or the JSON of the MCP tools) and by its words: what an assistant, a tool or a system
message repeats of a memory that was just given back is cut out, sentence by sentence; what is new in the same message
stays. A user's own words stay whatever they repeat, because saying something again confirms it; only what a user
pasted (a quotation, code, lines of a prompt) is looked at.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import lru_cache
from itertools import groupby
from typing import Any, TypeAlias

from everwhen.settings import ECHO_WORDS
from everwhen.types import Message, Turn
from everwhen.types.recall import WEEKDAYS
from everwhen.types.turns import message as as_message
from everwhen_time.interval import MONTHS
from everwhen_time.sentences import pieces

LONGEST = 2_000
"""Characters of one tool's output, or of one block of code, that importers keep: its beginning and its end, where
commands say what they did and what went wrong. A number of its own, and no setting: an import that is done again must
find the same text."""

FENCED = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)


def bounded(message: Message) -> Message:
    """A message whose tool output, or whose blocks of code, are no longer than they may be."""
    if message.role == "tool":
        text = shortened(message.text)
    else:
        text = FENCED.sub(lambda block: shortened(block[0]), message.text)
    return message if text == message.text else replace(message, text=text)


def shortened(text: str) -> str:
    """The beginning and the end of a long text, and between them how much is missing."""
    if len(text) <= LONGEST:
        return text
    half = LONGEST // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters left out …]\n{text[-half:]}"


def prose(turn: Turn) -> Turn:
    """A turn as an extractor reads it: without code, and empty where a tool speaks.

    Code is blanked and not removed, so that places in the text stay what they are.
    """
    text = "" if turn.role == "tool" else FENCED.sub(_blank, turn.text)
    return turn if text == turn.text else replace(turn, text=text)


def _blank(block: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", block[0])


_BLOCK = re.compile(r"^[ \t]*>.*$", re.MULTILINE)
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]{2,4000})[\"”»]")
_FORWARDED = re.compile(
    r"^[ \t*>-]*(?:(?:from|sent|subject|von|betreff|de|objet|assunto|asunto|oggetto)[ \t*]*:[ \t*]*\S"
    r"|-{2,}[ \t]*(?:original|forwarded)\b|begin forwarded message|on\b.{4,120}\bwrote:[ \t]*$)[\s\S]*",
    re.IGNORECASE | re.MULTILINE,
)
"""From the head of an e-mail to the end."""
_TO_WORK_ON = re.compile(
    r"(?<!let me )(?<!['’]ll )\b(?:(?:translate|summari[sz]e|proof-?read|re-?write|re-?phrase|re-?word|paraphrase|"
    r"übersetze?|traduz|traduzir|traduce|traducir|traduis|traduire|traduci|tradurre|vertaal)\b"
    r"|(?:shorten|polish|edit|correct|improve|fix|reply|respond|answer|analy[sz]e|explain|check)\b"
    r"[^\n.!?:]{0,60}\b(?:e-?mail|mail|message|text|paragraph|letter|sentence|article|note|post|passage|document|following|below)s?\b)"
    r"[^\n.!?:]{0,120}[.?!]?(?::|[ \t]*\n)([\s\S]+)",
    re.IGNORECASE,
)
"""What follows a request to do something with a text."""
LOOKED = 20_000
"""Characters of a turn in which such a text may begin."""
SAYING = 3
"""Words that a quotation has beside a value, so that it says something of it: a title in quotation marks does not."""


@lru_cache(maxsize=64)  # a turn states several facts
def passed_on(text: str) -> list[tuple[int, int]]:
    """Where a turn has somebody else's text."""
    looked = text[:LOOKED]
    found = [match.span() for pattern in (_BLOCK, _FORWARDED) for match in pattern.finditer(looked)]
    found += [match.span(1) for pattern in (_QUOTED, _TO_WORK_ON) for match in pattern.finditer(looked)]
    return sorted((start, len(text) if end == LOOKED else end) for start, end in found)


def is_passed_on(text: str, value: str) -> bool:
    """Whether a turn has a value only in a text that is passed on; where the words are others, whether most of the turn
    is such a text."""
    spans = passed_on(text)
    if not spans:
        return False
    said = re.escape(value)
    places = [match.span() for match in re.finditer(rf"(?<!\w){said}(?!\w)", text, re.IGNORECASE)]
    if not places:
        end = inside = 0
        for first, last in spans:
            inside, end = inside + max(0, last - max(first, end)), max(end, last)
        return 2 * inside > len(text)
    return all(
        any(
            start <= first
            and last <= end
            and len(text[start:end].split()) >= len(text[first:last].split()) + SAYING
            for start, end in spans
        )
        for first, last in places
    )


SHORTEST = 4
"""Words of a whole sentence that is a part of a memory: fewer are in anybody's mouth."""
LETTERS = 3
"""Letters for each word that a run must have: scripts that put no space between words have one sign a word here."""
FRAME_WORDS = 3
"""Words beside a repeated run that only lead in to it ("You told me"): the sentence goes with the run."""
MOST_TEXTS = 1024
"""Memories that are held against what is said; of more, the older half is given up."""
LEFT_OUT = "[…]"

Words: TypeAlias = tuple[str, ...]

_PREAMBLE = r"(?:^Today is [\d-]{10} \w+\.\s*)?^[^\n<>]{0,200}\bdata, not instructions\.\s*"
"""The sentence in front of every frame, and the day where it is given."""
_FRAME = re.compile(
    # One that never ends was cut off: then only that sentence shows that it is a frame.
    rf"(?:{_PREAMBLE})?<memories\b[^<>]*>(?P<inside>.*?)</memories\s*>|{_PREAMBLE}<memories\b[^<>]*>(?P<cut>.*)\Z",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_DAY = re.compile(
    rf"^[>\s]*(?:\d{{1,2}} (?:{'|'.join(MONTHS)}) \d{{4}}|# \d{{4}}-\d\d-\d\d) (?:{'|'.join(WEEKDAYS)})\s*$"
)
"""The date above the memories of a day, as it is written now and as it once was."""
_ITEM = re.compile(r"^\s*(?:(?:[>*•-]|\d{1,3}[.)])\s+)*")
_SPOKEN = re.compile(r"^[\s>*•-]*[^\n:]{1,64}:\s+(?=\S)")
"""`speaker: ` in front of a line of a prompt."""
_DATED = re.compile(r" \([^()\n]*\b\d{4}\)")
"""A date behind words that are counted from a day, as a prompt has it: "last week (3 to 9 March 2025)"."""
_CODE = re.compile(r"^\s*(?:```|~~~)")
_WORD = re.compile(
    r"\[…\]|[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]|[^\W_\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]+(?:['’][^\W_]+)*"
)
# Who speaks changes when a memory is retold to the one whom it is about: "I moved with my dog", "You moved with your".
_PERSON = {
    word: one
    for one, words in {
        "·": "i you we he she they me him her us them",
        "·s": "my your our his their mine yours ours hers theirs",
        "be": "am are is",
        "were": "was were",
        "have": "have has",
        "· be": "i'm you're we're they're he's she's",
        "· have": "i've you've we've they've",
        "· will": "i'll you'll we'll they'll he'll she'll",
        "· would": "i'd you'd we'd they'd he'd she'd",
    }.items()
    for word in words.split()
}


def without_echo(
    messages: Iterable[str | Mapping[str, Any] | Message],
    recent_texts: Iterable[str] = (),
    *,
    words: int = ECHO_WORDS,
) -> list[Message]:
    """Messages as `add` takes them, without what repeats `recent_texts`, the memories that were given back last.

    A message of which nothing is left is left out. Memories that stand in the messages themselves, in a frame, count as
    given back for those that follow. `words` is how many in a row make a repetition; 0 lets everything through.
    """
    echoes = Echoes(words)
    echoes.give_back(recent_texts)
    kept = (echoes.cut(as_message(one)) for one in messages)
    return [one for one in kept if one is not None]


def given_back(text: str) -> list[str]:
    """The memories that stand in a text in a frame of a prompt, or as a tool's answer in JSON."""
    framed = [
        line
        for frame in _FRAME.finditer(text)
        for line in (frame["inside"] or frame["cut"] or "").splitlines()
    ]
    return [line for line in framed if line.strip() and not _DAY.match(line)] or list(_in_json(text))


class Echoes:
    """Cuts out of one conversation after the other message what repeats the memories given back in it."""

    def __init__(self, words: int = ECHO_WORDS) -> None:
        self.words = words
        self._texts: dict[str, None] = {}
        self._runs: set[Words] = set()
        self._sentences: set[Words] = set()

    def give_back(self, texts: Iterable[str]) -> None:
        """Note memories that were put into the prompt, as texts or as lines of a rendered context."""
        if not self.words:
            return
        for text in texts:
            if text not in self._texts:
                self._texts[text] = None
                self._index(text)
        if len(self._texts) > MOST_TEXTS:
            self._texts = dict.fromkeys(list(self._texts)[-MOST_TEXTS // 2 :])
            self._runs, self._sentences = set(), set()
            for text in self._texts:
                self._index(text)

    def cut(self, message: Message) -> Message | None:
        """The message without what it repeats; None where nothing is left of it, itself where nothing is repeated."""
        if not self.words:
            return message
        text = message.text
        if message.role != "user" and (shown := list(_in_json(text))):
            self.give_back(shown)
            return None
        if _FRAME.search(text):
            self.give_back(given_back(text))
            text = _FRAME.sub("", text)
        if self._sentences or self._runs:
            text = self._pasted_cut(text) if message.role == "user" else self._all_cut(text)
        if text == message.text:
            return message
        text = re.sub(r"\n{3,}", "\n\n", text).strip()
        # Again, since lines may stand together now that did not.
        return self.cut(replace(message, text=text)) if re.search(r"\w", text) else None

    def repeats(self, text: str) -> bool:
        """Whether nothing of a text is new."""
        return not re.search(r"\w", self._all_cut(text)) and bool(re.search(r"\w", text))

    def _index(self, text: str) -> None:
        bare = _SPOKEN.sub("", text)
        for memory in {text, bare, _DATED.sub("", text), _DATED.sub("", bare)}:
            said = [word for word, _, _ in _compared_words(memory)]
            for size in range(SHORTEST, self.words + 1):
                runs = (tuple(said[n : n + size]) for n in range(len(said) - size + 1))
                self._runs.update(run for run in runs if LEFT_OUT not in run)
            for start, end in (*pieces(memory, 0), (0, len(memory))):
                sentence = tuple(word for word, _, _ in _compared_words(memory[start:end]))
                if len(sentence) >= min(SHORTEST - 1, self.words):
                    self._sentences.add(sentence)

    def _all_cut(self, text: str) -> str:
        """Every sentence cut; the date lines of a prompt go with what stood under them."""
        kept = [self._piece_cut(piece) for piece in _sentences(text)]
        if (whole := "".join(kept)) == text:
            return text
        return "".join(one for one in whole.splitlines(keepends=True) if not _DAY.match(one))

    def _pasted_cut(self, text: str) -> str:
        """The blocks that a user pasted cut: quotations, code, and lines of a prompt under their date or speaker."""
        kept: list[str] = []
        lines = text.splitlines(keepends=True)
        spoken = [bool(_SPOKEN.match(line)) and self.repeats(line) for line in lines]
        code = day = False
        for number, line in enumerate(lines):
            if _DAY.match(line):
                day = any(spoken[number + 1 : number + 2])
                kept += [] if day else [line]
                continue
            day = day and bool(line.strip())
            code ^= bool(_CODE.match(line))
            several = spoken[number] and sum(spoken[max(0, number - 1) : number + 2]) > 1
            quoted = line.lstrip().startswith(">")
            kept.append(self._all_cut(line) if code or day or quoted or several else line)
        return "".join(kept)

    def _piece_cut(self, piece: str) -> str:
        """A sentence without the runs of words that it repeats; nothing where too little else is in it."""
        said = _compared_words(piece)
        alone = [word for word, _, _ in said]
        rest = _SPOKEN.sub("", _ITEM.sub("", piece))
        bare = alone if len(rest) == len(piece) else [word for word, _, _ in _compared_words(rest)]
        if tuple(alone) in self._sentences or tuple(bare) in self._sentences or self._is_part(bare):
            return ""
        covered = self._covered(alone)
        if not any(covered):
            return piece
        new = [word for word, old in zip(alone, covered, strict=True) if not old and word != LEFT_OUT]
        if len(new) <= FRAME_WORDS and not any(letter.isdigit() for word in new for letter in word):
            return ""
        gaps = [(start, end) for (_, start, end), old in zip(said, covered, strict=True) if old]
        return _with_gaps(piece, gaps)

    def _covered(self, said: list[str]) -> list[bool]:
        """Which words stand in runs that are repeated; of runs that overlap, one must be long enough."""
        size = self.words
        windows = [tuple(said[start : start + size]) for start in range(len(said) - size + 1)]
        covered = [False] * len(said)
        for repeated, group in groupby(enumerate(windows), lambda one: one[1] in self._runs):
            found = list(group)
            if repeated and any(_is_long(run) for _, run in found):
                start, end = found[0][0], found[-1][0] + size
                covered[start:end] = [True] * (end - start)
        return covered

    def _is_part(self, said: list[str]) -> bool:
        return SHORTEST <= len(said) <= self.words and tuple(said) in self._runs and _is_long(tuple(said))


def _sentences(text: str) -> Iterator[str]:
    """The sentences of a text, with the spaces behind them; the number of a list's item stays with its sentence."""
    begun = ""
    for start, end in pieces(text, 0):
        begun += text[start:end]
        if re.search(r"[^\W\d_]", begun):
            yield begun
            begun = ""
    yield begun


def _compared_words(text: str) -> list[tuple[str, int, int]]:
    """The words of a text as they are compared, each with its place; a word may stand for two ("I'm")."""
    found: list[tuple[str, int, int]] = []
    for match in _WORD.finditer(text):
        word = match[0].casefold().replace("’", "'")
        found += [(part, match.start(), match.end()) for part in _PERSON.get(word, word).split()]
    return found


def _is_long(run: Words) -> bool:
    return sum(map(len, run)) >= LETTERS * len(run)


def _with_gaps(piece: str, covered: list[tuple[int, int]]) -> str:
    """The piece with one mark for each run of covered words."""
    out: list[str] = []
    at = 0
    for start, end in covered:
        between = piece[at:start]
        if not out or re.search(r"\w", between):
            out += [between, LEFT_OUT]
        at = max(at, end)
    return "".join(out) + piece[at:]


def _in_json(text: str) -> Iterator[str]:
    """The words of memories in an answer of the MCP tools: objects that say what was said, and when."""
    if '"said_at"' not in text or not text.lstrip().startswith(("{", "[")):
        return
    try:
        level = [json.loads(text)]
    except (ValueError, RecursionError):
        return
    while level:
        one = level.pop()
        if isinstance(one, Mapping):
            said = one.get("text", one.get("quote"))
            if "said_at" in one and isinstance(said, str):
                yield said
            level += one.values()
        elif isinstance(one, list):
            level += one
