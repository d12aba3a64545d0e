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
    built_at     timestamptz,
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
