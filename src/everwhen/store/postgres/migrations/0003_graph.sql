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
