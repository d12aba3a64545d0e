-- The memory graph: what was derived from turns, by whom, and how it hangs together.
-- Everything here can be made again from the turns, except what a person decided about entities.

-- Which turns are extracted, and by what. The to-do list is the turns that have no row here.
CREATE TABLE extractions (
    turn      INTEGER PRIMARY KEY REFERENCES turns (seq),
    extractor TEXT NOT NULL,
    version   TEXT NOT NULL,
    done_at   TEXT NOT NULL
);

-- Turns that a process is working on. A claim whose owner is gone, or that is too old, holds nobody back.
CREATE TABLE claims (
    turn    INTEGER PRIMARY KEY REFERENCES turns (seq),
    owner   TEXT NOT NULL,
    expires TEXT NOT NULL
);

-- What a derived unit has beyond other units.
CREATE TABLE derived (
    unit       INTEGER PRIMARY KEY REFERENCES units (seq) ON DELETE CASCADE,
    extractor  TEXT NOT NULL,
    version    TEXT NOT NULL,
    confidence REAL NOT NULL,
    tokens     INTEGER NOT NULL
);

-- The event calendar.
CREATE TABLE events (
    unit       INTEGER PRIMARY KEY REFERENCES units (seq) ON DELETE CASCADE,
    subject    TEXT NOT NULL,
    verb       TEXT NOT NULL,
    object     TEXT NOT NULL,
    status     TEXT NOT NULL,
    polarity   INTEGER NOT NULL,
    quantity   TEXT NOT NULL,
    expression TEXT NOT NULL,
    inferred   INTEGER NOT NULL,
    aliases    TEXT NOT NULL
);
CREATE INDEX events_by_verb ON events (verb);

-- Resolved identities. `merged_into` leads on from one that was found to be another.
CREATE TABLE entities (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    name        TEXT NOT NULL,
    type        TEXT NOT NULL,
    last_at     TEXT,
    merged_into INTEGER REFERENCES entities (seq)
);

-- Which unit mentions whom, under which name. Entity links are expanded from here when they are read, so that
-- a name that is everywhere costs no quadratic edges.
CREATE TABLE mentions (
    unit   INTEGER NOT NULL REFERENCES units (seq) ON DELETE CASCADE,
    entity INTEGER NOT NULL REFERENCES entities (seq),
    name   TEXT NOT NULL,
    type   TEXT NOT NULL,
    PRIMARY KEY (unit, entity, name)
) WITHOUT ROWID;
CREATE INDEX mentions_by_entity ON mentions (entity, unit);

-- The names an identity goes by. Where a person decided, extraction leaves them.
CREATE TABLE entity_names (
    entity  INTEGER NOT NULL REFERENCES entities (seq) ON DELETE CASCADE,
    name    TEXT NOT NULL,
    decided INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (entity, name)
) WITHOUT ROWID;

-- The identity at the end of all merges.
CREATE VIEW identities AS
    WITH RECURSIVE led (entity, root, next) AS (
        SELECT seq, seq, merged_into FROM entities
        UNION ALL
        SELECT led.entity, up.seq, up.merged_into FROM led JOIN entities up ON up.seq = led.next
    )
    SELECT entity, root FROM led WHERE next IS NULL;

-- Merges, splits and renames by people, newest last, with what is needed to take them back.
CREATE TABLE entity_log (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    at      TEXT NOT NULL,
    action  TEXT NOT NULL,
    detail  TEXT NOT NULL,
    undone  INTEGER NOT NULL DEFAULT 0
);

-- Where a linked unit lies on the line of time; its kind's neighbours on that line get temporal links.
CREATE TABLE moments (
    unit INTEGER PRIMARY KEY REFERENCES units (seq) ON DELETE CASCADE,
    kind TEXT NOT NULL,
    at   TEXT NOT NULL
);
CREATE INDEX moments_by_time ON moments (kind, at, unit);

-- Each unit's own list of neighbours, bounded for each type.
CREATE TABLE links (
    source INTEGER NOT NULL REFERENCES units (seq) ON DELETE CASCADE,
    type   TEXT NOT NULL,
    target INTEGER NOT NULL REFERENCES units (seq) ON DELETE CASCADE,
    weight REAL NOT NULL,
    PRIMARY KEY (source, type, target)
) WITHOUT ROWID;
CREATE INDEX links_by_target ON links (target);

-- What went wrong in extraction and was made good by a fallback; `reextract` clears it.
CREATE TABLE extraction_failures (
    seq    INTEGER PRIMARY KEY AUTOINCREMENT,
    turn   INTEGER NOT NULL REFERENCES turns (seq),
    at     TEXT NOT NULL,
    reason TEXT NOT NULL
);
CREATE INDEX extraction_failures_by_turn ON extraction_failures (turn);

-- What models took.
CREATE TABLE model_usage (
    seq           INTEGER PRIMARY KEY AUTOINCREMENT,
    at            TEXT NOT NULL,
    purpose       TEXT NOT NULL,
    model         TEXT NOT NULL,
    calls         INTEGER NOT NULL,
    input_tokens  INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    cost          REAL
);

-- Units that are gone, in order: the derived index catches up by it.
CREATE TABLE removals (
    seq  INTEGER PRIMARY KEY AUTOINCREMENT,
    unit INTEGER NOT NULL
);
