"""What the page is drawn with, without a server: axes, layouts, sessions, and what is not the page's to show."""

from __future__ import annotations

import asyncio
import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import settings as bounded
from hypothesis import strategies as st

from everwhen import Memory
from everwhen.api.memory.bank import GLANCE
from everwhen.cli.app import run
from everwhen.serve.app import create_app
from everwhen.serve.responses import Problem
from everwhen.serve.server_settings import ServerSettings
from everwhen.serve.state import ServerState
from everwhen.ui import auth
from everwhen.ui import session as page_session
from everwhen.ui.auth import Sessions, Visitor
from everwhen.ui.components import WINDOWS, Axis, fitting, floor, pick, shift
from everwhen.ui.pages.entities import layout
from everwhen.ui.pages.tree import _coloured, regions, telling_words
from everwhen.ui.session import PageSession
from everwhen.write.worker import Worker

INSTANTS = st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1), timezones=st.just(UTC))
GRAINS = st.sampled_from(list(WINDOWS))


@given(INSTANTS, st.timedeltas(timedelta(hours=1), timedelta(days=4000)), INSTANTS)
def test_every_instant_has_a_place_on_an_axis(start: datetime, length: timedelta, instant: datetime) -> None:
    axis = Axis(start, start + length, "UTC")
    assert 0.0 <= axis.place(instant) <= 100.0
    names = list(axis.ticks(fitting(axis.start, axis.end)))
    assert len(names) <= 16 and [x for x, _ in names] == sorted(x for x, _ in names)


@given(INSTANTS, GRAINS, st.integers(-50, 50))
def test_units_begin_where_units_begin(instant: datetime, grain: str, units: int) -> None:
    start = floor(instant, grain)
    assert start <= instant < shift(start, grain, 1)
    assert floor(shift(start, grain, units), grain) == shift(start, grain, units)


@bounded(max_examples=15, deadline=None)
@given(st.integers(0, 20), st.randoms(use_true_random=False))
def test_a_graph_is_laid_out_inside_its_frame_and_always_alike(count: int, chance: object) -> None:
    pairs = [(a, b) for a in range(count) for b in range(a + 1, count) if chance.random() < 0.3]
    links = {pair: 1 + chance.randrange(9) for pair in pairs}
    places = layout(count, links)
    assert places.shape == (count, 2) and (places >= 0).all() and (places <= 100).all()
    assert (places == layout(count, links)).all()


def test_a_region_of_the_map_is_named_after_what_only_it_talks_about() -> None:
    places = {
        "coffee": (10, 10),
        "ferry": (10, 90),
        "dentist": (90, 10),
        "piano": (90, 90),
        "garden": (50, 50),
        "vet": (50, 9),
    }
    points = np.array([[x + n, y] for x, y in places.values() for n in range(5)], np.float64)
    named = regions(points, telling_words([f"Marta: about the {word}" for word in places for _ in range(5)]))
    assert {word: (x - 2, y) for word, x, y in named} == {
        word: at for word, at in places.items() if word != "vet"
    }


def test_a_map_has_no_more_colours_than_people_tell_apart() -> None:
    months = [f"{2020 + n // 12}-{n % 12 + 1:02d}-01" for n in range(30)]
    assert _coloured(months[:6])[0] == "month" and _coloured(months[:20])[0] == "quarter"
    assert _coloured(months)[0] == "year" and _coloured(months[:1]) == ("", None)


def test_a_session_ends_when_it_is_idle_for_too_long(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr(auth.time, "monotonic", lambda: now)
    sessions = Sessions()
    number = sessions.open("key")
    now += auth.SESSION_HOURS * 3600 - 1
    assert sessions.token(number) == "key"
    now += auth.SESSION_HOURS * 3600 + 1
    assert sessions.token(number) is None


def test_sessions_are_bounded_and_the_idlest_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "MOST_SESSIONS", 2)
    sessions = Sessions()
    first, second = sessions.open("a"), sessions.open("b")
    assert sessions.token(first) == "a"
    third = sessions.open("c")
    assert [sessions.token(one) for one in (first, second, third)] == ["a", None, "c"]


def test_what_was_remembered_cannot_leave_its_attribute() -> None:
    assert pick('"><script>') == 'data-pick="&quot;&gt;&lt;script&gt;" tabindex="0" role="button"'


def test_a_handler_refuses_what_the_key_may_not_do_whatever_the_page_shows(home: Path) -> None:
    state = ServerState(ServerSettings(home))
    sessions = Sessions()
    _, token = state.keys.create("read", "ana")
    visitor = Visitor(state, sessions, sessions.open(token), "127.0.0.1:8765")
    asked: list[str] = []

    def act(memory: Memory) -> None:
        asked.append(memory.bank)

    async def all_three() -> None:
        for session in (PageSession(visitor, "ana"), PageSession(visitor, "vera")):
            assert not session.may("write") and session.banks() == []
            with pytest.raises(Problem) as refused:
                await session.write("facts/confirm", act, create=True)
            assert refused.value.status_code == 403
        with pytest.raises(Problem):
            await PageSession(visitor, "vera").read(act)
        await state.close()

    asyncio.run(all_three())
    assert asked == [] and not state.banks.stored.exists("ana") and not state.banks.stored.exists("vera")
    noted = [json.loads(line) for line in state.audit.path.read_text(encoding="utf-8").splitlines()]
    assert [(line["event"], line["bank"], line["route"]) for line in noted] == [
        ("denied", "ana", "ui facts/confirm"),
        ("denied", "vera", "ui facts/confirm"),
        ("denied", "vera", "ui read"),
    ]


@pytest.mark.parametrize(
    ("turns", "glances"), [(page_session.WAITED_FOR, False), (page_session.WAITED_FOR + 1, True)]
)
def test_a_page_waits_once_for_a_few_turns_and_glances_at_many(
    home: Path, monkeypatch: pytest.MonkeyPatch, turns: int, glances: bool
) -> None:
    with Memory.open(home, "ana", extract="none") as memory:
        memory.add_many([f"I planted {number} trees in May." for number in range(turns)])
    waited: list[float | None] = []

    def wait(worker: Worker, upto: int, timeout: float | None = None) -> int:
        waited.append(timeout)
        return turns  # the time was over before the first one was read

    monkeypatch.setattr(Worker, "wait", wait)
    state = ServerState(ServerSettings(home))
    sessions = Sessions()
    visitor = Visitor(state, sessions, sessions.open(state.keys.create("read", "ana")[1]), "127.0.0.1:8765")
    session = PageSession(visitor, "ana")

    async def look() -> list[int]:
        def several(memory: Memory) -> list[int]:
            return [len(memory.facts.current()), len(memory.entities()), len(memory.events())]

        try:
            return await session.read(several)
        finally:
            await state.close()

    assert asyncio.run(look()) == [0, 0, 0]
    assert [one == GLANCE for one in waited] == [glances] and session.unread == turns


@pytest.mark.anyio
async def test_a_server_of_several_processes_says_why_it_has_no_page(home: Path) -> None:
    app = create_app(ServerSettings(home, workers=2))
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            answer = await client.get("/ui/")
    assert answer.status_code == 404 and "one process" in answer.json()["detail"]


def test_without_nicegui_the_command_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "everwhen.serve.server_settings.find_spec", lambda name: None if name == "nicegui" else object()
    )
    assert run(["ui", "--no-browser"]) == 6
    assert "pip install 'everwhen[ui]'" in capsys.readouterr().err
