"""What people do on the page, in a real browser: decide, import, write down, forget; and what a revoked key may do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
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
        # From one dialog into the next, which outlives it.
        tab.locator("#bars [data-pick]:has-text('Setúbal')").click()
        tab.click("#history .press:has-text('Correct')")
        tab.wait_for_selector("#history", state="detached")
        tab.get_by_label("What is right", exact=True).fill("Évora")
        tab.click(".press:has-text('Correct it')")
        tab.wait_for_selector("[data-holds=true]:has-text('Évora')")
    lines = [json.loads(line) for line in site.audit().splitlines()]
    noted = [line["route"] for line in lines if line["event"] == "write" and line.get("bank") == "decided"]
    assert noted == ["ui facts/resolve", "ui facts/confirm", "ui facts/correct"]


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


def test_one_turn_is_forgotten_and_the_rest_of_its_conversation_stays(browser: Any, site: Site) -> None:
    with talks(site, "turned") as client, signed_in(browser, site, site.key("write", "turned")) as tab:
        tab.goto(f"{site.url}/ui/turned/conversations?session=a")
        tab.wait_for_selector("#turns .turn")
        line = tab.locator("#turns .turn", has_text="kayak")
        line.hover()
        line.locator("[aria-label='Forget this turn of Ana']").click()
        tab.wait_for_selector("#forget")
        assert "1\nturns" in tab.inner_text("#forget .pairs") and client.stats().turns == 4
        assert "cannot be taken back" in tab.inner_text("#forget")
        tab.click("#forget .press.danger")
        line.wait_for(state="detached")
        assert [turn.text for turn in client.turns(session="a")] == ["The soup needs salt."]
        assert tab.locator("#turns .turn").count() == 1


def test_a_stretch_of_time_is_forgotten_with_both_of_its_days(browser: Any, site: Site) -> None:
    with talks(site, "stretched") as client, signed_in(browser, site, site.key("write", "stretched")) as tab:
        tab.goto(f"{site.url}/ui/stretched/conversations")
        tab.click(".press:has-text('Forget a stretch of time')")
        tab.click(".dialog .press:has-text('Count')")
        tab.wait_for_selector("text=Choose both days")
        tab.get_by_label("From", exact=True).fill("2025-03-02")
        tab.get_by_label("Until", exact=True).fill("2025-03-03")
        tab.click(".dialog .press:has-text('Count')")
        tab.wait_for_selector("#forget")
        assert "3\nturns" in tab.inner_text("#forget .pairs") and client.stats().turns == 4
        assert "2 Mar 2025 to 3 Mar 2025" in tab.inner_text("#forget")
        tab.click("#forget .press.danger")
        tab.wait_for_function("document.querySelectorAll('#sessions .row-line').length === 1")
        assert [turn.text for turn in client.turns()] == ["A red canoe."]


def test_a_bank_is_deleted_only_when_its_name_is_typed(browser: Any, site: Site) -> None:
    with (
        talks(site, "deleted") as client,
        signed_in(browser, site, site.key("admin", "deleted,marta")) as tab,
    ):
        tab.goto(f"{site.url}/ui/deleted/conversations")
        tab.click(".press:has-text('Delete this bank')")
        tab.wait_for_selector("#forget")
        assert "4\nturns" in tab.inner_text("#forget .pairs")
        tab.fill("#forget input", "other")
        tab.click("#forget .press.danger")
        tab.wait_for_selector("text=The name is not “deleted”")
        assert client.stats().turns == 4
        tab.fill("#forget input", "deleted")
        tab.click("#forget .press.danger")
        tab.wait_for_url("**/ui/marta/overview")
        assert not (site.home / "banks" / "deleted.db").exists()
    routes = [json.loads(line).get("route") for line in site.audit().splitlines()]
    assert "ui delete bank" in routes


def test_who_may_not_delete_a_bank_is_not_offered_it(browser: Any, site: Site) -> None:
    with talks(site, "kept"), signed_in(browser, site, site.key("write", "kept")) as tab:
        turn_to(tab, "conversations")
        assert tab.locator(".press:has-text('Forget a stretch')").count() == 1
        assert tab.locator(".press:has-text('Delete this bank')").count() == 0
    with signed_in(browser, site, site.key("read", "kept")) as tab:
        turn_to(tab, "conversations")
        assert tab.locator(".press.bad").count() == 0


@contextmanager
def talks(site: Site, bank: str) -> Iterator[Client]:
    """A bank of its own with three conversations on three days."""
    said = {
        "a": [("2025-03-02T09:00:00Z", "A blue kayak."), ("2025-03-02T09:01:00Z", "The soup needs salt.")],
        "b": [("2025-03-03T23:30:00Z", "A green tent.")],
        "c": [("2025-03-04T00:10:00Z", "A red canoe.")],
    }
    with Client(site.url, site.key("admin"), bank=bank) as client:
        for session, lines in said.items():
            client.add_many(
                [{"role": "user", "name": "Ana", "content": text, "timestamp": at} for at, text in lines],
                session=session,
            )
        client.flush()
        yield client
