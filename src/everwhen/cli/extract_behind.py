"""Extraction that goes on when the command that added something has ended, in a process of its own.

It holds a lock, so that there is one for a bank, which takes up what is added meanwhile. If it dies, the turns are on
the bank's to-do list still, and whoever reads next takes them up.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from everwhen.store.files.home import home_folder, make_private_folder, store_address

if TYPE_CHECKING:
    from everwhen.api.memory import Memory
    from everwhen.cli.app import GlobalOptions


def extract_behind(here: GlobalOptions) -> bool:
    """See to it that such a process is there; False where there can be none."""
    home, bank, store = home_folder(here.home), here.bank or "default", store_address(here.store)
    command = [
        sys.executable,
        *f"-P -m everwhen --bank {bank} --quiet bank process --home".split(),
        str(home),
    ]
    try:
        lock = os.open(lock_file(home, store, bank), os.O_CREAT | os.O_RDWR, 0o600)
        if _lock_is_ours(lock):
            subprocess.Popen(
                [*command, "--lock", str(lock)],
                env={**os.environ, **({"EVERWHEN_STORE": store} if store else {})},  # it may hold a password
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                start_new_session=True,  # Ctrl-C in the terminal is not meant for it
                pass_fds=[lock],
            )
    except (ImportError, OSError):
        return False
    return True


def is_left(lock: int, memory: Memory) -> bool:
    """Give the lock up; whether something was added before, and nobody else has taken it since."""
    import fcntl

    fcntl.flock(lock, fcntl.LOCK_UN)
    return memory.stats().pending > 0 and _lock_is_ours(lock)


def lock_file(home: Path, store: str | None, bank: str) -> Path:
    make_private_folder(home / "cache")
    # A bank that was deleted leaves no name.
    return home / "cache" / f"{hashlib.sha256(f'{store} {bank}'.encode()).hexdigest()[:16]}.extracting"


def _lock_is_ours(lock: int) -> bool:
    import fcntl  # not on Windows

    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
