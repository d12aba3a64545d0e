"""`bench peers`: every peer asked the same questions on the same machine, one after the other, each in its process."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from everwhen.errors import UsageError
from everwhen_bench import metrics
from everwhen_bench.ablation import compared
from everwhen_bench.cases import CaseQuestion, bench_of, cases
from everwhen_bench.environment import with_benches
from everwhen_bench.peers import ABSENT, PEERS, Entry, entry
from everwhen_bench.peers.worker import MARK
from everwhen_bench.retrieval import Scored, figure

TURN = ("recall@5", "recall@10", "ndcg@10", "all@5")
SESSION = ("recall@5", "recall@10", "ndcg@10", "all@5")
MEASURED = ("ingest_s", "embedding_s", "disk_mb", "rss_mb", "installed_mb", "installed_packages")
ENVIRONMENT = Path(".venv-peers") / "bin" / "python"
LAST_WORDS = 300
SILENCE = 900.0
"""Seconds without a further answer after which a peer is given up; filling one memory takes seconds, or a minute."""

Heard = Callable[[str, int], None]
"""Hears which peer has answered how many questions."""


def run(
    data: Path,
    *,
    only: Sequence[str] = (),
    limit: int | None = None,
    home: Path | None = None,
    python: Path | None = None,
    heard: Heard | None = None,
) -> dict[str, Any]:
    """Ask all of them, or those in `only`; with a home the vectors come from its cache, for every peer alike.

    `python` is the interpreter that has the peers; by default that of `make peers`, else this one.
    """
    of = bench_of(data)
    chosen = [one for one in _chosen(only) if one.only in (None, of)]
    questions = {(case.name, one.name): one for case in cases(data, limit) for one in case.questions}
    results: list[dict[str, Any]] = []
    absent = {} if only else dict(ABSENT)
    for one in chosen:
        result = _in_its_process(one, data, limit, home, python or _environment(), heard)
        if isinstance(result, str):
            absent[one.name] = result
        else:
            results.append(result)
    scored = {one["peer"]: _scored(one["runs"], questions) for one in results}
    return {
        "bench": "peers",
        "of": of,
        "data": data.name,
        "questions": len(questions),
        "vectors": "from the cache" if home else "embedded",
        "rows": [_row(one, scored) for one in results],
        "absent": absent,
        "runs": [{"peer": one["peer"], **run} for one in results for run in one["runs"]],
    }


def _chosen(only: Sequence[str]) -> list[Entry]:
    chosen = []
    for name in only:
        found = entry(name)
        if found is None:
            raise UsageError(f"there is no peer {name!r}; there are: {', '.join(one.name for one in PEERS)}")
        chosen.append(found)
    return chosen or list(PEERS)


def _environment() -> Path:
    return ENVIRONMENT if ENVIRONMENT.exists() else Path(sys.executable)


def _in_its_process(
    one: Entry, data: Path, limit: int | None, home: Path | None, python: Path, heard: Heard | None
) -> dict[str, Any] | str:
    """What the peer's process brought, or the reason why it did not."""
    with tempfile.TemporaryDirectory() as folder:
        out, errors = Path(folder) / "result.json", Path(folder) / "errors"
        command = [str(python), "-m", "everwhen_bench.peers.worker", one.name, str(data.absolute())]
        command += [str(limit) if limit is not None else "-", str(home.absolute()) if home else "-", str(out)]
        with (
            errors.open("w") as unsaid,
            subprocess.Popen(
                command, stdout=subprocess.PIPE, stderr=unsaid, text=True, env=with_benches()
            ) as process,
        ):
            watch = _watched(process)
            for line in process.stdout or ():
                watch.cancel()
                watch = _watched(process)
                if heard and line.startswith(MARK):
                    heard(one.name, int(line.removeprefix(MARK)))
            gave_up = watch.finished.is_set()
            watch.cancel()
        if gave_up:
            return f"it said nothing for {SILENCE:.0f} seconds, and was ended"
        if not out.exists():
            said = [line for line in errors.read_text("utf-8", "replace").splitlines() if line.strip()]
            return (said[-1] if said else f"it ended with code {process.returncode}")[:LAST_WORDS]
        result: dict[str, Any] = json.loads(out.read_text("utf-8"))
        return result


def _watched(process: subprocess.Popen[str]) -> threading.Timer:
    """Ends the process unless it is cancelled in time."""
    watch = threading.Timer(SILENCE, process.kill)
    watch.daemon = True
    watch.start()
    return watch


def _scored(
    runs: Iterable[Mapping[str, Any]], questions: Mapping[tuple[str, str], CaseQuestion]
) -> list[Scored]:
    return [questions[run["case"], run["question"]].score(run["ranked"]) for run in runs]


def _row(result: Mapping[str, Any], scored: Mapping[str, Sequence[Scored]]) -> dict[str, Any]:
    """A peer's figures, and how they differ from those of the engine where it was asked too."""
    own = scored[result["peer"]]
    turns = metrics.summary([one.turn for one in own if one.turn], TURN)
    sessions = metrics.summary([one.session for one in own if one.session], SESSION)
    times = [run["ms"] for run in result["runs"]]
    ours = scored.get(PEERS[0].name)
    return {
        "peer": result["peer"],
        "note": result["note"],
        "versions": result["versions"],
        "turn": {key: figure(value) for key, value in turns.items()},
        "session": {key: figure(value) for key, value in sessions.items()},
        "recall_ms": {f"p{q}": figure(metrics.percentile(times, q)) for q in (50, 95, 99)},
        "turns": result["turns"],
        **{key: None if result[key] is None else round(result[key], 3) for key in MEASURED},
        "against_everwhen": compared(own, ours)["figures"] if ours and ours is not own else {},
    }
