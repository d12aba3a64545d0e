-- Keeping and forgetting.

-- What the bank needs to keep its promises: `secret` keys the tombstones, `retention` is the rule of how long what is
-- kept, `erasing` says that forgotten words may still stand in the file's free space.
CREATE TABLE keeping (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
);
INSERT INTO keeping (key, value) VALUES ('secret', lower(hex(randomblob(32))));

-- What was forgotten and must not come back, as keyed digests that say nothing of it.
CREATE TABLE tombstones (
    digest BLOB PRIMARY KEY,
    at     TEXT NOT NULL
) WITHOUT ROWID;

-- Turns whose words are gone by a retention rule. The row stays, empty, for what was made of it.
CREATE TABLE expired (
    turn INTEGER PRIMARY KEY REFERENCES turns (seq) ON DELETE CASCADE,
    at   TEXT NOT NULL
);
