"""The tables that hold a bank's rows, and the numbers that each bank gives."""

from __future__ import annotations

OF_A_BANK = (
    "postings",
    "terms",
    "links",
    "moments",
    "mentions",
    "past_mentions",
    "identity_changes",
    "entity_names",
    "entity_log",
    "entities",
    "events",
    "derived",
    "accesses",
    "token_codes",
    "vectors",
    "tree_marks",
    "past_nodes",
    "nodes",
    "unit_turns",
    "units",
    "fact_confirmations",
    "fact_sources",
    "fact_conflicts",
    "fact_reports",
    "fact_predicates",
    "facts",
    "fact_slots",
    "fact_keys",
    "extraction_failures",
    "extractions",
    "claims",
    "pending",
    "expired",
    "turns",
    "model_usage",
    "removals",
    "tombstones",
    "keeping",
    "bank",
)
"""In an order in which they can be emptied: what refers to a row comes before it."""

NUMBERED = (
    "turns",
    "units",
    "facts",
    "fact_keys",
    "fact_slots",
    "fact_confirmations",
    "fact_reports",
    "entities",
    "entity_log",
    "identity_changes",
    "past_mentions",
    "extraction_failures",
    "model_usage",
    "removals",
    "past_nodes",
    "tree_marks",
)
"""The tables whose rows have a number of the bank's own."""

COUNTERS = (*NUMBERED, "names_version", "writer")
"""The rows of `counters` that every bank has."""
