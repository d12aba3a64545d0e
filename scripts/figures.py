"""Draw the pictures of the documents from real runs: `make figures`.

They take what `make bench` wrote to `build/bench` (or the folder given); one whose run is not there is left as it is.
Pictures of older figures lie beside them in benchmarks/history/.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parent.parent
IMAGES = ROOT / "docs" / "img"
HISTORY = ROOT / "benchmarks" / "history" / "img"
FIGURES = ROOT / "training/figures/extractive.json"
RUNS = ROOT / "build" / "bench"

Line = Sequence[tuple[float, float]]
CATEGORIES = {"1": "multi-hop", "2": "temporal", "3": "open domain", "4": "single-hop"}
COLOURS = ("#1f6feb", "#bf5b17", "#2da44e")
WIDTH, HEIGHT = 640, 360
LEFT, RIGHT, TOP, BOTTOM = 64, 36, 40, 52
FEW = 8
"""Questions below which a share says nothing."""


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


def ingest(study: Mapping[str, Any]) -> str:
    """Whether a turn costs more the more there are: seconds since the beginning by turns."""
    points = study["figures"]["growth"]
    lines = {
        name: [(float(one["turns"]), one[key]) for one in points]
        for name, key in (
            ("with extraction by the rules", "all_s"),
            ("added: durable, can be recalled", "add_s"),
        )
    }
    most = max(value for line in lines.values() for _, value in line)
    return plot(
        "LoCoMo dev in one bank: seconds of ingest by turns",
        lines,
        "turns",
        (0.0, most * 1.15),
        lambda value: f"{value:.0f}",
        linear=True,
    )


def satf_types(studies: Mapping[str, Mapping[str, Any]]) -> str:
    """SATF on and off for each kind of question, over both fusions."""
    bars: dict[str, list[tuple[str, float]]] = {}
    for data, study in studies.items():
        rows = study["figures"]["rows"]["learned fusion"]
        on = next(name for name in rows if name.startswith("sigma=15"))
        for name, row in (("off", rows["off"]), ("on, the paper's numbers", rows[on])):
            for group, figures in row["by_group"].items():
                value = figures.get("turn ndcg@10")
                if value:
                    label = CATEGORIES.get(group, group.replace("single-session", "single"))
                    bars.setdefault(name, []).append((f"{data} {label}", value["value"]))
    return bar_plot("SATF off and on: turn NDCG@10 by kind of question, learned fusion", bars)


def confidence(held_out: Mapping[str, Mapping[str, Any]]) -> str:
    """How often an answer of some confidence is right, beside the line on which it is as often as it says."""
    names = {"everyday": "everyday conversations", "locomo": "LoCoMo dev"}
    lines: dict[str, Line] = {
        names[name]: [
            (100 * sure, right) for sure, right, count in figures["by tenths of confidence"] if count >= FEW
        ]
        for name, figures in held_out.items()
    }
    return plot(
        "answers without a model: right, by how sure they are",
        lines, "confidence in %", (0.0, 1.0), lambda value: f"{value:.2f}", linear=True, ideal=lambda x: x / 100,
    )  # fmt: skip


def bar_plot(title: str, bars: Mapping[str, Sequence[tuple[str, float]]]) -> str:
    """Groups of horizontal bars, from 0 to 1, each with its value."""
    labels = [label for label, _ in next(iter(bars.values()))]
    thick, gap, left = 11, 10, 210
    step = thick * len(bars) + gap
    height = TOP + step * len(labels) + 30
    out = [_opening(title, height)]
    for place, label in enumerate(labels):
        y = TOP + place * step
        out.append(
            f'<text x="{left - 8}" y="{y + thick * len(bars) / 2 + 4:.1f}" text-anchor="end">{escape(label)}</text>'
        )
        for number, values in enumerate(bars.values()):
            value, top, colour = values[place][1], y + number * thick, COLOURS[number]
            width = value * (WIDTH - left - RIGHT - 40)
            out.append(
                f'<rect x="{left}" y="{top}" width="{width:.1f}" height="{thick - 2}" fill="{colour}"/>'
            )
            out.append(
                f'<text x="{left + width + 5:.1f}" y="{top + 9}" font-size="10" fill="{colour}">{value:.3f}</text>'
            )
    for number, name in enumerate(bars):
        out.append(
            f'<text x="{left + 160 * number}" y="{height - 10}" fill="{COLOURS[number]}">{escape(name)}</text>'
        )
    return "\n".join([*out, "</svg>"]) + "\n"


def _opening(title: str, height: int) -> str:
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" font-family="sans-serif" '
        f'font-size="12" fill="#57606a"><title>{escape(title)}</title>\n'
        f'<rect width="{WIDTH}" height="{height}" rx="6" fill="#ffffff"/>\n'
        f'<text x="{LEFT}" y="22" font-size="14" fill="#24292f">{escape(title)}</text>'
    )


def plot(
    title: str,
    lines: Mapping[str, Line],
    x_label: str,
    y_range: tuple[float, float],
    show: Any,
    linear: bool = False,
    ideal: Callable[[float], float] | None = None,
) -> str:
    """Lines over a logarithmic x axis, unless it is to be linear, each point with its value; and what would be `ideal`,
    over a whole axis of hundred.

    Plain SVG, readable on light and dark pages.
    """
    places = (
        sorted({x for line in lines.values() for x, _ in line}) if ideal is None else [*range(0, 101, 10)]
    )
    scale = float if linear else math.log2
    low, high = scale(places[0]), scale(places[-1])

    def at(x: float, y: float) -> tuple[float, float]:
        across = (scale(x) - low) / max(high - low, 1e-9)
        up = (y - y_range[0]) / (y_range[1] - y_range[0])
        return LEFT + across * (WIDTH - LEFT - RIGHT), HEIGHT - BOTTOM - up * (HEIGHT - TOP - BOTTOM)

    out = [_opening(title, HEIGHT)]
    for step in range(6):
        value = y_range[0] + (y_range[1] - y_range[0]) * step / 5
        x, y = at(places[0], value)
        out.append(f'<path d="M{x:.1f} {y:.1f}H{WIDTH - RIGHT}" stroke="#d0d7de"/>')
        out.append(f'<text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{show(value)}</text>')
    for place in places:
        x, _ = at(place, y_range[0])
        out.append(f'<text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{place:,.0f}</text>')
    out.append(f'<text x="{WIDTH / 2}" y="{HEIGHT - 12}" text-anchor="middle">{escape(x_label)}</text>')
    if ideal is not None:
        (x0, y0), (x1, y1) = (at(x, ideal(x)) for x in (places[0], places[-1]))
        out.append(
            f'<path d="M{x0:.1f} {y0:.1f}L{x1:.1f} {y1:.1f}" stroke="#8c959f" stroke-dasharray="4 4" fill="none"/>'
        )
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
        # Where there is room: rising lines leave it at the top, curves that level off at the bottom.
        x, anchor = (LEFT + 12, "start") if linear else (WIDTH - RIGHT - 6, "end")
        y = TOP + 16 + 18 * number if linear else HEIGHT - BOTTOM - 34 + 18 * number
        out.append(f'<text x="{x}" y="{y}" text-anchor="{anchor}" fill="{colour}">{escape(name)}</text>')
    return "\n".join([*out, "</svg>"]) + "\n"


def main(folder: Path) -> None:
    held_out = json.loads(FIGURES.read_text("utf-8"))
    (HISTORY / "confidence.svg").write_text(confidence(held_out), encoding="utf-8")
    runs = {path.stem: json.loads(path.read_text("utf-8")) for path in sorted(folder.glob("*.json"))}
    ablated = [run for run in runs.values() if run.get("bench") == "locomo" and run.get("ablations")]
    if ablated:
        (IMAGES / "recall-tokens.svg").write_text(tokens(ablated[-1]), encoding="utf-8")
    timed = [run for name, run in runs.items() if name.startswith("speed_")]
    if len(timed) > 1:
        (HISTORY / "recall-growth.svg").write_text(growth(timed), encoding="utf-8")
    if "study_writing" in runs:
        (HISTORY / "ingest-growth.svg").write_text(ingest(runs["study_writing"]), encoding="utf-8")
    studied = {
        name: runs[key]
        for name, key in (("LoCoMo", "study_satf"), ("LongMemEval", "study_satf_longmemeval"))
        if key in runs
    }
    if studied:
        (HISTORY / "satf-types.svg").write_text(satf_types(studied), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else RUNS)
