"""The home folder: where it is, names of banks that cannot leave it, and the database that may hold them instead."""

from __future__ import annotations

import os
import re
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
