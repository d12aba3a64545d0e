"""WhatsApp's exports: the forms of Android and iOS, dates that are sure or asked for, WhatsApp's own lines."""

from __future__ import annotations

import re
import zipfile
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen.errors import UsageError
from everwhen.types import Message
from everwhen.write.importers import whatsapp
from everwhen.write.importers.conversation import Conversation, ReadingOptions
from everwhen.write.importers.files import detect, read
from everwhen.write.importers.whatsapp import DELETED, MEDIA, SYSTEM, Stamp, date_order

FIXTURES = Path(__file__).parent / "fixtures"


def _read(path: Path, **options: Any) -> tuple[list[Message], Conversation]:
    (conversation,) = read(path, "whatsapp", ReadingOptions(**{"zone": "Europe/Lisbon", **options}))
    messages = list(conversation.messages)
    assert list(conversation.messages) == messages
    return messages, conversation


def _chat(tmp_path: Path, *lines: str) -> Path:
    path = tmp_path / "WhatsApp Chat with Ana.txt"
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def _local(message: Message) -> str:
    assert message.said_at is not None and message.zone == "Europe/Lisbon"
    return message.said_at.replace(tzinfo=None).isoformat(" ")


def test_an_export_of_android_is_read_with_its_speakers_lines_and_files() -> None:
    told, conversation = _read(FIXTURES / "whatsapp-android.txt")
    assert detect(FIXTURES / "whatsapp-android.txt") == "whatsapp"
    assert conversation.name == "whatsapp-android"
    assert [(_local(one), one.speaker, one.text) for one in told] == [
        ("2024-03-12 14:06:00", "Ana Lopes", "Shall we take the boat out on Saturday?"),
        ("2024-03-12 14:08:00", "Ben", "Yes!\n\nAt ten, as always:\nthe north pier."),
        ("2024-03-12 14:10:00", "Ben", "[image: IMG-20240312-WA0003.jpg]\nthe new sail"),
        ("2024-03-12 14:11:00", "Ana Lopes", "look at the sky"),
        ("2024-03-12 14:13:00", "Ben", "ok"),
        ("2024-03-12 14:13:00", "Ben", "ok"),
        ("2024-03-13 00:01:00", "Ana Lopes", "Saturday at 10:30: bring bread"),
    ]
    assert [one.session for one in told][-2:] == [
        "whatsapp-android/2024-03-12",
        "whatsapp-android/2024-03-13",
    ]
    assert len({one.id for one in told}) == len(told)
    assert conversation.left_out == {SYSTEM: 4, MEDIA: 2, DELETED: 1}


def test_an_export_of_ios_in_german_is_read_by_its_marks() -> None:
    told, conversation = _read(FIXTURES / "whatsapp-ios.txt")
    assert detect(FIXTURES / "whatsapp-ios.txt") == "whatsapp"
    assert [(_local(one), one.speaker, one.text) for one in told] == [
        ("2025-03-05 10:15:01", "Ana", "Fahren wir am Samstag raus?"),
        ("2025-03-05 10:16:44", "Jürgen", "Ja, um 10!\nWie immer am Nordkai."),
        ("2025-03-05 10:18:02", "Ana", "[image: 00000012-PHOTO-2025-03-05-10-18-02.jpg]"),
        ("2025-03-05 10:20:00", "Ana", "Bring Brot mit"),
        ("2025-03-05 10:21:00", "Ana", "Standort: https://maps.google.com/?q=41.1,-8.6"),
    ]
    assert conversation.left_out == {SYSTEM: 2, MEDIA: 1, DELETED: 1}


@pytest.mark.parametrize(
    ("line", "said_at"),
    [
        ("31/12/2024, 23:59 - Ana: x", "2024-12-31 23:59:00"),
        ("12/31/24, 11:59\u202fPM - Ana: x", "2024-12-31 23:59:00"),
        ("[12/31/24, 12:05:09\u202fAM] Ana: x", "2024-12-31 00:05:09"),
        ("[31/12/24 12:05:09 p. m.] Ana: x", "2024-12-31 12:05:09"),
        ("31.12.24, 23:59 - Ana: x", "2024-12-31 23:59:00"),
        ("1.2.2024, 9.05 - Ana: x", "2024-02-01 09:05:00"),
        ("[1.2.2024 klo 9.05.07] Ana: x", "2024-02-01 09:05:07"),
        ("2024-02-01 09:05 - Ana: x", "2024-02-01 09:05:00"),
        ("[2024/2/1 下午3:05:07] Ana: x", "2024-02-01 15:05:07"),
        ("2024/02/01 9:05 - Ana: x", "2024-02-01 09:05:00"),
        ("2024年2月1日 下午3:05 - Ana: x", "2024-02-01 15:05:00"),
        ("2024. 2. 1. 오전 12:05 - Ana: x", "2024-02-01 00:05:00"),
        ("[٣١\u200f/١٢\u200f/٢٠٢٤، ٩:٠٥:٠٧ م] Ana: x", "2024-12-31 21:05:07"),
        ("28-09-16 11:20:19: Ana: x", "2016-09-28 11:20:19"),
    ],
)
def test_the_dates_and_clocks_of_many_phones(tmp_path: Path, line: str, said_at: str) -> None:
    (told,), _ = _read(_chat(tmp_path, line))
    assert (_local(told), told.speaker, told.text) == (said_at, "Ana", "x")


@pytest.mark.parametrize("line", ["[2024/2/1 凌晨3:05:07] Ana: x", "1/2/24, 3:05 gabi - Ana: x"])
def test_a_part_of_the_day_that_is_not_known_is_never_guessed(tmp_path: Path, line: str) -> None:
    with pytest.raises(
        UsageError, match=r"line 1: '.*' beside the time is not known; export .* 24-hour clock"
    ):
        _read(_chat(tmp_path, line))


class TestOrderOfDates:
    def test_one_day_above_twelve_decides_for_the_whole_file(self, tmp_path: Path) -> None:
        told, _ = _read(_chat(tmp_path, "03/04/2024, 10:00 - Ana: a", "13/04/2024, 10:00 - Ana: b"))
        assert _local(told[0]) == "2024-04-03 10:00:00"
        told, _ = _read(_chat(tmp_path, "03/04/2024, 10:00 - Ana: a", "03/14/2024, 10:00 - Ana: b"))
        assert _local(told[0]) == "2024-03-04 10:00:00"

    def test_a_chat_goes_forward_in_time(self, tmp_path: Path) -> None:
        told, _ = _read(_chat(tmp_path, "11/01/2024, 10:00 - Ana: a", "02/02/2024, 10:00 - Ana: b"))
        assert [_local(one)[:10] for one in told] == ["2024-01-11", "2024-02-02"]

    def test_it_does_not_reach_into_the_future(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = _chat(tmp_path, "03/11/2024, 10:00 - Ana: a")
        with pytest.raises(UsageError, match="say which with --date-order dmy or mdy"):
            _read(path)
        monkeypatch.setattr(whatsapp, "_tomorrow", lambda: date(2024, 6, 1))
        assert _local(_read(path)[0][0]) == "2024-03-11 10:00:00"

    def test_what_the_file_does_not_show_is_asked_for(self, tmp_path: Path) -> None:
        path = _chat(tmp_path, "03/04/2024, 10:00 - Ana: a", "05/06/2024, 10:00 - Ana: b")
        sentence = (
            f"{path}: its dates, such as '03/04/2024, 10:00 -', can be day/month/year or month/day/year; "
            "say which with --date-order dmy or mdy"
        )
        with pytest.raises(UsageError, match=f"^{re.escape(sentence)}$"):
            _read(path)
        assert _local(_read(path, date_order="dmy")[0][0]) == "2024-04-03 10:00:00"
        assert _local(_read(path, date_order="mdy")[0][0]) == "2024-03-04 10:00:00"

    def test_an_order_that_the_file_contradicts_is_refused_with_the_line(self, tmp_path: Path) -> None:
        path = _chat(tmp_path, "03/04/2024, 10:00 - Ana: a", "13/04/2024, 10:00 - Ana: b")
        with pytest.raises(
            UsageError, match=r"line 2: '13/04/2024, 10:00 -' is no date and time, read as month/day"
        ):
            _read(path, date_order="mdy")
        with pytest.raises(UsageError, match="unknown order of dates 'american'; use one of dmy, mdy, ymd"):
            _read(path, date_order="american")

    def test_dates_of_no_order_and_of_another_calendar_are_refused(self, tmp_path: Path) -> None:
        path = _chat(tmp_path, "13/04/2024, 10:00 - Ana: a", "04/14/2024, 10:00 - Ana: b")
        with pytest.raises(UsageError, match="its dates fit no order of day, month and year"):
            _read(path)
        path = _chat(tmp_path, "13/04/2567, 10:00 - Ana: a")
        with pytest.raises(UsageError, match="fit no order"):
            _read(path)
        with pytest.raises(UsageError, match="lies before 2009 or in the future"):
            _read(path, date_order="dmy")

    @settings(max_examples=200, deadline=None)
    @given(
        st.lists(st.dates(date(2010, 1, 1), date(2025, 12, 31)), min_size=1, max_size=12),
        st.sampled_from(["dmy", "mdy", "ymd"]),
        st.booleans(),
    )
    def test_an_order_that_is_found_is_the_one_it_was_written_in(
        self, days: list[date], order: str, short: bool
    ) -> None:
        """Whatever the days: the true order, or a question; never another order."""
        stamps = []
        for day in sorted(days):
            number = {"y": day.year % 100 if short else day.year, "m": day.month, "d": day.day}
            stamps.append(Stamp(tuple(number[one] for one in order), (10, 0, 0), "", False, str(day)))
        try:
            assert date_order(Path("chat.txt"), stamps, None) == order
        except UsageError as error:
            assert "say which with --date-order" in str(error) and order in str(error)


def test_a_file_that_begins_with_something_else_is_none(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"line 1 is no line of a WhatsApp export: it begins with no date"):
        _read(_chat(tmp_path, "Hello", "13/04/2024, 10:00 - Ana: a"))


def test_the_place_of_the_phone_must_be_told() -> None:
    with pytest.raises(
        UsageError, match=r"times of the phone's place; say which, such as --zone Europe/Lisbon"
    ):
        _read(FIXTURES / "whatsapp-android.txt", zone=None)


@pytest.mark.parametrize(
    "said",
    [
        "Look at main.py (it works)",
        "We use end-to-end encryption at work",
        "I was omitted",
        "<3",
        "see <https://example.org>",
        "Missed voice calls are the worst thing that can happen to me all day",
        "He said: <grin>",
        "a: b: c",
    ],
)
def test_what_people_write_about_such_things_stays(tmp_path: Path, said: str) -> None:
    told, _ = _read(_chat(tmp_path, "13/04/2024, 10:00 - Ana: Hello", f"13/04/2024, 10:01 - Ben: {said}"))
    assert told[1].text == said


@pytest.mark.parametrize(
    ("said", "why"),
    [
        ("\u200eimagen omitida", MEDIA),
        ("GIF omitted", MEDIA),
        ("<Без медиафайлов>", MEDIA),
        ("\u200evertrag.pdf • \u200e2 Seiten \u200eDokument weggelassen", MEDIA),
        ("Se eliminó este mensaje.", DELETED),
        ("\u200eMissed voice call", SYSTEM),
        ("Verpasster Sprachanruf um 14:05", SYSTEM),
        ("\u200eAna changed the group name", SYSTEM),
    ],
)
def test_what_whatsapp_writes_itself_is_left_out_with_its_reason(tmp_path: Path, said: str, why: str) -> None:
    told, conversation = _read(
        _chat(tmp_path, "13/04/2024, 10:00 - Ana: Hello", f"13/04/2024, 10:01 - Ben: {said}")
    )
    assert len(told) == 1 and conversation.left_out == {why: 1}


def test_line_ends_of_windows_are_no_part_of_a_message(tmp_path: Path) -> None:
    path = tmp_path / "chat.txt"
    path.write_bytes(b"\xef\xbb\xbf13/04/2024, 10:00 - Ana: one\r\ntwo\r\n\r\nthree\r\n")
    assert [one.text for one in _read(path)[0]] == ["one\ntwo\n\nthree"]


def test_a_longer_export_of_the_same_chat_keeps_its_ids(tmp_path: Path) -> None:
    lines = ["13/04/2024, 10:00 - Ana: ok", "13/04/2024, 10:00 - Ana: ok", "13/04/2024, 10:01 - Ben: so"]
    before = [one.id for one in _read(_chat(tmp_path, *lines))[0]]
    after = _read(_chat(tmp_path, *lines, "14/04/2024, 08:00 - Ana: morning"))[0]
    assert [one.id for one in after][:3] == before and len({one.id for one in after}) == 4
    again = tmp_path / "WhatsApp Chat with Ana (1).txt"
    again.write_bytes((tmp_path / "WhatsApp Chat with Ana.txt").read_bytes())
    assert [one.id for one in _read(again)[0]][:3] == before


def test_the_zip_of_a_phone_is_opened_and_gives_the_chat_its_name(tmp_path: Path) -> None:
    text = "13/04/2024, 10:00 - Ana: Hello\n"
    for packed, inside, name in (
        ("WhatsApp Chat - Ana.zip", "_chat.txt", "WhatsApp Chat - Ana"),
        ("export.zip", "WhatsApp Chat with Ben.txt", "WhatsApp Chat with Ben"),
    ):
        with zipfile.ZipFile(tmp_path / packed, "w") as archive:
            archive.writestr("IMG-20240413-WA0001.jpg", b"\xff\xd8")
            archive.writestr(inside, text)
        assert detect(tmp_path / packed) == "whatsapp"
        told, conversation = _read(tmp_path / packed)
        assert (conversation.name, told[0].text) == (name, "Hello")
    (tmp_path / "Ana").mkdir()
    (tmp_path / "Ana" / "_chat.txt").write_text(text)
    assert _read(tmp_path / "Ana" / "_chat.txt")[1].name == "Ana"
