-- Facts: subject, predicate, object, with when it was true and when the memory believed it.

-- One row for each (subject, predicate). `last_at` is the newest transaction time there: it never runs backwards.
CREATE TABLE fact_keys (
    bank_id       bigint NOT NULL,
    seq           bigint NOT NULL,
    last_at       timestamptz NOT NULL,
    subject_key   text COLLATE "C" NOT NULL,
    predicate_key text COLLATE "C" NOT NULL,
    subject       text COLLATE "C" NOT NULL,
    predicate     text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_id, seq),
    UNIQUE (bank_id, subject_key, predicate_key)
);
CREATE INDEX fact_keys_by_predicate ON fact_keys (bank_id, predicate_key);

-- Where two facts would contradict each other. A single-valued predicate has one slot for each scope ("for
-- scripting"; '' is the usual one), a multi-valued one has a slot for each object.
CREATE TABLE fact_slots (
    bank_id bigint NOT NULL,
    seq     bigint NOT NULL,
    key     bigint NOT NULL,
    name    text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_id, seq),
    UNIQUE (bank_id, key, name),
    FOREIGN KEY (bank_id, key) REFERENCES fact_keys (bank_id, seq)
);

-- Versions. Append-only: the one thing that changes on a row is that it gets superseded (superseded_at, outcome,
-- reason), and that support and confirmed_at sum up fact_confirmations, which is what known_at reads.
-- claimed_to is the end that was claimed; valid_to is what its successor leaves of it. stated_at is the
-- recorded_at of the version in which it was last stated, rather than cut or reopened by its neighbours.
-- held_from and held_to are when the memory itself held a version, where that is not from recorded_at to superseded_at.
CREATE TABLE facts (
    bank_id       bigint NOT NULL,
    seq           bigint NOT NULL,
    slot          bigint NOT NULL,
    valid_from    timestamptz NOT NULL,
    claimed_to    timestamptz,
    valid_to      timestamptz,
    stated_at     timestamptz NOT NULL,
    recorded_at   timestamptz NOT NULL,
    superseded_at timestamptz,
    confirmed_at  timestamptz,
    held_from     timestamptz,
    held_to       timestamptz,
    confidence    double precision NOT NULL,
    version       integer NOT NULL,
    support       integer NOT NULL,
    tokens        integer NOT NULL,
    id            text COLLATE "C" NOT NULL,
    object        text COLLATE "C" NOT NULL,
    object_key    text COLLATE "C" NOT NULL,
    domain        text COLLATE "C",
    grain         text COLLATE "C" NOT NULL,
    origin        text COLLATE "C" NOT NULL,
    standing      text COLLATE "C" NOT NULL CHECK (standing IN ('believed', 'disputed', 'overruled')),
    act           text COLLATE "C" NOT NULL,
    outcome       text COLLATE "C",
    reason        text COLLATE "C",
    PRIMARY KEY (bank_id, seq),
    UNIQUE (bank_id, id, version),
    CHECK (valid_to IS NULL OR valid_to > valid_from),
    FOREIGN KEY (bank_id, slot) REFERENCES fact_slots (bank_id, seq),
    -- Two believed versions of one slot never share an instant, whoever writes.
    CONSTRAINT facts_never_overlap EXCLUDE USING gist (
        bank_id WITH =, slot WITH =, tstzrange(valid_from, valid_to) WITH &&
    ) WHERE (superseded_at IS NULL AND standing = 'believed')
);
CREATE INDEX facts_believed ON facts (bank_id, slot, valid_from) WHERE superseded_at IS NULL AND standing = 'believed';
CREATE INDEX facts_disputed ON facts (bank_id, slot) WHERE superseded_at IS NULL AND standing = 'disputed';
CREATE INDEX facts_by_slot ON facts (bank_id, slot, valid_from);
CREATE INDEX facts_corrected ON facts (bank_id, id) WHERE outcome = 'corrected';
CREATE INDEX facts_taken_back ON facts (bank_id, superseded_at) WHERE outcome IN ('corrected', 'retracted');

-- Every time that an equal fact was asserted again or confirmed: what support and confirmed_at were at any known_at.
CREATE TABLE fact_confirmations (
    bank_id      bigint NOT NULL,
    seq          bigint NOT NULL,
    at           timestamptz NOT NULL,
    confirmed_at timestamptz NOT NULL,
    support      integer NOT NULL,
    fact         text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_id, seq)
);
CREATE INDEX fact_confirmations_by_fact ON fact_confirmations (bank_id, fact, at);

-- Provenance: ids of turns, or any other name of a source. `turn` is true where the source is a turn of this bank.
CREATE TABLE fact_sources (
    bank_id bigint NOT NULL,
    at      timestamptz NOT NULL,
    turn    boolean NOT NULL,
    fact    text COLLATE "C" NOT NULL,
    source  text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_id, fact, source)
);
CREATE INDEX fact_sources_by_source ON fact_sources (bank_id, source);

-- Two facts between which no rule decides. Open until resolved_at.
CREATE TABLE fact_conflicts (
    bank_id     bigint NOT NULL,
    key         bigint NOT NULL,
    opened_at   timestamptz NOT NULL,
    resolved_at timestamptz,
    id          text COLLATE "C" NOT NULL,
    incumbent   text COLLATE "C" NOT NULL,
    challenger  text COLLATE "C" NOT NULL,
    why         text COLLATE "C" NOT NULL,
    kept        text COLLATE "C",
    PRIMARY KEY (bank_id, id),
    FOREIGN KEY (bank_id, key) REFERENCES fact_keys (bank_id, seq)
);
CREATE INDEX fact_conflicts_open ON fact_conflicts (bank_id, key) WHERE resolved_at IS NULL;

-- What was reported from outside: a thing that is gone (missing), or that has changed (change).
CREATE TABLE fact_reports (
    bank_id bigint NOT NULL,
    seq     bigint NOT NULL,
    at      timestamptz NOT NULL,
    kind    text COLLATE "C" NOT NULL CHECK (kind IN ('missing', 'change')),
    ref     text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_id, seq)
);

-- Predicates that this bank declares, over the shipped table.
CREATE TABLE fact_predicates (
    bank_id  bigint NOT NULL,
    multi    smallint NOT NULL,
    key      text COLLATE "C" NOT NULL,
    name     text COLLATE "C" NOT NULL,
    domain   text COLLATE "C",
    synonyms text NOT NULL,
    PRIMARY KEY (bank_id, key)
);
