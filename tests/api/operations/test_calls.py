"""Operations are called as functions are, also wrongly."""

from __future__ import annotations

import pytest

from everwhen import Memory
from everwhen.api.client import AsyncClient


def test_an_argument_that_nobody_takes_is_told_as_of_a_function_with_those_that_it_takes() -> None:
    wrong = r"^add\(\): got an unexpected keyword argument 'speaker'; it takes messages; by name session, at, zone"
    with Memory.open(embedder="fake", reader="none") as memory:
        with pytest.raises(TypeError, match=wrong):
            memory.add("I live in Leeds.", speaker="Ana")  # type: ignore[call-arg]
        with pytest.raises(TypeError, match=r"^recall\(\): missing a required argument: 'query'"):
            memory.recall()  # type: ignore[call-arg]
        with pytest.raises(
            TypeError, match=r"^recall\(\): too many positional arguments; it takes query; by name "
        ):
            memory.recall("a", "b", "c")  # type: ignore[misc]
        with pytest.raises(TypeError, match=wrong):
            AsyncClient("http://localhost").add("I live in Leeds.", speaker="Ana")  # type: ignore[call-arg]
        with pytest.raises(TypeError, match=r"^ask_stream\(\): got an unexpected keyword argument 'who'"):
            memory.ask_stream("Where do I live?", who="Ana")  # type: ignore[call-arg]
