"""The answering loop: guidance, initial retrieval, tools until the model answers, and the answer checked.

Chronos' loop (ReAct by native tool calls) over both calendars, facts and timeline, bounded in steps, tokens, money and
time. What the memory holds is data throughout: see `view` for what goes in and `checking` for what comes out.
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextvars import Context
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeVar

from everwhen.answer.answer_budget import (
    WHAT_IT_IS,
    Budget,
    BudgetExhausted,
    Limit,
    RequestLimits,
    UsageMeter,
    size,
)
from everwhen.answer.checking import (
    CheckedAnswer,
    FinalAnswer,
    answer_tool,
    check_answer,
    cut_off,
    partial_text,
    read_call,
    read_words,
    showable_length,
    without_citations,
    without_unknown_links,
)
from everwhen.answer.preparation import (
    count_by_model,
    countable_events,
    counted_answer,
    counting_prompt,
    guidance,
    review_questions,
)
from everwhen.answer.tools import Toolbox, ToolContext, result_lines
from everwhen.answer.view import BankView, Labels, data, framed, is_echo, turn_lines
from everwhen.errors import UsageError
from everwhen.models.llm.base import (
    LLM,
    AssistantMessage,
    Line,
    LLMError,
    Reply,
    Tool,
    ToolCall,
    ToolResult,
    ToolResults,
    UserMessage,
)
from everwhen.models.prompts import load
from everwhen.store.sql.graph import GraphStore
from everwhen.types import Answer, Usage
from everwhen_time.zones import zone_of

MOST_CALLS = 8
"""Tool calls of one step that are run; more are answered with an error."""
RECENT = 6
"""Turns of the conversation so far that come with a question."""
SHOWN = 300
"""Characters of arguments and results that the trace keeps."""
NOW_ANSWER = "Answer now with the tool answer, from what you have. If it is not enough, set known to false."
UNDECIDED = "Not decided yet, so no fact. If one of these bears on the answer, end it by asking the user that question:"
NO_TOOLS = "Answer in plain words from the turns above, and cite them like [t3]. If they do not tell, say so."

Say = Callable[[str], None]
T = TypeVar("T")


class Cancelled(Exception):
    """Nobody waits for the answer any more."""


@dataclass
class Run:
    view: BankView
    llm: LLM
    question: str
    budget: Budget
    guide: LLM | None = None
    session: str | None = None
    account: GraphStore | None = None
    say: Say | None = None
    cancelled: Callable[[], bool] = lambda: False
    steps: list[dict[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    points: list[str] = field(default_factory=list)
    stopped: Limit | None = None
    found: int = 0

    def __post_init__(self) -> None:
        self.meter = UsageMeter(self.budget, self.account)
        self.labels = Labels(self.view.turn)
        recipe = self.view.recipe
        self.tools = Toolbox(ToolContext(self.view, self.labels), recipe.tools, recipe.dates)
        self.wordless = False  # the server takes no tools
        self.said = ""
        self.asks: tuple[str, ...] = ()
        self.speakers: list[str] = []

    def answer(self) -> Answer:
        """The answer, whatever it takes up to the budget. Raises `LLMError` where the model cannot be asked."""
        started = time.perf_counter()
        self._affordable()
        outcome: CheckedAnswer | None = None
        try:
            outcome = self._counted()
            if outcome is None:
                self._guide()
                outcome = self._talk()
        except BudgetExhausted as error:
            self.stopped = error.limit
            self.notes.append(f"the budget of {WHAT_IT_IS[error.limit]} is used up")
        usage = replace(self.meter.usage, seconds=time.perf_counter() - started)
        if outcome is None:
            return self._without_answer(usage)
        return Answer(
            text=outcome.text,
            citations=outcome.citations,
            intervals=outcome.intervals,
            abstained=not outcome.known,
            confidence=outcome.confidence,
            usage=usage,
            trace=self._trace(outcome.dropped),
            asks=self.asks,
        )

    def _affordable(self) -> None:
        for llm in (self.llm, self.guide or self.llm):
            if self.budget.in_money and llm.price(1000, 1000) is None:
                raise LLMError(
                    "budget",
                    f"nobody knows what {llm.name} costs, so a budget in money cannot be kept; "
                    "set one in tokens (EVERWHEN_ASK_TOKENS, EVERWHEN_BANK_TOKENS)",
                )

    def _guide(self) -> None:
        """What to look for; a question can do without it."""
        llm, view = self.guide or self.llm, self.view
        if view.recipe.guidance:
            asks = partial(guidance, llm, self.question, view.at, view.zone)
            self.points = self._before_talking("guidance", llm, self.question, asks) or []

    def _counted(self) -> CheckedAnswer | None:
        """How often something happened: the model says which events count, we count. None: it is asked as usual."""
        found = countable_events(self.view, self.question)
        if not found:
            return None
        asks = partial(count_by_model, self.llm, prompt := counting_prompt(self.question, found, self.labels))
        chosen = self._before_talking("count", self.llm, prompt, asks)
        final = counted_answer(found, chosen, self.view.zone) if chosen else None
        return check_answer(final, self.view, self.labels) if final else None

    def _before_talking(
        self, phase: str, llm: LLM, prompt: str, ask: Callable[[RequestLimits], Reply[T]]
    ) -> T | None:
        """What a model says to one request beside the dialogue; None where it fails and can be done without."""
        room = self.meter.room(llm, size([UserMessage(prompt)], (), load(phase, llm)), 0)
        try:
            reply = ask(room)
        except LLMError as error:
            self.meter.charge(phase, llm.name, error.usage)
            if self._late(error):
                raise BudgetExhausted("seconds") from error
            if llm is self.llm and error.problem not in ("schema", "cut off", "refusal", "rejected"):
                raise  # the model that has to answer cannot be asked at all
            self.notes.append(f"no {phase}: {error}")
            return None
        self.meter.charge(phase, llm.name, reply.usage)
        return reply.output

    def _talk(self) -> CheckedAnswer:
        dialogue: list[Line] = [UserMessage(self._opening())]
        for step in range(self.budget.steps + 1):
            if self.cancelled():
                raise Cancelled
            spoken = self._next(dialogue, step)
            dialogue.append(spoken)
            final, observed = self._acted(spoken, dialogue)
            if final is not None:
                return check_answer(final, self.view, self.labels)
            if observed is None:  # neither words of its own nor a call
                dialogue[-1:] = [UserMessage(NOW_ANSWER)]
            else:
                dialogue.append(observed)
        raise BudgetExhausted("steps")

    def _opening(self) -> str:
        """Everything that the model gets before it speaks: the day, the question, what to look for, first turns."""
        day = self.view.at.astimezone(zone_of(self.view.zone))
        parts = [f"Today is {day:%A %Y-%m-%d}. The question:\n{self.question}"]
        if self.session is not None and (before := self._before()):
            parts.append(f"The conversation that it belongs to, so far:\n{before}")
        if self.points:
            parts.append("Look for:\n" + "\n".join(f"- {point}" for point in self.points))
        if self.view.recipe.retrieval:
            parts.append(
                f"Turns that may bear on it (found: true) and those around them:\n{self._retrieved()}"
            )
        if self.view.as_of is None:
            self.asks = review_questions(self.view.bank, self.question, self.speakers)
        if self.asks:
            parts.append(f"{UNDECIDED}\n{framed('undecided', [data({'ask': one}) for one in self.asks])}")
        return "\n\n".join(parts)

    def _retrieved(self) -> str:
        """The best turns for the question with one before and after each, grouped by session under date headers
        (Chronos: 100 candidates, reranked, 15 kept)."""
        recipe = self.view.recipe
        turns, found = self.view.search(self.question, None, recipe.kept)
        self.found = len(found)
        self.speakers = [one.speaker for one in turns if one.role == "user"]
        return result_lines("turns", turn_lines(turns, self.labels, found), recipe.longest)

    def _before(self) -> str:
        """The last turns of the conversation that the question belongs to."""
        turns = self.view.session(self.session or "")[-RECENT:]
        return framed("conversation", turn_lines(turns, self.labels)) if turns else ""

    def _next(self, dialogue: list[Line], step: int) -> AssistantMessage:
        """One request, with what is left of the budget."""
        offered = [] if self.wordless else [*self.tools.offered(), answer_tool()]
        instructions = load("answer", self.llm)
        room = self.meter.room(self.llm, size(dialogue, offered, instructions), step)
        if room.last:
            offered = [] if self.wordless else [answer_tool()]
            self._add_words(dialogue, NO_TOOLS if self.wordless else NOW_ANSWER)
        try:
            spoken = self._asked(dialogue, offered, instructions, room)
        except LLMError as error:
            self.meter.charge("answer", self.llm.name, error.usage)
            if error.problem == "rejected" and not self.wordless and step == 0:
                self.notes.append(f"asked without tools: {error}")
                self.wordless = True
                self._add_words(dialogue, NO_TOOLS)
                return self._next(dialogue, step)
            if self._late(error):
                raise BudgetExhausted("seconds") from error
            if error.problem == "cut off" and (final := cut_off(error.text)) is not None:
                self.notes.append("the answer was cut off behind its text")
                return AssistantMessage(calls=(ToolCall("cut_off", "answer", final.model_dump_json()),))
            raise
        self.meter.charge("answer", self.llm.name, spoken.usage)
        return spoken

    def _late(self, error: LLMError) -> bool:
        """Whether it was our own clock that ran out."""
        return error.problem == "timeout" and time.monotonic() - self.meter.started >= self.budget.seconds

    def _asked(
        self, dialogue: list[Line], offered: list[Tool], instructions: str, room: RequestLimits
    ) -> AssistantMessage:
        def ask(must_call: bool) -> AssistantMessage:
            return self.llm.converse(
                dialogue,
                offered,
                instructions=instructions,
                must_call=must_call,
                max_tokens=room.answer,
                within=room.seconds,
                hear=self._hear if self.say else None,
            )

        must_call = room.last and bool(offered)
        try:
            return ask(must_call)
        except LLMError as error:
            if error.problem != "rejected" or not must_call:
                raise
            self.meter.charge("answer", self.llm.name, error.usage)
            return ask(False)  # some servers refuse a call that must use a tool

    @staticmethod
    def _add_words(dialogue: list[Line], words: str) -> None:
        last = dialogue[-1]
        if isinstance(last, UserMessage):
            if words not in last.text:
                dialogue[-1] = UserMessage(f"{last.text}\n\n{words}")
        else:
            dialogue.append(UserMessage(words))

    def _acted(
        self, spoken: AssistantMessage, dialogue: Sequence[Line]
    ) -> tuple[FinalAnswer | None, ToolResults | None]:
        """The answer if there is one, else what the tools gave."""
        if not spoken.calls:
            if not spoken.text.strip() or is_echo(spoken.text, _shown(dialogue)):
                return None, None
            return read_words(spoken.text), None
        wrong = ""
        for call in spoken.calls:
            if call.name == "answer":
                try:
                    return read_call(call.arguments), None
                except UsageError as error:
                    wrong = str(error)
        others = [call for call in spoken.calls if call.name != "answer"]
        given = dict(zip((call.id for call in others), self._ran(others[:MOST_CALLS]), strict=False))
        too_many = data({"error": f"at most {MOST_CALLS} calls in one step"})
        given |= {call.id: data({"error": wrong}) for call in spoken.calls if call.name == "answer"}
        return None, ToolResults(
            tuple(ToolResult(call, given.get(call.id, too_many)) for call in spoken.calls)
        )

    def _ran(self, calls: list[ToolCall]) -> list[str]:
        started = time.perf_counter()
        results = self.tools.call_all([(call.name, call.arguments) for call in calls])
        took = (time.perf_counter() - started) * 1000
        for call, result in zip(calls, results, strict=True):
            shown = {"tool": call.name, "arguments": call.arguments, "result": result}
            step: dict[str, Any] = {name: words[:SHOWN] for name, words in shown.items()}
            self.steps.append(step | {"error": result.startswith('{"error"'), "ms": round(took, 1)})
        return results

    # Streaming

    def _hear(self, tool: str, so_far: str) -> None:
        """Says as much of an answer as can no longer become a link or a picture."""
        if tool == "answer":
            text = partial_text(so_far)
        elif not tool and self.wordless:
            text = without_citations(so_far)
        else:
            return
        self._speak(text[: showable_length(text)].strip())

    def _speak(self, text: str) -> None:
        shown = without_unknown_links(text, lambda _: False)
        if self.say and len(shown) > len(self.said) and shown.startswith(self.said):
            self.say(shown[len(self.said) :])
            self.said = shown

    # What comes back

    def _without_answer(self, usage: Usage) -> Answer:
        assert self.stopped is not None
        looked = ", ".join(dict.fromkeys(step["tool"] for step in self.steps)) or "nothing yet"
        return Answer(
            text="I don't know: I stopped before I had an answer, because the budget of "
            f"{WHAT_IT_IS[self.stopped]} is used up (searched: {looked}).",
            abstained=True,
            usage=usage,
            trace=self._trace(()),
        )

    def _trace(self, dropped: tuple[str, ...]) -> dict[str, Any]:
        return {
            "method": self.llm.name,
            "recipe": self.view.recipe.name,
            "guidance": self.points,
            "found": self.found,
            "steps": self.steps,
            "dropped": list(dropped),
            "notes": self.notes,
            "stopped": self.stopped,
            "by_phase": self.meter.by_phase,
        }


def _shown(dialogue: Sequence[Line]) -> Iterator[str]:
    for line in dialogue:
        match line:
            case UserMessage():
                yield line.text
            case ToolResults():
                yield from (result.content for result in line.results)
            case AssistantMessage():
                pass


STEP = 0.5
"""Seconds between looks at whether the run is still alive."""


def streamed(
    run: Callable[[Callable[[str], None], Callable[[], bool]], Run], context: Context, pending: int
) -> Iterator[str | Answer]:
    """Pieces of the text as they come, and at last the answer itself, whose text is the one that counts.

    The run works on a thread of its own, in the context of the call; it ends at its next step when nobody listens any
    more. `pending` turns were not read when it began.
    """
    pieces: queue.SimpleQueue[str | Answer | BaseException] = queue.SimpleQueue()
    stopped = threading.Event()
    work = run(pieces.put, stopped.is_set)

    def finish() -> None:
        try:
            pieces.put(replace(work.answer(), pending=pending))
        except Cancelled:
            pass
        except BaseException as error:
            pieces.put(error)

    thread = threading.Thread(target=context.run, args=(finish,), name="everwhen-ask", daemon=True)
    thread.start()
    try:
        while True:
            try:
                piece = pieces.get(timeout=STEP)
            except queue.Empty:
                continue
            if isinstance(piece, BaseException):
                raise piece
            if isinstance(piece, Answer):
                if rest := _rest(work.said, piece.text):
                    yield rest
                yield piece
                return
            yield piece
    finally:
        stopped.set()


def _rest(said: str, text: str) -> str:
    """What of the answer was not streamed; all of it, on a new line, where what was streamed is not how it begins."""
    if text.startswith(said):
        return text[len(said) :]
    return f"\n{text}"
