"""The hook as tools run it, with the real resident process behind it, and with broken ones."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from everwhen import Memory
from everwhen.agents.coding import hook, resident
from everwhen.agents.coding.resident import LATE, MOST_LATE, BankForHooks
from everwhen.agents.coding.tools import TOOLS
from everwhen.errors import NotFound, Unavailable

PATIENT = "60000"
"""Milliseconds: what is tested is what is answered, however busy the machine is."""


def run_hook(home: Path, tool: str, what: str, event: object, wait: str = PATIENT) -> str:
    """What the hook prints; that it ends well is checked each time."""
    done = subprocess.run(
        [sys.executable, "-I", "-S", hook.__file__, str(home), "work", tool, what, wait],
        input=event if isinstance(event, bytes) else json.dumps(event).encode(),
        capture_output=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout.decode()


def until(reached: Callable[[], bool], seconds: float = 120) -> None:
    end = time.monotonic() + seconds
    while not reached():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.05)


def is_free(lock: Path) -> bool:
    """Whether nobody holds a lock any more: a process that is killed may take a while to be gone."""
    with lock.open("rb+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


@pytest.fixture(scope="module")
def process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A resident process that the first hook has started; the home folder's name is longer than a socket's may be."""
    long = tmp_path_factory.mktemp("home") / ("long" * 30)
    run_hook(long, "claude-code", "ask", {"hook_event_name": "SessionStart", "session_id": "0"})
    until((long / "agents" / hook.SOCKET).exists)
    yield long
    resident.request(long, "stop")
    until(lambda: not (long / "agents" / hook.SOCKET).exists())


def line(role: str, text: str, number: int) -> str:
    """A line of a transcript of Claude Code."""
    stamp = f"2024-11-16T09:00:{number:02d}.000Z"
    one = {"type": role, "sessionId": "s1", "uuid": f"u{number}", "timestamp": stamp}
    return json.dumps({**one, "message": {"role": role, "content": text}}) + "\n"


def prompt(text: str, session: str) -> dict[str, str]:
    return {"hook_event_name": "UserPromptSubmit", "session_id": session, "prompt": text}


def context(printed: str) -> str:
    said = json.loads(printed)["hookSpecificOutput"]
    assert said["hookEventName"] == "UserPromptSubmit"
    return str(said["additionalContext"])


def test_what_was_said_in_a_transcript_is_found_by_the_next_prompt_and_kept_once(
    process: Path, tmp_path: Path
) -> None:
    transcript = tmp_path / "s1.jsonl"
    transcript.write_text(
        line("user", "We moved the staging server from port 8080 to port 8443.", 1)
        + line("assistant", "I changed the proxy accordingly.", 2)
    )
    stop = {"hook_event_name": "Stop", "session_id": "s1", "transcript_path": str(transcript)}
    assert run_hook(process, "claude-code", "keep", stop) == ""
    resident.request(process, "flush")
    found = context(run_hook(process, "claude-code", "ask", prompt("Which port has staging now?", "s2")))
    assert "port 8443" in found and "<memories>" in found

    with transcript.open("a") as file:
        file.write(line("user", "And the database moved to Helsinki.", 3))
        file.write(
            line("assistant", "As you said: we moved the staging server from port 8080 to port 8443.", 4)
        )
    for event in ("PreCompact", "SessionEnd"):
        run_hook(process, "claude-code", "keep", {**stop, "hook_event_name": event})
    resident.request(process, "flush")
    # What the model of the session itself has seen is not told to it again.
    again = run_hook(process, "claude-code", "ask", prompt("Which port has staging?", "s1"))
    assert "We moved the staging server" not in again
    with Memory.open(process, "work") as memory:
        said = [turn.text for turn in memory.turns("s1")]
    assert said[:3] == [
        "We moved the staging server from port 8080 to port 8443.",
        "I changed the proxy accordingly.",
        "And the database moved to Helsinki.",
    ]
    assert len(said) == 4  # the model said it by itself: no recall had given it back
    assert not list((process / "agents" / hook.SPOOL).iterdir())


def test_a_turn_of_gemini_is_kept_without_what_was_recalled_for_it(process: Path) -> None:
    def turn(said: str, answered: str, minute: int) -> dict[str, Any]:
        stamp = f"2024-11-16T09:{minute:02d}:00Z"
        return {
            "hook_event_name": "AfterAgent",
            "session_id": f"g{minute}",
            "timestamp": stamp,
            "prompt": said,
            "prompt_response": answered,
        }

    run_hook(process, "gemini-cli", "keep", turn("Our release manager is Maren Oltmann.", "Noted.", 1))
    resident.request(process, "flush")
    asked = {"hook_event_name": "BeforeAgent", "session_id": "g2", "prompt": "Who is our release manager?"}
    assert "Maren Oltmann" in run_hook(process, "gemini-cli", "ask", asked)
    echoed = "Our release manager is Maren Oltmann. Shall I write to her about the freeze?"
    run_hook(process, "gemini-cli", "keep", turn("Who is our release manager?", echoed, 2))
    resident.request(process, "flush")
    with Memory.open(process, "work") as memory:
        assert [one.text for one in memory.turns("g2")] == [
            "Who is our release manager?",
            "Shall I write to her about the freeze?",
        ]


def test_a_session_begins_with_what_is_known_and_planned(process: Path, tmp_path: Path) -> None:
    with Memory.open(process, "work") as memory:
        memory.add({"name": "Ana", "content": "I live in Porto. I will fly to Oslo tomorrow."}, session="old")
        memory.flush()
    begun = {"hook_event_name": "SessionStart", "session_id": "s9", "source": "startup"}
    told = json.loads(run_hook(process, "codex", "ask", begun))["hookSpecificOutput"]
    assert told["hookEventName"] == "SessionStart"
    assert "Porto" in told["additionalContext"]
    assert "What is planned next" in told["additionalContext"] and "Oslo" in told["additionalContext"]


def test_a_process_that_died_is_replaced_and_what_came_meanwhile_is_kept(process: Path) -> None:
    os.kill(int((process / "agents" / hook.LOCK).read_text()), signal.SIGKILL)
    until(lambda: is_free(process / "agents" / hook.LOCK))
    message = {"id": "m1", "role": "user", "at": 1700000000000, "text": "The freeze begins on Friday."}
    event = {"hook_event_name": "session.idle", "session_id": "o1", "messages": [message]}
    os.utime(process / "agents" / hook.LOCK, (0, 0))  # it was started long ago
    assert run_hook(process, "opencode", "keep", event) == ""

    def answers() -> bool:
        try:
            resident.request(process, "flush")
        except (NotFound, OSError, ValueError):
            return False
        return True

    until(answers)
    with Memory.open(process, "work") as memory:
        assert [one.text for one in memory.turns("o1")] == ["The freeze begins on Friday."]


@pytest.mark.parametrize("event", [b"", b"{", b"[1]", b"\xff\x00", b'{"session_id": 7}'])
def test_an_event_that_is_nonsense_is_answered_with_nothing(process: Path, event: bytes) -> None:
    assert run_hook(process, "claude-code", "ask", event) == ""
    assert run_hook(process, "claude-code", "keep", event) == ""
    resident.request(process, "flush")


@pytest.fixture
def stranger(home: Path) -> Iterator[Callable[[bytes | None], Path]]:
    """Something else that listens in place of the resident process, and answers with given bytes, or never."""
    made: list[socket.socket] = []

    def listen(answer: bytes | None) -> Path:
        (home / "agents").mkdir(parents=True)
        one = socket.socket(socket.AF_UNIX)
        one.bind(str(home / "agents" / hook.SOCKET))
        one.listen()
        made.append(one)

        def serve() -> None:
            try:
                there, _ = one.accept()
                made.append(there)
                if answer is not None:
                    there.sendall(answer)
                    there.close()
            except OSError:
                return

        threading.Thread(target=serve, daemon=True).start()
        return home

    yield listen
    for one in made:
        one.close()


@pytest.mark.parametrize(
    "answer", [b"", b"garbage", b"ok 99\nshort", b"ok x\n", b"ok 2\n{}}", b"\x00" * 2_000_000]
)
def test_an_answer_that_is_garbage_is_not_printed(
    stranger: Callable[[bytes | None], Path], answer: bytes
) -> None:
    home = stranger(answer)
    assert run_hook(home, "claude-code", "ask", prompt("hello", "s")) == ""
    assert (home / "agents" / hook.LOG).read_text()


def test_a_memory_that_came_too_late_comes_with_the_next_prompt_and_says_so(process: Path) -> None:
    with Memory.open(process, "work") as memory:
        memory.add("The invoices are kept in the vault in Tromsø.", session="old")
        memory.flush()
    number = int((process / "agents" / hook.LOCK).read_text())
    asked = prompt("Where are the invoices kept?", "late")
    os.kill(number, signal.SIGSTOP)
    try:
        assert run_hook(process, "claude-code", "ask", asked, wait="50") == ""
    finally:
        os.kill(number, signal.SIGCONT)
    came: list[str] = []

    def comes() -> bool:
        other = run_hook(process, "claude-code", "ask", prompt("Thank you.", "another"))
        assert LATE not in other, "a session got the memory of another"
        came.append(run_hook(process, "claude-code", "ask", prompt("Thank you.", "late")))
        return "Tromsø" in context(came[-1]) if came[-1] else False

    until(comes)
    assert context(came[-1]).count("vault in Tromsø") == 1
    assert LATE in context(came[-1]).partition("Tromsø")[0]
    again = run_hook(process, "claude-code", "ask", asked)
    assert "Tromsø" not in again, "the model has it already"


def test_memories_that_nobody_waits_for_do_not_pile_up_and_are_forgotten_when_a_session_begins(
    story_told: Memory,
) -> None:
    attendant, tool = BankForHooks(story_told), TOOLS["claude-code"]
    for number in range(3 * MOST_LATE):
        answer = attendant.answer(tool, prompt(f"Where does Ana live? {number}", "s"))
        answer.keep_unread()
    assert answer.session is not None and 0 < len(answer.session.late) <= MOST_LATE
    begun = attendant.answer(tool, {"hook_event_name": "SessionStart", "session_id": "s"})
    assert begun.words and LATE not in begun.words
    without_a_name = attendant.answer(tool, {"hook_event_name": "UserPromptSubmit", "prompt": "Who is Ana?"})
    without_a_name.keep_unread()
    stranger = attendant.answer(tool, {"hook_event_name": "UserPromptSubmit", "prompt": "And Rui?"})
    assert LATE not in stranger.words, "whose memories these are is not known"


def test_a_process_that_does_not_answer_is_not_waited_for(stranger: Callable[[bytes | None], Path]) -> None:
    home = stranger(None)
    assert run_hook(home, "claude-code", "ask", prompt("hello", "s"), wait="80") == ""
    assert "TimeoutError" in (home / "agents" / hook.LOG).read_text()


def test_a_home_that_cannot_be_used_does_not_stop_the_agent(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert run_hook(file, "claude-code", "ask", prompt("hello", "s")) == ""
    assert run_hook(file, "claude-code", "keep", prompt("hello", "s")) == ""


def test_the_hook_loads_nothing_that_takes_time() -> None:
    script = Path(hook.__file__).read_text(encoding="utf-8").partition("if __name__")[0]
    code = f"{script}\nprint(*sys.modules)"
    loaded = subprocess.check_output([sys.executable, "-I", "-S", "-c", code], text=True).split()
    assert not {"everwhen", "json", "re", "socket", "subprocess", "pathlib", "site", "enum"} & set(loaded)


def test_only_one_process_runs_for_a_home(process: Path) -> None:
    before = (process / "agents" / hook.LOCK).read_text()
    (process / "agents" / hook.SOCKET).rename(
        process / "agents" / "elsewhere"
    )  # as if it were still coming up
    os.utime(process / "agents" / hook.LOCK, (0, 0))
    try:
        for _ in range(3):
            assert run_hook(process, "claude-code", "ask", prompt("hello", "s")) == ""
    finally:
        (process / "agents" / "elsewhere").rename(process / "agents" / hook.SOCKET)
    assert (process / "agents" / hook.LOCK).read_text() == before
    with pytest.raises(Unavailable, match="there is one already"):
        resident.run(process, "work")


def test_a_process_without_work_ends_by_itself(home: Path) -> None:
    one = resident.HookServer(home, "work", idle=0.2)
    here = Path.cwd()
    try:
        one.run()
    finally:
        os.chdir(here)
    assert not (home / "agents" / hook.SOCKET).exists()
    with pytest.raises(NotFound):
        resident.request(home, "stop")
