"""`bench`: measure. Each data set is one command; the numbers can be scored again from the file written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from everwhen.cli.app import GlobalOptions
from everwhen.cli.printing import counting, progress_of
from everwhen.errors import NotFound, UsageError
from everwhen_bench.cli import answers

bench = typer.Typer(help="Measure retrieval quality, time expressions and speed.", no_args_is_help=True)

Data = Annotated[Path, typer.Option(help="The data set, in its native format.")]
Out = Annotated[Path | None, typer.Option(help="Write summary and runs as JSON.")]
Ablate = Annotated[
    bool, typer.Option("--ablate", help="Ask again with each part of the recall changed in turn.")
]
Limit = Annotated[
    int | None,
    typer.Option(help="Conversations at the most; with --llm, questions, spread over their kinds."),
]


@bench.command()
@answers.with_answers
def locomo(
    context: typer.Context,
    data: Data,
    when: Annotated[Path | None, typer.Option(help="Gold intervals of the when questions.")] = None,
    limit: Limit = None,
    ablate: Ablate = False,
    out: Out = None,
    *,
    answering: answers.Answering,
) -> None:
    """LoCoMo: evidence turns found for each question; with --llm, answers as well."""
    from everwhen_bench import locomo as runner

    here = _at_home(context.obj)
    if answering.wanted:
        report(here, answers.answer(here, "locomo", _there(data), limit, answering), out)
        return
    with counting(here, "questions") as tick:
        result = runner.run(_there(data), when=when, limit=limit, progress=tick, ablate=ablate)
    report(here, result, out)


@bench.command()
@answers.with_answers
def longmemeval(
    context: typer.Context,
    data: Data,
    limit: Limit = None,
    ablate: Ablate = False,
    out: Out = None,
    *,
    answering: answers.Answering,
) -> None:
    """LongMemEval: evidence sessions and turns found for each question; with --llm, answers as well."""
    from everwhen_bench import longmemeval as runner

    here = _at_home(context.obj)
    if answering.wanted:
        report(here, answers.answer(here, "longmemeval", _there(data), limit, answering), out)
        return
    with counting(here, "questions") as tick:
        result = runner.run(_there(data), limit=limit, progress=tick, ablate=ablate)
    report(here, result, out)


@bench.command()
def timex(
    context: typer.Context,
    data: Data,
    peers: Annotated[bool, typer.Option("--peers", help="Beside other libraries (bench extra).")] = False,
    out: Out = None,
) -> None:
    """Time expressions: intervals found against intervals accepted, by language where the file has any."""
    from everwhen_bench import timex as runner

    here: GlobalOptions = context.obj
    with counting(here, "cases") as tick:
        result = runner.run(_there(data), peers=peers, progress=lambda done, _: tick(done))
    report(here, result, out)


@bench.command()
def speed(
    context: typer.Context,
    units: Annotated[int, typer.Option(help="Units in the bank that is measured.")] = 10_000,
    banks: Annotated[int, typer.Option(min=1, help="So many such banks; needs --store.")] = 1,
    out: Out = None,
) -> None:
    """Speed and size: add, ingest, recall, opening, memory and disk; with --store of both databases, side by side."""
    here: GlobalOptions = context.obj
    if here.store is not None:
        from functools import partial

        from everwhen_bench import many_banks, store_speed

        if banks == 1:
            _measure(here, partial(store_speed.run, here.store), units, "units", out)
        else:
            _measure(here, partial(many_banks.run, here.store, units), banks, "banks", out)
        return
    from everwhen_bench.speed import run

    _measure(here, run, units, "units", out)


@bench.command("facts")
def facts_(
    context: typer.Context,
    facts: Annotated[int, typer.Option(help="Facts in the bank that is measured.")] = 100_000,
    out: Out = None,
) -> None:
    """Facts: current, as of, known at, history, assert and stale in a large bank."""
    from everwhen_bench.facts_speed import run

    _measure(context.obj, run, facts, "facts", out)


@bench.command()
def peers(
    context: typer.Context,
    data: Data,
    only: Annotated[list[str] | None, typer.Option(help="One peer by name; may be given again.")] = None,
    limit: Limit = None,
    cached: Annotated[
        bool, typer.Option("--cached", help="Vectors from the home's cache, for every peer alike.")
    ] = False,
    python: Annotated[
        Path | None, typer.Option(help="The interpreter that has the peers [that of `make peers`].")
    ] = None,
    out: Out = None,
) -> None:
    """Peers: what a user would pick instead, asked the same questions without an LLM (`make peers` first)."""
    from everwhen.store.files.home import home_folder
    from everwhen_bench.cli.tables import draw_peers
    from everwhen_bench.peers import run as runner

    here = _at_home(context.obj)
    home = home_folder() / "bench" if cached else None
    with progress_of(here) as heard:
        result = runner.run(_there(data), only=only or (), limit=limit, home=home, python=python, heard=heard)
    _write(out, result)
    if here.json:
        here.print({key: value for key, value in result.items() if key != "runs"})
    else:
        draw_peers(here, result)


@bench.command()
def study(
    context: typer.Context,
    name: Annotated[str | None, typer.Argument(help="Which; none: list them.")] = None,
    data: Annotated[Path | None, typer.Option(help="The data set, in its native format.")] = None,
    limit: Limit = None,
    out: Out = None,
) -> None:
    """Studies: what a part is worth, and how its numbers were chosen."""
    from everwhen_bench import studies
    from everwhen_bench.cli.tables import draw_study

    here = _at_home(context.obj)
    if name is None:
        listed = studies.names()
        if here.json:
            here.print(listed)
        for one, asks in {} if here.json else listed.items():
            here.console.print(f"{one}: {asks}")
        return
    if data is None:
        raise UsageError(f"a study is made on data: everwhen bench study {name} --data FILE")
    with counting(here, name) as tick:
        result = studies.run(name, studies.Request(_there(data), limit, tick))
    _write(out, result)
    if here.json:
        here.print(result)
    else:
        draw_study(here, result)


@bench.command()
def tools(
    context: typer.Context,
    llm: Annotated[str, typer.Option(help="The model that picks: openai:<model>, ollama:<model>, …")],
    base_url: answers.BaseUrl = None,
    part: Annotated[str, typer.Option(help="Which requests: `asked` or `wording`.")] = "asked",
    out: Out = None,
) -> None:
    """Tools: which tool of MCP a model picks for each of thirty ordinary requests."""
    from everwhen_bench import tool_choice

    here: GlobalOptions = context.obj
    model = answers.model(llm, base_url, tool_choice.CALL_TOKENS)
    with counting(here, "requests") as tick:
        result = tool_choice.run(model, part, tick)
    report(here, result, out)


@bench.command("tree")
def tree_(
    context: typer.Context,
    turns: Annotated[int, typer.Option(help="Turns in the bank that is measured.")] = 50_000,
    out: Out = None,
) -> None:
    """The memory tree: three years of conversations consolidated without an LLM, then late turns."""
    from everwhen_bench.tree_speed import run

    _measure(context.obj, run, turns, "turns", out)


@bench.command()
def guard(
    context: typer.Context,
    data: Annotated[Path, typer.Option(help="The folder of the development data.")],
    figures: Annotated[Path, typer.Option(help="The committed figures.")] = Path("bench-guard.json"),
    accept: Annotated[bool, typer.Option("--accept", help="Write down what is measured now.")] = False,
) -> None:
    """A three-minute subset: fails where quality fell by more than two points against committed figures."""
    from everwhen_bench import guard as guarding
    from everwhen_bench.cli.tables import draw_guard

    here = _at_home(context.obj)
    with counting(here, "questions") as tick:
        measured = guarding.measure(data, tick)
    if accept:
        guarding.write(figures, measured)
    rows = guarding.held(measured, guarding.read(figures))
    if here.json:
        here.print(rows)
    else:
        draw_guard(here, rows)
    if any(one.fell for one in rows):
        raise typer.Exit(1)


@bench.command("all")
def all_(
    context: typer.Context,
    data: Annotated[Path, typer.Option(help="The folder of the development data.")],
    out: Annotated[Path, typer.Option(help="The folder that the files are written to.")],
    again: Annotated[bool, typer.Option("--again", help="Run also what is there already.")] = False,
) -> None:
    """Everything but the peers, one file each; a run that was interrupted goes on where it stopped."""
    from everwhen_bench.cli.run_all import run_all

    here = _at_home(context.obj)
    if not run_all(here, data, out, again):
        raise typer.Exit(1)


def report(here: GlobalOptions, result: dict[str, Any], out: Path | None) -> None:
    """The file for machines, the table for people."""
    _write(out, result)
    summary = {key: value for key, value in result.items() if key not in ("runs", "peer_runs")}
    if here.json:
        here.print(summary)
        return
    if "systems" in summary or "waiting" in summary:
        answers.draw(here, summary)
        return
    from rich.table import Table

    from everwhen_bench.cli.tables import draw_ablations, draw_languages, draw_stages

    table = Table(box=None, pad_edge=False, show_header=False)
    for name, value in _rows({key: item for key, item in summary.items() if key not in _DRAWN}):
        table.add_row(name, value)
    here.console.print(table)
    draw_ablations(here, summary.get("ablations") or {})
    draw_stages(here, summary.get("stages") or {})
    draw_languages(here, summary.get("languages") or {}, summary.get("failures") or [])


_DRAWN = ("ablations", "stages", "languages", "failures")
"""Parts of a result that have tables of their own."""


def _measure(
    here: GlobalOptions,
    run: Callable[[int, Callable[[int], None]], dict[str, Any]],
    count: int,
    what: str,
    out: Path | None,
) -> None:
    """Build a bank of so many things, measure it, and report."""
    with counting(here, f"building {count:,} {what}", count) as tick:
        result = run(count, tick)
    report(here, result, out)


def _write(out: Path | None, result: Mapping[str, Any]) -> None:
    if out is not None:
        out.parent.mkdir(parents=True, exist_ok=True)
        from everwhen_bench.made import made

        whole = {**result, "made": made()}
        out.write_text(json.dumps(whole, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")


def _rows(value: dict[str, Any], prefix: str = "") -> list[tuple[str, str]]:
    rows = []
    for key, item in value.items():
        name = f"{prefix}{key}"
        if isinstance(item, dict):
            rows += _rows(item, f"{name} ")
        else:
            rows.append((name, f"{item:.3f}" if isinstance(item, float) else str(item)))
    return rows


def _at_home(here: GlobalOptions) -> GlobalOptions:
    """The embedding cache is that of the home folder; banks of a bench are removed afterwards."""
    if here.home:
        os.environ["EVERWHEN_HOME"] = str(here.home)
    return here


def _there(path: Path) -> Path:
    if not path.is_file():
        raise NotFound(f"there is no file {path}; --data takes the data set in its native format")
    return path


@bench.command()
def extraction(
    context: typer.Context,
    data: Data,
    when: Annotated[Path, typer.Option(help="Gold intervals of the when questions.")],
    out: Out = None,
) -> None:
    """Extraction: does an event from the cited turns carry the time that a question asks for?"""
    from everwhen.settings import load
    from everwhen.write.extract.base import open_extractor
    from everwhen_bench import extraction as runner

    here: GlobalOptions = context.obj
    extractor = open_extractor(load())
    if extractor is None:
        raise UsageError("extraction is switched off (EVERWHEN_EXTRACT=none); nothing can be measured")
    report(here, runner.run(_there(data), _there(when), extractor), out)
