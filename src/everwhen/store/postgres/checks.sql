-- Doctor's questions about what belongs to nothing, and how it is mended, in PostgreSQL's words. Each gives a row for
-- each finding.

-- orphans --
-- Rows of a table whose column names no row of their owner's table.
SELECT 1 FROM {table} c WHERE c.bank_id = :bank
  AND NOT EXISTS (SELECT 1 FROM {owner} o WHERE o.bank_id = :bank AND o.{key} = c.{column});

-- drop_orphans --
DELETE FROM {table} c WHERE c.bank_id = :bank
  AND NOT EXISTS (SELECT 1 FROM {owner} o WHERE o.bank_id = :bank AND o.{key} = c.{column});

-- codes_without_turn --
SELECT c.unit FROM token_codes c WHERE c.bank_id = :bank
  AND NOT EXISTS (SELECT 1 FROM units u WHERE u.bank_id = :bank AND u.seq = c.unit AND u.kind = 'turn');

-- drop_codes_without_turn --
DELETE FROM token_codes c WHERE c.bank_id = :bank
  AND NOT EXISTS (SELECT 1 FROM units u WHERE u.bank_id = :bank AND u.seq = c.unit AND u.kind = 'turn');

-- conflicts_without_fact --
SELECT c.id FROM fact_conflicts c WHERE c.bank_id = :bank
  AND (NOT EXISTS (SELECT 1 FROM facts f WHERE f.bank_id = :bank AND f.id = c.incumbent)
       OR NOT EXISTS (SELECT 1 FROM facts f WHERE f.bank_id = :bank AND f.id = c.challenger));

-- drop_conflicts_without_fact --
DELETE FROM fact_conflicts c WHERE c.bank_id = :bank
  AND (NOT EXISTS (SELECT 1 FROM facts f WHERE f.bank_id = :bank AND f.id = c.incumbent)
       OR NOT EXISTS (SELECT 1 FROM facts f WHERE f.bank_id = :bank AND f.id = c.challenger));

-- raw_units_without_provenance --
SELECT u.seq FROM units u WHERE u.bank_id = :bank AND u.kind = 'turn' AND u.turn IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM unit_turns p WHERE p.bank_id = :bank AND p.unit = u.seq);

-- mend_raw_units_without_provenance --
INSERT INTO unit_turns (bank_id, unit, turn)
SELECT :bank, u.seq, u.turn FROM units u WHERE u.bank_id = :bank AND u.kind = 'turn' AND u.turn IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM unit_turns p WHERE p.bank_id = :bank AND p.unit = u.seq);

-- mend_units_unlike_their_turn --
-- Their vectors have the same times.
WITH mended AS (
    UPDATE units u SET id = t.id, mentioned_at = t.said_at, recorded_at = t.recorded_at FROM turns t
    WHERE u.bank_id = :bank AND u.kind = 'turn' AND t.bank_id = :bank AND t.seq = u.turn
      AND (u.id <> t.id OR u.mentioned_at <> t.said_at OR u.recorded_at <> t.recorded_at)
    RETURNING u.seq, t.said_at, t.recorded_at
)
UPDATE vectors v SET mentioned_at = m.said_at, recorded_at = m.recorded_at FROM mended m
WHERE v.bank_id = :bank AND v.unit = m.seq;

-- recorded_after --
SELECT (SELECT count(*) FROM turns WHERE bank_id = :bank AND recorded_at > :now),
       (SELECT count(*) FROM facts WHERE bank_id = :bank AND recorded_at > :now),
       coalesce(greatest((SELECT max(recorded_at) FROM turns WHERE bank_id = :bank),
                         (SELECT max(recorded_at) FROM facts WHERE bank_id = :bank)), '-infinity');

-- turns_unfound --
-- Turns that have no unit, so that nothing finds them.
SELECT t.id FROM turns t WHERE t.bank_id = :bank
  AND NOT EXISTS (SELECT 1 FROM units u WHERE u.bank_id = :bank AND u.turn = t.seq AND u.kind = 'turn')
  AND NOT EXISTS (SELECT 1 FROM expired x WHERE x.bank_id = :bank AND x.turn = t.seq) ORDER BY t.seq;

-- units_badly_embedded --
-- Units without the vectors that they should have, or with vectors of another length in bytes of 32-bit floats.
SELECT u.id, u.kind FROM units u
WHERE u.bank_id = :bank AND (
    u.pieces < 1 OR u.pieces <> (SELECT count(*) FROM vectors v WHERE v.bank_id = :bank AND v.unit = u.seq)
    OR EXISTS (SELECT 1 FROM vectors v WHERE v.bank_id = :bank AND v.unit = u.seq AND 4 * vector_dims(v.vector) <> :bytes))
ORDER BY u.seq;

-- turns_to_read_again --
-- Turns under derived units that are not whole, and turns that have derived units and count as not extracted.
SELECT DISTINCT t.id FROM units u JOIN unit_turns p ON p.bank_id = :bank AND p.unit = u.seq
JOIN turns t ON t.bank_id = :bank AND t.seq = p.turn
WHERE u.bank_id = :bank AND u.kind IN ('event', 'narrative') AND (
    NOT EXISTS (SELECT 1 FROM derived d WHERE d.bank_id = :bank AND d.unit = u.seq)
    OR (u.kind = 'event' AND NOT EXISTS (SELECT 1 FROM events e WHERE e.bank_id = :bank AND e.unit = u.seq))
    OR NOT EXISTS (SELECT 1 FROM extractions x WHERE x.bank_id = :bank AND x.turn = t.seq))
UNION
SELECT t.id FROM units u JOIN turns t ON t.bank_id = :bank AND t.seq = u.turn
WHERE u.bank_id = :bank AND u.kind IN ('event', 'narrative')
  AND NOT EXISTS (SELECT 1 FROM unit_turns p WHERE p.bank_id = :bank AND p.unit = u.seq);

-- embedded_units --
SELECT u.id, u.kind, v.vector FROM units u JOIN vectors v ON v.bank_id = :bank AND v.unit = u.seq
WHERE u.bank_id = :bank;

-- dates_of_units --
-- When what derived units tell of began, in which zone, and how exactly that is known.
SELECT u.id, coalesce(u.occurred_start, f.valid_from, t.said_at, u.mentioned_at),
       coalesce(t.zone, (SELECT value FROM bank WHERE bank_id = :bank AND key = 'zone')),
       CASE WHEN u.occurred_start IS NOT NULL THEN u.grain ELSE coalesce(f.grain, 'day') END
FROM units u LEFT JOIN turns t ON t.bank_id = :bank AND t.seq = u.turn
LEFT JOIN facts f ON f.bank_id = :bank AND f.seq = (SELECT min(seq) FROM facts WHERE bank_id = :bank AND id = u.id)
WHERE u.bank_id = :bank AND u.id = ANY (?::text[]);

-- texts_of_units --
SELECT id, text FROM units WHERE bank_id = :bank AND text IS NOT NULL AND id = ANY (?::text[]);

-- vectors_of_size --
SELECT vector FROM vectors WHERE bank_id = :bank AND 4 * vector_dims(vector) = ?;
