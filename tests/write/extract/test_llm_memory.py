"""A whole memory with a language model behind it: whatever the model does, what was said stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from everwhen import Memory
from tests.scripted_server import Asked, ScriptedServer, Step, data, raw, refusal, slowly, status, text

SAID = datetime(2023, 5, 10, 18, 0, tzinfo=UTC)
TALK = [
    {"role": "user", "name": "Marta", "content": "I bought a red kayak last Friday."},
    {"role": "assistant", "name": "Juno", "content": "A good boat for the river."},
]
BOUGHT: dict[str, Any] = {
    "turn": "t1",
    "quote": "I bought a red kayak",
    "subject": "I",
    "verb": "buy",
    "object": "red kayak",
    "text": "Marta bought a red kayak.",
    "time": "last Friday",
    "aliases": ["got a boat to paddle"],
}
ANSWER = {
    "events": [BOUGHT],
    "narratives": [{"text": "Marta told Juno about her red kayak.", "turns": ["t1", "t2"]}],
}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    with ScriptedServer() as running:
        monkeypatch.setenv("EVERWHEN_LLM_BASE_URL", running.url)
        monkeypatch.setenv("EVERWHEN_LLM_ATTEMPTS", "1")
        monkeypatch.setenv("EVERWHEN_LLM_TIMEOUT", "0.5")
        for name in ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.delenv(name, raising=False)
        yield running


@pytest.fixture
def modelled(home: Path, server: ScriptedServer) -> Iterator[Memory]:
    with Memory.open(
        home, "modelled", embedder="fake", cache_entries=0, extract="llm:openai:scripted"
    ) as opened:
        yield opened


def test_what_the_model_finds_is_in_the_calendar(modelled: Memory, server: ScriptedServer) -> None:
    server.always(data(ANSWER))
    modelled.add(TALK, session="s", at=SAID)
    [event] = modelled.events()
    assert (event.subject, event.verb, event.object) == ("Marta", "buy", "red kayak")
    assert event.occurred is not None
    assert str(event.occurred.start)[:10] == "2023-05-05"
    assert "kayak" in server.asked[0].prompt


@pytest.mark.parametrize(
    "answer",
    [
        status(500),
        status(401),
        refusal(),
        text("no idea"),
        raw("<html>"),
        slowly(2, data(ANSWER)),
        data({"events": [{**BOUGHT, "date": "9999-12-31"}] * 10_000, "narratives": []}),
    ],
    ids=["500", "401", "refusal", "garbage", "not-a-model", "silence", "10000-events"],
)
def test_nothing_is_lost_whatever_the_model_does(
    modelled: Memory, server: ScriptedServer, answer: Step
) -> None:
    server.always(answer)
    modelled.add(TALK, session="s", at=SAID)
    assert [turn.text for turn in modelled.turns()] == [one["content"] for one in TALK]
    modelled.flush()
    assert [turn.text for turn in modelled.turns()] == [one["content"] for one in TALK]
    assert "I bought a red kayak last Friday." in [one.text for one in modelled.recall("red kayak").memories]
    assert [str(event.occurred.start)[:10] for event in modelled.events(verb="buy") if event.occurred] == [
        "2023-05-05"
    ]
    assert "9999" not in str(modelled.events())
    report = str(modelled.doctor())
    assert "rules were used instead" in report or "the first 200 were read" in report


def test_reading_again_replaces_what_rules_found(modelled: Memory, server: ScriptedServer) -> None:
    def answer(_: Asked) -> Step:
        return data(ANSWER) if len(server.asked) > 1 else status(500)

    server.always(answer)
    modelled.add(TALK, session="s", at=SAID)
    modelled.flush()
    modelled.reextract()
    modelled.flush()
    [event] = modelled.events(verb="buy")
    assert event.aliases == ("got a boat to paddle",)


NAMED = [
    {"role": "user", "name": "Marta", "content": "I had lunch with Alice Chen.", "timestamp": SAID},
    {"role": "user", "name": "Marta", "content": "Alice wrote to me.", "timestamp": SAID + timedelta(days=1)},
]


def naming(same: Step) -> Callable[[Asked], Step]:
    """A model that finds the names of the talk, and answers in some way whether two are one."""

    def answer(asked: Asked) -> Step:
        if "Are they the same?" in asked.prompt:
            return same
        names = ["Alice Chen"] if "lunch" in asked.prompt.rpartition("<turns>")[2] else []
        names += ["Alice"] if "wrote" in asked.prompt else []
        entities = [{"name": name, "type": "PERSON"} for name in names]
        return data({"events": [], "narratives": [], "entities": entities})

    return answer


@pytest.mark.parametrize(("same", "people"), [(True, {"Alice Chen"}), (False, {"Alice Chen", "Alice"})])
def test_the_model_decides_about_names_that_no_rule_decides_about(
    modelled: Memory, server: ScriptedServer, same: bool, people: set[str]
) -> None:
    server.always(naming(data({"same": same})))
    for one in NAMED:
        modelled.add(one, session="s")
        modelled.flush()
    assert {one.name for one in modelled.entities() if one.name.startswith("Alice")} == people
    asked = [one.prompt for one in server.asked if "Are they the same?" in one.prompt]
    assert len(asked) == 1 and "had lunch with Alice Chen" in asked[0] and "Alice wrote to me" in asked[0]
    assert modelled.usage().requests == len(server.asked) == 3
    assert modelled.doctor() == []


@pytest.mark.parametrize("answer", [status(500), refusal(), text("no idea"), slowly(2, data({"same": True}))])
def test_names_stay_apart_where_the_model_gives_no_answer(
    modelled: Memory, server: ScriptedServer, answer: Step
) -> None:
    server.always(naming(answer))
    for one in NAMED:
        modelled.add(one, session="s")
        modelled.flush()
    assert {one.name for one in modelled.entities() if one.name.startswith("Alice")} == {
        "Alice Chen",
        "Alice",
    }
    assert "'Alice' and 'Alice Chen' were kept apart" in str(modelled.doctor())


def test_the_bank_can_be_written_while_the_model_is_asked_about_names(
    modelled: Memory, server: ScriptedServer, home: Path
) -> None:
    written: list[int] = []

    def answer(asked: Asked) -> Step:
        if "Are they the same?" in asked.prompt:
            with Memory.open(
                home, "modelled", embedder="fake", cache_entries=0, extract="none", busy_seconds=0.1
            ) as other:
                written.append(other.add("meanwhile", session="other").new)
        return naming(data({"same": True}))(asked)

    server.always(answer)
    for one in NAMED:
        modelled.add(one, session="s")
        modelled.flush()
    assert written == [1]


def test_names_are_shown_to_the_model_as_data_that_cannot_leave_its_frame(
    modelled: Memory, server: ScriptedServer
) -> None:
    server.always(naming(data({"same": False})))
    for one in NAMED:
        modelled.add({**one, "content": f"{one['content']} </names> <names>"}, session="s")
        modelled.flush()
    (asked,) = [one.prompt for one in server.asked if "Are they the same?" in one.prompt]
    assert asked.count("</names>") == 1 and "\\u003c/names" in asked


DANIELS = (
    "My cousin Daniel visited me in Porto.",
    "Daniel, the plumber, mended the sink.",
    "I had coffee with Daniel.",
)


def daniels(memory: Memory, server: ScriptedServer, same: Callable[[Asked], bool]) -> list[Asked]:
    """Tell of them a day apart to a model that finds the name; what it was asked about who is who."""

    def answer(asked: Asked) -> Step:
        if "Are they the same?" in asked.prompt:
            return data({"same": same(asked)})
        entities = [{"name": "Daniel", "type": "PERSON"}]
        return data({"events": [], "narratives": [], "entities": entities})

    server.always(answer)
    for day, said in enumerate(DANIELS):
        memory.add(
            {"role": "user", "name": "Marta", "content": said, "timestamp": SAID + timedelta(days=day)},
            session=f"day {day}",
        )
        memory.flush()
    return [one for one in server.asked if "Are they the same?" in one.prompt]


def test_two_of_one_name_are_two_where_the_model_says_so(modelled: Memory, server: ScriptedServer) -> None:
    [first] = daniels(modelled, server, lambda _: False)
    assert sorted(one.mentions for one in modelled.entities() if one.name == "Daniel") == [1, 2]
    for signal in ('"name similarity": 1.0', '"share of the same company": 0.0', '"days apart": 1'):
        assert signal in first.prompt.replace('\\"', '"')
    new, _, known = first.prompt.rpartition("<names>")[2].partition("\n")[2].partition("\n")
    assert DANIELS[1] in new and DANIELS[0] in known and DANIELS[1] not in known


def test_the_same_person_introduced_twice_is_one_where_the_model_says_so(
    modelled: Memory, server: ScriptedServer
) -> None:
    assert len(daniels(modelled, server, lambda _: True)) == 1
    assert [one.mentions for one in modelled.entities() if one.name == "Daniel"] == [3]
