"""The home folder and the names that banks may have, and whether a process of this machine still runs."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from everwhen.errors import Refused, UsageError

BANK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}")


def home_folder(given: str | Path | None = None) -> Path:
    """The folder that holds the banks: the argument, else EVERWHEN_HOME, else the platform's data folder."""
    chosen = given or os.environ.get("EVERWHEN_HOME")
    if chosen:
        if "\0" in str(chosen):
            raise UsageError("the home folder's name has a NUL character in it")
        return Path(chosen).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path("everwhen", appauthor=False)


def is_address(where: str | Path | None) -> bool:
    """Whether something names a PostgreSQL database rather than a folder."""
    return isinstance(where, str) and where.startswith(("postgresql://", "postgres://"))


def store_address(given: str | None = None) -> str | None:
    """The database that holds the banks: the argument, else EVERWHEN_STORE; None is files in the home folder."""
    return given or os.environ.get("EVERWHEN_STORE") or None


def make_private_folder(folder: Path) -> None:
    """A folder, and those above it that are missing, for their owner alone; one that is there stays as it is."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(exist_ok=True)  # where it is a file, that is said


def check_folder(file: Path) -> None:
    """That a file which somebody names can be written: a folder that is not there is a slip of the pen, most often."""
    if file.is_dir():
        raise UsageError(f"{file} is a folder; name a file in it")
    if not file.parent.is_dir():
        raise UsageError(f"there is no folder {file.parent}; make it first, or name another file")
    if not os.access(file.parent, os.W_OK):
        raise Refused(f"cannot write {file}: make its folder writable, or name another file")


def check_bank_name(bank: str) -> None:
    """A name is letters, digits and `._@+-`: no separator, so no way out of the folder."""
    if not isinstance(bank, str) or not BANK_NAME.fullmatch(bank):
        raise UsageError(
            f"{bank!r} is not a bank name: use 1 to 128 letters, digits and . _ @ + -, beginning with a letter "
            "or digit"
        )


def cache_path(home: Path) -> Path:
    return home / "cache" / "embeddings.sqlite"


_QUERY_LIMITED_INFORMATION = 0x1000
_ACCESS_DENIED = 5
_STILL_ACTIVE = 259


def is_running(process: int) -> bool:
    """Whether there is a process with this number. One that belongs to somebody else counts; in doubt, yes."""
    if sys.platform == "win32":  # there os.kill(process, 0) is no question: it sends Ctrl-C
        return _is_running_on_windows(process)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _is_running_on_windows(process: int) -> bool:
    import ctypes

    kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined,unused-ignore]
    handle = kernel.OpenProcess(_QUERY_LIMITED_INFORMATION, False, process)
    if not handle:
        denied: bool = ctypes.get_last_error() == _ACCESS_DENIED  # type: ignore[attr-defined,unused-ignore]
        return denied
    try:
        code = ctypes.c_ulong()
        known = kernel.GetExitCodeProcess(handle, ctypes.byref(code))
        return not known or code.value == _STILL_ACTIVE
    finally:
        kernel.CloseHandle(handle)
