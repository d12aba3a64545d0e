"""Markdown of the reference: heads, tables, and what docstrings say."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator
from typing import Any


def head(title: str, purpose: str) -> list[str]:
    return [
        f"# {title}",
        "",
        purpose,
        "",
        "This page is written by `make reference`; change the code, not the page.",
        "",
    ]


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> list[str]:
    columns = list(head)
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return lines + ["| " + " | ".join(cell(one) for one in row) + " |" for row in rows]


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def sentence(text: str) -> str:
    """Help as it is read in a table: one line, with a full stop."""
    text = " ".join(text.split())
    return text if not text or text[-1] in ".!?…:" else f"{text}."


def code(value: Any) -> str:
    return f"`{value}`"


def doc(of: Any) -> str:
    """A docstring as Markdown: paragraphs stay, lines are joined."""
    paragraphs = re.split(r"\n\s*\n", inspect.getdoc(of) or "")
    return "\n\n".join(" ".join(one.split()) for one in paragraphs)


def attribute_docs(of: type) -> dict[str, str]:
    """The strings that stand under the fields of a class."""
    return {name: text for name, text, _section in documented(of)}


def documented(of: type) -> Iterator[tuple[str, str, str]]:
    """Each field of a class with the string under it, and the comment that heads its section."""
    source = textwrap.dedent(inspect.getsource(of))
    heads = {
        number: line.strip("# ").strip()
        for number, line in enumerate(source.splitlines(), 1)
        if re.fullmatch(r"    # [A-Z][\w ]*", line)
    }
    (made,) = ast.parse(source).body
    assert isinstance(made, ast.ClassDef)
    for one, after in zip(made.body, [*made.body[1:], None], strict=True):
        if not isinstance(one, ast.AnnAssign) or not isinstance(one.target, ast.Name):
            continue
        said = ""
        if (
            isinstance(after, ast.Expr)
            and isinstance(after.value, ast.Constant)
            and isinstance(after.value.value, str)
        ):
            said = " ".join(after.value.value.split())
        section = [head for number, head in heads.items() if number < one.lineno]
        yield one.target.id, said, section[-1] if section else ""
