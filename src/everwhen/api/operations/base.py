"""What an operation is, and how a class gets one as a method.

An operation is a frozen dataclass that pydantic checks (`@operation`): its fields are the arguments (their types are in
`fields`), its docstring is the help, `Operation[R]` names the result, and `spec` says who may call it and how it
travels. `Method` makes a method of it, with that very signature: a class that has `perform` gets typed methods from one
line each.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
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

from pydantic import ConfigDict, TypeAdapter, ValidationError
from pydantic.fields import FieldInfo
from typing_extensions import TypedDict

from everwhen.api.operations.fields import LOCAL
from everwhen.api.operations.mistakes import usage_error
from everwhen.types import Answer

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
    return tuple(_parameter(one, hints[one.name], plain[one.name]) for one in fields(operation))


def _parameter(one: Field[Any], hint: Any, plain: Any) -> Parameter:
    infos = [extra for extra in extras(hint) if isinstance(extra, FieldInfo)]
    description = next((extra.description for extra in infos if extra.description), "")
    example = next((extra.examples[0] for extra in infos if extra.examples), None)
    default = inspect.Parameter.empty if one.default is MISSING else one.default
    return Parameter(one.name, hint, plain, description, example, default)


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
        """The operation of a call. Arguments that it does not take are told as of a function: it is called as one."""
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
