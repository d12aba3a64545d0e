-- The statements that read a bank as it was, in PostgreSQL's words. :as_of bounds when a thing was said, :known_at
-- when it was recorded; an open side lies after everything.

-- mentions_then --
-- Who was mentioned where, under which name, as it was known then.
SELECT m.unit, m.entity, m.name, m.type, u.kind, u.turn, u.mentioned_at
FROM (SELECT bank_id, unit, entity, name, type, recorded_at FROM mentions WHERE bank_id = :bank
      UNION ALL
      SELECT bank_id, unit, entity, name, type, recorded_at FROM past_mentions
      WHERE bank_id = :bank AND until > :known_at) m
JOIN units u ON u.bank_id = :bank AND u.seq = m.unit
WHERE u.mentioned_at <= :as_of AND u.recorded_at <= :known_at AND coalesce(m.recorded_at, '-infinity') <= :known_at
ORDER BY u.mentioned_at, u.seq, m.name;

-- identity_changes_then --
SELECT entity, name, merged_into FROM identity_changes
WHERE bank_id = :bank AND said_at <= :as_of AND recorded_at <= :known_at ORDER BY seq;

-- all_entities --
SELECT seq, id, name, type FROM entities WHERE bank_id = :bank;

-- insert_identity_name --
WITH n AS (UPDATE counters SET last = last + 1 WHERE bank_id = :bank AND name = 'identity_changes' RETURNING last)
INSERT INTO identity_changes (bank_id, seq, entity, name, said_at, recorded_at)
SELECT :bank, n.last, ?, ?, coalesce(nullif(?::text, '')::timestamptz, '-infinity'), ?::timestamptz FROM n;

-- insert_identity_merge --
WITH n AS (UPDATE counters SET last = last + 1 WHERE bank_id = :bank AND name = 'identity_changes' RETURNING last)
INSERT INTO identity_changes (bank_id, seq, entity, merged_into, said_at, recorded_at)
SELECT :bank, n.last, ?, ?::bigint, '-infinity', ?::timestamptz FROM n;

-- keep_past_mention --
-- A mention as it is, before another identity gets it.
WITH n AS (UPDATE counters SET last = last + 1 WHERE bank_id = :bank AND name = 'past_mentions' RETURNING last)
INSERT INTO past_mentions (bank_id, seq, unit, entity, name, type, recorded_at, until)
SELECT :bank, n.last, m.unit, m.entity, m.name, m.type, m.recorded_at, :until::timestamptz FROM n
JOIN mentions m ON m.bank_id = :bank AND m.unit = :unit AND m.entity = :entity AND m.name = :name;

-- drop_past_mentions --
DELETE FROM past_mentions WHERE bank_id = :bank AND unit = ANY (?::bigint[]);

-- forget_past_names --
DELETE FROM past_mentions WHERE bank_id = :bank AND lower(name) = lower(?::text COLLATE "C");

-- forget_identity_names --
DELETE FROM identity_changes WHERE bank_id = :bank AND lower(name) = lower(?::text COLLATE "C");

-- believed_then --
-- The version of each of some facts that was believed by what had been said and was held then. One that was superseded
-- by then still counts where the memory did not know that yet.
SELECT {columns} FROM facts f
JOIN fact_slots s ON s.bank_id = :bank AND s.seq = f.slot JOIN fact_keys k ON k.bank_id = :bank AND k.seq = s.key
WHERE f.bank_id = :bank AND f.id = ANY (:ids::text[]) AND f.standing = 'believed'
  AND f.recorded_at <= :as_of AND coalesce(f.held_from, f.recorded_at) <= :held_at
  AND (f.superseded_at IS NULL OR f.superseded_at > :as_of OR coalesce(f.held_to, f.superseded_at) > :held_at)
ORDER BY f.seq;

-- versions_then --
-- Every version of a fact that had been said and was held then, and whether it had not been superseded.
SELECT {columns}, f.superseded_at IS NULL OR f.superseded_at > :as_of OR coalesce(f.held_to, f.superseded_at) > :held_at
FROM facts f
JOIN fact_slots s ON s.bank_id = :bank AND s.seq = f.slot JOIN fact_keys k ON k.bank_id = :bank AND k.seq = s.key
WHERE f.bank_id = :bank AND f.recorded_at <= :as_of AND coalesce(f.held_from, f.recorded_at) <= :held_at
ORDER BY f.seq;

-- conflicts_until --
SELECT id, incumbent, challenger, why, opened_at, resolved_at, kept FROM fact_conflicts
WHERE bank_id = :bank AND opened_at <= ? ORDER BY opened_at, id;

-- newest_recorded --
-- When the last of some turns was recorded.
SELECT max(recorded_at) FROM turns WHERE bank_id = :bank AND id = ANY (?::text[]);

-- sources_then --
-- The sources of some facts, those first that came first: turns by when they were said and recorded.
SELECT s.fact, s.source FROM fact_sources s LEFT JOIN turns t ON t.bank_id = :bank AND t.id = s.source
WHERE s.bank_id = :bank AND s.fact = ANY (:ids::text[])
  AND coalesce(t.said_at, s.at) <= :as_of AND coalesce(t.recorded_at, s.at) <= :known_at
ORDER BY s.at, s.source;

-- node_versions --
-- Every version of every node of a level (all where it is null), those that stand at present included.
SELECT {node}, n.built_at AS built, 'infinity'::timestamptz AS until
FROM nodes n JOIN units u ON u.bank_id = :bank AND u.seq = n.unit
WHERE n.bank_id = :bank AND (:level::integer IS NULL OR n.level = :level::integer)
UNION ALL
SELECT 0, id, level, parent, session, starts, ends, occurred_start, occurred_end, grain, text,
       children, statements, facts, '', consolidator, '', NULL, first_at,
       last_at, built_at, built_at, until
FROM past_nodes WHERE bank_id = :bank AND (:level::integer IS NULL OR level = :level::integer)
ORDER BY built;

-- keep_past_node --
-- A node as it is, before another version takes its place.
WITH number AS (UPDATE counters SET last = last + 1 WHERE bank_id = :bank AND name = 'past_nodes' RETURNING last)
INSERT INTO past_nodes (bank_id, seq, id, level, parent, session, starts, ends, occurred_start, occurred_end, grain, text,
                        children, statements, facts, consolidator, first_at, last_at, built_at, until)
SELECT :bank, number.last, n.id, n.level, n.parent, n.session, n.starts, n.ends, u.occurred_start, u.occurred_end, u.grain,
       u.text, n.children, n.statements, n.facts, n.consolidator, n.first_at, u.mentioned_at,
       n.built_at, :until::timestamptz
FROM number JOIN nodes n ON n.bank_id = :bank AND n.unit = :unit JOIN units u ON u.bank_id = :bank AND u.seq = n.unit;

-- drop_past_nodes --
DELETE FROM past_nodes WHERE bank_id = :bank;

-- forget_past_nodes --
-- Versions that may repeat the words of some turns: all that reach to the first of them or beyond.
DELETE FROM past_nodes WHERE bank_id = :bank
  AND last_at >= (SELECT min(said_at) FROM turns WHERE bank_id = :bank AND id = ANY (?::text[]));

-- forget_past_nodes_of_fact --
DELETE FROM past_nodes WHERE bank_id = :bank AND (strpos(facts, ?1) > 0 OR strpos(statements, ?1) > 0);

-- drop_past_nodes_before --
DELETE FROM past_nodes WHERE bank_id = :bank AND occurred_end < ?;
