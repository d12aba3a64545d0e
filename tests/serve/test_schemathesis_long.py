"""The description of the API against the server, with each bound and each wrong type of each field of each route.

All these requests are made up when the file is collected, so `make test` does not even look at it (`conftest.py`).
"""

from __future__ import annotations

from typing import Any

import pytest

from tests.serve.api_description import api_description
from tests.serve.conftest import Served
from tests.serve.test_schemathesis import described, fuzzed, requests, schemathesis  # noqa: F401

api = schemathesis.openapi.from_dict(api_description())


@pytest.mark.long
@api.parametrize()
@requests(10)
def test_every_route_does_so_for_hundreds_of_requests(case: Any, fuzzed: tuple[Served, str]) -> None:  # noqa: F811
    described(case, *fuzzed)
