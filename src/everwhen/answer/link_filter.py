"""An answer is shown, not fetched: links and pictures that the memory does not hold word for word are taken out.

A text in the memory may talk a model into printing a picture whose address carries what the memory knows; whoever shows
the answer would then send it. So no picture and no HTML comes through, and an address only where it stands, letter by
letter, in a turn that was shown: such a one can carry nothing.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from html import unescape

REMOVED = "[link removed]"

_IMAGE = re.compile(r"!\[([^\]\n]*)\][ \t]*(?:\([^)\n]*\)?|\[[^\]\n]*\]?)")
_LINK = re.compile(r"\[([^\]\n]*)\]\([ \t]*<?([^)\s>]*)[^)\n]*\)?")
_DEFINITION = re.compile(r"^[ \t]*\[[^\]\n]+\]:.*$", re.MULTILINE)
_TAG = re.compile(r"<(?=[A-Za-z/!?])[^>\n]*>?")
# Browsers take "https:host" and "https:/host" for "https://host".
_ADDRESS = re.compile(
    r"(?:https?|ftp|wss?|javascript|data|vbscript|file|mailto|blob):\S+"
    r"|\b[a-z][a-z0-9+.-]{1,20}:\S*[/\\]{2}\S+|\bwww\.\S+|(?<![\w/])[/\\]{2}[\w-]+(?:\.[\w-]+)+\S*"
    r"|(?<=[(<\"'=])[/\\]{2}\S*",
    re.IGNORECASE,
)
_TRAILING = ".,;:!?'\")]}>*_"
_OPENERS = re.compile(r"!?\[|<")
_ROUNDS = 8
"""How often something may be written as an entity of an entity."""


def without_unknown_links(text: str, holds: Callable[[str], bool]) -> str:
    """The text without pictures and HTML, and with no address but those that `holds` says were in the memory."""
    for _ in range(_ROUNDS):  # what is taken out may leave its neighbours as something new
        cleaned = _ADDRESS.sub(lambda found: _address(found[0], holds), _without_marks(_seen(text), holds))
        if cleaned == text:
            break
        text = cleaned
    return text


def _without_marks(text: str, holds: Callable[[str], bool]) -> str:
    text = _DEFINITION.sub("", text)
    text = _IMAGE.sub(lambda found: found[1], text)
    text = _LINK.sub(lambda found: _told(found[1], found[2], holds), text)
    return _TAG.sub("", text).replace("](", "] (")  # whatever is left of a link is none


def showable_length(text: str) -> int:
    """Up to where a text that is still being written can be shown: what follows may yet become a link.

    That is its last word, and its last line from the first bracket on; nothing that matters goes past a line's end.
    """
    word = max(text.rfind(" "), text.rfind("\n")) + 1
    opened = _OPENERS.search(text, text.rfind("\n") + 1)
    return min(word, opened.start()) if opened else word


def _seen(text: str) -> str:
    """The text as a page would show it: entities as what they stand for, nothing that has no shape."""
    for _ in range(_ROUNDS):
        plain = unescape(text)
        if plain == text:
            break
        text = plain
    return "".join(
        letter
        for letter in text
        if letter in "\n\t\u200c\u200d" or unicodedata.category(letter) not in ("Cc", "Cf", "Co", "Cn", "Cs")
    )


def _told(words: str, target: str, holds: Callable[[str], bool]) -> str:
    if not target or _ADDRESS.fullmatch(target) is None:
        return words
    return f"{words} ({target})" if holds(target) else f"{words} {REMOVED}"


def _address(found: str, holds: Callable[[str], bool]) -> str:
    address = found.rstrip(_TRAILING)
    rest = found[len(address) :]
    return found if address and holds(address) else REMOVED + rest
