"""Whether a process runs is asked without harm, on every system."""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys

import pytest

from everwhen.store.files.home import is_running


def test_this_process_runs_and_one_that_ended_does_not() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert is_running(os.getpid())
    assert not is_running(ended.pid)


class Kernel:
    """What Windows answers: a handle or none, and the exit code behind it."""

    def __init__(self, handle: int, code: int = 0) -> None:
        self.handle, self.code, self.closed = handle, code, 0

    def OpenProcess(self, access: int, inherit: bool, process: int) -> int:
        return self.handle

    def GetExitCodeProcess(self, handle: int, code: object) -> int:
        code._obj.value = self.code  # type: ignore[attr-defined]
        return 1

    def CloseHandle(self, handle: int) -> None:
        self.closed += 1


@pytest.mark.parametrize(
    ("kernel", "error", "runs"),
    [
        (Kernel(7, code=259), 0, True),
        (Kernel(7, code=1), 0, False),
        (Kernel(0), 87, False),  # no such process
        (Kernel(0), 5, True),  # somebody else's
    ],
)
def test_on_windows_nothing_is_sent_to_the_process(
    monkeypatch: pytest.MonkeyPatch, kernel: Kernel, error: int, runs: bool
) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("on Windows os.kill(pid, 0) sends Ctrl-C"))
    monkeypatch.setattr(ctypes, "WinDLL", lambda *_, **__: kernel, raising=False)
    monkeypatch.setattr(ctypes, "get_last_error", lambda: error, raising=False)
    assert is_running(4711) is runs
    assert kernel.closed == (1 if kernel.handle else 0)
