-- Coded token vectors of turns, for late interaction: read for the few candidates of a question, never all.
-- In a table of their own, so that whatever scans units or vectors does not pass over them. A turn without a
-- row has no token vectors: it was written before there were any, or with an embedder that gives none.

CREATE TABLE token_codes (
    unit  INTEGER PRIMARY KEY REFERENCES units (seq) ON DELETE CASCADE,
    codes BLOB NOT NULL
);
