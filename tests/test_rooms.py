"""The package stays one that a newcomer can find things in."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "everwhen"
FOLDERS = sorted(one for one in PACKAGE.rglob("*") if one.is_dir() and one.name != "__pycache__")


def test_the_first_level_has_at_most_sixteen_entries() -> None:
    entries = {one.name for one in PACKAGE.iterdir()} - {
        "__init__.py",
        "__main__.py",
        "py.typed",
        "__pycache__",
    }
    assert len(entries) <= 16, sorted(entries)


def test_no_folder_lies_deeper_than_three() -> None:
    assert [one for one in FOLDERS if len(one.relative_to(PACKAGE).parts) > 3] == []


def test_the_architecture_says_what_belongs_into_each_room() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    rooms = [one.name for one in FOLDERS if one.parent == PACKAGE]
    assert [name for name in rooms if f"| `{name}/` |" not in page] == []


@pytest.mark.parametrize(
    "folder", [one for one in FOLDERS if one.parent == PACKAGE], ids=lambda one: one.name
)
def test_a_room_says_in_its_first_line_what_it_is_for(folder: Path) -> None:
    assert (folder / "__init__.py").read_text(encoding="utf-8").startswith('"""')
