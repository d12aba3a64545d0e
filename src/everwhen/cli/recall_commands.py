"""`recall`, `context`, `grep`, `turns`, `sessions`: ask the memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, TypedDict, TypeVar, cast

import typer

from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.safe_printing import printable
from everwhen.errors import UsageError
from everwhen.settings import CONTEXT_TOKENS, MAX_TOKENS

if TYPE_CHECKING:
    from datetime import datetime

    from everwhen.recall import Recall, Recipe
    from everwhen.time_arguments import TimeReader

T = TypeVar("T")
Between = Annotated[
    tuple[str, str] | None, typer.Option(help="Only what was said from A to B: ISO 8601 or expressions.")
]
AsOf = Annotated[str | None, typer.Option(help="What had been said by then.")]
KnownAt = Annotated[str | None, typer.Option(help="What the memory held then.")]
Limit = Annotated[int | None, typer.Option("--limit", "-n", min=1, help="Only the last so many [all].")]
"""For lists in the order of time."""


class BothTimes(TypedDict):
    """The two times that every reader takes."""

    as_of: datetime | None
    known_at: datetime | None


def both_times(clock: TimeReader, as_of: str | None, known_at: str | None) -> BothTimes:
    """`--as-of` and `--known-at`, read; each is the last instant of what it names."""
    return {"as_of": clock.last(as_of, "as_of"), "known_at": clock.last(known_at, "known_at")}


@app.command()
def recall(
    here: GlobalOptions,
    query: Annotated[str, typer.Argument(help="The question.")],
    at: Annotated[str | None, typer.Option(help="The moment of asking [now].")] = None,
    between: Between = None,
    before: Annotated[str | None, typer.Option(help="Only what was said before.")] = None,
    after: Annotated[str | None, typer.Option(help="Only what was said at or after.")] = None,
    as_of: AsOf = None,
    known_at: KnownAt = None,
    budget: Annotated[str, typer.Option(help="Thinking budget: low, mid, high or candidates.")] = "mid",
    recipe: Annotated[
        str | None, typer.Option(metavar="NAME", help="A recipe by name instead of a budget: mid or tempr.")
    ] = None,
    max_tokens: Annotated[int, typer.Option(help="Tokens that the answer may take.")] = MAX_TOKENS,
    order: Annotated[str, typer.Option(help="relevance, time or level.")] = "relevance",
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STAGE",
            help="Leave out a channel (semantic, keyword, graph, temporal) or a stage (fusion, rerank, context, "
            "speaker, facts); may be given several times.",
        ),
    ] = None,
    satf: Annotated[
        bool, typer.Option("--satf", help="Boost turns said near the dates of the other results (SATF).")
    ] = False,
    expand: Annotated[
        int, typer.Option(min=0, help="Turns before and after each memory that come along.")
    ] = 0,
    tree: Annotated[
        bool, typer.Option("--tree", help="Bring nodes of the memory tree along, as the question needs.")
    ] = False,
    gate: Annotated[
        str | None, typer.Option(help="Leave out what hardly helps: none, careful or strict.")
    ] = None,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "--top-k", "-n", min=1, help="Memories at the most [all that fit]."),
    ] = None,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain", help="Draw the plan, the parts of each score, timings and what was dropped."
        ),
    ] = False,
) -> None:
    """The memories that answer a question, with the reason for each."""
    here.expect_models()
    with here.open() as memory:
        zone, clock = here.zone_of(memory), here.clock(memory, at)
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

        draw(here, found, zone, limit)
    else:
        show(here, found, explain=False)


@app.command(name="context")
def prompt_context(
    here: GlobalOptions,
    query: Annotated[str, typer.Argument(help="What the user said last.")],
    at: Annotated[str | None, typer.Option(help="The moment of asking [now].")] = None,
    max_tokens: Annotated[int, typer.Option(help="Tokens that both parts may take.")] = CONTEXT_TOKENS,
) -> None:
    """What a prompt gets of the memory.

    A part that stays the same for a day, and what is recalled for a question.
    """
    with here.open() as memory:
        found = memory.context(query, at=here.clock(memory, at).at, max_tokens=max_tokens)
    if here.printed(found):
        return
    for part in (found.stable, found.fresh):
        if part:
            here.console.print(printable(part), soft_wrap=True)
    here.console.print(f"{found.tokens} tokens", style="dim")


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

    from everwhen.recipes import RECIPES, Gating
    from everwhen.recipes import for_budget as recipe
    from everwhen.settings import load

    if named is not None and named not in RECIPES:
        raise UsageError(f"unknown recipe '{named}'; use one of {', '.join(RECIPES)}")
    chosen = RECIPES[named] if named else recipe(int(budget) if budget.isdecimal() else budget, load())
    if satf:
        chosen = replace(chosen, name=f"{chosen.name}+satf", satf=True)
    if expand:
        chosen = replace(chosen, name=f"{chosen.name}+expand", expand=expand)
    if tree:
        chosen = replace(chosen, name=f"{chosen.name}+tree", tree=True)
    if gate is not None:
        if gate not in get_args(Gating):
            raise UsageError(f"unknown gate '{gate}'; use one of {', '.join(get_args(Gating))}")
        chosen = replace(chosen, name=f"{chosen.name}+{gate}", gate=cast("Gating", gate))
    for stage in without:
        chosen = chosen.without(stage)
    return chosen


def show(here: GlobalOptions, found: Recall, *, explain: bool, limit: int | None = None) -> None:
    """Memories as a person reads them: when, who, what, why."""
    from rich.table import Table
    from rich.text import Text

    from everwhen.recall.token_budget import NO_ROOM
    from everwhen.when.zones import zone_of

    if not found.memories:
        too_long = sum(one.reason == NO_ROOM for one in found.dropped)
        here.console.print(
            f"none of {too_long} memories is short enough; allow more tokens with --max-tokens"
            if too_long
            else "nothing in this memory answers that"
        )
        return
    table = Table(box=None, pad_edge=False, show_header=False)
    table.add_column("when", style="cyan", no_wrap=True)
    table.add_column("what")
    for memory in found.memories[:limit]:
        said = memory.said_at.astimezone(zone_of(memory.zone))
        words = Text.assemble((f"{printable(memory.speaker)}: ", "bold"), printable(memory.text))
        words.append(f"\n{memory.why}" if explain else "", style="dim")
        table.add_row(f"{said:%a %d %b %Y %H:%M}", words)
    here.console.print(table)
    shown = f"{limit} of " if limit and limit < len(found) else ""
    line = f"{shown}{len(found)} memories in {found.tokens} tokens, chosen from {found.trace['candidates']}"
    took = sum(found.trace["stages_ms"].values())
    here.console.print(f"{line}, {took:.0f} ms" if explain else line, style="dim")


@app.command()
def grep(
    here: GlobalOptions,
    pattern: Annotated[str, typer.Argument(help="Words as they stand, whatever the case.")],
    regex: Annotated[
        bool, typer.Option("--regex", "-E", help="The pattern is a regular expression.")
    ] = False,
    between: Between = None,
    limit: Annotated[int, typer.Option("--limit", "-n", help="Hits at the most.")] = 50,
) -> None:
    """Every turn that contains a pattern, in the order of time."""
    with here.open() as memory:
        window = here.clock(memory).window(between)
        hits = memory.grep(pattern, regex=regex, between=window, limit=limit)
    if here.printed(hits):
        return
    from rich.text import Text

    for hit in hits:
        words, done = Text(), 0
        for start, end in hit.spans:
            words.append(printable(hit.turn.text[done:start]))
            words.append(printable(hit.turn.text[start:end]), style="bold red")
            done = end
        words.append(printable(hit.turn.text[done:]))
        here.console.print(
            Text.assemble(
                (_when(hit.turn.said_at, hit.turn.zone), "cyan"), f" {printable(hit.turn.speaker)}: ", words
            )
        )
    if not hits:
        here.console.print(f"nothing contains '{printable(pattern)}'")


@app.command()
def turns(
    here: GlobalOptions,
    session: Annotated[str | None, typer.Option(help="Only this conversation.")] = None,
    between: Between = None,
    limit: Limit = None,
) -> None:
    """What was said, in the order of time."""
    with here.open() as memory:
        found = newest(memory.turns(session, here.clock(memory).window(between)), limit)
    if here.printed(found):
        return
    from rich.text import Text

    for turn in found:
        here.console.print(
            Text.assemble(
                (_when(turn.said_at, turn.zone), "cyan"),
                (f" {printable(turn.speaker)}: ", "bold"),
                printable(turn.text),
            )
        )


@app.command()
def sessions(here: GlobalOptions, limit: Limit = None) -> None:
    """The conversations, oldest first."""
    with here.open() as memory:
        found = newest(memory.sessions(), limit)
    if here.printed(found):
        return
    from rich.table import Table

    table = Table("session", "from", "to", "turns", "speakers", box=None, pad_edge=False)
    for one in found:
        table.add_row(
            printable(one.id),
            f"{one.first:%Y-%m-%d}",
            f"{one.last:%Y-%m-%d}",
            str(one.turns),
            printable(", ".join(one.speakers)),
        )
    here.console.print(table)


def newest(found: Sequence[T], limit: int | None) -> Sequence[T]:
    """The end of a list in the order of time."""
    return found if limit is None else found[-limit:]


def _when(instant: datetime, zone: str) -> str:
    from everwhen.when.zones import zone_of

    return f"{instant.astimezone(zone_of(zone)):%Y-%m-%d %H:%M}"
