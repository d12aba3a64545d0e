"""Answers in words."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated

from everwhen.api.operations.arguments import Help, Label, Model, Moment, OpenModel, Recipes, Text
from everwhen.api.operations.base import Operation, Spec
from everwhen.api.operations.frozen import frozen
from everwhen.types import Answer, Time, Usage
from everwhen.types.agent_recipe import AgentRecipe


@frozen
class Ask(Operation[Answer]):
    """The answer to a question with the turns that bear it out, or an honest "I don't know".

    `at` is the moment of asking (now), `as_of` bounds what had been said by then. `model` (such as
    `openai:gpt-5-mini`) answers with tools over this bank; without one, and without the setting `llm`, the answer
    is extractive: words, dates and counts of the memory itself. `model="none"` is extractive whatever is set.
    `recipe` leaves out stages of a model's answer; `session` is the conversation that the question belongs to,
    the last turns of which a model is shown.
    """

    spec = Spec("POST /ask")
    question: Annotated[str, Text(), Help(example="When did Ana move to Porto?")]
    _: KW_ONLY
    at: Annotated[Time | None, Moment(), Help("The moment of asking.")] = None
    as_of: Annotated[Time | None, Moment(), Help("What had been said by then.")] = None
    model: Annotated[
        str | OpenModel | None, Model(), Help("`none`, or the server's own when left out.", "none")
    ] = None
    recipe: Annotated[AgentRecipe | None, Recipes("recipe", of="answer")] = None
    session: Annotated[str | None, Label()] = None


@frozen
class ModelUsage(Operation[Usage]):
    """What language models took in this bank so far, extraction included; of money, what is known."""

    spec = Spec("GET /usage", runs="quick")
