"""Recipes as objects: the fields and defaults are the library's, the bounds those of a request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import fields
from functools import cache, reduce
from operator import or_
from typing import Annotated, Any, cast, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, create_model

from everwhen.api.operations.base import WHOLE, OneOf
from everwhen.types import KINDS
from everwhen.types.answers import TOOLS, AgentRecipe
from everwhen.types.recall import CHANNELS, Recipe

BOUNDS: Mapping[str, tuple[float, float]] = {
    "candidates": (1, 1000),
    "min_similarity": (-1, 1),
    "rrf_k": (0, 1000),
    "rerank_weight": (0, 100),
    "read": (0, 100),
    "satf_anchors": (1, 1000),
    "satf_sigma": (0.001, 100_000),
    "satf_alpha": (0, 1000),
    "satf_gamma": (0, 1),
    "expand": (0, 20),
    "graph_seeds": (0, 1000),
    "graph_seed_similarity": (-1, 1),
    "graph_similarity": (-1, 1),
    "graph_decay": (0, 1),
    "graph_stop": (0, 1),
    "graph_share": (1, 1000),
    "min_edge": (0, 1),
    "entity_fan_out": (0, 1000),
    "temporal_similarity": (-1, 1),
    "temporal_decay": (0, 1),
    "tree_lambda": (0, 1),
    "tree_leaves": (1, 1000),
    "kept": (1, 200),
    "around": (0, 10),
}
"""A number of a recipe without bounds is not for requests."""
AMONG = {"channels": CHANNELS, "kinds": KINDS, "tools": TOOLS}
RECIPES: Mapping[str, tuple[type, str]] = {
    "recall": (Recipe, "How a recall is put together; what is left out is as in the default recipe."),
    "answer": (AgentRecipe, "How an answer is put together; what is left out is as in the full recipe."),
}


def read_recipe(of: str, given: Mapping[str, Any]) -> Any:
    """The recipe that an object describes."""
    checked = _body(of).model_validate_json(json.dumps(dict(given), allow_nan=False)).model_dump()
    return RECIPES[of][0](**{k: tuple(one) if isinstance(one, list) else one for k, one in checked.items()})


def recipe_schema(of: str) -> dict[str, Any]:
    """What such an object may hold."""
    return _body(of).model_json_schema()


@cache
def _body(of: str) -> type[BaseModel]:
    recipe, description = RECIPES[of]
    hints = get_type_hints(recipe)
    made = {
        one.name: (
            _field(one.name, hints[one.name]),
            list(cast("tuple[str, ...]", one.default)) if one.name in AMONG else one.default,
        )
        for one in fields(recipe)
        if hints[one.name] not in (int, float) or one.name in BOUNDS
    }
    config = ConfigDict(extra="forbid", strict=True)
    return create_model(recipe.__name__, __config__=config, __doc__=description, **made)  # type: ignore[call-overload, no-any-return]


def _field(name: str, hint: Any) -> Any:
    least, most = BOUNDS.get(name, (None, None))
    if name in AMONG:
        return Annotated[list[Annotated[str, OneOf(AMONG[name])]], Field(max_length=len(AMONG[name]))]
    if hint is str:
        return Annotated[str, StringConstraints(max_length=100)]
    if hint is int:
        return Annotated[int, Field(ge=least, le=most), WHOLE]
    if hint is float:
        return Annotated[float, Field(ge=least, le=most)]
    if name in BOUNDS and get_args(hint):  # SATF's numbers may be left out, and one may be a word
        return reduce(or_, (_field(name, one) if one in (int, float) else one for one in get_args(hint)))
    return hint
