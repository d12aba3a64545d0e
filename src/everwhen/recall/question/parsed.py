"""`Question`: what one question asks for, by whom, of when; read from its words once."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias, get_args

from everwhen.types.recipes import Complexity
from everwhen_time import Constraint, Grain, Interval

Kind: TypeAlias = Literal[
    "when",  # a date: "when did", "in which month", "how long ago"
    "since",  # how long something has lasted up to now: "how long have I had"
    "between",  # the days from one thing to another: "how many weeks between", "how long after"
    "first",  # which of two came first or last
    "lasting",  # how long something took, as it was told
    "count",  # how many
    "amount",  # how much, how old, how far, how often: a number that was said
    "choice",  # a yes-or-no question that offers two: "did it go up or down"
    "yes or no",
    "who",
    "where",
    "why",
    "name",  # what somebody or something is called
    "what",
]
KINDS: tuple[Kind, ...] = get_args(Kind)
Form: TypeAlias = Literal["when", "since", "ago", "lasting"]
Order: TypeAlias = Literal["first", "last"]
Edge: TypeAlias = Literal["start", "end"]


@dataclass(frozen=True, slots=True)
class Question:
    """A question taken apart. `words` are its own; everything else is read from them."""

    words: str
    asks: bool = False  # a question, not a statement that something is looked for with

    # Which answer is wanted
    kind: Kind = "what"
    sides: tuple[str, str] | None = None  # the two things that are compared
    compared: tuple[str, str] | None = None  # the same with a verb that both share: "I join the choir"
    later: bool = False  # the later of the two is wanted
    noun: str = ""  # what is counted: "flats" of "how many flats"
    unit: str = ""  # the unit of a length: "week" of "how many weeks"
    each: str = ""  # the question for the things that are counted: "which flats did I see?"
    parts: tuple[str, ...] = ()  # the question of each of two things, where a number of both is asked for
    total: bool = False  # a sum is asked for in so many words
    base: str = ""  # the question without "before …", where it asks what held before something
    before: str = ""  # that something: "York" of "where did I live before York?"
    offered: tuple[tuple[str, str], ...] = ()  # each of the two of a choice, and the question for it
    asks_place: bool = False

    # How much it needs, and what said so
    complexity: Complexity = "simple"
    cues: tuple[str, ...] = ()

    # Who asks whom
    first_person: bool = False
    second_person: bool = False

    # What it asks of time
    event: str = ""  # what is asked about, without the words of asking: "Ana moved to Porto"
    form: Form = "when"
    grain: Grain | None = None  # the unit asked for: "in which month"
    order: Order | None = None  # the first or the last of several is asked for
    edge: Edge | None = None  # how something begins or ends is asked for: "when does the course end"
    ahead: bool | None = False  # it looks at what is to come; None where its words do not tell
    planned: bool = False  # what is only planned or wanted counts as well
    denied: bool = False  # it asks for what did not happen
    clock: bool = False  # it asks for the hour
    happened: bool = False  # it is in the past tense: it asks what happened, not how things stand
    past: bool = False  # the same, or what has been up to now
    formerly: bool = False  # it asks for what held once, without a date
    asks_time: bool = False  # it asks with words of time, or for the first or last
    vague_time: bool = False  # its time words name no window: "lately", "now", "how long ago"
    time: Constraint | None = None  # the window, order and event that it names; needs the moment of asking

    def past_asked(self, at: datetime) -> Interval | None:
        """The stretch of the past that it is about, or None where it asks about the present.

        "Where did she live in 2021" is about that year; "where did she live before", "her first job" and "what did
        he use to drink" about all that came until now.
        """
        if self.time is not None and self.time.interval is not None:
            start, end = self.time.interval.start, self.time.interval.end
            if end is not None and end <= at:
                return self.time.interval
            if start is None and end is not None:
                return Interval(None, min(end, at), "second")
        backwards = self.time is not None and (self.time.order == "first" or self.time.relation == "before")
        return Interval(None, at, "second") if backwards or self.formerly else None

    def asks_now(self, at: datetime) -> bool:
        """Whether it asks how things stand, so that what is newer counts for more. A statement asks nothing."""
        return self.asks and not self.happened and self.past_asked(at) is None
