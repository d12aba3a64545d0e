"""A test that takes its worker down is reported with how the process ended, and where it was."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("xdist")

HARMFUL = """
import ctypes, os, signal

def test_that_reads_what_is_not_there():
    ctypes.string_at(0)

def test_that_is_killed():
    os.kill(os.getpid(), signal.SIGKILL)

def test_that_is_harmless():
    pass
"""


def test_a_worker_that_dies_says_how_and_where(tmp_path: Path) -> None:
    file = tmp_path / "test_harmful.py"
    file.write_text(HARMFUL)
    plugins = ["-p", "xdist", "-p", "no:cacheprovider", "-p", "tests.crash_reports"]
    options = ["-n", "1", *plugins, "--rootdir", str(tmp_path)]
    # Three workers start, one after the other: they need xdist alone of what is installed.
    environment = {**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", *options, "-c", "/dev/null", str(file)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[1],
        env=environment,
    )
    assert "2 failed, 1 passed" in ran.stdout
    assert "signal 11 (SIGSEGV)" in ran.stdout and "in test_that_reads_what_is_not_there" in ran.stdout
    assert "signal 9 (SIGKILL)" in ran.stdout
    assert "pluggy" not in ran.stdout.partition("FAILURES")[2]
