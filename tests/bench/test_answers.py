"""The answer bench, on a small conversation of our own: the real engine, scripted models, over HTTP where it counts."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from everwhen.api.memory import Memory
from everwhen.cli.app import app
from everwhen.cli.app import run as run_command
from everwhen.errors import UsageError
from everwhen.models.embedder import count_tokens
from everwhen.models.llm.base import LLMError
from everwhen.models.llm.fake import FakeLLM, FakeRequest
from everwhen.recall.question import parse
from everwhen_bench.answers.judge import Judge, exactly, verdict
from everwhen_bench.answers.questions import AnswerQuestion, Rule, asking_for, spread, talks
from everwhen_bench.answers.run import Plan, run
from everwhen_bench.answers.systems import SIDE_BY_SIDE, SYSTEMS, chosen
from tests.bench.test_bench_locomo import SAMPLE
from tests.scripted_server import ScriptedServer, call, refusal, text

ANSWERS = {
    "tortoise called": "Basil",
    "tortoise eat": "dandelions",
    "violin exam": "9 June 2023",
    "Tom play": "Bach",
    "submarine": "Not known.",
}
GOLD = ["Basil", "Dandelions", "2 June 2023", "Bach", None]


def sample(name: str) -> dict[str, Any]:
    rows = [{**row, "answer": gold} if gold else row for row, gold in zip(SAMPLE["qa"], GOLD, strict=True)]
    return {**SAMPLE, "sample_id": name, "qa": rows}


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("data") / "locomo.json"
    path.write_text(json.dumps([sample("conv-1")]))
    return path


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("home")


def answering(asked: FakeRequest) -> str:
    question = asked.prompt.rpartition("Question: ")[2]
    return next(answer for words, answer in ANSWERS.items() if words in question)


def judging(asked: FakeRequest) -> str:
    """Right, but for the one about the exam."""
    return "No." if "9 June" in asked.prompt else "Yes."


def plan(data: Path, home: Path, systems: str = "everwhen,recent", **more: Any) -> Plan:
    return Plan("locomo", data, chosen(systems), model="fake", home=home, **more)


def test_answers_are_scored_and_judged_by_kind(data: Path, home: Path) -> None:
    result = run(plan(data, home, judge="fake judge"), FakeLLM([answering]), FakeLLM([judging]))
    row = result["systems"]["everwhen"]
    assert row["right"]["value"] == pytest.approx(0.8)
    assert row["right"]["by_group"] == {"1": 1.0, "2": 0.0, "3": 1.0, "4": 1.0, "5": 1.0}
    assert row["f1"]["by_group"]["5"] == 1.0  # it says that it is not known
    assert row["f1"]["by_group"]["2"] == pytest.approx(2 / 3, abs=1e-3)  # "9 June 2023" for "2 June 2023"
    low, high = row["right"]["interval_95"]
    assert low <= 0.8 <= high
    assert result["systems"]["recent"]["right"]["difference"] == 0.0
    assert len(result["runs"]) == 10
    assert result["spent"]["answer"]["prompts"] == 10
    assert result["spent"]["judge"]["prompts"] == 5  # the same answer to the same question is judged once


def test_a_run_goes_on_from_its_journal(data: Path, home: Path, tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    stops = [answering, answering, LLMError("unreachable", "gone")]
    with pytest.raises(LLMError):
        run(plan(data, home, judge="exact", journal=journal), FakeLLM(stops))
    again = FakeLLM([answering])
    result = run(plan(data, home, judge="exact", journal=journal), again)
    assert 0 < len(again.asked) < 10
    once_more = FakeLLM([LLMError("unreachable", "gone")])
    assert run(plan(data, home, judge="exact", journal=journal), once_more)["systems"] == result["systems"]


def test_a_journal_of_other_settings_is_refused(data: Path, home: Path, tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    run(plan(data, home, "nothing", judge="exact", journal=journal), FakeLLM([answering]))
    with pytest.raises(UsageError, match="another tokens"):
        run(plan(data, home, "nothing", judge="exact", journal=journal, tokens=7), FakeLLM([answering]))


def test_prompts_go_out_and_completions_come_in(data: Path, home: Path, tmp_path: Path) -> None:
    out, back = tmp_path / "prompts.jsonl", tmp_path / "completions.jsonl"
    options = {
        "judge": "elsewhere",
        "journal": tmp_path / "j.jsonl",
        "prompts_out": out,
        "completions_in": back,
    }

    def complete(reply: Callable[[str], str]) -> None:
        rows = [json.loads(line) for line in out.read_text().splitlines()]
        with back.open("a") as file:
            for row in rows:
                given = {"key": row["key"], "text": reply(row["messages"][-1]["content"])}
                file.write(json.dumps(given) + "\n")

    back.touch()
    waiting = run(plan(data, home, **options), None)
    assert (waiting["phase"], waiting["waiting"]) == ("answer", 10)
    complete(lambda prompt: answering(FakeRequest(prompt, str, "")))
    assert run(plan(data, home, **options), None)["phase"] == "judge"
    complete(lambda prompt: judging(FakeRequest(prompt, str, "")))
    result = run(plan(data, home, **options), None)
    assert result["systems"]["everwhen"]["right"]["value"] == pytest.approx(0.8)


def test_runs_have_a_spread(data: Path, home: Path) -> None:
    turns = iter(["Basil"] * 5 + ["nonsense"] * 5)
    result = run(plan(data, home, "everwhen", judge="exact", runs=2), FakeLLM([lambda _: next(turns)]))
    row = result["systems"]["everwhen"]["right"]
    assert row["value"] == pytest.approx(0.1)  # one of five, in one of two runs
    assert row["spread"] == pytest.approx(0.1)


def test_what_is_cut_off_or_refused_is_an_answer_all_the_same(data: Path, home: Path) -> None:
    cut = LLMError("cut off", "too long", text="Basil and")
    result = run(plan(data, home, "nothing", judge="none"), FakeLLM([cut, LLMError("refusal", "no"), "x"]))
    assert [line["answer"] for line in result["runs"]][:2] == ["Basil and", ""]
    assert result["spent"]["answer"]["without_answer"] == 1
    assert result["systems"]["nothing"]["right"] is None


def test_every_system_keeps_to_its_tokens(data: Path, home: Path) -> None:
    [talk] = talks("locomo", data)
    with Memory.open(home, bank="tokens") as memory:
        memory.add_many(talk.messages)
        memory.flush()
        contexts = {name: SYSTEMS[name].context for name in SIDE_BY_SIDE}
        shown = {
            (name, room): count_tokens(
                context(memory, "When is the violin exam?", talk.questions[0].at, room)
            )
            for name, context in contexts.items()
            if context is not None
            for room in (20, 60, 200)
        }
        assert all(tokens <= room for (_, room), tokens in shown.items()) and max(shown.values()) > 20


def test_the_recent_system_shows_the_last_turns_in_their_order(data: Path, home: Path) -> None:
    [talk] = talks("locomo", data)
    with Memory.open(home, bank="recent") as memory:
        memory.add_many(talk.messages)
        context = SYSTEMS["recent"].context
        assert context is not None
        shown = context(memory, "anything", talk.questions[0].at, 60).splitlines()
    assert shown[0] == "1 June 2023 Thursday"
    assert shown[-1].startswith("Tom: Look!")


def test_a_calendar_line_helps_with_dates(data: Path, home: Path) -> None:
    [talk] = talks("locomo", data)
    with Memory.open(home, bank="dated") as memory:
        memory.add_many(talk.messages)
        memory.flush()
        everwhen, turns = SYSTEMS["everwhen"].context, SYSTEMS["turns only"].context
        assert everwhen is not None and turns is not None
        asked = ("When is the violin exam?", talk.questions[0].at, 300)
        assert "2 June 2023" in everwhen(memory, *asked)
        assert "2 June 2023" not in turns(memory, *asked)


def test_only_questions_of_the_kinds_that_were_named_are_asked(data: Path) -> None:
    everything = [one for talk in talks("locomo", data) for one in talk.questions]
    dated = [one for talk in asking_for(talks("locomo", data), ("when",)) for one in talk.questions]
    assert dated and len(dated) < len(everything)
    assert all(parse(one.text).kind == "when" for one in dated)
    assert [one for talk in asking_for(talks("locomo", data), ()) for one in talk.questions] == everything


def test_a_kind_that_is_none_is_refused_with_those_there_are(
    data: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run_command(
        ["bench", "locomo", "--data", str(data), "--systems", "extractive", "--kinds", "colour"]
    )
    assert code == 2 and "there are: when, since, between" in capsys.readouterr().err


def test_a_spread_takes_every_group_in_turns(tmp_path: Path) -> None:
    path = tmp_path / "two.json"
    path.write_text(json.dumps([sample("a"), sample("b")]))
    kept = [one for talk in spread(talks("locomo", path), 5) for one in talk.questions]
    assert sorted(one.group for one in kept) == ["1", "2", "3", "4", "5"]
    assert spread(talks("locomo", path), 5) == spread(talks("locomo", path), 5)
    assert sum(len(talk.questions) for talk in spread(talks("locomo", path), None)) == 10


# The judge


def question(rule: Rule) -> AnswerQuestion:
    return AnswerQuestion("q", "g", "How many weeks?", "four", rule, None)


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ("short", "generous"),
        ("plain", "only a part"),
        ("temporal", "off by one"),
        ("update", "older one beside it"),
        ("preference", "every point"),
        ("abstention", "not known"),
    ],
)
def test_each_rule_has_a_prompt_of_its_own(rule: Rule, words: str) -> None:
    prompt = Judge().prompt(question(rule), "five")
    assert words in prompt
    assert "How many weeks?" in prompt and "four" in prompt and "five" in prompt


def test_prompts_of_a_file_replace_ours(tmp_path: Path) -> None:
    file = tmp_path / "prompts.json"
    file.write_text(json.dumps({"temporal": "Q $question G $gold A $answer"}))
    assert Judge(file).prompt(question("temporal"), "five") == "Q How many weeks? G four A five"
    assert Judge(file).prompt(question("plain"), "five") == Judge().prompt(question("plain"), "five")
    file.write_text(json.dumps({"sideways": "x"}))
    with pytest.raises(UsageError, match="sideways"):
        Judge(file)


@pytest.mark.parametrize(
    ("reply", "right"),
    [
        ("Yes.", True),
        ("no", False),
        ("The answer is correct", True),
        ("Incorrect", False),
        ("Hm", None),
        ("", None),
    ],
)
def test_a_verdict_is_the_first_yes_or_no(reply: str, right: bool | None) -> None:
    assert verdict(reply) is right


def test_without_a_model_only_the_same_words_are_right() -> None:
    assert exactly(question("plain"), "Four!")
    assert not exactly(question("plain"), "about four")
    assert exactly(question("abstention"), "That is not known.")
    assert not exactly(question("abstention"), "four")


# The command line, over HTTP


def test_the_command_answers_and_judges_over_http(data: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.json"
    with ScriptedServer() as server:
        server.always(lambda asked: text("yes" if "one word" in asked.prompt else "Basil"))
        arguments = [
            "--home", str(tmp_path / "home"), "bench", "locomo", "--data", str(data), "--llm", "openai:scripted",
            "--base-url", server.url, "--limit", "5", "--systems", "everwhen,extractive", "--out", str(out),
        ]  # fmt: skip
        done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    assert "everwhen" in done.output and "token F1" in done.output
    result = json.loads(out.read_text())
    assert result["systems"]["everwhen"]["right"]["value"] == 1.0
    assert result["judge"] == "openai:scripted"
    assert result["spent"]["answer"]["input_tokens"] == 500
    assert {line["system"] for line in result["runs"]} == {"everwhen", "extractive"}


def test_without_a_model_the_extractive_answers_are_measured(data: Path, tmp_path: Path) -> None:
    arguments = [
        "--home",
        str(tmp_path),
        "--json",
        "bench",
        "locomo",
        "--data",
        str(data),
        "--systems",
        "extractive",
    ]
    done = CliRunner().invoke(app, arguments)
    assert done.exit_code == 0, done.output
    result = json.loads(done.output)
    assert result["judge"] == "holds"
    assert set(result["systems"]["extractive"]["right"]["by_kind"]) == {"name", "what", "when"}
    refused = CliRunner().invoke(app, [*arguments[:-1], "everwhen"])
    assert refused.exit_code != 0


def test_the_agent_is_a_system_too(data: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="several steps"):
        run(plan(data, tmp_path, "agent", prompts_out=tmp_path / "p.jsonl"), None)
    assert [one.name for one in chosen("agent,agent no guidance")] == ["agent", "agent no guidance"]


def test_the_agents_stages_are_measured_over_http_with_what_they_spend(data: Path, tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"

    def arguments(server: ScriptedServer, model: str) -> list[str]:
        return [
            "--home", str(tmp_path / "home"), "--json", "bench", "locomo", "--data", str(data),
            "--llm", f"openai:{model}", "--base-url", server.url, "--limit", "5", "--judge", "holds",
            "--answer-tokens", "8", "--journal", str(journal),
            "--systems", "agent no guidance,agent no initial retrieval",
        ]  # fmt: skip

    with ScriptedServer() as server:
        server.always(lambda asked: call("answer", {"text": "Basil", "citations": [], "known": True}))
        done = CliRunner().invoke(app, arguments(server, "first"))
        assert done.exit_code == 0, done.output
        result = json.loads(done.output)
        assert result["systems"]["agent no guidance"]["right"]["value"] == pytest.approx(0.2)  # one is Basil
        spent = result["spent"]["agent"]
        assert (
            spent["questions"] == 10 and spent["requests"] == len(server.asked) and spent["input_tokens"] > 0
        )
        # `--answer-tokens` is the room of a single answer, not of a call with its quotes.
        assert {asked.body["max_tokens"] for asked in server.asked} == {32}
        asked_once = len(server.asked)
        assert CliRunner().invoke(app, arguments(server, "first")).exit_code == 0
        assert len(server.asked) == asked_once  # it goes on from its journal
        server.always(refusal("no"))
        done = CliRunner().invoke(app, arguments(server, "second"))  # another model has answers of its own
        assert done.exit_code == 0, done.output
        result = json.loads(done.output)
        assert len(server.asked) > asked_once and result["spent"]["agent"]["without_answer"] == 10
        assert result["systems"]["agent no guidance"]["right"]["value"] == 0.0


def test_guidance_is_asked_for_first_read_with_the_memories_and_counted(data: Path, home: Path) -> None:
    def reading(asked: FakeRequest) -> str:
        guided = "# Look for\n- Find the name.\n</memories>" in asked.prompt
        assert guided != ("Nothing is remembered." in asked.prompt)
        return answering(asked)

    guide = FakeLLM([{"points": ["Find the name."]}])
    result = run(plan(data, home, "guided,nothing", judge="exact"), FakeLLM([reading]), agent_llm=guide)
    assert result["systems"]["guided"]["right"]["value"] == result["systems"]["nothing"]["right"]["value"]
    assert result["spent"]["guidance"]["questions"] == 5 == len(guide.asked)
