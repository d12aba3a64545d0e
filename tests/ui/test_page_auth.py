"""Who may see the page, and which banks: over plain HTTP and over sockets, without a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.ui.conftest import SECRET, Site, running


def socket_address(site: Site, client_id: str) -> str:
    return site.url.replace("http", "ws") + (
        f"/ui/_nicegui_ws/socket.io/?client_id={client_id}&EIO=4&transport=websocket"
    )


def client_id_of(page: str) -> str:
    found = re.search(r"[\"']client_id[\"']:\s*[\"']([0-9a-f-]{36})", page) or re.search(
        r"client_id=([0-9a-f-]{36})", page
    )
    assert found is not None
    return found[1]


def cookies_of(client: httpx.Client) -> dict[str, str]:
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in client.cookies.items())}


def test_without_a_key_the_page_leads_to_the_form(site: Site) -> None:
    with site.client() as client:
        answer = client.get("/ui/marta/facts")
        assert answer.status_code == 303 and answer.headers["location"] == "/ui/login"
        form = client.get("/ui/login")
        assert form.status_code == 200 and 'type="password"' in form.text


@pytest.mark.parametrize(
    "path", ["/ui/_nicegui_ws/socket.io/?EIO=4&transport=polling", "/ui/_nicegui/x", "/ui/nothing"]
)
def test_without_a_key_nothing_under_the_page_answers(site: Site, path: str) -> None:
    answer = httpx.get(site.url + path, trust_env=False)
    assert answer.status_code == 401 and answer.headers["content-type"] == "application/problem+json"


def test_without_a_key_no_socket_opens(site: Site) -> None:
    with pytest.raises(InvalidStatus) as refused, connect(socket_address(site, "nobody")):
        pass
    assert refused.value.response.status_code == 403


def test_a_wrong_key_is_told_in_one_sentence_and_noted(site: Site) -> None:
    with site.client() as client:
        answer = client.post("/ui/login", data={"key": "ew_000000000000_" + "x" * 43})
        assert answer.status_code == 401 and "This key is not known" in answer.text
        assert "set-cookie" not in answer.headers
    assert '"event": "denied"' in site.audit()


def test_the_cookie_is_no_key_and_no_script_or_other_site_gets_it(site: Site) -> None:
    key = site.key("read", "marta")
    with site.client() as client:
        answer = client.post("/ui/login", data={"key": key})
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and "path=/ui" in cookie
    assert key not in answer.headers["set-cookie"] and key not in answer.headers["location"]


def test_a_key_sees_its_banks_and_no_others(site: Site) -> None:
    with site.client(site.key("read", "marta")) as client:
        assert client.get("/ui/").headers["location"] == "/ui/marta/overview"
        own = client.get("/ui/marta/timeline")
        assert own.status_code == 200 and "vault" not in own.text
        other = client.get("/ui/vault/timeline")
        assert other.status_code == 403 and SECRET not in other.text and "for other banks" in other.text


def test_a_bank_that_is_not_there_looks_like_any_other_banks(site: Site) -> None:
    with site.client(site.key("read", "marta")) as client:
        missing, there = client.get("/ui/nowhere/timeline"), client.get("/ui/vault/timeline")
        assert (missing.status_code, missing.text) == (there.status_code, there.text)


@pytest.mark.parametrize("path", ["/ui/..%2fvault/timeline", "/ui/marta/nothing", "/ui/%2e%2e/%2e%2e"])
def test_strange_addresses_lead_nowhere(site: Site, path: str) -> None:
    with site.client(site.key("read", "marta")) as client:
        assert client.get(path).status_code in (403, 404)


def test_a_socket_listens_only_to_a_page_of_its_own_session(site: Site) -> None:
    with site.client(site.key("write", "vault")) as vera, site.client(site.key("write", "marta")) as marta:
        page = vera.get("/ui/vault/timeline").text
        hers = client_id_of(page)
        with connect(socket_address(site, hers), additional_headers=cookies_of(vera)):
            pass
        with (
            pytest.raises(InvalidStatus) as refused,
            connect(socket_address(site, hers), additional_headers=cookies_of(marta)),
        ):
            pass
        assert refused.value.response.status_code == 403


def test_a_socket_that_names_no_page_is_refused(site: Site) -> None:
    with site.client(site.key("write", "marta")) as marta:
        address = socket_address(site, "x").replace("client_id=x&", "")
        with pytest.raises(InvalidStatus), connect(address, additional_headers=cookies_of(marta)):
            pass


def test_a_page_cannot_be_spoken_for_through_another_pages_socket(site: Site) -> None:
    """Both sockets are open and signed in; a message that names the other's page is not heard."""
    with site.client(site.key("write", "vault")) as vera, site.client(site.key("write", "marta")) as marta:
        hers = client_id_of(vera.get("/ui/vault/timeline").text)
        mine = client_id_of(marta.get("/ui/marta/timeline").text)
        with connect(socket_address(site, mine), additional_headers=cookies_of(marta)) as mine_socket:
            mine_socket.recv(10)
            mine_socket.send("40")
            mine_socket.recv(10)
            claim = {
                "client_id": hers,
                "tab_id": "t",
                "document_id": "d",
                "old_tab_id": None,
                "next_message_id": 0,
            }
            mine_socket.send("421" + json.dumps(["handshake", claim]))
            heard = ""
            while not heard.startswith("431"):
                heard = str(mine_socket.recv(10))
            assert heard == "431[false]"


def test_another_page_of_this_machine_cannot_use_the_session(site: Site) -> None:
    with site.client(site.key("write", "marta")) as marta:
        page = client_id_of(marta.get("/ui/marta/timeline").text)
        other = {**cookies_of(marta), "Origin": "http://127.0.0.1:3000"}
        with pytest.raises(InvalidStatus), connect(socket_address(site, page), additional_headers=other):
            pass
        assert marta.post("/ui/logout", headers={"Origin": "http://localhost:1"}).status_code == 403


def test_files_are_taken_only_from_the_session_that_opened_the_page(site: Site) -> None:
    with site.client(site.key("write", "vault")) as vera, site.client(site.key("write", "marta")) as marta:
        hers = client_id_of(vera.get("/ui/vault/import").text)
        answer = marta.post(f"/ui/_nicegui/client/{hers}/upload/1", files={"file": b"{}"})
        assert answer.status_code == 403


def test_a_revoked_key_is_out_at_once(site: Site) -> None:
    key = site.key("read", "marta")
    with site.client(key) as client:
        assert client.get("/ui/marta/timeline").status_code == 200
        site.revoke(key)
        assert client.get("/ui/marta/timeline").headers["location"] == "/ui/login"


def test_signing_out_ends_the_session_for_good(site: Site) -> None:
    with site.client(site.key("read", "marta")) as client:
        before = cookies_of(client)
        assert client.post("/ui/logout").status_code == 303
        again = httpx.get(f"{site.url}/ui/marta/timeline", headers=before, trust_env=False)
        assert again.status_code == 401


def test_the_browser_is_told_to_reach_nobody_else(site: Site) -> None:
    with site.client() as client:
        policy = client.get("/ui/login").headers["content-security-policy"]
        assert "default-src 'self'" in policy and "frame-ancestors 'none'" in policy


def test_what_is_remembered_is_kept_in_no_cache(site: Site) -> None:
    with site.client(site.key("read", "marta")) as client:
        page = client.get("/ui/marta/timeline")
        assert page.headers["cache-control"] == "no-store"
        script = re.search(r"/ui/_nicegui/[^\"']+/static/nicegui\.js", page.text)
        assert script is not None
        assert "immutable" in client.get(script[0]).headers["cache-control"]


def test_a_key_in_the_address_is_not_taken(site: Site) -> None:
    with site.client() as client:
        answer = client.get(f"/ui/marta/facts?key={site.key('read', 'marta')}")
        assert answer.headers["location"] == "/ui/login"


def test_everwhen_ui_shows_the_page_to_this_machine_without_a_key(tmp_path: Path) -> None:
    with (
        running(tmp_path, "ui", "--no-browser") as url,
        httpx.Client(base_url=url, trust_env=False, timeout=120) as client,
    ):
        assert f"{url}/ui/" in (tmp_path / "server.log").read_text(encoding="utf-8")
        assert client.get("/ui").headers["location"] == "/ui/"
        assert client.get("/ui/").headers["location"] == "/ui/default/import"
        page = client.get("/ui/default/import")
        assert page.status_code == 200 and "Sign out" not in page.text
        assert client.get("/ui/default/import", headers={"Host": "evil.example"}).status_code == 403
        assert client.get("/ui/login").headers["location"] == "/ui/"
        page_of = client_id_of(page.text)
        strange = {"Origin": "http://evil.example"}
        with (
            pytest.raises(InvalidStatus),
            connect(socket_address(Site(url, tmp_path), page_of), additional_headers=strange),
        ):
            pass
