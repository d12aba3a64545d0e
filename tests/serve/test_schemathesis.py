"""The description of the API against the server itself: schemathesis makes requests of all kinds from it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from everwhen.serve.server_settings import ServerSettings
from tests.serve.api_description import api_description
from tests.serve.conftest import Served, serving

schemathesis = pytest.importorskip("schemathesis")

BEYOND_A_SCHEMA = re.compile(
    "ends before it starts|unknown LLM|the fact would end|"
    "is empty|the window is empty|must lie after|cursor: this is no cursor|unknown zone|"
    "used for another request|(history|known_at): |outside the years|has no zone|the text is empty|"
    "messages is empty|unknown role|timestamp|needs 'content'|not a regular expression|keep |has no zone|"
    "there is no such time|metadata must|a message is|part|half-life|"
    "in capitals alone|"
    "If-Match: |forget what|there is no level|no rule of retention|the rule speaks of|summaries would be|"
    "is no time|has no beginning|is one instant|"
    "not both|offset: |is no export of a bank|the import, line|first line of the import|the import (ends|is)"
)
"""What a schema cannot say, and the library refuses all the same: relations between fields, names of zones."""

TIMES = st.sampled_from(["last Friday", "in May 2024", "2025-03-14", "now", "next week"]) | st.datetimes(
    timezones=st.timezones() | st.none()
).map(lambda at: at.isoformat())
schemathesis.openapi.format("date-time-or-expression", TIMES)

REFUSALS = {
    "negative_data_rejection": {
        "expected-statuses": [400, 401, 403, 404, 405, 406, 409, 415, 422, 428, 429, 431]
    }
}
"""An address that is far too long is refused before anybody reads it: 431."""

api = schemathesis.openapi.from_dict(
    api_description(),
    config=schemathesis.Config.from_dict({"phases": {"coverage": {"enabled": False}}, "checks": REFUSALS}),
)
"""Requests that are made up; `test_schemathesis_long.py` has those that come from each field's bounds too."""


@pytest.fixture(scope="module")
def fuzzed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Served, str]]:
    """One server for all routes, with a bank that holds something; and a key that may do everything."""
    home: Path = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EVERWHEN_EMBEDDER", "fake")
        patch.setenv("EVERWHEN_READER", "none")
        patch.setenv("EVERWHEN_CACHE_ENTRIES", "0")
        with serving(replace(ServerSettings(home), rate=1e6, burst=10**6)) as served:
            with served.client() as http:
                http.post("/banks/ana/turns", json={"messages": "I moved to Porto last week."})
                http.post(
                    "/banks/ana/facts", json={"subject": "Ana", "predicate": "lives in", "object": "Porto"}
                )
            yield served, served.key("admin")


def requests(examples: int) -> settings:
    """So many that are made up for each route."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@api.parametrize()
@requests(3)
def test_every_route_does_what_its_description_says(case: Any, fuzzed: tuple[Served, str]) -> None:
    described(case, *fuzzed)


def described(case: Any, served: Served, key: str) -> None:
    answer = case.call_and_validate(
        base_url=served.url,
        headers={"Authorization": f"Bearer {key}"},
        # Held below, with the sentence that was given.
        excluded_checks=[schemathesis.checks.positive_data_acceptance],
    )
    if answer.status_code == 422 and case.meta is not None and case.meta.generation.mode.is_positive:
        assert BEYOND_A_SCHEMA.search(answer.json()["detail"]), answer.text
