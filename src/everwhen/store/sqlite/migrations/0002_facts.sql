-- Facts: subject, predicate, object, with when it was true and when the memory believed it.

-- One row for each (subject, predicate). `last_at` is the newest transaction time there: it never runs backwards.
CREATE TABLE fact_keys (
    seq           INTEGER PRIMARY KEY,
    subject_key   TEXT NOT NULL,
    predicate_key TEXT NOT NULL,
    subject       TEXT NOT NULL,
    predicate     TEXT NOT NULL,
    last_at       TEXT NOT NULL,
    UNIQUE (subject_key, predicate_key)
);
CREATE INDEX fact_keys_by_predicate ON fact_keys (predicate_key);

-- Where two facts would contradict each other. A single-valued predicate has one slot for each scope ("for
-- scripting"; '' is the usual one), a multi-valued one has a slot for each object.
CREATE TABLE fact_slots (
    seq  INTEGER PRIMARY KEY,
    key  INTEGER NOT NULL REFERENCES fact_keys (seq),
    name TEXT NOT NULL,
    UNIQUE (key, name)
);

-- Versions. Append-only: the one thing that changes on a row is that it gets superseded (superseded_at, outcome,
-- reason), and that support and confirmed_at sum up fact_confirmations, which is what known_at reads.
-- claimed_to is the end that was claimed; valid_to is what its successor leaves of it. stated_at is the
-- recorded_at of the version in which it was last stated, rather than cut or reopened by its neighbours.
CREATE TABLE facts (
    seq           INTEGER PRIMARY KEY AUTOINCREMENT,
    id            TEXT NOT NULL,
    version       INTEGER NOT NULL,
    slot          INTEGER NOT NULL REFERENCES fact_slots (seq),
    object        TEXT NOT NULL,
    object_key    TEXT NOT NULL,
    domain        TEXT,
    grain         TEXT NOT NULL,
    valid_from    TEXT NOT NULL,
    claimed_to    TEXT,
    valid_to      TEXT,
    stated_at     TEXT NOT NULL,
    recorded_at   TEXT NOT NULL,
    superseded_at TEXT,
    confidence    REAL NOT NULL,
    origin        TEXT NOT NULL,
    standing      TEXT NOT NULL CHECK (standing IN ('believed', 'disputed', 'overruled')),
    act           TEXT NOT NULL,
    outcome       TEXT,
    reason        TEXT,
    support       INTEGER NOT NULL,
    confirmed_at  TEXT,
    tokens        INTEGER NOT NULL,
    UNIQUE (id, version),
    CHECK (valid_to IS NULL OR valid_to > valid_from)
);
CREATE INDEX facts_believed ON facts (slot, valid_from) WHERE superseded_at IS NULL AND standing = 'believed';
CREATE INDEX facts_disputed ON facts (slot) WHERE superseded_at IS NULL AND standing = 'disputed';
CREATE INDEX facts_by_slot ON facts (slot, valid_from);
CREATE INDEX facts_corrected ON facts (id) WHERE outcome = 'corrected';

-- Two believed versions of one slot never share an instant, whoever writes: the neighbour that starts last before
-- the end of the new one is the only one that could.
CREATE TRIGGER facts_never_overlap BEFORE INSERT ON facts WHEN NEW.standing = 'believed' AND NEW.superseded_at IS NULL
BEGIN
    SELECT RAISE(ABORT, 'two facts of one slot would overlap')
    WHERE EXISTS (
        SELECT 1 FROM (
            SELECT valid_to FROM facts INDEXED BY facts_believed
            WHERE slot = NEW.slot AND superseded_at IS NULL AND standing = 'believed'
              AND valid_from < coalesce(NEW.valid_to, '~') -- after every instant
            ORDER BY valid_from DESC LIMIT 1
        ) WHERE valid_to IS NULL OR valid_to > NEW.valid_from
    );
END;

-- Every time that an equal fact was asserted again or confirmed: what support and confirmed_at were at any known_at.
CREATE TABLE fact_confirmations (
    seq          INTEGER PRIMARY KEY,
    fact         TEXT NOT NULL,
    at           TEXT NOT NULL,
    confirmed_at TEXT NOT NULL,
    support      INTEGER NOT NULL
);
CREATE INDEX fact_confirmations_by_fact ON fact_confirmations (fact, at);

-- Provenance: ids of turns, or any other name of a source. `turn` is 1 where the source is a turn of this bank.
CREATE TABLE fact_sources (
    fact   TEXT NOT NULL,
    source TEXT NOT NULL,
    turn   INTEGER NOT NULL,
    at     TEXT NOT NULL,
    PRIMARY KEY (fact, source)
) WITHOUT ROWID;
CREATE INDEX fact_sources_by_source ON fact_sources (source);

-- Two facts between which no rule decides. Open until resolved_at.
CREATE TABLE fact_conflicts (
    id          TEXT PRIMARY KEY,
    key         INTEGER NOT NULL REFERENCES fact_keys (seq),
    incumbent   TEXT NOT NULL,
    challenger  TEXT NOT NULL,
    why         TEXT NOT NULL,
    opened_at   TEXT NOT NULL,
    resolved_at TEXT,
    kept        TEXT
);
CREATE INDEX fact_conflicts_open ON fact_conflicts (key) WHERE resolved_at IS NULL;

-- What was reported from outside: a thing that is gone (missing), or that has changed (change).
CREATE TABLE fact_reports (
    seq     INTEGER PRIMARY KEY,
    kind    TEXT NOT NULL CHECK (kind IN ('missing', 'change')),
    ref     TEXT NOT NULL,
    at      TEXT NOT NULL
);

-- Predicates that this bank declares, over the shipped table.
CREATE TABLE fact_predicates (
    key      TEXT PRIMARY KEY,
    name     TEXT NOT NULL,
    multi    INTEGER NOT NULL,
    domain   TEXT,
    synonyms TEXT NOT NULL
);
