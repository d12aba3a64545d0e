"""Other programs: `serve`, `mcp`, `ui`, `keys`; `db` and `worker` (PostgreSQL); `setup` and `resident` (agents)."""

from __future__ import annotations

import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Annotated

import typer
from typer import Argument, Exit, Option

from everwhen.cli.app import Commands, GlobalOptions, app
from everwhen.errors import EverwhenError, UsageError
from everwhen.store.files.home import check_bank_name, home_folder

if TYPE_CHECKING:
    from collections.abc import Sequence

    from everwhen.store.banks import Database


keys = Commands(help="API keys: who may do what in which banks.", no_args_is_help=True)
app.add_typer(keys, name="keys")

Host = Annotated[str, Option(envvar="EVERWHEN_HOST", help="Address to listen on.")]
Port = Annotated[int, Option(envvar="EVERWHEN_PORT", min=1, max=65535, help="Port to listen on.")]
NoAuth = Annotated[
    bool, Option("--no-auth", help="Ask for no key. Only on loopback, for this machine's users.")
]
PagePort = Annotated[
    int, Option(envvar="EVERWHEN_PORT", min=1, max=65535, help="Port of the page to listen on.")
]
Browser = Annotated[bool, Option("--browser/--no-browser", help="Open the page in a browser.")]


@app.command()
def serve(
    here: GlobalOptions,
    host: Host = "127.0.0.1",
    port: Port = 8765,
    no_auth: NoAuth = False,
    workers: Annotated[int, Option(min=1, help="Processes; each loads the model.")] = 1,
    threads: Annotated[int, Option(min=0, help="Calls at a time [two a core].")] = 0,
    open_banks: Annotated[int, Option(min=1, help="Banks that stay open.")] = 32,
    rate: Annotated[float, Option(min=0.1, help="Requests a second for each key.")] = 200.0,
    burst: Annotated[int, Option(min=1, help="Requests at once for each key.")] = 2000,
    per_address: Annotated[int, Option(min=0, help="Connections of one address [0: no bound].")] = 1000,
    log_level: Annotated[str, Option(help="debug, info, warning or error.")] = "info",
) -> None:
    """HTTP (/v1), MCP (/mcp) and metrics over the banks of the home folder."""
    from everwhen.serve.server_settings import ServerSettings

    if log_level not in ("debug", "info", "warning", "error"):
        raise UsageError(f"unknown log level '{log_level}'; use debug, info, warning or error")
    from everwhen.serve.server import run

    run(
        ServerSettings(
            home=home_folder(here.home),
            store=here.store,
            host=host,
            port=port,
            auth=not no_auth,
            workers=workers,
            threads=threads,
            open_banks=open_banks,
            rate=rate,
            burst=burst,
            connections_per_address=per_address,
            log_level=log_level,
        )
    )


@app.command()
def mcp(
    here: GlobalOptions,
    http: Annotated[
        bool, Option("--http", help="Streamable HTTP at /mcp/BANK instead of standard input.")
    ] = False,
    host: Host = "127.0.0.1",
    port: Port = 8765,
    no_auth: NoAuth = False,
) -> None:
    """The memory as MCP tools. Attaches to a running `everwhen serve` of this home folder, if there is one."""
    from everwhen.serve.server_settings import need

    home, bank = home_folder(here.home), here.bank or "default"
    check_bank_name(bank)
    need("mcp")
    if http:
        from everwhen.serve.server import run as run_server
        from everwhen.serve.server_settings import ServerSettings

        run_server(ServerSettings(home=home, store=here.store, host=host, port=port, auth=not no_auth))
        return
    from everwhen.serve.mcp.stdio import serve as serve_stdio
    from everwhen.serve.server_settings import running

    serve_stdio(home, bank, here.store, None if running(home / "serve") else here.expect_models)


@app.command()
def ui(here: GlobalOptions, port: PagePort = 8766, browser: Browser = True) -> None:
    """Look at the memory in a browser: timeline, recall, facts, entities, tree, map. For this machine, without keys."""
    need_ui()
    if here.bank:
        here.banks().check_name(here.bank)
    show_page(here, port, browser=browser)


def need_ui() -> None:
    """Say what to install, where the page cannot be shown."""
    from everwhen.serve.server_settings import need

    need("nicegui", extra="ui")
    need("fastapi", "uvicorn", "mcp")


def show_page(here: GlobalOptions, port: int, *, browser: bool) -> None:
    """Serve the page until Ctrl-C, and open it."""
    from urllib.parse import quote

    from everwhen.serve.server import run
    from everwhen.serve.server_settings import ServerSettings

    url = f"http://127.0.0.1:{port}/ui/" + (f"{quote(here.bank)}/overview" if here.bank else "")
    here.report({"url": url}, f"{url}  (Ctrl-C ends it)")
    if browser:
        threading.Thread(target=_open_browser, args=(url, port), daemon=True).start()
    home = home_folder(here.home)
    run(ServerSettings(home=home, store=here.store, port=port, auth=False, log_level="warning"))


def _open_browser(url: str, port: int, seconds: float = 30.0) -> None:
    """Open the browser as soon as somebody listens."""
    import socket
    import webbrowser

    end = time.monotonic() + seconds
    while time.monotonic() < end:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                webbrowser.open(url)
                return
        time.sleep(0.1)


@keys.command("create")
def create(
    here: GlobalOptions,
    scope: Annotated[str, Option(help="read, write (includes read) or admin (includes both).")] = "read",
    name: Annotated[str, Option(help="What it is for.")] = "",
) -> None:
    """Make a key for some banks, or for all.

    --bank, an option of every command, names them, parted by commas; 'team-*' stands for all names that begin so.
    Without it the key is for EVERWHEN_BANK where that is set, else for every bank.
    """
    made, token = _book(here).create(scope, here.bank or "*", name)
    if here.json:
        here.print({"key": token, "id": made.id, "scope": made.scope, "banks": made.banks, "name": made.name})
        return
    typer.echo(token)
    if not here.quiet:
        banks = "every bank" if made.banks == ("*",) else ", ".join(made.banks)
        typer.echo(f"It may {made.scope} in {banks}, and is shown only now (its id is {made.id}).", err=True)


@keys.command("list")
def list_(here: GlobalOptions) -> None:
    """The keys, without their secrets."""
    found = _book(here).all()
    if here.printed(found):
        return
    for key in found:
        state = f"revoked {key.revoked_at:%Y-%m-%d}" if key.revoked_at else "in use"
        banks = ",".join(key.banks)
        here.say(f"{key.id}  {key.scope:<5}  {banks}  {key.created_at:%Y-%m-%d}  {state}  {key.name}")
    if not found:
        here.say("no keys; `everwhen server keys create --scope write --bank NAME` makes one")


@keys.command("revoke")
def revoke(
    here: GlobalOptions,
    id: Annotated[str, Argument(help="The key's id; `everwhen server keys list` shows it.")],
) -> None:
    """Make a key void; running servers refuse it from now on."""
    key = _book(here).revoke(id)
    here.report(key, f"key {key.id} is void")


def _book(here: GlobalOptions):  # type: ignore[no-untyped-def]
    from everwhen.serve.auth import KeyStore
    from everwhen.store.banks import open_shared

    return KeyStore(home_folder(here.home) / "serve", open_shared(here.store))


db = Commands(help="The PostgreSQL database that holds the banks (--store).", no_args_is_help=True)
app.add_typer(db, name="db")


@db.command()
def init(here: GlobalOptions) -> None:
    """Check the server, and make the tables. Safe to run again, and by several at once."""
    migrate(here)


@db.command()
def migrate(here: GlobalOptions) -> None:
    """Bring the tables to the newest schema. The first command of a newer everwhen does it as well."""
    server = _server(here)
    _report(here, server, "made", server.migrate())


@db.command()
def check(here: GlobalOptions) -> None:
    """Say what the database is, and whether it can be used."""
    found = _server(here).describe()
    if not here.printed(found):
        for name, value in found.items():
            here.say(f"{name:14}{value}")
    if found["missing"]:
        raise Exit(1)


@db.command()
def index(here: GlobalOptions) -> None:
    """Make the indexes that large banks lack. Others may use the banks meanwhile; a worker does it by itself."""
    from everwhen.store.banks import index as build

    server = _server(here)
    assert here.store is not None
    server.migrate()
    made = build(here.store, None if here.json else lambda bank: here.remark(f"{bank} …", style=None))
    _report(here, server, "indexed", made, f"an index made for {', '.join(made)}")


@db.command()
def distribute(
    here: GlobalOptions,
    shards: Annotated[
        int, Option(min=1, max=4096, help="Parts that the banks are spread over; fixed afterwards.")
    ] = 32,
) -> None:
    """Spread the banks over the machines of Citus, each bank on one. Stop servers and workers first."""
    from everwhen.store.banks import distribute as spread

    server = _server(here)
    assert here.store is not None
    made = spread(
        here.store, shards, None if here.json else lambda table: here.remark(f"{table} …", style=None)
    )
    _report(here, server, "distributed", made, f"{len(made)} tables distributed")


@app.command()
def worker(
    here: GlobalOptions,
    once: Annotated[bool, Option("--once", help="End when nothing waits any more.")] = False,
    every: Annotated[float, Option(min=0.1, help="Seconds between two looks.")] = 2.0,
) -> None:
    """Extract what waits in all banks, until it is stopped.

    Once a day it looks for facts to verify. Several may run, on several machines.
    """
    import signal
    import threading
    import time

    from everwhen.settings import load

    between, due = load().stale_scan_seconds, 0.0
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    banks = here.banks()
    while True:
        done = 0
        for bank in banks.waiting():
            if stop.is_set():
                break
            here.bank = bank
            with here.open() as memory:
                count = memory.process()
                memory.consolidate()
            done += count
            if count:
                here.report({"bank": bank, "processed": count}, f"bank {bank}: {count} turns extracted")
        if stop.is_set() or (once and not done):
            return
        if between and not once and time.monotonic() >= due:
            due = time.monotonic() + between
            for bank in banks.names():
                here.bank = bank
                with suppress(EverwhenError), here.open() as memory:  # a broken one says so where it is used
                    if count := len(memory.facts.stale()):
                        here.report({"bank": bank, "stale": count}, f"bank {bank}: {count} facts to verify")
        if not done:
            stop.wait(every)


def _report(here: GlobalOptions, server: Database, what: str, made: Sequence[str], said: str = "") -> None:
    said = said or ", ".join(made)
    here.report(
        {"database": server.where, what: made}, f"{server.where}: {said if made else 'nothing to do'}"
    )


def _server(here: GlobalOptions) -> Database:
    from everwhen.store.banks import open_database

    if here.store is None:
        raise UsageError("which database? give --store postgresql://USER@HOST/NAME, or set EVERWHEN_STORE")
    return open_database(here.store)


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
    from everwhen.agents.coding.settings_files import Setup
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
    changed_files = [
        {"path": str(one.path), "what": one.what, "copy": str(one.copy) if one.copy else None}
        for one in written
    ]
    report = {"tool": tool, "bank": bank, "home": str(home), "dry_run": dry_run, "files": changed_files}
    if here.printed({**report, "notes": notes}):
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
