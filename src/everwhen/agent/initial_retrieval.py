"""Initial retrieval: what the model is shown before it calls any tool."""

from __future__ import annotations

from everwhen.agent.bank_view import BankView
from everwhen.agent.rendering import Label, turn_lines
from everwhen.agent.tools.base import result_lines


def initial(view: BankView, question: str, label: Label) -> tuple[str, int]:
    """The best turns for a question with one before and after each, grouped by session under date headers; how many
    were found (Chronos: 100 candidates, reranked, 15 kept)."""
    turns, found = view.search(question, None, view.recipe.kept)
    return result_lines("turns", turn_lines(turns, label, found), view.recipe.longest), len(found)
