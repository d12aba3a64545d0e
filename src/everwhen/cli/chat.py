"""`chat`: a conversation with a model that remembers, or without one with the memory itself."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

from everwhen.cli.app import GlobalOptions, app
from everwhen.cli.ask_commands import BaseUrl, Model, show_sources, show_trace, stream
from everwhen.cli.safe_printing import printable

if TYPE_CHECKING:
    from everwhen.memory import Memory
    from everwhen.models.llm import LLM
    from everwhen.types import Answer, Context, Recall

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


class Chat:
    """A conversation with the memory alone: questions are answered from it, all else is remembered."""

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
        """Answer what the user says, and then remember it: a question is no answer to itself."""
        from everwhen.question import is_question

        asked = datetime.now(UTC)
        said: list[dict[str, Any]] = [
            {"role": "user", "name": self.name, "content": words, "timestamp": asked}
        ]
        if is_question(words):
            answer = self.ask(words)
            said.append({"role": "assistant", "content": answer.text, "timestamp": datetime.now(UTC)})
        self.memory.add(said, session=self.session, zone=self.here.zone)
        if len(said) == 1:
            self.here.console.print("remembered", style="dim")

    def ask(self, question: str) -> Answer:
        """Answer from the memory, with sources."""
        asked = datetime.now(UTC)
        options: dict[str, Any] = {"at": asked, "model": self.model, "session": self.session}
        self.answer = stream(self.memory, question, options)
        show_sources(self.here, self.answer, self.here.zone_of(self.memory))
        self.recalled = self.memory.recall(question, at=asked)
        return self.answer

    def command(self, line: str) -> None:
        """What begins with a slash."""
        from everwhen.cli.recall_commands import show

        command, _, rest = line.partition(" ")
        words = rest.strip()
        if command == "/ask" and words:
            self.ask(words)
        elif command == "/recall" and words:
            show(self.here, self.memory.recall(words), explain=True, limit=10)
        elif command == "/recall" and self.recalled is not None:
            show(self.here, self.recalled, explain=True, limit=10)
        elif command == "/context" and self.context is not None:
            self.here.console.print(printable(f"{self.context.stable}\n{self.context.fresh}".strip()))
        elif command == "/why" and self.answer is not None:
            show_trace(self.here, self.answer)
        elif command in ("/recall", "/context", "/why"):
            self.here.console.print("nothing was asked yet")
        else:
            self.here.console.print(HELP)


class ModelChat(Chat):
    """A conversation with a model, which gets what is known and what was recalled; every exchange is remembered."""

    def __init__(
        self, here: GlobalOptions, memory: Memory, session: str, name: str | None, model: str, llm: LLM
    ) -> None:
        super().__init__(here, memory, session, name)
        from everwhen.agent.wrapping.remembering import Remembering

        self.model = model
        self._llm = llm
        self._said = [(turn.role, turn.text) for turn in memory.turns(session) if turn.role in SPEAKERS]
        self._said = self._said[-MOST_BEFORE:]
        self._remembering = Remembering(
            memory, lambda: datetime.now(UTC), session, name, on_recall=self._show_recalled
        )

    def say(self, words: str) -> None:
        """One exchange."""
        from everwhen.agent.wrapping.remembering import Said
        from everwhen.models.llm.base import AssistantMessage, UserMessage
        from everwhen.prompts import load

        began = datetime.now(UTC)
        texts = (*(text for _, text in self._said), words)
        said = Said(words, ({"role": "user", "content": words},), texts)
        context = self._remembering.recalled(said)
        stable, fresh = (context.stable, context.fresh) if context else ("", "")
        dialogue = [
            UserMessage(text) if role == "user" else AssistantMessage(text) for role, text in self._said
        ]
        told = _Printed()
        reply = self._llm.converse(
            [*dialogue, UserMessage("\n\n".join(filter(None, (fresh, words))))],
            instructions="\n\n".join(filter(None, (load("chat"), stable))),
            hear=told.hear,
        ).text
        told.end(reply)
        self._said += [("user", words), ("assistant", reply)]
        self._remembering.keep(said, reply, began)

    def _show_recalled(self, context: Context) -> None:
        """What was recalled for what the user says, in short."""
        self.context, self.recalled = context, context.recall
        if not context.fresh:
            return
        for one in context.recall.memories[:SHOWN]:
            line = " ".join(f"{one.said_at:%Y-%m-%d} {one.speaker}: {one.text}".split())
            self.here.console.print(f"  {printable(line[:WIDTH])}{'…' * (len(line) > WIDTH)}", style="dim")
        more = f"and {len(context.recall) - SHOWN} more, " if len(context.recall) > SHOWN else ""
        self.here.console.print(f"  ({more}{context.tokens} tokens)", style="dim")


class _Printed:
    """Prints words as they come."""

    def __init__(self) -> None:
        self._heard = ""

    def hear(self, tool: str, words: str) -> None:
        if not tool:
            print(printable(words[len(self._heard) :]), end="", flush=True)
            self._heard = words

    def end(self, words: str) -> None:
        """The rest, and the end of the line."""
        print(printable(words[len(self._heard) :]), flush=True)


@app.command()
def chat(
    here: GlobalOptions,
    model: Model = None,
    base_url: BaseUrl = None,
    name: Annotated[str | None, typer.Option(help="Who you are.")] = None,
    session: Annotated[str | None, typer.Option(help="Conversation to go on with [a new one].")] = None,
) -> None:
    """Talk with a model that remembers every exchange and shows what it recalls; without one, with the memory."""
    with here.open(create=True, llm_base_url=base_url) as memory:
        talk = _opened(
            here, memory, model, base_url, name, session or f"chat-{datetime.now(UTC):%Y%m%dT%H%M%S}"
        )
        here.console.print(
            f"bank {memory.bank}, session {printable(talk.session)}, "
            f"{'no model' if talk.model == 'none' else printable(talk.model)}. {HELP}",
            style="dim",
        )
        while (words := _line()) is not None and words not in ("/quit", "/exit"):
            if words.startswith("/"):
                talk.command(words)
            elif words:
                talk.say(words)


def _opened(
    here: GlobalOptions,
    memory: Memory,
    model: str | None,
    base_url: str | None,
    name: str | None,
    session: str,
) -> Chat:
    from everwhen.settings import load

    settings = load(llm_base_url=base_url)
    chosen = model or settings.llm or "none"
    if chosen == "none":
        return Chat(here, memory, session, name)
    from everwhen.models.llm import llm_of

    return ModelChat(here, memory, session, name, chosen, llm_of(settings, chosen))


def _line() -> str | None:
    try:
        return input("> " if sys.stdin.isatty() else "").strip()
    except EOFError:
        return None
