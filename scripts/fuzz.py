"""Fuzz every door for some minutes: the targets of `tests/fuzz`, with another seed each round.

    python scripts/fuzz.py --minutes 15 --out build/fuzz.json
    python scripts/fuzz.py --coverage any_file --minutes 5 --out build/fuzz.json   # guided by coverage, needs atheris

Writes command, seed, cases and seconds of each target, and every finding with the case that shows it. Exit code 1 when
there is one. `make test` runs the same targets with fixed cases (`tests/fuzz/test_fuzz.py`).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shlex
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))
os.environ |= {"EVERWHEN_EMBEDDER": "fake", "EVERWHEN_CACHE_ENTRIES": "0", "OPENBLAS_NUM_THREADS": "1"}

from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st
from hypothesis.database import InMemoryExampleDatabase

CASES = 100
"""Of a target in one round, at the most."""
SECONDS = 20.0
"""Of a target in one round, at the most: no slow one takes the time of all."""
SHOWN = 2_000


@dataclass
class Ran:
    """What became of one target."""

    cases: int = 0
    seconds: float = 0.0
    findings: list[dict[str, Any]] = field(default_factory=list)


class Enough(BaseException):
    """The time of a round is up; no failure."""


def main() -> int:
    options = _options()
    if options.coverage:
        return guided(options.coverage, options.minutes)
    from tests.fuzz import banks, parsing, serving  # noqa: F401  the lists of targets
    from tests.fuzz.target import TARGETS

    wanted = options.only or list(TARGETS)
    ran = {name: Ran() for name in wanted}
    began = time.monotonic()
    until = began + 60 * options.minutes
    chance, rounds = random.Random(options.seed), 0
    while time.monotonic() < until:
        rounds += 1
        play(ran, chance, until)
        report(options, ran, rounds, time.monotonic() - began)
    cases, found = sum(one.cases for one in ran.values()), sum(len(one.findings) for one in ran.values())
    print(f"{cases:,} cases in {rounds} rounds, {found} findings: {options.out}")
    return 1 if found else 0


def play(ran: dict[str, Ran], chance: random.Random, until: float) -> None:
    """Every target once, in a new home."""
    from tests.fuzz.target import TARGETS
    from tests.fuzz.world import World

    with tempfile.TemporaryDirectory(prefix="everwhen-fuzz-") as folder:
        world = World(Path(folder))
        try:
            for name, outcome in ran.items():
                if time.monotonic() < until:
                    number = chance.randrange(2**32)
                    target = TARGETS[name]
                    run = case_of(partial(target.check, world), target.values(world))
                    try_out(outcome, number, run)
            world.other_is_whole()
        finally:
            world.close()


def case_of(check: Callable[[Any], None], values: st.SearchStrategy[Any]) -> Callable[[Ran, int], None]:
    """A function that runs a check with many values of one seed, and keeps count."""

    def run(outcome: Ran, number: int) -> None:
        end = time.monotonic() + SECONDS
        last: list[Any] = []
        trace: list[str] = []

        @seed(number)
        @settings(
            max_examples=CASES,
            deadline=None,
            database=InMemoryExampleDatabase(),
            suppress_health_check=list(HealthCheck),
        )
        @given(values)
        def holds(value: Any) -> None:
            if time.monotonic() > end:
                raise Enough
            outcome.cases += 1
            try:
                check(value)
            except Exception:
                last[:], trace[:] = [value], [traceback.format_exc()]  # the last that fails is the smallest
                raise

        try:
            holds()
        except Enough:
            pass  # while a failing case was made smaller, perhaps
        except Exception:
            trace = trace or [traceback.format_exc()]
        if trace:
            shown = repr(last[0] if last else None)[:SHOWN]
            outcome.findings.append({"seed": number, "case": shown, "trace": trace[0][-SHOWN:]})

    return run


def try_out(outcome: Ran, number: int, run: Callable[[Ran, int], None]) -> None:
    started = time.monotonic()
    run(outcome, number)
    outcome.seconds += time.monotonic() - started


def report(options: argparse.Namespace, ran: dict[str, Ran], rounds: int, seconds: float) -> None:
    options.out.parent.mkdir(parents=True, exist_ok=True)
    found = {
        "command": shlex.join(["python", *sys.argv]),
        "seed": options.seed,
        "minutes": round(seconds / 60, 2),
        "rounds": rounds,
        "cases": sum(one.cases for one in ran.values()),
        "findings": sum(len(one.findings) for one in ran.values()),
        "targets": {name: asdict(one) | {"seconds": round(one.seconds, 1)} for name, one in ran.items()},
    }
    options.out.write_text(json.dumps(found, indent=1, ensure_ascii=True) + "\n", encoding="utf-8")


def guided(name: str, minutes: float) -> int:
    """One target under atheris: libFuzzer chooses the bytes that hypothesis makes values of."""
    import atheris

    with atheris.instrument_imports(include=["everwhen"]):
        from tests.fuzz import banks, parsing, serving  # noqa: F401  the lists of targets, and what they import
    from tests.fuzz.target import TARGETS
    from tests.fuzz.world import World

    world = World(Path(tempfile.mkdtemp(prefix="everwhen-fuzz-")))
    target = TARGETS[name]

    @settings(deadline=None, database=None, suppress_health_check=list(HealthCheck))
    @given(target.values(world))
    def holds(value: Any) -> None:
        target.check(world, value)

    from_bytes = holds.hypothesis.fuzz_one_input  # type: ignore[attr-defined]  # `given` puts it there
    atheris.Setup([sys.argv[0], f"-max_total_time={int(60 * minutes)}"], from_bytes)
    atheris.Fuzz()
    return 0


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--seed", type=int, default=11)
    parser.add_argument("--only", action="append", metavar="TARGET", help="may be given several times")
    parser.add_argument(
        "--coverage", metavar="TARGET", help="one target, guided by coverage (pip install atheris)"
    )
    parser.add_argument("--out", type=Path, default=Path("build/fuzz.json"))
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
