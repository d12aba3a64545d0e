"""The time library stands alone: built as a wheel of its own, it works without the engine."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

SOURCES = Path(__file__).parents[2] / "src"
PROJECT = """
[build-system]
requires = ["hatchling"]
build-backend = "hatchling.build"

[project]
name = "everwhen-time"
version = "0.1.0"

[tool.hatch.build.targets.wheel]
packages = ["everwhen_time"]
"""
USE = """
import sys
sys.modules["everwhen"] = None  # importing it fails
from datetime import UTC, datetime
from everwhen_time import Interval, constraint, resolve
now = datetime(2023, 5, 10, 12, tzinfo=UTC)
(found,) = resolve("We met last Friday.", now, "UTC")
assert found.interval.start == datetime(2023, 5, 5, tzinfo=UTC), found
assert constraint("What did she do in March?", now, "UTC").interval.grain == "month"
(there,) = resolve("am 3. Mai 2023", now, "UTC")
assert there.interval == Interval(datetime(2023, 5, 3, tzinfo=UTC), datetime(2023, 5, 4, tzinfo=UTC), "day")
loaded = {"numpy", "pydantic", "onnxruntime", "spacy"} & sys.modules.keys()
assert not loaded, loaded
"""


def test_a_wheel_of_its_own_reads_times_without_the_engine(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "everwhen_time").symlink_to(SOURCES / "everwhen_time", target_is_directory=True)
    (folder / "pyproject.toml").write_text(PROJECT, encoding="utf-8")
    build = f"from hatchling.build import build_wheel; build_wheel({str(tmp_path)!r})"
    subprocess.run([sys.executable, "-c", build], cwd=folder, check=True, capture_output=True)
    (wheel,) = tmp_path.glob("*.whl")
    site = tmp_path / "site"
    with ZipFile(wheel) as packed:
        packed.extractall(site)
    assert {one.name for one in site.iterdir()} >= {"everwhen_time"} and not (site / "everwhen").exists()
    program = f"import sys; sys.path.insert(0, {str(site)!r})\n{USE}"
    program += f"\nimport everwhen_time\nassert everwhen_time.__file__.startswith({str(site)!r})"
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=site, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
