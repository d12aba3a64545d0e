"""What a bank consists of, as records: each kind with its table, its fields, and what belongs to it.

A record is what an export has on one line. It names other records by their ids, never by the numbers of rows, so that
any database can read what another one wrote. Reading and writing (`records.py`) follow from this description alone.

A field is written `name=column:form>table`: `=column` where the column has another name, `:form` where its value is
not written as it is (json, bytes, vector, flag), `>table` where it is the number of a row there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Field:
    """A value of a record, and the column that it is in."""

    name: str
    column: str
    form: str = ""
    table: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """What belongs to one record and is written inside it: one object, or a list (of plain values, if it has one
    field)."""

    name: str
    table: str
    parent: str
    """The column with the number of the record's row."""
    fields: tuple[Field, ...]
    is_list: bool = False
    order: str = ""
    place: str = ""
    """The column that counts the elements of the list."""
    statement: str = ""
    """The named statement that writes it: the parent's number, the place, the fields."""
    is_vector: bool = False
    """Left out of an export without vectors: it follows from the words and the model."""

    @property
    def is_plain(self) -> bool:
        return len(self.fields) == 1


@dataclass(frozen=True, slots=True)
class Kind:
    """Records of one kind: rows of a table, with what belongs to them."""

    name: str
    table: str
    fields: tuple[Field, ...]
    key: str = "seq"
    """The column by which pages are read. `seq` is a number that is given anew, in the same order."""
    order: str = ""
    """The order of the rows with one key."""
    parts: tuple[Part, ...] = ()
    where: str = "TRUE"
    statement: str = ""
    """The named statement that writes the fields, where they are not a new row."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """Columns that follow from others, and what they have until then."""


def fields(text: str) -> tuple[Field, ...]:
    """Fields as they are written above, with spaces between them."""
    found = []
    for word in text.split():
        rest, _, table = word.partition(">")
        rest, _, form = rest.partition(":")
        name, _, column = rest.partition("=")
        found.append(Field(name, column or name, form, table))
    return tuple(found)


NAMED_BY: Mapping[str, tuple[Field, ...]] = {
    "turns": fields("id"),
    "units": fields("id"),
    "entities": fields("id"),
    "fact_keys": fields("subject_key predicate_key"),
    "fact_slots": fields("key>fact_keys name"),
}
"""The fields that name a row of a table in other records: one value, or a list of them."""

_UNIT_PARTS = (
    Part("turns", "unit_turns", "unit", fields("turn>turns"), is_list=True, order="turn"),
    Part("derived", "derived", "unit", fields("extractor version confidence tokens")),
    Part(
        "event",
        "events",
        "unit",
        fields("subject verb object status polarity quantity expression inferred:flag aliases:json"),
    ),
    Part(
        "node",
        "nodes",
        "unit",
        fields(
            "id level parent session starts ends first_at built_at children:json statements:json facts:json "
            "fingerprint consolidator version tokens problem"
        ),
    ),
    Part(
        "mentions",
        "mentions",
        "unit",
        fields("entity>entities name type recorded_at"),
        is_list=True,
        order="entity, name",
    ),
    Part("moment", "moments", "unit", fields("line=kind at")),
    Part("accesses", "accesses", "unit", fields("count last_at")),
    Part(
        "vectors",
        "vectors",
        "unit",
        fields("vector:vector"),
        is_list=True,
        order="piece",
        place="piece",
        statement="insert_vector",
        is_vector=True,
    ),
    Part("token_codes", "token_codes", "unit", fields("codes:bytes"), is_vector=True),
)

KINDS = (
    Kind(
        "turn",
        "turns",
        fields("id session segment role speaker text said_at zone recorded_at tokens metadata:json"),
        parts=(
            Part("extraction", "extractions", "turn", fields("extractor version done_at")),
            Part("expired", "expired", "turn", fields("at")),
        ),
    ),
    Kind("extraction_failure", "extraction_failures", fields("turn>turns at reason")),
    Kind(
        "setting",
        "bank",
        fields("key value"),
        key="key",
        where="key NOT IN ('name', 'epoch')",
        statement="put_bank_value",
    ),
    Kind(
        "keeping",
        "keeping",
        fields("key value"),
        key="key",
        where="key NOT IN ('erasing', 'loading')",
        statement="put_kept_value",
    ),
    Kind("tombstone", "tombstones", fields("digest:bytes at"), key="digest"),
    Kind(
        "entity",
        "entities",
        fields("id name type last_at"),
        parts=(
            Part("names", "entity_names", "entity", fields("name decided:flag"), is_list=True, order="name"),
        ),
    ),
    Kind(
        "merged_entity",
        "entities",
        fields("into=merged_into>entities entity=seq>entities"),
        where="merged_into IS NOT NULL",
        statement="set_merged",
    ),
    Kind(
        "identity_change",
        "identity_changes",
        fields("entity>entities name merged_into>entities said_at recorded_at"),
    ),
    Kind(
        "unit",
        "units",
        fields(
            "id type=kind network level turn>turns text context context_turn>turns occurred_start occurred_end grain "
            "mentioned_at recorded_at pieces"
        ),
        parts=_UNIT_PARTS,
        given={"terms": b""},
    ),
    Kind("past_mention", "past_mentions", fields("unit>units entity>entities name type recorded_at until")),
    Kind("entity_decision", "entity_log", fields("at action detail:decision undone:flag")),
    Kind(
        "link",
        "links",
        fields("source>units type target>units weight"),
        key="source",
        order="type, target",
    ),
    Kind("fact_key", "fact_keys", fields("subject_key predicate_key subject predicate last_at")),
    Kind("fact_slot", "fact_slots", fields("key>fact_keys name")),
    Kind(
        "fact",
        "facts",
        fields(
            "id version slot>fact_slots object object_key domain grain valid_from claimed_to valid_to stated_at "
            "recorded_at superseded_at held_from held_to confidence origin standing act outcome reason support "
            "confirmed_at tokens"
        ),
    ),
    Kind("fact_confirmation", "fact_confirmations", fields("fact at confirmed_at support")),
    Kind("fact_source", "fact_sources", fields("fact source turn:flag at"), key="fact", order="source"),
    Kind(
        "fact_conflict",
        "fact_conflicts",
        fields("id key>fact_keys incumbent challenger why opened_at resolved_at kept"),
        key="id",
    ),
    Kind("fact_report", "fact_reports", fields("type=kind ref at")),
    Kind("fact_predicate", "fact_predicates", fields("key name multi:flag domain synonyms:json"), key="key"),
    Kind(
        "past_node",
        "past_nodes",
        fields(
            "id level parent session starts ends occurred_start occurred_end grain text children:json "
            "statements:json facts:json consolidator first_at last_at built_at until"
        ),
    ),
    Kind("tree_mark", "tree_marks", fields("node level parent session starts ends")),
    Kind("model_usage", "model_usage", fields("at purpose model calls input_tokens output_tokens cost")),
)
"""Every kind, in an order in which what is named comes before whoever names it."""

BY_NAME: Mapping[str, Kind] = {kind.name: kind for kind in KINDS}
