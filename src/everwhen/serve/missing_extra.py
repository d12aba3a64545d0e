"""What the extra `serve` brings, asked for only when it is used."""

from __future__ import annotations

from importlib.util import find_spec

from everwhen.errors import Unavailable


def need(*packages: str, extra: str = "serve") -> None:
    """Raise one sentence with the command that installs what is missing."""
    missing = [name for name in packages if find_spec(name) is None]
    if missing:
        raise Unavailable(
            f"this needs {', '.join(missing)}; install it with: pip install 'everwhen[{extra}]'"
        )
