"""From what a model says to an `Answer`: citations held against the stored turns, dates resolved, links taken out.

An answer is shown, not fetched. A text in the memory may talk a model into printing a picture whose address carries
what the memory knows; whoever shows the answer would then send it. So no picture and no HTML comes through, and an
address only where it stands, letter by letter, in a turn that was shown: such a one can carry nothing.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from everwhen.answer.view import BankView, Labels
from everwhen.errors import UsageError
from everwhen.models.llm.base import Tool
from everwhen.types import Citation, Turn
from everwhen.types.times import TimeReader
from everwhen_time import Interval

LONGEST_ANSWER = 8_000
MOST_CITATIONS = 30
LONGEST_QUOTE = 400
"""Characters of a turn that are quoted where the model did not say which."""

_CITED = re.compile(r"\s*[\[(]((?:t\d+(?:\s*[,;]\s*)?)+)[\])]", re.IGNORECASE)
_UNKNOWN = re.compile(
    r"\b(?:i (?:do not|don['’]t) know|not enough information|"
    r"(?:is|was|are|were) (?:not|never) (?:known|mentioned|stated|specified|recorded|said)|"
    r"(?:isn|wasn|aren)['’]t (?:known|mentioned|stated|specified|recorded)|"
    r"no (?:information|mention|record|evidence|memory)|(?:does|do|did) not (?:say|tell|mention|contain|specify|state)|"
    r"(?:doesn|don|didn)['’]t (?:say|tell|mention|contain|specify)|"
    r"(?:cannot|can['’]t|could not|couldn['’]t) (?:be (?:determined|answered)|find|determine|tell|answer)|unknown)\b",
    re.IGNORECASE,
)


class ModelCitation(BaseModel):
    """A citation as a model gives it."""

    turn: str = Field(max_length=600, description="The turn, such as t3.")
    quote: str = Field("", max_length=20_000, description="Words of that turn, copied letter by letter.")


class FinalAnswer(BaseModel):
    """The answer as a model gives it."""

    model_config = ConfigDict(extra="ignore")

    text: str = Field(min_length=1, description="The answer, one to three sentences.")
    citations: list[ModelCitation] = Field(default_factory=list, description="The turns that bear it out.")
    dates: list[str] = Field(default_factory=list, description="The dates that the answer rests on.")
    known: bool = Field(True, description="False when the memory does not tell.")
    confidence: float = Field(0.5, ge=0, le=1, description="How sure you are.")


def answer_tool() -> Tool:
    """What the model calls to answer."""
    schema = FinalAnswer.model_json_schema()
    cited = {key: value for key, value in schema.pop("$defs")["ModelCitation"].items() if key != "title"}
    properties = {
        name: {key: value for key, value in one.items() if key != "title"}
        for name, one in schema["properties"].items()
    }
    properties["citations"]["items"] = cited
    return Tool(
        "answer",
        "Give the answer. Call it once, when you are done.",
        {
            "type": "object",
            "properties": properties,
            "required": ["text", "citations", "known"],
            "additionalProperties": False,
        },
    )


@dataclass(frozen=True, slots=True)
class CheckedAnswer:
    """An answer that was held against the memory. `dropped` says what did not hold."""

    text: str
    citations: tuple[Citation, ...]
    intervals: tuple[Interval, ...]
    known: bool
    confidence: float
    dropped: tuple[str, ...]


def read_call(arguments: str) -> FinalAnswer:
    """The arguments of an `answer` call. Raises `UsageError` with what is wrong."""
    try:
        given = json.loads(arguments or "{}")
        return FinalAnswer.model_validate(given)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"])
        raise UsageError(f"answer: {where}: {first['msg']}") from None
    except ValueError:
        raise UsageError("the arguments of answer are not JSON") from None


def read_words(text: str) -> FinalAnswer:
    """An answer that came as plain words, with its citations in brackets: [t3]."""
    labels = [label.strip() for found in _CITED.finditer(text) for label in re.split(r"[,;]", found[1])]
    words = without_citations(text).strip()
    cited = [ModelCitation(turn=label, quote="") for label in dict.fromkeys(labels) if label]
    known = not (_UNKNOWN.search(words) and not cited)
    return FinalAnswer(
        text=words or "I don't know.", citations=cited, known=known and bool(words), confidence=0.0
    )


def without_citations(text: str) -> str:
    """Plain words without the labels in brackets."""
    return _CITED.sub("", text)


def check_answer(final: FinalAnswer, view: BankView, labels: Labels) -> CheckedAnswer:
    """The answer as far as the memory bears it out.

    `confidence` is what the model says of itself times the share of its citations that hold: 0 without any.
    """
    dropped: list[str] = []
    citations: dict[tuple[str, str], Citation] = {}
    given = final.citations[:MOST_CITATIONS]
    for cited in given:
        found = _citation(cited, view, labels)
        if isinstance(found, Citation):
            citations[found.turn, found.quote] = found
        else:
            dropped.append(found)
    intervals: list[Interval] = []
    for date in final.dates[:MOST_CITATIONS]:
        try:
            intervals.append(TimeReader(view.zone, view.at).interval(date, "dates"))
        except UsageError:
            dropped.append(f"the date {date[:60]!r} means nothing")
    text = without_unknown_links(
        final.text[:LONGEST_ANSWER], lambda address: _stands(address, labels.shown)
    ).strip()
    known = final.known and bool(text)
    held = len(citations) / len(given) if given else 0.0
    return CheckedAnswer(
        text or "I don't know.",
        tuple(citations.values()) if known else (),
        tuple(dict.fromkeys(intervals)) if known else (),
        known,
        final.confidence * min(1.0, held) if known else 0.0,
        tuple(dropped),
    )


def partial_text(arguments: str) -> str:
    """The text of an `answer` call whose arguments are still coming."""
    from pydantic_core import from_json

    try:
        given: Any = from_json(arguments, allow_partial="trailing-strings")
    except ValueError:
        return ""
    return str(given.get("text", "")) if isinstance(given, dict) else ""


def cut_off(arguments: str) -> FinalAnswer | None:
    """The answer of a call that was cut off behind its text, with the citations that came whole; else none."""
    from pydantic_core import from_json

    try:
        given: Any = from_json(arguments, allow_partial=True)
    except ValueError:
        return None
    text = given.get("text") if isinstance(given, dict) else None
    if not isinstance(text, str) or not text.strip():
        return None
    cited = [
        {"turn": one["turn"], "quote": one["quote"]}
        for one in given.get("citations") or ()
        if isinstance(one, dict) and {"turn", "quote"} <= set(one)
    ]
    known = not _UNKNOWN.search(text)
    try:
        return FinalAnswer.model_validate(
            {"text": text, "citations": cited, "known": known, "confidence": 0.0}
        )
    except ValidationError:
        return None


def _citation(cited: ModelCitation, view: BankView, labels: Labels) -> Citation | str:
    """The citation with the quotation as it stands in the turn; or why there is none."""
    turn = labels.turn(cited.turn) or view.turn(cited.turn)
    quote = cited.quote.strip()
    if turn is not None and not quote:
        return _cite(turn, turn.text[:LONGEST_QUOTE])
    if turn is not None and (words := _standing(quote, turn.text)):
        return _cite(turn, words)
    # The right words under the wrong label are the right turn.
    for other in labels.shown:
        if quote and (words := _standing(quote, other.text)):
            return _cite(other, words)
    if turn is None:
        return f"there is no turn {cited.turn[:60]!r}"
    return f"turn {cited.turn[:60]!r} does not say {quote[:80]!r}"


def _cite(turn: Turn, quote: str) -> Citation:
    return Citation(turn.id, quote, turn.said_at, turn.speaker, turn.zone)


def _standing(quote: str, text: str) -> str:
    """The words of a text that a quotation is, whatever its punctuation and case; empty where it is none."""
    words = re.findall(r"\w+", quote)
    if not words:
        return ""
    found = re.search(r"\W+".join(map(re.escape, words)), text, re.IGNORECASE)
    return found[0] if found else ""


def _stands(address: str, turns: Sequence[Turn]) -> bool:
    """Whether an address stands in a turn by itself: not as the beginning of a longer one."""
    pattern = re.compile(rf"(?<![\w/.-]){re.escape(address)}(?![\w/?#&=%+-])")
    return any(pattern.search(turn.text) for turn in turns)


REMOVED = "[link removed]"

_IMAGE = re.compile(r"!\[([^\]\n]*)\][ \t]*(?:\([^)\n]*\)?|\[[^\]\n]*\]?)")
_LINK = re.compile(r"\[([^\]\n]*)\]\([ \t]*<?([^)\s>]*)[^)\n]*\)?")
_DEFINITION = re.compile(r"^[ \t]*\[[^\]\n]+\]:.*$", re.MULTILINE)
_TAG = re.compile(r"<(?=[A-Za-z/!?])[^>\n]*>?")
# Browsers take "https:host" and "https:/host" for "https://host".
_ADDRESS = re.compile(
    r"(?:https?|ftp|wss?|javascript|data|vbscript|file|mailto|blob):\S+"
    r"|\b[a-z][a-z0-9+.-]{1,20}:\S*[/\\]{2}\S+|\bwww\.\S+|(?<![\w/])[/\\]{2}[\w-]+(?:\.[\w-]+)+\S*"
    r"|(?<=[(<\"'=])[/\\]{2}\S*",
    re.IGNORECASE,
)
_TRAILING = ".,;:!?'\")]}>*_"
_OPENERS = re.compile(r"!?\[|<")
_ROUNDS = 8
"""How often something may be written as an entity of an entity."""


def without_unknown_links(text: str, holds: Callable[[str], bool]) -> str:
    """The text without pictures and HTML, and with no address but those that `holds` says were in the memory."""
    for _ in range(_ROUNDS):  # what is taken out may leave its neighbours as something new
        cleaned = _ADDRESS.sub(
            lambda found: _address_or_mark(found[0], holds), _without_marks(_as_shown(text), holds)
        )
        if cleaned == text:
            break
        text = cleaned
    return text


def _without_marks(text: str, holds: Callable[[str], bool]) -> str:
    text = _DEFINITION.sub("", text)
    text = _IMAGE.sub(lambda found: found[1], text)
    text = _LINK.sub(lambda found: _link_in_words(found[1], found[2], holds), text)
    return _TAG.sub("", text).replace("](", "] (")  # whatever is left of a link is none


def showable_length(text: str) -> int:
    """Up to where a text that is still being written can be shown: what follows may yet become a link.

    That is its last word, and its last line from the first bracket on; nothing that matters goes past a line's end.
    """
    word = max(text.rfind(" "), text.rfind("\n")) + 1
    opened = _OPENERS.search(text, text.rfind("\n") + 1)
    return min(word, opened.start()) if opened else word


def _as_shown(text: str) -> str:
    """The text as a page would show it: entities as what they stand for, nothing that has no shape."""
    for _ in range(_ROUNDS):
        plain = unescape(text)
        if plain == text:
            break
        text = plain
    return "".join(
        letter
        for letter in text
        if letter in "\n\t\u200c\u200d" or unicodedata.category(letter) not in ("Cc", "Cf", "Co", "Cn", "Cs")
    )


def _link_in_words(words: str, target: str, holds: Callable[[str], bool]) -> str:
    if not target or _ADDRESS.fullmatch(target) is None:
        return words
    return f"{words} ({target})" if holds(target) else f"{words} {REMOVED}"


def _address_or_mark(found: str, holds: Callable[[str], bool]) -> str:
    address = found.rstrip(_TRAILING)
    rest = found[len(address) :]
    return found if address and holds(address) else REMOVED + rest
