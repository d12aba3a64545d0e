"""Whether a clause is about the past or the future, by its words alone; no parser is needed."""

from __future__ import annotations

import re
from typing import NamedTuple

from everwhen.when.meaning import Side
from everwhen.when.tokenizer import Token, word_set

_PAST = word_set(
    """was were wasn't weren't did didn't had hadn't been went came saw got made took found gave told felt
    left said thought knew became began kept held wrote ran sat stood met paid sent spent built bought brought
    caught taught fell grew led lost won understood spoke chose drove rode flew ate drank slept woke broke
    hit hurt put quit read rang sang swam swung threw wore tore stole froze forgot forgave hid fed fled
    sold shot shut sank stuck struck swore tried taken gone done seen given written eaten driven flown
    known grown shown broken chosen spoken stolen woken i've we've they've you've lent laid
    dug drew blew set beat burst bit bled bred cut dealt heard lit meant proved shook shone split spread
    sprang stung swept wept wound bent bound burnt dreamt learnt spilt spoilt leapt leaned
    snuck dove hung lay happened ended used ago finished started born"""
)
# -ed words that are no past verbs, or that speak of what is arranged.
_NOT_PAST = word_set(
    """need feed seed speed indeed hundred red bed wed shed sled weed deed bleed breed exceed proceed succeed
    embed sacred naked wicked rugged excited tired interested supposed scheduled planned bored worried
    limited advanced based related united detailed experienced"""
)
_FUTURE = word_set(
    """will won't i'll we'll you'll he'll she'll it'll they'll that'll there'll gonna shall shan't lets
    planning plan plans upcoming scheduled supposed should must hope hoping expecting expect intend remind
    schedule reschedule book due wanna gotta need needs want wants can could let please
    reserve postpone cancel arrange prepare"""
)
_BE = word_set(
    "am is are i'm we're you're they're he's she's it's that's there's isn't aren't ain't 's 'm 're"
)
_PRESENT = _BE | word_set(
    """do does don't doesn't has have having starts begins opens ends leaves arrives closes expires launches
    happens takes comes goes flies lands ships finishes returns resumes kicks meets moves turns runs lasts
    falls departs drops airs premieres gets works sounds suits fits"""
)
_PASSIVE = _BE | word_set("be being get gets getting")
_AUXILIARIES = word_set("did didn't do does will would can could should have has had was were are is")
_PREFIX = re.compile(r"^(?:over|under|out|mis|re|un|with|fore|up)(?=\w{3})")
_MODALS = word_set(
    """will won't i'll we'll you'll he'll she'll it'll they'll gonna shall should must can could would to
    may might let don't doesn't didn't"""
)
_PREDICATES = word_set("back home here there over away out off gone done ready up free live around")
"""After a form of "be" they tell how things will stand: "I'm back in one day"."""
_REPORTS = word_set("said says say told promised thought hoped knew swore announced mentioned confirmed")
_ING_NOUNS = word_set(
    """morning evening during thing nothing something anything everything spring king ring string ceiling wedding
    feeling building clothing according being having concerning regarding sibling pudding"""
)
_ARRANGED = word_set("booked scheduled planned reserved arranged postponed pushed rescheduled due set")
_ARTICLES = word_set("the a an my our your his their its this these those some")
_PRONOUNS = word_set("i we they you")
_NOT_VERBS = word_set(
    """and or but the a an to of in on at with for from not also really just both all always never often
    still even only ever then so too who that which when if as than about into before after since until
    usually actually finally recently already last next this every each"""
)
_OPENERS = word_set(
    """call meet send set see join come bring finish submit buy pick make take get go visit check follow ping
    email text deploy ship release merge review update move start begin wake order pay return give tell ask
    try wait leave put add create show find give don't remember sign file renew collect pack clean wash water
    feed fix print mail reply attend study practice practise read write watch use run hand turn drop"""
)
_TURNS = word_set("and so then but or , - please just")
"""After these a bare verb with "me" or "us" may ask for something."""
_BREAKS = frozenset({".", "!", "?", ";"})
_JOINTS = frozenset(
    {",", ":", "but", "and", "because", "so", "while", "although", "though", "when", "that", "if", "(", ")"}
)
_REACH = 14  # tokens looked at on either side
_SURE = 0.9  # the strength from which a verb surely speaks of what is to come


class VerbDirection(NamedTuple):
    """Whether a verb points to the past or the future, and how certain that is."""

    side: Side | None
    certain: bool = False  # a sure sign, not a mere hint
    present: bool = False  # a verb in the present tense: what it speaks of may be today


def side_of(tokens: list[Token], start: int, end: int) -> VerbDirection:
    """The way that the verb nearest to the tokens `start` to `end` looks."""
    if _arranged(tokens, start):
        return VerbDirection("future", True)
    best: tuple[float, VerbDirection] | None = None
    for step, origin in ((-1, start - 1), (1, end)):
        index, distance, own, told = origin, 0.0, True, False
        while 0 <= index < len(tokens) and distance <= _REACH:
            word = tokens[index].lower
            if word in _BREAKS or (told and word in _JOINTS):
                break  # "I've left the bank, I start at a clinic on Monday": its own clause has a verb
            own = own and word not in _JOINTS
            distance += 4 if word in _JOINTS else 1
            found = _looks(tokens, index)
            if found is not None:
                told = told or own
                side, strength = found
                if word == "'s" and index == end:  # "Friday's meeting went well": a verb says more than it
                    strength /= 2
                cost = distance / strength + (0.5 if step > 0 else 0)
                if best is None or cost < best[0]:
                    certain = strength > 0.5 or distance <= 1
                    best = (
                        cost,
                        VerbDirection(
                            side, certain, side == "future" and (strength < _SURE or word == "due")
                        ),
                    )
            index += step
    return best[1] if best else VerbDirection(None)


def _obliged(tokens: list[Token], index: int) -> bool:
    """Whether it had to be: "it had to be signed on Monday"."""
    word = tokens[index].lower if index >= 0 else ""
    return word in _PAST or word in _MODALS or (word.endswith("ed") and word not in _NOT_PAST)


def _arranged(tokens: list[Token], start: int) -> bool:
    """Whether something was arranged for it: "booked it for the second weekend in July"."""
    words = [token.lower for token in tokens[max(0, start - 5) : start + 1]]
    return bool({"for", "to", "until"} & set(words[-2:])) and not _ARRANGED.isdisjoint(words)


def _looks(tokens: list[Token], index: int) -> tuple[Side, float] | None:
    """The side that one word speaks for and how strongly: 1 for a sure sign, less for a hint."""
    token = tokens[index]
    if token.kind not in ("word", "mark"):
        return None
    word = token.lower
    before = tokens[index - 1].lower if index else ""
    if word == "see" and index + 1 < len(tokens) and tokens[index + 1].lower in ("you", "ya", "u"):
        return "future", 0.9
    if word == "due" and index + 1 < len(tokens) and tokens[index + 1].lower == "to":
        return None  # because of
    if word == "due" and before in ("was", "were", "wasn't", "weren't"):
        return None  # the verb tells
    if word == "would" and not _REPORTS.isdisjoint(one.lower for one in tokens[max(0, index - 5) : index]):
        return "future", 1.0  # "she said she would come"
    if word == "be" and before == "to" and not _obliged(tokens, index - 2):
        return "future", 0.7  # "contract to be signed on Monday"
    if word in _FUTURE:
        return (
            None
            if word in ("can", "book", "plan", "due", "let") and before in ("the", "a", "my", "this")
            else ("future", 1.0)
        )
    if before in _PASSIVE or before in _MODALS:
        return None if word not in _BE else ("future", 0.5)  # "is held", "will cut": the word before tells
    if word in _PAST or _PREFIX.sub("", word) in _PAST:
        return "past", 1.0
    if word.endswith("ed") and len(word) > 3 and word not in _NOT_PAST:
        if before in _ARTICLES:
            return None  # "my guided sessions"
        return ("future", 0.8) if before in _BE and word in ("scheduled", "planned") else ("past", 0.9)
    if word.endswith("ing") and len(word) > 4 and before in _BE:
        return "future", 0.9
    if word in _BE and index + 1 < len(tokens) and tokens[index + 1].lower in _PREDICATES:
        return "future", 0.6
    if word in _PRESENT or word in ("deadline", "eta"):
        return "future", 0.5 if word in _BE else 0.6
    if before in _PRONOUNS and token.kind == "word" and word not in _NOT_VERBS:
        asked = index > 1 and tokens[index - 2].lower in _AUXILIARIES  # "did we fix": did tells
        return None if asked else ("future", 0.4)
    opening = index == 0 or tokens[index - 1].lower in (*_BREAKS, ":")
    if opening and word in _OPENERS:
        return "future", 0.6
    heading = index + 1 < len(tokens) and tokens[index + 1].lower == ":"
    if opening and word.endswith("ing") and len(word) > 4 and word not in _ING_NOUNS and not heading:
        return "future", 0.5  # "Signing on Monday!"
    asked = index + 1 < len(tokens) and tokens[index + 1].lower in ("me", "us")
    if asked and before in _TURNS and word in _OPENERS:
        return "future", 0.9  # "sleep on it, and ask me on Monday": nobody else is there who could do it
    return None
