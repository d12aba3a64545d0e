"""What a command does beside its operation: ask before it forgets, show how far it is, print an answer as it comes.

The keyword arguments are options of the command, beside those of the operation's fields.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, cast, get_args

import typer
from typer import Argument, Option

from everwhen.api.operations import conversation, maintenance, questions
from everwhen.cli.app import GlobalOptions
from everwhen.cli.extract_behind import extract_behind, is_left
from everwhen.cli.printing import counting, printable, working
from everwhen.cli.renderers import show_receipt
from everwhen.errors import UsageError
from everwhen.types import Added, Answer, Consolidated, Receipt
from everwhen.types.answers import FULL, AgentRecipe
from everwhen.types.recall import RECIPES as NAMED_RECIPES
from everwhen.types.recall import Gating, Recipe, for_budget

if TYPE_CHECKING:
    from everwhen.api.memory import Memory

LONG = 20_000
"""Characters that take so long to embed that one wants to see it working."""
LATER = "none"
"""The setting `extract` of a bank that leaves extraction to `everwhen bank process`."""


def add(
    here: GlobalOptions,
    asked: conversation.Add,
    *,
    role: Annotated[str, Option(help="user, assistant, system or tool.")] = "user",
    name: Annotated[str | None, Option(help="Who said it.")] = None,
    wait: Annotated[
        bool | None,
        Option(
            "--wait/--no-wait",
            help="Wait until events and entities are extracted, or leave it for `bank process`. "
            "With neither, a process of its own extracts them behind the command.",
        ),
    ] = None,
) -> Added:
    texts = [_standard_input() if one == "-" else one for one in cast("list[str]", asked.messages)]
    asked = replace(asked, messages=[{"role": role, "content": one, "name": name} for one in texts])
    waits = wait or (wait is None and not here.own_process)
    long = sum(map(len, texts))
    with here.open(create=True, **({} if waits else {"extract": LATER})) as memory:
        with working(here, f"embedding {long:,} characters") if long > LONG else nullcontext():
            added = memory.perform(asked)
        if waits:
            extract(here, memory)
    if wait is None and not waits and not extract_behind(here):
        with here.open() as memory:
            extract(here, memory)
    return added


def _standard_input() -> str:
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except AttributeError:
        raise UsageError("there is no standard input to read; give the text as an argument") from None
    except UnicodeDecodeError as error:
        raise UsageError(
            f"standard input is not UTF-8 (byte {error.start}); convert it, with iconv for example"
        ) from None


def extract(here: GlobalOptions, memory: Memory) -> int:
    """Extract what is pending, with a progress bar; how many turns."""
    total = memory.stats().pending
    with counting(here, "extracting", total) as tick:
        return memory.process(progress=lambda left: tick(max(total - left, 0)))


def process(
    here: GlobalOptions,
    asked: maintenance.Process,
    *,
    lock: Annotated[int | None, Option(hidden=True)] = None,
) -> int:
    memory = here.use()
    done = extract(here, memory)
    while lock is not None and is_left(lock, memory):
        done += extract(here, memory)
    return done


def reextract(here: GlobalOptions, asked: maintenance.Reextract) -> int:
    memory = here.use()
    total = len(asked.turns) if asked.turns else memory.stats().turns
    with counting(here, "extracting", total) as tick:
        return memory.perform(replace(asked, progress=lambda left: tick(max(total - left, 0))))


def consolidate(here: GlobalOptions, asked: conversation.Consolidate) -> Consolidated:
    memory = here.use()
    extract(here, memory)
    with counting(here, "nodes") as tick:
        return memory.perform(replace(asked, progress=lambda built, _: tick(built)))


def reembed(
    here: GlobalOptions,
    asked: maintenance.Reembed,
    *,
    bank: Annotated[str | None, Argument(help="The bank; left out, that of --bank.")] = None,
) -> None:
    here.bank = bank or here.bank or "default"
    memory = here.use(embedder=here.banks().embedder_of(here.bank))  # whatever EVERWHEN_EMBEDDER says
    with counting(here, f"embedding with {asked.model}", memory.stats().turns) as tick:
        memory.perform(replace(asked, progress=tick))


def export(here: GlobalOptions, asked: maintenance.Export) -> int:
    memory = here.use()
    with counting(here, f"exporting {memory.bank}") as tick:
        return memory.perform(replace(asked, progress=tick))


def forget(
    here: GlobalOptions,
    asked: maintenance.Forget,
    *,
    yes: Annotated[bool, Option("--yes", "-y", help="Do not ask.")] = False,
) -> Receipt:
    memory = here.use()
    if not asked.dry_run and not yes:
        if not sys.stdin.isatty():
            raise UsageError(
                "forgetting cannot be undone: say --yes, or --dry-run to see what would be deleted"
            )
        planned = memory.perform(replace(asked, dry_run=True))
        show_receipt(here, planned)
        typer.confirm("Forget all of this for good?", abort=True)
    return memory.perform(asked)


def ask(
    here: GlobalOptions,
    asked: questions.Ask,
    *,
    base_url: Annotated[str | None, Option(help="A server that speaks the model's protocol.")] = None,
) -> Answer:
    memory = here.use(llm_base_url=base_url)
    return memory.perform(asked) if here.json else print_answer(memory, asked)


def print_answer(memory: Memory, asked: questions.Ask) -> Answer:
    """Print an answer as it comes."""
    for piece in memory.stream(asked):
        if isinstance(piece, Answer):
            print(flush=True)
            return piece
        print(printable(piece), end="", flush=True)
    raise AssertionError("a stream ends with its answer")


def recall_recipe(
    given: Mapping[str, Any],
    *,
    recipe: Annotated[
        str | None, Option(metavar="NAME", help="A recipe by name instead of a budget: mid, tempr or timem.")
    ] = None,
    without: Annotated[
        list[str] | None,
        Option(
            metavar="STAGE",
            help="Leave out a channel (semantic, keyword, graph, temporal) or a stage (fusion, rerank, read, latest, "
            "context, speaker, facts, dates). May be given several times.",
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
) -> Recipe | None:
    """The recipe of the budget, or the named one, with what the options change; None where they change nothing."""
    from everwhen.settings import load

    more: dict[str, Any] = {
        name: value for name, value in (("satf", satf), ("expand", expand), ("tree", tree)) if value
    }
    if recipe is None and not without and not more and gate is None:
        return None
    if recipe is not None and recipe not in NAMED_RECIPES:
        raise UsageError(f"unknown recipe '{recipe}'; use one of {', '.join(NAMED_RECIPES)}")
    chosen = NAMED_RECIPES[recipe] if recipe else for_budget(given.get("budget") or "mid", load())
    for name, value in more.items():
        chosen = replace(chosen, name=f"{chosen.name}+{name}", **{name: value})
    if gate is not None:
        if gate not in get_args(Gating):
            raise UsageError(f"unknown gate '{gate}'; use one of {', '.join(get_args(Gating))}")
        chosen = replace(chosen, name=f"{chosen.name}+{gate}", gate=cast("Gating", gate))
    for stage in without or ():
        chosen = chosen.without(stage)
    return chosen


def answer_recipe(
    given: Mapping[str, Any],
    *,
    without: Annotated[
        list[str] | None,
        Option(
            metavar="STAGE",
            help="Leave out a stage (guidance, retrieval, rerank, dates) or tools (grep, vectors, events, facts, "
            "timeline, date_math). May be given several times.",
        ),
    ] = None,
) -> AgentRecipe | None:
    """The full recipe without some stages; None where it is whole."""
    recipe = FULL
    for stage in without or ():
        recipe = recipe.without(stage)
    return recipe if without else None


PERFORMERS: dict[Any, Callable[..., Any]] = {
    conversation.Add: add,
    conversation.Consolidate: consolidate,
    questions.Ask: ask,
    maintenance.Process: process,
    maintenance.Reextract: reextract,
    maintenance.Reembed: reembed,
    maintenance.Export: export,
    maintenance.Forget: forget,
}
RECIPES: dict[str, Callable[..., Any]] = {"recall": recall_recipe, "answer": answer_recipe}
"""What makes a recipe of several options, by what it is a recipe of."""
ASK_MODELS = (questions.RecallMemories, questions.Ask, questions.When)
"""Operations that ask the packaged networks, which are opened while the rest is loaded."""
EPILOGS: dict[Any, str] = {maintenance.Forget: "`everwhen show grep WORD` shows the ids of turns."}
