"""Does what README and guides say, word by word, as a newcomer would (`make follow-docs`).

    python scripts/follow_docs.py --clone            a clean clone, a fresh environment, every guide
    python scripts/follow_docs.py README.md          with this Python as it is, nothing installed

Every `console` line is run by a shell and every `python` block by one interpreter for the page, in the order of the
page and with a home folder of its own. `pip install everwhen` installs the clone. Servers are started, asked whether
they answer, and ended with the page. A model server on loopback stands in for OpenAI and Anthropic. The log has every
line with its time; the exit code is 1 where one failed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
GUIDES = (
    "README.md", "docs/index.md", "docs/chatbot.md", "docs/coding-agents.md", "docs/importing.md", "docs/moving.md",
    "docs/facts.md", "docs/time.md", "docs/agent.md", "docs/models.md", "docs/ui.md", "docs/cli.md", "docs/serve.md",
    "docs/reliability.md", "docs/evaluate.md", "docs/ideas.md", "docs/troubleshooting.md",
)  # fmt: skip
"""The pages that a newcomer follows. docs/scale.md needs a PostgreSQL server, and has tests that start one."""
SLOW = (
    "make test",
    "make bench",
    "make peers",
    "make results",
    "make figures",
    "make bench-guard",
    "everwhen bench",
)
"""Lines that take many minutes, or the data sets; `--slow` runs them too."""
ANSWERS = {"serve": "http://127.0.0.1:8765/healthz", "ui": "http://127.0.0.1:8766/ui/"}
"""Commands that go on until they are ended, and where they answer."""
SECONDS = 1800
"""What one line may take: an install on a busy machine takes many minutes."""
BLOCK = re.compile(r"^```(\w+)[^\n]*\n(.*?)^```", re.MULTILINE | re.DOTALL)
INTERPRETER = """
import contextlib, io, json, sys, traceback
names = {"__name__": "__main__"}
for line in sys.stdin:
    said, wrong = io.StringIO(), ""
    with contextlib.redirect_stdout(said):
        try:
            exec(compile(json.loads(line), "<page>", "exec", dont_inherit=True), names)
        except BaseException:
            wrong = traceback.format_exc()
    print(json.dumps([said.getvalue(), wrong]), flush=True)
"""


@dataclass
class Place:
    """Where pages are followed: which Python, which folder stands for the package, what the shell finds."""

    python: Path
    environment: Mapping[str, str]
    package: Path | None = None
    """The folder that `pip install everwhen` installs; None installs nothing."""
    slow: bool = False
    servers: bool = True


@dataclass
class Step:
    """One line or block that was done."""

    page: str
    what: str
    done: str
    seconds: float = 0.0
    output: str = ""

    @property
    def failed(self) -> bool:
        return self.done == "FAILED"

    def __str__(self) -> str:
        head = f"{self.page}: {self.what}  [{self.done}, {self.seconds:.1f} s]"
        return head + ("\n" + self.output.rstrip() if self.failed else "")


@dataclass
class Following:
    """One page on its way: its folder, its interpreter, the servers that it started."""

    page: Path
    place: Place
    folder: Path
    stack: ExitStack
    tell: Callable[[Step], None]
    steps: list[Step] = field(default_factory=list)
    interpreter: Any = None

    def follow(self) -> list[Step]:
        for kind, block in BLOCK.findall(self.page.read_text(encoding="utf-8")):
            if kind == "python":
                self._python(block)
            elif kind == "console":
                for line in block.splitlines():
                    if line.startswith("$ "):
                        self._line(line[2:])
        return self.steps

    def _python(self, block: str) -> None:
        if self.interpreter is None:
            self.interpreter = self.stack.enter_context(
                _process([str(self.place.python), "-c", INTERPRETER], self._environment, self.folder)
            )
        began = time.monotonic()
        self.interpreter.stdin.write(json.dumps(block) + "\n")
        self.interpreter.stdin.flush()
        said, wrong = json.loads(self.interpreter.stdout.readline())
        first = next(line for line in block.splitlines() if line.strip())
        self._note(f"python: {first} …", "FAILED" if wrong else "ok", began, said + wrong)

    def _line(self, line: str) -> None:
        words, began = shlex.split(line, comments=True), time.monotonic()
        if not self.place.slow and line.startswith(SLOW):
            self._note(line, "left out: takes long", began)
        elif words[0] == "pip":
            if self.place.package is None:
                self._note(line, "left out: installs", began)
                return
            self._run(line, re.sub(r"\beverwhen\b", str(self.place.package), line))
        elif words[0] == "everwhen" and words[1] in ANSWERS:
            self._serve(line, words[1])
        elif words[0] == "make" and self.place.package is None:
            self._note(line, "left out: needs a clone", began)
        elif words[0] == "make":
            self._run(line, line, self.place.package)
        elif words[0] in ("git", "cd", "export"):
            self._note(line, "left out: changes the shell alone", began)
        else:
            self._run(line, line)

    def _run(self, line: str, command: str, folder: Path | None = None) -> None:
        began = time.monotonic()
        try:
            done = subprocess.run(
                ["bash", "-c", command],
                cwd=folder or self.folder,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            self._note(line, "FAILED", began, f"it took more than {SECONDS} seconds")
        else:
            self._note(line, "FAILED" if done.returncode else "ok", began, done.stdout)

    def _serve(self, line: str, name: str) -> None:
        began = time.monotonic()
        if not self.place.servers:
            self._note(line, "left out: goes on until it is ended", began)
            return
        running = self.stack.enter_context(
            _process(["bash", "-c", f"exec {line}"], self._environment, self.folder)
        )
        while time.monotonic() - began < 60 and running.poll() is None:
            try:
                urllib.request.urlopen(ANSWERS[name], timeout=5).close()
            except OSError:
                time.sleep(0.3)
            else:
                self._note(line, "ok", began)
                return
        self._note(line, "FAILED", began, f"{ANSWERS[name]} does not answer")

    @property
    def _environment(self) -> dict[str, str]:
        """A user who has just come: nothing of the one who runs this but the path."""
        return {**self.place.environment, "HOME": str(self.folder), "BROWSER": "true"}

    def _note(self, what: str, done: str, began: float, output: str = "") -> None:
        name = str(self.page.relative_to(ROOT)) if self.page.is_relative_to(ROOT) else self.page.name
        self.steps.append(Step(name, what, done, time.monotonic() - began, output))
        self.tell(self.steps[-1])


@contextmanager
def _process(
    command: Sequence[str], environment: dict[str, str], folder: Path
) -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as running:
        try:
            yield running
        finally:
            running.terminate()


def follow(page: Path, place: Place, tell: Callable[[Step], None] = lambda step: None) -> list[Step]:
    """Every step of a page, done in a folder that is gone afterwards; `tell` hears of each when it is done."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, ExitStack() as stack:
        return Following(page, place, Path(folder), stack, tell).follow()


def _model_addresses(stack: ExitStack) -> dict[str, str]:
    """A server that answers as OpenAI and Anthropic do, and its addresses."""
    sys.path.insert(0, str(ROOT))
    from tests.scripted_server import ScriptedServer, text

    server = stack.enter_context(ScriptedServer())
    server.always(text("I see."))
    return {
        "OPENAI_BASE_URL": server.url, "OPENAI_API_KEY": "none",
        "ANTHROPIC_BASE_URL": server.root, "ANTHROPIC_API_KEY": "none",
    }  # fmt: skip


def here(environment: Mapping[str, str], bin_folder: Path) -> Place:
    """This Python, with a command `everwhen` in `bin_folder` that runs this checkout; nothing is installed."""
    command = bin_folder / "everwhen"
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m everwhen "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    path = {"PATH": f"{bin_folder}:{os.environ['PATH']}", "PYTHONPATH": str(ROOT / "src")}
    return Place(Path(sys.executable), {**environment, **path}, servers=False)


def fresh(environment: Mapping[str, str], folder: Path, slow: bool) -> Place:
    """A clean clone of what is committed, and an empty environment; the pages install into it."""
    subprocess.run(["git", "clone", "--quiet", str(ROOT), str(folder / "everwhen")], check=True)
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    path = {"PATH": f"{folder / 'venv' / 'bin'}:{os.environ['PATH']}"}
    pip = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_"))}
    return Place(
        folder / "venv" / "bin" / "python", {**environment, **pip, **path}, folder / "everwhen", slow
    )


def main() -> int:
    parser = argparse.ArgumentParser(description="Do what README and guides say, word by word.")
    parser.add_argument(
        "pages", nargs="*", default=GUIDES, help="pages to follow, in this order [README and guides]"
    )
    parser.add_argument("--clone", action="store_true", help="in a clean clone and a fresh environment")
    parser.add_argument("--slow", action="store_true", help="also what takes many minutes")
    parser.add_argument("--log", type=Path, help="write the log here too")
    given = parser.parse_args()
    began, steps = time.monotonic(), []
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(ignore_cleanup_errors=True)))
        environment = {"LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", **_model_addresses(stack)}
        place = fresh(environment, folder, given.slow) if given.clone else here(environment, folder)
        for page in given.pages:
            there = folder / "everwhen" if given.clone else ROOT
            steps += follow(there / page, place, lambda step: print(step, flush=True))
    failed = sum(step.failed for step in steps)
    last = f"{len(steps)} steps, {failed} failed, {time.monotonic() - began:.0f} s"
    print(last)
    if given.log:
        given.log.write_text("\n".join([*map(str, steps), last, ""]), encoding="utf-8")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
