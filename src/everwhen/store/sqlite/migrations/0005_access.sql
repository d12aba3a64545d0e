-- How often each memory was given back by recall, and when last. In a table of its own: it changes because of reads,
-- and units do not. Written in batches, behind the reads. How many recalls were counted is `recalls` in `bank`.

CREATE TABLE accesses (
    unit    INTEGER PRIMARY KEY REFERENCES units (seq) ON DELETE CASCADE,
    count   INTEGER NOT NULL,
    last_at TEXT NOT NULL
);
CREATE INDEX accesses_by_count ON accesses (count DESC, last_at DESC);
