"""The named SQL statements."""

from __future__ import annotations

from collections import Counter

from everwhen.store.base import _HEADING
from everwhen.store.sqlite.connection import HERE


def test_no_two_statements_have_the_same_name() -> None:
    names = Counter(
        name for file in HERE.glob("*.sql") for name in _HEADING.findall(file.read_text(encoding="utf-8"))
    )
    assert [name for name, count in names.items() if count > 1] == []
