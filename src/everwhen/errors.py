"""What can go wrong, one class a kind; every message says what to do about it."""

from __future__ import annotations


class EverwhenError(Exception):
    """Base of every error that everwhen raises on purpose. `exit_code` is what the command line returns.

    Its sentence can be sent and printed, whatever it repeats of the call: half of a character becomes "?".
    """

    exit_code = 1

    def __init__(self, *told: object) -> None:
        super().__init__(
            *(one.encode("utf-8", "replace").decode() if isinstance(one, str) else one for one in told)
        )


class UsageError(EverwhenError, ValueError):
    """The call itself is wrong: an empty text, a naive datetime, an unknown role or option."""

    exit_code = 2


class NotFound(EverwhenError, LookupError):
    """A bank, turn or session that does not exist."""

    exit_code = 3


class Refused(EverwhenError):
    """Understood, and not allowed: a read-only file, another embedding model, a missing scope."""

    exit_code = 4


class ModelChanged(Refused):
    """Vectors were made with another model than the bank has now; make them again with the bank's."""


class Damaged(EverwhenError):
    """Stored data cannot be read as what it should be."""

    exit_code = 5


class Unavailable(EverwhenError):
    """Something needed is not there now: a full disk, a locked file, a model or a network."""

    exit_code = 6


class ModelError(Unavailable):
    """A model or its provider is missing, unreachable or answers wrongly."""
