"""What is printed is shown, never obeyed: remembered text may hold terminal commands."""

from __future__ import annotations

import unicodedata


def printable(text: str) -> str:
    """The text with control and direction characters made visible; line breaks and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(_visible(character) for character in text)


def _visible(character: str) -> str:
    if character in "\n\t" or unicodedata.category(character) not in ("Cc", "Cs"):
        return character if character not in _DIRECTIONS else f"\\u{ord(character):04x}"
    return f"\\x{ord(character):02x}"


# They reorder what follows on the line, a file name or a command as well.
_DIRECTIONS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
