"""Answers in words."""

from __future__ import annotations

from dataclasses import KW_ONLY
from typing import Annotated

from pydantic import Field

from everwhen.api.operations.base import Operation, Spec, operation
from everwhen.api.operations.fields import Label, Model, Moment, RecipeField, Text
from everwhen.types import Answer, Usage
from everwhen.types.agent_recipe import AgentRecipe


@operation
class Ask(Operation[Answer]):
    """The answer to a question with the turns that bear it out, or an honest "I don't know".

    `at` is the moment of asking (now), `as_of` bounds what had been said by then. `model` (such as
    `openai:gpt-5-mini`) answers with tools over this bank; without one, and without the setting `llm`, the answer
    is extractive: words, dates and counts of the memory itself. `model="none"` is extractive whatever is set.
    `recipe` leaves out stages of a model's answer; `session` is the conversation that the question belongs to,
    the last turns of which a model is shown.
    """

    spec = Spec("POST /ask")
    question: Annotated[Text, Field(examples=["When did Ana move to Porto?"])]
    _: KW_ONLY
    at: Annotated[Moment | None, Field(description="The moment of asking.")] = None
    as_of: Annotated[Moment | None, Field(description="What had been said by then.")] = None
    model: Annotated[
        Model | None, Field(description="`none`, or the server's own when left out.", examples=["none"])
    ] = None
    recipe: Annotated[AgentRecipe | None, RecipeField("answer")] = None
    session: Label | None = None


@operation
class ModelUsage(Operation[Usage]):
    """What language models took in this bank so far, extraction included; of money, what is known."""

    spec = Spec("GET /usage", runs="quick")
