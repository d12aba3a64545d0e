"""The description of the API, made once a process: that takes most of a second."""

from __future__ import annotations

from functools import cache
from typing import Any

from everwhen.serve.app import openapi_document


@cache
def api_description() -> dict[str, Any]:
    """OpenAPI of all routes; tests only read it."""
    return openapi_document()
