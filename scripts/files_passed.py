"""How many of our files one `add` and one `recall` pass, counted with `sys.setprofile`.

Run it as `python scripts/files_passed.py`. The bank is warm; what is counted is the call itself, in the calling thread.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

from everwhen import Memory

SOURCES = Path(__file__).parents[1] / "src"


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


def main() -> None:
    with tempfile.TemporaryDirectory() as home, Memory.open(home, "b") as memory:
        memory.add({"name": "Ana", "content": "I moved to Porto last week."}, session="s")
        memory.recall("Where does Ana live?")
        memory.flush()
        said = {"name": "Ana", "content": "We booked Lagos for June."}
        for name, files in (
            ("add", passed(lambda: memory.add(said, session="s"))),
            ("recall", passed(lambda: memory.recall("Where does Ana live?"))),
        ):
            print(f"{name}: {len(files)} files")
            print("\n".join(f"  {file}" for file in files))


if __name__ == "__main__":
    main()
