"""`ask` and `chat`: answers in words, with a model or without one."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
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
HELP = "/recall [words] shows what was recalled, /why how the last answer came about, /quit ends it"


@dataclass(frozen=True)
class LastQuestion:
    """What was asked last in a chat."""

    words: str
    asked: datetime
    answer: Answer


@app.command()
def ask(
    context: typer.Context,
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
    here: GlobalOptions = context.obj
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
        answer = _stream(here, memory, question, chosen)
        _sources(here, answer, zone)
        if trace:
            _trace(here, answer)


@app.command()
def chat(
    context: typer.Context,
    model: Model = None,
    base_url: BaseUrl = None,
    name: Annotated[str | None, typer.Option(help="Who you are.")] = None,
    session: Annotated[str | None, typer.Option(help="Conversation to go on with [a new one].")] = None,
) -> None:
    """Talk with the memory: every exchange is remembered. /recall shows what was recalled, /quit ends it."""
    here: GlobalOptions = context.obj
    with here.open(create=True, llm_base_url=base_url) as memory:
        zone = here.zone_of(memory)
        conversation = session or f"chat-{datetime.now(UTC):%Y%m%dT%H%M%S}"
        here.console.print(f"bank {memory.bank}, session {printable(conversation)}. {HELP}", style="dim")
        last: LastQuestion | None = None
        while (words := _line()) is not None:
            if words in ("/quit", "/exit"):
                break
            if words.startswith("/"):
                _command(here, memory, words, last)
            elif words:
                asked = datetime.now(UTC)
                answer = _exchange(here, memory, words, asked, conversation, model, name, zone)
                last = LastQuestion(words, asked, answer) if answer else last


def _exchange(
    here: GlobalOptions,
    memory: Memory,
    words: str,
    asked: datetime,
    conversation: str,
    model: str | None,
    name: str | None,
    zone: str,
) -> Answer | None:
    """One exchange, answered and then remembered: a question is no answer to itself."""
    from everwhen.question import is_question

    answer = None
    # What is no question is only remembered when there is no model.
    if model not in (None, "none") or (model is None and _has_model()) or is_question(words):
        answer = _stream(here, memory, words, {"at": asked, "model": model, "session": conversation})
        _sources(here, answer, zone)
    said: list[dict[str, Any]] = [{"role": "user", "name": name, "content": words, "timestamp": asked}]
    if answer is not None:
        said.append({"role": "assistant", "content": answer.text, "timestamp": datetime.now(UTC)})
    memory.add(said, session=conversation, zone=here.zone)
    if answer is None:
        here.console.print("remembered", style="dim")
    return answer


def _has_model() -> bool:
    from everwhen.settings import load

    return load().llm not in (None, "none")


def _line() -> str | None:
    try:
        return input("> " if sys.stdin.isatty() else "").strip()
    except EOFError:
        return None


def _command(here: GlobalOptions, memory: Memory, words: str, last: LastQuestion | None) -> None:
    from everwhen.cli.recall_commands import show

    command, _, rest = words.partition(" ")
    if command == "/recall" and rest.strip():
        show(here, memory.recall(rest.strip()), explain=True, limit=10)
    elif command == "/recall" and last:
        before = last.asked - timedelta(microseconds=1)  # the question itself was no memory yet
        show(here, memory.recall(last.words, at=last.asked, before=before), explain=True, limit=10)
    elif command == "/why" and last:
        _trace(here, last.answer)
    elif command in ("/recall", "/why"):
        here.console.print("nothing was asked yet")
    else:
        here.console.print(HELP)


def _recipe(without: list[str]) -> AgentRecipe | None:
    if not without:
        return None
    from everwhen.agent_recipe import FULL

    recipe = FULL
    for stage in without:
        recipe = recipe.without(stage)
    return recipe


def _stream(here: GlobalOptions, memory: Memory, question: str, chosen: dict[str, Any]) -> Answer:
    """Print an answer as it comes."""
    from everwhen.types import Answer

    for piece in memory.ask_stream(question, **chosen):
        if isinstance(piece, Answer):
            print(flush=True)
            return piece
        print(printable(piece), end="", flush=True)
    raise AssertionError("a stream ends with its answer")


def _sources(here: GlobalOptions, answer: Answer, zone: str) -> None:
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


def _trace(here: GlobalOptions, answer: Answer) -> None:
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
