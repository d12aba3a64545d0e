"""Finds parts of a text that never contain times, whatever their words: files, paths, addresses, titles."""

from __future__ import annotations

import re

from everwhen_time.tokenizer import Token
from everwhen_time.word_lists import english_words

_EXTENSIONS = (
    "7z|avi|bak|bmp|bz2|c|cfg|conf|cpp|css|csv|db|doc|docx|env|epub|gif|go|gz|h|heic|htm|html|ics|ini|ipynb|java|jpeg|"
    "jpg|js|json|jsonl|key|lock|log|m4a|md|mkv|mov|mp3|mp4|numbers|odt|pages|parquet|pdf|php|png|ppt|pptx|ps1|py|rar|"
    "rb|rs|rst|rtf|sh|sql|sqlite|srt|svg|tar|tex|tgz|tif|tiff|toml|ts|tsv|txt|wav|webm|webp|xls|xlsx|xml|yaml|yml|zip"
)
_FILES = re.compile(
    rf"""
    (?:https?://|www\.|(?<![\w/.])(?:~|\.{{1,2}}|[a-z]:)?[/\\](?=[a-z_]))\S+  # an address, a path from its root
  | (?<![\w./\\-])[\w./\\~-]*\w\.(?:{_EXTENSIONS})\b(?!\.\d)  # report_2023-04-01.csv, logs/2023-04-01.log
  | (?<![\w-])(?!(?:mid|pre|post|early|late|since|until)-)[a-z]\w*[_-]\d{{4}}-?\d\d-?\d\d\b  # backup_2021-12-31
    """,
    re.VERBOSE | re.IGNORECASE,
)
_QUOTED = re.compile(
    r"""“([^“”\n]{1,60})”|"([^"\n]{1,60})"|«([^«»\n]{1,60})»|(?<![\w'])['‘]((?!\d\ds?\b[^'’]*\s)[^\n'‘’]{1,60})['’](?!\w)"""
)
_LISTS = english_words("name_spans")
_SPOKEN = _LISTS["spoken"]
_SAYING = re.compile(
    r"(?:\b(?:sa(?:id|ys?|ying)|told(?: \w+)?|tells?(?: \w+)?|wrote|writes?|asked|asks|answered|answers|replied|"
    r"replies|texted|emailed|reads?|goes|went|like|dated?|due|on|in|by|since|until|labell?ed|marked|stamped)|[:,=])\s*$",
    re.IGNORECASE,
)
_TITLES = _LISTS["titles"]
_WORD = re.compile(r"[^\W_]+(?:'[^\W\d_]+)?")
_CALENDAR = re.compile(rf"\b(?:{'|'.join(word.title() for word in sorted(_LISTS['calendar']))})\b")
_CAPITALS = re.compile(r"[A-Z]\w*(?:\s(?:(?:of|the|and)\s)*[A-Z]\w*)*\s[A-Z]\w*")
"""Two words or more with capitals, as titles have them."""


_DAYS = "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday"
_MONTHS = "January|February|March|April|May|June|July|August|September|October|November|December"
_OTHERS = re.compile(
    rf"""
    \b(?:{_DAYS}|{_MONTHS})\s(?:Street|St|Road|Rd|Lane|Ln|Avenue|Ave|Square|Drive|Court|Close|Terrace)\b  # an address
  | \b(?:{_DAYS})\s[A-Z][a-z]+\s(?:is|was)\s(?:an?|the|my|our|his|her|one|de|het|een|mijn)\b  # Tuesday Weld was a
  | \b(?:{_DAYS})\s(?:Night|Morning)\s[A-Z][a-z]+  # Saturday Night Fever
  | \bThe\s(?:{_DAYS})'s\b  # a restaurant
  | (?<!\d)\d\d(?:[\ .]\d\d){{4}}(?!\d)  # a telephone number in pairs
  | \ba\ssecond\s(?!ago|later|after|before|to|of|and|or|please|now|i|we|you|he|she|it|they|then|if|when|while|longer|
    more|too|in|at|on|for|there|here|the|this|that|my|until|as|because)[a-z]{{3,}}  # a second opinion
  | \b[Aa]\squarter\sof\s(?:the|an?|my|our|your|his|her|their|all|its|them|us)\b(?!\s(?:year|century|hour))  # a share
    """,
    re.VERBOSE,
)
_LIKELY = re.compile(r"day|second|quarter|\d\d[ .]\d\d[ .]\d\d|[A-Z]\w+ (?:St|R|L|A|Dr|Co|Cl|Te|Sq)")


def name_spans(text: str, start: int, end: int) -> list[tuple[int, int]]:
    """Where names stand whose dates are no times. A text that is nothing but a name is read for the date in it."""
    spans: list[tuple[int, int]] = []
    if _SPACE.search(text.strip()) is None:
        return spans
    if _MARKS.search(text, start, end):
        spans += [match.span() for match in _FILES.finditer(text, start, end)]
    if _LIKELY.search(text, start, end):
        spans += [match.span() for match in _OTHERS.finditer(text, start, end)]
    if _QUOTES.search(text, start, end):
        for match in _QUOTED.finditer(text, start, end):
            if _is_title(match[0][1:-1], text[max(start, match.start() - 40) : match.start()]):
                spans.append(match.span())
    if len(_CALENDAR.findall(text, start, end)) > 1:
        spans += [
            run.span() for run in _CAPITALS.finditer(text, start, end) if _is_unquoted(text, start, end, run)
        ]
    return spans


def _is_unquoted(text: str, start: int, end: int, run: re.Match[str]) -> bool:
    """Whether capitals make calendar words a title: three of them, or two behind an article, or beside what one reads
    or watches. The first word of a sentence tells nothing, nor does a sentence that is written in capitals."""
    words = [text[start : run.start()], text[run.end() : end]]
    before, behind = (_WORD.findall(part) for part in words)
    rest = [word for word in (*before, *behind) if word not in _SMALL]
    if not any(word[0].islower() for word in rest):
        return False
    capitals = len(_CALENDAR.findall(run[0])) - (not before and _CALENDAR.match(run[0]) is not None)
    near = {word.lower() for word in (*before[-3:], *behind[:3])}
    opens = bool(before) and run[0].startswith(("The ", "A ", "An "))
    return capitals > 2 or (capitals == 2 and (opens or not _TITLES.isdisjoint(near)))


_SPACE = re.compile(r"\s")
_MARKS = re.compile(r"\w[._/\\:-]\w|[/\\]\w")
_QUOTES = re.compile(r"[\"'“‘«]")


def _is_title(inside: str, before: str) -> bool:
    """Whether the quotation marks hold a name: calendar words and numbers, or words with capitals, that nobody says."""
    words = _WORD.findall(inside)
    if not words or len(words) > _LONGEST:
        return False
    capitals = sum(
        _CALENDAR.match(word) is not None for word in words[1:]
    )  # "Next Week", and not "Next week"
    if not capitals and not _SPOKEN.isdisjoint(word.lower() for word in words):
        return False
    titled = not _TITLES.isdisjoint(word.lower() for word in _WORD.findall(before)[-3:])
    if capitals < 2 and _SAYING.search(before) and not (titled and before.rstrip()[-1:].isalpha()):
        return False
    return all(word[0].isupper() or word[0].isdigit() or word in _SMALL for word in words)


_LONGEST = 8
_SMALL = _LISTS["small"]


def without_names(tokens: list[Token], spans: list[tuple[int, int]]) -> list[Token]:
    """The tokens, each name as one of a kind that no rule knows."""
    if not spans:
        return tokens
    kept: list[Token] = []
    for token in tokens:
        inside = next((span for span in spans if span[0] < token.end and token.start < span[1]), None)
        if inside is None:
            kept.append(token)
        elif not kept or kept[-1].kind != "name" or kept[-1].start != inside[0]:
            kept.append(Token("name", "", "", *inside))
    return kept
