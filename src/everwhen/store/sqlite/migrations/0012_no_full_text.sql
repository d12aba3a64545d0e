-- Full text goes: search has run on the terms that each unit keeps since the first schema. A word stays in an FTS5
-- index until its segments are merged, so that forgetting one turn cost as much as making the whole index anew.
DROP TABLE unit_fts;

-- Whose context a turn is: without it, every turn that is forgotten is looked for in all units, twice.
CREATE INDEX units_by_context ON units (context_turn);
