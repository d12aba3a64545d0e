"""What an operation is, and how a class gets one as a method.

An operation is a dataclass (`@frozen`): its fields are the arguments, its docstring is the help, `Operation[R]` names
the result, and a few class attributes say who may call it and how it travels. `Method` makes a method of it, with
that very signature: a class that has `perform` gets typed methods from one line each.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import (
    Annotated,
    Any,
    ClassVar,
    Generic,
    Literal,
    ParamSpec,
    Protocol,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
    overload,
)  # fmt: skip

from everwhen.api.operations.arguments import Argument, Help
from everwhen.api.operations.frozen import Frozen
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


class Operation(Frozen, Generic[R]):
    """One thing that can be done with a bank. Subclasses are `@frozen`, with annotated fields."""

    __slots__ = ()

    spec: ClassVar[Spec] = Spec()

    def __post_init__(self) -> None:
        for one in arguments_of(type(self)):
            given = getattr(self, one.name)
            if given is None and one.optional:
                continue
            checked = one.kind.check(given, one.name)
            if checked is not given:
                object.__setattr__(self, one.name, checked)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One argument of an operation."""

    name: str
    annotation: Any
    kind: Argument
    help: Help
    default: Any

    @property
    def required(self) -> bool:
        return self.default is inspect.Parameter.empty

    @property
    def optional(self) -> bool:
        """Whether it may be left open, with None."""
        return type(None) in get_args(self.annotation)


def arguments_of(operation: Any) -> tuple[Parameter, ...]:
    """The arguments of an operation, in order."""
    return _arguments(operation)


@cache
def _arguments(operation: Any) -> tuple[Parameter, ...]:
    hints = get_type_hints(operation, include_extras=True)
    signature = inspect.signature(operation).parameters
    return tuple(_parameter(name, hints[name], one.default) for name, one in signature.items())


def _parameter(name: str, hint: Any, default: Any) -> Parameter:
    plain, extras = (get_args(hint)[0], get_args(hint)[1:]) if get_origin(hint) is Annotated else (hint, ())
    kind = next((one for one in extras if isinstance(one, Argument)), None)
    if kind is None:
        raise TypeError(f"the argument '{name}' has no kind (everwhen.api.operations.arguments)")
    return Parameter(
        name, plain, kind, next((one for one in extras if isinstance(one, Help)), Help()), default
    )


@cache
def result_of(operation: Any) -> Any:
    """The type of an operation's result."""
    (base,) = (one for one in operation.__orig_bases__ if get_origin(one) is Operation)
    return get_args(base)[0]


@cache
def signature_of(operation: Any) -> inspect.Signature:
    """The signature of an operation's method, with plain types."""
    plain = {one.name: one.annotation for one in arguments_of(operation)}
    given = inspect.signature(operation).parameters.values()
    return inspect.Signature(
        [one.replace(annotation=plain[one.name]) for one in given], return_annotation=result_of(operation)
    )


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
        try:
            return self.operation(*args, **kwargs)
        except TypeError:
            signature = self.__signature__
            try:
                signature.bind(*args, **kwargs)
            except TypeError as error:
                named = [one.name for one in signature.parameters.values() if one.kind is one.KEYWORD_ONLY]
                takes = ", ".join(name for name in signature.parameters if name not in named)
                takes += f"; by name {', '.join(named)}" if named else ""
                raise TypeError(f"{self.__name__}(): {error}; it takes {takes}") from None
            raise


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
