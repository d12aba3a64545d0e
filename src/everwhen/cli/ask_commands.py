"""`ask`: answers in words, with a model or without one; `chat`: a conversation that is remembered."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.facts import DECIDE
from everwhen.cli.safe_printing import local, printable, spoken_of

if TYPE_CHECKING:
    from everwhen.api.memory import Memory
    from everwhen.models.llm import LLM
    from everwhen.types import Answer, Context, Recall
    from everwhen.types.agent_recipe import AgentRecipe

Model = Annotated[
    str | None, Option(help="openai:…, anthropic:…, google:…, ollama:… or none [EVERWHEN_LLM, else none].")
]
BaseUrl = Annotated[str | None, Option("--base-url", help="A server that speaks the model's protocol.")]

HELP = (
    "/recall [words] shows what was recalled and why, /context what the model got, "
    "/ask QUESTION answers with sources, /why how that came about, /quit ends it"
)
MOST_BEFORE = 40
"""Turns of a conversation that is gone on with which a model is told."""
SPEAKERS = ("user", "assistant")
SHOWN = 3
"""Recalled memories that are shown without being asked for."""
WIDTH = 100
"""Characters of each."""


@app.command()
def ask(
    here: GlobalOptions,
    question: Annotated[str, Argument(help="The question.")],
    model: Model = None,
    base_url: BaseUrl = None,
    at: Annotated[str | None, Option(help="The moment of asking [now].")] = None,
    as_of: Annotated[str | None, Option(help="Only what had been said by then.")] = None,
    without: Annotated[
        list[str] | None,
        Option(
            metavar="STAGE",
            help="Leave out a stage (guidance, retrieval, rerank, dates) or tools (grep, vectors, events, facts, "
            "timeline, date_math); may be given several times.",
        ),
    ] = None,
    trace: Annotated[bool, Option("--trace", help="Show what was done for the answer.")] = False,
) -> None:
    """The answer to a question with the turns that bear it out; without a model, in the memory's own words."""
    here.expect_models()
    with here.reading(at, llm_base_url=base_url) as (memory, clock):
        then = clock.last(as_of, "as_of")
        chosen: dict[str, Any] = {"at": clock.at, "as_of": then, "model": model, "recipe": _recipe(without)}
        if here.json:
            here.print(memory.ask(question, **chosen))
            return
        answer = _stream(memory, question, chosen)
        _show_sources(here, answer, clock.zone)
        if trace:
            _show_trace(here, answer)


def _recipe(without: list[str] | None) -> AgentRecipe | None:
    if not without:
        return None
    from everwhen.types.agent_recipe import FULL

    recipe = FULL
    for stage in without:
        recipe = recipe.without(stage)
    return recipe


def _stream(memory: Memory, question: str, chosen: dict[str, Any]) -> Answer:
    """Print an answer as it comes."""
    from everwhen.types import Answer

    for piece in memory.ask_stream(question, **chosen):
        if isinstance(piece, Answer):
            print(flush=True)
            return piece
        print(printable(piece), end="", flush=True)
    raise AssertionError("a stream ends with its answer")


def _show_sources(here: GlobalOptions, answer: Answer, zone: str) -> None:
    """Where it comes from, and what it took."""
    for one in answer.citations:
        said = f"  {local(one.said_at, one.zone):%Y-%m-%d} "
        here.say((said, "cyan"), (f"{one.speaker}: ", "bold"), f"“{one.quote}”", (f"  {one.turn}", "dim"))
    # Without a model the time stands in the words already, in the zone in which it was said.
    for interval in answer.intervals if answer.method != "extractive" else ():
        here.say(f"  {spoken_of(interval, zone)}", style="green")
    for question in answer.asks:
        here.say((question, "yellow"), (f"  {DECIDE}", "dim"))
    used = answer.usage
    told = "extractive, no model" if not used.requests else f"{answer.method}, {used.requests} requests"
    tokens = f", {used.input_tokens:,} + {used.output_tokens:,} tokens" if used.requests else ""
    cost = f", ${used.cost:.4f}" if used.cost is not None else ""
    sure = "" if answer.abstained else f"; confidence {answer.confidence:.2f}"
    here.remark(f"({told}{tokens}{cost}{sure})")


def _show_trace(here: GlobalOptions, answer: Answer) -> None:
    trace = answer.trace
    for point in trace.get("guidance", ()):
        here.say(("look for  ", "cyan"), point)
    for step in trace.get("steps", ()):
        mark, colour = ("error", "red") if step.get("error") else ("tool", "cyan")
        tool, took = (f"{step['tool']} ", "bold"), (f"  {step['ms']:.0f} ms", "dim")
        here.say((f"{mark:8}  ", colour), tool, step["arguments"], took)
    for kind in ("dropped", "notes"):
        for line in trace.get(kind, ()):
            here.say((f"{kind:8}  ", "yellow"), str(line))
    for name, value in trace.items():
        if name not in ("guidance", "steps", "dropped", "notes", "by_phase") and value not in (None, [], ()):
            here.say((f"{name:8}  ", "cyan"), str(value))


class Chat:
    """A conversation with the memory alone: questions are answered from it, and what the user says is remembered."""

    model = "none"

    def __init__(self, here: GlobalOptions, memory: Memory, session: str, name: str | None) -> None:
        self.here = here
        self.memory = memory
        self.session = session
        self.name = name
        self.recalled: Recall | None = None
        self.context: Context | None = None
        self.answer: Answer | None = None

    def say(self, words: str) -> None:
        """Answer what the user says, and then remember it: a question is no answer to itself.

        The answer is not remembered: it repeats what the memory has, and would be a second source of it.
        """
        from everwhen.recall.question import is_question

        said = {"role": "user", "name": self.name, "content": words, "timestamp": datetime.now(UTC)}
        asked = is_question(words)
        if asked:
            self.ask(words)
        self.memory.add(said, session=self.session, zone=self.here.zone)
        if not asked:
            self.here.remark("remembered")

    def ask(self, question: str) -> Answer:
        """Answer from the memory, with sources."""
        asked = datetime.now(UTC)
        options: dict[str, Any] = {"at": asked, "model": self.model, "session": self.session}
        self.answer = _stream(self.memory, question, options)
        _show_sources(self.here, self.answer, self.here.zone_of(self.memory))
        self.recalled = self.memory.recall(question, at=asked)
        return self.answer

    def command(self, line: str) -> None:
        """What begins with a slash."""
        from everwhen.cli.recall_commands import show

        command, _, rest = line.partition(" ")
        words = rest.strip()
        recalled = self.memory.recall(words) if command == "/recall" and words else self.recalled
        if command == "/ask" and words:
            self.ask(words)
        elif command == "/recall" and recalled is not None:
            show(self.here, recalled, explain=True, limit=10)
        elif command == "/context" and self.context is not None:
            self.here.say(f"{self.context.stable}\n{self.context.fresh}".strip())
        elif command == "/why" and self.answer is not None:
            _show_trace(self.here, self.answer)
        elif command in ("/recall", "/context", "/why"):
            self.here.say("nothing was asked yet")
        else:
            self.here.say(HELP)


class ModelChat(Chat):
    """A conversation with a model, which gets what is known and what was recalled; every exchange is remembered."""

    def __init__(
        self, here: GlobalOptions, memory: Memory, session: str, name: str | None, model: str, llm: LLM
    ) -> None:
        super().__init__(here, memory, session, name)
        from everwhen.agents.wrapping.remembering import Remembering

        self.model = model
        self._llm = llm
        said = [(turn.role, turn.text) for turn in memory.turns(session) if turn.role in SPEAKERS]
        self._said = said[-MOST_BEFORE:]
        self._remembering = Remembering(
            memory, lambda: datetime.now(UTC), session, name, on_recall=self._show_recalled
        )

    def say(self, words: str) -> None:
        """One exchange."""
        from everwhen.agents.wrapping.remembering import Said
        from everwhen.models.llm.base import AssistantMessage, UserMessage
        from everwhen.models.prompts import load

        began = datetime.now(UTC)
        texts = (*(text for _, text in self._said), words)
        said = Said(words, ({"role": "user", "content": words},), texts)
        context = self._remembering.recalled(said)
        stable, fresh = (context.stable, context.fresh) if context else ("", "")
        dialogue = [
            UserMessage(text) if role == "user" else AssistantMessage(text) for role, text in self._said
        ]
        printed = 0

        def hear(tool: str, heard: str) -> None:
            """Print the words as they come; each time they are all that there are so far."""
            nonlocal printed
            if not tool:
                print(printable(heard[printed:]), end="", flush=True)
                printed = len(heard)

        reply = self._llm.converse(
            [*dialogue, UserMessage("\n\n".join(filter(None, (fresh, words))))],
            instructions="\n\n".join(filter(None, (load("chat", self._llm), stable))),
            hear=hear,
        ).text
        print(printable(reply[printed:]), flush=True)
        self._said += [("user", words), ("assistant", reply)]
        self._remembering.keep(said, reply, began)

    def _show_recalled(self, context: Context) -> None:
        """What was recalled for what the user says, in short."""
        self.context, self.recalled = context, context.recall
        if not context.fresh:
            return
        for one in context.recall.memories[:SHOWN]:
            line = " ".join(f"{local(one.said_at, one.zone):%Y-%m-%d} {one.speaker}: {one.text}".split())
            self.here.remark(f"  {line[:WIDTH]}{'…' * (len(line) > WIDTH)}")
        more = f"and {len(context.recall) - SHOWN} more, " if len(context.recall) > SHOWN else ""
        self.here.remark(f"  ({more}{context.tokens} tokens)")


@app.command()
def chat(
    here: GlobalOptions,
    model: Model = None,
    base_url: BaseUrl = None,
    name: Annotated[str | None, Option(help="Who you are.")] = None,
    session: Annotated[str | None, Option(help="Conversation to go on with [a new one].")] = None,
) -> None:
    """Talk with a model that remembers every exchange and shows what it recalls; without one, with the memory."""
    from everwhen.settings import load

    with here.open(create=True, llm_base_url=base_url) as memory:
        session = session or f"chat-{datetime.now(UTC):%Y%m%dT%H%M%S}"
        settings = load(llm_base_url=base_url)
        chosen = model or settings.llm or "none"
        talk = Chat(here, memory, session, name)
        if chosen != "none":
            from everwhen.models.llm import llm_of

            talk = ModelChat(here, memory, session, name, chosen, llm_of(settings, chosen))
        told = "no model" if chosen == "none" else chosen
        here.remark(f"bank {memory.bank}, session {session}, {told}. {HELP}")
        while (words := _line()) is not None and words not in ("/quit", "/exit"):
            if words.startswith("/"):
                talk.command(words)
            elif words:
                talk.say(words)


def _line() -> str | None:
    try:
        return input("> " if sys.stdin.isatty() else "").strip()
    except EOFError:
        return None
