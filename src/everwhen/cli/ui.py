"""`ui`: the page, on this machine."""

from __future__ import annotations

import threading
import time
from typing import Annotated

import typer

from everwhen.cli.app import GlobalOptions, app


@app.command()
def ui(
    context: typer.Context,
    port: Annotated[
        int, typer.Option(envvar="EVERWHEN_PORT", min=1, max=65535, help="Port to listen on.")
    ] = 8766,
    browser: Annotated[
        bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")
    ] = True,
) -> None:
    """Look at the memory in a browser: timeline, recall, facts, entities, tree, map. For this machine, without keys."""
    from urllib.parse import quote

    from everwhen.home import home_folder
    from everwhen.serve.missing_extra import need
    from everwhen.serve.server_settings import ServerSettings

    need("nicegui", extra="ui")
    need("fastapi", "uvicorn", "mcp")
    here: GlobalOptions = context.obj
    home = home_folder(here.home)
    if here.bank:
        here.banks().check_name(here.bank)
    url = f"http://127.0.0.1:{port}/ui/" + (f"{quote(here.bank)}/overview" if here.bank else "")
    from everwhen.serve.server import run

    here.tell({"url": url}, f"{url}  (Ctrl-C ends it)")
    if browser:
        threading.Thread(target=_open, args=(url, port), daemon=True).start()
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
