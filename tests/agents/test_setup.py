"""`everwhen setup`: real files in an empty home folder, kept, shown, and put back byte for byte."""

from __future__ import annotations

import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from everwhen.agents.coding.settings_files import (
    UnreadableSettings,
    read_json,
    with_block,
    with_item,
    with_member,
    with_table,
    without_block,
    without_items,
    without_member,
    without_table,
)
from everwhen.agents.coding.tools import TOOLS
from everwhen.cli.app import run

Files = dict[str, bytes]

SETTINGS: dict[str, tuple[str, str]] = {
    "claude-code": (
        ".claude/settings.json",
        '{\n    // mine\n    "model": "opus", /* the large one */\n    "hooks": {\n        "Stop": [\n'
        '            {"hooks": [{"type": "command", "command": "say done"}]} // a sound\n        ],\n    },\n}\n',
    ),
    "codex": (
        ".codex/config.toml",
        '# mine\nmodel = "o9"   # the best\n\n[mcp_servers.other]\ncommand = "other"\n\n[tui]\ntheme = "dark"\n',
    ),
    "gemini-cli": (
        ".gemini/settings.json",
        '{"ui": {"theme": "Dark"}, "mcpServers": {"other": {"command": "x"}}}',
    ),
    "opencode": (
        ".config/opencode/opencode.jsonc",
        '{\r\n  // mine\r\n  "mcp": {},\r\n  "theme": "dark"\r\n}\r\n',
    ),
    "cursor": (".cursor/mcp.json", '{"mcpServers": {"other": {"command": "other"}}}\n'),
    "vscode": (".config/Code/User/mcp.json", '{\n\t"inputs": [],\n\t"servers": {}\n}\n'),
}


@pytest.fixture
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder of a user."""
    folder = tmp_path / "user"
    folder.mkdir()
    monkeypatch.setenv("HOME", str(folder))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "GEMINI_CLI_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.platform", "linux")
    return folder


def files(folder: Path) -> Files:
    return {str(one.relative_to(folder)): one.read_bytes() for one in folder.rglob("*") if one.is_file()}


def everything(folder: Path) -> set[str]:
    return {str(one.relative_to(folder)) for one in folder.rglob("*")}


def given(user: Path, tool: str) -> Path:
    """The settings that somebody has already."""
    name, text = SETTINGS[tool]
    path = user / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tool_gets_the_server_with_the_bank_and_the_home(
    user: Path, home: Path, tool: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["setup", tool, "--bank", "work"]) == 0
    shown = capsys.readouterr().out
    for name in files(user):
        assert str(user / name) in shown
    settings = "".join(text.decode() for text in files(user).values())
    assert '"mcp"' in settings and '"work"' in settings and str(home) in settings


@pytest.mark.parametrize("tool", TOOLS)
def test_a_dry_run_writes_nothing_and_shows_the_files(
    user: Path, home: Path, tool: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = given(user, tool)
    before = everything(user), files(user)
    assert run(["setup", tool, "--dry-run"]) == 0
    assert (everything(user), files(user)) == before
    assert not home.exists()
    assert f"{path}: would be changed" in capsys.readouterr().out


@pytest.mark.parametrize("tool", TOOLS)
@pytest.mark.parametrize("settings", [True, False], ids=["with settings", "empty home"])
def test_undo_restores_every_byte_and_folder(user: Path, tool: str, settings: bool) -> None:
    if settings:
        given(user, tool)
    before = everything(user), files(user)
    assert run(["setup", tool]) == 0
    assert files(user) != before[1]
    assert run(["setup", tool, "--undo"]) == 0
    assert (everything(user), files(user)) == before


@pytest.mark.parametrize("tool", TOOLS)
def test_a_second_setup_changes_nothing_and_undo_still_restores(user: Path, tool: str) -> None:
    given(user, tool)
    before = files(user)
    assert run(["setup", tool]) == 0
    once = files(user)
    assert run(["setup", tool]) == 0
    assert files(user) == once
    assert run(["setup", tool, "--undo"]) == 0
    assert files(user) == before


@pytest.mark.parametrize("tool", TOOLS)
def test_what_else_stands_in_the_settings_stays_with_its_comments(user: Path, home: Path, tool: str) -> None:
    path = given(user, tool)
    before = path.read_text(encoding="utf-8")
    assert run(["setup", tool]) == 0
    after = path.read_text(encoding="utf-8")
    read: Callable[[str], Any] = tomllib.loads if path.suffix == ".toml" else read_json
    assert contains(read(after), read(before))
    for comment in ("// mine", "# mine", "/* the large one */", "// a sound", "# the best"):
        assert (comment in after) == (comment in before)
    copies = list((home / "agents" / "setup" / tool).glob("*.copy"))
    assert before in [one.read_text(encoding="utf-8") for one in copies]


def contains(large: Any, small: Any) -> bool:
    """Whether all of one value is in the other."""
    if isinstance(small, dict):
        return all(key in large and contains(large[key], one) for key, one in small.items())
    if isinstance(small, list):
        return all(one in large for one in small)
    return bool(large == small)


@pytest.mark.parametrize("tool", TOOLS)
def test_undo_keeps_what_somebody_changed_since(user: Path, tool: str) -> None:
    path = given(user, tool)
    assert run(["setup", tool]) == 0
    with path.open("ab") as file:
        file.write(b"# later\n" if path.suffix == ".toml" else b"// later\n")
    assert run(["setup", tool, "--undo"]) == 0
    left = path.read_text(encoding="utf-8")
    assert "later" in left and "everwhen" not in left
    assert "everwhen" not in "".join(text.decode() for text in files(user).values())


def test_another_bank_takes_the_place_of_the_first(user: Path) -> None:
    given(user, "claude-code")
    assert run(["setup", "claude-code", "--bank", "one"]) == 0
    assert run(["setup", "claude-code", "--bank", "two"]) == 0
    hooks = read_json((user / ".claude/settings.json").read_text(encoding="utf-8"))["hooks"]
    assert [len(hooks[event]) for event in ("Stop", "UserPromptSubmit")] == [2, 1]
    assert " two " in json.dumps(hooks) and " one " not in json.dumps(hooks)


@pytest.mark.parametrize(
    ("tool", "broken"),
    [
        ("claude-code", b'{"hooks": {'),
        ("claude-code", b'{"hooks": []}'),
        ("claude-code", b"\xff\xfe\x00"),
        ("codex", b"model = "),
        ("gemini-cli", b"[" * 100_000),
    ],
)
def test_settings_that_cannot_be_read_are_left_alone_and_nothing_is_written(
    user: Path, tool: str, broken: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    path = given(user, tool)
    path.write_bytes(broken)
    before = files(user)
    assert run(["setup", tool]) == 1
    assert files(user) == before
    error = capsys.readouterr().err
    assert f"{path} was left as it is" in error and len(error.splitlines()) == 1


@pytest.mark.parametrize("tool", [one.name for one in TOOLS.values() if one.asks])
def test_the_hooks_of_a_prompt_wait_as_long_as_is_set(
    user: Path, tool: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for seconds, waits in ((None, 500), ("1.25", 1250)):
        if seconds:
            monkeypatch.setenv("EVERWHEN_PROMPT_SECONDS", seconds)
        assert run(["setup", tool]) == 0
        written = "".join(text.decode() for text in files(user).values())
        assert f"ask {waits}" in written or f"const wait = {waits} " in written


def test_settings_behind_a_link_stay_behind_it(user: Path) -> None:
    real = user / "dotfiles.json"
    real.write_text("{}\n")
    real.chmod(0o600)
    (user / ".gemini").mkdir()
    (user / ".gemini/settings.json").symlink_to(real)
    assert run(["setup", "gemini-cli"]) == 0
    assert (user / ".gemini/settings.json").is_symlink()
    assert "everwhen" in real.read_text() and real.stat().st_mode & 0o777 == 0o600


def test_an_unknown_tool_is_refused_with_the_list(user: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["setup", "notepad"]) == 2
    assert "claude-code, codex" in capsys.readouterr().err


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        '{"a": 1}',
        '{\n  "a": 1, // one\n}',
        '{"a": {"b": [1, /* two */ 2,],},}',
        "{ // nothing\n}\n",
    ],
)
def test_a_member_goes_in_and_out_and_leaves_the_value_as_it_was(text: str) -> None:
    value = read_json(text) if text else {}
    made = with_member(text, ("a b", "c"), {"x": ["y"]})
    assert read_json(made) == {**value, "a b": {"c": {"x": ["y"]}}}
    assert with_member(made, ("a b", "c"), {"x": ["y"]}) == made

    def ours(one: object) -> bool:
        return one == "ours"

    listed = with_item(text, ("list",), "ours", ours)
    assert read_json(listed) == {**value, "list": ["ours"]}
    assert read_json(without_items(listed, ("list",), ours)) == value


@pytest.mark.parametrize("text", ["{", '{"a" 1}', '{"a": 1 "b": 2}', "{} {}", "[", '{"a": }'])
def test_what_is_no_json_is_said_to_be_none(text: str) -> None:
    with pytest.raises(UnreadableSettings):
        read_json(text)


def test_a_table_and_a_part_of_a_page_go_out_as_they_came() -> None:
    toml = 'a = 1\n\n[b]\nc = """\n[x]\n"""\n'
    assert without_table(with_table(toml, "m.everwhen", {"k": ["v"]}), "m.everwhen") == toml
    page = "# Mine\n\nText.\n"
    assert without_block(with_block(page, "rules")) == page
    assert with_block(with_block(page, "old"), "new").count("everwhen: begin") == 1


def test_comments_around_what_goes_in_and_out_stay() -> None:
    text = '{\n  // first\n  "a": 1, // one\n  "hooks": {\n    // why\n    "Stop": [1 /* x */] // last\n  } // end\n}\n'
    made = with_item(text, ("hooks", "Stop"), "ours", lambda one: one == "ours")
    left = without_items(made, ("hooks", "Stop"), lambda one: one == "ours")
    for one in (made, left):
        assert all(
            comment in one for comment in ("// first", "// one", "// why", "/* x */", "// last", "// end")
        )
    assert read_json(left) == read_json(text) and read_json(made)["hooks"]["Stop"] == [1, "ours"]
    alone = '{"mcp": {\n  "everwhen": {} // mine\n}}'
    assert "// mine" in without_member(alone, ("mcp", "everwhen"))


@pytest.mark.parametrize(
    "text", ["# top\na = 1 # one\n", "[m.x]\nk = 1 # x\n# end of x\n\n[t]\nb = 2 # two\n"]
)
def test_comments_of_a_toml_file_stay_when_a_table_comes_and_goes(text: str) -> None:
    made = with_table(text, "m.everwhen", {"k": ["v"]})
    assert tomllib.loads(made)["m"]["everwhen"] == {"k": ["v"]}
    assert without_table(made, "m.everwhen") == text
    assert "# later" in without_table(f"{made}# later\n", "m.everwhen")
