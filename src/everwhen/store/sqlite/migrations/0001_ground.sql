-- The ground floor: turns as said, the units that are searched, their vectors and terms, full text.
-- Instants are text in one fixed-width UTC form, so that order by text is order by time.

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

CREATE VIEW unit_texts AS
    SELECT units.seq AS seq,
           coalesce(turns.speaker, '') AS speaker,
           coalesce(units.text, turns.text) AS text,
           units.context AS context
    FROM units LEFT JOIN turns ON turns.seq = units.turn;

-- The truth of keyword search, and the tokenizer of the in-memory postings.
CREATE VIRTUAL TABLE unit_fts USING fts5 (
    speaker, text, context,
    content = 'unit_texts', content_rowid = 'seq',
    tokenize = 'porter unicode61 remove_diacritics 2'
);
