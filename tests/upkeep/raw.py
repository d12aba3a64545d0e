"""Looking at the bytes under a home folder: what is left of words that should be gone."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from everwhen.store.base import Tokenizer, hash_term


def traces(home: Path, words: Iterable[str]) -> list[str]:
    """Where a word still stands under a folder, in any encoding, case or stem, or as a hashed term."""
    tokenizer = Tokenizer()
    wanted: dict[bytes, str] = {}
    for word in words:
        stems = set(tokenizer.counts([word])[0])
        for form in {word, word.lower(), word.upper(), word.title(), word.casefold(), *stems}:
            for encoding in ("utf-8", "utf-16-le", "utf-16-be"):
                wanted[form.encode(encoding)] = f"{form!r} in {encoding}"
        for stem in stems:
            wanted[hash_term(stem).to_bytes(8, "little")] = f"the hash of {stem!r}"
    found = []
    for path in sorted(home.rglob("*")):
        if path.is_file():
            content = path.read_bytes()
            found += [f"{path.name}: {what}" for mark, what in wanted.items() if mark in content]
    return found


def holds(home: Path, content: bytes) -> bool:
    return any(content in path.read_bytes() for path in home.rglob("*") if path.is_file())
