"""Lists of words that are kept as data, in TOML files beside the modules that use them."""

from __future__ import annotations

import tomllib
from functools import cache
from pathlib import Path
from typing import Any


@cache
def word_table(file: Path) -> dict[str, Any]:
    """What a data file says."""
    return tomllib.loads(file.read_text("utf-8"))


def english_words(section: str) -> dict[str, frozenset[str]]:
    """The lists of one section of `words.toml`, each as a set."""
    lists = word_table(Path(__file__).with_name("words.toml"))[section]
    return {name: frozenset(text.split()) for name, text in lists.items()}
