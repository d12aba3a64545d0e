"""What the store of a bank rests on: named statements, run inside a transaction, the rows they read, and the tokenizer.

Used by: the modules of `sql/`, which hold everything that SQLite and PostgreSQL have in common, and by the two stores.
Uses: no other module of the store. Each database implements `Connection` and `Sql`, and has its own text of every named
statement, with the same parameters.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
import sqlite3
import threading
import weakref
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from everwhen.errors import Damaged, ModelChanged
from everwhen.types import Turn, UnitRow
from everwhen.types.times import from_text
from everwhen_time import Grain, Interval


class NamedEmbedder(Protocol):
    """What a bank records of an embedder: its name and dimension."""

    @property
    def name(self) -> str: ...

    @property
    def dim(self) -> int: ...


class VectorModel(NamedTuple):
    """An embedder's name, and the dimension of its vectors.

    Whoever embeds before it writes (`write`, `facts`, `tree`, `api`, `upkeep`) passes the model along with the vectors;
    `BankRows.check_model` refuses them if the bank has got another model meanwhile.
    """

    embedder: str
    dimension: int

    @classmethod
    def of(cls, embedder: NamedEmbedder) -> VectorModel:
        return cls(embedder.name, embedder.dim)

    def __str__(self) -> str:
        return f"{self.embedder} ({self.dimension})"


@dataclass(frozen=True, slots=True)
class BankInfo:
    """What a bank says of itself: with which embedder it was made, and in which zone its texts are."""

    name: str
    embedder: str
    dimension: int
    zone: str
    schema: int

    @property
    def model(self) -> VectorModel:
        return VectorModel(self.embedder, self.dimension)

    def has_model(self, values: Mapping[str, str]) -> bool:
        """Whether it is the model that the bank's values name."""
        return (values.get("embedder"), values.get("dimension")) == (self.embedder, str(self.dimension))


R = TypeVar("R")
Values: TypeAlias = Sequence[Any] | Mapping[str, Any]
"""The parameters of a statement, by place or by name. A list is one value: the statement reads its elements."""


class Rows(Protocol):
    """What a statement returns."""

    def fetchone(self) -> Any: ...

    def fetchmany(self, size: int, /) -> list[Any]: ...

    def fetchall(self) -> list[Any]: ...

    def __iter__(self) -> Iterator[Any]: ...


class Sql(Protocol):
    """One bank's rows, inside one transaction or for a few reads."""

    def run(self, name: str, values: Values = (), **parts: str) -> Rows:
        """Run a named statement. `parts` fill its `{…}`: each is the name of another statement, or else SQL itself that
        both databases understand."""
        ...

    def together(self, several: Iterable[tuple[str, Values, Mapping[str, str]]]) -> list[list[Any]]:
        """The rows of several named statements, each given as its name, its values and its parts. With PostgreSQL it is
        one round trip for all of them."""
        ...

    def run_many(self, name: str, rows: Iterable[Values]) -> None:
        """Run a named statement for each row of values, in as few round trips as the database can."""
        ...

    def run_batch(self, name: str, rows: Sequence[Values]) -> None:
        """The same as `run_many`. PostgreSQL runs the statement once instead of once for each row: each parameter is
        then the list of a column's values."""
        ...

    def pipeline(self) -> AbstractContextManager[None]:
        """Statements of the block whose rows are not read go out together, in one round trip where there is one."""
        ...

    def numbers(self, table: str, count: int) -> range:
        """So many new numbers for rows of a table; none is ever given twice."""
        ...

    def insert_rows(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
        """Write new rows as they are, with values as they are read; what the database keeps beside them follows."""
        ...

    def vector(self, vector: Sequence[float] | NDArray[np.float32]) -> Any:
        """A vector as a value. Read again it is the bytes of little-endian 32-bit floats."""
        ...

    def post_terms(self, terms: Mapping[int, bytes]) -> None:
        """Index the search terms of units, packed as their rows have them, where the database searches by itself."""
        ...

    def unpost(self, units: Iterable[int]) -> Any:
        """Take units out of that index, before they are deleted."""
        ...

    def empty(self, but: frozenset[str]) -> None:
        """Delete all rows of the bank but those of some tables."""
        ...


class Connection(Protocol):
    """A way to one bank's rows, usable from any thread."""

    def use(self) -> AbstractContextManager[Sql]:
        """For a few reads."""
        ...

    def snapshot(self) -> AbstractContextManager[Sql]:
        """For reads that see the bank at one moment."""
        ...

    def transaction(self, *, wait: float | None = None) -> AbstractContextManager[Sql]:
        """For writing: all or nothing, by one writer of a bank at a time.

        `wait` is for how many seconds another writer is waited for; None is as the bank was opened.
        """
        ...

    def retried(self, work: Callable[[Sql], R]) -> R:
        """Run a function in a transaction, and again where another transaction was in its way."""
        ...

    def check_present(self) -> None:
        """Raise `Unavailable` where the bank was removed, or another one has its name."""
        ...

    def close(self) -> None: ...


class UnitIndex(Protocol):
    """What writers ask of the search index."""

    def neighbours(
        self, vectors: NDArray[np.float32], kinds: NDArray[np.int16], floor: float, limit: int
    ) -> list[list[tuple[int, float]]]:
        """For each vector the units of some kinds with a cosine above the floor, best first."""
        ...

    def holding(
        self, words: Sequence[Sequence[int]], kinds: NDArray[np.int16], limit: int | None = None
    ) -> list[NDArray[np.int64]]:
        """For each word, given by its terms, the units of some kinds that have all of them: first those that have them
        in their own words, and so many at the most."""
        ...


_HEADING = re.compile(r"^-- (\w+) --$", re.MULTILINE)


class Statements:
    """The named statements of every `*.sql` file of a folder."""

    def __init__(self, folder: Path) -> None:
        self._named: dict[str, str] = {}
        for file in sorted(folder.glob("*.sql")):
            parts = _HEADING.split(file.read_text(encoding="utf-8"))
            self._named |= {
                name: sql.strip().rstrip(";") for name, sql in zip(parts[1::2], parts[2::2], strict=True)
            }
        self.text = cache(self._text)

    def __getitem__(self, name: str) -> str:
        return self._named[name]

    def names(self) -> list[str]:
        return sorted(self._named)

    def _text(self, name: str, parts: tuple[tuple[str, str], ...] = ()) -> str:
        """A statement with its `{…}` filled in. A part that is the name of a statement stands for its text; every other
        part is taken as SQL itself."""
        found = self._named[name]
        for key, part in parts:
            found = found.replace(f"{{{key}}}", self._body(part))
        return found

    def _body(self, part: str) -> str:
        lines = self._named.get(part, part).splitlines()
        return "\n".join(line for line in lines if not line.startswith("--"))


def read_migrations(folder: Path) -> list[tuple[int, str, list[str]]]:
    """Numbered schema changes, oldest first: number, name, statements."""
    found = []
    for path in sorted(folder.glob("[0-9]*.sql")):
        number, _, name = path.stem.partition("_")
        found.append((int(number), name, _split(path.read_text(encoding="utf-8"))))
    return found


def _split(script: str) -> list[str]:
    """Cut a script into statements, so that a transaction around all of them is possible."""
    out, rest = [], ""
    for line in script.splitlines(keepends=True):
        rest += line
        if rest.strip() and sqlite3.complete_statement(rest):
            out.append(rest.strip())
            rest = ""
    return out


def quoted(name: str) -> str:
    """A table or column as a part of a statement. In quotes it is never taken for the name of a statement."""
    return f'"{name}"'


def bank_values(sql: Sql) -> dict[str, str]:
    return dict(sql.run("bank_values").fetchall())


def put_values(sql: Sql, values: Mapping[str, str]) -> None:
    sql.run_many("put_bank_value", list(values.items()))


def next_epoch(sql: Sql) -> None:
    """Tell every process that rows which are in its index were changed, so that it reads the whole index again."""
    put_values(sql, {"epoch": str(int(bank_values(sql).get("epoch", "0")) + 1)})


def changed_model(bank: str, embedder: str) -> str:
    return f"bank '{bank}' was given the vectors of {embedder} meanwhile; open it again"


def turn_of(row: tuple[Any, ...]) -> Turn:
    seq, id_, session, segment, role, speaker, text, said_at, zone, recorded_at, tokens, metadata = row
    return Turn(
        id=id_,
        session=session,
        seq=seq,
        role=role,
        speaker=speaker,
        text=text,
        said_at=from_text(said_at),
        zone=zone,
        recorded_at=from_text(recorded_at),
        tokens=tokens,
        segment=segment,
        metadata=metadata_of(metadata),
    )


def unit_of(row: tuple[Any, ...]) -> UnitRow:
    seq, id_, kind, network, text, said_at, zone, session, speaker, tokens, turns, metadata, *rest = row
    start, end, grain, confidence, level = rest
    return UnitRow(
        seq,
        id_,
        kind,
        network,
        text,
        from_text(said_at),
        zone,
        session,
        speaker,
        tokens,
        turns=(id_,) if kind == "turn" else tuple(turn for turn in json.loads(turns) if turn),
        metadata=metadata_of(metadata),
        occurred=interval_of(start, end, grain),
        confidence=confidence,
        level=level,
    )


def interval_of(start: str | None, end: str | None, grain: Grain | None) -> Interval | None:
    if start is None and end is None:
        return None
    return Interval(from_text(start) if start else None, from_text(end) if end else None, grain or "day")


def metadata_of(text: str) -> dict[str, Any]:
    """A turn's metadata."""
    if text == "{}":  # most have none, and recall reads hundreds
        return {}
    try:
        found: dict[str, Any] = json.loads(text)
    except (ValueError, TypeError, RecursionError):
        raise Damaged("stored metadata cannot be read; `everwhen bank doctor` says where") from None
    return found


Vectors: TypeAlias = NDArray[np.float32]

_AT_ONCE = 1024
KEPT = 10_000
"""Removals that the bank remembers. An index that is further behind is read again from the start, which takes about as
long as following so many removals."""


def index_units(sql: Sql, vectors: Mapping[int, Vectors], terms: Mapping[int, bytes]) -> None:
    """Give units, by their numbers, the vectors of their pieces and their search terms."""
    pieces = [
        (unit, place, sql.vector(one)) for unit, rows in vectors.items() for place, one in enumerate(rows)
    ]
    sql.run_batch("insert_vector", pieces)
    sql.post_terms(terms)


def texts_of_units(sql: Sql) -> Iterator[list[tuple[int, str, str, str, bytes | None]]]:
    """Page by page, each unit with its speaker, its text, its context and the terms that are stored of it."""
    after = 0
    while page := sql.run("unit_terms", {"after": after, "page": _AT_ONCE}).fetchall():
        yield page
        after = page[-1][0]


def remove_units(sql: Sql, units: Iterable[int]) -> None:
    """Delete units, their words, vectors and provenance; what refers to them goes by its foreign keys."""
    listed = list(units)
    if listed:
        with sql.pipeline():
            sql.unpost(listed)
            sql.run("drop_all_links", {"units": listed})
            sql.run("delete_vectors", (listed,))
            sql.run("delete_unit_turns", (listed,))
            removed = sql.run("delete_units", (listed,))
        note_changed(sql, [row[0] for row in removed])


def note_changed(sql: Sql, units: Sequence[int]) -> None:
    """Make every index drop some units, and then read again those that still exist."""
    if units:
        with sql.pipeline():
            sql.run_batch("insert_removal", [(unit,) for unit in units])
            sql.run("drop_old_removals", (KEPT,))


def restart_turns(sql: Sql, turns: Sequence[int]) -> None:
    """Have turns, given by seq, extracted again: delete what was derived from them, except facts, and put them on the
    list of turns to extract. If a derived event rests on other turns too, these are extracted again as well."""
    turns = [row[0] for row in sql.run("told_with", (list(turns),))]
    raw = [row[0] for row in sql.run("raw_units", (turns,))]
    remove_units(sql, [row[0] for row in sql.run("derived_from", (turns,))])
    with sql.pipeline():
        for name in ("drop_mentions", "drop_past_mentions", "drop_moments"):
            sql.run(name, (raw,))
        sql.run("drop_all_links", {"units": raw})
        for name in ("drop_extraction", "drop_failures", "release_leases"):
            sql.run(name, (turns,))


class Tombstones:
    """The tombstones of one bank, inside one transaction."""

    def __init__(self, sql: Sql, secret: str | None = None) -> None:
        self._sql = sql
        found = secret or sql.run("kept_value", ("secret",)).fetchone()[0]
        self._secret = bytes.fromhex(found)

    @property
    def any(self) -> bool:
        return self._sql.run("any_tombstone").fetchone() is not None

    def put(self, turn: str, said_at: str, recorded_at: str, text: str, at: str) -> None:
        """Instants as they are stored."""
        time = said_at if said_at != recorded_at else ""
        self._sql.run("insert_tombstone", (self._digest(turn, time, text), at))

    def put_fact(self, fact: str, at: str) -> None:
        """Facts have a random id, which is all that identifies them."""
        self._sql.run("insert_tombstone", (self._digest("fact", fact), at))

    def holds_fact(self, fact: str) -> bool:
        return self._known(self._digest("fact", fact))

    def holds(self, turn: str, said_at: str, text: str) -> bool:
        """Whether this very turn was forgotten."""
        return any(self._known(self._digest(turn, time, text)) for time in (said_at, ""))

    def pseudonym(self, text: str) -> str:
        """48 bits are enough to tell the sessions of one bank apart."""
        return self._digest("pseudonym", text).hex()[:12]

    def _known(self, digest: bytes) -> bool:
        return self._sql.run("known_tombstone", (digest,)).fetchone() is not None

    def _digest(self, *parts: str) -> bytes:
        # Each part is preceded by its length, so that no two lists of parts give the same bytes.
        whole = b"".join(b"%d:%s" % (len(raw), raw) for raw in map(_bytes, parts))
        return hmac.new(self._secret, whole, hashlib.sha256).digest()


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


# FTS5 does the tokenizing, in a scratch table, since the postings in memory must agree with it exactly.

TOKENIZE = "porter unicode61 remove_diacritics 2"
PACKED = np.dtype([("term", "<u8"), ("halves", "<u2")])
Packed = NDArray[np.void]

_WORDS = 2_000
"""Words of questions whose terms are remembered: the same ones are asked again and again."""

# English function words. They carry no content, and each costs as much as all others together. Question words
# and the verbs of asking are among them: "when did she say that X" is about X.
STOP_WORDS = """a about after again all also am an and any are as at be because been before being between both
    but by can could did do does doing don during each few for from further had has have having he her here hers
    herself him himself his how i if in into is it its itself just let like ll m may me might mine more most must
    my myself no nor not now of off on once only or other our ours out over own re s said same say says shall she
    should so some such t tell than that the their theirs them then there these they this those through to too
    under until up us ve very was want we were what when where which while who whom whose why will with would you
    your yours yourself"""


class Tokenizer:
    """FTS5's tokenizer, usable from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._sql = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        weakref.finalize(self, self._sql.close)  # Python 3.13 warns of a connection that nobody closes
        self._sql.execute(f"CREATE VIRTUAL TABLE scratch USING fts5 (text, tokenize = '{TOKENIZE}')")
        self._sql.execute("CREATE VIRTUAL TABLE words USING fts5vocab (scratch, 'instance')")
        self._stop_terms = frozenset(self.counts([STOP_WORDS])[0])
        self._terms_of: dict[str, list[int]] = {}

    def counts(self, texts: Sequence[str]) -> list[dict[str, int]]:
        """For each text, its terms and how often each occurs in it."""
        out: list[dict[str, int]] = [{} for _ in texts]
        with self._lock:
            self._sql.execute("BEGIN")
            try:
                self._sql.executemany("INSERT INTO scratch (rowid, text) VALUES (?, ?)", enumerate(texts))
                for row, term, count in self._sql.execute(
                    "SELECT doc, term, count(*) FROM words GROUP BY doc, term"
                ):
                    out[row][term] = count
            finally:
                self._sql.execute("ROLLBACK")
        return out

    def saying(self, texts: Sequence[str], phrases: Iterable[str]) -> dict[str, set[int]]:
        """For each phrase, the positions in `texts` of those that contain its words one after the other."""
        with self._lock:
            self._sql.execute("BEGIN")
            try:
                self._sql.executemany("INSERT INTO scratch (rowid, text) VALUES (?, ?)", enumerate(texts))
                matching = "SELECT rowid FROM scratch WHERE scratch MATCH ?"
                return {
                    phrase: {
                        row[0] for row in self._sql.execute(matching, ('"' + phrase.replace('"', "") + '"',))
                    }
                    for phrase in phrases
                }
            finally:
                self._sql.execute("ROLLBACK")

    def packed(self, texts: Sequence[str], contexts: Sequence[str]) -> list[bytes]:
        """For each text with its context, its terms as the index stores them."""
        return [
            pack(own, around) for own, around in zip(self.counts(texts), self.counts(contexts), strict=True)
        ]

    def terms(self, words: Sequence[str]) -> list[list[int]]:
        """For each word the terms that it is searched by; none for a stop word."""
        known = self._terms_of  # replaced by another one, never changed: no lock is needed
        new = [word for word in dict.fromkeys(words) if word not in known]
        if new:
            new_terms = {
                word: [hash_term(term) for term in terms if term not in self._stop_terms]
                for word, terms in zip(new, self.counts(new), strict=True)
            }
            if len(known) >= _WORDS:
                known = {word: known[word] for word in words if word in known}
            known = self._terms_of = known | new_terms
        return [known[word] for word in words]

    def query(self, text: str) -> list[int]:
        """The terms that a query asks for; stop words only when it has nothing else."""
        terms = self.counts([text])[0]
        content = [term for term in terms if term not in self._stop_terms]
        return [hash_term(term) for term in (content or terms)]


def pack(own: dict[str, int], around: dict[str, int]) -> bytes:
    """The terms of a unit with their counts, as bytes. The counts are doubled: a word of the text counts 2 and one of
    the context 1, so that a word of the context weighs half (BM25F's field weight) and the counts stay whole."""
    halves = {term: 2 * count for term, count in own.items()}
    for term, count in around.items():
        halves[term] = halves.get(term, 0) + count
    rows = sorted((hash_term(term), min(count, 65_535)) for term, count in halves.items())
    return np.array(rows, dtype=PACKED).tobytes()


@lru_cache(maxsize=200_000)
def hash_term(term: str) -> int:
    """A 64-bit name for a term; among a million terms a collision has a chance of one in 37 million."""
    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "replace"), digest_size=8).digest(), "little")


@lru_cache(maxsize=200_000)
def label_key(label: str) -> int:
    """A number for a session or a speaker, whatever the case; 0 is nobody's."""
    key = hash_term(label.casefold()) & (2**63 - 1)
    return key or 1


class ModelLock:
    """Many readers, or one change of the bank's model, within this process.

    A change waits for the readers that are there; those that come meanwhile wait for the change, which is short. Inside
    `reading` the same thread may enter `reading` again, even while a change waits; it must not enter `changing`, which
    would wait for itself.
    """

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._readers = 0
        self._is_changing = False
        self._mine = threading.local()

    @contextmanager
    def reading(self) -> Iterator[bool]:
        """Keep changes waiting until the end. Yields whether this is the thread's outermost such block: an inner one
        does nothing, and what the outer one has checked of the model still holds in it."""
        if getattr(self._mine, "reads", False):
            yield False
            return
        with self._condition:
            self._condition.wait_for(lambda: not self._is_changing)
            self._readers += 1
        self._mine.reads = True
        try:
            yield True
        finally:
            self._mine.reads = False
            with self._condition:
                self._readers -= 1
                self._condition.notify_all()

    @contextmanager
    def changing(self) -> Iterator[None]:
        with self._condition:
            self._condition.wait_for(lambda: not self._is_changing)
            self._is_changing = True
            self._condition.wait_for(lambda: not self._readers)
        try:
            yield
        finally:
            with self._condition:
                self._is_changing = False
                self._condition.notify_all()


class BankRows(ABC):
    """One bank's connections, and what every part of its store needs: its model, its tokenizer and its index."""

    def __init__(self, info: BankInfo, writer: Connection, reader: Connection) -> None:
        self._info = info
        self.writer = writer
        self.reader = reader
        self.model_lock = ModelLock()

    @property
    def info(self) -> BankInfo:
        return self._info

    @cached_property
    def tokenizer(self) -> Tokenizer:
        return Tokenizer()

    def read(self, name: str, values: Values = (), **parts: str) -> list[tuple[Any, ...]]:
        """The rows of one named statement."""
        with self.reader.use() as sql:
            return sql.run(name, values, **parts).fetchall()

    def check_model(self, sql: Sql, made_with: VectorModel) -> None:
        """Raise `ModelChanged` unless the bank has, inside this transaction, the model that vectors were made with."""
        self.writer.check_present()
        values = bank_values(sql)
        model = VectorModel(values["embedder"], int(values["dimension"]))
        if model.embedder != made_with.embedder:
            raise ModelChanged(changed_model(self._info.name, model.embedder))
        if model != made_with:
            raise ModelChanged(
                f"bank '{self._info.name}' has vectors of {model}, and {made_with} was to be written; "
                f"`everwhen bank reembed {self._info.name} --model {made_with.embedder}` makes all of them anew"
            )

    @abstractmethod
    def index(self) -> UnitIndex:
        """The search index; without the nodes of the tree where these have an index of their own (SQLite)."""

    def whole_index(self) -> UnitIndex:
        """The search index including the nodes of the tree."""
        return self.index()
