"""`ask` and `chat` from the shell."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import pytest

from everwhen import Memory
from everwhen.cli.app import run
from tests.scripted_server import ScriptedServer, call, status, text

ANSWER = call(
    "answer",
    {
        "text": "She moved in the week of 3 March 2025.",
        "citations": [{"turn": "t1", "quote": "moved to Porto last week"}],
        "dates": ["2025-03-03"],
        "known": True,
        "confidence": 0.9,
    },
)


@pytest.fixture(autouse=True)
def _told() -> None:
    assert run(["add", "I moved to Porto last week.", "--name", "Ana", "--at", "2025-03-12T09:30:00Z"]) == 0


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        yield running


def with_model(server: ScriptedServer) -> list[str]:
    return ["--model", "openai:scripted", "--base-url", server.url]


def test_an_answer_is_printed_with_where_it_comes_from(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.then(call("grep_turns", {"pattern": "porto"}), ANSWER)
    capsys.readouterr()
    options = ["--at", "2025-06-01", "--without", "guidance", "--trace"]
    assert run(["ask", "When did Ana move?", *with_model(server), *options]) == 0
    out = capsys.readouterr().out
    assert out.startswith("She moved in the week of 3 March 2025.\n")
    assert "2025-03-12 Ana: “moved to Porto last week”" in out
    assert "openai:scripted, 2 requests, 200 + 40 tokens" in out
    assert "grep_turns" in out


def test_json_is_the_whole_answer(server: ScriptedServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.then(ANSWER)
    capsys.readouterr()
    assert run(["ask", "When did Ana move?", "--json", *with_model(server), "--without", "guidance"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert set(answer) == {
        "text",
        "citations",
        "intervals",
        "abstained",
        "confidence",
        "usage",
        "trace",
        "pending",
        "asks",
    }
    assert answer["citations"][0]["quote"] == "moved to Porto last week"
    assert answer["intervals"][0]["start"] == "2025-03-03T00:00:00Z"
    assert answer["usage"]["input_tokens"] == 100
    assert answer["trace"]["method"] == "openai:scripted"


def test_without_a_model_the_answer_says_that_it_is_extractive(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["ask", "When did Ana move to Porto?", "--at", "2025-06-01"]) == 0
    assert "extractive, no model" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--model", "openai:gpt-5-mini"], 6, "needs a key: set OPENAI_API_KEY"),
        (["--model", "nobody"], 2, "choose one of openai:<model>"),
        (["--model", "openai:x", "--base-url", "localhost"], 2, "should look like http://localhost"),
        (
            ["--model", "openai:x", "--base-url", "http://127.0.0.1:9/v1"],
            6,
            "cannot be reached; is the server",
        ),
        (["--without", "magic"], 2, "has no stage or tool 'magic'"),
        (["--at", "the day of the dragons"], 2, "is no time that everwhen knows"),
    ],
)
def test_what_is_wrong_is_one_line(
    arguments: list[str],
    code: int,
    message: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    capsys.readouterr()
    assert run(["ask", "When?", *arguments]) == code
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_an_exhausted_quota_is_one_line(server: ScriptedServer, capsys: pytest.CaptureFixture[str]) -> None:
    server.always(status(429, "empty", code="insufficient_quota"))
    assert run(["ask", "When?", *with_model(server)]) == 6
    assert "quota for openai:scripted is used up" in capsys.readouterr().err


def test_a_chat_remembers_every_exchange_and_shows_what_it_recalls(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server.then(text("In early March."), text("Then it rained."))
    asked = "/recall\nWhen did Ana move?\n/recall\n/recall porto\n/context\n/why\n"
    lines = f"{asked}/help\n\nAnd then?\n/quit\nnever read\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    assert run(["chat", *with_model(server), "--name", "Ben", "--session", "talk"]) == 0
    out = capsys.readouterr().out
    assert out.count("nothing was asked yet") == 2  # the first /recall, and /why
    assert (
        "Ana: I moved to Porto last week." in out.partition("In early March.")[0]
    )  # shown before the answer
    assert "<memories>" in out and "Then it rained.\n" in out
    with Memory.open() as memory:
        said = [(turn.speaker, turn.text) for turn in memory.turns("talk")]
    assert said == [
        ("Ben", "When did Ana move?"),
        ("assistant", "In early March."),
        ("Ben", "And then?"),
        ("assistant", "Then it rained."),
    ]
    first, second = ([one["content"] for one in sent.body["messages"]] for sent in server.asked)
    assert "I moved to Porto last week" in first[-1] and first[-1].endswith("When did Ana move?")
    assert second[:3] == [first[0], "When did Ana move?", "In early March."]  # as it was said, for the cache


def test_a_chat_goes_on_with_an_earlier_conversation(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.then(text("In early March."), text("Then it rained."))
    for words in ("When did Ana move?", "And then?"):
        monkeypatch.setattr("sys.stdin", io.StringIO(f"{words}\n"))
        assert run(["chat", *with_model(server), "--session", "talk"]) == 0
    told = [one["content"] for one in server.asked[1].body["messages"]]
    assert told[1:3] == ["When did Ana move?", "In early March."]


def test_a_question_in_a_chat_is_answered_with_its_sources(
    server: ScriptedServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    server.always(lambda asked: ANSWER if "tools" in asked.body else status(400))
    monkeypatch.setattr("sys.stdin", io.StringIO("/ask When did Ana move?\n/why\n"))
    assert run(["chat", *with_model(server)]) == 0
    out = capsys.readouterr().out
    assert "She moved in the week of 3 March 2025." in out and "“moved to Porto last week”" in out


def test_a_chat_without_a_model_remembers_what_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("I adopted a beagle yesterday.\nwhere does Ana live\n"))
    assert run(["chat", "--session", "talk"]) == 0
    out = capsys.readouterr().out
    assert "remembered" in out
    assert "extractive, no model" in out
    with Memory.open() as memory:
        assert [turn.role for turn in memory.turns("talk")] == ["user", "user"]


def test_the_answers_of_a_chat_without_a_model_are_no_sources(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = "I adopted a dog called Biscuit.\nWhat is my dog called?\nWhat is my dog called?\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(told))
    assert run(["chat", "--session", "talk", "--name", "Zoe"]) == 0
    out = capsys.readouterr().out
    assert out.count("“I adopted a dog called Biscuit.”") == 2
    with Memory.open() as memory:
        assert "assistant" not in {one.speaker for one in memory.recall("What is my dog called?")}


def test_an_empty_bank_says_that_it_is_empty(capsys: pytest.CaptureFixture[str]) -> None:
    Memory.open(bank="new", zone="Europe/Lisbon").close()
    capsys.readouterr()
    assert run(["ask", "When did Ana move?", "--bank", "new", "--model", "none"]) == 0
    assert "the bank is empty, nothing was added to it yet" in capsys.readouterr().out
