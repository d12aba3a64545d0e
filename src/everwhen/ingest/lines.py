"""A turn as one line of a context: what its token count counts, and what a prompt is given."""

from __future__ import annotations

import re

_CLOSING = re.compile(r"<(?=/\s*memories)", re.IGNORECASE)


SUMMARY = "Summary"
"""Who speaks in a node of the tree."""


def line(speaker: str, text: str) -> str:
    """`speaker: text` and the end of the line.

    What is remembered is data, whatever it says: further lines of a text are indented, so that none of them
    can pass for another speaker's or for a date, and it cannot close the frame that it stands in.
    """
    inside = _CLOSING.sub("‹", text.strip()).replace("\n", "\n  ")
    return f"{' '.join(speaker.split())}: {inside}\n"
