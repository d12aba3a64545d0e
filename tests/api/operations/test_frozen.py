"""Operations are values: set once, equal when their arguments are."""

from __future__ import annotations

import copy
import pickle
from dataclasses import FrozenInstanceError, replace

import pytest

from everwhen.api.operations.questions import Compare, When


def test_an_operation_is_set_once() -> None:
    asked = When("when did Ana move")
    with pytest.raises(FrozenInstanceError):
        asked.query = "x"  # type: ignore[misc]
    with pytest.raises(AttributeError):
        asked.other = "x"  # type: ignore[attr-defined]


def test_operations_with_the_same_arguments_are_equal() -> None:
    asked = When("x", at="2025-03-14")
    assert asked == When("x", at="2025-03-14") != When("x") and asked != Compare("x", "x")
    assert hash(asked) == hash(When("x", at="2025-03-14"))
    assert replace(asked, at=None) == When("x")
    assert pickle.loads(pickle.dumps(asked)) == copy.deepcopy(asked) == asked
    assert repr(asked) == "When(as_of=None, known_at=None, query='x', at='2025-03-14', between=None)"
