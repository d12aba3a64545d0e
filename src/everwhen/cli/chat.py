"""`chat`: a conversation that is remembered, with a model or without one."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

from typer import Option

from everwhen.api.operations.questions import Ask
from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.performers import print_answer
from everwhen.cli.printing import local, printable
from everwhen.cli.renderers import show_memories, show_sources, show_trace

if TYPE_CHECKING:
    from everwhen.api.memory import Memory
    from everwhen.models.llm.base import LLM
    from everwhen.types import Answer, Context, Recall

Model = Annotated[
    str | None, Option(help="openai:…, anthropic:…, google:…, ollama:… or none [EVERWHEN_LLM, else none].")
]
BaseUrl = Annotated[str | None, Option("--base-url", help="A server that speaks the model's protocol.")]

HELP = (
    "/recall [words] shows what was recalled and why, /context what the model got, "
    "/ask QUESTION answers with sources, /why how that came about, /quit ends it"
)
MOST_BEFORE = 40
"""Turns of an earlier conversation that a model gets when it goes on."""
SPEAKERS = ("user", "assistant")
SHOWN = 3
"""Recalled memories that are shown without being asked for."""
WIDTH = 100
"""Characters of each."""


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
        self.answer = print_answer(
            self.memory, Ask(question, at=asked, model=self.model, session=self.session)
        )
        show_sources(self.here, self.answer, self.here.zone_of(self.memory))
        self.recalled = self.memory.recall(question, at=asked)
        return self.answer

    def command(self, line: str) -> None:
        """What begins with a slash."""
        command, _, rest = line.partition(" ")
        words = rest.strip()
        recalled = self.memory.recall(words) if command == "/recall" and words else self.recalled
        if command == "/ask" and words:
            self.ask(words)
        elif command == "/recall" and recalled is not None:
            show_memories(self.here, recalled, why=True, limit=10)
        elif command == "/context" and self.context is not None:
            self.here.say(f"{self.context.stable}\n{self.context.fresh}".strip())
        elif command == "/why" and self.answer is not None:
            show_trace(self.here, self.answer)
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
            from everwhen.models.llm.pydantic_ai import llm_of

            talk = ModelChat(here, memory, session, name, chosen, llm_of(settings, chosen))
        with_model = "no model" if chosen == "none" else chosen
        here.remark(f"bank {memory.bank}, session {session}, {with_model}. {HELP}")
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
