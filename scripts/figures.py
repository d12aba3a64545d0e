"""Draw the pictures of the documents from real runs: `make figures`.

The demo is run here. The plots take what `make bench` wrote to `build/bench` (or the folder given); one whose run is
not there is left as it is.
"""

from __future__ import annotations

import io
import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.text import Text

from everwhen.cli.app import Here
from everwhen.cli.demo import tell

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "img"
RUNS = ROOT / "build" / "bench"

Line = Sequence[tuple[float, float]]
COLOURS = ("#1f6feb", "#bf5b17", "#2da44e")
WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 36, 40, 52


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
    svg = picture.export_svg(title="everwhen", unique_id="everwhen-demo")
    # Rich names web fonts: a picture must not call anybody, and every reader has a monospaced font.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL).replace("Fira Code, ", "")
    (IMAGES / "demo.svg").write_text(svg, encoding="utf-8")


def tokens(run: Mapping[str, Any]) -> str:
    """How much of the evidence a context of so many tokens holds."""
    names = {"default": "learned fusion (the default)", "rrf k=10": "reciprocal ranks, k = 10"}
    lines = {
        names[name]: [(float(budget), value) for budget, value in budgets.items()]
        for name, budgets in run["ablations"]["tokens"].items()
    }
    return plot(
        f"LoCoMo dev, {run['ablations']['questions']} questions: evidence recall against tokens",
        lines, "tokens of context", (0.0, 1.0), lambda value: f"{value:.2f}",
    )  # fmt: skip


def growth(runs: Sequence[Mapping[str, Any]]) -> str:
    """How the time of a recall grows with the bank."""
    ordered = sorted(runs, key=lambda run: run["units"])
    lines = {
        name: [(float(run["units"]), run[key]["p50"]) for run in ordered]
        for name, key in (("default", "recall_ms"), ("low budget, no rerank", "recall_low_ms"))
    }
    most = max(value for line in lines.values() for _, value in line)
    return plot(
        "recall, p50 in ms, by units in the bank",
        lines,
        "units",
        (0.0, most * 1.15),
        lambda value: f"{value:.0f}",
    )


def plot(title: str, lines: Mapping[str, Line], x_label: str, y_range: tuple[float, float], show: Any) -> str:
    """Lines over a logarithmic x axis, each point with its value; plain SVG, readable on light and dark pages."""
    places = sorted({x for line in lines.values() for x, _ in line})
    low, high = math.log2(places[0]), math.log2(places[-1])

    def at(x: float, y: float) -> tuple[float, float]:
        across = (math.log2(x) - low) / max(high - low, 1e-9)
        up = (y - y_range[0]) / (y_range[1] - y_range[0])
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" font-family="sans-serif" '
        f'font-size="12" fill="#57606a"><title>{escape(title)}</title>',
        f'<rect width="{WIDTH}" height="{HEIGHT}" rx="6" fill="#ffffff"/>',
        f'<text x="{LEFT}" y="22" font-size="14" fill="#24292f">{escape(title)}</text>',
    ]
    for step in range(6):
        value = y_range[0] + (y_range[1] - y_range[0]) * step / 5
        x, y = at(places[0], value)
        out.append(f'<path d="M{x:.1f} {y:.1f}H{WIDTH - RIGHT}" stroke="#d0d7de"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{show(value)}</text>')
    for place in places:
        x, _ = at(place, y_range[0])
        out.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{place:,.0f}</text>')
    out.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(x_label)}</text>')
    for number, (name, line) in enumerate(lines.items()):
        colour, side = COLOURS[number], -9 if number == 0 else 18
        points = [at(*point) for point in line]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        for (x, y), (_, value) in zip(points, line, strict=True):
            out.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')
            out.append(
                f'<text x="{x:.1f}" y="{y + side:.1f}" text-anchor="middle" fill="{colour}">{show(value)}</text>'
            )
        y = HEIGHT - BOTTOM - 34 + 18 * number
        out.append(
            f'<text x="{WIDTH - RIGHT - 6}" y="{y}" text-anchor="end" fill="{colour}">{escape(name)}</text>'
        )
    return "\n".join([*out, "</svg>"]) + "\n"


def main(folder: Path) -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    demo()
    runs = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))}
    ablated = [run for run in runs.values() if run.get("bench") == "locomo" and run.get("ablations")]
    if ablated:
        (IMAGES / "recall-tokens.svg").write_text(tokens(ablated[-1]), encoding="utf-8")
    timed = [run for name, run in runs.items() if name.startswith("speed_")]
    if len(timed) > 1:
        (IMAGES / "recall-growth.svg").write_text(growth(timed), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
