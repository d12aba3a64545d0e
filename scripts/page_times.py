"""How long each page of `everwhen ui` takes to show a bank, and a step of the slider: docs/performance.md.

    python scripts/page_times.py HOME BANK [--looks 5] [--steps 12]

Times are medians, with the best in brackets. CPU is the processor time of the server, of all its threads, for a step;
it says more than the clock where other work shares the machine. Needs the extras `ui` and `dev` (playwright), a
Chromium on the path, and Linux for the CPU. The server and the browser share the machine: measure on a quiet one. The
first look at each page is left out: the bank and the models are opened then.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from screenshots import PAGES, served

FIRST = "document.querySelector('.head h1') && performance.now()"
DRAWN = "document.querySelector('#area[data-shown]') && performance.now()"
QUIET = 0.3
"""Seconds after which the server has done what a look or a step set off."""


class Step(NamedTuple):
    """One step of the slider: seconds until the page follows, and of the server's processor."""

    seconds: float
    cpu: float


def processor_seconds(pid: int) -> float:
    """What a process has used of the processor, by itself and for the system (proc(5)); NaN where nobody says."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    except OSError:
        return float("nan")
    return (int(told[11]) + int(told[12])) / os.sysconf("SC_CLK_TCK")


def opened(tab: Any, address: str) -> tuple[float, float]:
    """Seconds from asking for an address to its heading, and to what it shows."""
    tab.goto(address)
    heading, drawn = (float(tab.wait_for_function(what).json_value()) / 1000 for what in (FIRST, DRAWN))
    return heading, drawn


def stepped(tab: Any, steps: int, pid: int) -> list[Step]:
    """Steps of the slider, one day each, from moving it to the page that follows."""
    taken = []
    for _ in range(steps):
        time.sleep(QUIET)
        before, used = tab.get_attribute("#area", "data-drawn"), processor_seconds(pid)
        start = time.perf_counter()
        tab.eval_on_selector(
            "#as-of",
            "it => { it.value = it.value - 1; it.dispatchEvent(new Event('input', {bubbles: true})); }",
        )
        tab.wait_for_function("was => document.querySelector('#area').dataset.drawn !== was", arg=before)
        seconds = time.perf_counter() - start
        time.sleep(QUIET)
        taken.append(Step(seconds, processor_seconds(pid) - used))
    return taken


def told(several: Sequence[float]) -> str:
    return f"{statistics.median(several):.2f} ({min(several):.2f})" if several else ""


def main() -> None:
    from playwright.sync_api import sync_playwright

    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("home", type=Path)
    arguments.add_argument("bank")
    arguments.add_argument("--looks", type=int, default=5)
    arguments.add_argument("--steps", type=int, default=12)
    arguments.add_argument("--only", nargs="*", default=PAGES, choices=PAGES)
    given = arguments.parse_args()
    with served(given.home) as (url, pid), sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page()
        tab.set_default_timeout(120_000)
        print("| page | heading s | shown s | slider step s | CPU of a step s |\n|---|---|---|---|---|")
        for name in given.only:
            query = "?q=what+happened+last+summer" if name == "recall" else ""
            address = f"{url}/ui/{given.bank}/{name}{query}"
            opened(tab, address)
            headings, shown = zip(*(opened(tab, address) for _ in range(given.looks)), strict=True)
            steps = [] if name == "import" else stepped(tab, given.steps, pid)
            times = (headings, shown, [one.seconds for one in steps], [one.cpu for one in steps])
            print(f"| {name} | {' | '.join(map(told, times))} |", flush=True)
        browser.close()
    load = " ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"\n{os.cpu_count()} processors; load of the last 1, 5 and 15 minutes: {load}")


if __name__ == "__main__":
    main()
