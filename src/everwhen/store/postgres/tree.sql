-- The statements of the memory tree in PostgreSQL's words.

-- node_columns --
-- How a node is read.
n.unit, n.id, n.level, n.parent, n.session, n.starts, n.ends, u.occurred_start, u.occurred_end, u.grain, u.text,
n.children, n.statements, n.facts, n.fingerprint, n.consolidator, n.version, n.problem, n.first_at,
u.mentioned_at, u.recorded_at;

-- nodes --
-- Nodes in the order of level and time; a parameter that is null asks for nothing.
SELECT {node} FROM nodes n JOIN units u ON u.bank_id = :bank AND u.seq = n.unit
WHERE n.bank_id = :bank AND (:level::integer IS NULL OR n.level = :level::integer)
  AND (:start::timestamptz IS NULL OR u.occurred_end > :start::timestamptz)
  AND (:end::timestamptz IS NULL OR u.occurred_start < :end::timestamptz)
ORDER BY n.level, n.starts, n.id;

-- nodes_under --
SELECT {node} FROM nodes n JOIN units u ON u.bank_id = :bank AND u.seq = n.unit
WHERE n.bank_id = :bank AND n.parent = ANY (:parents::text[])
ORDER BY n.starts, n.id;

-- nodes_by_id --
SELECT {node} FROM nodes n JOIN units u ON u.bank_id = :bank AND u.seq = n.unit
WHERE n.bank_id = :bank AND n.id = ANY (:ids::text[])
ORDER BY n.level, n.starts, n.id;

-- node_texts_before --
-- The last few nodes of a level before an instant, newest first.
SELECT u.text FROM nodes n JOIN units u ON u.bank_id = :bank AND u.seq = n.unit
WHERE n.bank_id = :bank AND n.level = ? AND n.starts < ? ORDER BY n.starts DESC, n.id DESC LIMIT ?;

-- node_paths --
-- For some turns, the nodes above each, from the session up.
WITH RECURSIVE above (turn, id, parent, level, unit) AS (
    SELECT t.id, n.id, n.parent, n.level, n.unit
    FROM turns t JOIN nodes n ON n.bank_id = :bank AND n.session = t.session AND n.level = 2
    WHERE t.bank_id = :bank AND t.id = ANY (?::text[])
    UNION ALL
    SELECT above.turn, n.id, n.parent, n.level, n.unit FROM above JOIN nodes n ON n.bank_id = :bank AND n.id = above.parent
)
SELECT turn, id, level, unit FROM above ORDER BY turn, level;

-- known_node --
SELECT unit, parent, fingerprint FROM nodes WHERE bank_id = :bank AND id = ?;

-- insert_node_unit --
WITH n AS (UPDATE counters SET last = last + 1 WHERE bank_id = :bank AND name = 'units' RETURNING last)
INSERT INTO units (bank_id, seq, id, kind, network, level, turn, text, context, occurred_start, occurred_end, grain,
                   mentioned_at, recorded_at, pieces)
SELECT :bank, n.last, :id, 'node', 'world', :level, NULL, :text, '', :start::timestamptz, :end::timestamptz, :grain,
       :last_at::timestamptz, :recorded_at::timestamptz, :pieces
FROM n RETURNING seq;

-- insert_node --
INSERT INTO nodes (bank_id, unit, id, level, parent, session, starts, ends, first_at, children, statements, facts,
                   fingerprint, consolidator, version, tokens, problem, built_at)
VALUES (:bank, :unit, :id, :level, :parent, :session, :starts, :ends, :first_at, :children, :statements, :facts,
        :fingerprint, :consolidator, :version, :tokens, :problem, :built_at);

-- insert_node_turns --
INSERT INTO unit_turns (bank_id, unit, turn)
SELECT :bank, :unit, seq FROM turns WHERE bank_id = :bank AND id = ANY (:turns::text[]);

-- node_children --
-- What stands in the database under some nodes: level 1 where a model wrote it.
SELECT unit, id FROM nodes WHERE bank_id = :bank AND parent = ? AND level = ? ORDER BY unit;

-- unseen_sessions --
-- The sessions that turns were added to after a place, or that told what people took back after an instant, each with
-- when it begins and ends.
SELECT session, min(said_at), max(said_at) FROM turns
WHERE bank_id = :bank AND session IN (
    SELECT session FROM turns WHERE bank_id = :bank AND seq > :seen
    UNION
    SELECT t.session FROM facts f JOIN fact_sources s ON s.bank_id = :bank AND s.fact = f.id
    JOIN turns t ON t.bank_id = :bank AND t.id = s.source
    WHERE f.bank_id = :bank AND f.outcome IN ('corrected', 'retracted')
      AND f.superseded_at > coalesce(nullif(:taken_back::text, '')::timestamptz, '-infinity'))
GROUP BY session ORDER BY min(said_at), session;

-- last_taken_back --
SELECT coalesce(max(superseded_at), '-infinity') FROM facts
WHERE bank_id = :bank AND outcome IN ('corrected', 'retracted');

-- sessions_of_turns --
SELECT s.session, min(s.said_at), max(s.said_at) FROM turns s
WHERE s.bank_id = :bank AND s.session IN (SELECT session FROM turns WHERE bank_id = :bank AND id = ANY (?::text[]))
GROUP BY s.session ORDER BY s.session;

-- newest_said --
SELECT max(said_at) FROM turns WHERE bank_id = :bank;

-- put_mark --
WITH n AS (UPDATE counters SET last = last + 1 WHERE bank_id = :bank AND name = 'tree_marks' RETURNING last)
INSERT INTO tree_marks (bank_id, seq, node, level, parent, session, starts, ends)
SELECT :bank, n.last, ?, ?, ?, ?, ?::timestamptz, ?::timestamptz FROM n
ON CONFLICT (bank_id, node) DO UPDATE SET seq = excluded.seq, level = excluded.level, parent = excluded.parent,
    session = excluded.session, starts = excluded.starts, ends = excluded.ends;

-- put_mark_of_node --
-- Mark a node by what it says of itself.
WITH n AS (UPDATE counters SET last = last + 1 WHERE bank_id = :bank AND name = 'tree_marks' RETURNING last)
INSERT INTO tree_marks (bank_id, seq, node, level, parent, session, starts, ends)
SELECT :bank, n.last, m.id, m.level, m.parent, m.session, m.starts, m.ends
FROM n JOIN nodes m ON m.bank_id = :bank AND m.id = ?
ON CONFLICT (bank_id, node) DO UPDATE SET seq = excluded.seq, level = excluded.level, parent = excluded.parent,
    session = excluded.session, starts = excluded.starts, ends = excluded.ends;

-- renumber_marks --
-- Give every mark a new number: what another process is building now, perhaps from words that are gone, comes too late.
WITH listed AS (SELECT node, row_number() OVER (ORDER BY seq) AS place FROM tree_marks WHERE bank_id = :bank),
n AS (
    UPDATE counters SET last = last + (SELECT count(*) FROM listed) WHERE bank_id = :bank AND name = 'tree_marks'
    RETURNING last - (SELECT count(*) FROM listed) AS before
)
UPDATE tree_marks m SET seq = n.before + l.place FROM listed l, n WHERE m.bank_id = :bank AND m.node = l.node;

-- marks --
-- What is to be built of a level, in the order of time; `waits` where something under it is to be built first.
SELECT m.seq, m.node, m.level, m.parent, m.session, m.starts, m.ends,
       EXISTS (SELECT 1 FROM tree_marks c WHERE c.bank_id = :bank AND c.parent = m.node)
FROM tree_marks m WHERE m.bank_id = :bank AND m.level = ? ORDER BY m.starts, m.node;

-- mark --
SELECT seq FROM tree_marks WHERE bank_id = :bank AND node = ?;

-- drop_mark --
DELETE FROM tree_marks WHERE bank_id = :bank AND seq = ?;

-- drop_marks --
DELETE FROM tree_marks WHERE bank_id = :bank;

-- count_marks --
SELECT count(*) FROM tree_marks WHERE bank_id = :bank;

-- node_units --
-- All of them, save what was made of sessions whose turns have lost their words since: nothing makes that again.
SELECT u.seq FROM units u WHERE u.bank_id = :bank AND u.kind = 'node' AND NOT EXISTS (
    SELECT 1 FROM nodes n JOIN turns t ON t.bank_id = :bank AND t.session = n.session
    JOIN expired x ON x.bank_id = :bank AND x.turn = t.seq
    WHERE n.bank_id = :bank AND n.unit = u.seq AND n.level = 2)
ORDER BY u.seq;

-- nodes_since --
-- Nodes that reach back before an instant, though the last of them was said after it: no filter by time lets them pass.
SELECT n.unit FROM nodes n JOIN units u ON u.bank_id = :bank AND u.seq = n.unit
WHERE n.bank_id = :bank AND n.first_at < :start AND u.mentioned_at >= :start;

-- nodes_for_reembedding --
SELECT n.id, u.text, n.consolidator,
       (SELECT coalesce(json_agg(t.id ORDER BY t.seq)::text, '[]') FROM unit_turns p
        JOIN turns t ON t.bank_id = :bank AND t.seq = p.turn WHERE p.bank_id = :bank AND p.unit = n.unit)
FROM nodes n JOIN units u ON u.bank_id = :bank AND u.seq = n.unit WHERE n.bank_id = :bank ORDER BY n.unit;

-- count_nodes --
SELECT count(*) FROM nodes WHERE bank_id = :bank;

-- nodes_without_parent_level --
-- A parent that is built stands one level above.
SELECT count(*) FROM nodes n JOIN nodes p ON p.bank_id = :bank AND p.id = n.parent
WHERE n.bank_id = :bank AND p.level <> n.level + 1;

-- nodes_outside_parent --
SELECT count(*) FROM nodes n JOIN units u ON u.bank_id = :bank AND u.seq = n.unit
JOIN nodes p ON p.bank_id = :bank AND p.id = n.parent JOIN units v ON v.bank_id = :bank AND v.seq = p.unit
WHERE n.bank_id = :bank AND (u.occurred_start < v.occurred_start OR u.occurred_end > v.occurred_end)
  AND NOT EXISTS (SELECT 1 FROM tree_marks m WHERE m.bank_id = :bank AND m.node = p.id);

-- nodes_unlike_children --
-- What a node above level 2 was built from is what stands under it now.
SELECT count(*) FROM nodes p
WHERE p.bank_id = :bank AND p.level > 2
  AND NOT EXISTS (SELECT 1 FROM tree_marks m WHERE m.bank_id = :bank AND m.node = p.id)
  AND p.children::jsonb <> (SELECT coalesce(jsonb_agg(c.id ORDER BY c.starts, c.id), '[]') FROM nodes c
                            WHERE c.bank_id = :bank AND c.parent = p.id);

-- nodes_unlike_units --
SELECT count(*) FROM units u LEFT JOIN nodes n ON n.bank_id = :bank AND n.unit = u.seq
WHERE u.bank_id = :bank AND ((u.kind = 'node') <> (n.unit IS NOT NULL)
  OR (n.unit IS NOT NULL AND (n.id <> u.id OR n.level <> u.level)));

-- nodes_by_level_count --
SELECT level, count(*) FROM nodes WHERE bank_id = :bank GROUP BY level ORDER BY level;

-- nodes_without_above --
-- A node whose parent is neither built nor waiting to be built.
SELECT count(*) FROM nodes n WHERE n.bank_id = :bank AND n.parent IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM nodes p WHERE p.bank_id = :bank AND p.id = n.parent)
  AND NOT EXISTS (SELECT 1 FROM tree_marks m WHERE m.bank_id = :bank AND m.node = n.parent);

-- sessions_without_node --
SELECT count(*) FROM (SELECT DISTINCT session FROM turns t WHERE t.bank_id = :bank AND seq <= ?
                      AND NOT EXISTS (SELECT 1 FROM expired x WHERE x.bank_id = :bank AND x.turn = t.seq)) s
WHERE NOT EXISTS (SELECT 1 FROM nodes n WHERE n.bank_id = :bank AND n.session = s.session AND n.level = 2)
  AND NOT EXISTS (SELECT 1 FROM tree_marks m WHERE m.bank_id = :bank AND m.session = s.session AND m.level = 2);

-- node_problems --
SELECT problem, count(*) FROM nodes WHERE bank_id = :bank AND problem IS NOT NULL
GROUP BY problem ORDER BY count(*) DESC LIMIT 10;
