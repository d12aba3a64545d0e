"""What language models are told: one text file for each prompt, beside this one."""

from __future__ import annotations

import json
import re
import unicodedata
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

# JSON writes these as escapes and reads them as themselves.
_FRAME = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})
_UNSEEN = ("Cf", "Cc", "Co", "Cn", "Zl", "Zp")
_JOINERS = "\u200c\u200d"  # Persian and emoji need them
_CONTROL_TOKEN = re.compile(r"\[(?=/?(?:INST|SYSTEM_PROMPT|TOOL_CALLS|TOOL_RESULTS|AVAILABLE_TOOLS)\])")


@lru_cache(maxsize=32)
def _read(name: str, folder: Path | None) -> str:
    own = folder / f"{name}.txt" if folder else None
    text = own if own is not None and own.is_file() else files(__name__).joinpath(f"{name}.txt")
    return text.read_text(encoding="utf-8").rstrip("\n")


def load(name: str, llm: object = None) -> str:
    """The prompt called `name` for a model, without the newline at its end: that of the folder which it was opened with
    (setting `prompts`), where that has one, else ours."""
    return _read(name, getattr(llm, "prompts", None))


def as_data(value: Any) -> str:
    """A value as one line of JSON inside the frame of a prompt."""
    return in_frame(json.dumps(value, ensure_ascii=False))


def in_frame(plain: str) -> str:
    """JSON whose texts can end neither their line nor the frame, and open none.

    Characters that would be read and not seen are written out; the marks that servers read as control tokens are taken
    apart; lone surrogates cannot be sent.
    """
    plain = _CONTROL_TOKEN.sub(r"\\u005b", plain.translate(_FRAME))
    return "".join(_visible(letter) for letter in plain).encode("utf-8", "replace").decode()


def _visible(letter: str) -> str:
    """A character that has no shape of its own (direction marks, tags, zero width) as its code."""
    if letter.isascii() or letter in _JOINERS or unicodedata.category(letter) not in _UNSEEN:
        return letter
    return json.dumps(letter)[1:-1]
