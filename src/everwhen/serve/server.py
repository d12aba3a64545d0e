"""Running the server: one process, or several; the note for other processes; a quiet end on SIGTERM and Ctrl-C."""

from __future__ import annotations

import os
import signal
import socket
from types import FrameType
from typing import Any, NoReturn

from everwhen.errors import Refused, Unavailable
from everwhen.serve.auth import is_loopback
from everwhen.serve.server_settings import ENVIRONMENT, ServerSettings, announce, need, withdraw
from everwhen.serve.telemetry import say, to_standard_error
from everwhen.store.files.private import private_folder


def check(serving: ServerSettings) -> None:
    """Refuse what would leave the memory open to the network."""
    need("fastapi", "uvicorn", "mcp")
    if not serving.auth and not is_loopback(serving.host):
        raise Refused(
            f"--no-auth is for this machine only, and {serving.host} is not; "
            "make a key with `everwhen server keys create`, or use --host 127.0.0.1"
        )


def run(serving: ServerSettings) -> None:
    """Serve until somebody ends it. Requests that are being answered are finished, writes with them."""
    check(serving)
    import uvicorn

    from everwhen.serve.app import create_app

    _port_is_free(serving)
    to_standard_error(serving.log_level)
    private_folder(serving.folder)
    url = f"http://{'127.0.0.1' if serving.host in ('0.0.0.0', '::') else _host(serving.host)}:{serving.port}"
    note = announce(serving.folder, url)
    for number in (signal.SIGTERM, signal.SIGINT):
        # uvicorn puts its own in place, and raises the signal again when it is done
        signal.signal(number, _end)
    try:
        say("serving", url=url, home=str(serving.home), workers=serving.workers, auth=serving.auth)
        options = uvicorn_options(serving)
        if serving.workers > 1:
            os.environ[ENVIRONMENT] = serving.to_environment()
            uvicorn.run(
                "everwhen.serve.app:from_environment", factory=True, workers=serving.workers, **options
            )
        else:
            uvicorn.run(create_app(serving), **options)
    finally:
        withdraw(serving.folder, note)


def uvicorn_options(serving: ServerSettings) -> dict[str, Any]:
    from everwhen.serve.connections import bounded

    return {
        "host": serving.host,
        "port": serving.port,
        "log_config": None,
        "access_log": False,
        "server_header": False,
        "timeout_graceful_shutdown": serving.shutdown_seconds,
        "http": bounded(serving),
        "timeout_keep_alive": serving.idle_seconds,
    }


def _port_is_free(serving: ServerSettings) -> None:
    family = socket.AF_INET6 if ":" in serving.host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((serving.host, serving.port))
        except OSError as error:
            raise Unavailable(
                f"{serving.host}:{serving.port} cannot be used ({error.strerror}); choose another with --port"
            ) from None


def _host(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _end(number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(0 if number == signal.SIGTERM else 130)
