"""Redaction: what is masked never reaches a file, and what is no secret stays as it was said."""

from __future__ import annotations

import gzip
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from everwhen import Memory, Refused, UsageError
from everwhen.cli.app import run
from everwhen.facts.redact import KINDS, Masks, is_card, kinds_of
from tests.fuzz.nasty import text

ALL = Masks(tuple(KINDS), digest=lambda given: "abc")
SECRETS = {
    "email": ["ana.silva+news@mail.example.co.uk", "josé@exämple.de", "A_B%c@x-y.info"],
    "phone": [
        "+351 912 345 678", "+1 (555) 010-4477", "0044 20 7946 0958", "(555) 010-4477", "555-010-4477",
        "555.010.4477", "020 7946 0958", "06 12 34 56 78", "0171/1234567", "+4915112345678",
    ],
    "card": ["4111 1111 1111 1111", "4111-1111-1111-1111", "378282246310005", "5555555555554444", "6011000990139424"],
    "token": [
        "sk-proj-abcDEF123456abcDEF123456", "ghp_" + "a1B2" * 9, "AKIAIOSFODNN7EXAMPLE", "xoxb-1234567890-abcdef",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.abc_DEF-123", "hf_" + "x" * 30, "ew_0123456789ab_" + "q" * 43,
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\n-----END RSA PRIVATE KEY-----",
    ],
}  # fmt: skip
HARMLESS = [
    "We met on 2023-05-08 at 13:56, and again on 08/05/2023.",
    "From 01-02-2023 10:30 to 2023/11/30 it cost 1,234,567.89 euros.",
    "Version 3.11.7 of 2024-01-15T09:30:00.000000Z, port 8080, PR #12345.",
    "I was born in 1990, moved in 1998, 2004 and 2011, and paid 4111 for it.",
    "The epoch was 1741600000000 then, the order 1234567890123456.",
    "My password is forgotten, and the token was lost. The secret is safe.",
    "Meet me @ noon, @ana and @bo. Rated 5/5 @home.",
    "The risk-averse sk-learn user read about disk-based-storage-of-everything.",
    "It is 0 degrees; 007 came 15 times, 3 - 4 - 5 days later.",
]


@pytest.mark.parametrize(
    ("kind", "secret"), [(kind, one) for kind, several in SECRETS.items() for one in several]
)
def test_a_secret_is_masked_by_its_kind_and_by_no_other(kind: str, secret: str) -> None:
    for before, after in (
        ("Take ", " please."),
        ("(", ")"),
        ("", ""),
        ("it is: ", "."),
        ("“", "”, she said"),
    ):
        assert Masks((kind,)).text(before + secret + after) == f"{before}[{kind}]{after}"
    assert secret not in ALL.text(f"Take {secret} please.")


@pytest.mark.parametrize("said", HARMLESS)
def test_days_prices_and_plain_words_stay(said: str) -> None:
    assert ALL.text(said) == said


@pytest.mark.parametrize(
    ("said", "masked"),
    [
        ("password: hunter2!", "password: [token]"),
        ("my password is hunter2!", "my password is [token]"),
        ("API_KEY=abcdefgh", "API_KEY=[token]"),
        ('{"token": "abc"} Bearer a1b2c3d4', '{"token": "abc"} Bearer [token]'),
        ("call 912 345 678 now", "call [phone] now"),
        ("cards 4111111111111111 5555555555554444 ok", "cards [card] [card] ok"),
        ("12 4111 1111 1111 1111 99", "12 [card] 99"),
    ],
)
def test_what_a_name_stands_before_is_masked(said: str, masked: str) -> None:
    assert ALL.text(said) == masked


def test_card_numbers_need_the_right_sum_and_beginning() -> None:
    assert is_card("4111111111111111") and not is_card("4111111111111112")
    assert not is_card("1234567812345670")  # the sum is right, the issuer is none


@settings(max_examples=300, deadline=None, derandomize=True)
@given(text, st.sampled_from([one for several in SECRETS.values() for one in several]), text)
def test_masking_again_changes_nothing_and_no_planted_secret_is_left(
    before: str, secret: str, after: str
) -> None:
    once = ALL.text(f"{before} {secret} {after}")
    assert ALL.text(once) == once
    assert secret not in once or secret in before or secret in after


ALMOST = ("a.", "a@", "b.", "4", "1 ", "+1", "-----BEGIN PRIVATE KEY-----", "sk-", "password is ", "0", "4444 ",
          "eyJaaaaaaaa.")  # fmt: skip


@pytest.mark.parametrize("length", [200_000, pytest.param(1_000_000, marks=pytest.mark.long)])
@pytest.mark.parametrize("piece", ALMOST)
def test_almost_secrets_without_end_are_read_in_seconds(piece: str, length: int) -> None:
    bomb = ("a@" if piece == "b." else "") + piece * (length // len(piece))
    began = time.process_time()
    ALL.text(bomb)
    assert time.process_time() - began < length / 100_000  # linear takes a tenth of it; a square takes hours


def test_a_rule_names_kinds_all_or_none() -> None:
    assert kinds_of("all") == tuple(KINDS) and kinds_of("none") == kinds_of("") == ()
    assert kinds_of("card, Email") == ("email", "card")
    with pytest.raises(UsageError, match="there is no 'iban'"):
        kinds_of("iban")


MAIL, CARD, CALL, KEY = (
    "ana.silva@example.org",
    "4111 1111 1111 1111",
    "+351 912 345 678",
    "ghp_" + "a1B2" * 9,
)


def leftovers(folder: Path) -> list[str]:
    found = []
    for path in (path for path in folder.rglob("*") if path.is_file()):
        content = path.read_bytes()
        if path.suffix == ".gz":
            content = gzip.decompress(content)
        for secret in (MAIL, CARD, CARD.replace(" ", ""), CALL, KEY, "ana.silva", "912 345"):
            found += [f"{path.name}: {secret}"] * (
                secret.encode() in content or secret.encode("utf-16-le") in content
            )
    return found


def fill(memory: Memory) -> None:
    said = f"Write to {MAIL}, pay with {CARD}, call {CALL} or use {KEY} since last week."
    memory.add({"name": MAIL, "content": said, "id": f"<{MAIL}>", "session": CALL})
    memory.add_many(
        [said + " Again."], session=MAIL, metadata={"from": MAIL, KEY: [CARD, int(CARD.replace(" ", ""))]}
    )
    memory.facts.assert_(MAIL, f"pays with {CARD}", CALL, domain=KEY, source=[f"<{MAIL}>"])
    memory.facts.correct("Ana", "writes from", MAIL)
    memory.facts.report_missing(MAIL)
    memory.flush()
    memory.recall(MAIL)
    memory.consolidate("end")
    memory.ask(f"Whose address is {MAIL}?")


def test_nothing_of_it_is_in_any_file(home: Path, tmp_path: Path) -> None:
    with Memory.open(home, "safe", redact="all") as memory:
        fill(memory)
        first, second = memory.turns()
        assert first.text == "Write to [email], pay with [card], call [phone] or use [token] since last week."
        assert (
            first.speaker == "[email]"
            and first.id.startswith("<[email]>#")
            and second.session != first.session
        )
        assert [fact.object for fact in memory.facts.current("Ana")] == ["[email]"]
        assert memory.facts.current(MAIL)[0].sources == (first.id,)
        memory.add({"name": MAIL, "content": first.text, "id": f"<{MAIL}>", "session": CALL})
        assert memory.stats().turns == 2, "the same id is the same turn, masked or not"
        memory.export(tmp_path / "export.jsonl.gz")
        memory.backup(tmp_path / "backup.db")
        assert leftovers(tmp_path) == []  # while it is open: the logs too
    assert leftovers(tmp_path) == []


def test_a_bank_remembers_what_it_masks_and_may_overrule_the_environment(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with Memory.open(home, "own", embedder="fake", reader="none", redact="email"):
        pass
    assert run(["add", f"{MAIL} and {CARD}", "--bank", "own"]) == 0
    with Memory.open(home, "own") as memory:
        assert [turn.text for turn in memory.turns()] == [f"[email] and {CARD}"]
    monkeypatch.setenv("EVERWHEN_REDACT", "card")
    with Memory.open(home, "other", embedder="fake", reader="none") as memory:
        memory.add(f"{MAIL} and {CARD}")
        assert memory.turns()[0].text == f"{MAIL} and [card]"
    with Memory.open(home, "open", embedder="fake", reader="none", redact="none") as memory:
        memory.add(CARD)
        assert memory.turns()[0].text == CARD


def test_an_export_is_not_taken_over_unmasked(home: Path, tmp_path: Path) -> None:
    with Memory.open(home, "plain", embedder="fake", reader="none") as memory:
        memory.add(MAIL)
        memory.export(tmp_path / "plain.jsonl")
    with Memory.open(home, "safe", embedder="fake", reader="none", redact="all") as memory:
        with pytest.raises(Refused, match="masks what it stores"):
            memory.import_(tmp_path / "plain.jsonl")
        assert memory.stats().turns == 0
