-- Doctor's questions about what belongs to nothing, and how it is mended. Each gives a row for each finding.

-- orphans --
-- Rows of a table whose column names no row of their owner's table.
SELECT 1 FROM {table} c WHERE NOT EXISTS (SELECT 1 FROM {owner} o WHERE o.{key} = c.{column});

-- drop_orphans --
DELETE FROM {table} AS c WHERE NOT EXISTS (SELECT 1 FROM {owner} o WHERE o.{key} = c.{column});

-- codes_without_turn --
SELECT c.unit FROM token_codes c WHERE NOT EXISTS (SELECT 1 FROM units u WHERE u.seq = c.unit AND u.kind = 'turn');

-- drop_codes_without_turn --
DELETE FROM token_codes WHERE unit NOT IN (SELECT seq FROM units WHERE kind = 'turn');

-- conflicts_without_fact --
SELECT c.id FROM fact_conflicts c WHERE NOT EXISTS (SELECT 1 FROM facts f WHERE f.id = c.incumbent)
  OR NOT EXISTS (SELECT 1 FROM facts f WHERE f.id = c.challenger);

-- drop_conflicts_without_fact --
DELETE FROM fact_conflicts WHERE incumbent NOT IN (SELECT id FROM facts) OR challenger NOT IN (SELECT id FROM facts);

-- raw_units_without_provenance --
SELECT u.seq FROM units u WHERE u.kind = 'turn' AND u.turn IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM unit_turns p WHERE p.unit = u.seq);

-- mend_raw_units_without_provenance --
INSERT INTO unit_turns (unit, turn) SELECT u.seq, u.turn FROM units u WHERE u.kind = 'turn' AND u.turn IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM unit_turns p WHERE p.unit = u.seq);

-- mend_units_unlike_their_turn --
UPDATE units SET id = (SELECT t.id FROM turns t WHERE t.seq = units.turn),
                 mentioned_at = (SELECT t.said_at FROM turns t WHERE t.seq = units.turn),
                 recorded_at = (SELECT t.recorded_at FROM turns t WHERE t.seq = units.turn)
WHERE kind = 'turn' AND turn IS NOT NULL;

-- recorded_after --
SELECT (SELECT count(*) FROM turns WHERE recorded_at > :now), (SELECT count(*) FROM facts WHERE recorded_at > :now),
       max((SELECT coalesce(max(recorded_at), '') FROM turns), (SELECT coalesce(max(recorded_at), '') FROM facts));

-- turns_unfound --
-- Turns that have no unit, so that nothing finds them.
SELECT t.id FROM turns t WHERE NOT EXISTS (SELECT 1 FROM units u WHERE u.turn = t.seq AND u.kind = 'turn')
  AND t.seq NOT IN (SELECT turn FROM expired) ORDER BY t.seq;

-- units_badly_embedded --
-- Units without the vectors that they should have, or with vectors of another length in bytes.
SELECT u.id, u.kind FROM units u
WHERE u.pieces < 1 OR u.pieces <> (SELECT count(*) FROM vectors v WHERE v.unit = u.seq)
   OR EXISTS (SELECT 1 FROM vectors v WHERE v.unit = u.seq AND length(v.vector) <> :bytes)
ORDER BY u.seq;

-- turns_to_read_again --
-- Turns under derived units that are not whole, and turns that have derived units and count as not extracted.
SELECT DISTINCT t.id FROM units u JOIN unit_turns p ON p.unit = u.seq JOIN turns t ON t.seq = p.turn
WHERE u.kind IN ('event', 'narrative') AND (
    NOT EXISTS (SELECT 1 FROM derived d WHERE d.unit = u.seq)
    OR (u.kind = 'event' AND NOT EXISTS (SELECT 1 FROM events e WHERE e.unit = u.seq))
    OR NOT EXISTS (SELECT 1 FROM extractions x WHERE x.turn = t.seq))
UNION
SELECT t.id FROM units u JOIN turns t ON t.seq = u.turn
WHERE u.kind IN ('event', 'narrative') AND NOT EXISTS (SELECT 1 FROM unit_turns p WHERE p.unit = u.seq);

-- embedded_units --
SELECT u.id, u.kind, v.vector FROM units u JOIN vectors v ON v.unit = u.seq;

-- dates_of_units --
-- When what derived units (a JSON list of ids) tell of began, in which zone, and how exactly that is known.
SELECT u.id, coalesce(u.occurred_start, f.valid_from, t.said_at, u.mentioned_at),
       coalesce(t.zone, (SELECT value FROM bank WHERE key = 'zone')),
       CASE WHEN u.occurred_start IS NOT NULL THEN u.grain ELSE coalesce(f.grain, 'day') END
FROM units u LEFT JOIN turns t ON t.seq = u.turn
LEFT JOIN facts f ON f.seq = (SELECT min(seq) FROM facts WHERE id = u.id)
WHERE u.id IN (SELECT value FROM json_each(?));

-- texts_of_units --
SELECT id, text FROM units WHERE text IS NOT NULL AND id IN (SELECT value FROM json_each(?));

-- vectors_of_size --
SELECT vector FROM vectors WHERE length(vector) = ?;
