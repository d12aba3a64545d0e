"""docs/time.md is executed: every row of its tables, and the rule that a newcomer adds."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from everwhen_bench.timex import days
from everwhen_time import Interval, resolve

PAGE = Path(__file__).parents[2] / "docs" / "time.md"
NOW = datetime(2023, 5, 10, 12, tzinfo=UTC)


def rows(heading: str) -> list[list[str]]:
    """The cells of the table under a heading."""
    section = PAGE.read_text(encoding="utf-8").split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def convention_rows() -> list[tuple[str, str]]:
    return [
        (expression.strip(), interval)
        for expressions, interval, *_ in rows("Conventions")
        for expression in expressions.split(";")
    ]


def language_rows() -> list[tuple[str, str, str]]:
    """Sentences in other languages: those of the page, and those that a newcomer's language begins with."""
    kept = (Path(__file__).parent / "other_languages.tsv").read_text(encoding="utf-8")
    lines = [line.split("\t") for line in kept.splitlines()]
    shown = [row for row in rows("Other languages") if row not in lines]
    return [(code, text, wanted) for code, text, wanted in lines + shown]


def _written(interval: Interval, clock: bool) -> str:
    if not clock:
        return "/".join(side or ".." for side in days(interval))
    sides = (interval.start, interval.end)
    return "/".join(".." if side is None else side.strftime("%Y-%m-%dT%H:%M") for side in sides)


@pytest.mark.parametrize(
    ("expression", "wanted"), convention_rows(), ids=[expression for expression, _ in convention_rows()]
)
def test_a_row_of_the_conventions_holds(expression: str, wanted: str) -> None:
    found = [ref.interval for ref in resolve(expression, NOW) if ref.interval]
    if wanted == "none":
        assert found == []
    else:
        assert [_written(one, "T" in wanted) for one in found] == [wanted]


def test_the_page_shows_how_a_newcomer_adds_a_rule_and_it_works() -> None:
    (block,) = re.findall(r"```python\n(# one rule.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, object] = {}
    exec(compile(block, str(PAGE), "exec"), names)
    assert resolve("the fortnight before 25 May 2022", NOW)[0].rule != ("fortnight before",)
