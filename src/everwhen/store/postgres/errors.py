"""PostgreSQL's errors as sentences that say what to do."""

from __future__ import annotations

import psycopg
from psycopg import errors
from psycopg_pool import PoolClosed, PoolTimeout

from everwhen.errors import Damaged, EverwhenError, Refused, Unavailable

_LOST = (
    errors.AdminShutdown,
    errors.CrashShutdown,
    errors.CannotConnectNow,
    errors.IdleInTransactionSessionTimeout,
)
AGAIN = (errors.SerializationFailure, errors.DeadlockDetected)
"""What another attempt of the whole transaction may get past."""


def is_lost(error: psycopg.Error) -> bool:
    """Whether the connection is gone, rather than a statement refused."""
    return isinstance(error, _LOST) or (
        isinstance(error, psycopg.OperationalError)
        and not isinstance(error, errors.PipelineAborted)
        and (error.sqlstate is None or error.sqlstate.startswith("08"))
    )


def translate(error: psycopg.Error, bank: str, where: str, busy_seconds: float) -> EverwhenError:
    """One clear sentence with the fix for each way in which PostgreSQL can fail."""
    if isinstance(error, errors.LockNotAvailable):
        return Unavailable(
            f"bank '{bank}' is locked by another process for more than {busy_seconds:g} s; "
            "wait for it or end it, then try again (what was committed before is kept)"
        )
    if isinstance(error, PoolClosed):
        return Unavailable(f"bank '{bank}' was closed; open it again with Memory.open")
    if isinstance(error, errors.TooManyConnections):
        return Unavailable(
            f"PostgreSQL at {where} takes no more connections; raise max_connections there, or serve with fewer workers"
        )
    if isinstance(error, PoolTimeout):
        return Unavailable(
            f"PostgreSQL at {where} gave no connection within {busy_seconds:g} s: it does not answer, or all "
            "connections of this process are in use; try again"
        )
    if is_lost(error):
        return Unavailable(
            f"the connection to PostgreSQL at {where} was lost ({_line(error)}); try again: what was acknowledged is "
            f"kept, and of the rest of bank '{bank}' nothing is half-done"
        )
    if isinstance(error, AGAIN):
        return Unavailable(f"bank '{bank}' was changed by another process at the same time; try again")
    if isinstance(error, errors.DiskFull | errors.OutOfMemory):
        return Unavailable(
            f"the machine of PostgreSQL at {where} has no room left ({_line(error)}); free some and try again "
            "(what was committed before is kept)"
        )
    if isinstance(error, errors.ReadOnlySqlTransaction):
        return Refused(
            f"bank '{bank}' cannot be written: PostgreSQL at {where} is read-only (a replica?); name the primary"
        )
    if isinstance(error, errors.InsufficientPrivilege):
        return Refused(f"PostgreSQL at {where} does not allow that to this user: {_line(error)}")
    if isinstance(error, errors.DataCorrupted | errors.IndexCorrupted):
        return Damaged(f"bank '{bank}' is damaged ({_line(error)}): restore a backup of the database")
    if isinstance(error, errors.UndefinedTable | errors.UndefinedColumn):
        return Damaged(
            f"the database at {where} lacks a part of everwhen's schema ({_line(error)}): restore a backup"
        )
    if isinstance(error, errors.ExclusionViolation) and error.diag.constraint_name == "facts_never_overlap":
        return EverwhenError(f"bank '{bank}': two facts of one slot would overlap")
    return EverwhenError(f"bank '{bank}': the database says: {_line(error)}")


def _line(error: psycopg.Error) -> str:
    """The first line of what PostgreSQL says; the rest may quote rows."""
    return (str(error).strip().splitlines() or [type(error).__name__])[0]
