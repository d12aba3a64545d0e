"""From a turn's text to passages of prose: code, traces, captions and quotations are somebody else's words.

What is removed is blanked, so that places in a passage are places in the turn.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace

from everwhen.write.machine_text import FENCED

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


def passages(text: str) -> list[ProseLine]:
    for pattern in (FENCED, _CAPTION, _LINK):
        text = pattern.sub(_blank, text)
    found: list[ProseLine] = []
    header, place, tracing = "", 0, False
    for line in text.splitlines(keepends=True):
        start, place = place, place + len(line)
        bare = line.strip()
        if not bare:
            header, tracing = ("" if not header.rstrip().endswith(":") else header), False
            continue
        if _TRACE_START.match(line):
            tracing = True
            continue
        if tracing:
            # A trace goes on while it is indented, and ends with the line that names the error.
            tracing = line[0] in " \t"
            continue
        if bare.startswith(">") or _MACHINE.match(line) or _is_symbols(bare):
            continue
        item = _ITEM.match(line)
        cleaned = _clean(line if item is None else " " * item.end() + line[item.end() :])
        if item is None:
            header = cleaned.strip()
        elif found and not found[-1].item and found[-1].text.strip() == header:
            found[-1] = replace(found[-1], heads=True)
        quotes = tuple(match.span() for match in _QUOTED.finditer(cleaned))
        found.append(ProseLine(cleaned, start, header if item else "", item is not None, quotes=quotes))
    return found


def _clean(line: str) -> str:
    line = _MARKUP.sub(_blank, line.rstrip("\r\n"))
    line = _LISTING.sub(lambda match: match[1] + " " * (len(match[0]) - len(match[1])), line)
    line = _FILLER.sub(_blank, line)
    return _EMOJI.sub(_stopped, line).replace("’", "'")


def _stopped(match: re.Match[str]) -> str:
    """An emoji ends a sentence, unless something has ended it already."""
    place = match.start() - 1
    while place >= 0 and match.string[place].isspace():
        place -= 1
    stop = "." if place >= 0 and match.string[place] not in ".!?,;:-–—" else " "
    return stop + " " * (len(match[0]) - 1)


def _blank(match: re.Match[str]) -> str:
    return re.sub(r"[^\n]", " ", match[0])


def _is_symbols(line: str) -> bool:
    """Whether a line is more signs than letters, as code, tables and hashes are; or has no Latin letter."""
    letters = len(_LETTER.findall(line))
    return not _LATIN.search(line) or letters < 0.4 * len(line.replace(" ", ""))
