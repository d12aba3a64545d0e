"""What language models are told: one text file for each prompt, beside this one."""

from __future__ import annotations

from functools import lru_cache
from importlib.resources import files


@lru_cache(maxsize=32)
def load(name: str) -> str:
    """The prompt called `name`, without the newline at its end."""
    return files(__name__).joinpath(f"{name}.txt").read_text(encoding="utf-8").rstrip("\n")
