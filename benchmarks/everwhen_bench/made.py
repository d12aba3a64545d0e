"""Where figures come from: the commit, the machine and the versions, written beside every run."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any


def made() -> dict[str, Any]:
    """What a reader needs to know of a run to repeat it."""
    return {
        "commit": commit(),
        "everwhen": version("everwhen"),
        "python": platform.python_version(),
        "machine": machine(),
        "at": datetime.now(UTC).isoformat(timespec="minutes"),
    }


def machine() -> str:
    """The processor and how many of its cores may be used; nothing that names the machine itself."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return f"{processor()}, {cores} cores, {platform.system()}"


def processor() -> str:
    told = Path("/proc/cpuinfo")
    if told.exists():
        for line in told.read_text().splitlines():
            if line.startswith("model name"):
                return " ".join(line.partition(":")[2].split())
    return platform.processor() or platform.machine()


def commit() -> str | None:
    """The commit of the sources, with a `+` where they were changed since; None outside of a checkout."""
    here = Path(__file__).parent
    try:
        asked = ["git", "-C", str(here), "describe", "--always", "--dirty=+", "--abbrev=10", "--exclude=*"]
        done = subprocess.run(asked, capture_output=True, text=True, check=True, timeout=10)
    except (OSError, subprocess.SubprocessError):
        return None
    return done.stdout.strip() or None
