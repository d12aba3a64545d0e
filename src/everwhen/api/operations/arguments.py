"""Kinds of arguments: how each is checked, once, whatever door it comes through.

A field of an operation names its kind, `query: Annotated[str, Text()]`. The kind checks what is given and says in one
sentence how to put it right; the server makes a schema of it, the client writes it into a request.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Any, Literal, Protocol, TypeAlias

from everwhen.api.operations.frozen import Frozen, frozen
from everwhen.errors import UsageError
from everwhen.types import Message, Time
from everwhen.types.instants import aware
from everwhen.types.messages import LONGEST_LABEL, clean, message
from everwhen.types.time_arguments import TimeReader, known_zone
from everwhen_time import Interval

Given: TypeAlias = str | Mapping[str, Any] | Message
"""A message as callers give it."""
Progress: TypeAlias = Callable[[int], None]

LONGEST_WORDS = 1_000_000
"""Characters of a question, a topic, a pattern or an expression: somebody may paste a document into it."""
LONGEST_SENT = 100_000
"""The same in a request to a server; the model reads the first few hundred words of one anyway."""
LONGEST_NAME = 512
"""Characters of a name in a request."""
MOST_SENT = 10_000
"""Messages, or ids of turns, in one request: each is embedded, or looked up, before the answer is given."""


@dataclass(frozen=True, slots=True)
class Help:
    """What an argument means, in a few words, with an example: for the descriptions of the API and of the tools."""

    text: str = ""
    example: Any = None


@frozen
class Argument(Frozen):
    """One kind of argument. `called` is what a mistake in it is called, where that is not its name."""

    called: str = ""

    def check(self, given: Any, name: str) -> Any:
        """What is given, as the engine takes it; raises `UsageError`."""
        return given


@frozen
class Text(Argument):
    """Words that every part can hold: no lone surrogate, no NUL. `most` is their length in a request.

    `spaces`: they may be nothing but spaces.
    """

    most: int = LONGEST_SENT
    spaces: bool = False

    def check(self, given: Any, name: str) -> Any:
        what = self.called or name
        if not isinstance(given, str):
            raise UsageError(f"the {what} must be text, not {type(given).__name__}")
        if len(given) > LONGEST_WORDS:
            raise UsageError(f"the {what} has {len(given):,} characters; {LONGEST_WORDS:,} are allowed")
        return clean(given)


@frozen
class Texts(Argument):
    """A list of texts; `most` of them go into one request."""

    most: int = 1000

    def check(self, given: Any, name: str) -> Any:
        if isinstance(given, str):
            raise UsageError(f"{name} takes a list, such as {name}=[{given[:60]!r}]")
        return tuple(Text(self.called).check(one, name) for one in given)


@frozen
class Name(Argument):
    """A short name: of a session, a person, a bank. It is looked up, so its checks are those of what it names.

    `most` is its length in a request.
    """

    most: int = LONGEST_NAME


@frozen
class Label(Argument):
    """A short name that is kept: not empty, and of bounded length."""

    def check(self, given: Any, name: str) -> Any:
        what = self.called or name
        text = clean(str(given)).strip()
        if not text:
            raise UsageError(f"the {what} is empty; leave it out, or name it")
        if len(text) > LONGEST_LABEL:
            raise UsageError(f"the {what} has {len(text)} characters; at most {LONGEST_LABEL} are kept")
        return text


@frozen
class Moment(Argument):
    """A time: an aware datetime, or text that the bank reads in its own zone.

    `end`: the word "end" is one, too. `interval`: an interval is one, too.
    """

    end: bool = False
    interval: bool = False

    def check(self, given: Any, name: str) -> Any:
        if given is None:
            raise UsageError(f"{name} is missing; give a time such as '2025-03-14' or 'last Friday'")
        if isinstance(given, datetime):
            aware(given, name)
        elif not isinstance(given, str) and not (self.interval and isinstance(given, Interval)):
            TimeReader("UTC").interval(given, name)  # which says what is wrong with it
        return given


@frozen
class Stretch(Argument):
    """A stretch of time: an interval, an expression, or its two sides."""

    def check(self, given: Any, name: str) -> Any:
        if isinstance(given, str | Interval):
            return given
        if not isinstance(given, list | tuple) or len(given) not in (1, 2):
            return TimeReader("UTC").window(given)  # which says what is wrong with it
        return tuple(None if one is None else Moment().check(one, name) for one in given)


@frozen
class Zone(Argument):
    """A zone that exists, under the name that is kept."""

    def check(self, given: Any, name: str) -> Any:
        return known_zone(given)


@frozen
class Whole(Argument):
    """A whole number; `least` and `most` bound it in a request to a server."""

    least: int | None = None
    most: int | None = None

    def check(self, given: Any, name: str) -> Any:
        if isinstance(given, bool) or not isinstance(given, int):
            raise UsageError(f"{self.called or name} must be a whole number, not {given!r}")
        return given


@frozen
class Fraction(Argument):
    """A number from 0 to 1."""

    def check(self, given: Any, name: str) -> Any:
        return fraction(given, self.called or name)


@frozen
class Number(Argument):
    """A number above 0, of days or seconds; `most` bounds it in a request."""

    most: float = 1e9


@frozen
class Flag(Argument):
    """Yes or no."""


@frozen
class Choice(Argument):
    """One of a few words; the engine says which, where another is given."""

    among: tuple[Any, ...] = ()

    def check(self, given: Any, name: str) -> Any:
        if given not in self.among:
            known = ", ".join(str(one) for one in self.among)
            raise UsageError(f"unknown {self.called or name} {given!r}; use one of {known}")
        return given


@frozen
class Choices(Argument):
    """Some of a few words; a plain string would be taken letter by letter."""

    among: tuple[str, ...] = ()

    def check(self, given: Any, name: str) -> Any:
        if isinstance(given, str):
            raise UsageError(f"{name} takes a list, such as {name}=[{given!r}]")
        if unknown := [str(one) for one in given if one not in self.among]:
            raise UsageError(f"{name}: there is no {', '.join(unknown)}; there are {', '.join(self.among)}")
        return tuple(given)


@frozen
class Names(Argument):
    """A list of names; `single` allows one alone. `most` of them go into one request."""

    most: int = 1000
    single: bool = False
    least: int = 0

    def check(self, given: Any, name: str) -> Any:
        if isinstance(given, str):
            if self.single:
                return (given,)
            raise UsageError(f"{name} takes a list, such as {name}=[{given!r}]")
        return tuple(given)


@frozen
class Metadata(Argument):
    """A JSON object of bounded size."""

    def check(self, given: Any, name: str) -> Any:
        return dict(message({"content": "-", "metadata": given}).metadata)


@frozen
class Messages(Argument):
    """Messages: several, or with `single` one. They are checked one by one where they are taken in."""

    single: bool = False

    def check(self, given: Any, name: str) -> Any:
        if self.single and isinstance(given, str | Mapping | Message):
            return (given,)
        return several(given)


@frozen
class Budget(Argument):
    """How widely to search: the name of a budget, or a number of candidates."""


@frozen
class Recipes(Argument):
    """How something is put together: a frozen recipe of the library, `of` recall or of an answer."""

    of: Literal["recall", "answer"] = "recall"


AsOfTime: TypeAlias = Annotated[Time | None, Moment(), Help("What had been said by then.")]
KnownAtTime: TypeAlias = Annotated[Time | None, Moment(), Help("What the memory held then.")]
"""The two times of every reader: it answers as the memory would have answered then."""


class OpenModel(Protocol):
    """A language model that is open in this process (`everwhen.models.llm.LLM`): of it, only the name matters here."""

    @property
    def name(self) -> str: ...


@frozen
class Model(Argument):
    """A language model: its name, or in this process one that is open."""


@frozen
class Here(Argument):
    """Something that cannot travel: a function that hears of progress, a file of this machine."""


def several(given: Any) -> Iterable[Any]:
    """Messages one after the other; a single one would be taken apart."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise UsageError("messages must be a list (or another iterable) of strings or objects")
    return given


def fraction(given: float, what: str) -> float:
    """A number from 0 to 1."""
    if (
        isinstance(given, bool)
        or not isinstance(given, int | float)
        or math.isnan(given)
        or not 0 <= given <= 1
    ):
        raise UsageError(f"{what} must be a number from 0 to 1, got {given!r}")
    return float(given)


def words(given: str, what: str) -> str:
    """Words that did not come as an argument of an operation, checked as one."""
    checked: str = Text(what).check(given, what)
    return checked


def label(given: str | None, what: str) -> str | None:
    """A short name that did not come as an argument of an operation, checked as one."""
    return None if given is None else str(Label(what).check(given, what))
