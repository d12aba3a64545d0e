"""Compose training examples for the reader that tells the status of what a turn says with regard to a question.

    python training/statuses.py --count 40000 --seed 7 --out statuses.json.gz

An example is {"question", "speaker", "text", "status", "kind", "answer"}. `status` is one of STATUSES. `kind` and
`answer` are what an honest answer is from that turn alone: "span" with words that stand in the text, "yes", "no", or
"none" where the turn does not answer the question. The same seed gives the same examples.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
from dataclasses import dataclass
from pathlib import Path

from status_frames import (
    FRAMES,
    FRAMES_CORRECTED,
    FRAMES_OTHER,
    FRAMES_TWO,
    FUTURE_POINTS,
    FUTURE_TIMES,
    IRREGULAR,
    KIN_MEN,
    KIN_WOMEN,
    LEAD_INS,
    MEN,
    PAST_POINTS,
    PAST_TIMES,
    SMALL_TALK,
    TRAILING,
    TYPOS,
    WOMEN,
)
from status_relations import RELATIONS, Relation

STATUSES = ("true", "denied", "supposed", "planned", "ended", "reported", "fiction")
STATUS_WEIGHTS = (30, 12, 12, 12, 12, 11, 11)
MISMATCHED_SHARE = 0.25
TWO_STATUS_SHARE = 0.22
ABOUT_OTHER_SHARE = 0.14
WRITTEN_SHARE = 0.5  # a relation's own sentences against the frames, where both exist

# Words that stand in the text unchanged are marked while a sentence is composed, so that typos and case never break
# an answer: first value, second value, times, the other person.
VALUE, BARE, THE, VALUE_2, THE_2, PAST, FUTURE, OTHER = "\x01\x02\x03\x04\x05\x06\x07\x08"


@dataclass(frozen=True)
class Person:
    """Somebody a question or a sentence is about: `grammar` is "I", "you" or "he"."""

    name: str
    grammar: str
    he: str = "they"
    his: str = "their"
    him: str = "them"


@dataclass(frozen=True)
class Told:
    """A composed sentence, with marks for its values, and what it says."""

    sentence: str
    status: str
    detail: str  # which questions it answers beyond the usual ones: "end", "wish", "think", "character" or ""
    relation: Relation
    fills: dict[str, str]
    uses_end: bool = False  # whether the relation's own verb of ending is said

    def has(self, mark: str) -> bool:
        return mark in self.sentence


@dataclass(frozen=True)
class Asked:
    """A question that a told sentence can be paired with, and the honest answer to it."""

    weight: float
    key: str
    kind: str
    marks: str = ""  # the answer is the first of these marks that the sentence has
    value: str = VALUE
    about: str = ""  # "" the speaker, "other" the other person, "character" the speaker's character
    status: str = ""  # where two statuses stand in one turn


def compose(count: int, seed: int) -> list[dict[str, str]]:
    """That many examples, in random order."""
    rng = random.Random(seed)
    examples: list[dict[str, str]] = []
    while len(examples) < count:
        example = compose_one(rng)
        if example is not None:
            examples.append(example)
    return examples


def compose_one(rng: random.Random) -> dict[str, str] | None:
    """One example, or None where the drawn parts do not fit together."""
    status = rng.choices(STATUSES, STATUS_WEIGHTS)[0]
    other = draw_other(rng)
    speaker = draw_speaker(rng, other)
    drawn = rng.random()
    if drawn < MISMATCHED_SHARE:
        told = tell(rng, status, draw_relation(rng, status), other)
        return mismatched(rng, told, speaker, other) if told else None
    if drawn < MISMATCHED_SHARE + TWO_STATUS_SHARE * (1 - MISMATCHED_SHARE):
        return two_statuses(rng, status, speaker, other)
    about_other = status in FRAMES_OTHER and rng.random() < ABOUT_OTHER_SHARE
    told = tell(rng, status, draw_relation(rng, status), other, about_other)
    if told is None:
        return None
    asked = draw_asked(rng, questions_for(told))
    if asked is None:
        return None
    asked_about = person_for(asked.about or ("other" if about_other else ""), speaker, other)
    return example_of(rng, told, asked, speaker, asked_about)


# Who speaks and who is asked about


def draw_other(rng: random.Random) -> Person:
    """Somebody else, by name."""
    if rng.random() < 0.5:
        return Person(rng.choice(WOMEN), "he", "she", "her", "her")
    return Person(rng.choice(MEN), "he", "he", "his", "him")


def draw_speaker(rng: random.Random, other: Person) -> tuple[str, Person]:
    """The speaker's name, and the speaker as the question names them."""
    drawn = rng.random()
    if drawn < 0.27:
        return "user", Person("I", "I", "I", "my", "me")
    if drawn < 0.32:
        return "user", Person("the user", "he")
    named = draw_other(rng)
    while named.name == other.name:
        named = draw_other(rng)
    if drawn < 0.45:
        return named.name, Person("you", "you", "you", "your", "you")
    return named.name, named


def person_for(about: str, speaker: tuple[str, Person], other: Person) -> Person:
    """Whom a question about the speaker, the other person or the speaker's character is about."""
    if about == "other":
        return other
    if about == "character":
        return Person(possessive(speaker[1]) + " character", "he")
    return speaker[1]


def possessive(person: Person) -> str:
    return person.his if person.grammar != "he" else person.name + "'s"


# Telling


def draw_relation(rng: random.Random, *statuses: str) -> Relation:
    """A relation that can have these statuses."""
    return rng.choice([one for one in RELATIONS if all(status in one.said for status in statuses)])


def tell(
    rng: random.Random, status: str, relation: Relation, other: Person, about_other: bool = False
) -> Told | None:
    """A sentence of this status; `about_other` says it straight of somebody else."""
    detail = ""
    if about_other:
        templates = fitting(FRAMES_OTHER[status], relation, status)
    elif status == "reported" and rng.random() < 0.2:
        said_of_other = rng.choice([one for one in FRAMES_OTHER if one in relation.said])
        templates = fitting(FRAMES_OTHER[said_of_other], relation, said_of_other)
    elif rng.random() < WRITTEN_SHARE:
        templates = list(relation.said[status])
    else:
        key = rng.choice([one for one in FRAMES if one.split(".")[0] == status] + [status] * 3)
        detail = key.partition(".")[2]
        templates = fitting(FRAMES[key], relation, status, detail)
    if not templates:
        return None
    template = rng.choice(templates)
    sentence, fills = fill(rng, template, relation, other)
    return Told(sentence, status, detail, relation, fills, "{end" in template)


def fitting(frames: tuple[str, ...], relation: Relation, status: str, detail: str = "") -> list[str]:
    """The frames whose actions the relation has and that make sense of it.

    Nobody plans or considers what is not theirs to decide (an allergy, the flu): such relations have no "planned"
    sentences and no wish questions, and get no frames of that kind.
    """
    deliberate = "planned" in relation.said
    if detail == "end" and not deliberate:
        return []
    if detail in ("wish", "think") and not relation.ask_wish:
        return []
    found = []
    for frame in frames:
        actions = set(re.findall(r"\{(state|begin|end)", frame))
        if any(not getattr(relation, action) for action in actions):
            continue
        if status == "supposed" and "begin" in actions and not (deliberate or relation.ask_wish):
            continue
        if not relation.begin_holds and status == "true" and re.search(r"begin_(past|done)", frame):
            continue
        if relation.lasting and "days of" in frame:
            continue
        found.append(frame)
    return found


def fill(rng: random.Random, template: str, relation: Relation, other: Person) -> tuple[str, dict[str, str]]:
    """The template with its verbs conjugated and marks for its values, and what the marks stand for."""
    value, second = rng.sample(relation.values, 2)
    fills = {
        VALUE: value,
        BARE: bare(value),
        THE: definite(value),
        VALUE_2: second,
        THE_2: definite(second),
        OTHER: other.name,
    }
    actions = {name: rng.choice(getattr(relation, name) or ("",)) for name in ("state", "begin", "end")}
    kin = rng.choice(KIN_WOMEN if other.he == "she" else KIN_MEN)
    named = [False]

    def replaced(match: re.Match[str]) -> str:
        slot, before, after = match[1], template[: match.start()], template[match.end() :]
        if slot in ("v", "bare", "the", "v2"):
            return {"v": VALUE, "bare": BARE, "the": THE, "v2": VALUE_2}[slot]
        if slot == "tom":
            introduced = not named[0] and not after.startswith("'s") and rng.random() < 0.35
            named[0] = True
            return f"{kin} {OTHER}" if introduced else OTHER
        if slot in ("he", "his", "him"):
            return str(getattr(other, slot))
        if slot == "past":
            fills[PAST] = rng.choice(PAST_POINTS if wants_point(before, after) else PAST_TIMES)
            return PAST
        if slot == "future":
            fills[FUTURE] = rng.choice(FUTURE_POINTS if wants_point(before, after) else FUTURE_TIMES)
            return FUTURE
        parsed = re.fullmatch(r"(state|begin|end)(?:_([a-z_]+?))?(2?)", slot)
        if parsed is None:
            raise ValueError(f"unknown slot {slot!r} in {template!r}")
        said = conjugate(actions[parsed[1]], parsed[2] or "base", subject_possessive(before, other))
        return marked(said, second=bool(parsed[3]))

    sentence = re.sub(r"\{([a-z_0-9]+)\}", replaced, template)
    return contracted(rng, with_be(sentence)), fills


def marked(phrase: str, second: bool) -> str:
    """An action's value slots as marks."""
    if second:
        return phrase.replace("{v}", VALUE_2).replace("{the}", THE_2)
    return phrase.replace("{v}", VALUE).replace("{the}", THE)


def wants_point(before: str, after: str) -> bool:
    """Whether a time follows a preposition of its own ("until 2019") or is the subject ("2019 was …")."""
    return bool(re.search(r"\b(until|since|from|of|for)\b,? $", before)) or bool(
        re.match(r" (was|is)\b", after)
    )


def bare(value: str) -> str:
    return re.sub(r"^(an?|the) ", "", value)


def definite(value: str) -> str:
    return re.sub(r"^an? ", "the ", value)


SUBJECTS = {"I": "my", "my": "my", "you": "your", "she": "her", "grandmother": "her", "duchess": "her"}


def subject_possessive(before: str, other: Person) -> str:
    """The possessive that agrees with the last subject named before a verb."""
    words = re.findall(r"\{tom\}|\{he\}|[A-Za-z]+", before)
    for word in reversed(words):
        if word in ("{tom}", "{he}", "tom", "he"):
            return other.his
        if word == "character":
            return "their"
        if word in ("man", "hero", "bear", "duck", "narrator", "colonel"):
            return "his"
        if word in SUBJECTS:
            return SUBJECTS[word]
    return "my"


def conjugate(action: str, form: str, own: str = "my") -> str:
    """An action in a form: base, i, he, past, done, ing, not, not_he."""
    verb, _, rest = action.replace(" my ", f" {own} ").partition(" ")
    he, past, done, ing = inflected(verb)
    forms = {
        "base": verb,
        "i": "am" if verb == "be" else verb,
        "he": he,
        "past": past,
        "done": done,
        "ing": ing,
        "not": "am not" if verb == "be" else f"don't {verb}",
        "not_he": "isn't" if verb == "be" else f"doesn't {verb}",
    }
    return f"{forms[form]} {rest}"


def inflected(verb: str) -> tuple[str, str, str, str]:
    """Third person, past, participle and -ing of a verb."""
    if verb in IRREGULAR:
        return IRREGULAR[verb]
    he = verb + ("es" if re.search(r"(s|sh|ch|x|z)$", verb) else "s")
    stem = verb[:-1] if verb.endswith("e") else verb
    return he, stem + "ed", stem + "ed", stem + "ing"


BE_REPAIRS = (
    (r"\bI no longer be ", "I'm no longer "),
    (r"\bI don't be ", "I'm not "),
    (r"\bI do be ", "I am "),
    (r"\bI did be ", "I was "),
    (r"\bdo you be ", "are you "),
    (r"\bwhat I don't do is be ", "what I'm not is "),
    (r"^Did I ever be ", "Was I ever "),
    (r"^Did you ever be ", "Were you ever "),
    (r"^Did (.+?) ever be ", r"Was \1 ever "),
    (r"^Until when did I be ", "Until when was I "),
    (r"^Until when did you be ", "Until when were you "),
    (r"^Until when did (.+?) be ", r"Until when was \1 "),
)


def with_be(text: str) -> str:
    """Frames are written for verbs that take "do"; this mends them for "be"."""
    for wrong, right in BE_REPAIRS:
        text = re.sub(wrong, right, text)
    return text


def contracted(rng: random.Random, sentence: str) -> str:
    """ "I am" mostly as people write it."""
    return sentence.replace("I am ", "I'm ") if rng.random() < 0.8 else sentence


# Asking


def questions_for(told: Told) -> list[Asked]:
    """The questions about the one told about that go with a sentence, each with its honest answer."""
    value_marks = VALUE + THE + BARE
    exclusive = "no" if told.relation.exclusive else "none"
    timed = told.has(PAST)
    due = told.has(FUTURE)
    if told.detail == "end":
        settled = {"denied": "no", "supposed": "none", "planned": "none"}[told.status]
        found = [Asked(3, "did_end", settled), Asked(1, "when_end", "none")]
        if told.status == "planned":
            found += [Asked(3, "plan_end", "yes"), Asked(3, "when_plan_end", "span", FUTURE)]
        return found
    if told.status == "true":
        return [
            Asked(4, "ask", "span", value_marks),
            Asked(3, "yes_no", "yes"),
            Asked(1, "yes_no", exclusive, value=VALUE_2),
            Asked(1, "ask_any", "yes"),
            Asked(0.4, "ask_before", "none"),
            Asked(0.4, "ask_plan", "none"),
            Asked(2 if timed else 0.4, "when_begin", "span" if timed else "none", PAST),
        ]
    if told.status == "denied":
        never = "never" in told.sentence
        return [
            Asked(4, "yes_no", "no"),
            Asked(2, "ask", "none"),
            Asked(1, "yes_no", "none", value=VALUE_2),
            Asked(0.5, "ask_plan", "none"),
            Asked(0.5, "when_begin", "none"),
            Asked(1 if never else 0, "ever", "no"),
        ]
    if told.status == "supposed":
        return [
            Asked(3, "ask", "none"),
            Asked(4, "yes_no", "none"),
            Asked(1, "ask_plan", "none"),
            Asked(0.7, "yes_no_plan", "none"),
            Asked(0.7, "when_plan", "none"),
            Asked(0.5, "when_begin", "none"),
            Asked(5 if told.detail == "wish" else 0, "ask_wish", "span", value_marks),
            Asked(2 if told.detail == "wish" else 0, "would_like", "yes"),
            Asked(4 if told.detail == "think" else 0, "considers", "yes"),
        ]
    if told.status == "planned":
        return [
            Asked(3, "ask_plan", "span", value_marks),
            Asked(3 if due else 0.3, "when_plan", "span" if due else "none", FUTURE),
            Asked(2, "yes_no_plan", "yes"),
            Asked(2.5, "yes_no", "none"),
            Asked(2.5, "ask", "none"),
            Asked(0.4, "ask_before", "none"),
            Asked(0.4, "when_begin", "none"),
        ]
    if told.status == "ended":
        return [
            Asked(3, "ask_before", "span", value_marks),
            Asked(3, "yes_no", "no"),
            Asked(2, "still", "no"),
            Asked(2, "ever", "yes"),
            Asked(2 if told.uses_end else 0, "did_end", "yes"),
            Asked(2 if timed else 0.3, when_ended(told), "span" if timed else "none", PAST),
            Asked(2.5, "ask", "none"),
            Asked(0.4, "ask_plan", "none"),
        ]
    claimed = told.status == "reported" and bool(
        re.search(OTHER + r" (says|swears|claims|told|tells)", told.sentence)
    )
    return [
        Asked(3, "ask", "none"),
        Asked(3, "yes_no", "none"),
        Asked(0.5, "ask_any", "none"),
        Asked(0.5, "ask_plan", "none"),
        Asked(0.5, "ask_before", "none"),
        Asked(0.7, "when_begin", "none"),
        Asked(1.5 if claimed else 0, "who_says", "span", OTHER),
        Asked(6 if told.detail == "character" else 0, "ask", "span", value_marks, about="character"),
    ]


def when_ended(told: Told) -> str:
    """A dog that died was not given away: the verb of ending is asked only where it is said."""
    return "when_end" if told.uses_end else "until_when"


def two_statuses(
    rng: random.Random, status: str, speaker: tuple[str, Person], other: Person
) -> dict[str, str] | None:
    """A turn with two statuses, and a question that means the one of this status."""
    pairs = [pair for pair in FRAMES_TWO if status in pair]
    if status in ("true", "denied") and rng.random() < 0.15:
        relation = rng.choice([one for one in RELATIONS if one.exclusive and one.state])
        pair, templates = ("denied", "true"), list(FRAMES_CORRECTED)
    else:
        pair = rng.choice(pairs)
        relation = draw_relation(rng, *pair)
        if relation.name == "wedding" and "planned" in pair:
            return None  # nobody tells of their wedding and of their next one
        templates = fitting(FRAMES_TWO[pair], relation, "supposed" if "supposed" in pair else "true")
    if not templates:
        return None
    template = rng.choice(templates)
    sentence, fills = fill(rng, template, relation, other)
    told = Told(sentence, status, "two", relation, fills, "{end" in template)
    asked = draw_asked(rng, [one for one in questions_for_two(told, pair) if one.status == status])
    if asked is None:
        return None
    return example_of(rng, told, asked, speaker, person_for(asked.about, speaker, other))


def questions_for_two(told: Told, pair: tuple[str, str]) -> list[Asked]:
    """The questions that go with a turn of two statuses, each meaning one of them."""
    first, second = VALUE + THE + BARE, VALUE_2 + THE_2
    open_value = not told.relation.exclusive
    straight = not re.search(r" says ", told.sentence)
    found: list[Asked] = []
    for status, marks, value in ((pair[0], first, VALUE), (pair[1], second, VALUE_2)):
        if status == "true":
            found += [
                Asked(4, "ask", "span", marks, status=status),
                Asked(2, "yes_no", "yes", value=value, status=status),
            ]
        if status == "ended":
            found += [
                Asked(3, "ask_before", "span", marks, status=status),
                Asked(2, "yes_no", "no", value=value, status=status),
                Asked(1, "still", "no", value=value, status=status),
                Asked(1, "ever", "yes", value=value, status=status),
                Asked(2 if told.has(PAST) else 0, when_ended(told), "span", PAST, value=value, status=status),
            ]
        if status == "planned":
            found += [
                Asked(3, "ask_plan", "span", marks, status=status),
                Asked(1, "yes_no_plan", "yes", value=value, status=status),
                Asked(2, "when_plan", "span", FUTURE, value=value, status=status),
                Asked(1.5 if open_value else 0, "yes_no", "none", value=value, status=status),
            ]
        if status == "denied":
            found.append(Asked(2, "yes_no", "no", value=value, status=status))
        if status == "supposed":
            wished = bool(re.search(r"I wish|love to", told.sentence))
            found += [
                Asked(2 if wished else 0, "ask_wish", "span", marks, status=status),
                Asked(2, "yes_no_plan", "none", value=value, status=status),
                Asked(1.5 if open_value else 0, "yes_no", "none", value=value, status=status),
            ]
        if status == "reported":
            found.append(Asked(2 if open_value else 0, "yes_no", "none", value=value, status=status))
            found.append(Asked(2 if straight else 0, "ask", "span", marks, about="other", status="true"))
        if status == "fiction":
            found.append(Asked(3, "ask", "span", marks, about="character", status=status))
            found.append(Asked(2 if open_value else 0, "yes_no", "none", value=value, status=status))
    return found


def draw_asked(rng: random.Random, choices: list[Asked]) -> Asked | None:
    weights = [one.weight for one in choices]
    return rng.choices(choices, weights)[0] if sum(weights) else None


def mismatched(
    rng: random.Random, told: Told, speaker: tuple[str, Person], other: Person
) -> dict[str, str] | None:
    """A question about another attribute, or about another person, than the turn tells: nothing answers it."""
    if rng.random() < 0.5:
        strangers = [
            one
            for one in RELATIONS
            if one.name != told.relation.name
            and one.name not in told.relation.alike
            and told.relation.name not in one.alike
        ]
        relation = rng.choice(strangers)
        value = rng.choice([one for one in relation.values if one not in told.fills.values()])
        key = rng.choice(
            ("ask", "ask", "ask", "yes_no", "yes_no", "ask_any", "ask_before", "ask_plan", "when_begin")
        )
        question = question_of(rng, relation, key, value, speaker[1])
        return written(rng, told, question, speaker[0], "none", "")
    asked = draw_asked(rng, [one for one in questions_for(told) if one.about == ""])
    if asked is None:
        return None
    name = speaker[0]
    if name != "user" and rng.random() < 0.3:
        stranger = Person("I", "I", "I", "my", "me")
    else:
        stranger = draw_other(rng)
        while stranger.name in (name, other.name):
            stranger = draw_other(rng)
    question = question_of(rng, told.relation, asked.key, told.fills[asked.value], stranger)
    return written(rng, told, question, name, "none", "")


QUESTIONS: dict[str, tuple[str, ...]] = {
    "ever": ("Did [you] ever {state}?", "[Have] [you] ever {state_done}?"),
    "did_end": ("Did [you] {end}?", "[Have] [you] {end_done}?"),
    "when_end": ("When did [you] {end}?", "When was it that [you] {end_past}?"),
    "until_when": ("Until when did [you] {state}?",),
    "when_begin": ("When did [you] {begin}?", "When was it that [you] {begin_past}?"),
    "when_plan": (
        "When [are] [you] going to {begin}?",
        "When will [you] {begin}?",
        "When [do] [you] plan to {begin}?",
    ),
    "yes_no_plan": (
        "[Are] [you] going to {begin}?",
        "Will [you] {begin}?",
        "[Are] [you] planning to {begin}?",
        "[Do] [you] intend to {begin}?",
    ),
    "plan_end": ("[Are] [you] going to {end}?", "[Are] [you] planning to {end}?"),
    "when_plan_end": ("When [are] [you] going to {end}?", "When will [you] {end}?"),
    "would_like": ("Would [you] like to {begin}?",),
    "considers": ("[Are] [you] thinking about {begin_ing}?", "[Are] [you] considering {begin_ing}?"),
    "yes_no_event": (
        "Did [you] {begin}?",
        "[Have] [you] {begin_done}?",
        "Is it true that [you] {begin_past}?",
    ),
    "who_says": ("Who says that they {state}?", "Who claims to {state}?"),
}
AGREEMENT = {
    "I": {"do": "do", "are": "am", "have": "have", "were": "was"},
    "you": {"do": "do", "are": "are", "have": "have", "were": "were"},
    "he": {"do": "does", "are": "is", "have": "has", "were": "was"},
}


def question_of(rng: random.Random, relation: Relation, key: str, value: str, person: Person) -> str | None:
    """A question of a kind about a person, or None where the relation has none of that kind."""
    if key in ("yes_no_plan", "when_plan") and "planned" not in relation.said:
        return None  # nobody plans the flu
    if key in ("yes_no", "still"):
        template = yes_no_template(
            rng, relation, still=key == "still" or (key == "yes_no" and rng.random() < 0.08)
        )
    elif key.startswith("ask"):
        choices: tuple[str, ...] = getattr(relation, key)
        template = rng.choice(choices) if choices else None
    else:
        template = rng.choice(QUESTIONS[key])
    if template is None:
        return None
    for name in re.findall(r"\{(state|begin|end)", template):
        if not getattr(relation, name):
            return None
    own = "their" if key == "who_says" else person.his

    def action(match: re.Match[str]) -> str:
        form = match[2] or "base"
        return conjugate(rng.choice(getattr(relation, match[1])), form, own)

    question = re.sub(r"\{(state|begin|end)(?:_([a-z]+))?\}", action, template)
    question = question.replace("{v}", value).replace("{the}", definite(value)).replace("{bare}", bare(value))
    return with_be(agreed(question, person))


def yes_no_template(rng: random.Random, relation: Relation, still: bool) -> str | None:
    """Whether it holds: "[Do] [you] live in {v}?" or "[Are] [you] allergic to {v}?"; an event has "Did [you] …?"."""
    if not relation.state:
        return None if still else rng.choice(QUESTIONS["yes_no_event"])
    verb, _, rest = rng.choice(relation.state).partition(" ")
    rest = rest.replace("my ", "[your_own] ")
    adverb = "still " if still else rng.choice(("", "", "", "currently ", "now "))
    if relation.lasting:
        adverb = ""
    if verb == "be":
        return f"[Are] [you] {adverb}{rest}?"
    if adverb == "now ":
        return f"[Do] [you] {verb} {rest} now?"
    return f"[Do] [you] {adverb}{verb} {rest}?"


def agreed(question: str, person: Person) -> str:
    """The question with its bracketed words agreeing with the person."""
    verbs = AGREEMENT[person.grammar]
    objects = {"I": "me", "you": "you", "he": person.name}[person.grammar]
    question = re.sub(r"\b(for|with|wrong with|manages) \[you\]", rf"\1 {objects}", question)
    # A second mention is a pronoun: "What does Anna do in her free time?"
    first, mention, later = question.partition("[you]")
    if mention:
        later = later.replace("[your]", person.his)
    question = first + mention + later
    question = question.replace("[your_own]", person.his)
    question = question.replace("[your]", possessive(person)).replace("[you]", person.name)
    for word, form in verbs.items():
        question = question.replace(f"[{word}]", form).replace(f"[{word.capitalize()}]", form.capitalize())
    return question[0].upper() + question[1:]


# Writing it down


def example_of(
    rng: random.Random, told: Told, asked: Asked, speaker: tuple[str, Person], person: Person
) -> dict[str, str] | None:
    """The example for a told sentence and a question about a person."""
    mark = next((one for one in asked.marks if told.has(one)), "")
    if asked.kind == "span" and not mark:
        return None
    question = question_of(rng, told.relation, asked.key, told.fills[asked.value], person)
    return written(rng, told, question, speaker[0], asked.kind, mark if asked.kind == "span" else "")


def written(
    rng: random.Random, told: Told, question: str | None, speaker: str, kind: str, mark: str
) -> dict[str, str] | None:
    """The example with its sentence dressed up and standing among small talk."""
    if question is None:
        return None
    lower = rng.random() < 0.18
    core = dressed(rng, told.sentence, lower)
    if rng.random() < 0.1:
        core = mistyped(rng, core)
    answer = filled(mark, told.fills, lower)
    core = filled(core, told.fills, lower)
    if not lower:
        core = capitalised(core)
    if answer:
        # The first letter may have become a capital.
        found = re.search(r"(?<!\w)" + re.escape(answer) + r"(?!\w)", core, re.IGNORECASE)
        if found is None:
            return None
        answer = found[0]
    before, after = small_talk(rng, lower)
    if question.endswith("?") and rng.random() < 0.12:
        question = question.rstrip("?").lower() if rng.random() < 0.5 else question[0].lower() + question[1:]
        question = re.sub(r"\bi\b", "I", question) if rng.random() < 0.5 else question
    if after and core[-1] not in ".!?)":
        core += "."
    text = " ".join((*before, core, *after))
    return {
        "question": question,
        "speaker": speaker,
        "text": text,
        "status": told.status,
        "kind": kind,
        "answer": answer,
    }


def dressed(rng: random.Random, sentence: str, lower: bool) -> str:
    """With a lead-in, a trailing remark and an end, now and then."""
    asks = sentence.endswith("?")
    starts_mildly = not re.match(
        r"(yes|no|not|actually|nope|well|so|me\?|btw|as you|FYI|did you|just)\b", sentence
    )
    starts_mildly = starts_mildly and not re.search(
        r"for what it's worth|by the way|as you know|in case", sentence
    )
    if rng.random() < 0.3 and starts_mildly:
        lead = rng.choice(LEAD_INS)
        if lead.endswith("that") and (asks or not sentence.startswith("I ")):
            lead = "so,"
        if lead.endswith(":") and (asks or ":" in sentence):
            lead = "hm,"
        sentence = f"{lead} {sentence}"
    if not asks and not re.search(r"[,.:?]", sentence) and rng.random() < 0.2:
        sentence += rng.choice(TRAILING)
    if asks:
        return sentence
    if lower:
        return sentence + rng.choice(("", "", ".", "...", " :)"))
    return sentence + rng.choices((".", "!", "..."), (8, 1, 0.6))[0]


def mistyped(rng: random.Random, sentence: str) -> str:
    """With one slip of the fingers."""
    candidates = [word for word in TYPOS if re.search(rf"\b{word}\b", sentence)]
    if not candidates:
        return sentence
    word = rng.choice(candidates)
    return re.sub(rf"\b{word}\b", TYPOS[word], sentence, count=1)


def filled(sentence: str, fills: dict[str, str], lower: bool) -> str:
    """With the marks replaced by what they stand for."""
    for mark, words in fills.items():
        sentence = sentence.replace(mark, words)
    return sentence.lower() if lower else sentence


def capitalised(text: str) -> str:
    """Each sentence with a capital."""
    text = text[0].upper() + text[1:]
    return re.sub(
        r"((?<!\bDr)(?<!\bMr)(?<!\bMs)[.?!] )([a-z])", lambda match: match[1] + match[2].upper(), text
    )


def small_talk(rng: random.Random, lower: bool) -> tuple[list[str], list[str]]:
    """Up to five sentences that have nothing to do with it, before and after."""
    chosen = rng.sample(SMALL_TALK, rng.choices((0, 1, 2, 3, 4, 5), (20, 26, 24, 16, 9, 5))[0])
    chosen = [one.lower() if lower else one for one in chosen]
    chosen = [one if one[-1] in ".!?" else one + "." for one in chosen]
    cut = rng.randint(0, len(chosen))
    before, after = chosen[:cut], chosen[cut:]
    return before, after


def main() -> None:
    parser = argparse.ArgumentParser(description="Compose training examples for statuses.")
    parser.add_argument("--count", type=int, default=40000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path, required=True, help="a .json.gz file")
    given = parser.parse_args()
    examples = compose(given.count, given.seed)
    # A fixed time in the header, so that the same seed gives the same bytes.
    with gzip.GzipFile(given.out, "wb", mtime=0) as file:
        file.write(json.dumps(examples, ensure_ascii=False, indent=0).encode())
    print(f"{len(examples)} examples in {given.out}")


if __name__ == "__main__":
    main()
