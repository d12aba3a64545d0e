"""Other languages: common expressions as intervals, never a guessed day; dateparser held to its word."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, datetime

import pytest

from everwhen.bench.timex import days
from everwhen.when import resolve
from tests.when.test_docs_time import language_rows

NOW = datetime(2023, 5, 10, 12, tzinfo=UTC)


@pytest.mark.parametrize(("code", "text", "wanted"), language_rows(), ids=[row[1] for row in language_rows()])
def test_a_row_of_the_language_table_holds(code: str, text: str, wanted: str) -> None:
    for languages in (None, (code,)):
        found = [days(ref.interval) for ref in resolve(text, NOW, languages=languages) if ref.interval]
        assert ["/".join(side or ".." for side in pair) for pair in found] == [wanted]


def test_every_promised_language_has_rows() -> None:
    assert {row[0] for row in language_rows()} == {"de", "es", "fr", "it", "pt", "nl", "zh", "ja"}


def test_a_language_that_was_not_asked_for_is_not_read() -> None:
    assert resolve("Das war gestern.", NOW, languages=("en",)) == []
    assert resolve("We met yesterday.", NOW, languages=("de",)) == []


def test_an_abbreviated_month_goes_to_dateparser_with_its_language() -> None:
    (found,) = resolve("Il est né le 12 févr. 1999.", NOW, languages=("fr",))
    assert found.rule == ("dateparser",)
    assert found.interval is not None and days(found.interval) == ("1999-02-12", "1999-02-13")


def test_a_further_language_can_be_named_by_the_caller() -> None:
    (found,) = resolve("Han blev født 12 maj 1999.", NOW, languages=("da",))
    assert found.interval is not None and days(found.interval) == ("1999-05-12", "1999-05-13")


def test_dateparser_still_answers_as_we_rely_on() -> None:
    """Public interface only: a change of it fails here, not in somebody's memory."""
    from dateparser.date import DateDataParser

    settings = {"REQUIRE_PARTS": ["day", "month"], "PARSERS": ["absolute-time"], "DATE_ORDER": "DMY"}
    data = DateDataParser(languages=["fr"], settings=settings).get_date_data("12 févr. 1999")
    assert (data.date_obj, data.period) == (datetime(1999, 2, 12), "day")
    assert DateDataParser(languages=["fr"], settings=settings).get_date_data("février 1999").date_obj is None


def test_plain_english_loads_neither_dateparser_nor_holidays() -> None:
    program = (
        "import sys, datetime; from everwhen.when import constraint, resolve;"
        "now = datetime.datetime(2023, 5, 10, tzinfo=datetime.UTC);"
        "assert resolve('We met last Friday and on Christmas 2021.', now);"
        "assert constraint('What did I do before Easter?', now);"
        "loaded = {'dateparser', 'holidays', 'spacy', 'numpy'} & set(sys.modules);"
        "assert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
