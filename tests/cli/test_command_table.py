"""The first screen and the groups: each command has one name."""

from __future__ import annotations

import importlib
import pkgutil
import subprocess
import sys

import pytest
import typer.main

import everwhen.cli
from everwhen.api.operations.surface import operations
from everwhen.cli.app import app, run
from everwhen.cli.command_table import EVERYDAY, GROUPS, WHOLE, Entry
from everwhen.cli.operation_command import operation_command


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert run(list(arguments)) == 0
    return capsys.readouterr().out


def test_the_first_screen_has_at_most_twelve_commands_and_fits_eighty_columns(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    screen = printed(capsys, "--help")
    commands = screen.split("Commands:\n")[1].split("\n\n")[0].splitlines()
    groups = screen.split("Groups:\n")[1].split("\n\n")[0].splitlines()
    assert [line.split()[0] for line in commands] == list(EVERYDAY) and len(commands) <= 12
    assert [line.split()[0] for line in groups] == [*GROUPS, *WHOLE]
    assert all(len(line) <= 80 for line in screen.splitlines())


@pytest.mark.parametrize("group", [*GROUPS, "db"])
def test_the_help_of_a_group_says_what_each_command_does_on_one_whole_line(
    group: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    listed = printed(capsys, group, "--help").split("Commands:\n")[1].splitlines()
    assert listed and not [line for line in listed if line.endswith("...")]


@pytest.mark.parametrize(
    "words", [f"{group} {name}" for group, one in GROUPS.items() for name in one.members]
)
def test_a_command_of_a_group_is_found_under_the_group(
    words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert f"Usage: everwhen {words} " in printed(capsys, *words.split(), "--help")


def test_every_command_that_a_module_defines_can_be_called() -> None:
    for module in pkgutil.iter_modules(everwhen.cli.__path__):
        importlib.import_module(f"everwhen.cli.{module.name}")
    defined = {
        one.name or typer.main.get_command_name(one.callback.__name__)
        for one in app.registered_commands
        if one.callback
    } | {str(one.name) for one in app.registered_groups}
    assert defined == {entry.name for entry in entries() if entry.module} | {"bench"}


def entries() -> list[Entry]:
    return [
        *EVERYDAY.values(),
        *WHOLE.values(),
        *(one for group in GROUPS.values() for one in group.members.values()),
    ]


NO_COMMAND = {"add_many", "flush", "import_", "set_retention", "facts.versions", "facts.confidence_at"}
"""Operations that other commands call: `import`, `bank retain --rule`, `facts export`."""


def test_every_operation_is_a_command() -> None:
    commands = {entry.operation for entry in entries() if entry.operation}
    assert commands == operations().keys() - NO_COMMAND


def test_every_option_of_an_operation_says_what_it_is() -> None:
    for entry in entries():
        if entry.operation:
            options = operation_command("x", entry).params
            silent = [one.name for one in options if not one.help and not getattr(one, "hidden", False)]
            assert silent in ([], ["help"]), entry.operation


@pytest.mark.parametrize("name", ["search", "delete", "turns", "mcp", "when-is", "banks"])
def test_a_command_has_no_second_name(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 2
    assert f"No such command '{name}'" in capsys.readouterr().err


def test_a_word_that_is_nearly_a_command_is_put_right(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["recal", "x"]) == 2
    assert "Did you mean 'recall'" in capsys.readouterr().err


def test_help_loads_the_table_and_no_pydantic() -> None:
    code = (
        "import sys; from everwhen.cli.app import run; run(['--help']); run(['facts', '--help']);"
        "print(sorted(name for name in sys.modules "
        "if name.startswith(('everwhen.cli.', 'everwhen_bench', 'pydantic'))))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == str(["everwhen.cli.app", "everwhen.cli.command_table"])


def test_completion_offers_commands_and_groups_and_no_alias(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def offered(typed: str) -> list[str]:
        monkeypatch.setenv("_EVERWHEN_COMPLETE", "complete_bash")
        monkeypatch.setenv("COMP_WORDS", typed)
        monkeypatch.setenv("COMP_CWORD", str(typed.count(" ")))
        with pytest.raises(SystemExit):
            run([])
        return capsys.readouterr().out.split()

    assert offered("everwhen ") == [*EVERYDAY, *GROUPS, *WHOLE]
    assert offered("everwhen bank re") == ["restore", "retain", "reextract", "reembed"]


def test_the_first_screen_names_what_reads_a_time_expression(capsys: pytest.CaptureFixture[str]) -> None:
    for words in ([], ["time"]):
        assert run([*words, "--help"]) == 0
        assert "`resolve` a time expression" in capsys.readouterr().out
