"""The ordinary relations of life and work, as data (`table.toml`), and their questions with a subject put in."""

from __future__ import annotations

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

PLAIN = "{who} {name} {value}"
Value = Literal["place", "person", "thing", "number", "date"]


@dataclass(frozen=True, slots=True)
class Relation:
    """One kind of fact: how it is asked for, how it is told, and what becomes of it."""

    name: str
    asks: tuple[str, ...]
    """What the reader is asked about a turn; the span is the value."""
    whose: str
    """Asked next, with the value put in: the span is the subject."""
    questions: tuple[str, ...]
    """How people ask for it, with `{who}`."""
    examples: tuple[str, ...]
    begins: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    """Sentences that end it, said by the one whose fact it is, with `{value}`."""
    means: tuple[str, ...] = ()
    """Other words for the predicate."""
    value: Value = "thing"
    many: bool = False
    """Several values hold at a time."""
    domain: str | None = None
    """Whose half-life its facts have."""
    of: Literal["anything", "thing"] = "anything"
    """What it is told of: `thing` is never somebody who speaks."""
    says: str = PLAIN
    """A fact in words."""
    holds: str = ""
    """The same as people say it, where `says` is no such sentence."""

    @property
    def told(self) -> tuple[str, ...]:
        """Sentences that speak of it in one way or another."""
        return (*self.examples, *self.begins, *self.ends)


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(files(__package__).joinpath("table.toml").read_text(encoding="utf-8"))


@cache
def relations() -> tuple[Relation, ...]:
    return tuple(_relation(row) for row in _table()["relation"])


def _relation(row: dict[str, Any]) -> Relation:
    held: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in row.items()
    }
    held["says"] = held.get("says", PLAIN).replace("{name}", row["name"])
    return Relation(**held)


@cache
def _phrases(ended: bool) -> dict[str, str]:
    """How people say what holds, or with `ended` what held, by predicate."""
    holds = {one.name: one.holds or one.says for one in relations()} | _table()["holds"]
    return {name: _VERB.sub(_past, said, 1) if ended else said for name, said in holds.items()}


_VERB = re.compile(r"(?<=\{who\} )\w+|\b(?:is|was|include)\b")


def _past(verb: re.Match[str]) -> str:
    stem = verb[0].removesuffix("s").removesuffix("e")
    return str(_table()["past"].get(verb[0], f"{stem}ed"))


def in_words(subject: str, predicate: str, value: str, *, ended: bool = False) -> str:
    """A fact as people say it: "Kim's partner is Tom", or once it has ended "Kim's partner was Tom"."""
    name = predicate.replace("_", " ")
    return filled(_phrases(ended).get(name, PLAIN.replace("{name}", name)), subject, value)


def filled(phrase: str, subject: str, value: str) -> str:
    return phrase.replace("{who}", subject).replace("{value}", value)


_GRAMMAR = (
    (r"\bI's\b", "my"), (r"\bwe's\b", "our"), (r"\byou's\b", "your"), (r"\bthey's\b", "their"),
    (r"\bhe's\b", "his"), (r"\bshe's\b", "her"),
    (r"\b([Dd])oes (I|we|you|they)\b", r"\1o \2"),
    (r"\b[Ii]s (we|you|they)\b", r"are \1"),
    (r"\b[Ii]s I\b", "am I"),
    (r"\b[Ww]as (we|you|they)\b", r"were \1"),
)  # fmt: skip


def asked_of(question: str, who: str) -> str:
    """A question of the table about somebody: `Where does {who} live?` of I is "Where do I live?"."""
    text = question.replace("{who}", who)
    for pattern, instead in _GRAMMAR:
        text = re.sub(pattern, instead, text)
    return text[:1].upper() + text[1:]
