"""What people do on the page, in a real browser: decide, import, write down, forget; and what a revoked key may do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from everwhen import Client
from tests.ui.conftest import Site, signed_in, turn_to


def test_a_decision_is_stored_and_seen_at_once(browser: Any, site: Site) -> None:
    key = site.key("write", "decided")
    with signed_in(browser, site, key) as tab, Client(site.url, key, bank="decided") as client:
        turn_to(tab, "facts")
        assert len(client.facts.review()) == 1
        tab.click("#review .press:has-text('Keep “Setúbal”')")
        tab.wait_for_selector("#review", state="detached")
        tab.wait_for_selector("[data-holds=true]:has-text('Setúbal')")
        assert client.facts.review() == []
        assert [fact.object for fact in client.facts.current("Rui", "works_in")] == ["Setúbal"]
        stale = tab.locator("#stale [data-stale]:has-text('lives in Porto')")
        stale.locator(".press:has-text('Still so')").click()
        stale.wait_for(state="detached")
        assert client.facts.current("Marta", "lives_in")[0].confirmed_at is not None
    lines = [json.loads(line) for line in site.audit().splitlines()]
    noted = [line["route"] for line in lines if line["event"] == "write" and line.get("bank") == "decided"]
    assert noted == ["ui facts/resolve", "ui facts/confirm"]


def test_a_file_is_imported_with_progress_into_a_new_bank(browser: Any, site: Site, tmp_path: Path) -> None:
    file = tmp_path / "said.jsonl"
    line = {
        "role": "user",
        "name": "Ana",
        "content": "Yesterday I bought a blue kayak.",
        "timestamp": "2025-03-02T09:00:00Z",
    }
    file.write_text(json.dumps(line) + "\n", encoding="utf-8")
    with signed_in(browser, site, site.key("write", "ana")) as tab:
        assert urlsplit(tab.url).path == "/ui/ana/import"
        tab.set_input_files("input[type=file]", file)
        tab.wait_for_selector("text=1 new turns from said.jsonl")
        tab.wait_for_selector("#as-of")  # the bank has a past now, and the page a slider
        turn_to(tab, "timeline")
        tab.wait_for_selector(".row-line:has-text('blue kayak')")


def test_words_are_added_to_a_new_bank_and_forgotten_after_a_look(browser: Any, site: Site) -> None:
    with signed_in(browser, site, site.key("write")) as tab:
        tab.click("[aria-label='New bank']")
        tab.get_by_label("Name", exact=True).fill("notes")
        tab.click(".dialog .press.strong")
        tab.wait_for_url("**/ui/notes/import")
        tab.get_by_label("What was said").fill("Ben bought a red canoe in Tromsø.")
        tab.get_by_label("When (empty: now)").fill("2025-03-02")
        tab.click("#add-text .press.strong")
        tab.wait_for_selector("#as-of")
        turn_to(tab, "conversations")
        tab.locator("#sessions .row-line", has_text="red canoe").click()
        tab.click(".press:has-text('Forget this conversation')")
        tab.wait_for_selector("#forget")
        assert "1\nturns" in tab.inner_text("#forget .pairs")
        with Client(site.url, site.key("read", "notes"), bank="notes") as client:
            assert client.stats().turns == 1  # looking forgot nothing
            tab.click("#forget .press.danger")
            tab.wait_for_selector("#area:has-text('No conversation yet')")
            assert client.stats().turns == 0


def test_a_file_that_is_nothing_is_told_in_one_sentence(phone: Any, tmp_path: Path) -> None:
    file = tmp_path / "noise.json"
    file.write_text('{"nothing": 1}', encoding="utf-8")
    turn_to(phone, "import")
    phone.set_input_files("input[type=file]", file)
    phone.wait_for_selector("#progress .problem")
    told = phone.inner_text("#progress .problem")
    assert "noise.json" in told and "/" not in told.replace("noise.json", "")


def test_a_key_that_is_revoked_meanwhile_can_do_no_more(browser: Any, site: Site) -> None:
    key = site.key("write", "marta")
    with signed_in(browser, site, key) as tab:
        turn_to(tab, "facts")
        site.revoke(key)
        tab.click("[data-page=tree]")
        tab.wait_for_selector("#area .problem")
        assert "revoked" in tab.inner_text("#area .problem")
