"""The files of banks: which belongs to which name, and what SQLite keeps beside it."""

from __future__ import annotations

from pathlib import Path

from everwhen.errors import UsageError
from everwhen.store.files.home import BANK_NAME, check_bank_name

SUFFIX = ".db"


def bank_path(home: Path, bank: str) -> Path:
    """The file of a bank. Its name may not differ from another one's in capitals alone: `Ana` and `ana` are one file on
    the disks of most Macs and of Windows, and a home folder that holds both cannot be moved there."""
    check_bank_name(bank)
    path = home / "banks" / f"{bank}{SUFFIX}"
    # Where the other spelling leads to a file as well, the disk may ignore case: only the folder's list tells.
    if not path.exists() or path.with_name(path.name.swapcase()).exists():
        names = bank_names(home)
        twin = next((name for name in names if name.casefold() == bank.casefold()), bank)
        if bank not in names and twin != bank:
            raise UsageError(
                f"there is a bank '{twin}', and a name that differs from it in capitals alone is the same file on "
                "some disks; use that one, or choose another name"
            )
    return path


def bank_names(home: Path) -> list[str]:
    """The banks that exist, by name."""
    names = (path.name.removesuffix(SUFFIX) for path in (home / "banks").glob(f"*{SUFFIX}") if path.is_file())
    return sorted(name for name in names if BANK_NAME.fullmatch(name))


def bank_bytes(path: Path) -> int:
    """What a bank takes on the disk: its file, and the log of what is not in there yet."""
    return sum(file.stat().st_size for file in (path, path.with_name(f"{path.name}-wal")) if file.is_file())


def part_of(bank: Path) -> Path:
    """Where a bank is made that will take another one's place."""
    return bank.with_name(f".{bank.name}.part")


def remove_file(path: Path) -> None:
    """Remove a database with what SQLite keeps beside it."""
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
