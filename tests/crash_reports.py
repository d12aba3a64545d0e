"""A pytest plugin: a worker that dies says how (its signal) and where (its threads' stacks) in the test's report."""

from __future__ import annotations

import faulthandler
import os
import resource
import signal
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest


def pytest_sessionstart(session: pytest.Session) -> None:
    """In a worker: stacks go to a file of its own, since what it writes to its error stream drowns in the run's."""
    worker: Mapping[str, Any] | None = getattr(session.config, "workerinput", None)
    if worker is not None:
        session.config.stash[_STACKS] = file = _stacks(worker).open("w")
        faulthandler.enable(file)


def pytest_unconfigure(config: pytest.Config) -> None:
    worker: Mapping[str, Any] | None = getattr(config, "workerinput", None)
    if worker is not None and _STACKS in config.stash:
        faulthandler.disable()
        config.stash[_STACKS].close()
        _stacks(worker).unlink(missing_ok=True)


@pytest.hookimpl(optionalhook=True)
def pytest_handlecrashitem(report: Any) -> None:
    """In the process that leads the workers, when one has died."""
    stacks = _stacks(report.node.workerinput)
    said = stacks.read_text() if stacks.exists() else ""
    ours = [line for line in said.splitlines() if not any(f"/{name}/" in line for name in _RUNNERS)]
    stacks.unlink(missing_ok=True)
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss // 1024
    report.longrepr += f"\n{_end(report.node)}; the largest process of this run so far had {largest} MB"
    report.longrepr = "\n".join([report.longrepr, *ours])


def _end(node: Any) -> str:
    """How the worker's process ended."""
    process = getattr(getattr(node.gateway, "_io", None), "popen", None)  # execnet has no public way
    code = process.wait(10) if process is not None else None
    if code is None or code >= 0:
        return f"it ended with code {code}"
    return f"it was ended by signal {-code} ({signal.Signals(-code).name})"


def _stacks(worker: Mapping[str, Any]) -> Path:
    return (
        Path(tempfile.gettempdir())
        / f"everwhen-stacks-{worker['testrunuid']}-{worker['workerid']}-{os.getuid()}"
    )


_STACKS = pytest.StashKey[Any]()
_RUNNERS = ("_pytest", "pluggy", "xdist", "execnet")
"""Packages whose frames stand below each test's."""
