-- The memory tree: its nodes (units of kind node), and what is still to be built. All of it can be made again.

-- What a node has beyond other units. `id` is that of the unit: the same for the same level and window (or session).
-- `parent` is the id of the node above by rule; that one may not be built yet. `starts` to `ends` is the window (for a
-- session its own turns); the interval of the unit is the hull of that and of the children. `first_at` and
-- mentioned_at of the unit are when the first and the last turn under it were said. `children` are the ids, in order,
-- that it was built from; `statements` and `facts` what it is made of, as JSON; `problem` why a model's turn was taken
-- by the extractive consolidation.
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
    problem      TEXT
);
CREATE INDEX nodes_by_level ON nodes (level, starts, id);
CREATE INDEX nodes_by_parent ON nodes (parent, starts, id);
CREATE INDEX nodes_by_session ON nodes (session, level);

-- Nodes to be built, or built again, or dropped. A mark that is made again gets a new `seq`: whoever builds removes
-- only the mark that they saw, so that nothing which came meanwhile is lost.
-- How far the turns are marked is `tree_seen` in `bank`, the levels are `tree_levels` there.
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
