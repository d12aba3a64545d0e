"""How long `forget` of one turn takes in a large bank, and the first recall after it, here and in another process.

    python scripts/forget_speed.py --units 100000                  # builds a synthetic bank first (some minutes)
    python scripts/forget_speed.py --home /tmp/bank --forgets 20   # a bank "speed" that was built before

The bank is that of `everwhen bench speed`: real vectors and token codes, links, names, no extraction. Each round
forgets one turn that was said long ago, then recalls in this process and in another one that has had the bank open from
the start. The other process answers on its standard output, so that its own time is what is counted.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from everwhen import Memory
from everwhen.store.banks import open_banks
from everwhen_bench import speed

QUESTION = "what did we say about the garden"
OPEN: dict[str, Any] = {"cache_entries": 0, "extract": "none"}
OTHER = """
import sys
from time import perf_counter
from everwhen import Memory
with Memory.open(sys.argv[1], "speed", cache_entries=0, extract="none") as memory:
    for line in sys.stdin:
        begin = perf_counter()
        memory.recall(line.strip())
        print(1000 * (perf_counter() - begin), flush=True)
"""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--units", type=int, default=100_000)
    options.add_argument("--home", type=Path, help="where the bank is, or is to be built")
    options.add_argument("--forgets", type=int, default=10)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        home = given.home or Path(folder)
        if not (home / "banks" / "speed.db").exists():
            chance = random.Random(7)
            speed.build(open_banks(home), given.units, speed.vocabulary(chance), chance, None)
        print(json.dumps(measure(home, given.forgets), indent=2))


def measure(home: Path, forgets: int) -> dict[str, Any]:
    took: dict[str, list[float]] = {"forget_ms": [], "recall_here_ms": [], "recall_elsewhere_ms": []}
    command = [sys.executable, "-c", OTHER, str(home)]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other,
        Memory.open(home, "speed", **OPEN) as memory,
    ):
        assert other.stdin is not None and other.stdout is not None

        def elsewhere() -> float:
            assert other.stdin is not None and other.stdout is not None
            other.stdin.write(QUESTION + "\n")
            other.stdin.flush()
            return float(other.stdout.readline())

        def here() -> float:
            begin = perf_counter()
            memory.recall(QUESTION)
            return 1000 * (perf_counter() - begin)

        for _ in range(3):
            here(), elsewhere()
        usual = [statistics.median(one() for _ in range(5)) for one in (here, elsewhere)]
        ids = [turn.id for turn in memory.turns()]
        for turn in random.Random(3).sample(ids[: len(ids) // 2], forgets):
            begin = perf_counter()
            receipt = memory.forget(turns=turn)
            took["forget_ms"].append(1000 * (perf_counter() - begin))
            assert receipt.erased, receipt.notes
            took["recall_here_ms"].append(here())
            took["recall_elsewhere_ms"].append(elsewhere())
        other.stdin.close()
        stats = memory.stats()
    return {
        "turns": stats.turns,
        "file_mb": round(stats.bytes / 1e6, 1),
        "usual_recall_ms": {"here": round(usual[0], 1), "elsewhere": round(usual[1], 1)},
        **{
            name: {"p50": round(statistics.median(times), 1), "most": round(max(times), 1)}
            for name, times in took.items()
        },
    }


if __name__ == "__main__":
    main()
