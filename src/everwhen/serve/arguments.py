"""Arguments of operations in a request: for each kind of argument the type that pydantic checks and describes.

Strict: a number is no text, an unknown field is a mistake that is named. What a schema cannot say (an interval that
ends before it starts, a zone that does not exist) the operation says, with the same status.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from datetime import UTC, datetime
from inspect import Parameter as Signed
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from fastapi import Query
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Discriminator,
    Field,
    StringConstraints,
    Tag,
    WithJsonSchema,
    create_model,
)

from everwhen.api.operations import arguments as kinds
from everwhen.api.operations.arguments import LONGEST_NAME, LONGEST_SENT, MOST_SENT
from everwhen.api.operations.base import Parameter
from everwhen.settings import Settings
from everwhen.types.agent_recipe import TOOLS, AgentRecipe
from everwhen.types.recipes import CHANNELS, Recipe
from everwhen.types.time_arguments import LONGEST_TIME, read
from everwhen_time.interval import Grain

BUDGETS = tuple(Settings().candidates)


def _understood(given: str) -> str:
    """Refuse what is no time before anything is opened; the bank, whose zone counts, reads it."""
    read(given, datetime.now(UTC))
    return given


def _understood_or_end(given: str) -> str:
    return given if given == "end" else _understood(given)


def _said(given: str) -> str:
    if not given.strip():
        raise ValueError("this is empty; write something, or leave it out")
    return given


def _whole(given: Any) -> Any:
    """JSON has no whole numbers: 5.0 is 5."""
    return int(given) if isinstance(given, float) and given.is_integer() else given


def _few(given: Any) -> Any:
    """Before any of them is looked at: a request has room for two million."""
    if isinstance(given, list) and len(given) > MOST_SENT:
        raise ValueError(f"{len(given):,} messages are too many for one request; send at most {MOST_SENT:,}")
    return given


_TIME = {
    "type": "string",
    "format": "date-time-or-expression",
    "maxLength": LONGEST_TIME,
    "description": "ISO 8601 or an expression; without an offset it is local time of the bank's zone.",
    "examples": ["2025-03-14T09:26:00Z", "2025-03-14", "last Friday"],
}
TimeIn = Annotated[str, AfterValidator(_understood), WithJsonSchema(_TIME)]
TimeOrEndIn = Annotated[str, AfterValidator(_understood_or_end), WithJsonSchema(_TIME)]
NameIn = Annotated[str, StringConstraints(min_length=1, max_length=LONGEST_NAME), AfterValidator(_said)]


class Body(BaseModel):
    """A request: nothing that is not asked for, nothing turned into something else."""

    model_config = ConfigDict(extra="forbid", strict=True)


class IntervalIn(Body):
    """A stretch of time; a side that is null is open. A day or an expression is included, an instant ends it."""

    start: TimeIn | None = None
    end: TimeIn | None = None
    grain: Grain = "second"


def _shape(given: Any) -> str | None:
    match given:
        case str():
            return "time"
        case list():
            return "times"
        case dict() | IntervalIn():
            return "interval"
    return None


BetweenIn = Annotated[
    Annotated[TimeIn, Tag("time")]
    | Annotated[list[TimeIn | None], Field(min_length=1, max_length=2), Tag("times")]
    | Annotated[IntervalIn, Tag("interval")],
    Discriminator(
        _shape,
        custom_error_type="between",
        custom_error_message="a stretch of time is text ('last week'), a list of two times, or {start, end}",
    ),
]


class MessageIn(BaseModel):
    """One message. Fields of other systems may stand in it, and are left alone."""

    model_config = ConfigDict(extra="allow", strict=True)

    content: str | list[Any] | None = Field(None, examples=["I moved to Porto last week"])
    role: str | None = Field(None, examples=["user"])
    name: str | int | None = Field(None, examples=["Ana"])
    timestamp: str | int | float | None = Field(None, examples=["2025-03-10T09:30:00Z"])
    zone: str | None = Field(None, examples=["Europe/Lisbon", "+05:30"])
    id: str | int | None = None
    session: str | int | None = None
    metadata: dict[str, Any] | None = None
    media: Any = None


Said = str | MessageIn

# Recipes: the fields and defaults are the library's, the bounds those of a request.

BOUNDS: Mapping[str, tuple[float, float]] = {
    "candidates": (1, 1000),
    "min_similarity": (-1, 1),
    "rrf_k": (0, 1000),
    "rerank_weight": (0, 100),
    "read": (0, 100),
    "satf_anchors": (1, 1000),
    "satf_sigma": (0.001, 100_000),
    "satf_alpha": (0, 1000),
    "satf_gamma": (0, 1),
    "expand": (0, 20),
    "graph_seeds": (0, 1000),
    "graph_seed_similarity": (-1, 1),
    "graph_similarity": (-1, 1),
    "graph_decay": (0, 1),
    "graph_stop": (0, 1),
    "graph_share": (1, 1000),
    "min_edge": (0, 1),
    "entity_fan_out": (0, 1000),
    "temporal_similarity": (-1, 1),
    "temporal_decay": (0, 1),
    "tree_lambda": (0, 1),
    "tree_leaves": (1, 1000),
    "kept": (1, 200),
    "around": (0, 10),
}
"""A number of a recipe without bounds is not for requests."""
AMONG = {"channels": CHANNELS, "tools": TOOLS}


class RecipeBody(Body):
    """A recipe in a request; what is left out is as in the recipe of the library."""

    def recipe(self) -> Any:
        given = {
            name: tuple(one) if isinstance(one, list) else one for name, one in self.model_dump().items()
        }
        made: Any = Recipe if isinstance(self, RecipeIn) else AgentRecipe
        return made(**given)


def _recipe_field(name: str, hint: Any) -> Any:
    least, most = BOUNDS.get(name, (None, None))
    if name in AMONG:
        return some_of(AMONG[name])
    if hint is str:
        return Annotated[str, StringConstraints(max_length=100)]
    if hint is int:
        return whole(least, most)
    if hint is float:
        return Annotated[float, Field(ge=least, le=most)]
    if float in get_args(hint):  # `satf_sigma`, which may be a word
        (word,) = (one for one in get_args(hint) if one is not float)
        return Annotated[float, Field(ge=least, le=most)] | word
    return hint


def _recipe(title: str, recipe: type, said: str) -> type[RecipeBody]:
    hints = get_type_hints(recipe)
    made = {
        one.name: (
            _recipe_field(one.name, hints[one.name]),
            plain(one.default) if one.name in AMONG else one.default,
        )
        for one in fields(recipe)
        if hints[one.name] not in (int, float) or one.name in BOUNDS
    }
    return create_model(title, __base__=RecipeBody, __doc__=said, **made)  # type: ignore[call-overload, no-any-return]


def whole(least: float | None, most: float | None) -> Any:
    """A whole number. Bounds stand inside: given outside of a union they are not in its description."""
    return Annotated[int, Field(ge=least, le=most), BeforeValidator(_whole)]


def words(most: int, *, spaces: bool = False) -> Any:
    sized = StringConstraints(min_length=1, max_length=most)
    return Annotated[str, sized] if spaces else Annotated[str, sized, AfterValidator(_said)]


def one_of(among: tuple[Any, ...]) -> Any:
    return Literal[among]


def some_of(among: tuple[Any, ...]) -> Any:
    return Annotated[list[one_of(among)], Field(max_length=len(among))]  # type: ignore[misc]


def plain(default: Any) -> Any:
    return list(default) if isinstance(default, tuple) else default


RecipeIn = _recipe(
    "RecipeIn", Recipe, "How a recall is put together; what is left out is as in the default recipe."
)
AgentRecipeIn = _recipe(
    "AgentRecipeIn", AgentRecipe, "How an answer is put together; what is left out is as in the full recipe."
)


def type_of(kind: kinds.Argument) -> Any:
    match kind:
        case kinds.Moment(end=True):
            return TimeOrEndIn
        case kinds.Moment():
            return TimeIn
        case kinds.Stretch():
            return BetweenIn
        case kinds.Text(most=most, spaces=spaces):
            return words(most, spaces=spaces)
        case kinds.Texts(most=most):
            return Annotated[list[words(LONGEST_SENT)], Field(max_length=most)]  # type: ignore[misc]
        case kinds.Name(most=most):
            return words(most)
        case kinds.Label() | kinds.Zone() | kinds.Model():
            return NameIn
        case kinds.Whole(least=least, most=most):
            return whole(least, most)
        case kinds.Fraction():
            return Annotated[float, Field(ge=0, le=1)]
        case kinds.Number(most=most):
            return Annotated[float, Field(gt=0, le=most)]
        case kinds.Flag():
            return bool
        case kinds.Choice(among=among):
            return one_of(among)
        case kinds.Choices(among=among):
            return some_of(among)
        case kinds.Names(least=least, most=most, single=single):
            several = Annotated[list[NameIn], Field(min_length=least or None, max_length=most)]
            return NameIn | several if single else several
        case kinds.Metadata():
            return dict[str, Any]
        case kinds.Messages():
            return Annotated[Said | list[Said], BeforeValidator(_few)]
        case kinds.Budget():
            return one_of(BUDGETS) | whole(1, 1000)
        case kinds.Recipes(of=of):
            return RecipeIn if of == "recall" else AgentRecipeIn
    raise TypeError(f"{type(kind).__name__} is no kind of argument that travels")


def travels(one: Parameter) -> bool:
    return not isinstance(one.kind, kinds.Here)


def annotation(one: Parameter) -> Any:
    return type_of(one.kind) | None if one.optional else type_of(one.kind)


def default(one: Parameter) -> Any:
    """What stands for an argument that is left out: what may be null may be left out. `...` where it is needed."""
    if one.required:
        return None if one.optional else ...
    return plain(one.default)


def in_body(one: Parameter) -> tuple[Any, Any]:
    return annotation(one), Field(default(one), **_told(one))


def in_query(one: Parameter, name: str, *, required: bool = True) -> list[Signed]:
    """The query parameters of an argument: a stretch of time is two, `from` and `to`.

    `required=False`: the argument may be left out, since another operation at the address has none of the name.
    """
    if isinstance(one.kind, kinds.Stretch):
        return _sides(one.help.text.rstrip("."))
    of, given = annotation(one), default(one)
    if given is ... and not required:
        of, given = of | None, None
    made = [signed(name, Annotated[of, Query(**_told(one))], given)]
    if isinstance(one.kind, kinds.Moment) and one.kind.interval:
        made += _sides(f"A stretch of time instead of `{name}`")
    return made


def _sides(about: str) -> list[Signed]:
    since = Query(alias="from", description=f"{about}: from its beginning on.")
    until = Query(description=f"{about}: up to it; a day or an expression is included.")
    return [
        signed("from_", Annotated[TimeIn | None, since], None),
        signed("to", Annotated[TimeIn | None, until], None),
    ]


def signed(name: str, of: Any, default: Any = ...) -> Signed:
    """A parameter of a route's signature."""
    return Signed(
        name, Signed.KEYWORD_ONLY, annotation=of, default=Signed.empty if default is ... else default
    )


def _told(one: Parameter) -> dict[str, Any]:
    example = one.help.example
    return {"description": one.help.text or None, "examples": None if example is None else [example]}


def taken(value: Any) -> Any:
    """What came in a request, as an operation takes it."""
    if isinstance(value, IntervalIn):
        return (value.start, value.end)
    if isinstance(value, MessageIn):
        return value.model_dump(exclude_unset=True)
    if isinstance(value, RecipeBody):
        return value.recipe()
    return [taken(one) for one in value] if isinstance(value, list) else value


def items_of(result: Any) -> Any:
    """What a list, an iterator or another sequence holds."""
    return get_args(result)[0] if get_origin(result) is not None else Any
