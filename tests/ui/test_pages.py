"""The page in a real browser: each page is walked, time is moved, addresses lead back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.ui.conftest import (
    AXE,
    SECRET,
    TURNS,
    Site,
    address_says,
    more_than,
    move_to,
    signed_in,
    turn_to,
)

PAGES = ("overview", "recall", "timeline", "conversations", "facts", "entities", "tree", "map", "import")
TABLET = {"width": 820, "height": 1180}


@pytest.fixture(scope="module")
def tab(browser: Any, site: Site) -> Iterator[Any]:
    """One tab for those who only look."""
    with signed_in(browser, site, site.key("read", "marta")) as opened:
        yield opened


def test_a_key_opens_the_first_page_and_stays_out_of_the_address(tab: Any, site: Site) -> None:
    assert urlsplit(tab.url).path == "/ui/marta/overview"
    assert not any("ew_" in address for address in tab.asked)
    assert tab.evaluate("document.cookie").find("everwhen_session") < 0


def test_the_timeline_shows_dated_events_and_the_undated_apart(tab: Any) -> None:
    turn_to(tab, "timeline")
    more_than(tab, 5, "svg.chart [data-pick]")
    more_than(tab, 0, "#undated .row-line")
    names = {line.split("\n")[0] for line in tab.locator(".group h2").all_inner_texts()}
    assert "March 2025" in names
    tab.locator(".row-line").first.click()
    tab.wait_for_selector(".dialog .turn")
    tab.locator(".dialog .press", has_text="Close").click()
    tab.wait_for_selector(".dialog", state="detached")


def test_the_timeline_zooms_and_pans(tab: Any) -> None:
    turn_to(tab, "timeline")
    tab.click(".choice button:has-text('Week')")
    tab.wait_for_selector(".group h2:has-text('Week of')")
    axis = tab.locator("svg.chart text").first.inner_html()
    tab.click("[aria-label=Earlier]")
    tab.wait_for_function("was => document.querySelector('svg.chart text').innerHTML !== was", arg=axis)


def test_the_timeline_keeps_one_entity(tab: Any) -> None:
    turn_to(tab, "timeline")
    whole = tab.locator(".row-line").count()
    tab.get_by_label("Entity").click()
    tab.locator(".q-menu .q-item", has_text="Noor").first.click()
    tab.wait_for_function("was => document.querySelectorAll('.row-line').length < was", arg=whole)
    tab.wait_for_selector(".row-line:has-text('Noor')")


def test_a_recall_is_explained(tab: Any) -> None:
    turn_to(tab, "recall")
    tab.fill("input[aria-label=Question]", "What does Marta drink instead of coffee?")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#kept")
    assert "going over to tea" in tab.inner_text("#kept")
    first = tab.locator(".memory").first.inner_text()
    assert "#" not in first and len(tab.locator(".memory .why > summary").first.inner_text().split("·")) <= 3
    tab.locator(".memory .why > summary").first.click()
    opened = tab.locator(".memory").first.inner_text()
    assert "meaning #" in opened and "words #" in opened and "tokens" in opened
    assert tab.locator(".memory").first.locator(".part").count() >= 3
    tab.click("#how > summary")
    assert "ms" in tab.inner_text("#stages") and "embed" in tab.inner_text("#stages")
    assert "of 4,096" in tab.inner_text("#how")
    assert "Dropped" in tab.inner_text("#dropped")


def test_an_answer_stands_above_what_it_rests_on_and_the_prompt_is_copied(tab: Any) -> None:
    tab.context.grant_permissions(["clipboard-read", "clipboard-write"])
    turn_to(tab, "recall")
    tab.fill("input[aria-label=Question]", "When did Marta stop drinking coffee?")
    tab.click("[aria-label^='Answer in words']")
    tab.wait_for_selector("#answer")
    assert "3 March 2025" in tab.inner_text("#answer") and "sure" in tab.inner_text("#answer")
    tab.click("[aria-label^='Copy prompt']")
    tab.wait_for_selector(".q-notification")
    prompt = tab.evaluate("navigator.clipboard.readText()")
    assert "<memories>" in prompt and "going over to tea" in prompt


def test_what_cannot_be_asked_is_told_in_one_sentence(tab: Any) -> None:
    turn_to(tab, "recall")
    tab.fill("input[aria-label=Question]", "tea")
    tab.click(".options > summary")
    tab.fill("input[aria-label='Said after']", "2025-03-01")
    tab.fill("input[aria-label='Said before']", "2025-02-10")
    tab.click(".press.strong:has-text('Recall')")
    tab.wait_for_selector("#area .problem")
    assert "Traceback" not in tab.inner_text("#area") and "failed" not in tab.inner_text("#area")


def test_facts_change_as_the_slider_moves(tab: Any) -> None:
    turn_to(tab, "facts")
    porto = "[data-holds=true]:has-text('Porto')"
    lisbon = "[data-holds=true]:has-text('lives in Lisbon')"
    tab.wait_for_selector(porto)
    assert tab.locator(lisbon).count() == 0
    move_to(tab, 5)
    tab.wait_for_selector(lisbon)
    assert tab.locator("text=Porto").count() == 0
    assert "as of 8 Feb 2025" in tab.inner_text(".head")
    address_says(tab, "as_of=2025-02-08")
    tab.click("[aria-label='Back to now']")
    tab.wait_for_selector(porto)
    tab.wait_for_url(lambda address: "as_of" not in address)


def test_the_past_stays_when_the_page_is_turned(tab: Any) -> None:
    turn_to(tab, "facts")
    move_to(tab, 1)
    for name in ("timeline", "entities", "tree", "map"):
        turn_to(tab, name)
        assert "as of 4 Feb 2025" in tab.inner_text(".head")
    turn_to(tab, "tree")
    assert tab.locator("#nodes .node.open").count() == 1
    tab.click("[aria-label='Back to now']")
    tab.wait_for_selector(".then", state="detached")


def test_a_facts_history_is_told(tab: Any) -> None:
    turn_to(tab, "facts")
    tab.locator("#bars .fact-row[data-fact^='Marta lives in Porto']").click()
    tab.wait_for_selector("#history")
    told = tab.inner_text("#history")
    assert "Lisbon" in told and "Porto" in told and "believed from" in told
    tab.keyboard.press("Escape")
    tab.wait_for_selector("#history", state="detached")


def test_entities_are_drawn_and_told(tab: Any) -> None:
    turn_to(tab, "entities")
    more_than(tab, 5, "svg.graph g")
    more_than(tab, 5, "svg.graph line")
    tab.locator("svg.graph g[aria-label^='Noor,']").focus()
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#entity h2:has-text('Noor')")
    assert "Marta" in tab.inner_text("#entity .pairs")


def test_the_tree_leads_down_to_the_words(tab: Any) -> None:
    turn_to(tab, "tree")
    for _ in range(5):
        depth = tab.locator(".crumbs .press").count()
        tab.locator("#nodes [data-pick]").first.click()
        tab.wait_for_function("was => document.querySelectorAll('.crumbs .press').length > was", arg=depth)
        if tab.locator("#turns").count():
            break
    more_than(tab, 0, "#turns [data-turn]")


def test_the_map_has_points_that_open(tab: Any) -> None:
    turn_to(tab, "map")
    tab.wait_for_selector("svg.map circle")
    tab.click(".choice button:has-text('Week')")
    tab.locator("svg.map circle").first.click()
    tab.wait_for_selector(".dialog .turn")
    tab.keyboard.press("Escape")
    tab.wait_for_selector(".dialog", state="detached")


def test_keys_turn_pages_move_time_and_ask(tab: Any) -> None:
    turn_to(tab, "timeline")
    tab.evaluate("document.activeElement.blur()")
    tab.keyboard.press("5")
    tab.wait_for_selector("#area[data-shown=facts]")
    last = int(tab.get_attribute("#as-of", "max"))
    for step in (1, 2, 3):
        before = tab.get_attribute("#area", "data-drawn")
        tab.keyboard.press("ArrowLeft")
        tab.wait_for_function("was => document.querySelector('#area').dataset.drawn !== was", arg=before)
        assert tab.input_value("#as-of") == str(last - step)
    tab.click("[aria-label='Back to now']")
    tab.wait_for_selector(".then", state="detached")
    tab.evaluate("document.activeElement.blur()")
    tab.keyboard.press("/")
    tab.wait_for_function("document.activeElement.getAttribute('aria-label') === 'Question'")


def test_a_read_key_finds_nothing_to_press(tab: Any) -> None:
    turn_to(tab, "facts")
    tab.wait_for_selector("#review")
    assert tab.locator("#review button, #stale button").count() == 0
    turn_to(tab, "import")
    assert "may only read" in tab.inner_text("#area")
    assert tab.locator("input[type=file]").count() == 0


def test_the_overview_tells_what_is_known_planned_and_changed(tab: Any) -> None:
    turn_to(tab, "overview")
    assert "Porto" in tab.inner_text("#known") and f"{TURNS} turns" in tab.inner_text("#counts")
    assert "contradictions to decide" in tab.inner_text("#health")
    more_than(tab, 0, "#changed .row-line")
    more_than(tab, 0, "#lately .row-line")
    tab.locator("#known button.badge", has_text="Noor").click()
    tab.wait_for_selector("#entity h2:has-text('Noor')")
    turn_to(tab, "overview")
    tab.locator("#known .link", has_text="Marta").first.click()
    tab.wait_for_selector("#area[data-shown=facts]")
    address_says(tab, "subject=Marta")


def test_a_conversation_is_found_by_its_words_and_read_whole(tab: Any) -> None:
    turn_to(tab, "conversations")
    more_than(tab, 5, "#sessions .row-line")
    tab.get_by_label("Words that were said").fill("going over to tea")
    tab.keyboard.press("Enter")
    tab.locator("#found .row-line").first.click()
    tab.wait_for_selector("#turns [data-turn]")
    address_says(tab, "session=")
    assert "going over to tea" in tab.inner_text("#turns")
    more_than(tab, 3, "#turns [data-turn]")


def test_facts_are_filtered_and_the_address_says_how(tab: Any, site: Site) -> None:
    tab.goto(f"{site.url}/ui/marta/facts?subject=Rui&predicate=works_in&state=all")
    tab.wait_for_selector("#bars")
    assert tab.locator("#bars .fact-row").count() == 2
    tab.click(".choice button:has-text('Over')")
    tab.wait_for_selector("#area:has-text('No fact is like that')")
    address_says(tab, "state=over")


def test_an_entity_is_found_by_its_name(tab: Any) -> None:
    turn_to(tab, "entities")
    tab.get_by_label("Find a name").fill("noo")
    tab.keyboard.press("Enter")
    tab.wait_for_selector("#entity:has-text('1 names')")
    tab.locator("#entity .row-line").first.click()
    tab.wait_for_selector("#entity h2:has-text('Noor')")


def test_back_reload_and_links_lead_to_the_same_page(tab: Any, site: Site) -> None:
    tab.goto(f"{site.url}/ui/marta/timeline?zoom=week&as_of=2025-02-20")
    tab.wait_for_selector(".group h2:has-text('Week of')")
    assert "as of 20 Feb 2025" in tab.inner_text(".head")
    turn_to(tab, "tree")
    address_says(tab, "as_of=2025-02-20")
    tab.click("[aria-label='Back to now']")
    tab.wait_for_selector(".then", state="detached")
    turn_to(tab, "map")
    tab.go_back()
    tab.wait_for_selector("#area[data-shown=tree]")
    tab.go_back()
    tab.wait_for_selector("#area[data-shown=timeline]")
    tab.wait_for_selector(".then:has-text('20 Feb 2025')")
    tab.reload()
    tab.wait_for_selector(".group h2:has-text('Week of')")
    assert tab.title() == "Timeline · marta · everwhen"
    assert tab.get_attribute("[data-page=facts]", "href") == "/ui/marta/facts"
    tab.click("[aria-label='Back to now']")
    tab.wait_for_selector(".then", state="detached")


def test_keys_alone_skip_to_the_page(tab: Any, site: Site) -> None:
    tab.goto(f"{site.url}/ui/marta/overview")
    tab.wait_for_selector("#area[data-shown]")
    tab.keyboard.press("Tab")
    assert tab.evaluate("document.activeElement.className") == "skip"
    tab.keyboard.press("Enter")
    assert tab.evaluate("document.activeElement.tagName") == "MAIN"
    assert tab.get_attribute("html", "lang") == "en-US" and tab.locator("main").count() == 1


@pytest.mark.parametrize("name", PAGES)
def test_axe_finds_nothing_serious(name: str, browser: Any, site: Site, phone: Any) -> None:
    if not AXE.exists():
        pytest.skip("there is no axe-core (scripts/browser_tools.sh installs it where npm is)")
    turn_to(phone, name)
    if name == "recall":
        phone.fill("input[aria-label=Question]", "coffee")
        phone.keyboard.press("Enter")
        phone.wait_for_selector("#kept")
    phone.evaluate(AXE.read_text(encoding="utf-8"))
    narrow = phone.viewport_size
    for size in (narrow, TABLET):
        phone.set_viewport_size(size)
        found = phone.evaluate(
            "axe.run().then(ran => ran.violations.map(one => [one.impact, one.id, one.nodes[0].html]))"
        )
        assert [one for one in found if one[0] in ("serious", "critical")] == []
    phone.set_viewport_size(narrow)


def test_light_and_dark_follow_the_system_and_the_button(tab: Any, browser: Any, site: Site) -> None:
    assert "body--light" in tab.get_attribute("body", "class")
    with signed_in(browser, site, site.key("read", "marta"), color_scheme="dark") as dark:
        assert "body--dark" in dark.get_attribute("body", "class")
        dark.click("[aria-label='Light or dark']")
        dark.wait_for_selector("body.body--light")
        dark.reload()
        dark.wait_for_selector("#area[data-shown]")
        assert "body--light" in dark.get_attribute("body", "class")


def test_another_bank_is_neither_offered_nor_opened(tab: Any, site: Site) -> None:
    turn_to(tab, "timeline")
    tab.locator("[aria-label=Bank]").first.click()
    assert tab.locator(".q-menu .q-item").all_inner_texts() == ["marta"]
    tab.keyboard.press("Escape")
    answer = tab.context.request.get(f"{site.url}/ui/vault/timeline")
    assert answer.status == 403 and SECRET not in answer.text()


def test_nothing_is_asked_of_anybody_else_and_no_script_fails(tab: Any) -> None:
    """Last of those that share the tab: it has been everywhere."""
    hosts = {
        urlsplit(address).hostname for address in tab.asked if not address.startswith(("data:", "blob:"))
    }
    assert hosts == {"127.0.0.1"}
    assert tab.failed == []


@pytest.mark.parametrize("name", PAGES)
def test_a_phone_scrolls_in_one_direction_only(phone: Any, name: str) -> None:
    turn_to(phone, name)
    if name == "recall":
        phone.fill("input[aria-label=Question]", "coffee")
        phone.keyboard.press("Enter")
        phone.wait_for_selector("#kept")
    assert phone.evaluate("document.documentElement.scrollWidth") <= 390


@pytest.mark.parametrize("width", [320, 390])
def test_every_page_can_be_touched_on_a_phone(phone: Any, width: int) -> None:
    """Each link of the rail lies inside of the screen and is what a finger there hits; the page ends above them."""
    turn_to(phone, "timeline")
    phone.set_viewport_size({"width": width, "height": 844})
    hit = phone.evaluate(
        "names => names.filter(name => { const box = document.querySelector(`[data-page=${name}]`)"
        ".getBoundingClientRect(); const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];"
        "return box.left >= 0 && box.right <= innerWidth && box.width >= 44 && box.height >= 40 &&"
        " document.elementFromPoint(x, y)?.closest('a')?.dataset.page === name })",
        list(PAGES),
    )
    room = phone.evaluate(
        "parseFloat(getComputedStyle(document.querySelector('.page')).paddingBottom)"
        " - document.querySelector('.rail').getBoundingClientRect().height"
    )
    phone.set_viewport_size({"width": 390, "height": 844})
    assert hit == list(PAGES) and room > 0
