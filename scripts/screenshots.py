"""The pictures of docs/ui.md: each page once, in light or in dark, and two at a phone's width.

    python scripts/screenshots.py [--out docs/img] [--only facts]

Needs the extras `ui` and `dev` (playwright) and a Chromium on the path; nothing is downloaded.
"""

from __future__ import annotations

import argparse
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from playwright.sync_api import ViewportSize

LIGHT = ("overview", "recall", "timeline", "conversations", "entities", "map", "import")
DARK = ("facts", "tree")
PHONE = ("overview", "timeline")
PAGES = (*LIGHT, *DARK)
WIDE: ViewportSize = {"width": 1280, "height": 800}
NARROW: ViewportSize = {"width": 390, "height": 844}
COLOURS = 224
"""Of the palette: the page has few, and the files stay small."""


def remember(home: Path) -> None:
    """The demo's story, with what its people would have told an assistant beside it."""
    from everwhen import Memory
    from everwhen.cli.story.story import STORY_ZONE, story

    with Memory.open(home, "marta", zone=STORY_ZONE) as memory:
        memory.add_many(story())
        memory.consolidate("end")
        told = (
            ("Marta", "lives_in", "Porto", datetime(2025, 6, 7, tzinfo=UTC), 1.0),
            ("Marta", "drinks", "coffee", datetime(2025, 2, 4, tzinfo=UTC), 0.9),
            ("Marta", "drinks", "tea", datetime(2025, 3, 3, tzinfo=UTC), 0.9),
            ("Noor", "works_at", "the hospital", datetime(2025, 2, 20, tzinfo=UTC), 0.8),
            ("Rui", "has_pet", "Figo", datetime(2025, 3, 15, tzinfo=UTC), 0.9),
        )
        for subject, predicate, object_, since, sure in told:
            memory.facts.assert_(subject, predicate, object_, valid_from=since, confidence=sure, at=since)
        same = datetime(2025, 4, 1, tzinfo=UTC)
        for place in ("Lisbon", "Setúbal"):
            memory.facts.assert_("Rui", "works_in", place, valid_from=same, confidence=0.8, at=same)


@contextmanager
def served(home: Path) -> Iterator[tuple[str, int]]:
    """`everwhen ui` in a process of its own, until the block ends: its address, and the id of the process."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [
        sys.executable,
        "-m",
        "everwhen",
        "ui",
        "--no-browser",
        "--port",
        str(port),
        "--home",
        str(home),
    ]
    process = subprocess.Popen(command, env={**os.environ, "EVERWHEN_PORT": str(port)})
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{url}/readyz", timeout=5)
                break
            except OSError:
                time.sleep(0.1)
        yield url, process.pid
    finally:
        process.terminate()
        process.wait(30)


def smaller(path: Path) -> None:
    """The same picture with a palette, where pillow is there."""
    try:
        from PIL import Image
    except ImportError:
        return
    with Image.open(path) as picture:
        picture.convert("RGB").quantize(COLOURS, kmeans=2, dither=Image.Dither.NONE).save(path, optimize=True)


def shoot(url: str, out: Path, only: tuple[str, ...]) -> None:
    from playwright.sync_api import Page, sync_playwright

    def ready(page: Page, name: str) -> None:
        page.wait_for_selector(f"#area[data-shown={name}]")
        if name == "recall":
            page.fill("input[aria-label=Question]", "When did Marta stop drinking coffee?")
            page.click("[aria-label^='Answer in words']")
            page.wait_for_selector("#answer")
        if name == "entities":
            page.locator("svg.graph g[aria-label^=Noor]").click()
            page.wait_for_selector("#entity h2")
        if name == "tree":
            page.locator("#nodes [data-pick]").first.click()
            page.wait_for_selector("#node")
        page.evaluate("document.activeElement && document.activeElement.blur()")
        page.wait_for_load_state("networkidle")

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        looks = [
            ("light", WIDE, LIGHT),
            ("dark", WIDE, DARK),
            ("phone", NARROW, PHONE),
        ]
        for look, size, names in looks:
            context = browser.new_context(viewport=size, color_scheme="dark" if look == "dark" else "light")
            page = context.new_page()
            for name in names:
                if name not in only:
                    continue
                page.goto(f"{url}/ui/marta/{name}{'?as_of=2025-05-20' if name == 'facts' else ''}")
                ready(page, name)
                path = out / f"ui-{name}-{look}.png"
                page.screenshot(path=path)
                smaller(path)
                print(f"{path.name}  {path.stat().st_size / 1000:.0f} kB")
            context.close()
        browser.close()


def main() -> None:
    arguments = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    arguments.add_argument("--out", type=Path, default=Path(__file__).parent.parent / "docs" / "img")
    arguments.add_argument("--only", nargs="*", default=PAGES, choices=PAGES)
    arguments.add_argument("--home", type=Path, help="a home folder to show instead of the story")
    given = arguments.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="everwhen-pictures-") as folder:
        home = given.home or Path(folder)
        if given.home is None:
            remember(home)
        with served(home) as (url, _):
            shoot(url, given.out, tuple(given.only))


if __name__ == "__main__":
    main()
