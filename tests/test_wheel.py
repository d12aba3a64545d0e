"""The wheel holds what a user needs: built as for a release, without the network."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from everwhen.cli.app import run

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, unpacked as pip unpacks it."""
    folder = tmp_path_factory.mktemp("wheel")
    code = f"from hatchling.build import build_wheel; build_wheel({str(folder)!r})"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True, capture_output=True)
    (wheel,) = folder.glob("*.whl")
    with ZipFile(wheel) as packed:
        packed.extractall(folder / "lib" / "site")
    return folder / "lib" / "site"


def everwhen(path: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command as a process of its own that finds the package in `path`."""
    return subprocess.run(
        [sys.executable, "-m", "everwhen", *arguments],
        cwd=os.environ["EVERWHEN_HOME"],
        env={**os.environ, "PYTHONPATH": str(path)},
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture(autouse=True)
def _elsewhere(home: Path) -> None:
    """Commands run in a folder that has nothing to do with the checkout."""
    home.mkdir()


def test_the_wheel_has_the_package_and_the_time_library_alone(site: Path) -> None:
    assert {one.name for one in site.iterdir()} == {
        "everwhen",
        "everwhen_time",
        *(one.name for one in site.glob("*.dist-info")),
    }


@pytest.mark.parametrize("word", ["bench", "peer", "stud", "fit_", "chroma", "mem0", "locomo_dev"])
def test_the_wheel_has_nothing_that_measures_or_fits(site: Path, word: str) -> None:
    names = [str(one.relative_to(site)) for one in (site / "everwhen").rglob("*")]
    ours = {
        "everwhen/cli/bench.py",
        "everwhen/write/importers/benchmarks.py",
    }  # a command, and a reader of exports
    assert not {name for name in names if word in name} - ours


def test_the_wheel_has_the_networks_and_the_tables(site: Path) -> None:
    """What is loaded as a file, and not imported, is in the wheel as well."""
    sources = [one for one in (ROOT / "src").rglob("*") if one.is_file() and one.suffix != ".pyc"]
    assert [one for one in sources if not (site / one.relative_to(ROOT / "src")).is_file()] == []


@pytest.mark.parametrize("arguments", [(), ("--help",), ("locomo", "--data", "nowhere.json"), ("guard",)])
def test_an_installed_wheel_says_where_the_benches_are(site: Path, arguments: tuple[str, ...]) -> None:
    done = everwhen(site, "bench", *arguments)
    assert (done.returncode, done.stdout) == (2, "")
    said = "everwhen: benches come with a checkout of everwhen, not with the installed package\n"
    assert done.stderr == said


def test_an_installed_wheel_does_not_list_the_benches(site: Path) -> None:
    listed = everwhen(site, "--help")
    assert listed.returncode == 0
    assert "  recall " in listed.stdout and "bench" not in listed.stdout


def test_a_checkout_lists_the_benches(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    assert "  bench " in capsys.readouterr().out


def test_a_checkout_finds_the_benches_from_any_folder_without_a_variable() -> None:
    done = everwhen(ROOT / "src", "bench", "study")
    assert done.returncode == 0, done.stderr
    assert "satf: " in done.stdout
