"""What an operation is: the types of its arguments, its checks, and how a class gets it as a method.

An operation is a frozen dataclass that pydantic checks (`@operation`). A field such as
`query: Annotated[Text, Field(description="…")]` is one argument; the method, the request, the schema of the API, the
command and the tool are made from that line. The docstring is the help, `Operation[R]` names the result, and `spec`
says who may call it and how it travels. `Method` makes a method of it, with that very signature.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from datetime import datetime
from functools import cache
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    NotRequired,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypeVar,
    Union,
    cast,
    dataclass_transform,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)  # fmt: skip

from annotated_types import Ge
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    PlainValidator,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic.fields import FieldInfo
from pydantic_core import core_schema
from typing_extensions import TypedDict

from everwhen.api.operations.mistakes import usage_error
from everwhen.errors import UsageError
from everwhen.settings import Settings
from everwhen.types import KINDS, NETWORKS, Answer, Between, Message, Metadata, Time
from everwhen.types.times import LONGEST_TIME, TimeReader, aware, known_zone
from everwhen.types.turns import LONGEST_LABEL, clean, message
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


class CommandLine:
    """How the command line takes an argument, where its name and its type alone do not say it.

    `names` are those of the option: a short one (`-n`), or one in place of the field's own (`--from`). `positional` is
    whether it stands without a name. `default` is that of the command, where it is not the operation's.
    """

    def __init__(self, *names: str, positional: bool | None = None, default: Any = None) -> None:
        self.names, self.positional, self.default = names, positional, default


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
Limit = Annotated[
    int, Ge(1), AtMost(1000), WHOLE, Field(description="Entries at the most."), CommandLine("-n")
]
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
Stretch = Annotated[
    Between,
    PlainValidator(_between),
    WithJsonSchema(_BETWEEN),
    STRETCH,
    Field(description="In this time: an expression such as 'July 2025', or two times."),
]
"""A stretch of time: an interval, an expression, or its two sides, both included."""
AskedAt: TypeAlias = Annotated[Moment | None, Field(description="The moment of asking. Left out: now.")]
"""What "yesterday" is counted from."""
LearnedAt: TypeAlias = Annotated[Moment | None, Field(description="When it was learned. Left out: now.")]


@dataclass(frozen=True, kw_only=True)
class BothTimes:
    """The two times of every reader: it answers as the memory would have answered then."""

    as_of: Annotated[Moment | None, Field(description="What had been said by then.")] = None
    known_at: Annotated[Moment | None, Field(description="What the memory held then.")] = None

    def read_times(self, clock: TimeReader) -> BothInstants:
        """Both as instants; a day, or "last week", is its last one."""
        return {"as_of": clock.last(self.as_of, "as_of"), "known_at": clock.last(self.known_at, "known_at")}


class BothInstants(TypedDict):
    as_of: datetime | None
    known_at: datetime | None


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
    """A language model that is open in this process (`models.llm.base.LLM`): of it, only the name matters here."""

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


P = ParamSpec("P")
R = TypeVar("R")

Scope: TypeAlias = Literal["read", "write", "admin"]
Runs: TypeAlias = Literal["quick", "settled", "long"]
"""Where a server runs it: at once; after all turns are extracted; or among what may take long."""


@dataclass(frozen=True, slots=True)
class Spec:
    """Who may call an operation, and how it travels."""

    route: str = ""
    """Method and address below `/v1/banks/{bank}`; empty for what cannot travel, or travels in steps of its own."""
    scope: Scope = "read"
    runs: Runs = "settled"
    creates: bool = False
    """Whether the bank comes into being when it is new."""
    status: int = 200
    paged: bool = False
    """Whether a server gives the list in pages."""
    fixed: Mapping[str, Any] = field(default_factory=dict)
    """What a request carries beside the arguments: which of several operations at one address is meant."""
    renamed: Mapping[str, str] = field(default_factory=dict)
    """Arguments that a request calls otherwise."""
    answer: str = ""
    """The name under which the answer of a server holds the result, where that is an object around it."""
    guarded: bool = False
    """Whether `If-Match` may ask for the version that the caller has seen."""
    traced: str = "search_memory"
    """What it is to a tracer (OpenTelemetry's names for memory)."""

    @property
    def method(self) -> str:
        return self.route.partition(" ")[0]

    @property
    def path(self) -> str:
        return self.route.partition(" ")[2]

    @property
    def writes(self) -> bool:
        return self.scope != "read"


class _Checked(type):
    """Makes a mistake in a call a `UsageError` of one sentence."""

    if not TYPE_CHECKING:  # a checker takes the signature of the class

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            if args:  # by name, so that a mistake is said of a name
                names = [one.name for one in fields(cls) if not one.kw_only]
                kwargs = dict(zip(names, args[: len(names)], strict=False)) | kwargs
            try:
                checked = _adapter(cls).validate_python(kwargs)
            except ValidationError as error:
                raise usage_error(error) from None
            return super().__call__(**checked)


@cache
def _adapter(kind: Any) -> TypeAdapter[dict[str, Any]]:
    """What checks the arguments of an operation. It is built at the first use: building sixty takes a while."""
    hints = get_type_hints(kind, include_extras=True)
    arguments = {
        one.name: hints[one.name] if one.default is MISSING else NotRequired[hints[one.name]]
        for one in fields(kind)
    }
    typed_dict: Any = TypedDict
    shape = typed_dict(kind.__name__, arguments)
    shape.__pydantic_config__ = ConfigDict(strict=True, extra="forbid", arbitrary_types_allowed=True)
    return TypeAdapter(shape)


class Operation(Generic[R], metaclass=_Checked):
    """One thing that can be done with a bank. Subclasses are marked `@operation`, with annotated fields."""

    spec: ClassVar[Spec] = Spec()


def of_checked(kind: type[Operation[R]], arguments: Mapping[str, Any]) -> Operation[R]:
    """The operation of arguments that pydantic has checked already, in a model made of the operation's fields."""
    return cast("Operation[R]", type.__call__(kind, **arguments))


K = TypeVar("K", bound=type)


@dataclass_transform(frozen_default=True)
def operation(kind: K) -> K:
    """A frozen dataclass whose arguments pydantic checks."""
    return cast("K", dataclass(frozen=True)(kind))


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of an operation."""

    name: str
    annotation: Any
    """With what checks it, as pydantic takes it."""
    plain: Any
    """As a person reads it: `str | None`."""
    description: str
    example: Any
    default: Any
    positional: bool
    """Whether a call may give it without its name."""

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def optional(self) -> bool:
        """Whether it may be left open, with None."""
        return type(None) in get_args(self.plain)

    @property
    def travels(self) -> bool:
        return LOCAL not in self.marks

    @property
    def command_line(self) -> CommandLine:
        return next((one for one in extras(self.annotation) if isinstance(one, CommandLine)), CommandLine())

    @property
    def marks(self) -> set[str]:
        """The marks of its type (`fields`)."""
        return {one for one in extras(self.annotation) if isinstance(one, str)}


def extras(hint: Any) -> Iterator[Any]:
    """What stands beside a type in `Annotated`, and beside the types of a union."""
    inner: tuple[Any, ...] = get_args(hint) if get_origin(hint) in (Union, UnionType) else ()
    if get_origin(hint) is Annotated:
        yield from get_args(hint)[1:]
        inner = get_args(hint)[:1]
    for one in inner:
        yield from extras(one)


@cache
def arguments_of(operation: Any) -> tuple[Parameter, ...]:
    """The arguments of an operation, in order."""
    hints = get_type_hints(operation, include_extras=True)
    plain = get_type_hints(operation)
    own = operation.__annotations__
    listed = sorted(fields(operation), key=lambda one: one.name not in own)  # what operations share is last
    return tuple(_parameter(one, hints[one.name], plain[one.name]) for one in listed)


def _parameter(one: dataclasses.Field[Any], hint: Any, plain: Any) -> Parameter:
    infos = [extra for extra in extras(hint) if isinstance(extra, FieldInfo)]
    description = next((extra.description for extra in infos if extra.description), "")
    example = next((extra.examples[0] for extra in infos if extra.examples), None)
    default = inspect.Parameter.empty if one.default is MISSING else one.default
    return Parameter(one.name, hint, plain, description, example, default, not one.kw_only)


@cache
def result_of(operation: Any) -> Any:
    """The type of an operation's result."""
    (base,) = (one for one in operation.__orig_bases__ if get_origin(one) is Operation)
    return get_args(base)[0]


@cache
def signature_of(operation: Any) -> inspect.Signature:
    """The signature of an operation's method, with plain types."""
    by_name = {one.name for one in fields(operation) if one.kw_only}
    made = [
        inspect.Parameter(
            one.name,
            inspect.Parameter.KEYWORD_ONLY
            if one.name in by_name
            else inspect.Parameter.POSITIONAL_OR_KEYWORD,
            default=one.default,
            annotation=one.plain,
        )
        for one in arguments_of(operation)
    ]
    return inspect.Signature(made, return_annotation=result_of(operation))


class Performs(Protocol):
    """Does operations one after the other."""

    def perform(self, operation: Operation[R], /) -> R: ...


class PerformsAsync(Protocol):
    """Does operations as coroutines."""

    async def perform(self, operation: Operation[R], /) -> R: ...


D = TypeVar("D")


def does(operation: Callable[..., Operation[R]]) -> Callable[[Callable[[D, Any], R]], Callable[[D, Any], R]]:
    """Marks the method of a class that does an operation: it takes the operation, and returns its result."""

    def mark(handler: Callable[[D, Any], R]) -> Callable[[D, Any], R]:
        handler.does = operation  # type: ignore[attr-defined]
        return handler

    return mark


def handlers(part: Any) -> Mapping[Any, str]:
    """Which method of an object does which operation."""
    kind: Any = type(part)
    return _handlers(kind)


@cache
def _handlers(kind: Any) -> Mapping[Any, str]:
    found = ((getattr(getattr(kind, name, None), "does", None), name) for name in dir(kind))
    return {operation: name for operation, name in found if operation is not None}


def done_by(part: object, operation: Operation[R]) -> R:
    """Do an operation by the method of an object that is marked for it."""
    result: R = getattr(part, handlers(part)[type(operation)])(operation)
    return result


class Method(Generic[P, R]):
    """An operation as a method: the same arguments, and the result, or a coroutine of it."""

    def __init__(self, operation: Callable[P, Operation[R]]) -> None:
        self.operation = operation
        self.__doc__ = operation.__doc__
        self.__wrapped__ = operation

    def __set_name__(self, owner: type, name: str) -> None:
        self.__name__ = name

    @property
    def __signature__(self) -> inspect.Signature:
        return signature_of(self.operation)

    @overload
    def __get__(self, door: None, owner: type) -> Method[P, R]: ...
    @overload
    def __get__(self, door: PerformsAsync, owner: Any = None) -> Callable[P, Coroutine[Any, Any, R]]: ...
    @overload
    def __get__(self, door: Performs, owner: Any = None) -> Callable[P, R]: ...
    def __get__(self, door: Any, owner: Any = None) -> Any:
        if door is None:
            return self

        def method(*args: P.args, **kwargs: P.kwargs) -> Any:
            return self(door, *args, **kwargs)

        method.__name__, method.__doc__ = self.__name__, self.__doc__
        method.__signature__ = self.__signature__  # type: ignore[attr-defined]
        return method

    def __call__(self, door: Any, /, *args: P.args, **kwargs: P.kwargs) -> Any:
        """`Memory.recall(memory, "…")`: as any function of a class."""
        return door.perform(self.called(*args, **kwargs))

    def called(self, *args: P.args, **kwargs: P.kwargs) -> Operation[R]:
        """The operation of a call. Arguments that it does not take raise a `TypeError`, as those of a function do."""
        signature = signature_of(self.operation)
        try:
            signature.bind(*args, **kwargs)
        except TypeError as error:
            named = [one.name for one in signature.parameters.values() if one.kind is one.KEYWORD_ONLY]
            takes = ", ".join(name for name in signature.parameters if name not in named)
            takes += f"; by name {', '.join(named)}" if named else ""
            raise TypeError(f"{self.__name__}(): {error}; it takes {takes}") from None
        return self.operation(*args, **kwargs)


class Streamed(Method[P, Answer]):
    """An operation as a method that gives its answer as it comes: pieces of the text, and at last the `Answer`."""

    def __init__(self, operation: Callable[P, Operation[Answer]]) -> None:
        super().__init__(operation)
        self.__doc__ = Streamed.__doc__

    @property
    def __signature__(self) -> inspect.Signature:
        return super().__signature__.replace(return_annotation=Iterator[str | Answer])

    @overload  # type: ignore[override]
    def __get__(self, door: None, owner: type) -> Streamed[P]: ...
    @overload
    def __get__(self, door: StreamsAsync, owner: Any = None) -> Callable[P, AsyncIterator[str | Answer]]: ...
    @overload
    def __get__(self, door: Streams, owner: Any = None) -> Callable[P, Iterator[str | Answer]]: ...
    def __get__(self, door: Any, owner: Any = None) -> Any:
        return super().__get__(door, owner)

    def __call__(self, door: Any, /, *args: P.args, **kwargs: P.kwargs) -> Any:
        return door.stream(self.called(*args, **kwargs))


class Streams(Protocol):
    """Answers piece by piece."""

    def stream(self, operation: Operation[Answer], /) -> Iterator[str | Answer]: ...


class StreamsAsync(Protocol):
    """The same for asynchronous programs."""

    def stream(self, operation: Operation[Answer], /) -> AsyncIterator[str | Answer]: ...
