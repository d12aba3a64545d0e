"""Input that nobody sends by accident twice: strategies for text, names, times and JSON of every bad kind."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

WORDS = ["violin", "kayak", "Porto", "Ana", "moved", "last week", "the", "yesterday", "in May", "ok"]
"""Words that the banks of a fuzz run hold, so that questions find something."""

ODD = [
    *("", " ", "\t\n", "\x00", "a\x00b", "\x1f", "\x7f", "\ufeff", "\u200b", "\u2028", "\r\n", "\u3000"),
    *("\ud800", "\udc00x", "\ud83d\ude00", "x\udfff", "\ufffd", "\ufffe", "\U0010ffff"),  # halves of characters
    *("e\u0301" * 30, "a" + "\u0300\u0316\u0334" * 40, "ﷺ", "ß", "İ", "ı", "ǅ", "ﬃ", "Å", "A\u030a"),
    *("\u202eabc\u202c", "שלום עולם", "مرحبا ١٢٣", "\u2066x\u2069", "👩‍👩‍👧‍👦", "🇵🇹", "👍🏽", "🛶" * 20),
    *("去年五月", "ｆｕｌｌ"),
    *("'", '"', '""', "';--", "' OR 1=1 --", '"); DROP TABLE turns; --', "1; ATTACH 'x' AS y", "\\", "\\'", "%", "_"),
    *("NEAR(", "NEAR(a b, 2)", "a AND", "NOT", "OR OR", "*", "vio*", "^violin", "-x", "+x", "text:violin", "{text}: x"),
    *("unit_fts", "text : violin", "(", ")", "((((", "]", "[a-", "(?P<", "a{1,99999}", "$(id)", "`id`", "{{7*7}}"),
    *("../../etc/passwd", "..", ".", "/", "a/b", "C:\\x", "%2e%2e%2f", "%00", "con", "nul", "~", "-", "--x", "x" * 129),
    *("<script>alert(1)</script>", "]]>", "&amp;", "\x1b[31m", "\x1b]0;x\x07", "= 1+1", "null", "true", "NaN", "1e999"),
    *("0", "-1", "9" * 400, "0x10", "1_000", "٣", "½", "2023-02-30", "2023-13-01T25:61:61Z", "9999-12-31"),
    *("P1Y", "../..", "2023-05-01/P1W", "P99999999Y", "every 0 days", "in the year 99999", "a" * 4000, "a b " * 1500),
]  # fmt: skip

_characters: SearchStrategy[str] = st.one_of(st.characters(), st.characters(codec="ascii"))
text: SearchStrategy[str] = st.one_of(
    st.text(max_size=60),
    st.text(_characters, max_size=40),
    st.sampled_from(ODD),
    st.lists(st.sampled_from(ODD + WORDS * 3), max_size=6).map(" ".join),
    st.lists(st.sampled_from(ODD + WORDS * 3), max_size=6).map("".join),
)
words: SearchStrategy[str] = st.lists(st.sampled_from(WORDS), min_size=1, max_size=8).map(" ".join)
instants = st.datetimes(datetime(1900, 1, 1), datetime(2150, 1, 1)).map(lambda at: at.replace(tzinfo=UTC))
stamps: SearchStrategy[Any] = st.one_of(
    instants.map(lambda at: at.isoformat()),
    st.sampled_from(
        ["2025-03-10T09:30:00Z", "2025-03-10", "2025-03-10T09:30:00+14:00", "0001-01-01T00:00:00+14:00"]
    ),
    st.integers(-(2**70), 2**70),
    st.floats(),
    text,
)
numbers: SearchStrategy[Any] = st.one_of(
    st.integers(-3, 300), st.integers(), st.floats(), st.sampled_from([2**63, -(2**63) - 1, 10**400])
)
leaves: SearchStrategy[Any] = st.one_of(st.none(), st.booleans(), numbers, text)
json_values: SearchStrategy[Any] = st.recursive(
    leaves,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(text, inner, max_size=4)),
    max_leaves=10,
)


def mostly(good: SearchStrategy[Any], junk: SearchStrategy[Any] = json_values) -> SearchStrategy[Any]:
    """Three times of four what belongs there."""
    return st.integers(0, 3).flatmap(lambda die: good if die else junk)


def some_of(**good: SearchStrategy[Any]) -> SearchStrategy[dict[str, Any]]:
    """An object with some of these keys, mostly with good values, and now and then a key of its own."""
    return st.builds(
        lambda known, odd: {**odd, **known},
        st.fixed_dictionaries({}, optional={key: mostly(value) for key, value in good.items()}),
        st.one_of(st.just({}), st.just({}), st.dictionaries(text, json_values, max_size=2)),
    )
