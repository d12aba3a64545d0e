"""`bench all`: each step is a command of its own process, so that nothing one of them loaded weighs on the next."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter

from everwhen.cli.app import GlobalOptions
from everwhen_bench.everything import Step, steps

SIDE_BY_SIDE = 2
"""Steps that are not timed may share the machine: one a core."""


def run_all(here: GlobalOptions, data: Path, out: Path, again: bool) -> bool:
    """Whether every step that could be run has written its file."""
    chosen = []
    for step in steps(data):
        if step.needs is not None and not step.needs.is_file():
            here.console.print(f"{step.name}: left out, there is no {step.needs}")
        elif (out / f"{step.name}.json").is_file() and not again:
            here.console.print(f"{step.name}: already there")
        else:
            chosen.append(step)
    quiet = [step for step in chosen if step.is_timed]
    with ThreadPoolExecutor(SIDE_BY_SIDE) as workers:
        done = list(
            workers.map(lambda step: _run(here, step, out), [one for one in chosen if one not in quiet])
        )
    done += [_run(here, step, out) for step in quiet]
    return all(done)


def _run(here: GlobalOptions, step: Step, out: Path) -> bool:
    shared: Sequence[str] = ("--home", str(here.home)) if here.home else ()
    command = [sys.executable, "-m", "everwhen", "--quiet", *shared, "bench", *step.arguments]
    start = perf_counter()
    done = subprocess.run(
        [*command, "--out", str(out / f"{step.name}.json")], capture_output=True, text=True, check=False
    )
    seconds = perf_counter() - start
    if done.returncode:
        here.console.print(f"{step.name}: failed, {done.stderr.strip()[-300:]}")
    else:
        here.console.print(f"{step.name}: {seconds:.0f} s")
    return done.returncode == 0
