"""One peer in a process of its own, so that its memory can be measured and its failure is its own.

    python -m everwhen_bench.peers.worker PEER DATA LIMIT HOME OUT

LIMIT and HOME are "-" where there is none. How many questions are done goes to standard output, the result to OUT.
"""

from __future__ import annotations

import gc
import ipaddress
import json
import os
import resource
import socket
import sys
import tempfile
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from time import perf_counter
from typing import Any

from everwhen.errors import UsageError
from everwhen_bench.cases import Case, cases
from everwhen_bench.installed import installed
from everwhen_bench.peers import Entry, entry
from everwhen_bench.peers.base import Lent, Peer, Said
from everwhen_bench.retrieval import RANKS

SILENT = {
    "ANONYMIZED_TELEMETRY": "False",
    "CHROMA_ANONYMIZED_TELEMETRY": "False",
    "MEM0_TELEMETRY": "False",
    "LANGCHAIN_TRACING_V2": "false",
    "LANGSMITH_TRACING": "false",
    "LANCEDB_TELEMETRY": "false",
    "HF_HUB_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
}
"""What keeps the peers from calling home."""
MARK = "asked "


def main(arguments: list[str]) -> None:
    name, data, limit, home, out = arguments
    asked = entry(name)
    if asked is None:
        raise UsageError(f"there is no peer {name!r}")
    os.environ.update(SILENT)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["HOME"] = os.environ["MEM0_DIR"] = os.environ["XDG_DATA_HOME"] = folder
        refuse_the_network()
        result = run(
            asked,
            Path(data),
            None if limit == "-" else int(limit),
            None if home == "-" else Path(home),
            Path(folder),
            lambda done: print(f"{MARK}{done}", flush=True),
        )
    Path(out).write_text(json.dumps(result), encoding="utf-8")
    sys.stdout.flush()
    os._exit(0)  # some peers keep threads of their own


def run(
    asked: Entry,
    data: Path,
    limit: int | None,
    home: Path | None,
    folder: Path,
    progress: Callable[[int], None],
) -> dict[str, Any]:
    """Every conversation in a fresh folder: remember it, ask its questions, close, weigh the folder."""
    module = import_module(f"everwhen_bench.peers.{asked.module}")
    lent = Lent(home)
    lent.ask("warm")  # loading the model is nobody's ingest
    runs: list[dict[str, Any]] = []
    turns = disk = 0
    ingest = embedding = 0.0
    for number, case in enumerate(cases(data, limit)):
        own = folder / f"case{number}"
        own.mkdir()
        said = [Said.of(message) for message in case.messages]
        peer: Peer = module.open_peer(own, lent, asked.variant)
        before = lent.seconds
        start = perf_counter()
        peer.add(said)
        ingest += perf_counter() - start
        embedding += lent.seconds - before
        turns += len(said)
        _ask(peer, case, runs)
        progress(len(runs))
        peer.close()
        del peer
        gc.collect()
        disk += _size(own)
    return {
        "peer": asked.name,
        "note": asked.note,
        "turns": turns,
        "ingest_s": ingest,
        "embedding_s": embedding if asked.module != "engine" else None,
        "disk_mb": disk / 1e6 if asked.variant != "memory" else None,
        "rss_mb": peak_memory(),
        **_installed(asked.packages),
        "runs": runs,
    }


def _ask(peer: Peer, case: Case, runs: list[dict[str, Any]]) -> None:
    peer.search("anything", RANKS, None)  # some build their index at the first search
    for question in case.questions:
        start = perf_counter()
        ranked = peer.search(question.text, RANKS, question.at)
        ms = (perf_counter() - start) * 1000
        runs.append({"case": case.name, "question": question.name, "ranked": ranked, "ms": round(ms, 3)})


def refuse_the_network() -> None:
    """From here on a connection that leaves this machine is an error."""
    connect = socket.socket.connect

    def only_here(one: socket.socket, address: Any) -> None:
        if one.family != socket.AF_UNIX and not _is_here(str(address[0])):
            raise OSError(f"no peer may reach the network: {address}")
        connect(one, address)

    def no_names(host: Any, *rest: Any, **more: Any) -> Any:
        if not _is_here(str(host)):
            raise OSError(f"no peer may reach the network: {host}")
        return look_up(host, *rest, **more)

    look_up = socket.getaddrinfo
    socket.socket.connect = only_here  # type: ignore[assignment, method-assign]
    socket.getaddrinfo = no_names


def _is_here(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host in ("localhost", "None")


def peak_memory() -> float:
    """Megabytes of resident memory at the peak, of this process alone.

    Linux counts a parent's memory into `ru_maxrss` of what it starts, but not into VmHWM.
    """
    status = Path("/proc/self/status")
    if status.exists():
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
        return int(line.split()[1]) * 1024 / 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def _installed(packages: tuple[str, ...]) -> dict[str, Any]:
    """What is installed for a peer beside the embedder that it is lent."""
    if not packages:
        return {"installed_packages": None, "installed_mb": None, "versions": {}}
    return {**installed(*packages), "versions": {name: _version(name) for name in packages}}


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "not installed"


def _size(folder: Path) -> int:
    return sum(
        path.stat().st_size for path in folder.rglob("*") if path.is_file() and "cache" not in path.parts
    )


if __name__ == "__main__":
    main(sys.argv[1:])
