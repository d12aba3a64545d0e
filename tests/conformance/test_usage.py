"""What models took, kept by the store."""

from __future__ import annotations

import pytest

from everwhen.store.sql.store import Store
from everwhen.types import Usage
from tests.conformance.conftest import Reopen


def test_a_new_bank_has_used_nothing(store: Store) -> None:
    assert store.graph.usage() == Usage()


def test_what_models_took_adds_up_and_stays(reopen: Reopen) -> None:
    store = reopen()
    store.graph.note_usage("answer", "openai:a", Usage(2, 100, 10, 0.5))
    store.graph.note_usage("guidance", "ollama:b", Usage(1, 20, 5, None))
    store.graph.note_usage("answer", "openai:a", Usage(1, 1, 1, 0.25))
    for one in (store, reopen()):
        used = one.graph.usage()
        assert (used.requests, used.input_tokens, used.output_tokens) == (4, 121, 16)
        assert used.cost == pytest.approx(0.75)
