"""The door of the write path: every shape of message that callers pass, and every mistake they make."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen.errors import UsageError
from everwhen.types import Message, turns
from everwhen.types.turns import LARGEST_TEXT, LONGEST_LABEL, as_text, caption, instant, message, role
from everwhen_time.zones import zone_name, zone_of

MAY = datetime(2025, 5, 8, 13, 56, tzinfo=UTC)


def test_a_string_is_something_the_user_said() -> None:
    assert message("I moved to Porto") == Message(text="I moved to Porto", role="user")


def test_a_full_object_keeps_everything_it_says() -> None:
    given_message = {
        "role": "assistant",
        "content": "Noted.",
        "name": "Ada",
        "timestamp": "2025-05-08T14:56:00+01:00",
        "zone": "Europe/Lisbon",
        "id": "m-1",
        "session": "s-1",
        "metadata": {"channel": "mail", "stars": 4},
    }
    assert message(given_message) == Message(
        text="Noted.",
        role="assistant",
        name="Ada",
        said_at=MAY,
        zone="Europe/Lisbon",
        id="m-1",
        session="s-1",
        metadata={"channel": "mail", "stars": 4},
    )


def test_a_message_that_was_checked_already_stays_as_it_is() -> None:
    once = message({"content": "Hi", "timestamp": MAY, "id": 7, "metadata": {"a": [1, None]}})
    assert message(once) == once
    assert once.id == "7"


def test_a_message_built_by_hand_is_checked_too() -> None:
    with pytest.raises(UsageError, match="empty"):
        message(Message(text="  "))
    with pytest.raises(UsageError, match="no zone"):
        message(Message(text="Hi", said_at=datetime(2025, 5, 8)))


@pytest.mark.parametrize(
    ("given_role", "expected"),
    [
        (None, "user"),
        ("User", "user"),
        ("human", "user"),
        ("model", "assistant"),
        ("ai", "assistant"),
        ("developer", "system"),
        ("function", "tool"),
    ],
)
def test_other_words_for_a_role_are_understood(given_role: str | None, expected: str) -> None:
    assert role(given_role) == expected


@pytest.mark.parametrize("wrong", ["wizard", "", 3, ["user"], {"role": "user"}])
def test_an_unknown_role_is_refused_with_the_roles_there_are(wrong: object) -> None:
    with pytest.raises(UsageError, match="user, assistant, system, tool"):
        message({"role": wrong, "content": "Hi"})


@pytest.mark.parametrize(
    "empty", ["", " \n\t", "\x00", [], [{"type": "text", "text": ""}], {"type": "thinking"}]
)
def test_a_message_without_words_is_refused(empty: object) -> None:
    with pytest.raises(UsageError, match="empty"):
        message({"content": empty})


def test_a_message_without_content_is_told_what_it_needs() -> None:
    for raw in ({"role": "user"}, {"content": None}):
        with pytest.raises(UsageError, match="needs 'content'"):
            message(raw)


def test_something_that_is_no_message_is_told_what_one_is() -> None:
    for raw in (None, 3, ["Hi"], b"Hi"):
        with pytest.raises(UsageError, match="a message is a string or an object"):
            message(raw)  # type: ignore[arg-type]


class TestTimes:
    @pytest.mark.parametrize(
        "stamp",
        [
            "2025-05-08T13:56:00Z",
            "2025-05-08 15:56:00+02:00",
            "20250508T135600Z",
            1746712560,
            1746712560.0,
            1746712560000,
            MAY,
            MAY.astimezone(timezone(timedelta(hours=-7))),
        ],
    )
    def test_iso_epoch_and_datetime_name_the_same_instant(self, stamp: object) -> None:
        assert message({"content": "Hi", "timestamp": stamp}).said_at == MAY

    @pytest.mark.parametrize("stamp", ["2025-05-08T14:56:00", "2025-05-08", datetime(2025, 5, 8, 14, 56)])
    def test_a_naive_time_is_refused_with_both_ways_out(self, stamp: object) -> None:
        with pytest.raises(UsageError, match=r"no zone; append 'Z' or an offset .*or give a zone"):
            message({"content": "Hi", "timestamp": stamp})

    def test_a_zone_beside_a_naive_time_makes_it_local(self) -> None:
        for stamp in ("2025-05-08T14:56", datetime(2025, 5, 8, 14, 56)):
            told = message({"content": "Hi", "timestamp": stamp, "zone": "Europe/Lisbon"})
            assert (told.said_at, told.zone) == (MAY, "Europe/Lisbon")

    def test_a_date_with_a_zone_is_its_midnight_there(self) -> None:
        assert instant("2025-05-08", "Asia/Tokyo") == datetime(2025, 5, 7, 15, tzinfo=UTC)

    def test_a_datetime_brings_its_own_zone(self) -> None:
        local = datetime(2025, 5, 8, 14, 56, tzinfo=ZoneInfo("Europe/Lisbon"))
        said_at = instant(local)
        assert said_at == MAY and said_at is not None and zone_name(said_at) == "Europe/Lisbon"

    def test_no_time_is_no_time(self) -> None:
        assert message({"content": "Hi", "timestamp": None}).said_at is None
        assert message({"content": "Hi", "zone": "Asia/Tokyo"}).zone == "Asia/Tokyo"

    @pytest.mark.parametrize(
        "stamp",
        [
            "yesterday",
            "8 May 2025",
            "2025-13-01T00:00Z",
            "1746712560",
            True,
            [],
            {},
            float("nan"),
            float("inf"),
            1e300,
            10**400,
            "2025-05-08T25:00Z",
            "0001-01-01T00:00+14:00",
            -1e14,
        ],
    )
    def test_what_is_no_time_is_refused(self, stamp: object) -> None:
        with pytest.raises(UsageError, match="timestamp"):
            message({"content": "Hi", "timestamp": stamp})

    @pytest.mark.parametrize(
        "zone", ["Europe/Lisboa", "Europe", "../../etc/passwd", "/etc/localtime", 1, "a\x00b"]
    )
    def test_an_unknown_zone_is_refused(self, zone: object) -> None:
        with pytest.raises(UsageError, match="unknown zone"):
            message({"content": "Hi", "zone": zone})


class TestText:
    def test_text_is_kept_as_said(self) -> None:
        assert message("  an indented line\n").text == "  an indented line\n"

    def test_nul_is_removed(self) -> None:
        assert message("h\x00e\x00l\x00l\x00o\x00").text == "hello"

    def test_a_lone_surrogate_becomes_the_replacement_character(self) -> None:
        assert message("so \ud83d sad").text == "so \ufffd sad"

    def test_two_halves_of_one_character_come_together(self) -> None:
        assert message("\ud83d\ude00").text == "\U0001f600"

    def test_names_and_ids_are_stripped(self) -> None:
        told = message({"content": "Hi", "name": " Ana ", "id": "", "session": "  "})
        assert (told.name, told.id, told.session) == ("Ana", None, None)

    @pytest.mark.parametrize("letter", ["a", "é", "\U0001f600"])
    def test_a_text_of_five_megabytes_is_refused_and_one_byte_less_is_not(self, letter: str) -> None:
        size = len(letter.encode())
        with pytest.raises(UsageError, match="stays under 5 MB: add it as several"):
            message(letter * -(-LARGEST_TEXT // size))
        assert message(letter * ((LARGEST_TEXT - 1) // size))

    @pytest.mark.parametrize("key", ["id", "name", "session"])
    @pytest.mark.parametrize(
        "wrong", ["x" * (LONGEST_LABEL + 1), pytest.param(10**5000, id="huge"), True, ["a"], 1.5]
    )
    def test_a_label_is_short_text(self, key: str, wrong: object) -> None:
        with pytest.raises(UsageError, match=key):
            message({"content": "Hi", key: wrong})

    @pytest.mark.parametrize("wrong", ["a", [1], {1: "a"}, {"a": {1, 2}}, {"a": float("nan")}, {"a": MAY}])
    def test_metadata_is_plain_json(self, wrong: object) -> None:
        with pytest.raises(UsageError, match="metadata"):
            message({"content": "Hi", "metadata": wrong})

    def test_a_zone_without_end_is_refused_and_not_kept(self) -> None:
        message({"content": "Hi", "zone": "Europe/Lisbon"})
        before = zone_of.cache_info().currsize
        with pytest.raises(UsageError, match="unknown zone") as caught:
            message({"content": "Hi", "zone": "z" * 1_000_000})
        assert len(str(caught.value)) < 200
        assert zone_of.cache_info().currsize == before

    def test_metadata_has_a_depth_a_size_and_a_number_of_keys(self) -> None:
        deep: dict[str, object] = {"a": [{"b": [{"c": [{"d": []}]}]}]}  # eight of them
        wide = {"outer": {str(n): n for n in range(63)}}
        long = {"a": "é" * 7990}
        for fits in (deep, wide, long):
            assert message({"content": "Hi", "metadata": fits}).metadata == fits
        endless: dict[str, object] = {}
        endless["again"] = endless
        for wrong, told in (
            ({"x": deep}, "metadata is nested more than 8 deep"),
            ({"x": json.loads("[" * 900 + "]" * 900)}, "metadata is nested more than 8 deep"),
            (endless, "metadata is nested more than 8 deep"),
            ({"x": 1, **wide}, "metadata has more than 64 keys, those of inner objects included"),
            ({"a": "é" * 8000}, "metadata has 16,009 bytes as JSON; at most 16,000 are kept"),
        ):
            with pytest.raises(UsageError, match=told):
                message({"content": "Hi", "metadata": wrong})


class TestParts:
    def test_text_parts_are_joined(self) -> None:
        parts = [{"type": "text", "text": "Look:"}, "at this", {"type": "output_text", "text": "now"}]
        assert message({"content": parts}).text == "Look:\nat this\nnow"

    @pytest.mark.parametrize(
        ("part", "expected"),
        [
            (
                {"type": "image_url", "image_url": {"url": "https://x.org/a/cat%20nap.png?s=1"}},
                "[image: cat nap.png]",
            ),
            ({"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}, "[image]"),
            ({"type": "input_image", "image_url": "https://x.org/b.jpg"}, "[image: b.jpg]"),
            (
                {"type": "image_url", "image_url": {"url": "data:,"}, "caption": "a [red] kite"},
                "[image: a (red) kite]",
            ),
            ({"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}}, "[audio]"),
            (
                {"type": "input_audio", "input_audio": {"data": "A", "transcript": "see you"}},
                "[audio: see you]",
            ),
            ({"type": "file", "file": {"filename": "lease.pdf", "file_data": "AAAA"}}, "[file: lease.pdf]"),
            ({"type": "input_file", "filename": "lease.pdf"}, "[file: lease.pdf]"),
            (
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA"}},
                "[image]",
            ),
            ({"type": "document", "title": "Lease", "source": {"data": "AA"}}, "[file: Lease]"),
            ({"inline_data": {"mime_type": "video/mp4", "data": "AA"}}, "[video]"),
            (
                {"type": "tool_use", "name": "weather", "input": {"city": "Faro"}},
                '[call: weather {"city": "Faro"}]',
            ),
            ({"type": "tool_result", "content": [{"type": "text", "text": "sunny"}]}, "sunny"),
            ({"type": "refusal", "refusal": "I cannot."}, "I cannot."),
        ],
    )
    def test_other_parts_become_a_caption_or_a_name(self, part: dict[str, object], expected: str) -> None:
        assert message({"content": [part]}).text == expected

    def test_thinking_is_not_said(self) -> None:
        parts = [{"type": "thinking", "thinking": "hm", "text": "hm"}, {"type": "text", "text": "Yes."}]
        assert message({"content": parts}).text == "Yes."

    def test_an_assistant_that_only_calls_a_tool_is_not_empty(self) -> None:
        call = {"id": "c1", "type": "function", "function": {"name": "book", "arguments": '{"seats": 2}'}}
        told = message({"role": "assistant", "content": None, "tool_calls": [call]})
        assert told.text == '[call: book {"seats": 2}]'

    @pytest.mark.parametrize(
        ("media", "expected"),
        [
            ("a grey cat", "Look [image: a grey cat]"),
            ({"caption": "a grey cat"}, "Look [image: a grey cat]"),
            (
                [{"name": "plan.pdf"}, {"url": "https://x.org/song.mp3"}],
                "Look [file: plan.pdf] [audio: song.mp3]",
            ),
            (
                [{"caption": "a talk", "type": "video"}, "and\n a dog"],
                "Look [video: a talk] [image: and a dog]",
            ),
            ([], "Look"),
            ([3, None], "Look"),
        ],
    )
    def test_media_stand_after_the_words(self, media: object, expected: str) -> None:
        assert message({"content": "Look", "media": media}).text == expected

    def test_media_alone_are_enough(self) -> None:
        assert message({"media": "a grey cat"}).text == "[image: a grey cat]"

    def test_bytes_never_reach_the_text(self) -> None:
        part = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 10_000_000}}
        assert message({"content": [part]}).text == "[image]"

    def test_parts_within_parts_end_somewhere(self) -> None:
        part: object = {"type": "text", "text": "deep"}
        for _ in range(2000):
            part = {"type": "tool_result", "content": [part]}
        assert as_text(part) == ""
        assert caption(part) == "[file]"


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=12,
)
parts = st.fixed_dictionaries(
    {},
    optional={
        key: json_values
        | st.sampled_from(["text", "image_url", "file", "input_audio", "tool_use", "tool_result"])
        for key in (
            "type",
            "text",
            "image_url",
            "file",
            "source",
            "content",
            "caption",
            "name",
            "url",
            "input",
        )
    },
)
raw_messages = st.fixed_dictionaries(
    {},
    optional={
        "role": st.sampled_from(["user", "ai", "wizard"]) | json_values,
        "content": json_values | st.lists(parts | json_values, max_size=4),
        "name": json_values,
        "timestamp": json_values | st.datetimes() | st.integers(-(10**18), 10**18).map(float),
        "zone": st.sampled_from(["UTC", "Asia/Tokyo", "Europe"]) | json_values,
        "id": json_values,
        "session": json_values,
        "metadata": json_values,
        "media": json_values | st.lists(parts, max_size=3),
        "tool_calls": json_values | st.lists(parts, max_size=3),
    },
)


@given(raw_messages | json_values)
@settings(max_examples=150, deadline=None)
def test_any_json_becomes_a_sound_message_or_a_usage_error(raw: object) -> None:
    is_sound_or_refused(raw)


@pytest.mark.long
@given(raw_messages | json_values)
@settings(max_examples=3000, deadline=None)
def test_any_json_of_thousands_becomes_a_sound_message_or_a_usage_error(raw: object) -> None:
    is_sound_or_refused(raw)


def is_sound_or_refused(raw: object) -> None:
    try:
        told = message(raw)  # type: ignore[arg-type]
    except UsageError as error:
        assert "\n" not in str(error)
        return
    assert told.text.strip()
    assert "\x00" not in told.text
    told.text.encode()
    assert told.said_at is None or told.said_at.utcoffset() is not None  # in the zone that it was given in
    assert message(told) == told


def test_the_limit_is_written_once() -> None:
    assert turns.LARGEST_TEXT == 5_000_000
