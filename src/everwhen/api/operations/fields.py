"""Types of arguments: pydantic checks each of them once, in the same way at every door.

An operation's field is `query: Annotated[Text, Field(description="…", examples=["…"])]`. The method, the request of the
client, the schema of the API, the command and the tool are made of that one line.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, Literal, Protocol, TypeAlias

from annotated_types import Ge
from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainValidator,
    StringConstraints,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core import core_schema

from everwhen.errors import UsageError
from everwhen.settings import Settings
from everwhen.types import KINDS, NETWORKS, Between, Message, Metadata, Time
from everwhen.types.instants import aware
from everwhen.types.messages import LONGEST_LABEL, clean, message
from everwhen.types.time_arguments import LONGEST_TIME, TimeReader, known_zone
from everwhen_time import Interval

Given: TypeAlias = str | Mapping[str, Any] | Message
"""A message as callers give it."""
Progress: TypeAlias = Callable[[int], None]

LONGEST_TEXT = 1_000_000
"""Characters of a question, a topic, a value or an expression: somebody may paste a document into it. The model reads
the first few hundred words of one."""
MOST_LISTED = 10_000
"""Messages, or ids of turns, in one call: each is embedded, or looked up, before the answer is given."""

LOCAL, MOMENT, STRETCH, MODEL, SLASHES = "local", "moment", "stretch", "model", "slashes"
"""Marks of a type: it cannot travel (a function, a file of this machine; beside `SkipValidation`), is a time, is a
stretch of time, may be open in this process, or may hold slashes in an address."""

# Text


def _readable(given: Any) -> Any:
    """Text that every part can hold: no NUL, no surrogate without its partner."""
    return clean(given) if isinstance(given, str) else given


def _written(given: str) -> str:
    if not given.strip():
        raise ValueError("is empty; write something, or leave it out")
    return given


def _named(given: Any) -> Any:
    """Ids may be numbers elsewhere. Without a NUL character, a name would be another one's."""
    if isinstance(given, str) and "\0" in given:
        raise ValueError("has a NUL character; leave it out")
    return (
        str(given)
        if isinstance(given, int) and not isinstance(given, bool) and abs(given) < 10**18
        else given
    )


_Readable = BeforeValidator(_readable)
_Written = AfterValidator(_written)
Text = Annotated[str, _Readable, StringConstraints(min_length=1, max_length=LONGEST_TEXT), _Written, SLASHES]
"""Words: a question, a topic, a value."""
Pattern = Annotated[str, StringConstraints(min_length=1, max_length=1000), _Readable]
"""What is looked for letter by letter: it may be a space."""
Rule = Annotated[str, StringConstraints(max_length=1000), _Readable]
"""A rule in words, which may be empty."""
Name = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_LABEL), _Written, _Readable]
"""A short name that is looked up: of a person, a predicate, a fact."""
Label = Annotated[
    str,
    StringConstraints(min_length=1, max_length=LONGEST_LABEL, strip_whitespace=True),
    _Readable,
    BeforeValidator(_named),
]
"""A short name that is kept: of a session, somebody who speaks."""
Zone = Annotated[str, AfterValidator(known_zone), WithJsonSchema({"type": "string", "maxLength": 512})]
"""A zone that exists, under the name that is kept."""

# Numbers


def _whole(given: Any) -> Any:
    """JSON has no whole numbers: 5.0 is 5."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


class AtMost:
    """The largest number that a request to a server may carry: a program may use its own machine as it likes."""

    def __init__(self, most: int) -> None:
        self.most = most

    def __get_pydantic_json_schema__(self, schema: Any, handler: GetJsonSchemaHandler) -> Any:
        return handler(schema) | {"maximum": self.most}


WHOLE = BeforeValidator(_whole)
Limit = Annotated[int, Ge(1), AtMost(1000), WHOLE]
"""Entries at the most."""
Tokens = Annotated[int, Ge(0), AtMost(1_000_000), WHOLE]
Fraction = Annotated[float, Field(ge=0, le=1, allow_inf_nan=False)]
Seconds = Annotated[float, Field(gt=0, le=1e9, allow_inf_nan=False)]
Days = Annotated[float, Field(gt=0, le=10_000_000, allow_inf_nan=False)]

# Times

_TIME = {
    "type": "string",
    "format": "date-time-or-expression",
    "maxLength": LONGEST_TIME,
    "description": "ISO 8601 or an expression; without an offset it is local time of the bank's zone.",
    "examples": ["2025-03-14T09:26:00Z", "2025-03-14", "last Friday"],
}
_INTERVAL = {
    "type": "object",
    "properties": {
        "start": {"anyOf": [_TIME, {"type": "null"}]},
        "end": {"anyOf": [_TIME, {"type": "null"}]},
        "grain": {"type": "string"},
    },
    "additionalProperties": False,
}
_BETWEEN = {
    "anyOf": [
        _TIME,
        {
            "type": "array",
            "items": {"anyOf": [_TIME, {"type": "null"}]},
            "minItems": 1,
            "maxItems": 2,
        },
        _INTERVAL,
    ]
}


def _time(given: Any, info: ValidationInfo) -> Time:
    """A time; the bank, whose zone counts, reads it."""
    name = info.field_name or "time"
    if isinstance(given, datetime):
        aware(given, name)
        return given
    if not isinstance(given, str):
        TimeReader("UTC").interval(given, name)  # which says what is wrong with it
    return clean(given)


def _time_or_end(given: Any, info: ValidationInfo) -> Time:
    return given if given == "end" else _time(given, info)


def _time_or_interval(given: Any, info: ValidationInfo) -> Time | Interval:
    return given if isinstance(given, Interval) else _time(given, info)


def _naive_time(given: Any, info: ValidationInfo) -> Time:
    return given if isinstance(given, datetime) else _time(given, info)


def _between(given: Any, info: ValidationInfo) -> Between:
    if isinstance(given, Interval):
        return given
    if isinstance(given, str):
        return clean(given)
    if isinstance(given, Mapping) and given.keys() <= {"start", "end", "grain"}:
        given = (given.get("start"), given.get("end"))
    if not isinstance(given, list | tuple) or len(given) not in (1, 2):
        raise UsageError(
            f"{info.field_name} takes one stretch of time ('last week', '2025-03-01..2025-03-31'), two times "
            "('2025-03-01', '2025-03-31') or an interval ({start, end})"
        )
    return tuple(None if one is None else _time(one, info) for one in given)


Moment = Annotated[Time, PlainValidator(_time), WithJsonSchema(_TIME), MOMENT]
"""A time: an aware datetime, or text that the bank reads in its own zone."""
MomentOrEnd = Annotated[Time, PlainValidator(_time_or_end), WithJsonSchema(_TIME), MOMENT]
"""The word "end" is one, too."""
MomentOrInterval = Annotated[
    Time | Interval, PlainValidator(_time_or_interval), WithJsonSchema(_TIME), MOMENT, STRETCH
]
LocalMoment = Annotated[Time, PlainValidator(_naive_time), WithJsonSchema(_TIME), MOMENT]
"""A datetime may be naive where a zone stands beside it."""
Stretch = Annotated[Between, PlainValidator(_between), WithJsonSchema(_BETWEEN), STRETCH]
"""A stretch of time: an interval, an expression, or its two sides, both included."""
AsOfTime: TypeAlias = Annotated[Moment | None, Field(description="What had been said by then.")]
KnownAtTime: TypeAlias = Annotated[Moment | None, Field(description="What the memory held then.")]
"""The two times of every reader: it answers as the memory would have answered then."""

# Lists


def _list(given: Any, info: ValidationInfo) -> Any:
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        example = f", such as {info.field_name}=[{given[:60]!r}]" if isinstance(given, str) else ""
        raise UsageError(f"{info.field_name} takes a list{example}")
    return list(given)


def _one_or_list(given: Any, info: ValidationInfo) -> Any:
    return [given] if isinstance(given, str) else _list(given, info)


List = BeforeValidator(_list)
"""A plain string would be taken letter by letter."""
OneOrList = BeforeValidator(_one_or_list)
Names = Annotated[Sequence[Name], Field(max_length=1000), AfterValidator(tuple), List]
SomeNames = Annotated[Sequence[Name], Field(min_length=1, max_length=1000), AfterValidator(tuple), List]
Synonyms = Annotated[Sequence[Name], Field(max_length=100), AfterValidator(tuple), List]
Ids = Annotated[Sequence[Name], Field(max_length=MOST_LISTED), AfterValidator(tuple), List]
IdOrIds = Annotated[
    Name | Annotated[Sequence[Name], Field(max_length=MOST_LISTED)], AfterValidator(tuple), OneOrList
]
Texts = Annotated[
    Sequence[Annotated[str, StringConstraints(max_length=LONGEST_TEXT), _Readable]],
    Field(max_length=1000),
    AfterValidator(tuple),
    List,
]

# A few words


class OneOf:
    """One of a few words."""

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        return core_schema.literal_schema(list(self.words))


def _budget(given: Any) -> str | int:
    """The engine says which names there are."""
    given = _whole(given)
    if isinstance(given, bool) or not isinstance(given, str | int):
        raise UsageError(f"budget must be low, mid, high or a whole number, not {given!r}")
    if isinstance(given, int) and given < 1:
        raise UsageError(f"budget must be at least 1, got {given}")
    return given


BUDGETS = tuple(Settings().candidates)
Budget = Annotated[
    str | int,
    PlainValidator(_budget),
    WithJsonSchema({"anyOf": [{"enum": [*BUDGETS]}, {"type": "integer", "minimum": 1, "maximum": 1000}]}),
    AtMost(1000),
]
"""How widely to search: the name of a budget, or a number of candidates."""
Kinds = Annotated[
    Sequence[Annotated[str, OneOf(KINDS)]], Field(max_length=len(KINDS)), AfterValidator(tuple), List
]
Networks = Annotated[
    Sequence[Annotated[str, OneOf(NETWORKS)]], Field(max_length=len(NETWORKS)), AfterValidator(tuple), List
]

# Messages

_MESSAGE = {
    "type": "object",
    "properties": {
        "content": {"description": "Text, or a list of parts.", "examples": ["I moved to Porto last week"]},
        "role": {"type": ["string", "null"], "examples": ["user"]},
        "name": {"type": ["string", "integer", "null"], "examples": ["Ana"]},
        "timestamp": {"type": ["string", "number", "null"], "examples": ["2025-03-10T09:30:00Z"]},
        "zone": {"type": ["string", "null"], "examples": ["Europe/Lisbon", "+05:30"]},
        "id": {"type": ["string", "integer", "null"]},
        "session": {"type": ["string", "integer", "null"]},
        "metadata": {"type": ["object", "null"]},
        "media": {},
    },
    "description": "One message. Fields of other systems may stand in it, and are left alone.",
}
_SAID = {"anyOf": [{"type": "string"}, _MESSAGE]}


def several(given: Any) -> Iterable[Any]:
    """Messages one after the other; a single one would be taken apart."""
    if isinstance(given, str | bytes | Mapping) or not isinstance(given, Iterable):
        raise UsageError("messages must be a list (or another iterable) of strings or objects")
    return given


def _one_or_several(given: Any) -> Iterable[Any]:
    return (given,) if isinstance(given, str | Mapping | Message) else several(given)


def checked_metadata(given: Any) -> Metadata:
    """A JSON object as it is kept; raises `UsageError`."""
    return dict(message({"content": "-", "metadata": given}).metadata)


Messages = Annotated[
    Iterable[Given], PlainValidator(several), WithJsonSchema({"type": "array", "items": _SAID})
]
OneOrMessages = Annotated[
    Given | Iterable[Given],
    PlainValidator(_one_or_several),
    WithJsonSchema({"anyOf": [*_SAID["anyOf"], {"type": "array", "items": _SAID, "maxItems": MOST_LISTED}]}),
]
"""They are checked one by one where they are taken in."""
AnyMetadata = Annotated[Metadata, PlainValidator(checked_metadata), WithJsonSchema({"type": "object"})]
"""A JSON object of bounded size."""

# What has a form of its own


class OpenModel(Protocol):
    """A language model that is open in this process (`everwhen.models.llm.LLM`): of it, only the name matters here."""

    @property
    def name(self) -> str: ...


def _model(given: Any, info: ValidationInfo) -> Any:
    if isinstance(given, str) and (not given.strip() or len(given) > LONGEST_LABEL):
        raise ValueError("is no name of a model, such as 'openai:gpt-5-mini' or 'none'")
    return given


Model = Annotated[
    str | OpenModel,
    PlainValidator(_model),
    WithJsonSchema({"type": "string", "minLength": 1, "maxLength": LONGEST_LABEL}),
    MODEL,
]
"""A language model: its name, or in this process one that is open."""


class RecipeField:
    """How something is put together: a frozen recipe of the library; in a request an object with what differs."""

    def __init__(self, of: Literal["recall", "answer"]) -> None:
        self.of = of

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> Any:
        def recipe(given: Any) -> Any:
            if not isinstance(given, Mapping):
                return given
            from everwhen.api.operations.recipe_body import read_recipe

            return read_recipe(self.of, given)

        return core_schema.no_info_plain_validator_function(recipe)

    def __get_pydantic_json_schema__(self, schema: Any, handler: GetJsonSchemaHandler) -> Any:
        from everwhen.api.operations.recipe_body import recipe_schema

        return recipe_schema(self.of)
