"""How long each page of `everwhen ui` takes to show a bank, and a step of the slider on it: the table of docs/ui.md.

    python scripts/page_times.py HOME BANK [--steps 8]

Needs the extras `ui` and `dev` (playwright) and a Chromium on the path. The server and the browser share the machine:
measure on a quiet one. The first look at each page is left out where the bank itself is being opened.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import time
from pathlib import Path
from typing import Any

from screenshots import PAGES, served

FIRST = "document.querySelector('.head h1') && performance.now()"
DRAWN = "document.querySelector('#area[data-shown]') && performance.now()"


def opened(tab: Any, address: str) -> tuple[float, float]:
    """Seconds from asking for an address to its heading, and to what it shows."""
    tab.goto(address)
    return tuple(tab.wait_for_function(what).json_value() / 1000 for what in (FIRST, DRAWN))  # type: ignore[return-value]


def stepped(tab: Any, steps: int) -> list[float]:
    """Seconds of each step of the slider, from moving it to the page that follows."""
    taken = []
    for _ in range(steps):
        before = tab.get_attribute("#area", "data-drawn")
        start = time.perf_counter()
        tab.eval_on_selector(
            "#as-of",
            "it => { it.value = it.value - 1; it.dispatchEvent(new Event('input', {bubbles: true})); }",
        )
        tab.wait_for_function("was => document.querySelector('#area').dataset.drawn !== was", arg=before)
        taken.append(time.perf_counter() - start)
    return taken


def main() -> None:
    from playwright.sync_api import sync_playwright

    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("home", type=Path)
    arguments.add_argument("bank")
    arguments.add_argument("--steps", type=int, default=8)
    given = arguments.parse_args()
    with served(given.home) as url, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        tab = browser.new_page()
        tab.set_default_timeout(120_000)
        opened(tab, f"{url}/ui/{given.bank}/overview")
        print("| page | heading s | shown s | slider step s, median (best) |\n|---|---|---|---|")
        for name in PAGES:
            query = "?q=what+happened+last+summer" if name == "recall" else ""
            looks = [opened(tab, f"{url}/ui/{given.bank}/{name}{query}") for _ in range(3)]
            heading, shown = (min(several) for several in zip(*looks, strict=True))
            steps = [] if name == "import" else stepped(tab, given.steps)
            moved = f"{statistics.median(steps):.2f} ({min(steps):.2f})" if steps else ""
            print(f"| {name} | {heading:.2f} | {shown:.2f} | {moved} |", flush=True)
        browser.close()


if __name__ == "__main__":
    main()
