"""The home folder: which file belongs to which bank, and names that cannot leave it."""

from __future__ import annotations

import os
import re
from pathlib import Path

from everwhen.errors import UsageError

BANK_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@+-]{0,127}")
SUFFIX = ".db"


def home_folder(given: str | Path | None = None) -> Path:
    """The folder that holds the banks: the argument, else EVERWHEN_HOME, else the platform's data folder."""
    chosen = given or os.environ.get("EVERWHEN_HOME")
    if chosen:
        if "\0" in str(chosen):
            raise UsageError("the home folder's name has a NUL character in it")
        return Path(chosen).expanduser().absolute()
    from platformdirs import user_data_path

    return user_data_path("everwhen", appauthor=False)


def make_private_folder(folder: Path) -> None:
    """A folder, and those above it that are missing, for their owner alone; one that is there stays as it is."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()]
    for one in reversed(missing):
        one.mkdir(mode=0o700, exist_ok=True)
    folder.mkdir(exist_ok=True)  # where it is a file, that is said


def bank_path(home: Path, bank: str) -> Path:
    """The file of a bank. A name is letters, digits and `._@+-`: no separator, so no way out of the folder."""
    if not isinstance(bank, str) or not BANK_NAME.fullmatch(bank):
        raise UsageError(
            f"{bank!r} is not a bank name: use 1 to 128 letters, digits and . _ @ + -, beginning with a letter "
            "or digit"
        )
    return home / "banks" / f"{bank}{SUFFIX}"


def bank_names(home: Path) -> list[str]:
    """The banks that exist, by name."""
    names = (path.name.removesuffix(SUFFIX) for path in (home / "banks").glob(f"*{SUFFIX}") if path.is_file())
    return sorted(name for name in names if BANK_NAME.fullmatch(name))


def cache_path(home: Path) -> Path:
    return home / "cache" / "embeddings.sqlite"
