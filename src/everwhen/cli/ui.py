"""`ui`: the page, on this machine."""

from __future__ import annotations

import threading
import time
from typing import Annotated

import typer

from everwhen.cli.app import GlobalOptions, app

Port = Annotated[
    int, typer.Option(envvar="EVERWHEN_PORT", min=1, max=65535, help="Port of the page to listen on.")
]
Browser = Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")]


@app.command()
def ui(
    here: GlobalOptions,
    port: Port = 8766,
    browser: Browser = True,
) -> None:
    """Look at the memory in a browser: timeline, recall, facts, entities, tree, map. For this machine, without keys."""
    need_ui()
    if here.bank:
        here.banks().check_name(here.bank)
    show_page(here, port, browser=browser)


def need_ui() -> None:
    """Say what to install, where the page cannot be shown."""
    from everwhen.serve.missing_extra import need

    need("nicegui", extra="ui")
    need("fastapi", "uvicorn", "mcp")


def show_page(here: GlobalOptions, port: int, *, browser: bool) -> None:
    """Serve the page until Ctrl-C, and open it."""
    from urllib.parse import quote

    from everwhen.home import home_folder
    from everwhen.serve.server_settings import ServerSettings

    url = f"http://127.0.0.1:{port}/ui/" + (f"{quote(here.bank)}/overview" if here.bank else "")
    from everwhen.serve.server import run

    here.tell({"url": url}, f"{url}  (Ctrl-C ends it)")
    if browser:
        threading.Thread(target=_open, args=(url, port), daemon=True).start()
    run(
        ServerSettings(
            home=home_folder(here.home), store=here.store, port=port, auth=False, log_level="warning"
        )
    )


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
