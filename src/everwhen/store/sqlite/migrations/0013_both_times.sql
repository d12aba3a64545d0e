-- What the memory held at a time, wherever a later state replaces an earlier one. Where a column is null, the row is
-- from before this schema, or needs no time of its own.

-- When the memory itself held a version, where that is not from recorded_at to superseded_at: what was learned from
-- turns is dated there by when they were said, and it was held from when they were recorded.
ALTER TABLE facts ADD COLUMN held_from TEXT;
ALTER TABLE facts ADD COLUMN held_to TEXT;

-- When it was found that a unit mentions somebody; null for when the unit was recorded.
ALTER TABLE mentions ADD COLUMN recorded_at TEXT;

-- Mentions that were given to another identity, until when they were as they are here.
CREATE TABLE past_mentions (
    seq         INTEGER PRIMARY KEY,
    unit        INTEGER NOT NULL REFERENCES units (seq) ON DELETE CASCADE,
    entity      INTEGER NOT NULL REFERENCES entities (seq) ON DELETE CASCADE,
    name        TEXT NOT NULL,
    type        TEXT NOT NULL,
    recorded_at TEXT,
    until       TEXT NOT NULL
);
CREATE INDEX past_mentions_by_unit ON past_mentions (unit);
CREATE INDEX past_mentions_by_entity ON past_mentions (entity);

-- Each name that an identity was listed under (`name`), or what it was merged into (`name` is null; nothing where a
-- merge was taken back). `said_at` is when the turn was said that gave the name, '' where a person decided.
CREATE TABLE identity_changes (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    entity      INTEGER NOT NULL REFERENCES entities (seq) ON DELETE CASCADE,
    name        TEXT,
    merged_into INTEGER REFERENCES entities (seq) ON DELETE CASCADE,
    said_at     TEXT NOT NULL,
    recorded_at TEXT NOT NULL
);
CREATE INDEX identity_changes_by_entity ON identity_changes (entity);
CREATE INDEX identity_changes_by_target ON identity_changes (merged_into);
INSERT INTO identity_changes (entity, name, said_at, recorded_at) SELECT seq, name, '', '' FROM entities;
INSERT INTO identity_changes (entity, merged_into, said_at, recorded_at)
SELECT e.seq, e.merged_into, '',
       coalesce((SELECT max(l.at) FROM entity_log l
                 WHERE l.action = 'merge' AND l.undone = 0 AND json_extract(l.detail, '$.gone') = e.id), '')
FROM entities e WHERE e.merged_into IS NOT NULL;

-- When a node was built, and the versions that another one has replaced since.
ALTER TABLE nodes ADD COLUMN built_at TEXT;
CREATE TABLE past_nodes (
    seq            INTEGER PRIMARY KEY,
    id             TEXT NOT NULL,
    level          INTEGER NOT NULL,
    parent         TEXT,
    session        TEXT,
    starts         TEXT NOT NULL,
    ends           TEXT NOT NULL,
    occurred_start TEXT NOT NULL,
    occurred_end   TEXT NOT NULL,
    grain          TEXT NOT NULL,
    text           TEXT NOT NULL,
    children       TEXT NOT NULL,
    statements     TEXT NOT NULL,
    facts          TEXT NOT NULL,
    consolidator   TEXT NOT NULL,
    first_at       TEXT NOT NULL,
    last_at        TEXT NOT NULL,
    built_at       TEXT NOT NULL,
    until          TEXT NOT NULL
);
CREATE INDEX past_nodes_by_level ON past_nodes (level, id);
