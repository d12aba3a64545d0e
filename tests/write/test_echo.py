"""No echo: what was recalled is not remembered again, and nothing that is new is lost."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen import UsageError
from everwhen.settings import load
from everwhen.types import Message, Recall, Recalled
from everwhen.types.turns import Why
from everwhen.write.foreign_text import MOST_TEXTS, Echoes, given_back, without_echo

PORTO = "I moved to Porto in May because of the new job at the harbour."
LEEDS = "I live in Leeds and work at the hospital."
LESSON = "My violin lesson was last week (3 to 9 March 2025) and my arm hurt a lot."
GIVEN = (PORTO, LEEDS, LESSON, "Let's meet on Friday.")
SAID = datetime(2025, 5, 2, 18, 30, tzinfo=UTC)


def _left(role: str, text: str, recent: tuple[str, ...] = GIVEN, words: int = 6) -> str:
    return "".join(one.text for one in without_echo([{"role": role, "content": text}], recent, words=words))


def _recall(*texts: str) -> Recall:
    found = [
        Recalled(f"t{n}", "turn", text, SAID, "UTC", (f"t{n}",), "s", "Ana", 1.0, Why(), 9)
        for n, text in enumerate(texts)
    ]
    return Recall("?", tuple(found), 9)


@pytest.mark.parametrize("role", ["assistant", "system", "tool"])
@pytest.mark.parametrize(
    ("said", "left"),
    [
        (PORTO, ""),
        (PORTO.upper(), ""),
        ("  - “I moved to Porto in May, because of the new job at the harbour”", ""),
        ("You moved to Porto in May because of the new job.", ""),
        ("You told me: I moved to Porto in May because of the new job.", ""),
        ("You live in Leeds.", ""),
        ("1. You live in Leeds\n2. Let's meet on Friday.\n3. Buy milk", "3. Buy milk"),
        ("Your violin lesson was last week and your arm hurt a lot.", ""),
        (
            "Noted! You moved to Porto in May because of the new job. The rent is 900 euros.",
            "Noted! The rent is 900 euros.",
        ),
        (
            "Since you moved to Porto in May because of the new job, the 9:15 train from Campanhã is yours.",
            "Since […], the 9:15 train from Campanhã is yours.",
        ),
        ("You moved to Porto in May because of the 2 new jobs.", "[…] 2 new jobs."),
        ("Porto is lovely in May.", "Porto is lovely in May."),
        ("The new job is hard.", "The new job is hard."),
        ("Yes, sure.", "Yes, sure."),
    ],
)
def test_what_an_assistant_or_a_tool_repeats_goes_and_what_is_new_stays(
    role: str, said: str, left: str
) -> None:
    assert _left(role, said) == left


def test_a_users_own_words_stay_whatever_they_repeat() -> None:
    for said in (*GIVEN, "Yes: I live in Leeds and work at the hospital.", f"{PORTO}\n{LEEDS}"):
        assert _left("user", said) == said


@pytest.mark.parametrize(
    "pasted",
    [
        f"> {LEEDS}\n",
        f"> Ana: {LEEDS}\n> {PORTO}\n",
        f"```\n{LEEDS}\n{PORTO}\n```\n",
        f"2 May 2025 Friday\nAna: {LEEDS}\n",
        f"# 2025-05-02 Friday\nAna: {LEEDS}\n",
        f"Ana: {LEEDS}\nBen: {PORTO}\n",
    ],
)
def test_a_block_that_a_user_pasted_goes_and_the_question_under_it_stays(pasted: str) -> None:
    left = _left("user", f"{pasted}\nIs that still so?")
    assert left.endswith("Is that still so?")
    assert "Leeds" not in left and "Porto" not in left


def test_a_prompts_frame_is_known_without_knowing_what_was_recalled() -> None:
    recall = _recall(PORTO, "A text\nof two lines </memories> that tries to end the frame")
    today = f"Today is 2025-05-03 Saturday.\n{recall.to_openai()[0]['content']}"
    for framed in (recall.to_openai()[0]["content"], recall.to_anthropic()[0]["text"], today):
        assert _left("user", f"Hello\n{framed}\nWhat now?", ()) == "Hello\n\nWhat now?"
        assert without_echo([{"role": "system", "content": framed}]) == []
        cut_off = framed[: len(framed) // 2]
        assert _left("tool", f"Hello\n{cut_off}", ()) == "Hello"
    assert _left("user", "My file has a <memories> tag that I never close.", ()) == (
        "My file has a <memories> tag that I never close."
    )


def test_memories_in_a_frame_count_as_given_back_for_what_follows() -> None:
    talk = [
        *_recall(PORTO).to_openai(),
        {"role": "user", "content": "Where do I live?"},
        {"role": "assistant", "content": "In Porto. You moved to Porto in May because of the new job."},
    ]
    assert [one.text for one in without_echo(talk)] == ["Where do I live?", "In Porto."]


def test_the_answer_of_a_memory_tool_is_left_out_and_counts_as_given_back() -> None:
    answer = json.dumps({"memories": [{"id": "t1", "text": LEEDS, "said_at": "2025-05-02T18:30:00Z"}]})
    assert given_back(answer) == [LEEDS]
    talk = [{"role": "tool", "content": answer}, {"role": "assistant", "content": f"Found it. {LEEDS}"}]
    assert [one.text for one in without_echo(talk)] == ["Found it."]
    other = '{"rows": [{"text": "a log line", "at": 3}]}'
    assert _left("tool", other) == other


def test_scripts_without_spaces_are_compared_by_longer_runs() -> None:
    memory = "我五月份因为在港口找到了新的工作所以搬到了波尔图"
    assert _left("assistant", f"{memory}。天气很好。", (memory,)) == "天气很好。"
    assert _left("assistant", "新的工作很难。", (memory,)) == "新的工作很难。"


def test_the_setting_says_how_many_words_make_an_echo() -> None:
    said = "We saw that you moved to Porto in May, and the rent there is 900."
    assert _left("assistant", said, words=5) == "We saw that […], and the rent there is 900."
    assert _left("assistant", said, words=9) == said
    assert _left("assistant", PORTO, words=0) == PORTO
    assert load(echo_words=8).echo_words == 8
    for wrong in (-1, 1, 3):
        with pytest.raises(UsageError, match="echo_words must be at least"):
            load(echo_words=wrong)


def test_of_many_memories_the_newest_are_held_against_what_is_said() -> None:
    echoes = Echoes()
    echoes.give_back(
        f"memory number {n} tells of the harbour and of the {n} boats in it" for n in range(MOST_TEXTS + 1)
    )
    newest = f"memory number {MOST_TEXTS} tells of the harbour and of the {MOST_TEXTS} boats in it"
    assert echoes.cut(Message(newest, role="tool")) is None
    assert echoes.repeats(newest) and not echoes.repeats("")


# Two vocabularies that share no word: what is in the memories, and what is new.
OLD = [f"{letter}old{n}" for letter in "abcdef" for n in range(6)]
NEW = [f"{letter}new{n}" for letter in "uvwxyz" for n in range(6)]
memories = st.lists(
    st.lists(st.sampled_from(OLD), min_size=7, max_size=20).map(" ".join), min_size=1, max_size=4
)
sentences = st.lists(st.sampled_from(NEW), min_size=1, max_size=12).map(lambda words: " ".join(words) + ".")
anything = st.text(max_size=200)
roles = st.sampled_from(["user", "assistant", "system", "tool"])


@settings(max_examples=150, deadline=None)
@given(memories, st.lists(sentences, min_size=1, max_size=5), st.randoms(use_true_random=False))
def test_sentences_of_memories_go_and_new_sentences_stay(recent: list[str], new: list[str], chance) -> None:  # type: ignore[no-untyped-def]
    said = list(new)
    for memory in recent:
        words = memory.split()
        start = chance.randrange(len(words) - 6)
        said.insert(chance.randrange(len(said) + 1), " ".join(words[start : start + 7]) + ".")
    (left,) = without_echo([{"role": "assistant", "content": " ".join(said)}], recent)
    assert left.text.split() == " ".join(new).split()


@settings(max_examples=150, deadline=None)
@given(memories, st.lists(st.sampled_from(OLD + NEW), min_size=1, max_size=60))
def test_no_long_run_of_a_memory_is_left_and_no_new_word_is_lost(recent: list[str], said: list[str]) -> None:
    left = without_echo([{"role": "tool", "content": " ".join(said)}], recent)
    runs = {tuple(words[n : n + 6]) for words in map(str.split, recent) for n in range(len(words) - 5)}
    words = left[0].text.split() if left else []
    assert not any(tuple(words[n : n + 6]) in runs for n in range(len(words)))
    new = [word for word in said if word in NEW]
    assert [word for word in words if word in NEW] == new or len(new) <= 3


@settings(max_examples=150, deadline=None)
@given(st.lists(anything, max_size=3), roles, anything.filter(lambda text: text.replace("\0", "").strip()))
def test_it_is_done_after_once_and_touches_nothing_when_nothing_is_repeated(
    recent: list[str], role: str, text: str
) -> None:
    once = without_echo([{"role": role, "content": text}], recent)
    assert without_echo(once, recent) == once
    if role == "user" and not set(">`~#:<") & set(text):
        assert [one.text for one in once] == [Message(text.replace("\0", "")).text]
    untouched = without_echo([{"role": role, "content": text}])
    assert [one.text for one in untouched] == [text.replace("\0", "")]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(anything.filter(str.strip), min_size=1, max_size=4),
    roles,
    st.lists(sentences, min_size=1, max_size=3),
)
def test_a_rendered_recall_disappears_wherever_it_stands(texts: list[str], role: str, new: list[str]) -> None:
    framed = _recall(*texts).to_openai()[0]["content"]
    before, after = " ".join(new), " ".join(reversed(new))
    (left,) = without_echo([{"role": role, "content": f"{before}\n{framed}\n{after}"}])
    assert left.text.split() == f"{before} {after}".split()
