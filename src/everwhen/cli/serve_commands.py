"""`serve`, `mcp`, `keys`: the memory for other programs; `ui`: the page, on this machine."""

from __future__ import annotations

import threading
import time
from typing import Annotated

import typer
from typer import Argument, Option

from everwhen.cli.app import Commands, GlobalOptions, app
from everwhen.errors import UsageError
from everwhen.store.files.home import check_bank_name, home_folder

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
    here.tell({"url": url}, f"{url}  (Ctrl-C ends it)")
    if browser:
        threading.Thread(target=_open, args=(url, port), daemon=True).start()
    home = home_folder(here.home)
    run(ServerSettings(home=home, store=here.store, port=port, auth=False, log_level="warning"))


def _open(url: str, port: int, seconds: float = 30.0) -> None:
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
    here.tell(key, f"key {key.id} is void")


def _book(here: GlobalOptions):  # type: ignore[no-untyped-def]
    from everwhen.serve.auth import KeyStore
    from everwhen.store.banks import open_shared

    return KeyStore(home_folder(here.home) / "serve", open_shared(here.store))
