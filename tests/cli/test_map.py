"""`everwhen show map`: a picture and measures of one bank or several."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from everwhen import Memory
from everwhen.cli.app import run
from tests.recall.memories import TALK, tell


@pytest.fixture
def home(tmp_path: Path) -> Path:
    for bank in ("ana", "ben"):
        with Memory.open(tmp_path, bank=bank, extract="none") as memory:
            for place in range(3):
                tell(memory, TALK, session=f"{bank}{place}", days=20.0 * place)
            memory.consolidate("end")
    return tmp_path


def test_a_bank_is_drawn_by_month(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = home / "pictures" / "map.svg"
    assert (
        run(["show", "map", "--home", str(home), "--bank", "ana", "--method", "pca", "--out", str(picture)])
        == 0
    )
    shown = capsys.readouterr().out
    assert "1 exchange" in shown and "silhouette" in shown and "Groups are months" in shown
    assert ElementTree.fromstring(picture.read_text()).tag.endswith("svg")
    assert "kayak" not in picture.read_text()


def test_several_banks_are_drawn_together_a_group_each(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["--home", str(home), "show", "map", "ana", "ben", "--method", "pca", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["method"] == "pca"
    assert [row["groups"] for row in told["levels"]] == [2] * len(told["levels"])
    assert set(told["definitions"]) <= set(told["levels"][0])


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (["--method", "magic"], 2, "unknown method"),
        (["--out", "map.gif"], 2, ".svg or .png"),
        (["nobody"], 3, "nobody"),
    ],
)
def test_mistakes_are_one_line(
    home: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], code: int, said: str
) -> None:
    assert run(["--home", str(home), "--bank", "ana", "show", "map", *arguments]) == code
    assert said in capsys.readouterr().err
