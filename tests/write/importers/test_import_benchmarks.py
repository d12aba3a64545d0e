"""LoCoMo and LongMemEval native files, in small examples of our own."""

from __future__ import annotations

import json
import lzma
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from everwhen.errors import UsageError
from everwhen.write.importers import benchmarks
from everwhen.write.importers.benchmarks import session_time
from everwhen.write.importers.files import read

LOCOMO = [
    {
        "sample_id": "conv-1",
        "qa": [],
        "conversation": {
            "speaker_a": "Ines",
            "speaker_b": "Tom",
            "session_10_date_time": "12:05 am on 1 July, 2023",
            "session_10": [{"speaker": "Tom", "dia_id": "D10:1", "text": "Late!"}],
            "session_2_date_time": "1:56 pm on 8 May, 2023",
            "session_2": [
                {"speaker": "Ines", "dia_id": "D2:1", "text": "Look!", "blip_caption": "a kite over a beach"},
                {"speaker": "Tom", "dia_id": "D2:2", "text": "", "blip_caption": "a red kite"},
                {"speaker": "Tom", "dia_id": "D2:3", "text": " "},
            ],
            "session_3_date_time": "2:00 pm on 9 May, 2023",
            "session_4_date_time": "2:00 pm on 9 May, 2023",
            "session_4": [],
        },
    },
    {"conversation": {}, "qa": []},
]


def _file(path: Path, value: Any) -> Path:
    path.write_text(json.dumps(value))
    return path


def test_locomo_sessions_come_in_the_order_of_their_numbers(tmp_path: Path) -> None:
    first, second = read(_file(tmp_path / "locomo.json", LOCOMO))
    told = list(first.messages)
    assert (first.name, first.total, second.name, second.total) == ("conv-1", 3, "sample-1", 0)
    assert [(one.id, one.session, one.speaker) for one in told] == [
        ("D2:1", "session_2", "Ines"),
        ("D2:2", "session_2", "Tom"),
        ("D10:1", "session_10", "Tom"),
    ]
    assert [one.text for one in told] == [
        "Look! [image: a kite over a beach]",
        "[image: a red kite]",
        "Late!",
    ]
    assert told[0].said_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert told[2].said_at == datetime(2023, 7, 1, 0, 5, tzinfo=UTC)
    assert {one.zone for one in told} == {"UTC"}


@pytest.mark.parametrize("text", ["8 May 2023", "", "13:56 on 8 May, 2023", "None"])
def test_a_session_time_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="1:56 pm on 8 May, 2023"):
        session_time(text)


@pytest.mark.parametrize(
    ("sample", "problem"),
    [
        ({"conversation": [], "qa": []}, "sample 0: 'conversation' should be an object"),
        ({"conversation": {"session_1": "x"}, "qa": []}, "session_1: it should be a list"),
        (
            {"conversation": {"session_1": ["x"], "session_1_date_time": "1:56 pm on 8 May, 2023"}, "qa": 1},
            "turn 0",
        ),
    ],
)
def test_a_broken_locomo_file_is_told_with_the_place(tmp_path: Path, sample: Any, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        [list(conversation.messages) for conversation in read(_file(tmp_path / "a.json", [sample]))]


def _question(**changes: Any) -> dict[str, Any]:
    return {
        "question_id": "q1",
        "question": "Where is the kite?",
        "question_date": "2023/05/30 (Tue) 09:00",
        "haystack_session_ids": ["s-b", "s-a", "s-b"],
        "haystack_dates": ["2023/05/27 (Sat) 02:14", "2023/05/20 (Sat) 18:00", "2023/05/28 (Sun) 02:14"],
        "haystack_sessions": [
            [{"role": "user", "content": "The kite is in the shed.", "has_answer": True}],
            [
                {"role": "user", "content": "Hi"},
                {"role": "assistant", "content": ""},
                {"role": "user", "content": "?"},
            ],
            [{"role": "user", "content": "The kite is in the shed."}],
        ],
        **changes,
    }


def test_longmemeval_sessions_come_in_time_order_with_ids_of_their_own(tmp_path: Path) -> None:
    path = tmp_path / "lme.json.xz"
    path.write_bytes(lzma.compress(json.dumps([_question(), _question(question_id=None)]).encode()))
    first, second = read(path)
    told = list(first.messages)
    assert (first.name, first.total, second.name) == ("q1", 4, "question-1")
    assert [(one.id, one.session) for one in told] == [
        ("s-a:0", "s-a"),
        ("s-a:2", "s-a"),
        ("s-b:0", "s-b"),
        ("s-b#2:0", "s-b#2"),
    ]
    assert told[2].said_at == datetime(2023, 5, 27, 2, 14, tzinfo=UTC)


def test_a_message_knows_its_place_in_the_file() -> None:
    places = [place for _, place in benchmarks.placed_messages(_question())]
    assert places == [
        benchmarks.MessagePlace("s-a", 0, False),
        benchmarks.MessagePlace("s-a", 2, False),
        benchmarks.MessagePlace("s-b", 0, True),
        benchmarks.MessagePlace("s-b", 0, False),
    ]


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"haystack_dates": ["2023/05/27 (Sat) 02:14"]}, "differ in length"),
        ({"haystack_sessions": None}, "'haystack_sessions' should be a list"),
        ({"haystack_dates": ["27 May"] * 3}, "2023/05/27"),
        ({"haystack_sessions": ["x", [], []]}, "session s-b: it should be a list"),
    ],
)
def test_a_broken_longmemeval_file_is_told_with_the_place(
    tmp_path: Path, changes: dict[str, Any], problem: str
) -> None:
    path = _file(tmp_path / "a.json", [_question(**changes)])
    with pytest.raises(UsageError, match=problem):
        [list(conversation.messages) for conversation in read(path, "longmemeval")]
