"""Step 2, questions: prompts for a language model that writes questions over turns, and what is read from its answers.

    python training/questions.py prompts --banks banks.json.gz … --out prompts.json.gz [--count 66000] [--seed 3]
    python training/questions.py read --banks banks.json.gz … --prompts prompts.json.gz --answers answers.json.gz \
        --out questions.json.gz

A prompt shows one turn with the two before it, or several turns of one person that share a word; it asks for one kind
of question (see KINDS) and gives one example.
"""

from __future__ import annotations

import argparse
import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from banks import read_json, write_json

SHARES = {
    "fact": 0.22, "para": 0.20, "first": 0.09, "you": 0.06, "when": 0.06, "count": 0.06, "yes": 0.07, "no": 0.07,
    "list": 0.05, "join": 0.05, "none": 0.07,
}  # fmt: skip
KINDS = {
    "fact": "Write one short question about {speaker} that the last line answers, as somebody asks it months "
    "later, and its answer in a few words copied from that line. Name {speaker} in the question.",
    "para": "Write one short question about {speaker} that the last line answers. Use other words than the line: "
    "no noun, verb or adjective of it may stand in the question. Then its answer in a few words copied "
    "from the line. Name {speaker} in the question.",
    "first": "Months later {speaker} asks their own notes about this. Write the short question in the first person "
    "(I, my, me), without any name, that the last line answers, and its answer in a few words copied from "
    "that line.",
    "you": "Months later somebody asks {speaker} about this directly. Write the short question in the second "
    "person (you, your), without any name, that the last line answers, and its answer in a few words "
    "copied from that line.",
    "when": "Write one short question about {speaker} that asks when (when, how long, what day, since when) and "
    "that the last line answers, and the time as it is said in the line. Name {speaker}.",
    "count": "Write one short question about {speaker} that asks how many, how much, how old or how often and that "
    "the last line answers, and the number or amount as it is said in the line. Name {speaker}.",
    "yes": "Write one short question about {speaker} that is answered with yes by the last line. Answer: yes. "
    "Name {speaker}.",
    "no": "Write one short question about {speaker} that is answered with no by the last line, because one "
    "detail of the question is another one than in the line. Answer: no. Name {speaker}.",
    "list": "Write one short question about {speaker} whose full answer needs all of the numbered lines together, "
    "such as 'Which … has {speaker} …?'. Then the answer as a list of a few words. Name {speaker}.",
    "join": "Write one short question about {speaker} that can only be answered by putting both numbered lines "
    "together. Then the short answer. Name {speaker}.",
    "none": "Write one short question about {speaker} and the very subject of the last line, asking for a detail "
    "that the line does not tell. Answer: not told. Name {speaker}.",
}
EXAMPLES = {
    "fact": ("What did Tess buy at the market?", "a copper pan"),
    "para": ("Which pet keeps Tess company?", "my old tabby"),
    "first": ("What did I buy at the market?", "a copper pan"),
    "you": ("What did you buy at the market?", "a copper pan"),
    "when": ("When did Tess start at the bakery?", "two weeks ago"),
    "count": ("How many siblings does Tess have?", "three"),
    "yes": ("Does Tess have a cat?", "yes"),
    "no": ("Did Tess buy an iron pan?", "no"),
    "list": ("Which sports has Tess tried?", "rowing, judo, tennis"),
    "join": ("In which city does the sister live who gave Tess the pan?", "Ghent"),
    "none": ("How much did Tess pay for the pan?", "not told"),
}
SYSTEM = (
    "You write questions about what people said in a chat. Answer with exactly two lines:\n"
    "Q: the question\nA: the answer"
)
CONTEXT = 2
"""Turns that are shown before the one that is asked about."""
LONGEST = 400
"""Characters of a turn that are shown."""

_WORD = re.compile(r"[a-z']{2,}|\d+")
_NUMBER = re.compile(
    r"\d|\b(?:two|three|four|five|six|seven|eight|nine|ten|dozen|once|twice|hundred|thousand|half)\b",
    re.IGNORECASE,
)
_TIME = re.compile(
    r"\b(?:yesterday|today|tonight|tomorrow|last|next|ago|week|weekend|month|year|years|morning|monday|tuesday|wednesday|thursday|"
    r"friday|saturday|sunday|january|february|march|april|june|july|august|september|october|november|december|since|recently)\b",
    re.IGNORECASE,
)
_ANSWER = re.compile(r"Q\s*:\s*(.+?)\s*\n+\s*A\s*:\s*(.*)", re.DOTALL)
STOP = frozenset((
    "the", "and", "you", "your", "for", "are", "was", "were", "with", "that", "this", "have", "has", "had",
    "not", "but", "they", "them", "his", "her", "she", "him", "its", "it's", "i'm", "i've", "don't", "can",
    "will", "would", "could", "should", "what", "when", "where", "who", "why", "how", "did", "does", "do", "is",
    "am", "be", "been", "to", "of", "in", "on", "at", "as", "an", "so", "if", "or", "my", "me", "we", "our",
    "us", "yes", "no", "oh", "well", "just", "like", "really", "very", "too", "also", "about", "from", "there",
    "then", "than", "think", "know", "get", "got", "go", "going", "good", "great", "love", "nice", "one",
    "some", "any", "more", "all", "out", "up", "now", "here",
))  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("step", choices=("prompts", "read"))
    parser.add_argument("--banks", type=Path, nargs="+", required=True)
    parser.add_argument("--prompts", type=Path)
    parser.add_argument("--answers", type=Path)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--count", type=int, default=66_000)
    parser.add_argument("--seed", type=int, default=3)
    given = parser.parse_args()
    banks = [bank for path in given.banks for bank in read_json(path)]
    if given.step == "prompts":
        prompts = make_prompts(banks, given.count, given.seed)
        write_json(given.out, prompts)
        print(len(prompts), "prompts", dict(Counter(one["kind"] for one in prompts)))
    else:
        found = read_answers(read_json(given.prompts), read_json(given.answers), banks)
        write_json(given.out, found)
        print(len(found), "questions", dict(Counter(one["kind"] for one in found)))


def make_prompts(banks: Sequence[dict[str, Any]], count: int, seed: int) -> list[dict[str, Any]]:
    """Prompts of all kinds, in the shares above, over turns that say something; written banks are used more densely."""
    chance = random.Random(seed)
    single = [place for bank in range(len(banks)) for place in _informative(banks, bank)]
    # A turn of a written bank is about three times as likely to be drawn.
    weight = [3.0 if banks[bank]["source"].startswith("written") else 1.0 for bank, _, _ in single]
    prompts: list[dict[str, Any]] = []
    for kind, share in SHARES.items():
        wanted = int(count * share)
        if kind in ("list", "join"):
            groups = list(_groups(banks, kind, wanted, chance))
            prompts += [_prompt(banks, kind, group, f"{kind}-{i}") for i, group in enumerate(groups)]
            continue
        fitting = [(p, w) for p, w in zip(single, weight, strict=True) if _fits(kind, banks[p[0]], p)]
        keyed = sorted(fitting, key=lambda one: -(chance.random() ** (1.0 / one[1])))[:wanted]
        prompts += [_prompt(banks, kind, [place], f"{kind}-{i}") for i, (place, _) in enumerate(keyed)]
    return prompts


def _informative(banks: Sequence[dict[str, Any]], bank: int) -> Iterator[tuple[int, int, int]]:
    """Turns with at least four words that carry meaning outside of questions."""
    for s, session in enumerate(banks[bank]["sessions"]):
        for t, (_, text) in enumerate(session["turns"]):
            statements = [one for one in re.split(r"(?<=[.!?])\s+", text) if not one.endswith("?")]
            if len(content_words(" ".join(statements))) >= 4:
                yield bank, s, t


def _fits(kind: str, bank: dict[str, Any], place: tuple[int, int, int]) -> bool:
    speaker, text = bank["sessions"][place[1]]["turns"][place[2]]
    if kind == "count":
        return _NUMBER.search(text) is not None
    if kind == "when":
        return _TIME.search(text) is not None
    if kind == "first":
        return speaker != "assistant"
    return True


def _groups(
    banks: Sequence[dict[str, Any]], kind: str, wanted: int, chance: random.Random
) -> Iterator[list[tuple[int, int, int]]]:
    """Turns of one person from different sessions that share a rare word: three for a list, two for a join."""
    size = 2 if kind == "join" else 3
    given = 0
    order = list(range(len(banks)))
    while given < wanted:
        chance.shuffle(order)
        before = given
        for bank in order:
            by_word: dict[tuple[str, str], list[tuple[int, int, int]]] = defaultdict(list)
            for place in _informative(banks, bank):
                speaker, text = banks[bank]["sessions"][place[1]]["turns"][place[2]]
                for word in dict.fromkeys(content_words(text)):
                    by_word[speaker, word].append(place)
            usable = [
                places
                for places in by_word.values()
                if size <= len({p[1] for p in places}) and len(places) <= 12
            ]
            for places in chance.sample(usable, min(len(usable), max(2, wanted // len(banks)))):
                of_session = {place[1]: place for place in chance.sample(places, len(places))}
                yield sorted(of_session.values())[:size]
                given += 1
                if given == wanted:
                    return
        if given == before:
            return


def _prompt(
    banks: Sequence[dict[str, Any]], kind: str, places: Sequence[tuple[int, int, int]], name: str
) -> dict[str, Any]:
    bank, s, t = places[0]
    turns = banks[bank]["sessions"][s]["turns"]
    speaker = turns[t][0]
    if len(places) > 1:
        said = [banks[bank]["sessions"][one[1]]["turns"][one[2]] for one in places]
        shown = "\n".join(f"{i}. {who}: {text[:LONGEST]}" for i, (who, text) in enumerate(said, 1))
    else:
        shown = "\n".join(f"{who}: {text[:LONGEST]}" for who, text in turns[max(0, t - CONTEXT) : t + 1])
    called = {"user": "the user", "assistant": "the assistant"}.get(speaker, speaker)
    question, answer = EXAMPLES[kind]
    user = (
        f"{KINDS[kind].format(speaker=called)}\nFor instance:\nQ: {question}\nA: {answer}\n\nChat:\n{shown}"
    )
    return {
        "id": name,
        "kind": kind,
        "places": [list(place) for place in places],
        "system": SYSTEM,
        "user": user,
    }


def read_answers(
    prompts: Sequence[dict[str, Any]], answers: Sequence[dict[str, str]], banks: Sequence[dict[str, Any]]
) -> list[dict[str, Any]]:
    """Questions that have the asked form. What they say is checked by the filter."""
    texts = {one["id"]: one["text"] for one in answers}
    found = []
    for prompt in prompts:
        match = _ANSWER.search(texts.get(prompt["id"], ""))
        if match is None:
            continue
        question, answer = match.group(1).strip(), match.group(2).strip().splitlines()
        if not 8 <= len(question) <= 200 or "\n" in question or not has_form(prompt["kind"], question):
            continue
        bank, s, t = prompt["places"][0]
        found.append(
            {
                "id": prompt["id"],
                "kind": prompt["kind"],
                "places": prompt["places"],
                "bank": banks[bank]["id"],
                "speaker": banks[bank]["sessions"][s]["turns"][t][0],
                "question": question,
                "answer": answer[0].strip().strip('".') if answer else "",
            }
        )
    return found


def has_form(kind: str, question: str) -> bool:
    """What can be seen without reading: persons and question words."""
    words = set(re.findall(r"[a-z]+", question.lower()))
    if kind == "first":
        return bool(words & {"i", "my", "me", "mine"})
    if kind == "you":
        return bool(words & {"you", "your", "yours"})
    if kind == "when":
        return bool(words & {"when", "long", "day", "year", "month", "date", "time", "since"})
    if kind == "count":
        return bool(words & {"how", "many", "much", "old", "number", "often"})
    return True


def content_words(text: str) -> list[str]:
    """Words that are no function words, in lower case."""
    return [word for word in _WORD.findall(text.lower()) if word not in STOP and "'" not in word]


if __name__ == "__main__":
    main()
