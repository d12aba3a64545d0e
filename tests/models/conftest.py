"""These tests are about the models: nothing is kept of what they gave."""

import pytest


@pytest.fixture(autouse=True)
def _run_each_time(networks_run: None) -> None:
    pass
