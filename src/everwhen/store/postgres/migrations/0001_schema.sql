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
-- `session` is that of a unit that was said, or taken from a turn; `halves` is twice its length in words, as in `postings`.
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
    session        text COLLATE "C",
    halves         bigint,
    terms          bytea,
    PRIMARY KEY (bank_id, seq),
    UNIQUE (bank_id, id),
    FOREIGN KEY (bank_id, turn) REFERENCES turns (bank_id, seq),
    FOREIGN KEY (bank_id, context_turn) REFERENCES turns (bank_id, seq)
);
CREATE INDEX units_by_turn ON units (bank_id, turn);
CREATE INDEX units_by_context ON units (bank_id, context_turn);
CREATE INDEX units_by_kind ON units (bank_id, kind, mentioned_at, seq);
CREATE INDEX units_by_session ON units (bank_id, session, mentioned_at, seq)
    INCLUDE (recorded_at, kind, network) WHERE session IS NOT NULL;

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
-- part of the column: an index of a large bank is one on (vector::halfvec(n)) of its rows. What the filters of a search read
-- stands beside it, as the unit and its turn have it.
CREATE TABLE vectors (
    bank_id      bigint NOT NULL,
    unit         bigint NOT NULL,
    piece        integer NOT NULL,
    vector       halfvec NOT NULL,
    mentioned_at timestamptz NOT NULL,
    recorded_at  timestamptz NOT NULL,
    kind         text COLLATE "C" NOT NULL,
    network      text COLLATE "C" NOT NULL,
    role         text COLLATE "C",
    speaker      text COLLATE "C",
    PRIMARY KEY (bank_id, unit, piece),
    FOREIGN KEY (bank_id, unit) REFERENCES units (bank_id, seq)
);
CREATE INDEX vectors_by_time ON vectors (bank_id, mentioned_at);
CREATE INDEX vectors_by_speaker ON vectors (bank_id, speaker);
CREATE INDEX vectors_derived ON vectors (bank_id, kind) WHERE kind <> 'turn';

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

-- In how many units each term stands: in nodes of the tree, and in all others.
CREATE TABLE terms (
    bank_id bigint NOT NULL,
    term    bigint NOT NULL,
    units   integer NOT NULL,
    nodes   integer NOT NULL,
    PRIMARY KEY (bank_id, term)
) WITH (fillfactor = 80);

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
-- Facts that people took back: the nodes that rest on them are built again.
CREATE INDEX facts_taken_back ON facts (bank_id, superseded_at) WHERE outcome IN ('corrected', 'retracted');
-- What somebody said who may not change what is known waits for a person's yes or no.
CREATE INDEX facts_proposed ON facts (bank_id, slot) WHERE superseded_at IS NULL AND act = 'propose';

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

-- The memory graph: what was derived from turns, by whom, and how it hangs together.
-- Everything here can be made again from the turns, except what a person decided about entities.

-- Which turns are extracted, and by what.
CREATE TABLE extractions (
    bank_id   bigint NOT NULL,
    turn      bigint NOT NULL,
    done_at   timestamptz NOT NULL,
    extractor text COLLATE "C" NOT NULL,
    version   text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_id, turn),
    FOREIGN KEY (bank_id, turn) REFERENCES turns (bank_id, seq)
);

-- The to-do list of extraction: the turns without a row in extractions. The statements that write turns and extractions
-- keep it.
CREATE TABLE pending (
    bank_id bigint NOT NULL,
    turn    bigint NOT NULL,
    said_at timestamptz NOT NULL,
    session text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_id, turn),
    FOREIGN KEY (bank_id, turn) REFERENCES turns (bank_id, seq) ON DELETE CASCADE
);
CREATE INDEX pending_by_session ON pending (bank_id, session, said_at, turn);

-- Turns that a process is working on. A claim whose owner is gone, or that is too old, holds nobody back.
CREATE TABLE claims (
    bank_id bigint NOT NULL,
    turn    bigint NOT NULL,
    expires timestamptz NOT NULL,
    owner   text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_id, turn),
    FOREIGN KEY (bank_id, turn) REFERENCES turns (bank_id, seq)
);

-- What a derived unit has beyond other units.
CREATE TABLE derived (
    bank_id    bigint NOT NULL,
    unit       bigint NOT NULL,
    confidence double precision NOT NULL,
    tokens     integer NOT NULL,
    extractor  text COLLATE "C" NOT NULL,
    version    text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_id, unit),
    FOREIGN KEY (bank_id, unit) REFERENCES units (bank_id, seq) ON DELETE CASCADE
);

-- The event calendar.
CREATE TABLE events (
    bank_id    bigint NOT NULL,
    unit       bigint NOT NULL,
    polarity   smallint NOT NULL,
    inferred   smallint NOT NULL,
    subject    text COLLATE "C" NOT NULL,
    verb       text COLLATE "C" NOT NULL,
    object     text COLLATE "C" NOT NULL,
    status     text COLLATE "C" NOT NULL,
    quantity   text COLLATE "C" NOT NULL,
    expression text COLLATE "C" NOT NULL,
    aliases    text NOT NULL,
    PRIMARY KEY (bank_id, unit),
    FOREIGN KEY (bank_id, unit) REFERENCES units (bank_id, seq) ON DELETE CASCADE
);
CREATE INDEX events_by_verb ON events (bank_id, verb);

-- Resolved identities. `merged_into` leads on from one that was found to be another; `root` is the one at the end of all
-- merges, which the statements that merge keep.
CREATE TABLE entities (
    bank_id     bigint NOT NULL,
    seq         bigint NOT NULL,
    merged_into bigint,
    root        bigint NOT NULL,
    last_at     timestamptz,
    id          text COLLATE "C" NOT NULL,
    name        text COLLATE "C" NOT NULL,
    type        text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_id, seq),
    UNIQUE (bank_id, id),
    FOREIGN KEY (bank_id, merged_into) REFERENCES entities (bank_id, seq)
);
CREATE INDEX entities_by_root ON entities (bank_id, root);
CREATE INDEX entities_merged ON entities (bank_id, merged_into) WHERE merged_into IS NOT NULL;

-- Which unit mentions whom, under which name; recorded_at is when it was found, null for when the unit was recorded.
CREATE TABLE mentions (
    bank_id     bigint NOT NULL,
    unit        bigint NOT NULL,
    entity      bigint NOT NULL,
    recorded_at timestamptz,
    name        text COLLATE "C" NOT NULL,
    type        text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_id, unit, entity, name),
    FOREIGN KEY (bank_id, unit) REFERENCES units (bank_id, seq) ON DELETE CASCADE,
    FOREIGN KEY (bank_id, entity) REFERENCES entities (bank_id, seq)
);
CREATE INDEX mentions_by_entity ON mentions (bank_id, entity, unit);

-- Mentions that were given to another identity, until when they were as they are here.
CREATE TABLE past_mentions (
    bank_id     bigint NOT NULL,
    seq         bigint NOT NULL,
    unit        bigint NOT NULL,
    entity      bigint NOT NULL,
    recorded_at timestamptz,
    until       timestamptz NOT NULL,
    name        text COLLATE "C" NOT NULL,
    type        text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_id, seq),
    FOREIGN KEY (bank_id, unit) REFERENCES units (bank_id, seq) ON DELETE CASCADE,
    FOREIGN KEY (bank_id, entity) REFERENCES entities (bank_id, seq) ON DELETE CASCADE
);
CREATE INDEX past_mentions_by_unit ON past_mentions (bank_id, unit);
CREATE INDEX past_mentions_by_entity ON past_mentions (bank_id, entity);

-- The names an identity goes by. Where a person decided, extraction leaves them.
CREATE TABLE entity_names (
    bank_id bigint NOT NULL,
    entity  bigint NOT NULL,
    decided smallint NOT NULL DEFAULT 0,
    name    text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_id, entity, name),
    FOREIGN KEY (bank_id, entity) REFERENCES entities (bank_id, seq) ON DELETE CASCADE
);

-- Each name that an identity was listed under (`name`), or what it was merged into (`name` is null; nothing where a
-- merge was taken back). `said_at` is when the turn was said that gave the name, '-infinity' where a person decided.
CREATE TABLE identity_changes (
    bank_id     bigint NOT NULL,
    seq         bigint NOT NULL,
    entity      bigint NOT NULL,
    merged_into bigint,
    said_at     timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL,
    name        text COLLATE "C",
    PRIMARY KEY (bank_id, seq),
    FOREIGN KEY (bank_id, entity) REFERENCES entities (bank_id, seq) ON DELETE CASCADE,
    FOREIGN KEY (bank_id, merged_into) REFERENCES entities (bank_id, seq) ON DELETE CASCADE
);
CREATE INDEX identity_changes_by_entity ON identity_changes (bank_id, entity);
CREATE INDEX identity_changes_by_target ON identity_changes (bank_id, merged_into);

-- Merges, splits and renames by people, newest last, with what is needed to take them back.
CREATE TABLE entity_log (
    bank_id bigint NOT NULL,
    seq     bigint NOT NULL,
    at      timestamptz NOT NULL,
    undone  smallint NOT NULL DEFAULT 0,
    action  text COLLATE "C" NOT NULL,
    detail  text NOT NULL,
    PRIMARY KEY (bank_id, seq)
);

-- Where a linked unit lies on the line of time; its kind's neighbours on that line get temporal links.
CREATE TABLE moments (
    bank_id bigint NOT NULL,
    unit    bigint NOT NULL,
    at      timestamptz NOT NULL,
    kind    text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_id, unit),
    FOREIGN KEY (bank_id, unit) REFERENCES units (bank_id, seq) ON DELETE CASCADE
);
CREATE INDEX moments_by_time ON moments (bank_id, kind, at, unit);

-- Each unit's own list of neighbours, bounded for each type. No foreign keys: they would take most of the time of a write.
-- Whoever removes a unit removes its links.
CREATE TABLE links (
    bank_id bigint NOT NULL,
    source  bigint NOT NULL,
    target  bigint NOT NULL,
    weight  double precision NOT NULL,
    type    text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_id, source, type, target)
);
CREATE INDEX links_by_target ON links (bank_id, target);

-- What went wrong in extraction and was made good by a fallback; `reextract` clears it.
CREATE TABLE extraction_failures (
    bank_id bigint NOT NULL,
    seq     bigint NOT NULL,
    turn    bigint NOT NULL,
    at      timestamptz NOT NULL,
    reason  text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_id, seq),
    FOREIGN KEY (bank_id, turn) REFERENCES turns (bank_id, seq)
);
CREATE INDEX extraction_failures_by_turn ON extraction_failures (bank_id, turn);

-- What models took.
CREATE TABLE model_usage (
    bank_id       bigint NOT NULL,
    seq           bigint NOT NULL,
    at            timestamptz NOT NULL,
    calls         bigint NOT NULL,
    input_tokens  bigint NOT NULL,
    output_tokens bigint NOT NULL,
    cost          double precision,
    purpose       text COLLATE "C" NOT NULL,
    model         text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_id, seq)
);

-- The memory tree: its nodes (units of kind node), and what is still to be built. All of it can be made again.

-- What a node has beyond other units. `id` is that of the unit: the same for the same level and window (or session).
-- `parent` is the id of the node above by rule; that one may not be built yet. `starts` to `ends` is the window (for a
-- session its own turns); the interval of the unit is the hull of that and of the children. `first_at` and
-- mentioned_at of the unit are when the first and the last turn under it were said. `children` are the ids, in order,
-- that it was built from; `statements` and `facts` what it is made of, as JSON; `problem` why a model's turn was taken
-- by the extractive consolidation; `built_at` when it was built.
CREATE TABLE nodes (
    bank_id      bigint NOT NULL,
    unit         bigint NOT NULL,
    starts       timestamptz NOT NULL,
    ends         timestamptz NOT NULL,
    first_at     timestamptz NOT NULL,
    built_at     timestamptz NOT NULL,
    level        integer NOT NULL,
    tokens       integer NOT NULL,
    id           text COLLATE "C" NOT NULL,
    parent       text COLLATE "C",
    session      text COLLATE "C",
    children     text NOT NULL,
    statements   text NOT NULL,
    facts        text NOT NULL,
    fingerprint  text COLLATE "C" NOT NULL,
    consolidator text COLLATE "C" NOT NULL,
    version      text COLLATE "C" NOT NULL,
    problem      text COLLATE "C",
    PRIMARY KEY (bank_id, unit),
    UNIQUE (bank_id, id),
    FOREIGN KEY (bank_id, unit) REFERENCES units (bank_id, seq) ON DELETE CASCADE
);
CREATE INDEX nodes_by_level ON nodes (bank_id, level, starts, id);
CREATE INDEX nodes_by_parent ON nodes (bank_id, parent, starts, id);
CREATE INDEX nodes_by_session ON nodes (bank_id, session, level);

-- The versions of nodes that another one has replaced since.
CREATE TABLE past_nodes (
    bank_id        bigint NOT NULL,
    seq            bigint NOT NULL,
    starts         timestamptz NOT NULL,
    ends           timestamptz NOT NULL,
    occurred_start timestamptz NOT NULL,
    occurred_end   timestamptz NOT NULL,
    first_at       timestamptz NOT NULL,
    last_at        timestamptz NOT NULL,
    built_at       timestamptz NOT NULL,
    until          timestamptz NOT NULL,
    level          integer NOT NULL,
    id             text COLLATE "C" NOT NULL,
    parent         text COLLATE "C",
    session        text COLLATE "C",
    grain          text COLLATE "C" NOT NULL,
    text           text NOT NULL,
    children       text NOT NULL,
    statements     text NOT NULL,
    facts          text NOT NULL,
    consolidator   text COLLATE "C" NOT NULL,
    PRIMARY KEY (bank_id, seq)
);
CREATE INDEX past_nodes_by_level ON past_nodes (bank_id, level, id);
CREATE INDEX past_nodes_by_last ON past_nodes (bank_id, last_at);

-- Nodes to be built, or built again, or dropped. A mark that is made again gets a new `seq`: whoever builds removes
-- only the mark that they saw, so that nothing which came meanwhile is lost.
-- How far the turns are marked is `tree_seen` in `bank`, how far what people took back `tree_taken_back`, and the levels
-- are `tree_levels`.
CREATE TABLE tree_marks (
    bank_id bigint NOT NULL,
    seq     bigint NOT NULL,
    starts  timestamptz NOT NULL,
    ends    timestamptz NOT NULL,
    level   integer NOT NULL,
    node    text COLLATE "C" NOT NULL,
    parent  text COLLATE "C",
    session text COLLATE "C",
    PRIMARY KEY (bank_id, node)
);
CREATE INDEX tree_marks_by_seq ON tree_marks (bank_id, seq);
CREATE INDEX tree_marks_by_level ON tree_marks (bank_id, level, starts);
CREATE INDEX tree_marks_by_parent ON tree_marks (bank_id, parent);

-- What servers have answered to idempotency keys, and what one of them is answering now: they share it, whichever a
-- balancer chooses. `asked` is a digest of who asked what with which key, `digest` one of the request's body. A claim
-- (`claim`, good until `until`) is of the server that does the write. This table is of servers, not of a bank: a bank
-- that a write makes has no number before it.
CREATE TABLE answers (
    asked  bytea PRIMARY KEY,
    bank   text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    at     timestamptz NOT NULL,
    claim  text COLLATE "C",
    until  timestamptz,
    status integer,
    media  text,
    body   bytea
);
CREATE INDEX answers_by_age ON answers (at);
CREATE INDEX answers_by_bank ON answers (bank);
CREATE INDEX answers_by_claim ON answers (claim) WHERE claim IS NOT NULL;

-- The server processes that are there: each says so again before `until`. They share what a key may ask.
CREATE TABLE servers (
    name  text COLLATE "C" PRIMARY KEY,
    until timestamptz NOT NULL
);

-- The API keys of all servers over this database, as a server without one has them in a file: of a key only its digest.
-- `banks` is a JSON list of patterns.
CREATE TABLE keys (
    id         text COLLATE "C" PRIMARY KEY,
    name       text NOT NULL,
    scope      text NOT NULL,
    banks      text NOT NULL,
    digest     bytea NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    revoked_at text COLLATE "C"
);

-- What they wrote down of writes, deletes, exports and denied calls: a line of JSON each, without content. The oldest go
-- first.
CREATE TABLE audit (
    id   text COLLATE "C" PRIMARY KEY,
    at   timestamptz NOT NULL,
    line text NOT NULL
);
CREATE INDEX audit_by_age ON audit (at);

-- A bank's number says nothing of how large it is. With statistics of it the planner thinks that a bank which is new beside
-- a very large one is empty, and joins all of it with all of it; without them every bank counts as one of two hundred.
DO '
DECLARE one text;
BEGIN
    FOREACH one IN ARRAY regexp_split_to_array(btrim(''
        counters bank keeping tombstones turns unit_turns token_codes postings posting_totals accesses
        expired removals fact_keys fact_slots facts fact_confirmations fact_sources fact_conflicts
        fact_reports fact_predicates extractions pending claims derived events entities mentions
        past_mentions entity_names identity_changes entity_log moments links extraction_failures model_usage
        nodes past_nodes tree_marks units vectors terms
    '', E''\n ''), ''\s+'') LOOP
        EXECUTE format(''ALTER TABLE %I ALTER COLUMN bank_id SET STATISTICS 0'', one);
    END LOOP;
END';
