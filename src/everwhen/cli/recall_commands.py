"""`recall`, `context`: ask the memory; and the options that other readers have too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, TypedDict, TypeVar, cast

from typer import Argument, Option

from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.safe_printing import local, printable, styled, table
from everwhen.errors import UsageError
from everwhen.settings import CONTEXT_TOKENS, MAX_TOKENS

if TYPE_CHECKING:
    from datetime import datetime

    from everwhen.recall import Recall, Recipe
    from everwhen.types.time_arguments import TimeReader

T = TypeVar("T")
Asked = Annotated[str | None, Option(help="The moment of asking [now].")]
Between = Annotated[
    str | None, Option(metavar="TIME", help="Only what was said then: 'July 2025', or from A to B as A..B.")
]
AsOf = Annotated[str | None, Option(help="What had been said by then.")]
KnownAt = Annotated[str | None, Option(help="What the memory held then.")]
Limit = Annotated[int | None, Option("--limit", "-n", min=1, help="Only the last so many [all].")]
"""For lists in the order of time."""


class BothTimes(TypedDict):
    """The two times that every reader takes."""

    as_of: datetime | None
    known_at: datetime | None


def both_times(clock: TimeReader, as_of: str | None, known_at: str | None) -> BothTimes:
    """`--as-of` and `--known-at`, read; each is the last instant of what it names."""
    return {"as_of": clock.last(as_of, "as_of"), "known_at": clock.last(known_at, "known_at")}


def newest(found: Sequence[T], limit: int | None) -> Sequence[T]:
    """The end of a list in the order of time."""
    return found if limit is None else found[-limit:]


@app.command()
def recall(
    here: GlobalOptions,
    query: Annotated[str, Argument(help="The question.")],
    at: Asked = None,
    between: Between = None,
    before: Annotated[str | None, Option(help="Only what was said before.")] = None,
    after: Annotated[str | None, Option(help="Only what was said at or after.")] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    budget: Annotated[str, Option(help="Thinking budget: low, mid, high or candidates.")] = "mid",
    recipe: Annotated[
        str | None, Option(metavar="NAME", help="A recipe by name instead of a budget: mid, tempr or timem.")
    ] = None,
    max_tokens: Annotated[int, Option(help="Tokens that the answer may take.")] = MAX_TOKENS,
    order: Annotated[str, Option(help="relevance, time or level.")] = "relevance",
    without: Annotated[
        list[str] | None,
        Option(
            metavar="STAGE",
            help="Leave out a channel (semantic, keyword, graph, temporal) or a stage (fusion, rerank, context, "
            "speaker, facts); may be given several times.",
        ),
    ] = None,
    satf: Annotated[
        bool, Option("--satf", help="Boost turns said near the dates of the other results (SATF).")
    ] = False,
    expand: Annotated[int, Option(min=0, help="Turns before and after each memory that come along.")] = 0,
    tree: Annotated[
        bool, Option("--tree", help="Bring nodes of the memory tree along, as the question needs.")
    ] = False,
    gate: Annotated[str | None, Option(help="Leave out what hardly helps: none, careful or strict.")] = None,
    limit: Annotated[
        int | None, Option("--limit", "--top-k", "-n", min=1, help="Memories at the most [all that fit].")
    ] = None,
    explain: Annotated[
        bool,
        Option("--explain", help="Draw the plan, the parts of each score, timings and what was dropped."),
    ] = False,
) -> None:
    """The memories that answer a question, with the reason for each."""
    here.expect_models()
    with here.reading(at) as (memory, clock):
        found = memory.recall(
            query,
            at=clock.at,
            recipe=_recipe(recipe, budget, without or [], satf=satf, expand=expand, tree=tree, gate=gate),
            max_tokens=max_tokens,
            top_k=limit,
            between=clock.window(between, before, after),
            order=order,
            **both_times(clock, as_of, known_at),
        )
    if here.json:
        here.print(found)
    elif explain:
        from everwhen.cli.recall_explanation import explain as draw

        draw(here, found, clock.zone, limit)
    else:
        show(here, found, explain=False)


def _recipe(
    named: str | None,
    budget: str,
    without: list[str],
    *,
    satf: bool,
    expand: int,
    tree: bool,
    gate: str | None,
) -> Recipe:
    """The default recipe, or the named one, with what the options change."""
    from dataclasses import replace
    from typing import get_args

    from everwhen.settings import load
    from everwhen.types.recipes import RECIPES, Gating, for_budget

    if named is not None and named not in RECIPES:
        raise UsageError(f"unknown recipe '{named}'; use one of {', '.join(RECIPES)}")
    chosen = RECIPES[named] if named else for_budget(int(budget) if budget.isdecimal() else budget, load())
    more: dict[str, Any] = {"satf": satf, "expand": expand, "tree": tree}
    for name, value in more.items():
        if value:
            chosen = replace(chosen, name=f"{chosen.name}+{name}", **{name: value})
    if gate is not None:
        if gate not in get_args(Gating):
            raise UsageError(f"unknown gate '{gate}'; use one of {', '.join(get_args(Gating))}")
        chosen = replace(chosen, name=f"{chosen.name}+{gate}", gate=cast("Gating", gate))
    for stage in without:
        chosen = chosen.without(stage)
    return chosen


def show(here: GlobalOptions, found: Recall, *, explain: bool, limit: int | None = None) -> None:
    """Memories as a person reads them: when, who, what, why."""
    from everwhen.recall.token_budget import NO_ROOM

    if not found.memories:
        too_long = sum(one.reason == NO_ROOM for one in found.dropped)
        here.say(
            f"none of {too_long} memories is short enough; allow more tokens with --max-tokens"
            if too_long
            else "nothing in this memory answers that"
        )
        return
    listed = table(header=False)
    listed.add_column("when", style="cyan", no_wrap=True)
    listed.add_column("what")
    for memory in found.memories[:limit]:
        words = styled((f"{memory.speaker}: ", "bold"), memory.text)
        words.append(f"\n{memory.why}" if explain else "", style="dim")
        listed.add_row(f"{local(memory.said_at, memory.zone):%a %d %b %Y %H:%M}", words)
    here.console.print(listed)
    shown = f"{limit} of " if limit and limit < len(found) else ""
    line = f"{shown}{len(found)} memories in {found.tokens} tokens, chosen from {found.trace['candidates']}"
    took = sum(found.trace["stages_ms"].values())
    here.remark(f"{line}, {took:.0f} ms" if explain else line)


@app.command(name="context")
def prompt_context(
    here: GlobalOptions,
    query: Annotated[str, Argument(help="What the user said last.")],
    at: Asked = None,
    max_tokens: Annotated[int, Option(help="Tokens that both parts may take.")] = CONTEXT_TOKENS,
) -> None:
    """What a prompt gets of the memory.

    A part that stays the same for a day, and what is recalled for a question.
    """
    with here.reading(at) as (memory, clock):
        found = memory.context(query, at=clock.at, max_tokens=max_tokens)
    if here.printed(found):
        return
    for part in filter(None, (found.stable, found.fresh)):
        here.console.print(printable(part), soft_wrap=True)
    here.remark(f"{found.tokens} tokens")
