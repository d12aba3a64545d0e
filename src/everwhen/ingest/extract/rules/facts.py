"""Stable facts that a clause states: where somebody lives and works, what they like, own, use and plan."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from everwhen.ingest.extract.base import ExtractedFact
from everwhen.ingest.extract.rules.clauses import Clause, clauses
from everwhen.ingest.extract.rules.cleaning import Passage
from everwhen.ingest.extract.rules.draft import Draft
from everwhen.ingest.extract.rules.lexicon import FIRST, KINDS, PERSON_WORDS, THIRD, VAGUE, WH, vocabulary
from everwhen.ingest.extract.rules.modality import asked, denied, is_ironic, status, tense
from everwhen.ingest.extract.rules.parsing import Parse, Word
from everwhen.ingest.extract.rules.times import Moment, attach, chosen, expressions
from everwhen.ingest.extract.rules.voices import Voices
from everwhen.types import Turn
from everwhen.when import Interval

_OWNED = frozenset(
    {"a pet", "a vehicle", "a device", "a musical instrument", "a place to live", "a wearable", "an animal"}
)
_ROLES = re.compile(
    r"(?:\w+(?:ist|ian|eer|ologist|grapher|maker|smith|tect)|teacher|nurse|doctor|lawyer|designer|developer|manager|writer|"
    r"painter|driver|chef|cook|baker|waiter|student|analyst|consultant|researcher|accountant|founder|director|actor|"
    r"singer|dancer|trainer|coach|farmer|plumber|barista|editor|professor|translator|programmer|carpenter|tutor|vet)"
)
_KIN = vocabulary(
    """
    mother mom mum father dad sister brother daughter son wife husband girlfriend boyfriend partner aunt
    uncle niece nephew cousin grandmother grandfather grandma grandpa fiancé fiancée roommate boss dog
    cat puppy
    """
)
_LIKES = {
    "love": "likes",
    "like": "likes",
    "enjoy": "likes",
    "adore": "likes",
    "hate": "dislikes",
    "dislike": "dislikes",
}
DOMAINS = {
    "lives_in": "location",
    "works_at": "work",
    "role": "work",
    "prefers": "preference",
    "likes": "preference",
    "dislikes": "preference",
    "owns": "possession",
    "birthday": "personal_trait",
    "uses": "tech_preference",
    "plans": "plan",
}

Found = tuple[str, str, str]
Rule = Callable[[Clause, Voices], Found | None]
_PLACES = ("GPE", "LOC", "FAC")


def facts(
    turn: Turn, read: Sequence[tuple[Passage, Parse]], drafts: Sequence[Draft], voices: Voices
) -> list[ExtractedFact]:
    """The facts that a turn states."""
    moment = Moment(turn.said_at, turn.zone)
    found: dict[Found, ExtractedFact] = {}
    for passage, parse in read:
        voices.offset = passage.start
        questions = {place for sentence in parse.sentences for place in asked(sentence)}
        told = clauses(parse)
        owned, _ = attach(told, expressions(parse, moment))
        for place, clause in enumerate(told):
            sentence = parse.sentences[clause.first.sentence]
            ironic = is_ironic(parse.text[sentence[0].start : sentence[-1].end])
            if (
                clause.first.i in questions
                or ironic
                or passage.quoted(clause.verb.start)
                or not _holds(clause)
            ):
                continue
            for rule in _RULES:
                fact = rule(clause, voices)
                if fact is not None and (fact[1] != "lives_in" or _is_place(fact[2], parse)):
                    dated = chosen(owned.get(place, []), "past", parse.text, moment)
                    valid = _valid(clause, dated.interval if dated else None)
                    found.setdefault(fact, _fact(fact, turn, valid))
        for fact in _kin(parse, voices, questions):
            found.setdefault(fact, _fact(fact, turn, None, "personal_trait"))
    for draft in drafts:
        if (
            draft.status == "planned"
            and not draft.inferred
            and draft.subject == turn.speaker
            and draft.polarity > 0
        ):
            plan = (draft.subject, "plans", f"{draft.verb} {draft.object}".strip())
            found.setdefault(plan, _fact(plan, turn, draft.occurred))
    return list(found.values())


def _is_place(name: str, parse: Parse) -> bool:
    return any(one.label in _PLACES and one.text in name for one in parse.names)


def _fact(found: Found, turn: Turn, valid: Interval | None, domain: str | None = None) -> ExtractedFact:
    subject, predicate, object_ = found
    return ExtractedFact(
        subject=subject,
        predicate=predicate,
        object=object_,
        turns=(turn.id,),
        domain=domain or DOMAINS.get(predicate, "general"),
        valid=valid,
        confidence=0.8 if subject == turn.speaker else 0.7,
    )


def _holds(clause: Clause) -> bool:
    """Whether a clause states how things are or have become; plans, wishes and denials do not."""
    if (
        clause.subject is None
        or clause.subject.lower in WH | THIRD - {"he", "she"}
        or clause.link in ("condition", "said")
    ):
        return False
    return status(clause) in ("happened", "ongoing") or (denied(clause) and clause.verb.lemma in _LIKES)


def _valid(clause: Clause, interval: Interval | None) -> Interval | None:
    """From when a fact holds, where its clause says so; it goes on until something else is said."""
    if interval is None or interval.start is None:
        return None
    return Interval(interval.start, None, interval.grain)


# Rules: each looks at one clause


def _lives(clause: Clause, voices: Voices) -> Found | None:
    if clause.verb.lemma == "live" and tense(clause) in ("present", "progressive", "perfect"):
        place = _after(clause, "in", "at")
    elif clause.verb.lemma in ("move", "relocate") and tense(clause) in ("past", "perfect"):
        place = _after(clause, "to")
    else:
        return None
    if place is None or place.pos not in ("PROPN",):
        return None
    return voices.phrase(_subject(clause)), "lives_in", voices.phrase(place)


def _works(clause: Clause, voices: Voices) -> Found | None:
    if clause.verb.lemma == "work" and tense(clause) in ("present", "progressive", "perfect"):
        place = _after(clause, "at", "for")
        role = _after(clause, "as")
        if role is not None and role.pos == "NOUN":
            return voices.phrase(_subject(clause)), "role", voices.phrase(role)
    elif clause.verb.lemma in ("start", "begin") and tense(clause) in ("past", "perfect"):
        place = _after(clause, "at")
    else:
        return None
    if place is None or place.pos == "PRON" or place.lemma in ("home", "moment", "night"):
        return None
    return voices.phrase(_subject(clause)), "works_at", voices.phrase(place)


def _is(clause: Clause, voices: Voices) -> Found | None:
    """ "I'm a data analyst", "my favourite colour is green", "my birthday is on 14 June"."""
    subject = _subject(clause)
    attribute = clause.verb.child("attr")
    if clause.verb.lemma != "be" or tense(clause) not in ("present", "perfect"):
        return None
    if subject.lemma == "birthday":
        words = [
            word
            for word in clause.words()
            if word.i > clause.verb.i and word.pos in ("NUM", "PROPN", "NOUN", "ADJ")
        ]
        owner = next((voices.owner(child) for child in subject.children if child.dep == "poss"), None)
        date = " ".join(word.text for word in words)
        return (
            (owner.removesuffix("'s"), "birthday", date) if owner and any(c.isdigit() for c in date) else None
        )
    if attribute is None or attribute.pos not in ("NOUN", "PROPN"):
        return None
    favourite = next(
        (child for child in subject.children if child.lower in ("favourite", "favorite", "fav")), None
    )
    owner = next((voices.owner(child) for child in subject.children if child.dep == "poss"), None)
    if favourite is not None and owner:
        return owner.removesuffix("'s"), "prefers", f"{voices.phrase(attribute)} ({subject.lemma})"
    if subject.lower == "i" and _ROLES.fullmatch(attribute.lower):
        return voices.phrase(subject), "role", voices.phrase(attribute)
    return None


def _likes(clause: Clause, voices: Voices) -> Found | None:
    lemma = clause.verb.lemma
    object_ = clause.verb.child("dobj")
    if lemma not in (*_LIKES, "prefer") or object_ is None or tense(clause) != "present":
        return None
    if (
        object_.pos not in ("NOUN", "PROPN")
        or object_.lemma in VAGUE
        or _subject(clause).lower not in FIRST | {"he", "she"}
    ):
        return None
    if any(
        child.dep in ("poss", "det") and child.lower in ("your", "that", "this", "how")
        for child in object_.children
    ):
        return None
    predicate = "prefers" if lemma == "prefer" else _LIKES[lemma]
    if denied(clause) and predicate == "likes":
        predicate = "dislikes"
    return voices.phrase(_subject(clause)), predicate, voices.phrase(object_)


def _owns(clause: Clause, voices: Voices) -> Found | None:
    object_ = clause.verb.child("dobj")
    if clause.verb.lemma not in ("have", "own", "buy", "adopt", "get") or object_ is None or denied(clause):
        return None
    if clause.verb.lemma == "have" and tense(clause) not in ("present", "perfect"):
        return None
    if KINDS.get(object_.lemma) not in _OWNED:
        return None
    return voices.phrase(_subject(clause)), "owns", voices.phrase(object_)


def _uses(clause: Clause, voices: Voices) -> Found | None:
    subject = _subject(clause)
    if clause.verb.lemma == "use" and tense(clause) in ("present", "progressive"):
        object_ = clause.verb.child("dobj")
    elif clause.verb.lemma in ("switch", "change", "migrate") and tense(clause) in ("past", "perfect"):
        object_ = _after(clause, "to")
    else:
        return None
    if object_ is None or object_.pos != "PROPN" or subject.lower not in FIRST:
        return None
    return voices.phrase(subject), "uses", voices.phrase(object_)


_RULES: tuple[Rule, ...] = (_lives, _works, _is, _likes, _owns, _uses)


def _kin(parse: Parse, voices: Voices, questions: set[int]) -> list[Found]:
    """ "my brother Rui": who is who to the speaker."""
    found = []
    for word in parse.words:
        if word.lemma not in _KIN & PERSON_WORDS or word.i in questions:
            continue
        owner = next((voices.owner(child) for child in word.children if child.dep == "poss"), None)
        named = word.child("appos")
        if named is None and word.dep == "compound" and word.head.pos == "PROPN":
            named = word.head
            owner = next((voices.owner(child) for child in named.children if child.dep == "poss"), owner)
        if owner and named is not None and named.pos == "PROPN" and abs(named.i - word.i) <= 2:
            found.append((owner.removesuffix("'s"), word.lemma, named.text))
    return found


def _subject(clause: Clause) -> Word:
    assert clause.subject is not None  # `_holds` has looked
    return clause.subject


def _after(clause: Clause, *prepositions: str) -> Word | None:
    for child in clause.verb.children:
        if (
            child.dep == "prep"
            and child.lower in prepositions
            and (target := child.child("pobj")) is not None
        ):
            return target
    return None
