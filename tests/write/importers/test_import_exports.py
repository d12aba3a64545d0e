"""What people download of their own chats: ChatGPT's tree and Claude's list."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from everwhen.errors import UsageError
from everwhen.types import Message
from everwhen.write.importers.files import read


def _read(path: Path, chats: Any) -> tuple[str, list[Message]]:
    path.write_text(json.dumps(chats))
    (conversation,) = read(path)
    assert list(conversation.messages) == list(conversation.messages)
    return conversation.name, list(conversation.messages)


def _node(key: str, parent: str | None, role: str = "user", *parts: Any, **changes: Any) -> dict[str, Any]:
    message = {
        "id": key,
        "author": {"role": role, "name": "dalle" if role == "tool" else None},
        "create_time": changes.pop("create_time", 1746712560.5),
        "content": changes.pop("content", {"content_type": "text", "parts": list(parts)}),
        "recipient": "all",
        "weight": 1,
        "metadata": {},
        **changes,
    }
    return {"id": key, "message": message, "parent": parent, "children": []}


def _chat(*nodes: dict[str, Any], **changes: Any) -> dict[str, Any]:
    mapping = {"root": {"id": "root", "message": None, "parent": None, "children": []}}
    for node in nodes:
        mapping[node["id"]] = node
        if node["parent"] in mapping:
            mapping[node["parent"]]["children"].append(node["id"])
    return {
        "title": "Kites",
        "create_time": 1746712500.0,
        "conversation_id": "chat-1",
        "mapping": mapping,
        "current_node": nodes[-1]["id"] if nodes else "root",
        **changes,
    }


class TestChatGPT:
    def test_chats_are_sessions_of_one_conversation(self, tmp_path: Path) -> None:
        one = _chat(_node("a", "root", "user", "How do kites fly?"), _node("b", "a", "assistant", "Lift."))
        two = _chat(_node("c", "root", "user", "Hi"), conversation_id=None, id="chat-2", title=None)
        name, told = _read(tmp_path / "conversations.json", [one, two])
        assert name == "chatgpt"
        assert [(one.id, one.session, one.role, one.text) for one in told] == [
            ("a", "chat-1", "user", "How do kites fly?"),
            ("b", "chat-1", "assistant", "Lift."),
            ("c", "chat-2", "user", "Hi"),
        ]
        assert told[0].said_at == datetime(2025, 5, 8, 13, 56, 0, 500_000, tzinfo=UTC)
        assert told[0].metadata == {"title": "Kites"}
        assert told[2].metadata == {}

    def test_only_the_path_that_is_shown_is_read(self, tmp_path: Path) -> None:
        chat = _chat(
            _node("a", "root", "user", "first wording"),
            _node("b", "a", "assistant", "first answer"),
            _node("a2", "root", "user", "edited wording"),
            _node("b2", "a2", "assistant", "regenerated away"),
            _node("b3", "a2", "assistant", "kept"),
        )
        assert [one.text for one in _read(tmp_path / "c.json", [chat])[1]] == ["edited wording", "kept"]

    def test_without_a_current_node_the_newest_leaf_leads(self, tmp_path: Path) -> None:
        chat = _chat(
            _node("a", "root", "user", "question"),
            _node("new", "a", "assistant", "newer", create_time=1746712570.0),
            _node("old", "a", "assistant", "older", create_time=1746712561.0),
            current_node=None,
        )
        assert [one.text for one in _read(tmp_path / "c.json", [chat])[1]] == ["question", "newer"]

    def test_a_tree_that_bites_its_tail_ends(self, tmp_path: Path) -> None:
        chat = _chat(_node("a", "b", "user", "one"), _node("b", "a", "assistant", "two"))
        assert [one.text for one in _read(tmp_path / "c.json", [chat])[1]] == ["one", "two"]

    def test_what_is_not_said_to_the_person_is_left_out(self, tmp_path: Path) -> None:
        steps = [
            _node("0", "root", "system", "You are helpful."),
            _node("1", "0", "user", "hidden", metadata={"is_visually_hidden_from_conversation": True}),
            _node("2", "1", "user", "What is 6 x 7?"),
            _node(
                "3", "2", "assistant", content={"content_type": "thoughts", "thoughts": [{"content": "hm"}]}
            ),
            _node("4", "3", "assistant", recipient="python", content={"content_type": "code", "text": "6*7"}),
            _node("5", "4", "tool", content={"content_type": "execution_output", "text": "42"}),
            _node("6", "5", "tool", content={"content_type": "tether_quote", "text": "a page"}),
            _node("7", "6", "assistant", ""),
            _node("8", "7", "assistant", "dropped", weight=0),
            _node("9", "8", "assistant", "It is 42."),
        ]
        told = _read(tmp_path / "c.json", [_chat(*steps)])[1]
        assert [(one.role, one.speaker, one.text) for one in told] == [
            ("user", "user", "What is 6 x 7?"),
            ("tool", "dalle", "42"),
            ("assistant", "assistant", "It is 42."),
        ]

    def test_pictures_sounds_and_files_become_words(self, tmp_path: Path) -> None:
        picture = {"content_type": "image_asset_pointer", "asset_pointer": "file-service://file-1"}
        painted = {**picture, "asset_pointer": "x://y", "metadata": {"dalle": {"prompt": "a kite at dusk"}}}
        spoken = [
            {"content_type": "audio_transcription", "text": "Can you hear me?"},
            {"content_type": "audio_asset_pointer", "asset_pointer": "sediment://file-2"},
        ]
        files = [{"id": "file-1", "name": "beach.png"}, {"id": "file-3", "name": "lease.pdf"}]
        steps = [
            _node("1", "root", content=_several(picture, "Where is it?"), metadata={"attachments": files}),
            _node("2", "1", "tool", content=_several(painted)),
            _node("3", "2", content=_several(*spoken)),
            _node("4", "3", content=_several(picture)),
        ]
        assert [one.text for one in _read(tmp_path / "c.json", [_chat(*steps)])[1]] == [
            "[image: beach.png]\nWhere is it?\n[file: lease.pdf]",
            "[image: a kite at dusk]",
            "Can you hear me?",
            "[image]",
        ]

    def test_a_message_without_a_time_stands_where_the_one_before_it_does(self, tmp_path: Path) -> None:
        chat = _chat(
            _node("a", "root", "user", "one", create_time=None),
            _node("b", "a", "assistant", "two"),
            _node("c", "b", "user", "three", create_time=None),
        )
        told = _read(tmp_path / "c.json", [chat])[1]
        assert [one.said_at.second for one in told if one.said_at] == [0, 0, 0]
        assert told[0].said_at == datetime(2025, 5, 8, 13, 55, tzinfo=UTC)
        assert told[2].said_at == told[1].said_at

    def test_a_broken_chat_is_told_with_its_place(self, tmp_path: Path) -> None:
        with pytest.raises(UsageError, match="chat 1: 'mapping' should be an object"):
            _read(tmp_path / "c.json", [_chat(), {"mapping": []}])


def _several(*parts: Any) -> dict[str, Any]:
    return {"content_type": "multimodal_text", "parts": list(parts)}


class TestClaude:
    def _message(self, key: str, sender: str, text: str, **changes: Any) -> dict[str, Any]:
        return {
            "uuid": key,
            "sender": sender,
            "text": text,
            "content": [{"type": "text", "text": text}],
            "created_at": "2025-05-08T13:56:00.123456Z",
            "attachments": [],
            "files": [],
            **changes,
        }

    def test_chats_are_sessions_of_one_conversation(self, tmp_path: Path) -> None:
        chats = [
            {"uuid": "chat-1", "name": "Kites", "chat_messages": [self._message("a", "human", "Hi")]},
            {"uuid": "chat-2", "name": "", "chat_messages": [self._message("b", "assistant", "Hello")]},
        ]
        name, told = _read(tmp_path / "conversations.json", chats)
        assert name == "claude"
        assert [(one.id, one.session, one.role, one.text, one.metadata) for one in told] == [
            ("a", "chat-1", "user", "Hi", {"title": "Kites"}),
            ("b", "chat-2", "assistant", "Hello", {}),
        ]
        assert told[0].said_at == datetime(2025, 5, 8, 13, 56, 0, 123_456, tzinfo=UTC)

    def test_text_blocks_win_over_the_flat_text_and_files_go_by_name(self, tmp_path: Path) -> None:
        blocks = [
            {"type": "thinking", "thinking": "hm"},
            {"type": "text", "text": "One."},
            {"type": "tool_use", "name": "search", "input": {}},
            {"type": "text", "text": "Two."},
        ]
        messages = [
            self._message("a", "assistant", "One. This block is not supported. Two.", content=blocks),
            self._message("b", "human", "Flat only", content=[]),
            self._message("c", "human", "", files=[{"file_name": "kite.png"}]),
            self._message(
                "d", "human", "Read", attachments=[{"file_name": "a.pdf", "extracted_content": "long"}]
            ),
            self._message("e", "human", ""),
        ]
        told = _read(tmp_path / "c.json", [{"uuid": "u", "chat_messages": messages}])[1]
        assert [one.text for one in told] == [
            "One.\nTwo.",
            "Flat only",
            "[image: kite.png]",
            "Read\n[file: a.pdf]",
        ]

    def test_missing_ids_and_times_are_made_up_in_one_way_only(self, tmp_path: Path) -> None:
        messages = [self._message("", "human", "Hi", created_at=None), self._message("", "human", "there")]
        chat = {"name": "Kites", "created_at": "2025-05-08T13:00:00Z", "chat_messages": messages}
        told = _read(tmp_path / "c.json", [chat])[1]
        assert [one.id for one in told] == ["Kites@2025-05-08T13:00:00Z:0", "Kites@2025-05-08T13:00:00Z:1"]
        assert told[0].said_at == datetime(2025, 5, 8, 13, tzinfo=UTC)

    def test_an_unknown_sender_is_told_with_its_place(self, tmp_path: Path) -> None:
        chats = [{"uuid": "u", "chat_messages": [self._message("a", "ghost", "Boo")]}]
        with pytest.raises(UsageError, match="chat 0, message 0: unknown role 'ghost'"):
            _read(tmp_path / "c.json", chats)
