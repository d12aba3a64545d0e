"""What the model gets to read before it answers: one system for each way to choose it, all in the same room.

All but the extractive one and the agent's fill the same number of tokens with turns under the dates of their days, and
the model is asked once, by the same prompt: so a difference between two of them is a difference in what was chosen.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from typing import Any

from everwhen.answer.answer_budget import RequestLimits
from everwhen.answer.preparation import guidance
from everwhen.api.memory import Memory
from everwhen.api.memory.answers import EXTRACTIVE
from everwhen.errors import UsageError
from everwhen.models.embedder import count_tokens
from everwhen.models.llm.base import LLM, LLMError
from everwhen.recall.question import parse
from everwhen.types.answers import FULL, AgentRecipe
from everwhen.types.recall import FOUR_WAY, MID, Recipe, header
from everwhen.types.turns import line
from everwhen_bench.answers.questions import NOT_KNOWN
from everwhen_time.interval import describe
from everwhen_time.zones import zone_of

Context = Callable[[Memory, str, datetime | None, int], str]
"""Memory, question, moment of asking and tokens to the text that the model reads."""


@dataclass(frozen=True, slots=True)
class System:
    """One row of the table: what it gives the model to read, or, without a `context`, how it answers by itself."""

    name: str
    about: str
    context: Context | None = None
    recipe: AgentRecipe | None = None
    """That of the agent, for a system that is one."""
    guided: bool = False
    """Whether the model is asked for guidance first, and reads it with the context."""

    @property
    def asks(self) -> bool:
        """Whether a model is asked before the answer, so that what comes of it is that model's."""
        return self.guided or self.recipe is not None

    def guide(self, memory: Memory, question: str, at: datetime | None, llm: LLM | None) -> dict[str, Any]:
        """What to look for, in lines that follow the context, and what asking for it took."""
        if llm is None:
            raise UsageError(f"'{self.name}' asks a model for guidance first; name one with --llm")
        room = RequestLimits(None, GUIDANCE_SECONDS, False)
        try:
            reply = guidance(llm, question, at or datetime.now(UTC), memory.zone, room)
        except LLMError as error:
            if error.problem not in ("schema", "cut off"):
                raise
            return {"text": "", "usage": asdict(error.usage), "problem": error.problem}
        points = "".join(f"- {point}\n" for point in reply.output)
        return {"text": f"# Look for\n{points}", "usage": asdict(reply.usage)}

    def answer(
        self, memory: Memory, question: str, at: datetime | None, llm: LLM | None, tokens: int
    ) -> dict[str, Any]:
        """The answer of a system that needs no context, with what it took. `tokens` are those of memories that an
        agent is shown at a time."""
        if self.recipe is not None and llm is None:
            raise UsageError(f"'{self.name}' asks a model in several steps; name one with --llm")
        model: LLM | str = EXTRACTIVE if self.recipe is None or llm is None else llm
        recipe = replace(self.recipe, longest=LETTERS * tokens) if self.recipe else None
        given = memory.ask(question, at=at, model=model, recipe=recipe)
        return {
            "answer": NOT_KNOWN if given.abstained else given.trace.get("short") or given.text,
            "abstained": given.abstained,
            "usage": asdict(given.usage),
            "tools": [step["tool"] for step in given.trace.get("steps", ())],
        }


GUIDANCE_SECONDS = 3600.0
"""For guidance; the model's own timeout is shorter."""
LETTERS = 4
"""Characters to a token of English, about."""

DENSE = Recipe(
    name="dense", channels=("semantic",), fusion="rrf", rerank=False, context=False, speaker=False,
    latest=False, facts=False,
)  # fmt: skip
"""What most memories for agents do: the turns whose vectors are nearest to the question's."""


def nothing(memory: Memory, question: str, at: datetime | None, tokens: int) -> str:
    """No memory at all: what the model says by itself."""
    return ""


def recent(memory: Memory, question: str, at: datetime | None, tokens: int) -> str:
    """The last turns before the question, as many as fit."""
    days: list[tuple[str, list[str]]] = []  # the newest first, as are the lines of each
    room = tokens
    for turn in reversed(memory.turns()):
        if at is not None and turn.said_at > at:
            continue
        heading = header(turn.said_at.astimezone(zone_of(turn.zone)).date())
        said = line(turn.speaker, turn.text)
        another = not days or days[-1][0] != heading
        room -= count_tokens(said) + (count_tokens(heading) if another else 0)
        if room < 0:
            break
        if another:
            days.append((heading, []))
        days[-1][1].append(said)
    return "".join(heading + "".join(reversed(lines)) for heading, lines in reversed(days))


def recalled(recipe: Recipe = MID, *, kinds: Sequence[str] | None = None, calendar: bool = True) -> Context:
    """What `recall` gives, and the date that the event calendar gives where one is asked for; without `calendar` the
    turns are as they were said."""
    chosen = recipe if calendar else recipe.without("dates")

    def context(memory: Memory, question: str, at: datetime | None, tokens: int) -> str:
        note = dated(memory, question, at) if calendar else ""
        room = max(0, tokens - count_tokens(note)) if note else tokens
        found = memory.recall(question, at=at, max_tokens=room, recipe=chosen, kinds=kinds)
        return found.as_context() + note

    return context


def dated(memory: Memory, question: str, at: datetime | None) -> str:
    """One line: what the calendar computed from the speaker's words, for a question about time."""
    if parse(question).kind != "when":
        return ""
    found = memory.when(question, at=at or datetime.now(UTC))
    if found is None:
        return ""
    return f"# Calendar\nThe time asked for is probably {describe(found.interval, found.zone)}.\n"


ABLATIONS: Mapping[str, AgentRecipe] = {
    "no initial retrieval": FULL.without("retrieval"),
    "no guidance": FULL.without("guidance"),
    "no rerank": FULL.without("rerank"),
    "no date filter": FULL.without("dates"),
    "grep only": FULL.without("vectors"),
    "vector only": FULL.without("grep"),
    "turns only": FULL.without("events"),
}
"""Chronos' seven (its table 3): one thing less each, under its name there."""
SYSTEMS: Mapping[str, System] = {
    one.name: one
    for one in (
        System("nothing", "no memory", nothing),
        System("recent", "the last turns", recent),
        System("dense", "plain dense retrieval over turns", recalled(DENSE, kinds=("turn",), calendar=False)),
        System("everwhen", "recall and the event calendar", recalled()),
        System("guided", "everwhen with guidance first", recalled(), guided=True),
        System("no rerank", "everwhen without the reranker", recalled(MID.without("rerank"))),
        System("no keyword", "everwhen without words (vector only)", recalled(MID.without("keyword"))),
        System("no semantic", "everwhen without meaning (words only)", recalled(MID.without("semantic"))),
        System("with graph", "everwhen with the memory graph", recalled(FOUR_WAY)),
        System("no time", "everwhen without the asked time", recalled(MID.without("temporal"))),
        System("no speaker", "everwhen without who spoke", recalled(MID.without("speaker"))),
        System(
            "turns only",
            "everwhen without events and facts",
            recalled(replace(MID.without("facts"), name="turns"), kinds=("turn",), calendar=False),
        ),
        System("extractive", "everwhen's own answer, no model"),
        System("agent", "everwhen's agent: the model with tools, several steps", recipe=FULL),
        *(System(f"agent {name}", f"the agent, {name}", recipe=one) for name, one in ABLATIONS.items()),
    )
}
SIDE_BY_SIDE = tuple(name for name, one in SYSTEMS.items() if not one.asks)
"""Those that one call answers, or none."""


def chosen(names: str | None) -> list[System]:
    """Systems by their names, parted by commas; all that one call can answer where none is named."""
    wanted = [one.strip() for one in names.split(",")] if names else list(SIDE_BY_SIDE)
    if unknown := [one for one in wanted if one not in SYSTEMS]:
        raise UsageError(f"no system '{unknown[0]}'; there are: {', '.join(SYSTEMS)}")
    return [SYSTEMS[one] for one in wanted]
