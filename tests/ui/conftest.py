"""`everwhen serve` in a process of its own, with the demo's story in one bank and somebody else's words in another."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

pytest.importorskip("nicegui")
pytest.importorskip("fastapi")

from everwhen import Memory
from everwhen.cli.story.story import STORY_ZONE, story
from everwhen.serve.auth import KeyStore
from tests.conftest import made_once

APRIL = datetime(2025, 4, 1, tzinfo=UTC)
TURNS = 70
"""Of the story, some three months: what a test run has time for."""
AXE = Path(__file__).parents[2] / ".venv" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
"""The accessibility checker, where `scripts/browser_tools.sh` has put it; it is no part of the package."""
PATIENCE = 120_000
"""Milliseconds that anything may take to appear, on a busy machine too."""
SECRET = "the vault opens with periwinkle"
"""What only the bank `vault` holds."""


@dataclass
class Site:
    """A server that runs, its home folder, and keys for it."""

    url: str
    home: Path

    def key(self, scope: str = "write", bank: str = "*") -> str:
        book = KeyStore(self.home / "serve")
        try:
            return book.create(scope, bank)[1]
        finally:
            book.close()

    def revoke(self, key: str) -> None:
        book = KeyStore(self.home / "serve")
        book.revoke(key.split("_")[1])
        book.close()

    def client(self, key: str | None = None) -> httpx.Client:
        """A browser without scripts, signed in where a key is given."""
        cookies = None
        if key is not None:
            answer = httpx.post(f"{self.url}/ui/login", data={"key": key}, trust_env=False)
            assert answer.status_code == 303
            cookies = answer.cookies
        return httpx.Client(
            base_url=self.url, timeout=60, trust_env=False, headers={"Accept": "text/html"}, cookies=cookies
        )

    def audit(self) -> str:
        path = self.home / "serve" / "audit.jsonl"
        return path.read_text(encoding="utf-8") if path.exists() else ""


def remember(home: Path) -> None:
    """The story; facts that people told beside it, two of which contradict each other; a bank of somebody else."""
    with Memory.open(home, "marta", zone=STORY_ZONE) as memory:
        memory.add_many(story()[:TURNS])
        memory.consolidate("end")
        told: tuple[tuple[str, str, str, datetime], ...] = (
            ("Marta", "lives_in", "Porto", datetime(2025, 3, 20, tzinfo=UTC)),
            ("Rui", "works_in", "Lisbon", APRIL),
            ("Rui", "works_in", "Setúbal", APRIL),
        )
        for subject, predicate, object_, since in told:
            memory.facts.assert_(subject, predicate, object_, valid_from=since, confidence=0.8, at=since)
    with Memory.open(
        home, "decided"
    ) as memory:  # the same facts for those who decide, so that nobody else notices
        for subject, predicate, object_, since in told:
            memory.facts.assert_(subject, predicate, object_, valid_from=since, confidence=0.8, at=since)
    with Memory.open(home, "vault") as memory:
        memory.add({"role": "user", "name": "Vera", "content": SECRET, "timestamp": "2025-05-01T10:00:00Z"})
        memory.flush()


@contextmanager
def running(home: Path, *options: str) -> Iterator[str]:
    """A server in another process, as people start it, until the block ends."""
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "everwhen", *options, "--port", str(port), "--home", str(home)]
    environment = {name: value for name, value in os.environ.items() if not name.startswith("EVERWHEN_")}
    with (home / "server.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        end = time.monotonic() + 120
        while True:
            try:
                if httpx.get(f"{url}/readyz", trust_env=False).status_code == 200:
                    break
            except httpx.TransportError:
                pass
            said = (home / "server.log").read_text(encoding="utf-8")
            assert process.poll() is None and time.monotonic() < end, said
            time.sleep(0.05)
        yield url
    finally:
        process.terminate()
        process.wait(60)


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server that asks for keys."""
    home = made_once(tmp_path_factory, "site", remember)
    with running(home, "serve") as url:
        yield Site(url, home)


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """Headless Chromium, the machine's own: nothing is downloaded.

    No longer than a module: while Playwright runs, nobody else in this thread can have an event loop.
    """
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed (extra dev)")
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("there is no `chromium` (scripts/browser_tools.sh installs it where it can)")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield opened
        opened.close()


@pytest.fixture(scope="module")
def phone(browser: Any, site: Site) -> Iterator[Any]:
    look = {"viewport": {"width": 390, "height": 844}, "has_touch": True}
    with signed_in(browser, site, site.key("write", "marta"), **look) as opened:
        yield opened


@contextmanager
def signed_in(browser: Any, site: Site, key: str, **look: Any) -> Iterator[Any]:
    """A tab with the page open, by the form; every address that it asked for is in `tab.asked`."""
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 800}, **look})
    context.set_default_timeout(PATIENCE)
    tab = context.new_page()
    tab.asked = []
    tab.failed = []
    tab.on("request", lambda request: tab.asked.append(request.url))
    tab.on("websocket", lambda socket: tab.asked.append(socket.url))
    tab.on("pageerror", lambda error: tab.failed.append(str(error)))
    try:
        tab.goto(f"{site.url}/ui/")
        tab.fill("#key", key)
        tab.click("button[type=submit]")
        tab.wait_for_selector("#area[data-shown]")
        yield tab
    finally:
        context.close()


def turn_to(tab: Any, name: str) -> None:
    """Turn to a page and wait until it is drawn, anew where it was open already."""
    before = tab.get_attribute("#area", "data-drawn")
    tab.click(f"[data-page={name}]")
    tab.wait_for_function(
        "([before, name]) => { const it = document.querySelector('#area').dataset; "
        "return it.shown === name && it.drawn !== before }",
        arg=[before, name],
    )


def move_to(tab: Any, day: int) -> None:
    """Move the slider as a hand does, and wait until the page has followed."""
    before = tab.get_attribute("#area", "data-drawn")
    tab.eval_on_selector(
        "#as-of",
        "(it, day) => { it.value = day; it.dispatchEvent(new Event('input', {bubbles: true})); }",
        day,
    )
    tab.wait_for_function("before => document.querySelector('#area').dataset.drawn !== before", arg=before)


def more_than(tab: Any, count: int, selector: str) -> None:
    """Wait until more than `count` elements are there: what a page holds may come after its frame."""
    tab.wait_for_function(
        "([selector, count]) => document.querySelectorAll(selector).length > count", arg=[selector, count]
    )


def address_says(tab: Any, words: str) -> None:
    """Wait until the address holds `words`: it is written after the page is drawn."""
    tab.wait_for_url(lambda address: words in address)
