"""The registry of studies: what is there is found by name, and says what it asks."""

from __future__ import annotations

from pathlib import Path

import pytest

from everwhen.bench import studies
from everwhen.errors import NotFound


def test_every_study_says_what_it_asks() -> None:
    for name, asks in studies.names().items():
        assert asks.endswith((".", "?")), name


def test_a_study_that_is_not_there_is_refused_with_the_names_of_those_that_are(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="there are:"):
        studies.run("nothing", studies.Request(tmp_path))
