"""What machines wrote into a conversation, tool output and fenced code: searched, bounded, never read for facts."""

from __future__ import annotations

import re
from dataclasses import replace

from everwhen.types import Message, Turn

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
