"""The script that coding agents run at their events: it speaks to the resident process, and is all that they wait for.

    python -I -S hook.py HOME BANK TOOL ask MILLISECONDS
    python -I -S hook.py HOME BANK TOOL keep

What the agent sends (JSON on standard input) is passed on as it is. `ask` prints the answer of the resident process,
and nothing where there is none in time: then it comes with the next prompt. `keep` leaves a file for it to take up.
Either starts the process where there is none, and does not wait for it. Whatever fails, the exit code is 0 and standard
output is empty: an agent must never stop because of its memory.

It imports only what Python has compiled in, and nothing of everwhen: its own start is part of every prompt.
"""

import os
import sys
import time

FOLDER = "agents"
SOCKET = "resident.sock"
LOCK = "resident.lock"
SPOOL = "spool"
LOG = "hook.log"
TAKEN = b"+"
"""Says that an answer came in time. Without it the process keeps the answer for the next prompt."""
LONGEST_ANSWER = 1_000_000
LONGEST_LOG = 1_000_000
LONGEST_WORDS = 64
AGAIN = 10.0
"""Seconds before a process that did not come up is started again."""


def main(arguments: list[str]) -> None:
    home, bank, tool, what = arguments[:4]
    wait = float(arguments[4]) / 1000 if what == "ask" else 0.0
    event = b"".join(iter(lambda: os.read(0, 65536), b""))
    os.makedirs(os.path.join(home, FOLDER, SPOOL), mode=0o700, exist_ok=True)
    os.chdir(
        os.path.join(home, FOLDER)
    )  # a socket's name may have no more than some hundred letters: here it is short
    header = b"%s %s %s\n" % (what.encode(), tool.encode(), bank.encode())
    if what == "keep":
        leave(header + event)
        header, event = b"poke\n", b""
    answer = speak(header + event, wait)
    if answer is None:
        start(home, bank)
    elif answer:
        sys.stdout.buffer.write(answer)


def speak(request: bytes, wait: float) -> bytes | None:
    """The answer of the resident process; empty where there is none in time, None where there is no process."""
    from _socket import AF_UNIX, SOCK_STREAM, socket

    until = time.monotonic() + max(wait, 0.02)
    one = socket(AF_UNIX, SOCK_STREAM)
    one.settimeout(max(wait, 0.02))
    try:
        one.connect(SOCKET)
    except (FileNotFoundError, ConnectionRefusedError):
        return None
    one.sendall(b"%d\n%s" % (len(request), request))
    if not wait:
        return b""
    got = b""
    while len(got) < LONGEST_ANSWER:
        length, newline, answer = got.partition(b"\n")
        if newline and length == b"ok %d" % len(answer):
            one.sendall(TAKEN)
            return answer
        left = until - time.monotonic()
        if left <= 0:
            raise TimeoutError("no answer in time")
        one.settimeout(left)
        part = one.recv(65536)
        if not part:
            break
        got += part
    raise ValueError(f"not an answer: {got[:LONGEST_WORDS]!r}")


def leave(event: bytes) -> None:
    """A file for the resident process, whole from its first moment on."""
    name = os.path.join(SPOOL, f"{time.time_ns()}-{os.getpid()}")
    file = os.open(f"{name}.part", os.O_CREAT | os.O_WRONLY | os.O_EXCL, 0o600)
    with os.fdopen(file, "wb") as out:
        out.write(event)
    os.rename(f"{name}.part", f"{name}.event")


def start(home: str, bank: str) -> None:
    """Start the resident process, apart from the agent. It holds the lock that is taken here, so that there is one."""
    import fcntl

    lock = os.open(LOCK, os.O_CREAT | os.O_RDWR, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return  # it is coming up
    tried = os.fstat(lock)
    if tried.st_size and time.time() - tried.st_mtime < AGAIN:
        return
    os.pwrite(lock, b"started\n", 0)
    if os.fork():
        return
    os.setsid()
    os.dup2(os.open(os.devnull, os.O_RDWR), 0)
    out = os.open("resident.log", os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    os.dup2(out, 1)
    os.dup2(out, 2)
    os.set_inheritable(lock, True)
    os.closerange(3, lock)
    os.closerange(lock + 1, 256)
    module = [
        "-P",
        "-m",
        "everwhen",
        "server",
        "resident",
        "--home",
        home,
        "--bank",
        bank,
        "--lock",
        str(lock),
    ]
    os.execv(sys.executable, [sys.executable, *module])


def log(error: BaseException) -> None:
    """A line in the home folder; the log never grows without end."""
    path = os.path.join(sys.argv[1], FOLDER, LOG)
    file = os.open(path, os.O_CREAT | os.O_WRONLY | os.O_APPEND, 0o600)
    if os.fstat(file).st_size > LONGEST_LOG:
        os.ftruncate(file, 0)
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    os.write(file, f"{stamp} {sys.argv[3:5]} {type(error).__name__}: {error}\n".encode("utf-8", "replace"))


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
        sys.stdout.flush()
    except BaseException as error:  # whatever it is, the agent goes on
        try:
            log(error)
        except BaseException:  # a full disk, a home that is a file: there is nobody to tell
            pass
    os._exit(0)
