-- All tables of a bank. `bank_id` leads every key and index, so that a statement that names a bank stays inside it, and
-- rows of one bank can lie on one machine. Numbers (`seq`) are given by bank, from `counters`: there is no sequence and
-- no uniqueness across banks but the name of a bank. What refers to rows of a bank names the bank too.
--
-- Instants are timestamptz; '-infinity' stands for "no time" where a column may not be null. Text that is compared or
-- sorted has the collation "C": its order is that of code points, and `lower` changes ASCII letters alone.

CREATE TABLE banks (
    bank_id    bigint PRIMARY KEY,
    name       text COLLATE "C" NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now()
);
-- Names that differ in capitals alone would be one file in a home folder.
CREATE UNIQUE INDEX banks_by_folded_name ON banks (lower(name));

-- The last number given of each kind, and `writer`, the row that whoever writes into the bank locks first: a bank has one
-- writer at a time, so that the order of its numbers is the order of commits. `names_version` grows whenever somebody
-- gets or loses a name.
CREATE TABLE counters (
    bank_id bigint NOT NULL REFERENCES banks (bank_id) ON DELETE CASCADE,
    name    text COLLATE "C" NOT NULL,
    last    bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (bank_id, name)
) WITH (fillfactor = 50);

CREATE TABLE bank (
    bank_id bigint NOT NULL,
    key     text COLLATE "C" NOT NULL,
    value   text NOT NULL,
    PRIMARY KEY (bank_id, key)
);

-- What the bank needs to keep its promises: `secret` keys the tombstones, `retention` is the rule of how long what is
-- kept.
CREATE TABLE keeping (
    bank_id bigint NOT NULL,
    key     text COLLATE "C" NOT NULL,
    value   text NOT NULL,
    PRIMARY KEY (bank_id, key)
);

-- What was forgotten and must not come back, as keyed digests that say nothing of it.
CREATE TABLE tombstones (
    bank_id bigint NOT NULL,
    digest  bytea NOT NULL,
    at      timestamptz NOT NULL,
    PRIMARY KEY (bank_id, digest)
);

-- The turn calendar. Append-only: a row is never changed. `metadata` is JSON as it was given; `facets` is the same for
-- the database to search, null where there is none or PostgreSQL cannot read it.
CREATE TABLE turns (
    bank_id     bigint NOT NULL,
    seq         bigint NOT NULL,
    said_at     timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL,
    tokens      integer NOT NULL,
    id          text COLLATE "C" NOT NULL,
    session     text COLLATE "C" NOT NULL,
    segment     text COLLATE "C" NOT NULL,
    role        text COLLATE "C" NOT NULL,
    speaker     text COLLATE "C" NOT NULL,
    text        text NOT NULL,
    zone        text COLLATE "C" NOT NULL,
    metadata    text NOT NULL,
    facets      jsonb,
    PRIMARY KEY (bank_id, seq),
    UNIQUE (bank_id, id)
);
CREATE INDEX turns_by_time ON turns (bank_id, said_at, seq);
CREATE INDEX turns_by_session ON turns (bank_id, session, said_at, seq);
CREATE INDEX turns_by_segment ON turns (bank_id, segment, seq);
CREATE INDEX turns_by_speaker ON turns (bank_id, role, speaker);
CREATE INDEX turns_with_metadata ON turns (bank_id, seq) WHERE metadata <> '{}';

-- What can be retrieved. A raw unit (kind turn) keeps its words in its turn; others bring their own text.
-- `context` is the end of the turn before (context_turn): it is searched with the text, and never shown.
-- `terms` is what `postings` has of it: its words as hashes with their counts, ten bytes for each; null before that.
CREATE TABLE units (
    bank_id        bigint NOT NULL,
    seq            bigint NOT NULL,
    turn           bigint,
    context_turn   bigint,
    occurred_start timestamptz,
    occurred_end   timestamptz,
    mentioned_at   timestamptz NOT NULL,
    recorded_at    timestamptz NOT NULL,
    level          integer NOT NULL,
    pieces         integer NOT NULL,
    id             text COLLATE "C" NOT NULL,
    kind           text COLLATE "C" NOT NULL,
    network        text COLLATE "C" NOT NULL,
    grain          text COLLATE "C",
    text           text,
    context        text NOT NULL,
    terms          bytea,
    PRIMARY KEY (bank_id, seq),
    UNIQUE (bank_id, id),
    FOREIGN KEY (bank_id, turn) REFERENCES turns (bank_id, seq),
    FOREIGN KEY (bank_id, context_turn) REFERENCES turns (bank_id, seq)
);
CREATE INDEX units_by_turn ON units (bank_id, turn);
CREATE INDEX units_by_context ON units (bank_id, context_turn);
CREATE INDEX units_by_kind ON units (bank_id, kind, mentioned_at, seq);

-- Provenance: the turns a unit came from.
CREATE TABLE unit_turns (
    bank_id bigint NOT NULL,
    unit    bigint NOT NULL,
    turn    bigint NOT NULL,
    PRIMARY KEY (bank_id, unit, turn),
    FOREIGN KEY (bank_id, unit) REFERENCES units (bank_id, seq),
    FOREIGN KEY (bank_id, turn) REFERENCES turns (bank_id, seq)
);
CREATE INDEX unit_turns_by_turn ON unit_turns (bank_id, turn);

-- One row for each embedded piece of a unit, of length one. The dimension is that of the bank's model, so that it is no
-- part of the column: an index of a large bank is one on (vector::halfvec(n)) of its rows.
CREATE TABLE vectors (
    bank_id bigint NOT NULL,
    unit    bigint NOT NULL,
    piece   integer NOT NULL,
    vector  halfvec NOT NULL,
    PRIMARY KEY (bank_id, unit, piece),
    FOREIGN KEY (bank_id, unit) REFERENCES units (bank_id, seq)
);

-- Coded token vectors of turns, for late interaction: read for the few candidates of a question, never all.
CREATE TABLE token_codes (
    bank_id bigint NOT NULL,
    unit    bigint NOT NULL,
    codes   bytea NOT NULL,
    PRIMARY KEY (bank_id, unit),
    FOREIGN KEY (bank_id, unit) REFERENCES units (bank_id, seq) ON DELETE CASCADE
);
ALTER TABLE token_codes ALTER COLUMN codes SET STORAGE EXTERNAL; -- they cannot be made smaller

-- Where each term stands: what BM25 needs of a unit, in the order in which it is read. `halves` is twice how often the
-- term stands there (a word of the context counts as a half), `length` the unit's words counted in the same way, `node`
-- whether it is one of the tree, which is searched apart. No foreign key: a unit's rows are found by its terms.
CREATE TABLE postings (
    bank_id bigint NOT NULL,
    term    bigint NOT NULL,
    unit    bigint NOT NULL,
    length  real NOT NULL,
    halves  smallint NOT NULL,
    node    boolean NOT NULL,
    PRIMARY KEY (bank_id, term, unit) INCLUDE (length, halves, node)
);

-- How many units a bank's postings know, and the sum of their lengths, doubled: nodes of the tree, and all others.
CREATE TABLE posting_totals (
    bank_id bigint NOT NULL,
    node    boolean NOT NULL,
    units   bigint NOT NULL DEFAULT 0,
    halves  bigint NOT NULL DEFAULT 0,
    PRIMARY KEY (bank_id, node)
) WITH (fillfactor = 50);

-- How often each memory was given back by recall, and when last. How many recalls were counted is `recalls` in `bank`.
CREATE TABLE accesses (
    bank_id bigint NOT NULL,
    unit    bigint NOT NULL,
    count   bigint NOT NULL,
    last_at timestamptz NOT NULL,
    PRIMARY KEY (bank_id, unit),
    FOREIGN KEY (bank_id, unit) REFERENCES units (bank_id, seq) ON DELETE CASCADE
);
CREATE INDEX accesses_by_count ON accesses (bank_id, count DESC, last_at DESC);

-- Turns whose words are gone by a retention rule. The row stays, empty, for what was made of it.
CREATE TABLE expired (
    bank_id bigint NOT NULL,
    turn    bigint NOT NULL,
    at      timestamptz NOT NULL,
    PRIMARY KEY (bank_id, turn),
    FOREIGN KEY (bank_id, turn) REFERENCES turns (bank_id, seq) ON DELETE CASCADE
);

-- Units that are gone or were changed, in order: what is derived elsewhere catches up by it.
CREATE TABLE removals (
    bank_id bigint NOT NULL,
    seq     bigint NOT NULL,
    unit    bigint NOT NULL,
    PRIMARY KEY (bank_id, seq)
);
