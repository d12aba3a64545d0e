"""A command made of an operation: arguments, options, help, checks and completion come from the operation's fields.

What is shown is said once for each type of result (`renderers`), and what a command does beside its operation,
such as to ask before it forgets, in `performers`. The keyword arguments of both are options of the command as well.
"""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import UnionType
from typing import TYPE_CHECKING, Annotated, Any, Union, get_args, get_origin, get_type_hints

import typer
from typer.main import get_command_from_info
from typer.models import CommandInfo

from everwhen.api.operations.base import (
    MOMENT,
    STRETCH,
    OneOf,
    Parameter,
    RecipeField,
    arguments_of,
    extras,
    result_of,
)
from everwhen.api.operations.surface import operations
from everwhen.cli.app import GlobalOptions
from everwhen.cli.performers import ASK_MODELS, EPILOGS, PERFORMERS, RECIPES
from everwhen.cli.renderers import EXIT_CODES, NEWEST_LAST, RENDERERS, show_sentence

if TYPE_CHECKING:
    from everwhen.cli.command_table import Entry

OPTION, ARGUMENT = inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
FROM_EVERY_COMMAND = {"zone": "zone"}
"""Fields that an option of every command fills."""


def operation_command(name: str, entry: Entry, operation: Any = None) -> Any:
    """The command of an operation, as Typer runs it."""
    kind = operation or operations()[entry.operation]
    fields = {one.name: one for one in arguments_of(kind) if _is_asked_for(one)}
    render: Callable[..., None] = RENDERERS.get(result_of(kind), show_sentence)
    perform = PERFORMERS.get(kind)
    recipes = {one.name: RECIPES[of] for one in fields.values() if (of := _recipe_of(one))}
    own: dict[Any, Any] = {
        one: _own_options(one) for one in (render, perform, *recipes.values()) if one is not None
    }
    is_list = get_origin(result_of(kind)) is not None and "limit" not in fields
    is_list = is_list and issubclass(get_origin(result_of(kind)), list)

    def command(context: typer.Context, **given: Any) -> None:
        here: GlobalOptions = context.obj

        def options_of(function: Any) -> dict[str, Any]:
            return {one.name: given.get(one.name) for one in own.get(function, ())}

        limit = given.get("limit") if is_list else None
        values = {one: _value(fields[one], given[one]) for one in fields if one in given}
        values |= {one: make(values, **options_of(make)) for one, make in recipes.items()}
        values |= {one: getattr(here, of) for one, of in FROM_EVERY_COMMAND.items() if one in fields}
        here.asked = asked = kind(**{one: value for one, value in values.items() if value is not None})
        if kind in ASK_MODELS:
            here.expect_models()
        if perform is not None:
            found = perform(here, asked, **options_of(perform))
        else:
            found = here.use(create=kind.spec.creates).perform(asked)
        if isinstance(found, Iterator):
            found = list(found)
        if limit is not None:
            found = found[-limit:] if result_of(kind) in NEWEST_LAST else found[:limit]
        if not here.printed(found):
            render(here, found, **options_of(render))
        exit_code = EXIT_CODES.get(kind)
        if exit_code is not None and (code := exit_code(asked, found)):
            raise typer.Exit(code)

    taken = [_taken(one) for one in fields.values() if one.name not in {*recipes, *FROM_EVERY_COMMAND}]
    taken += [one for several in own.values() for one in several]
    if is_list:
        what = "Only the last so many." if result_of(kind) in NEWEST_LAST else "Only the first so many."
        hint = Annotated[int | None, typer.Option("--limit", "-n", min=1, help=f"{what} Default: all.")]
        taken.append(inspect.Parameter("limit", OPTION, default=None, annotation=hint))
    context = inspect.Parameter("context", ARGUMENT, annotation=typer.Context)
    arguments = [one for one in taken if isinstance(_of_typer(one), typer.models.ArgumentInfo)]
    arguments.sort(key=lambda one: one.default is not inspect.Parameter.empty)
    listed = [context, *arguments, *(one for one in taken if one not in arguments)]
    command.__signature__ = inspect.Signature([one.replace(kind=OPTION) for one in listed])  # type: ignore[attr-defined]
    command.__annotations__ = {one.name: one.annotation for one in listed}
    info = CommandInfo(name, callback=command, help=_help(kind), epilog=EPILOGS.get(kind))
    return get_command_from_info(info, pretty_exceptions_short=False, rich_markup_mode=None)


def _help(kind: Any) -> str:
    """What the operation says of itself, its arguments named as options."""
    names = "|".join(one.name for one in arguments_of(kind) if not (one.required and one.positional))
    return re.sub(
        rf"`({names or '-'})`", lambda found: f"--{found[1].replace('_', '-')}", inspect.getdoc(kind) or ""
    )


def _of_typer(one: inspect.Parameter) -> Any:
    return next(iter(get_args(one.annotation)[1:]), None)


def _own_options(function: Callable[..., Any]) -> list[inspect.Parameter]:
    """The annotated arguments of what shows a result, or does more than an operation."""
    hints = get_type_hints(function, vars(inspect.getmodule(function)), include_extras=True)
    return [
        one.replace(annotation=hints[one.name])
        for one in inspect.signature(function).parameters.values()
        if get_origin(hints.get(one.name)) is Annotated
    ]


def _is_asked_for(one: Parameter) -> bool:
    """Whether somebody can write it on a command line: all but functions."""
    return one.travels or Path in get_args(one.plain)


def _recipe_of(one: Parameter) -> str | None:
    return next((extra.of for extra in extras(one.annotation) if isinstance(extra, RecipeField)), None)


def _kinds(one: Parameter) -> set[Any]:
    """The types that an argument may have: `str | Sequence[str]` is two."""
    is_union = get_origin(one.plain) in (Union, UnionType)
    return {get_origin(hint) or hint for hint in (get_args(one.plain) if is_union else (one.plain,))}


def _is_list(one: Parameter) -> bool:
    return not {MOMENT, STRETCH} & one.marks and bool({Sequence, Iterable} & _kinds(one))


def _taken(one: Parameter) -> inspect.Parameter:
    """A field of an operation as Typer takes an argument or option."""
    line = one.command_line
    is_argument = one.required and one.positional if line.positional is None else line.positional
    words = next((extra.words for extra in extras(one.annotation) if isinstance(extra, OneOf)), ())
    default = one.default if line.default is None else line.default
    shown: dict[str, Any] = {"help": one.description or None}
    hint: Any = str
    if bool in _kinds(one):
        hint = bool
    elif words:
        shown["autocompletion"] = lambda incomplete: [word for word in words if word.startswith(incomplete)]
        shown["metavar"] = "|".join(words) if len(words) < 6 else None
        if len(words) >= 6:
            shown["help"] = f"{one.description} One of {', '.join(words)}.".strip()
    elif not is_argument:
        shown["metavar"] = _metavar(one)
    if hint is not bool and _is_list(one):
        hint, default = list[str], default or None
        shown["help"] = (
            f"{one.description} May be given several times.".strip() if not is_argument else one.description
        )
    if one.required:
        default = inspect.Parameter.empty
    elif default is inspect.Parameter.empty or default is None:
        hint, default = hint | None, None
    elif hint is str:
        default = str(default)
    if is_argument:
        made: Any = typer.Argument(**shown, show_default=default is not None)
    else:
        long = f"--{one.name.replace('_', '-')}"
        names = [*line.names] if any(name.startswith("--") for name in line.names) else [long, *line.names]
        if hint is bool:
            shown.pop("metavar", None)
            names[0] = names[0] if not default or "/" in names[0] else f"{names[0]}/--no-{names[0][2:]}"
        made = typer.Option(*names, **shown, show_default=bool(default) and hint is not bool)
    return inspect.Parameter(one.name, OPTION, default=default, annotation=Annotated[hint, made])


def _metavar(one: Parameter) -> str:
    """What stands for a value in the help of an option."""
    if {MOMENT, STRETCH} & one.marks:
        return "TIME"
    kinds = _kinds(one)
    if str not in kinds and {int, float} & kinds:
        return "N"
    return "JSON" if Mapping in kinds else "TEXT"


def _value(one: Parameter, given: Any) -> Any:
    """What was written, as the operation takes it. What is none is left as it stands: the operation says so."""
    if isinstance(given, list | tuple):
        return list(given) or None
    kinds = _kinds(one)
    if not isinstance(given, str) or {MOMENT, STRETCH} & one.marks:
        return given
    for read in (kind for kind in (int, float) if kind in kinds):
        try:
            return read(given)
        except ValueError:
            continue
    if Mapping in kinds:
        try:
            return json.loads(given)
        except ValueError:
            return given
    return given
