"""Files and commits are entities, each by its whole name."""

from __future__ import annotations

from pathlib import Path

import pytest

from everwhen import Memory


def named(home: Path, *said: str) -> dict[str, str]:
    """The entities of some turns that are files and commits, and which."""
    with Memory.open(home, "code", embedder="fake", reader="none") as memory:
        for text in said:
            memory.add({"name": "Ana", "content": text})
        memory.flush()
        return {one.name: one.type for one in memory.entities() if one.type in ("FILE", "COMMIT")}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("The cookie is signed in src/auth/session.ts.", {"src/auth/session.ts": "FILE"}),
        ("I moved `parse` from lexer.rs to parser.rs", {"lexer.rs": "FILE", "parser.rs": "FILE"}),
        ("Commit 7f3c9ae broke it; 91d02bb.", {"7f3c9ae": "COMMIT", "91d02bb": "COMMIT"}),
        ("We use Node.js, e.g. and/or a.b.c.d, and paid 1000000 for a defaced facade.", {}),
        ("Write to ana@mail.md or see https://example.org/a/b.py", {}),
        ("Look at this:\n```\nopen('secret/key.py')\n```", {}),
    ],
)
def test_paths_and_hashes_in_prose_are_entities(tmp_path: Path, text: str, found: dict[str, str]) -> None:
    assert named(tmp_path, text) == found


def test_files_that_differ_by_a_letter_are_two_and_the_same_one_is_one(tmp_path: Path) -> None:
    told = ("tests/test_a.py fails.", "tests/test_b.py passes.", "Now tests/test_a.py passes, too.")
    assert named(tmp_path, *told) == {"tests/test_a.py": "FILE", "tests/test_b.py": "FILE"}
