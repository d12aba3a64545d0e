-- The tables of a bank. Instants are text in one fixed-width UTC form, so that order by text is order by time.

-- Turns as they were said, the units that are searched, their vectors and terms.

CREATE TABLE bank (
    key   TEXT PRIMARY KEY,
    value TEXT NOT NULL
);

-- The turn calendar. Append-only: a row is never changed.
CREATE TABLE turns (
    seq         INTEGER PRIMARY KEY AUTOINCREMENT,
    id          TEXT NOT NULL UNIQUE,
    session     TEXT NOT NULL,
    segment     TEXT NOT NULL,
    role        TEXT NOT NULL,
    speaker     TEXT NOT NULL,
    text        TEXT NOT NULL,
    said_at     TEXT NOT NULL,
    zone        TEXT NOT NULL,
    recorded_at TEXT NOT NULL,
    tokens      INTEGER NOT NULL,
    metadata    TEXT NOT NULL
);
CREATE INDEX turns_by_time ON turns (said_at, seq);
CREATE INDEX turns_by_session ON turns (session, said_at, seq);
CREATE INDEX turns_by_segment ON turns (segment, seq);

-- What can be retrieved. A raw unit (kind turn) keeps its words in its turn; others bring their own text.
-- `context` is the end of the turn before (context_turn): it is searched with the text, and never shown.
-- `seq` is what the derived index catches up by: SQLite has one writer, so seq order is commit order.
CREATE TABLE units (
    seq            INTEGER PRIMARY KEY AUTOINCREMENT,
    id             TEXT NOT NULL UNIQUE,
    kind           TEXT NOT NULL,
    network        TEXT NOT NULL,
    level          INTEGER NOT NULL,
    turn           INTEGER REFERENCES turns (seq),
    text           TEXT,
    context        TEXT NOT NULL,
    context_turn   INTEGER REFERENCES turns (seq),
    occurred_start TEXT,
    occurred_end   TEXT,
    grain          TEXT,
    mentioned_at   TEXT NOT NULL,
    recorded_at    TEXT NOT NULL,
    pieces         INTEGER NOT NULL,
    terms          BLOB NOT NULL
);
CREATE INDEX units_by_turn ON units (turn);
CREATE INDEX units_by_context ON units (context_turn);

-- Provenance: the turns a unit came from.
CREATE TABLE unit_turns (
    unit INTEGER NOT NULL REFERENCES units (seq),
    turn INTEGER NOT NULL REFERENCES turns (seq),
    PRIMARY KEY (unit, turn)
) WITHOUT ROWID;
CREATE INDEX unit_turns_by_turn ON unit_turns (turn);

-- One row for each embedded piece of a unit, little-endian float32, of length one.
CREATE TABLE vectors (
    unit   INTEGER NOT NULL REFERENCES units (seq),
    piece  INTEGER NOT NULL,
    vector BLOB NOT NULL,
    PRIMARY KEY (unit, piece)
);

-- Coded token vectors of turns, for late interaction: read for the few candidates of a question, never all.
-- In a table of their own, so that whatever scans units or vectors does not pass over them. A turn without a row
-- was written with an embedder that gives none.

CREATE TABLE token_codes (
    unit  INTEGER PRIMARY KEY REFERENCES units (seq) ON DELETE CASCADE,
    codes BLOB NOT NULL
);

-- How often each memory was given back by recall, and when last. In a table of its own: it changes because of reads,
-- and units do not. Written in batches, behind the reads. How many recalls were counted is `recalls` in `bank`.

CREATE TABLE accesses (
    unit    INTEGER PRIMARY KEY REFERENCES units (seq) ON DELETE CASCADE,
    count   INTEGER NOT NULL,
    last_at TEXT NOT NULL
);
CREATE INDEX accesses_by_count ON accesses (count DESC, last_at DESC);

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
-- held_from and held_to are when the memory itself held a version, where that is not from recorded_at to superseded_at:
-- what was learned from turns is dated there by when they were said, and it was held from when they were recorded.
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
    held_from     TEXT,
    held_to       TEXT,
    UNIQUE (id, version),
    CHECK (valid_to IS NULL OR valid_to > valid_from)
);
CREATE INDEX facts_believed ON facts (slot, valid_from) WHERE superseded_at IS NULL AND standing = 'believed';
CREATE INDEX facts_disputed ON facts (slot) WHERE superseded_at IS NULL AND standing = 'disputed';
CREATE INDEX facts_by_slot ON facts (slot, valid_from);
CREATE INDEX facts_corrected ON facts (id) WHERE outcome = 'corrected';
-- Facts that people took back: the nodes that rest on them are built again.
CREATE INDEX facts_taken_back ON facts (superseded_at) WHERE outcome IN ('corrected', 'retracted');
-- What somebody said who may not change what is known waits for a person's yes or no.
CREATE INDEX facts_proposed ON facts (slot) WHERE superseded_at IS NULL AND act = 'propose';

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

-- The memory graph: what was derived from turns, by whom, and how it hangs together.
-- Everything here can be made again from the turns, except what a person decided about entities.

-- Which turns are extracted, and by what.
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

-- Which unit mentions whom, under which name; recorded_at is when it was found, null for when the unit was recorded.
-- Entity links are expanded from here when they are read, so that
-- a name that is everywhere costs no quadratic edges.
CREATE TABLE mentions (
    unit        INTEGER NOT NULL REFERENCES units (seq) ON DELETE CASCADE,
    entity      INTEGER NOT NULL REFERENCES entities (seq),
    name        TEXT NOT NULL,
    type        TEXT NOT NULL,
    recorded_at TEXT,
    PRIMARY KEY (unit, entity, name)
) WITHOUT ROWID;
CREATE INDEX mentions_by_entity ON mentions (entity, unit);

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

-- The names an identity goes by. Where a person decided, extraction leaves them.
CREATE TABLE entity_names (
    entity  INTEGER NOT NULL REFERENCES entities (seq) ON DELETE CASCADE,
    name    TEXT NOT NULL,
    decided INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (entity, name)
) WITHOUT ROWID;

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

-- The to-do list of extraction as a table of its own: asking what waits costs what waits, not the whole bank.
-- Triggers keep it equal to "turns without a row in extractions", whoever writes either table.

CREATE TABLE pending (
    turn    INTEGER PRIMARY KEY REFERENCES turns (seq) ON DELETE CASCADE,
    session TEXT NOT NULL,
    said_at TEXT NOT NULL
);
CREATE INDEX pending_by_session ON pending (session, said_at, turn);

CREATE TRIGGER turn_waits AFTER INSERT ON turns
WHEN NOT EXISTS (SELECT 1 FROM extractions WHERE turn = NEW.seq)
BEGIN
    INSERT OR REPLACE INTO pending (turn, session, said_at) VALUES (NEW.seq, NEW.session, NEW.said_at);
END;

CREATE TRIGGER turn_is_extracted AFTER INSERT ON extractions
BEGIN
    DELETE FROM pending WHERE turn = NEW.turn;
END;

CREATE TRIGGER turn_waits_again AFTER DELETE ON extractions
BEGIN
    INSERT OR REPLACE INTO pending (turn, session, said_at)
    SELECT seq, session, said_at FROM turns WHERE seq = OLD.turn;
END;

-- Grows whenever somebody gets another name: whoever holds all names in memory knows by it whether they are still all.
CREATE TABLE names_version (
    value INTEGER NOT NULL
);
INSERT INTO names_version (value) VALUES (1);

CREATE TRIGGER name_was_given AFTER INSERT ON entity_names
BEGIN
    UPDATE names_version SET value = value + 1;
END;

CREATE TRIGGER name_was_taken AFTER DELETE ON entity_names
BEGIN
    UPDATE names_version SET value = value + 1;
END;

CREATE TRIGGER identity_was_changed AFTER UPDATE OF name, type, merged_into ON entities
BEGIN
    UPDATE names_version SET value = value + 1;
END;

CREATE TRIGGER identity_was_removed AFTER DELETE ON entities
BEGIN
    UPDATE names_version SET value = value + 1;
END;

-- The memory tree: its nodes (units of kind node), and what is still to be built. All of it can be made again.

-- What a node has beyond other units. `id` is that of the unit: the same for the same level and window (or session).
-- `parent` is the id of the node above by rule; that one may not be built yet. `starts` to `ends` is the window (for a
-- session its own turns); the interval of the unit is the hull of that and of the children. `first_at` and
-- mentioned_at of the unit are when the first and the last turn under it were said. `children` are the ids, in order,
-- that it was built from; `statements` and `facts` what it is made of, as JSON; `problem` why a model's turn was taken
-- by the extractive consolidation; `built_at` when it was built.
CREATE TABLE nodes (
    unit         INTEGER PRIMARY KEY REFERENCES units (seq) ON DELETE CASCADE,
    id           TEXT NOT NULL UNIQUE,
    level        INTEGER NOT NULL,
    parent       TEXT,
    session      TEXT,
    starts       TEXT NOT NULL,
    ends         TEXT NOT NULL,
    first_at     TEXT NOT NULL,
    children     TEXT NOT NULL,
    statements   TEXT NOT NULL,
    facts        TEXT NOT NULL,
    fingerprint  TEXT NOT NULL,
    consolidator TEXT NOT NULL,
    version      TEXT NOT NULL,
    tokens       INTEGER NOT NULL,
    problem      TEXT,
    built_at     TEXT NOT NULL
);
CREATE INDEX nodes_by_level ON nodes (level, starts, id);
CREATE INDEX nodes_by_parent ON nodes (parent, starts, id);
CREATE INDEX nodes_by_session ON nodes (session, level);

-- The versions of nodes that another one has replaced since.
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

-- Nodes to be built, or built again, or dropped. A mark that is made again gets a new `seq`: whoever builds removes
-- only the mark that they saw, so that nothing which came meanwhile is lost.
-- How far the turns are marked is `tree_seen` in `bank`, how far what people took back `tree_taken_back`, and the levels
-- are `tree_levels`.
CREATE TABLE tree_marks (
    seq     INTEGER PRIMARY KEY AUTOINCREMENT,
    node    TEXT NOT NULL UNIQUE,
    level   INTEGER NOT NULL,
    parent  TEXT,
    session TEXT,
    starts  TEXT NOT NULL,
    ends    TEXT NOT NULL
);
CREATE INDEX tree_marks_by_level ON tree_marks (level, starts);
CREATE INDEX tree_marks_by_parent ON tree_marks (parent);

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
