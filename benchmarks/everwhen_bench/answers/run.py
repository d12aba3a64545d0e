"""The phases of an answer bench: contexts, answers, judgements, figures; each goes on where the last run stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from hashlib import sha256
from pathlib import Path
from time import perf_counter
from typing import Any

from everwhen.api.memory import Memory
from everwhen.errors import UsageError
from everwhen.models.llm.base import LLM, LLMError
from everwhen.types import Usage
from everwhen_bench.answers import prompts
from everwhen_bench.answers.figures import Line, figures
from everwhen_bench.answers.journal import Completion, Journal, Phase, Prompt, write_prompts
from everwhen_bench.answers.judge import Judge, exactly, held, verdict
from everwhen_bench.answers.questions import AnswerQuestion, Talk, asking_for, spread, talks
from everwhen_bench.answers.systems import System
from everwhen_bench.retrieval import Tally, fresh_bank

ANSWER_TOKENS, JUDGE_TOKENS = 64, 8
"""The longest answer and the longest verdict. Both data sets have short answers."""
AGENT_SHARE = 4
"""How many answers an agent's step may be as long as: a call carries quotes, dates and its own names."""
NO_ANSWER = frozenset({"refusal", "too long", "cut off", "schema"})
"""Problems that belong to one question: its answer is empty, and counts as wrong. Any other one stops the run, which
goes on from its journal."""

BY_WORDS = ("none", "exact", "holds")
"""Judges that are no model."""

Progress = Callable[[str, int, int], None]
"""Hears the phase, how much of it is done, and how much there is."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What is measured, and how. `judge` is `none`, `exact`, `holds` or the name of a model."""

    data_set: str
    data: Path
    systems: Sequence[System]
    model: str
    judge: str = "none"
    judge_prompts: Path | None = None
    limit: int | None = None
    kinds: tuple[str, ...] = ()
    """What the questions ask for; none: whatever it is."""
    tokens: int = 1024
    runs: int = 1
    answer_tokens: int = ANSWER_TOKENS
    home: Path | None = None
    journal: Path | None = None
    prompts_out: Path | None = None
    completions_in: Path | None = None

    @property
    def judged_by_model(self) -> bool:
        return self.judge not in BY_WORDS


def run(
    plan: Plan,
    llm: LLM | None,
    judge_llm: LLM | None = None,
    progress: Progress | None = None,
    *,
    agent_llm: LLM | None = None,
) -> dict[str, Any]:
    """Answer and judge. The agent asks `agent_llm`, the same model with room for its calls. Without a model, what is
    missing is written to `prompts_out`, and `waiting` says how much."""
    if plan.runs < 1:
        raise UsageError("--runs is at least 1")
    asked = spread(asking_for(talks(plan.data_set, plan.data), plan.kinds), plan.limit)
    journal = Journal(plan.journal, _settings(plan))
    if plan.completions_in:
        journal.read_completions(plan.completions_in)
    bench = _Bench(plan, asked, journal, Judge(plan.judge_prompts), progress or (lambda *_: None))
    seconds = bench.make_contexts(agent_llm or llm)
    for phase, model in (("answer", llm), ("judge", judge_llm)):
        waiting = bench.complete(phase, model)  # type: ignore[arg-type]
        if waiting:
            return bench.head() | {"waiting": waiting, "phase": phase, "prompts_out": str(plan.prompts_out)}
    return bench.head() | figures(list(bench.lines()), plan.judge, bench.spent(seconds))


def _settings(plan: Plan) -> dict[str, Any]:
    """What a context depends on, beside question and system."""
    digest = sha256(plan.data.read_bytes()).hexdigest()[:16]
    return {"data": digest, "data_set": plan.data_set, "tokens": plan.tokens}


class _Bench:
    def __init__(
        self, plan: Plan, asked: Sequence[Talk], journal: Journal, judge: Judge, progress: Progress
    ) -> None:
        self.plan, self.talks, self.journal, self.judge, self.progress = plan, asked, journal, judge, progress
        self.questions = [one for talk in asked for one in talk.questions]
        self.instructions = prompts.load("answer")

    def head(self) -> dict[str, Any]:
        plan = self.plan
        return {
            "bench": f"{plan.data_set} answers",
            "data": plan.data.name,
            "model": plan.model,
            "judge": plan.judge,
            "questions": len(self.questions),
            "runs_each": plan.runs,
            "context_tokens": plan.tokens,
        }

    # Contexts

    def make_contexts(self, llm: LLM | None) -> float:
        """What each system gives each question, from a fresh bank a conversation; the seconds that it took."""
        begun, done = perf_counter(), 0
        whole = len(self.questions) * len(self.plan.systems)
        for talk in self.talks:
            missing = [
                (question, system)
                for question in talk.questions
                for system in self.plan.systems
                if self._place(question, system) not in self.journal.contexts
            ]
            done += len(talk.questions) * len(self.plan.systems) - len(missing)
            if not missing:
                continue
            at_once = llm.concurrency if llm else 1
            with self._bank(talk) as memory, ThreadPoolExecutor(at_once, "everwhen-bench") as pool:
                given = pool.map(partial(self._given, memory, llm), missing)
                for (question, system), value in zip(missing, given, strict=True):
                    self.journal.keep_context(*self._place(question, system), value)
                    done += 1
                    self.progress("contexts", done, whole)
        return perf_counter() - begun

    def _place(self, question: AnswerQuestion, system: System) -> tuple[str, str]:
        """Where the journal keeps it. What a model had a part in is that model's."""
        return question.id, f"{system.name} by {self.plan.model}" if system.asks else system.name

    def _kept(self, question: AnswerQuestion, system: System) -> dict[str, Any]:
        return self.journal.contexts[self._place(question, system)]

    def _bank(self, talk: Talk) -> Any:
        name = f"bench-answers-{talk.name}"
        return fresh_bank(self.plan.home, name, list(talk.messages), Tally(), extract="rules")

    def _given(self, memory: Memory, llm: LLM | None, asked: tuple[AnswerQuestion, System]) -> dict[str, Any]:
        question, system = asked
        if system.asks and self.plan.prompts_out:
            raise UsageError(
                f"'{system.name}' asks in several steps, so its prompts cannot be written beforehand"
            )
        if system.context is not None:
            text = system.context(memory, question.text, question.at, self.plan.tokens)
            if not system.guided:
                return {"text": text}
            led = system.guide(memory, question.text, question.at, llm)
            return {**led, "text": text + led["text"]}
        try:
            return system.answer(memory, question.text, question.at, llm, self.plan.tokens)
        except LLMError as error:
            if error.problem not in NO_ANSWER:
                raise
            return {
                "answer": "", "abstained": False, "usage": asdict(error.usage), "problem": error.problem,
            }  # fmt: skip

    # Completions

    def complete(self, phase: Phase, llm: LLM | None) -> int:
        """Ask what was not asked yet; how many prompts wait for a model that is elsewhere."""
        if phase == "judge" and not self.plan.judged_by_model:
            return 0
        made = {
            prompt.key: prompt for prompt in (self._answers() if phase == "answer" else self._judgements())
        }
        missing = [prompt for key, prompt in made.items() if key not in self.journal.completions]
        if not missing:
            return 0
        if self.plan.prompts_out:
            return write_prompts(self.plan.prompts_out, missing)
        if llm is None:
            raise UsageError(f"{len(missing)} prompts have no completion; name a model with --llm")
        with ThreadPoolExecutor(llm.concurrency, "everwhen-bench") as pool:
            for done, (prompt, completion) in enumerate(
                zip(missing, pool.map(lambda one: _ask(llm, one), missing), strict=True), 1
            ):
                self.journal.keep(prompt.key, completion)
                self.progress(phase, done, len(missing))
        return 0

    def _answers(self) -> Iterator[Prompt]:
        """System by system, so that a run that is stopped has compared whole systems."""
        for turn in range(self.plan.runs):
            for system in self.plan.systems:
                for question in self.questions:
                    if system.context is not None:
                        yield self._answer_prompt(question, system, turn)

    def _answer_prompt(self, question: AnswerQuestion, system: System, turn: int) -> Prompt:
        context = self._kept(question, system)["text"]
        told = f"<memories>\n{context}</memories>\n" if context else "Nothing is remembered.\n"
        day = f"Asked on {question.at:%Y-%m-%d %A}.\n" if question.at else ""
        return Prompt(
            "answer", self.plan.model, self.instructions, f"{told}{day}Question: {question.text}",
            self.plan.answer_tokens, turn,
        )  # fmt: skip

    def _judgements(self) -> Iterator[Prompt]:
        for question, system, turn in self._asked():
            yield self._judge_prompt(question, self._answer(question, system, turn).text)

    def _judge_prompt(self, question: AnswerQuestion, answer: str) -> Prompt:
        return Prompt("judge", self.plan.judge, "", self.judge.prompt(question, answer), JUDGE_TOKENS)

    # What came of it

    def _asked(self) -> Iterator[tuple[AnswerQuestion, System, int]]:
        for turn in range(self.plan.runs):
            for system in self.plan.systems:
                if turn and system.context is None:
                    continue  # it was asked once
                for question in self.questions:
                    yield question, system, turn

    def _answer(self, question: AnswerQuestion, system: System, turn: int) -> Completion:
        if system.context is None:
            return Completion(str(self._kept(question, system)["answer"]))
        return self.journal.completions[self._answer_prompt(question, system, turn).key]

    def lines(self) -> Iterator[Line]:
        """One line for each question, system and run."""
        for question, system, turn in self._asked():
            answer = self._answer(question, system, turn)
            yield Line.scored(question, system.name, turn, answer.text, self._right(question, answer.text))

    def _right(self, question: AnswerQuestion, answer: str) -> bool | None:
        match self.plan.judge:
            case "none":
                return None
            case "exact":
                return exactly(question, answer)
            case "holds":
                return held(question, answer)
        # What cannot be read as a yes is none.
        reply = self.journal.completions[self._judge_prompt(question, answer).key]
        return bool(verdict(reply.text))

    def spent(self, context_seconds: float) -> dict[str, Any]:
        """Cost by phase; a prompt that two systems share was asked once, and counts once."""
        out: dict[str, Any] = {"contexts": {"seconds": round(context_seconds, 1)}}
        for phase, systems in (
            ("guidance", [one for one in self.plan.systems if one.guided]),
            ("agent", [one for one in self.plan.systems if one.recipe is not None]),
        ):
            given = [self._kept(question, system) for system in systems for question in self.questions]
            if given:
                out[phase] = {"questions": len(given)} | _sum(
                    [(Usage(**one["usage"]), one.get("problem")) for one in given]
                )
        made: list[tuple[Phase, Iterator[Prompt]]] = [("answer", self._answers())]
        if self.plan.judged_by_model:
            made.append(("judge", self._judgements()))
        for asked_in, asked in made:
            used = {prompt.key: self.journal.completions[prompt.key] for prompt in asked}
            out[asked_in] = {"prompts": len(used)} | _sum([(one.usage, one.problem) for one in used.values()])
        return out


def _sum(asked: Sequence[tuple[Usage, str | None]]) -> dict[str, Any]:
    """What was spent; the cost only where every price is known."""
    usages = [usage for usage, _ in asked]
    priced = [usage.cost for usage in usages if usage.cost is not None]
    return {
        "requests": sum(usage.requests for usage in usages),
        "input_tokens": sum(usage.input_tokens for usage in usages),
        "output_tokens": sum(usage.output_tokens for usage in usages),
        "cost": round(sum(priced), 6) if len(priced) == len(usages) and usages else None,
        "seconds": round(sum(usage.seconds for usage in usages), 1),
        "without_answer": sum(problem is not None for _, problem in asked),
    }


def _ask(llm: LLM, prompt: Prompt) -> Completion:
    try:
        reply = llm.complete(prompt.text, str, instructions=prompt.instructions)
    except LLMError as error:
        if error.problem not in NO_ANSWER:
            raise
        # What was cut off is still what the model said.
        return Completion(error.text, error.usage, None if error.text else error.problem)
    return Completion(reply.output, reply.usage)
