"""How large an installation is: a package with everything that it requires, extras left out."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import everwhen


def installed(*names: str) -> dict[str, float]:
    """The number of packages and the megabytes of their files, compiled ones included; of everwhen, unless named."""
    from packaging.requirements import Requirement
    from packaging.utils import canonicalize_name

    seen: set[str] = set()
    waiting = list(names or ("everwhen",))
    with_us = "everwhen" in waiting
    total = 0
    while waiting:
        found = canonicalize_name(waiting.pop())
        if found in seen:
            continue
        try:
            one = distribution(found)
        except PackageNotFoundError:
            continue  # wanted on another platform only
        seen.add(found)
        for line in one.requires or ():
            requirement = Requirement(line)
            if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
                waiting.append(requirement.name)
        total += sum(_size(Path(str(file.locate()))) for file in one.files or ())
    if with_us:  # an editable installation lists no files of its own
        root = Path(everwhen.__file__).parent
        listed = any(str(file).startswith("everwhen/") for file in distribution("everwhen").files or ())
        total += 0 if listed else sum(_size(path) for path in root.rglob("*"))
    return {"installed_packages": len(seen), "installed_mb": total / 1e6}


def _size(path: Path) -> int:
    return path.stat().st_size if path.is_file() else 0
