"""Masking what should never be stored: e-mail addresses, telephone and card numbers, tokens; before anything sees
them.

Every pattern takes time in proportion to the text: what repeats is possessive or bounded, and begins only where the
character before does not belong to it. A mask is what stood there, by kind: `[email]`, `[phone]`, `[card]`,
`[token]`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from everwhen.errors import UsageError
from everwhen.types import Message

_EMAIL = re.compile(r"(?<![\w.%+-])[\w.%+-]++@(?:[\w-]++\.){1,10}[^\W\d_]{2,24}")

_SPACED = r"(?:[ \u00a0./()-]{0,2}\d)"
_PHONE = re.compile(
    rf"(?<![\w+])(?:\+|00)(?!0)\(?\d{_SPACED}{{6,14}}(?!\d)"  # with a country's code
    r"|(?<![\w.-])(?:\+?1[ .-])?(?:\(\d{3}\) ?|\d{3}[ .-])\d{3}[ .-]\d{4}(?![\w-])"  # as in North America
    rf"|(?<![\w.:/-])0[1-9]{_SPACED}{{7,11}}(?![\w:])"  # with the 0 that leaves a town
    r"|(?:(?<=phone )|(?<=phone: )|(?<=number )|(?<=number: )|(?<=number is )|(?<=tel )|(?<=tel: )|(?<=tel\. )"
    r"|(?<=mobile )|(?<=mobile: )|(?<=cell )|(?<=cell: )|(?<=call )|(?<=call me at )|(?<=call me on )"
    rf"|(?<=whatsapp )|(?<=fax: ))\d{_SPACED}{{6,14}}(?![\w:])",  # after a word that says so
    re.IGNORECASE,
)
_DATE = re.compile(
    r"(?<!\d)(?:(?:19|20)\d\d[-/. ](?:0?[1-9]|1[0-2])[-/. ][0-3]?\d|[0-3]?\d[-/. ][0-3]?\d[-/. ](?:19|20)\d\d)(?!\d)"
)
"""What is written like a number to call and is a day; a memory of when must not lose those."""

_DIGITS = re.compile(r"(?<!\d)\d(?:[ -]?\d){12,}+")
_CARDS: tuple[tuple[re.Pattern[str], tuple[int, ...]], ...] = (
    (re.compile("4"), (13, 16, 19)),  # Visa
    (re.compile("5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720"), (16,)),  # Mastercard
    (re.compile("3[47]"), (15,)),  # American Express
    (re.compile("6011|64[4-9]|65|62|81"), (16, 17, 18, 19)),  # Discover, UnionPay
    (re.compile("3(?:0[0-5]|[689])"), (14, 16)),  # Diners Club
    (re.compile("35(?:2[89]|[3-8])"), (16,)),  # JCB
    (re.compile("50|5[6-8]|6[0-9]"), (13, 15, 16, 18, 19)),  # Maestro
)

_TOKEN = re.compile(
    r"(?<![A-Za-z0-9_])(?:"
    r"(?:sk|pk|rk)[-_](?:live[-_]|test[-_]|proj[-_]|ant[-_]|svcacct[-_])?[A-Za-z0-9_-]{16,}+"
    r"|gh[pousr]_[A-Za-z0-9]{20,}+|github_pat_[A-Za-z0-9_]{20,}+|glpat-[A-Za-z0-9_-]{16,}+"
    r"|xox[a-z]-[A-Za-z0-9-]{10,}+|(?:AKIA|ASIA)[0-9A-Z]{16}|AIza[0-9A-Za-z_-]{30,}+|ya29\.[0-9A-Za-z_-]{20,}+"
    r"|hf_[A-Za-z0-9]{20,}+|npm_[A-Za-z0-9]{20,}+|pypi-[A-Za-z0-9_-]{20,}+|dop_v1_[0-9a-f]{32,}+"
    r"|SG\.[A-Za-z0-9_-]{16,}+\.[A-Za-z0-9_-]{16,}+|ew_[0-9a-f]{12}_[A-Za-z0-9_-]{43}"
    r"|eyJ[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]{8,}+\.[A-Za-z0-9_-]*+"  # a JSON web token
    r")"
)
_NAMED = re.compile(
    r"(?<![A-Za-z])(?P<name>(?:password|passwd|passphrase|pwd|secret|api[ _-]?key|access[ _-]?key|token|bearer)"
    r"(?:(?: is)?[ ]?[:=][ ]?|(?: is)? )[\"'`]?)(?P<value>[^\s\"'`]{6,}+)",
    re.IGNORECASE,
)
"""`password: …`, `api_key=…`, `Bearer …`, `my password is …`."""
_KEY_BEGINS, _KEY_ENDS = re.compile(r"-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----"), "-----END"


def _phone_masked(found: re.Match[str]) -> str:
    return found[0] if not found[0].startswith("+") and _DATE.search(found[0]) else "[phone]"


def _cards_in(run: re.Match[str]) -> str:
    """Digits, in groups or not: the groups that are a card number together."""
    groups = re.split(r"([ -])", run[0])  # groups stand at even places, what parts them between
    out: list[str] = []
    at = 0
    while at < len(groups):
        number, end = "", at
        # No issuer's number begins with another digit, and nobody writes its first group with less than four.
        if groups[at][0] in "234568" and len(groups[at]) >= 4:
            for place in range(at, min(at + 38, len(groups)), 2):
                number += groups[place]
                if len(number) > 19:
                    break
                if len(number) >= 13 and is_card(number):
                    end = place + 1
        if end > at:
            out.append("[card]")
            at = end
        else:
            out.append(groups[at])
            at += 1
        if at < len(groups) and at % 2:
            out.append(groups[at])
            at += 1
    return "".join(out)


def is_card(number: str) -> bool:
    """Length and beginning of some issuer, and the Luhn sum."""
    if not any(len(number) in lengths and begins.match(number) for begins, lengths in _CARDS):
        return False
    digits = [int(one) for one in reversed(number)]
    return (sum(digits[::2]) + sum(sum(divmod(2 * one, 10)) for one in digits[1::2])) % 10 == 0


def _token(text: str) -> str:
    text = _TOKEN.sub("[token]", _without_keys(text))
    return _NAMED.sub(_secret_masked, text)


def _secret_masked(found: re.Match[str]) -> str:
    # After a plain space it may be a word ("the password is forgotten"): a secret has more than letters.
    value = found["value"]
    if value.startswith("[") or (
        found["name"].rstrip("\"'`").endswith(" ") and _is_a_word(found["name"], value)
    ):
        return found[0]
    return f"{found['name']}[token]"


def _is_a_word(name: str, value: str) -> bool:
    assigned = ":" in name or "=" in name
    return not assigned and re.fullmatch(r"[^\W\d_]+(?:[-'’][^\W\d_]+)*[.,;:!?)]*", value) is not None


def _without_keys(text: str) -> str:
    """Private keys in PEM, to their end, or to that of the text; in one pass."""
    out, at = [], 0
    while (found := _KEY_BEGINS.search(text, at)) is not None:
        out += [text[at : found.start()], "[token]"]
        end = text.find(_KEY_ENDS, found.end())
        close = text.find("-----", end + len(_KEY_ENDS)) if end >= 0 else -1
        at = close + 5 if close >= 0 else len(text)
    return "".join((*out, text[at:])) if out else text


# Tokens first: a web token may hold digits, a password an @. Cards before telephones: both are digits in groups.
KINDS: Mapping[str, Callable[[str], str]] = {
    "token": _token,
    "email": lambda text: _EMAIL.sub("[email]", text) if "@" in text else text,
    "card": lambda text: _DIGITS.sub(_cards_in, text),
    "phone": lambda text: _PHONE.sub(_phone_masked, text),
}
NONE = "none"


def kinds_of(rule: str) -> tuple[str, ...]:
    """`email, card`, `all` or `none` as kinds, in the order in which they are masked."""
    if not isinstance(rule, str):
        raise UsageError(f"redact takes text such as 'email, card', not {type(rule).__name__}")
    named = [one.strip().lower() for one in rule.split(",") if one.strip()]
    if named in ([], [NONE]):
        return ()
    if named == ["all"]:
        return tuple(KINDS)
    if unknown := [one for one in named if one not in KINDS]:
        raise UsageError(f"redact: there is no {unknown[0]!r}; there are {', '.join(KINDS)}, all and {NONE}")
    return tuple(kind for kind in KINDS if kind in named)


@dataclass(frozen=True, slots=True)
class Masks:
    """What one bank masks. `digest` makes a short name of a text that only this bank can make."""

    kinds: tuple[str, ...] = ()
    digest: Callable[[str], str] = lambda text: ""

    def __bool__(self) -> bool:
        return bool(self.kinds)

    def text(self, given: str) -> str:
        """Words as they are stored."""
        for kind in self.kinds:
            given = KINDS[kind](given)
        return given

    def label(self, given: str) -> str:
        """An id or a session: two that differ go on to differ, and nobody can tell what they were."""
        masked = self.text(given)
        return masked if masked == given else f"{masked[:400]}#{self.digest(given)}"

    def deep(self, given: Any) -> Any:
        """The same of all text in JSON, keys included. A number with so many digits may be a card."""
        if isinstance(given, str):
            return self.text(given)
        if isinstance(given, Mapping):
            return {self.text(key): self.deep(value) for key, value in given.items()}
        if isinstance(given, list | tuple):
            return [self.deep(one) for one in given]
        if isinstance(given, int) and not isinstance(given, bool) and abs(given) >= 10**12:
            masked = self.text(str(given))
            return given if masked == str(given) else masked
        return given

    def message(self, given: Message) -> Message:
        """A message as it is remembered."""
        if not self.kinds:
            return given
        return replace(
            given,
            text=self.text(given.text),
            name=None if given.name is None else self.text(given.name),
            id=None if given.id is None else self.label(given.id),
            session=None if given.session is None else self.label(given.session),
            metadata=self.deep(given.metadata),
        )

    def labels(self, given: Iterable[str]) -> list[str]:
        return [self.label(one) for one in given]
