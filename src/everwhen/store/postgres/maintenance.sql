-- The statements of forgetting and keeping in PostgreSQL's words.

-- kept_value --
SELECT value FROM keeping WHERE bank_id = :bank AND key = ?;

-- put_kept_value --
INSERT INTO keeping (bank_id, key, value) VALUES (:bank, ?, ?)
ON CONFLICT (bank_id, key) DO UPDATE SET value = excluded.value;

-- drop_kept_value --
DELETE FROM keeping WHERE bank_id = :bank AND key = ?;

-- insert_tombstone --
INSERT INTO tombstones (bank_id, digest, at) VALUES (:bank, ?, ?) ON CONFLICT DO NOTHING;

-- known_tombstone --
SELECT 1 FROM tombstones WHERE bank_id = :bank AND digest = ?;

-- any_tombstone --
SELECT 1 FROM tombstones WHERE bank_id = :bank LIMIT 1;

-- turns_told_after --
-- The turns that are searched with the end of one of some turns, and are none of them.
SELECT t.seq, t.id, t.session, t.segment, t.role, t.speaker, t.text, t.said_at, t.zone, t.recorded_at, t.tokens, t.metadata
FROM turns g JOIN units u ON u.bank_id = :bank AND u.context_turn = g.seq AND u.kind = 'turn'
JOIN turns t ON t.bank_id = :bank AND t.seq = u.turn
WHERE g.bank_id = :bank AND g.id = ANY (:turns::text[]) AND t.id <> ALL (:turns::text[])
ORDER BY t.seq;

-- turn_before --
-- The turn that stands before a place in its session and is none of some turns.
SELECT seq, id, session, segment, role, speaker, text, said_at, zone, recorded_at, tokens, metadata
FROM turns t WHERE t.bank_id = :bank AND session = :session AND (said_at, seq) < (:said_at, :seq)
  AND id <> ALL (:turns::text[])
  AND NOT EXISTS (SELECT 1 FROM expired x WHERE x.bank_id = :bank AND x.turn = t.seq)
ORDER BY said_at DESC, seq DESC LIMIT 1;

-- turns_around --
-- So many turns before and after a place in a session.
(SELECT id FROM turns WHERE bank_id = :bank AND session = :session AND (said_at, seq) < (:said_at, :seq)
 ORDER BY said_at DESC, seq DESC LIMIT :before)
UNION ALL
(SELECT id FROM turns WHERE bank_id = :bank AND session = :session AND (said_at, seq) > (:said_at, :seq)
 ORDER BY said_at, seq LIMIT :after);

-- turns_mentioning --
-- The turns that name an identity, and those whose speaker goes by one of its names.
SELECT DISTINCT t.id FROM entities r JOIN entities i ON i.bank_id = :bank AND i.root = r.seq
JOIN mentions m ON m.bank_id = :bank AND m.entity = i.seq
JOIN units u ON u.bank_id = :bank AND u.seq = m.unit AND u.kind = 'turn'
JOIN turns t ON t.bank_id = :bank AND t.seq = u.turn WHERE r.bank_id = :bank AND r.id = :entity
UNION
SELECT id FROM turns WHERE bank_id = :bank
  AND lower(speaker) = ANY (ARRAY(SELECT lower(one COLLATE "C") FROM unnest(:names::text[]) one));

-- names_of_entity --
SELECT n.name FROM entities r JOIN entities i ON i.bank_id = :bank AND i.root = r.seq
JOIN entity_names n ON n.bank_id = :bank AND n.entity = i.seq WHERE r.bank_id = :bank AND r.id = :entity
UNION
SELECT i.name FROM entities r JOIN entities i ON i.bank_id = :bank AND i.root = r.seq
WHERE r.bank_id = :bank AND r.id = :entity
UNION
SELECT m.name FROM entities r JOIN entities i ON i.bank_id = :bank AND i.root = r.seq
JOIN mentions m ON m.bank_id = :bank AND m.entity = i.seq WHERE r.bank_id = :bank AND r.id = :entity;

-- units_resting_on --
-- What was made of some turns (seqs), facts aside: those have a life of their own.
SELECT DISTINCT u.seq, u.id, u.kind, coalesce(u.text, '') FROM unit_turns p
JOIN units u ON u.bank_id = :bank AND u.seq = p.unit
WHERE p.bank_id = :bank AND p.turn = ANY (?::bigint[]) AND u.kind NOT IN ('turn', 'fact') ORDER BY u.seq;

-- raw_units --
SELECT u.seq FROM unnest(?::bigint[]) AS given (turn) CROSS JOIN LATERAL (
    SELECT o.seq, o.kind FROM units o WHERE o.bank_id = :bank AND o.turn = given.turn OFFSET 0) u
WHERE u.kind = 'turn' ORDER BY u.seq;

-- linked_to --
-- The units that have some units among their neighbours, and are none of them; and how many of them in meaning.
SELECT source, count(*) FILTER (WHERE type = 'semantic') FROM links
WHERE bank_id = :bank AND target = ANY (:units::bigint[]) AND source <> ALL (:units::bigint[])
GROUP BY source ORDER BY source;

-- count_links --
SELECT count(*) FROM links WHERE bank_id = :bank AND (source = ANY (:units::bigint[]) OR target = ANY (:units::bigint[]));

-- count_vectors --
SELECT count(*) FROM vectors WHERE bank_id = :bank AND unit = ANY (?::bigint[]);

-- placed_units --
SELECT unit, kind FROM moments WHERE bank_id = :bank AND unit = ANY (?::bigint[]);

-- vectors_of_units --
SELECT v.unit, v.vector FROM unnest(?::bigint[]) AS w (unit)
CROSS JOIN LATERAL (SELECT unit, vector FROM vectors WHERE bank_id = :bank AND unit = w.unit AND piece = 0 LIMIT 1) v;

-- same_failures --
-- Failures told in the same words as those of some turns: they came from one batch, and may quote any turn of it. Where
-- these have none, nothing is read.
DELETE FROM extraction_failures WHERE bank_id = :bank
  AND EXISTS (SELECT 1 FROM extraction_failures WHERE bank_id = :bank AND turn = ANY (?1::bigint[]))
  AND reason IN (SELECT reason FROM extraction_failures WHERE bank_id = :bank AND turn = ANY (?1::bigint[]));

-- delete_turns --
DELETE FROM turns WHERE bank_id = :bank AND seq = ANY (?::bigint[]);

-- reseat_units --
-- Facts that came from several turns hang on no single one.
UPDATE units SET context_turn = NULL WHERE bank_id = :bank AND context_turn = ANY (?::bigint[]);

-- delete_provenance --
DELETE FROM unit_turns WHERE bank_id = :bank AND turn = ANY (?::bigint[]);

-- set_context --
-- The terms that go with it are posted by themselves.
UPDATE units SET context = :context, pieces = :pieces,
                 context_turn = (SELECT seq FROM turns WHERE bank_id = :bank AND id = :before)
WHERE bank_id = :bank AND seq = :unit;

-- broken_segments --
-- Exchanges named after a turn that is gone, with their first turn that is left.
SELECT DISTINCT ON (t.segment) t.segment, t.id FROM turns t
WHERE t.bank_id = :bank AND t.segment = ANY (ARRAY(SELECT 'x-' || gone FROM unnest(?::text[]) gone))
ORDER BY t.segment, t.said_at, t.seq;

-- rename_segment --
UPDATE turns SET segment = ? WHERE bank_id = :bank AND segment = ?;

-- names_mentioned_by --
SELECT DISTINCT entity, name FROM mentions WHERE bank_id = :bank AND unit = ANY (?::bigint[]) ORDER BY entity, name;

-- name_still_said --
-- Whether a turn other than some (units) still names an identity so.
SELECT 1 FROM mentions m JOIN units u ON u.bank_id = :bank AND u.seq = m.unit AND u.kind = 'turn'
WHERE m.bank_id = :bank AND m.entity = :entity AND lower(m.name) = lower(:name::text COLLATE "C")
  AND m.unit <> ALL (:units::bigint[]) LIMIT 1;

-- still_spoken_of --
-- Whether a turn other than some (units) names an identity at all.
SELECT 1 FROM mentions m JOIN units u ON u.bank_id = :bank AND u.seq = m.unit AND u.kind = 'turn'
WHERE m.bank_id = :bank AND m.entity = :entity AND m.unit <> ALL (:units::bigint[]) LIMIT 1;

-- names_of_seq --
SELECT name FROM entity_names WHERE bank_id = :bank AND entity = ? ORDER BY decided DESC, name;

-- entity_of_seq --
SELECT id, name, merged_into FROM entities WHERE bank_id = :bank AND seq = ?;

-- drop_mentions_under --
DELETE FROM mentions WHERE bank_id = :bank AND entity = ? AND lower(name) = lower(?::text COLLATE "C");

-- drop_mentions_of --
DELETE FROM mentions WHERE bank_id = :bank AND entity = ?;

-- lead_past --
-- Who was merged into an identity that is gone leads on to where it led.
WITH RECURSIVE noted AS (UPDATE counters SET last = last + 1 WHERE bank_id = :bank AND name = 'names_version'),
changed AS (
    SELECT seq, CASE WHEN merged_into = ?2 THEN ?1::bigint ELSE merged_into END AS target
    FROM entities WHERE bank_id = :bank
),
led (entity, root, next) AS (
    SELECT seq, seq, target FROM changed
    UNION
    SELECT led.entity, up.seq, up.target FROM led JOIN changed up ON up.seq = led.next
)
UPDATE entities e SET merged_into = c.target, root = coalesce(l.root, e.root)
FROM changed c LEFT JOIN led l ON l.entity = c.seq AND l.next IS NULL
WHERE e.bank_id = :bank AND e.seq = c.seq AND (e.merged_into = ?2 OR e.root <> l.root);

-- last_spoken_of --
UPDATE entities SET last_at = (
    SELECT max(u.mentioned_at) FROM mentions m JOIN units u ON u.bank_id = :bank AND u.seq = m.unit
    WHERE m.bank_id = :bank AND m.entity = entities.seq)
WHERE bank_id = :bank AND seq = ?;

-- logs --
SELECT seq, detail FROM entity_log WHERE bank_id = :bank ORDER BY seq;

-- delete_log --
DELETE FROM entity_log WHERE bank_id = :bank AND seq = ?;

-- sources_left --
SELECT source FROM fact_sources WHERE bank_id = :bank AND fact = ? ORDER BY source;

-- fact_acts --
SELECT DISTINCT act FROM facts WHERE bank_id = :bank AND id = ?;

-- fact_words --
SELECT f.object, f.object_key, k.subject, coalesce(f.domain, ''), coalesce(u.text, '')
FROM facts f JOIN fact_slots s ON s.bank_id = :bank AND s.seq = f.slot
JOIN fact_keys k ON k.bank_id = :bank AND k.seq = s.key LEFT JOIN units u ON u.bank_id = :bank AND u.id = f.id
WHERE f.bank_id = :bank AND f.id = ? ORDER BY f.version;

-- places_of_facts --
-- The slots and keys that some facts are in.
SELECT DISTINCT f.slot, s.key FROM facts f JOIN fact_slots s ON s.bank_id = :bank AND s.seq = f.slot
WHERE f.bank_id = :bank AND f.id = ANY (?::text[]);

-- facts_about --
-- Facts whose subject or object is one of some names (folded), in any version.
SELECT DISTINCT f.id FROM facts f JOIN fact_slots s ON s.bank_id = :bank AND s.seq = f.slot
JOIN fact_keys k ON k.bank_id = :bank AND k.seq = s.key
WHERE f.bank_id = :bank AND (k.subject_key = ANY (:names::text[]) OR f.object_key = ANY (:names::text[])) ORDER BY f.id;

-- drop_fact_sources --
DELETE FROM fact_sources WHERE bank_id = :bank AND source = ANY (?::text[]);

-- drop_conflicts_of --
DELETE FROM fact_conflicts WHERE bank_id = :bank
  AND (incumbent = ANY (:facts::text[]) OR challenger = ANY (:facts::text[]));

-- reasons_quoting --
SELECT seq, reason FROM facts WHERE bank_id = :bank AND reason IS NOT NULL;

-- set_reason --
UPDATE facts SET reason = ? WHERE bank_id = :bank AND seq = ?;

-- reports_of --
DELETE FROM fact_reports WHERE bank_id = :bank
  AND lower(ref) = ANY (ARRAY(SELECT lower(one COLLATE "C") FROM unnest(?::text[]) one));

-- drop_empty_slots --
-- Of some slots those that no fact is in.
DELETE FROM fact_slots s WHERE s.bank_id = :bank AND s.seq = ANY (?::bigint[])
  AND NOT EXISTS (SELECT 1 FROM facts f WHERE f.bank_id = :bank AND f.slot = s.seq);

-- drop_empty_keys --
DELETE FROM fact_keys k WHERE k.bank_id = :bank AND k.seq = ANY (?::bigint[])
  AND NOT EXISTS (SELECT 1 FROM fact_slots s WHERE s.bank_id = :bank AND s.key = k.seq)
  AND NOT EXISTS (SELECT 1 FROM fact_conflicts c WHERE c.bank_id = :bank AND c.key = k.seq);

-- digest_rows --
SELECT id, said_at, recorded_at, text FROM turns WHERE bank_id = :bank ORDER BY seq;

-- nodes_of_units --
SELECT n.id, u.text, u.occurred_end FROM nodes n JOIN units u ON u.bank_id = :bank AND u.seq = n.unit
WHERE n.bank_id = :bank AND n.unit = ANY (?::bigint[]) ORDER BY n.unit;

-- units_named --
SELECT seq, id, kind FROM units WHERE bank_id = :bank AND seq = ANY (?::bigint[]) ORDER BY seq;

-- words_of_units --
-- What units say themselves, and who does.
SELECT u.seq, coalesce(t.speaker, ''), coalesce(u.text, t.text) FROM units u
LEFT JOIN turns t ON t.bank_id = :bank AND t.seq = u.turn
WHERE u.bank_id = :bank AND u.seq = ANY (?::bigint[]) ORDER BY u.seq;

-- turns_of_unit --
SELECT t.id FROM unit_turns p JOIN turns t ON t.bank_id = :bank AND t.seq = p.turn
WHERE p.bank_id = :bank AND p.unit = ? ORDER BY t.seq;

-- turns_to_restart --
-- Those of a list of turns that still have words to be read.
SELECT seq FROM turns t WHERE t.bank_id = :bank AND id = ANY (?::text[])
  AND NOT EXISTS (SELECT 1 FROM expired x WHERE x.bank_id = :bank AND x.turn = t.seq) ORDER BY seq;

-- session_expired --
SELECT 1 FROM turns t JOIN expired x ON x.bank_id = :bank AND x.turn = t.seq
WHERE t.bank_id = :bank AND t.session = ? LIMIT 1;

-- turns_said_before --
-- Turns that are old enough to lose their words, and have been read.
SELECT t.id FROM turns t WHERE t.bank_id = :bank AND t.said_at < ?
  AND NOT EXISTS (SELECT 1 FROM expired x WHERE x.bank_id = :bank AND x.turn = t.seq)
  AND EXISTS (SELECT 1 FROM extractions e WHERE e.bank_id = :bank AND e.turn = t.seq) ORDER BY t.said_at, t.seq;

-- units_told_before --
SELECT seq, id, coalesce(text, '') FROM units WHERE bank_id = :bank AND kind = ? AND mentioned_at < ? ORDER BY seq;

-- facts_last_seen_before --
-- Facts that nothing has been heard of since an instant, in any version.
SELECT id FROM facts WHERE bank_id = :bank
GROUP BY id HAVING max(greatest(recorded_at, confirmed_at, superseded_at)) < ? ORDER BY min(seq);

-- trees_ended_before --
-- Nodes under a top that ended before an instant: a tree is kept whole, or not at all.
WITH RECURSIVE tops (id, unit) AS (
    SELECT n.id, n.unit FROM nodes n JOIN units u ON u.bank_id = :bank AND u.seq = n.unit
    WHERE n.bank_id = :bank AND u.occurred_end < ?
      AND NOT EXISTS (SELECT 1 FROM nodes p WHERE p.bank_id = :bank AND p.id = n.parent)
      AND n.level = (SELECT max(level) FROM nodes WHERE bank_id = :bank)
    UNION ALL
    SELECT c.id, c.unit FROM tops JOIN nodes c ON c.bank_id = :bank AND c.parent = tops.id
)
SELECT unit FROM tops;

-- blank_turn --
UPDATE turns SET text = '', metadata = '{}', facets = NULL, tokens = 0 WHERE bank_id = :bank AND seq = ?;

-- insert_expired --
INSERT INTO expired (bank_id, turn, at) VALUES (:bank, ?, ?) ON CONFLICT DO NOTHING;

-- unspoken_entities --
SELECT seq, id, name, merged_into FROM entities e
WHERE e.bank_id = :bank AND NOT EXISTS (SELECT 1 FROM mentions m WHERE m.bank_id = :bank AND m.entity = e.seq) ORDER BY seq;

-- unspoken_names --
SELECT n.entity, n.name FROM entity_names n WHERE n.bank_id = :bank AND n.decided = 0
  AND NOT EXISTS (SELECT 1 FROM mentions m
                  WHERE m.bank_id = :bank AND m.entity = n.entity AND lower(m.name) = lower(n.name));

-- all_facts --
SELECT DISTINCT id FROM facts WHERE bank_id = :bank ORDER BY id;
