"""`setup`, `resident`: memory for coding agents."""

from __future__ import annotations

from typing import Annotated

from typer import Argument, Option

from everwhen.cli.app import GlobalOptions, app


@app.command()
def setup(
    here: GlobalOptions,
    tool: Annotated[str, Argument(help="claude-code, codex, gemini-cli, opencode, cursor or vscode.")],
    dry_run: Annotated[bool, Option("--dry-run", help="Only show what would be written.")] = False,
    undo: Annotated[bool, Option("--undo", help="Take everything back.")] = False,
) -> None:
    """Give a coding agent its memory: the MCP server, hooks, and rules that make it use them."""
    import importlib.util
    import os
    from pathlib import Path

    from everwhen.agents.coding import hook
    from everwhen.agents.coding.changes import Setup
    from everwhen.agents.coding.tools import TOOLS, Place
    from everwhen.errors import UsageError
    from everwhen.settings import load
    from everwhen.store.files.home import check_bank_name, home_folder

    if tool not in TOOLS:
        raise UsageError(f"unknown tool '{tool}'; there are {', '.join(TOOLS)}")
    chosen, home, bank = TOOLS[tool], home_folder(here.home), here.bank or "default"
    check_bank_name(bank)
    place = Place(Path.home(), home, bank, os.environ, round(1000 * load().prompt_seconds))
    files = Setup(chosen.changes(place), home / hook.FOLDER / "setup" / tool)
    written = files.undo(dry_run) if undo else files.do(dry_run)
    notes = [] if undo else list(chosen.notes)
    if not undo and importlib.util.find_spec("mcp") is None:
        notes.append("The MCP server needs an extra: pip install 'everwhen[serve]'")
    if not undo and not place.hooks and chosen.asks:
        notes.append(
            "Hooks need Unix sockets, which Python does not have on Windows: only the tools are set up."
        )
    files_told = [
        {"path": str(one.path), "what": one.what, "copy": str(one.copy) if one.copy else None}
        for one in written
    ]
    told = {"tool": tool, "bank": bank, "home": str(home), "dry_run": dry_run, "files": files_told}
    if here.printed({**told, "notes": notes}):
        return
    for one in written:
        would = "would be " if dry_run and one.what != "as it was" else ""
        here.say(f"{one.path}: {would}{one.what}" + (f" (before: {one.copy})" if one.copy else ""))
        if one.what != "as it was" and one.after is not None:
            here.say(one.difference())
    for note in notes:
        here.say(note)
    if not undo and not dry_run:
        undoing = f"`everwhen setup {tool} --undo` takes it back"
        here.say(f"{chosen.title} has bank '{bank}' as its memory; {undoing}")


@app.command()
def resident(
    here: GlobalOptions,
    stop: Annotated[bool, Option("--stop", help="End the one that runs.")] = False,
    idle: Annotated[float, Option(min=1, help="Seconds without an event after which it ends.")] = 1800,
    lock: Annotated[int | None, Option(hidden=True)] = None,
) -> None:
    """Answer the hooks of `setup`; they start it by themselves."""
    from everwhen.agents.coding import resident as process
    from everwhen.store.files.home import home_folder, store_address

    home = home_folder(here.home)
    if stop:
        process.request(home, "stop")
        return
    process.run(home, here.bank or "default", store_address(here.store), lock, idle)
