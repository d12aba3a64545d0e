"""Predicates: which can have one object at a time and which several, and which words mean the same one.

Nobody has to declare anything: a predicate that is in no table is single-valued. The shipped table knows the
common ones of conversation and of projects; a bank declares its own with `define_predicate`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from everwhen.errors import UsageError
from everwhen.store.facts import Declared

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])")
_GAPS = re.compile(r"[\s_\-]+")
_SCOPE = re.compile(r"\s(?:for|when|while|during)\s+(?:the\s+|my\s+|his\s+|her\s+|their\s+|a\s+|an\s+)?(.+)$")
_SCOPED = re.compile(r"(?:prefer|use|favou?rite|choose|like|want)")

# name; several objects at a time?; domain; words that mean the same
_SHIPPED: tuple[tuple[str, bool, str | None, str], ...] = (
    ("lives in", False, None, "live in|lived in|living in|is living in|lives at|resides in|reside in|moved to"
     "|moves to|has moved to|relocated to|relocates to|based in|is based in|home is in"),
    ("works at", False, None, "work at|worked at|works for|work for|worked for|is employed by|employed by|employer"
     "|joined|started at|has a job at"),
    ("works as", False, None, "work as|worked as|job|job is|job title|occupation|profession|is employed as"),
    ("prefers", False, None, "prefer|preferred|preference|has a preference for"),
    ("favourite", False, None, "favorite|favourite is|favorite is"),
    ("name", False, "personal_trait", "is named|is called|is known as|goes by|named"),
    ("born on", False, "personal_trait", "was born on|birthday|birthday is|date of birth|birth date|birthdate"),
    ("born in", False, "personal_trait", "was born in|birthplace|place of birth|comes from|is from|from"),
    ("age", False, None, "is aged|aged"),
    ("nationality", False, "personal_trait", "citizenship|is a citizen of"),
    ("married to", False, None, "is married to|spouse|husband|wife|married"),
    ("partner", False, None, "is dating|dating|boyfriend|girlfriend|in a relationship with"),
    ("email", False, None, "email address|e mail"),
    ("phone", False, None, "phone number|telephone|mobile"),
    ("studies at", False, None, "study at|attends|is enrolled at|goes to school at"),
    ("status", False, "project_status", "has status|status is|state|project status"),
    ("deadline", False, "project_status", "due|due on|is due|due date"),
    ("version", False, "api_version", "has version|is at version|api version|current version|runs version"),
    ("reports to", False, "team_member", "manager|manager is|boss|is managed by"),
    ("leads", False, "team_member", "team lead|is led by|runs the team"),
    ("runs on", False, "server_config", "hosted on|is hosted on|deployed on|is deployed on|deployed to"),
    ("listens on", False, "server_config", "port|listens on port"),
    ("likes", True, None, "like|liked|loves|love|loved|enjoys|enjoy|is fond of|is a fan of"),
    ("dislikes", True, None, "dislike|hates|hate|cannot stand"),
    ("visited", True, None, "visit|visits|has visited|travelled to|traveled to|went to|has been to|toured"),
    ("owns", True, None, "own|has|have|bought|possesses"),
    ("has pet", True, None, "pet|pets|has a pet|adopted"),
    ("has child", True, "personal_trait", "child|children|son|daughter|has a son|has a daughter"),
    ("has sibling", True, "personal_trait", "sibling|brother|sister|has a brother|has a sister"),
    ("has parent", True, "personal_trait", "parent|mother|father"),
    ("friend of", True, None, "friend|friends with|is friends with|is a friend of|befriended"),
    ("knows", True, None, "know|met|has met"),
    ("speaks", True, "personal_trait", "speak|speaks language|language"),
    ("plays", True, None, "play|played"),
    ("uses", True, "tech_preference", "use|using|works with|used"),
    ("knows how to", True, None, "can|skill|has skill|is able to"),
    ("works on", True, "project_status", "work on|is working on|contributes to"),
    ("member of", True, "team_member", "is a member of|belongs to|is in the team|team member|is part of"),
    ("allergic to", True, "personal_trait", "is allergic to|allergy|has an allergy to"),
    ("read", True, None, "reads|has read|is reading"),
    ("watched", True, None, "watches|has watched|saw"),
    ("attended", True, None, "attend|took part in|participated in"),
    ("studied", True, None, "study|studies|is studying|learned|is learning|learns"),
    ("wants", True, None, "want|wishes for|hopes for|wishes to"),
    ("plans", True, None, "plan|plans to|is planning|intends to"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Predicate:
    """A predicate as facts are kept under it."""

    key: str
    name: str
    multi: bool = False
    domain: str | None = None

    def slot(self, object_: str) -> str:
        """Where facts of this predicate would contradict: everywhere, in one scope, or only on one object."""
        if self.multi:
            return folded(object_)
        return scope(object_) if _SCOPED.match(self.key) else ""


class Predicates:
    """The shipped table with a bank's own declarations over it."""

    def __init__(self, declared: Iterable[Declared] = ()) -> None:
        self._known = dict(_shipped())
        for one in declared:
            predicate = Predicate(one.key, one.name, one.multi, one.domain)
            for words in (one.key, *one.synonyms):
                self._known[normalised(words)] = predicate

    def synonyms(self, words: str) -> tuple[str, ...]:
        """All the words that mean a predicate."""
        found = self.find(words)
        return tuple(known for known, predicate in self._known.items() if predicate == found)

    def find(self, words: str) -> Predicate:
        """The predicate that some words name; one that nobody declared is single-valued."""
        key = normalised(words)
        if not key:
            raise UsageError("the predicate is empty; name it, such as 'lives in'")
        known = self._known.get(key)
        if known is None:
            return Predicate(key, words.strip())
        # A synonym is written as the predicate that it stands for; its own name keeps its spelling (lives_in).
        return known if known.key != key else Predicate(key, words.strip(), known.multi, known.domain)


def _shipped() -> dict[str, Predicate]:
    if not _TABLE:
        for name, multi, domain, synonyms in _SHIPPED:
            predicate = Predicate(normalised(name), name, multi, domain)
            for words in (name, *synonyms.split("|")):
                _TABLE[normalised(words)] = predicate
    return _TABLE


_TABLE: dict[str, Predicate] = {}


def normalised(text: str) -> str:
    """What two spellings of one thing have in common: `livesIn`, `lives_in` and ` Lives  in` are one predicate."""
    spaced = _CAMEL.sub(" ", unicodedata.normalize("NFC", text))
    return _GAPS.sub(" ", spaced).strip().casefold()


def folded(text: str) -> str:
    """A subject or an object whatever its case and spacing; nothing else may make two of them one."""
    return " ".join(unicodedata.normalize("NFC", text).split()).casefold()


def scope(object_: str) -> str:
    """What an object is restricted to: "Python for scripting" speaks of scripting; '' is everything."""
    found = _SCOPE.search(folded(object_))
    return found.group(1) if found else ""
