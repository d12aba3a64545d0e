"""The `curl` lines of docs/serve.md, sent as they stand there."""

from __future__ import annotations

import json
import re
import shlex
from itertools import pairwise
from pathlib import Path

import httpx

from tests.serve.conftest import Served

PAGE = Path(__file__).parents[2] / "docs" / "serve.md"


def test_what_the_first_curl_adds_the_second_finds(served: Served) -> None:
    key = served.key("write", "ana")
    answers = []
    for call in re.findall(r"^curl (?:.*\\\n)*.*", PAGE.read_text(encoding="utf-8"), re.MULTILINE):
        words = shlex.split(call.replace("\\\n", " ").replace("$KEY", key))
        headers = dict(value.split(": ", 1) for flag, value in pairwise(words) if flag == "-H")
        (url,) = (word for word in words if word.startswith("http://"))
        body = json.loads(words[words.index("-d") + 1])
        answers.append(httpx.post(f"{served.url}{httpx.URL(url).path}", headers=headers, json=body))
    added, found = answers
    assert added.status_code == 201 and found.status_code == 200
    assert [one["text"] for one in found.json()["memories"]] == ["I moved to Porto last week"]


def test_the_address_of_the_server_alone_says_where_its_page_is(served: Served) -> None:
    said = httpx.get(served.url)
    assert said.status_code == 404 and "the page is at /ui" in said.json()["detail"]
