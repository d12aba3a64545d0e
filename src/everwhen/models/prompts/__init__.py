"""What language models are told: one text file for each prompt, beside this one."""

from __future__ import annotations

import json
from functools import lru_cache
from importlib.resources import files
from pathlib import Path
from typing import Any

# A text can neither close a frame nor open another: JSON writes these as escapes and reads them as themselves.
_FRAME = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


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
    """A value as one line of JSON inside the frame of a prompt; lone surrogates cannot be sent."""
    plain = json.dumps(value, ensure_ascii=False).translate(_FRAME)
    return plain.encode("utf-8", "replace").decode()
