"""How many of our files one `add` and one `recall` pass, counted with `sys.setprofile`.

Run it as `python scripts/files_passed.py`; `--write` puts the list into docs/architecture.md too. The bank is warm;
what is counted is the call itself, in the calling thread; the engine and the time library apart.
"""

from __future__ import annotations

import argparse
import re
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from everwhen import Memory

SOURCES = Path(__file__).parents[1] / "src"
PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"


def passed(call: Callable[[], object]) -> list[str]:
    """The files of ours whose functions a call enters, in the order of their first function."""
    seen: dict[str, None] = {}

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(str(SOURCES)):
            seen.setdefault(str(Path(frame.f_code.co_filename).relative_to(SOURCES)))

    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return list(seen)


def calls() -> dict[str, list[str]]:
    """The files of an `add` and of a `recall` in a small warm bank."""
    with tempfile.TemporaryDirectory() as home, Memory.open(home, "b") as memory:
        memory.add({"name": "Ana", "content": "I moved to Porto last week."}, session="s")
        memory.recall("Where does Ana live?")
        memory.flush()
        said = {"name": "Ana", "content": "We booked Lagos for June."}
        return {
            "add": passed(lambda: memory.add(said, session="s")),
            "recall": passed(lambda: memory.recall("Where does Ana live?")),
        }


def by_library(files: list[str]) -> dict[str, list[str]]:
    """The files of the engine and those of the time library, each list in its order."""
    return {
        library: [file for file in files if file.startswith(f"{library}/")]
        for library in ("everwhen", "everwhen_time")
    }


def counted(files: list[str]) -> str:
    """Both sums in words."""
    return ", ".join(f"{len(some)} files of `{library}`" for library, some in by_library(files).items())


def write(found: dict[str, list[str]]) -> None:
    """Fill the block of docs/architecture.md."""
    lines = []
    for name, files in found.items():
        listed = "`, `".join(file for some in by_library(files).values() for file in some)
        lines.append(f"- `{name}`, {counted(files)}: `{listed}`".replace("`everwhen/", "`"))
    block = "\n".join(lines)
    page = PAGE.read_text(encoding="utf-8")
    marks = r"(<!-- files-passed -->\n).*?(<!-- /files-passed -->)"
    page = re.sub(marks, lambda mark: f"{mark[1]}{block}\n{mark[2]}", page, flags=re.DOTALL)
    PAGE.write_text(page, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--write", action="store_true", help="put the list into docs/architecture.md")
    given = parser.parse_args()
    found = calls()
    for name, files in found.items():
        print(f"{name}: {counted(files)}")
        for some in by_library(files).values():
            print("\n".join(f"  {file}" for file in some))
    if given.write:
        write(found)


if __name__ == "__main__":
    main()
