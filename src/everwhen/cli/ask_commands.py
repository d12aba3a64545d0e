"""`ask`: answers in words, with a model or without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.safe_printing import printable, spoken_of

if TYPE_CHECKING:
    from everwhen.agent_recipe import AgentRecipe
    from everwhen.memory import Memory
    from everwhen.types import Answer

Model = Annotated[
    str | None,
    typer.Option(help="openai:…, anthropic:…, google:…, ollama:… or none [EVERWHEN_LLM, else none]."),
]
BaseUrl = Annotated[str | None, typer.Option("--base-url", help="A server that speaks the model's protocol.")]


@app.command()
def ask(
    here: GlobalOptions,
    question: Annotated[str, typer.Argument(help="The question.")],
    model: Model = None,
    base_url: BaseUrl = None,
    at: Annotated[str | None, typer.Option(help="The moment of asking [now].")] = None,
    as_of: Annotated[str | None, typer.Option(help="Only what had been said by then.")] = None,
    without: Annotated[
        list[str] | None,
        typer.Option(
            metavar="STAGE",
            help="Leave out a stage (guidance, retrieval, rerank, dates) or tools (grep, vectors, events, facts, "
            "timeline, date_math); may be given several times.",
        ),
    ] = None,
    trace: Annotated[bool, typer.Option("--trace", help="Show what was done for the answer.")] = False,
) -> None:
    """The answer to a question with the turns that bear it out; without a model, in the memory's own words."""
    here.expect_models()
    with here.open(llm_base_url=base_url) as memory:
        zone, clock = here.zone_of(memory), here.clock(memory, at)
        chosen: dict[str, Any] = {
            "at": clock.at,
            "as_of": clock.last(as_of, "as_of"),
            "model": model,
            "recipe": _recipe(without or []),
        }
        if here.json:
            here.print(memory.ask(question, **chosen))
            return
        answer = stream(memory, question, chosen)
        show_sources(here, answer, zone)
        if trace:
            show_trace(here, answer)


def _recipe(without: list[str]) -> AgentRecipe | None:
    if not without:
        return None
    from everwhen.agent_recipe import FULL

    recipe = FULL
    for stage in without:
        recipe = recipe.without(stage)
    return recipe


def stream(memory: Memory, question: str, chosen: dict[str, Any]) -> Answer:
    """Print an answer as it comes."""
    from everwhen.types import Answer

    for piece in memory.ask_stream(question, **chosen):
        if isinstance(piece, Answer):
            print(flush=True)
            return piece
        print(printable(piece), end="", flush=True)
    raise AssertionError("a stream ends with its answer")


def show_sources(here: GlobalOptions, answer: Answer, zone: str) -> None:
    """Where it comes from, and what it took."""
    from rich.text import Text

    from everwhen.when.zones import zone_of

    for one in answer.citations:
        day = one.said_at.astimezone(zone_of(zone))
        here.console.print(
            Text.assemble(
                (f"  {day:%Y-%m-%d} ", "cyan"),
                (f"{printable(one.speaker)}: ", "bold"),
                f"“{printable(one.quote)}”",
                (f"  {printable(one.turn)}", "dim"),
            )
        )
    # Without a model the time stands in the words already, in the zone in which it was said.
    for interval in answer.intervals if answer.method != "extractive" else ():
        here.console.print(f"  {spoken_of(interval, zone)}", style="green")
    used = answer.usage
    told = "extractive, no model" if not used.requests else f"{answer.method}, {used.requests} requests"
    tokens = f", {used.input_tokens:,} + {used.output_tokens:,} tokens" if used.requests else ""
    cost = f", ${used.cost:.4f}" if used.cost is not None else ""
    here.console.print(f"({told}{tokens}{cost}; confidence {answer.confidence:.2f})", style="dim")


def show_trace(here: GlobalOptions, answer: Answer) -> None:
    from rich.text import Text

    trace = answer.trace
    for point in trace.get("guidance", ()):
        here.console.print(Text.assemble(("look for  ", "cyan"), printable(point)))
    for step in trace.get("steps", ()):
        mark = "error" if step.get("error") else "tool"
        here.console.print(
            Text.assemble(
                (f"{mark:8}  ", "red" if step.get("error") else "cyan"),
                (f"{printable(step['tool'])} ", "bold"),
                printable(step["arguments"]),
                (f"  {step['ms']:.0f} ms", "dim"),
            )
        )
    for kind in ("dropped", "notes"):
        for line in trace.get(kind, ()):
            here.console.print(Text.assemble((f"{kind:8}  ", "yellow"), printable(str(line))))
    for name, value in trace.items():
        if name not in ("guidance", "steps", "dropped", "notes", "by_phase") and value not in (None, [], ()):
            here.console.print(Text.assemble((f"{name:8}  ", "cyan"), printable(str(value))))
