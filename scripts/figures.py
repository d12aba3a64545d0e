"""Draw the pictures of the documents from real runs: `make figures`."""

from __future__ import annotations

import io
import re
from pathlib import Path

from rich.console import Console
from rich.text import Text

from everwhen.cli.app import Here
from everwhen.cli.demo import tell

IMAGES = Path(__file__).parent.parent / "docs" / "img"


def demo() -> None:
    """The end of what `make demo` prints, as an SVG."""
    here = Here()
    here.console = Console(record=True, width=104, file=io.StringIO(), force_terminal=True, highlight=False)
    tell(here)
    lines = here.console.export_text(styles=True).splitlines()
    picture = Console(record=True, width=104, file=io.StringIO(), force_terminal=True, highlight=False)
    begin = next(i for i, line in enumerate(lines) if "30 May 2025" in line)
    for line in ["$ make demo", "…", *lines[begin:]]:
        picture.print(Text.from_ansi(line), overflow="crop", no_wrap=True)
    IMAGES.mkdir(parents=True, exist_ok=True)
    svg = picture.export_svg(title="everwhen", unique_id="everwhen-demo")
    # Rich names web fonts: a picture must not call anybody, and every reader has a monospaced font.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL).replace("Fira Code, ", "")
    (IMAGES / "demo.svg").write_text(svg, encoding="utf-8")


if __name__ == "__main__":
    demo()
