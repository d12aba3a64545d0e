-- The statements that read a bank as it was, named, with their purpose. :as_of bounds when a thing was said, :known_at
-- when it was recorded; an open side lies after everything.

-- mentions_then --
-- Who was mentioned where, under which name, as it was known then.
SELECT m.unit, m.entity, m.name, m.type, u.kind, u.turn, u.mentioned_at
FROM (SELECT unit, entity, name, type, recorded_at FROM mentions
      UNION ALL SELECT unit, entity, name, type, recorded_at FROM past_mentions WHERE until > :known_at) m
JOIN units u ON u.seq = m.unit
WHERE u.mentioned_at <= :as_of AND u.recorded_at <= :known_at AND coalesce(m.recorded_at, '') <= :known_at
ORDER BY u.mentioned_at, u.seq, m.name;

-- identity_changes_then --
SELECT entity, name, merged_into FROM identity_changes
WHERE said_at <= :as_of AND recorded_at <= :known_at ORDER BY seq;

-- all_entities --
SELECT seq, id, name, type FROM entities;

-- insert_identity_name --
INSERT INTO identity_changes (entity, name, said_at, recorded_at) VALUES (?, ?, ?, ?);

-- insert_identity_merge --
INSERT INTO identity_changes (entity, merged_into, said_at, recorded_at) VALUES (?, ?, '', ?);

-- keep_past_mention --
-- A mention as it is, before another identity gets it.
INSERT INTO past_mentions (unit, entity, name, type, recorded_at, until)
SELECT unit, entity, name, type, recorded_at, :until FROM mentions
WHERE unit = :unit AND entity = :entity AND name = :name;

-- drop_past_mentions --
DELETE FROM past_mentions WHERE unit IN (SELECT value FROM json_each(?));

-- forget_past_names --
DELETE FROM past_mentions WHERE lower(name) = lower(?);

-- forget_identity_names --
DELETE FROM identity_changes WHERE lower(name) = lower(?);

-- believed_then --
-- The version of each of some facts that was believed by what had been said and was held then. One that was superseded
-- by then still counts where the memory did not know that yet.
SELECT {columns} FROM facts f JOIN fact_slots s ON s.seq = f.slot JOIN fact_keys k ON k.seq = s.key
WHERE f.id IN (SELECT value FROM json_each(:ids)) AND f.standing = 'believed'
  AND f.recorded_at <= :as_of AND coalesce(f.held_from, f.recorded_at) <= :held_at
  AND (f.superseded_at IS NULL OR f.superseded_at > :as_of OR coalesce(f.held_to, f.superseded_at) > :held_at)
ORDER BY f.seq;

-- versions_then --
-- Every version of a fact that had been said and was held then, and whether it had not been superseded.
SELECT {columns}, f.superseded_at IS NULL OR f.superseded_at > :as_of OR coalesce(f.held_to, f.superseded_at) > :held_at
FROM facts f JOIN fact_slots s ON s.seq = f.slot JOIN fact_keys k ON k.seq = s.key
WHERE f.recorded_at <= :as_of AND coalesce(f.held_from, f.recorded_at) <= :held_at
ORDER BY f.seq;

-- conflicts_until --
SELECT id, incumbent, challenger, why, opened_at, resolved_at, kept FROM fact_conflicts
WHERE opened_at <= ? ORDER BY opened_at, id;

-- newest_recorded --
-- When the last of some turns was recorded.
SELECT max(recorded_at) FROM turns WHERE id IN (SELECT value FROM json_each(?));

-- sources_then --
-- The sources of some facts, those first that came first: turns by when they were said and recorded.
SELECT s.fact, s.source FROM fact_sources s LEFT JOIN turns t ON t.id = s.source
WHERE s.fact IN (SELECT value FROM json_each(:ids))
  AND coalesce(t.said_at, s.at) <= :as_of AND coalesce(t.recorded_at, s.at) <= :known_at
ORDER BY s.at, s.source;

-- node_versions --
-- Every version of every node of a level (all where it is null), those that stand at present included.
SELECT {node}, n.built_at AS built, '~' AS until
FROM nodes n JOIN units u ON u.seq = n.unit WHERE :level IS NULL OR n.level = :level
UNION ALL
SELECT 0, id, level, parent, session, starts, ends, occurred_start, occurred_end, grain, text,
       children, statements, facts, '', consolidator, '', NULL, first_at,
       last_at, built_at, built_at, until
FROM past_nodes WHERE :level IS NULL OR level = :level
ORDER BY built;

-- keep_past_node --
-- A node as it is, before another version takes its place.
INSERT INTO past_nodes (id, level, parent, session, starts, ends, occurred_start, occurred_end, grain, text, children,
                        statements, facts, consolidator, first_at, last_at, built_at, until)
SELECT n.id, n.level, n.parent, n.session, n.starts, n.ends, u.occurred_start, u.occurred_end, u.grain, u.text, n.children,
       n.statements, n.facts, n.consolidator, n.first_at, u.mentioned_at, n.built_at, :until
FROM nodes n JOIN units u ON u.seq = n.unit WHERE n.unit = :unit;

-- drop_past_nodes --
DELETE FROM past_nodes;

-- forget_past_nodes --
-- Versions that may repeat the words of some turns (a JSON list): all that reach to the first of them or beyond.
DELETE FROM past_nodes WHERE last_at >= (SELECT min(said_at) FROM turns WHERE id IN (SELECT value FROM json_each(?)));

-- forget_past_nodes_of_fact --
DELETE FROM past_nodes WHERE instr(facts, ?1) OR instr(statements, ?1);

-- drop_past_nodes_before --
DELETE FROM past_nodes WHERE occurred_end < ?;
