"""Whether a process of this machine still runs, on every system."""

from __future__ import annotations

import os
import sys

_QUERY_LIMITED_INFORMATION = 0x1000
_ACCESS_DENIED = 5
_STILL_ACTIVE = 259


def is_running(process: int) -> bool:
    """Whether there is a process with this number. One that belongs to somebody else counts; in doubt, yes."""
    if sys.platform == "win32":  # there os.kill(process, 0) is no question: it sends Ctrl-C
        return _is_running_on_windows(process)
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _is_running_on_windows(process: int) -> bool:
    import ctypes

    kernel = ctypes.WinDLL("kernel32", use_last_error=True)  # type: ignore[attr-defined,unused-ignore]
    handle = kernel.OpenProcess(_QUERY_LIMITED_INFORMATION, False, process)
    if not handle:
        denied: bool = ctypes.get_last_error() == _ACCESS_DENIED  # type: ignore[attr-defined,unused-ignore]
        return denied
    try:
        code = ctypes.c_ulong()
        known = kernel.GetExitCodeProcess(handle, ctypes.byref(code))
        return not known or code.value == _STILL_ACTIVE
    finally:
        kernel.CloseHandle(handle)
