-- Every statement of the tree part of the SQLite store, named, with its purpose.

-- node_columns --
-- How a node is read.
n.unit, n.id, n.level, n.parent, n.session, n.starts, n.ends, u.occurred_start, u.occurred_end, u.grain, u.text,
n.children, n.statements, n.facts, n.fingerprint, n.consolidator, n.version, n.problem, n.first_at,
u.mentioned_at, u.recorded_at;

-- nodes --
-- Nodes in the order of level and time; a parameter that is null asks for nothing.
SELECT {node} FROM nodes n JOIN units u ON u.seq = n.unit
WHERE (:level IS NULL OR n.level = :level)
  AND (:start IS NULL OR u.occurred_end > :start)
  AND (:end IS NULL OR u.occurred_start < :end)
ORDER BY n.level, n.starts, n.id;

-- nodes_under --
SELECT {node} FROM json_each(:parents) a CROSS JOIN nodes n ON n.parent = a.value JOIN units u ON u.seq = n.unit
ORDER BY n.starts, n.id;

-- nodes_by_id --
SELECT {node} FROM json_each(:ids) a CROSS JOIN nodes n ON n.id = a.value JOIN units u ON u.seq = n.unit
ORDER BY n.level, n.starts, n.id;

-- node_texts_before --
-- The last few nodes of a level before an instant, newest first.
SELECT u.text FROM nodes n JOIN units u ON u.seq = n.unit
WHERE n.level = ? AND n.starts < ? ORDER BY n.starts DESC, n.id DESC LIMIT ?;

-- node_paths --
-- For turns of a JSON list, the nodes above each, from the session up.
WITH RECURSIVE above (turn, id, parent, level, unit) AS (
    SELECT t.id, n.id, n.parent, n.level, n.unit
    FROM json_each(?) a CROSS JOIN turns t ON t.id = a.value CROSS JOIN nodes n ON n.session = t.session AND n.level = 2
    UNION ALL
    SELECT above.turn, n.id, n.parent, n.level, n.unit FROM above CROSS JOIN nodes n ON n.id = above.parent
)
SELECT turn, id, level, unit FROM above ORDER BY turn, level;

-- known_node --
SELECT unit, parent, fingerprint FROM nodes WHERE id = ?;

-- insert_node_unit --
INSERT INTO units (id, kind, network, level, turn, text, context, occurred_start, occurred_end, grain, mentioned_at,
                   recorded_at, pieces, terms)
VALUES (:id, 'node', 'world', :level, NULL, :text, '', :start, :end, :grain, :last_at, :recorded_at, :pieces, :terms) RETURNING seq;

-- insert_node --
INSERT INTO nodes (unit, id, level, parent, session, starts, ends, first_at, children, statements, facts, fingerprint,
                   consolidator, version, tokens, problem, built_at)
VALUES (:unit, :id, :level, :parent, :session, :starts, :ends, :first_at, :children, :statements, :facts, :fingerprint,
        :consolidator, :version, :tokens, :problem, :built_at);

-- insert_node_turns --
INSERT INTO unit_turns (unit, turn)
SELECT :unit, seq FROM turns WHERE id IN (SELECT value FROM json_each(:turns));

-- node_children --
-- What stands in the database under some nodes: level 1 where a model wrote it.
SELECT unit, id FROM nodes WHERE parent = ? AND level = ?;

-- unseen_sessions --
-- The sessions that turns were added to after a place, or that told what people took back after an instant, each with
-- when it begins and ends.
SELECT session, min(said_at), max(said_at) FROM turns
WHERE session IN (
    SELECT session FROM turns WHERE seq > :seen
    UNION
    SELECT t.session FROM facts f JOIN fact_sources s ON s.fact = f.id JOIN turns t ON t.id = s.source
    WHERE f.outcome IN ('corrected', 'retracted') AND f.superseded_at > :taken_back)
GROUP BY session ORDER BY min(said_at), session;

-- last_taken_back --
SELECT coalesce(max(superseded_at), '') FROM facts WHERE outcome IN ('corrected', 'retracted');

-- sessions_of_turns --
SELECT s.session, min(s.said_at), max(s.said_at) FROM turns s
WHERE s.session IN (SELECT session FROM turns WHERE id IN (SELECT value FROM json_each(?))) GROUP BY s.session;

-- newest_said --
SELECT max(said_at) FROM turns;

-- put_mark --
INSERT OR REPLACE INTO tree_marks (node, level, parent, session, starts, ends) VALUES (?, ?, ?, ?, ?, ?);

-- put_mark_of_node --
-- Mark a node by what it says of itself.
INSERT OR REPLACE INTO tree_marks (node, level, parent, session, starts, ends)
SELECT id, level, parent, session, starts, ends FROM nodes WHERE id = ?;

-- renumber_marks --
-- Give every mark a new number: what another process is building now, perhaps from words that are gone, comes too late.
INSERT OR REPLACE INTO tree_marks (node, level, parent, session, starts, ends)
SELECT node, level, parent, session, starts, ends FROM tree_marks ORDER BY seq;

-- marks --
-- What is to be built of a level, in the order of time; `waits` where something under it is to be built first.
SELECT m.seq, m.node, m.level, m.parent, m.session, m.starts, m.ends,
       EXISTS (SELECT 1 FROM tree_marks c WHERE c.parent = m.node)
FROM tree_marks m WHERE m.level = ? ORDER BY m.starts, m.node;

-- mark --
SELECT seq FROM tree_marks WHERE node = ?;

-- drop_mark --
DELETE FROM tree_marks WHERE seq = ?;

-- drop_marks --
DELETE FROM tree_marks;

-- count_marks --
SELECT count(*) FROM tree_marks;

-- node_units --
-- All of them, save what was made of sessions whose turns have lost their words since: nothing makes that again.
SELECT seq FROM units WHERE kind = 'node' AND seq NOT IN (
    SELECT n.unit FROM nodes n WHERE n.level = 2
      AND n.session IN (SELECT t.session FROM expired x JOIN turns t ON t.seq = x.turn));

-- nodes_since --
-- Nodes that reach back before an instant, though the last of them was said after it: no filter by time lets them pass.
SELECT n.unit FROM nodes n JOIN units u ON u.seq = n.unit WHERE n.first_at < :start AND u.mentioned_at >= :start;

-- nodes_for_reembedding --
SELECT n.id, u.text, n.consolidator,
       (SELECT json_group_array(t.id) FROM unit_turns p JOIN turns t ON t.seq = p.turn WHERE p.unit = n.unit)
FROM nodes n JOIN units u ON u.seq = n.unit ORDER BY n.unit;

-- count_nodes --
SELECT count(*) FROM nodes;

-- nodes_without_parent_level --
-- A parent that is built stands one level above.
SELECT count(*) FROM nodes n JOIN nodes p ON p.id = n.parent WHERE p.level <> n.level + 1;

-- nodes_outside_parent --
SELECT count(*) FROM nodes n JOIN units u ON u.seq = n.unit JOIN nodes p ON p.id = n.parent JOIN units v ON v.seq = p.unit
WHERE (u.occurred_start < v.occurred_start OR u.occurred_end > v.occurred_end)
  AND NOT EXISTS (SELECT 1 FROM tree_marks m WHERE m.node = p.id);

-- nodes_unlike_children --
-- What a node above level 2 was built from is what stands under it now.
SELECT count(*) FROM nodes p
WHERE p.level > 2 AND NOT EXISTS (SELECT 1 FROM tree_marks m WHERE m.node = p.id)
  AND p.children <> (SELECT json_group_array(id) FROM (SELECT id FROM nodes c WHERE c.parent = p.id ORDER BY c.starts, c.id));

-- nodes_unlike_units --
SELECT count(*) FROM units u LEFT JOIN nodes n ON n.unit = u.seq
WHERE (u.kind = 'node') <> (n.unit IS NOT NULL) OR (n.unit IS NOT NULL AND (n.id <> u.id OR n.level <> u.level));

-- nodes_by_level_count --
SELECT level, count(*) FROM nodes GROUP BY level ORDER BY level;

-- nodes_without_above --
-- A node whose parent is neither built nor waiting to be built.
SELECT count(*) FROM nodes n WHERE n.parent IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM nodes p WHERE p.id = n.parent)
  AND NOT EXISTS (SELECT 1 FROM tree_marks m WHERE m.node = n.parent);

-- sessions_without_node --
SELECT count(*) FROM (SELECT session FROM turns WHERE seq <= ? AND seq NOT IN (SELECT turn FROM expired)
                      GROUP BY session) s
WHERE NOT EXISTS (SELECT 1 FROM nodes n WHERE n.session = s.session AND n.level = 2)
  AND NOT EXISTS (SELECT 1 FROM tree_marks m WHERE m.session = s.session AND m.level = 2);

-- node_problems --
SELECT problem, count(*) FROM nodes WHERE problem IS NOT NULL GROUP BY problem ORDER BY count(*) DESC LIMIT 10;
