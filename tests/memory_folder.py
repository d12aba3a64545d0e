"""A pytest plugin: the tests' folders lie in memory where there is room, and are gone when the run ends.

Thousands of tests each open a database of their own, and would wait for a disk more than they compute. `--basetemp`
chooses another folder, which stays.
"""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

MEMORY = Path("/dev/shm")
ROOM = 4 << 30
"""Bytes that have to be free: about three times what a whole run needs."""


@pytest.hookimpl(tryfirst=True)  # before pytest chooses a folder
def pytest_configure(config: pytest.Config) -> None:
    if config.option.basetemp is None and MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= ROOM:
        folder = tempfile.mkdtemp(prefix="everwhen-tests-", dir=MEMORY)
        config.option.basetemp = str(Path(folder, "run"))
        config.add_cleanup(lambda: shutil.rmtree(folder, ignore_errors=True))
