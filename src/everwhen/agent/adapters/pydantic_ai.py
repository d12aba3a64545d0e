"""The tools as a toolset of pydantic-ai's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from everwhen.models.llm.base import LLMError
from everwhen.models.llm.providers import EXTRA

if TYPE_CHECKING:
    from pydantic_ai.toolsets import FunctionToolset

    from everwhen.agent.tools.base import Toolbox


def toolset(tools: Toolbox) -> FunctionToolset[Any]:
    """A toolset whose tools take their arguments as the model gives them: what is wrong comes back as data."""
    try:
        from pydantic_ai import Tool
        from pydantic_ai.toolsets import FunctionToolset
    except ImportError as error:
        raise LLMError("extra", f"a pydantic-ai toolset needs pydantic-ai: {EXTRA}") from error

    def made(name: str, description: str, schema: dict[str, Any]) -> Tool[Any]:
        def call(**arguments: Any) -> str:
            return tools.call(name, arguments)

        return Tool.from_schema(call, name, description, schema)

    return FunctionToolset(
        [made(one.name, one.description, dict(one.parameters)) for one in tools.offered()], id="everwhen"
    )
