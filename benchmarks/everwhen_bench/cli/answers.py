"""`bench locomo|longmemeval --llm …`: answers and judgements beside the evidence."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, fields
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

from everwhen.cli.app import GlobalOptions
from everwhen.errors import UsageError

if TYPE_CHECKING:
    from everwhen.models.llm.base import LLM

Llm = Annotated[
    str | None, typer.Option(help="Answer with a model too: openai:<model>, anthropic:<model>, …")
]
BaseUrl = Annotated[str | None, typer.Option(help="A server that speaks the model's protocol.")]
JudgeBy = Annotated[
    str | None,
    typer.Option("--judge", help="Who judges: a model, `exact`, `holds` or `none` [the model itself]."),
]
JudgePrompts = Annotated[Path | None, typer.Option(help="JSON with prompts of the judge by rule.")]
Runs = Annotated[int, typer.Option(help="How often each question is answered.")]
Systems = Annotated[str | None, typer.Option(help="Systems side by side, parted by commas.")]
ContextTokens = Annotated[int, typer.Option(help="Tokens of memories that each system may show.")]
AnswerTokens = Annotated[int, typer.Option(help="The longest answer.")]
JournalFile = Annotated[
    Path | None, typer.Option("--journal", help="JSONL of what is done; the run goes on from it.")
]
PromptsOut = Annotated[
    Path | None, typer.Option(help="Write the prompts that wait for an answer, ask nobody.")
]
CompletionsIn = Annotated[Path | None, typer.Option(help='JSONL of {"key", "text"}: answers made elsewhere.')]


Kinds = Annotated[
    str | None,
    typer.Option(help="Only questions that ask for these, parted by commas: yes or no, count, when, …"),
]


@dataclass(frozen=True, slots=True)
class Answering:
    """The options of an answer bench as they were given."""

    llm: Llm = None
    base_url: BaseUrl = None
    judge: JudgeBy = None
    judge_prompts: JudgePrompts = None
    runs: Runs = 1
    systems: Systems = None
    kinds: Kinds = None
    context_tokens: ContextTokens = 1024
    answer_tokens: AnswerTokens = 64
    journal: JournalFile = None
    prompts_out: PromptsOut = None
    completions_in: CompletionsIn = None

    @property
    def wanted(self) -> bool:
        return any((self.llm, self.prompts_out, self.completions_in, self.systems))


def with_answers(command: Callable[..., None]) -> Callable[..., None]:
    """The command with these options beside its own; it gets them together, as `answering`."""
    hints = get_type_hints(Answering, include_extras=True)
    shared = [
        Parameter(one.name, Parameter.KEYWORD_ONLY, default=one.default, annotation=hints[one.name])
        for one in fields(Answering)
    ]
    own = [one for one in signature(command, eval_str=True).parameters.values() if one.name != "answering"]

    def whole(**given: Any) -> None:
        answering = Answering(**{one.name: given.pop(one.name) for one in shared})
        command(**given, answering=answering)

    together = [one.replace(kind=Parameter.KEYWORD_ONLY) for one in (*own, *shared)]
    whole.__name__, whole.__doc__ = command.__name__, command.__doc__
    whole.__signature__ = Signature(together)  # type: ignore[attr-defined]
    whole.__annotations__ = {one.name: one.annotation for one in together}
    return whole


def answer(
    here: GlobalOptions, data_set: str, data: Path, limit: int | None, given: Answering
) -> dict[str, Any]:
    """Run the bench; what `--out` writes."""
    from everwhen_bench.answers.run import AGENT_SHARE, JUDGE_TOKENS, Plan, run
    from everwhen_bench.answers.systems import chosen

    systems = chosen(given.systems)
    asks = any(one.context is not None or one.recipe is not None for one in systems)
    if asks and not (given.llm or given.prompts_out or given.completions_in):
        raise UsageError("name a model with --llm, or write the prompts for one with --prompts-out")
    named = given.llm or "elsewhere"
    judge = given.judge or (named if asks else "holds")
    plan = Plan(
        data_set=data_set,
        data=data,
        systems=systems,
        model=named,
        judge=judge,
        judge_prompts=given.judge_prompts,
        limit=limit,
        kinds=_kinds(given.kinds),
        tokens=given.context_tokens,
        runs=given.runs,
        answer_tokens=given.answer_tokens,
        home=here.home,
        journal=given.journal,
        prompts_out=given.prompts_out,
        completions_in=given.completions_in,
    )
    asked = _model(given.llm, given.base_url, given.answer_tokens, given.runs)
    judging = _model(judge, given.base_url, JUDGE_TOKENS, 1) if plan.judged_by_model and given.llm else None
    asks_first = any(one.asks for one in systems)
    room = AGENT_SHARE * given.answer_tokens
    agent = _model(given.llm, given.base_url, room, given.runs) if asks_first else None
    return run(plan, asked, judging, _progress(here), agent_llm=agent)


def _kinds(given: str | None) -> tuple[str, ...]:
    from everwhen.recall.question import KINDS

    wanted = tuple(one.strip() for one in given.split(",")) if given else ()
    if unknown := [one for one in wanted if one not in KINDS]:
        raise UsageError(f"no question asks for '{unknown[0]}'; there are: {', '.join(KINDS)}")
    return wanted


def draw(here: GlobalOptions, result: dict[str, Any]) -> None:
    """The systems side by side, and what each phase took."""
    if "waiting" in result:
        here.console.print(
            f"{result['waiting']} prompts of the phase '{result['phase']}' wait in {result['prompts_out']}; "
            "answer them and come back with --completions-in"
        )
        return
    from rich.table import Table

    table = Table(
        "", "judged right [95%]", "token F1 [95%]", "ROUGE-L", "not known", box=None, pad_edge=False
    )
    for name, row in result["systems"].items():
        table.add_row(
            name, _cell(row["right"]), _cell(row["f1"]), _value(row["rouge_l"]), f"{row['abstained']:.2f}"
        )
    here.console.print(table)
    for phase, spent in result["spent"].items():
        here.console.print(f"{phase}: " + ", ".join(f"{key} {value}" for key, value in spent.items()))


def _model(name: str | None, base_url: str | None, max_tokens: int, runs: int) -> LLM | None:
    return None if name is None else model(name, base_url, max_tokens, runs)


def model(name: str, base_url: str | None, max_tokens: int, runs: int = 1) -> LLM:
    """A model as the settings have it."""
    from everwhen.models.llm.pydantic_ai import PydanticAI
    from everwhen.settings import load

    settings = load()
    return PydanticAI(
        name,
        base_url=base_url or settings.llm_base_url,
        timeout=settings.llm_timeout,
        concurrency=settings.llm_concurrency,
        attempts=settings.llm_attempts,
        max_tokens=max_tokens,
        # Several runs at temperature 0 would be one run told several times.
        temperature=settings.llm_temperature if runs == 1 else settings.llm_temperature or RUNS_TEMPERATURE,
    )


RUNS_TEMPERATURE = 0.7
"""Of answers that are drawn several times, where the settings say 0."""


def _progress(here: GlobalOptions) -> Callable[[str, int, int], None]:
    def tell(phase: str, done: int, whole: int) -> None:
        if not here.quiet and not here.json and sys.stderr.isatty():
            print(f"\r{phase} {done}/{whole}", end="" if done < whole else "\n", file=sys.stderr)

    return tell


def _cell(figure: dict[str, Any] | None) -> str:
    if figure is None:
        return "-"
    low, high = figure["interval_95"]
    spread = f" ±{figure['spread']:.3f}" if figure["spread"] else ""
    return f"{figure['value']:.3f} [{low:.3f}, {high:.3f}]{spread}"


def _value(figure: dict[str, Any] | None) -> str:
    return "-" if figure is None else f"{figure['value']:.3f}"
