-- The statements of entities in PostgreSQL's words. An entity's `root` is the identity at the end of all merges, and the
-- counter `names_version` grows whenever somebody gets or loses a name.

-- known_entities --
-- Identities as resolution sees them: each name with the identity at the end of all merges.
SELECT r.seq, r.id, r.name, r.type, n.name
FROM entity_names n JOIN entities i ON i.bank_id = :bank AND i.seq = n.entity
JOIN entities r ON r.bank_id = :bank AND r.seq = i.root
WHERE n.bank_id = :bank ORDER BY r.seq, n.name;

-- names_version --
-- What is the same as long as nobody got or lost a name; a bank that another one replaced has another epoch.
SELECT coalesce((SELECT value FROM bank WHERE bank_id = :bank AND key = 'epoch'), '0') || '.' || last
FROM counters WHERE bank_id = :bank AND name = 'names_version';

-- all_names --
SELECT DISTINCT name FROM entity_names WHERE bank_id = :bank;

-- last_seen --
SELECT seq, last_at FROM entities WHERE bank_id = :bank AND last_at IS NOT NULL AND seq = ANY (?::bigint[]);

-- seen_together --
-- Identities mentioned in the same units as one.
SELECT DISTINCT o.root FROM entities i JOIN mentions m ON m.bank_id = :bank AND m.entity = i.seq
JOIN mentions n ON n.bank_id = :bank AND n.unit = m.unit JOIN entities o ON o.bank_id = :bank AND o.seq = n.entity
WHERE i.bank_id = :bank AND i.root = :entity AND o.root <> :entity LIMIT 500;

-- entity_id --
SELECT id FROM entities WHERE bank_id = :bank AND seq = ?;

-- mentions_of_entity --
SELECT unit, name, type FROM mentions WHERE bank_id = :bank AND entity = ? ORDER BY unit, name;

-- insert_entity --
INSERT INTO entities (bank_id, seq, root, id, name, type) VALUES (:bank, ?1, ?1, ?2, ?3, ?4);

-- seen_entity --
-- Some were mentioned in some units: pairs of the two lists.
UPDATE entities e SET last_at = greatest(e.last_at, s.last_at)
FROM (SELECT g.entity, max((SELECT u.mentioned_at FROM units u WHERE u.bank_id = :bank AND u.seq = g.unit)) AS last_at
      FROM unnest(?1::bigint[], ?2::bigint[]) AS g (unit, entity) GROUP BY g.entity) s
WHERE e.bank_id = :bank AND e.seq = ANY (?2::bigint[]) AND e.seq = s.entity;

-- insert_mention --
INSERT INTO mentions (bank_id, unit, entity, name, type, recorded_at)
SELECT :bank, * FROM unnest(?::bigint[], ?::bigint[], ?::text[], ?::text[], ?::timestamptz[]) ON CONFLICT DO NOTHING;

-- mentioned_by --
SELECT DISTINCT unit, entity FROM mentions WHERE bank_id = :bank AND unit = ANY (?::bigint[]);

-- mentioning --
-- The units that mention an entity; the limit keeps a frequent one from being read whole.
SELECT DISTINCT unit FROM mentions WHERE bank_id = :bank AND entity = ? ORDER BY unit LIMIT ?;

-- merged_entities --
SELECT seq, merged_into FROM entities WHERE bank_id = :bank AND merged_into IS NOT NULL;

-- entities --
-- Identities with the names they go by and when they were first and last spoken of.
-- The type is what most mentions say it is: a parser is unsure of a name that it sees once.
SELECT r.id, r.name,
       coalesce((SELECT v.type FROM entities j JOIN mentions v ON v.bank_id = :bank AND v.entity = j.seq
                 WHERE j.bank_id = :bank AND j.root = r.seq AND v.type <> 'OTHER'
                 GROUP BY v.type ORDER BY count(*) DESC, v.type LIMIT 1), r.type),
       json_agg(DISTINCT m.name)::text, min(u.mentioned_at), max(u.mentioned_at), count(DISTINCT u.turn)
FROM entities r JOIN entities i ON i.bank_id = :bank AND i.root = r.seq
JOIN mentions m ON m.bank_id = :bank AND m.entity = i.seq
JOIN units u ON u.bank_id = :bank AND u.seq = m.unit AND u.kind = 'turn'
WHERE r.bank_id = :bank
GROUP BY r.bank_id, r.seq ORDER BY count(DISTINCT u.turn) DESC, r.name, r.seq;

-- units_of_entity --
SELECT seq FROM (
    SELECT DISTINCT u.seq, u.mentioned_at FROM entities r JOIN entities i ON i.bank_id = :bank AND i.root = r.seq
    JOIN mentions m ON m.bank_id = :bank AND m.entity = i.seq JOIN units u ON u.bank_id = :bank AND u.seq = m.unit
    WHERE r.bank_id = :bank AND r.id = ?
) found ORDER BY mentioned_at DESC, seq DESC LIMIT ?;

-- seen_with --
SELECT o.name, count(DISTINCT n.unit) FROM entities r JOIN entities i ON i.bank_id = :bank AND i.root = r.seq
JOIN mentions m ON m.bank_id = :bank AND m.entity = i.seq JOIN mentions n ON n.bank_id = :bank AND n.unit = m.unit
JOIN entities j ON j.bank_id = :bank AND j.seq = n.entity JOIN entities o ON o.bank_id = :bank AND o.seq = j.root
WHERE r.bank_id = :bank AND r.id = :entity AND o.seq <> r.seq
GROUP BY o.seq, o.name ORDER BY count(DISTINCT n.unit) DESC, o.name LIMIT 100;

-- entity_by_id --
SELECT seq, name, type FROM entities WHERE bank_id = :bank AND id = ?;

-- set_merged --
-- With the identities at the end of all merges, which may be others for many.
WITH RECURSIVE noted AS (UPDATE counters SET last = last + 1 WHERE bank_id = :bank AND name = 'names_version'),
changed AS (
    SELECT seq, CASE WHEN seq = ?2 THEN ?1::bigint ELSE merged_into END AS target FROM entities WHERE bank_id = :bank
),
led (entity, root, next) AS (
    SELECT seq, seq, target FROM changed
    UNION
    SELECT led.entity, up.seq, up.target FROM led JOIN changed up ON up.seq = led.next
)
UPDATE entities e SET merged_into = c.target, root = coalesce(l.root, e.root)
FROM changed c LEFT JOIN led l ON l.entity = c.seq AND l.next IS NULL
WHERE e.bank_id = :bank AND e.seq = c.seq AND (e.seq = ?2 OR e.root <> l.root);

-- rename_entity --
WITH noted AS (UPDATE counters SET last = last + 1 WHERE bank_id = :bank AND name = 'names_version')
UPDATE entities SET name = ? WHERE bank_id = :bank AND seq = ?;

-- mentions_under_names --
SELECT m.unit, m.entity, m.name, m.type FROM entities i JOIN mentions m ON m.bank_id = :bank AND m.entity = i.seq
WHERE i.bank_id = :bank AND i.root = ? AND lower(m.name) = ANY (ARRAY(SELECT lower(one COLLATE "C") FROM unnest(?::text[]) one))
ORDER BY m.unit, m.entity, m.name;

-- delete_mention --
DELETE FROM mentions WHERE bank_id = :bank AND unit = ? AND entity = ? AND name = ?;

-- insert_entity_name --
-- The version of names grows where a name is new.
WITH given AS (
    INSERT INTO entity_names (bank_id, entity, name, decided)
    SELECT :bank, g.entity, g.name, max(g.decided) FROM unnest(?::bigint[], ?::text[], ?::bigint[])
        AS g (entity, name, decided) GROUP BY g.entity, g.name
    ON CONFLICT (bank_id, entity, name) DO UPDATE SET decided = excluded.decided
    WHERE entity_names.decided < excluded.decided RETURNING xmax = 0 AS new
)
UPDATE counters SET last = last + 1
WHERE bank_id = :bank AND name = 'names_version' AND EXISTS (SELECT 1 FROM given WHERE new);

-- drop_entity_name --
WITH gone AS (
    DELETE FROM entity_names WHERE bank_id = :bank AND entity = ? AND lower(name) = lower(?::text COLLATE "C") RETURNING 1
)
UPDATE counters SET last = last + (SELECT count(*) FROM gone) WHERE bank_id = :bank AND name = 'names_version';

-- drop_names_of --
WITH gone AS (DELETE FROM entity_names WHERE bank_id = :bank AND entity = ? RETURNING 1)
UPDATE counters SET last = last + (SELECT count(*) FROM gone) WHERE bank_id = :bank AND name = 'names_version';

-- drop_seen_names --
-- Names that only extraction gave, before everything is extracted again.
WITH gone AS (
    DELETE FROM entity_names n WHERE n.bank_id = :bank AND n.decided = 0
      AND NOT EXISTS (SELECT 1 FROM entities e WHERE e.bank_id = :bank AND e.merged_into = n.entity)
      AND NOT EXISTS (SELECT 1 FROM entities e WHERE e.bank_id = :bank AND e.seq = n.entity AND e.merged_into IS NOT NULL)
    RETURNING 1
)
UPDATE counters SET last = last + (SELECT count(*) FROM gone) WHERE bank_id = :bank AND name = 'names_version';

-- insert_entity_log --
WITH n AS (UPDATE counters SET last = last + 1 WHERE bank_id = :bank AND name = 'entity_log' RETURNING last)
INSERT INTO entity_log (bank_id, seq, at, action, detail) SELECT :bank, n.last, ?::timestamptz, ?, ? FROM n;

-- last_entity_log --
SELECT seq, action, detail FROM entity_log WHERE bank_id = :bank AND undone = 0 ORDER BY seq DESC LIMIT 1;

-- set_undone --
UPDATE entity_log SET undone = 1 WHERE bank_id = :bank AND seq = ?;

-- delete_entity --
WITH noted AS (UPDATE counters SET last = last + 1 WHERE bank_id = :bank AND name = 'names_version')
DELETE FROM entities WHERE bank_id = :bank AND seq = ?;

-- drop_mentions --
-- Who units mention, before their turns are extracted again.
DELETE FROM mentions WHERE bank_id = :bank AND unit = ANY (?::bigint[]);

-- drop_unknown_entities --
-- Identities that nothing mentions and nobody decided about.
WITH gone AS (
    DELETE FROM entities e WHERE e.bank_id = :bank AND e.merged_into IS NULL
      AND NOT EXISTS (SELECT 1 FROM mentions m WHERE m.bank_id = :bank AND m.entity = e.seq)
      AND NOT EXISTS (SELECT 1 FROM entities o WHERE o.bank_id = :bank AND o.merged_into = e.seq)
      AND NOT EXISTS (SELECT 1 FROM entity_names n WHERE n.bank_id = :bank AND n.entity = e.seq AND n.decided = 1)
    RETURNING 1
)
UPDATE counters SET last = last + (SELECT count(*) FROM gone) WHERE bank_id = :bank AND name = 'names_version';
