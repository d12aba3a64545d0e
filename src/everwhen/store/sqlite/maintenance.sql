-- The statements of forgetting and keeping, named, with their purpose. Lists are JSON.

-- kept_value --
SELECT value FROM keeping WHERE key = ?;

-- put_kept_value --
INSERT INTO keeping (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- drop_kept_value --
DELETE FROM keeping WHERE key = ?;

-- insert_tombstone --
INSERT INTO tombstones (digest, at) VALUES (?, ?) ON CONFLICT DO NOTHING;

-- known_tombstone --
SELECT 1 FROM tombstones WHERE digest = ?;

-- any_tombstone --
SELECT 1 FROM tombstones LIMIT 1;

-- turns_told_after --
-- The turns that are searched with the end of one of some turns, and are none of them.
SELECT t.seq, t.id, t.session, t.segment, t.role, t.speaker, t.text, t.said_at, t.zone, t.recorded_at, t.tokens, t.metadata
FROM units u JOIN turns t ON t.seq = u.turn
WHERE u.kind = 'turn' AND u.context_turn IN (SELECT seq FROM turns WHERE id IN (SELECT value FROM json_each(:turns)))
  AND t.id NOT IN (SELECT value FROM json_each(:turns))
ORDER BY t.seq;

-- turn_before --
-- The turn that stands before a place in its session and is none of some turns.
SELECT seq, id, session, segment, role, speaker, text, said_at, zone, recorded_at, tokens, metadata
FROM turns WHERE session = :session AND (said_at, seq) < (:said_at, :seq)
  AND id NOT IN (SELECT value FROM json_each(:turns))
  AND seq NOT IN (SELECT turn FROM expired)
ORDER BY said_at DESC, seq DESC LIMIT 1;

-- turns_around --
-- So many turns before and after a place in a session.
SELECT id FROM (SELECT id FROM turns WHERE session = :session AND (said_at, seq) < (:said_at, :seq)
                ORDER BY said_at DESC, seq DESC LIMIT :before)
UNION ALL
SELECT id FROM (SELECT id FROM turns WHERE session = :session AND (said_at, seq) > (:said_at, :seq)
                ORDER BY said_at, seq LIMIT :after);

-- turns_mentioning --
-- The turns that name an identity, and those whose speaker goes by one of its names.
SELECT DISTINCT t.id FROM mentions m JOIN identities i ON i.entity = m.entity JOIN entities r ON r.seq = i.root
JOIN units u ON u.seq = m.unit AND u.kind = 'turn' JOIN turns t ON t.seq = u.turn WHERE r.id = :entity
UNION
SELECT id FROM turns WHERE lower(speaker) IN (SELECT lower(value) FROM json_each(:names));

-- names_of_entity --
SELECT n.name FROM entity_names n JOIN identities i ON i.entity = n.entity JOIN entities r ON r.seq = i.root WHERE r.id = :entity
UNION SELECT e.name FROM entities e JOIN identities i ON i.entity = e.seq JOIN entities r ON r.seq = i.root WHERE r.id = :entity
UNION SELECT m.name FROM mentions m JOIN identities i ON i.entity = m.entity JOIN entities r ON r.seq = i.root WHERE r.id = :entity;

-- units_resting_on --
-- What was made of some turns (seqs), facts aside: those have a life of their own.
SELECT DISTINCT u.seq, u.id, u.kind, coalesce(u.text, '') FROM units u JOIN unit_turns p ON p.unit = u.seq
WHERE p.turn IN (SELECT value FROM json_each(?)) AND u.kind NOT IN ('turn', 'fact');

-- raw_units --
SELECT u.seq FROM units u WHERE u.kind = 'turn' AND u.turn IN (SELECT value FROM json_each(?));

-- linked_to --
-- The units that have some units among their neighbours, and are none of them; and how many of them in meaning.
SELECT source, count(*) FILTER (WHERE type = 'semantic') FROM links
WHERE target IN (SELECT value FROM json_each(:units)) AND source NOT IN (SELECT value FROM json_each(:units))
GROUP BY source ORDER BY source;

-- count_links --
SELECT count(*) FROM links WHERE source IN (SELECT value FROM json_each(:units))
  OR target IN (SELECT value FROM json_each(:units));

-- count_vectors --
SELECT count(*) FROM vectors WHERE unit IN (SELECT value FROM json_each(?));

-- placed_units --
SELECT unit, kind FROM moments WHERE unit IN (SELECT value FROM json_each(?));

-- vectors_of_units --
SELECT v.unit, v.vector FROM vectors v WHERE v.piece = 0 AND v.unit IN (SELECT value FROM json_each(?));

-- same_failures --
-- Failures told in the same words as those of some turns: they came from one batch, and may quote any turn of it.
DELETE FROM extraction_failures WHERE reason IN (
    SELECT reason FROM extraction_failures WHERE turn IN (SELECT value FROM json_each(?)));

-- delete_turns --
DELETE FROM turns WHERE seq IN (SELECT value FROM json_each(?));

-- reseat_units --
-- Facts that came from several turns hang on no single one.
UPDATE units SET context_turn = NULL WHERE context_turn IN (SELECT value FROM json_each(?));

-- delete_provenance --
DELETE FROM unit_turns WHERE turn IN (SELECT value FROM json_each(?));

-- set_context --
UPDATE units SET context = :context, context_turn = (SELECT seq FROM turns WHERE id = :before),
                 pieces = :pieces, terms = :terms
WHERE seq = :unit;

-- broken_segments --
-- Exchanges named after a turn that is gone, with their first turn that is left.
SELECT t.segment, t.id FROM turns t
WHERE t.segment IN (SELECT 'x-' || value FROM json_each(?))
  AND t.seq = (SELECT o.seq FROM turns o WHERE o.segment = t.segment ORDER BY o.said_at, o.seq LIMIT 1);

-- rename_segment --
UPDATE turns SET segment = ? WHERE segment = ?;

-- names_mentioned_by --
SELECT DISTINCT m.entity, m.name FROM mentions m WHERE m.unit IN (SELECT value FROM json_each(?));

-- name_still_said --
-- Whether a turn other than some (units) still names an identity so.
SELECT 1 FROM mentions m JOIN units u ON u.seq = m.unit AND u.kind = 'turn'
WHERE m.entity = :entity AND lower(m.name) = lower(:name) AND m.unit NOT IN (SELECT value FROM json_each(:units)) LIMIT 1;

-- still_spoken_of --
-- Whether a turn other than some (units) names an identity at all.
SELECT 1 FROM mentions m JOIN units u ON u.seq = m.unit AND u.kind = 'turn'
WHERE m.entity = :entity AND m.unit NOT IN (SELECT value FROM json_each(:units)) LIMIT 1;

-- names_of_seq --
SELECT name FROM entity_names WHERE entity = ? ORDER BY decided DESC, name;

-- entity_of_seq --
SELECT id, name, merged_into FROM entities WHERE seq = ?;

-- drop_mentions_under --
DELETE FROM mentions WHERE entity = ? AND lower(name) = lower(?);

-- drop_mentions_of --
DELETE FROM mentions WHERE entity = ?;

-- lead_past --
-- Who was merged into an identity that is gone leads on to where it led.
UPDATE entities SET merged_into = ? WHERE merged_into = ?;

-- last_spoken_of --
UPDATE entities SET last_at = (SELECT max(u.mentioned_at) FROM mentions m JOIN units u ON u.seq = m.unit WHERE m.entity = entities.seq)
WHERE seq = ?;

-- logs --
SELECT seq, detail FROM entity_log;

-- delete_log --
DELETE FROM entity_log WHERE seq = ?;

-- sources_left --
SELECT source FROM fact_sources WHERE fact = ?;

-- fact_acts --
SELECT DISTINCT act FROM facts WHERE id = ?;

-- fact_words --
SELECT f.object, f.object_key, k.subject, coalesce(f.domain, ''), coalesce(u.text, '')
FROM facts f JOIN fact_slots s ON s.seq = f.slot JOIN fact_keys k ON k.seq = s.key LEFT JOIN units u ON u.id = f.id
WHERE f.id = ?;

-- places_of_facts --
-- The slots and keys that some facts are in.
SELECT DISTINCT f.slot, s.key FROM facts f JOIN fact_slots s ON s.seq = f.slot
WHERE f.id IN (SELECT value FROM json_each(?));

-- facts_about --
-- Facts whose subject or object is one of some names (folded), in any version.
SELECT DISTINCT f.id FROM facts f JOIN fact_slots s ON s.seq = f.slot JOIN fact_keys k ON k.seq = s.key
WHERE k.subject_key IN (SELECT value FROM json_each(:names)) OR f.object_key IN (SELECT value FROM json_each(:names));

-- drop_fact_sources --
DELETE FROM fact_sources WHERE source IN (SELECT value FROM json_each(?));

-- drop_conflicts_of --
DELETE FROM fact_conflicts WHERE incumbent IN (SELECT value FROM json_each(:facts))
  OR challenger IN (SELECT value FROM json_each(:facts));

-- reasons_quoting --
SELECT seq, reason FROM facts WHERE reason IS NOT NULL;

-- set_reason --
UPDATE facts SET reason = ? WHERE seq = ?;

-- reports_of --
DELETE FROM fact_reports WHERE lower(ref) IN (SELECT lower(value) FROM json_each(?));

-- drop_empty_slots --
-- Of some slots those that no fact is in.
DELETE FROM fact_slots WHERE seq IN (SELECT value FROM json_each(?))
  AND NOT EXISTS (SELECT 1 FROM facts f WHERE f.slot = fact_slots.seq);

-- drop_empty_keys --
DELETE FROM fact_keys WHERE seq IN (SELECT value FROM json_each(?))
  AND NOT EXISTS (SELECT 1 FROM fact_slots s WHERE s.key = fact_keys.seq)
  AND NOT EXISTS (SELECT 1 FROM fact_conflicts c WHERE c.key = fact_keys.seq);

-- digest_rows --
SELECT id, said_at, recorded_at, text FROM turns ORDER BY seq;

-- tables --
-- The bank's own tables: the full text of a schema before 12 is none that anybody reads.
SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'unit_fts%' ORDER BY name;

-- nodes_of_units --
SELECT n.id, u.text, u.occurred_end FROM nodes n JOIN units u ON u.seq = n.unit
WHERE n.unit IN (SELECT value FROM json_each(?)) ORDER BY n.unit;

-- units_named --
SELECT seq, id, kind FROM units WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq;

-- words_of_units --
-- What units say themselves, and who does.
SELECT u.seq, coalesce(t.speaker, ''), coalesce(u.text, t.text) FROM units u LEFT JOIN turns t ON t.seq = u.turn
WHERE u.seq IN (SELECT value FROM json_each(?)) ORDER BY u.seq;

-- turns_of_unit --
SELECT t.id FROM unit_turns p JOIN turns t ON t.seq = p.turn WHERE p.unit = ? ORDER BY t.seq;

-- turns_to_restart --
-- Those of a list of turns that still have words to be read.
SELECT seq FROM turns WHERE id IN (SELECT value FROM json_each(?)) AND seq NOT IN (SELECT turn FROM expired);

-- session_expired --
SELECT 1 FROM expired x JOIN turns t ON t.seq = x.turn WHERE t.session = ? LIMIT 1;

-- turns_said_before --
-- Turns that are old enough to lose their words, and have been read.
SELECT t.id FROM turns t WHERE t.said_at < ? AND t.seq NOT IN (SELECT turn FROM expired)
  AND EXISTS (SELECT 1 FROM extractions e WHERE e.turn = t.seq) ORDER BY t.said_at, t.seq;

-- units_told_before --
SELECT seq, id, coalesce(text, '') FROM units WHERE kind = ? AND mentioned_at < ? ORDER BY seq;

-- facts_last_seen_before --
-- Facts that nothing has been heard of since an instant, in any version.
SELECT id FROM facts GROUP BY id HAVING max(max(recorded_at, coalesce(confirmed_at, ''), coalesce(superseded_at, ''))) < ?
ORDER BY min(seq);

-- trees_ended_before --
-- Nodes under a top that ended before an instant: a tree is kept whole, or not at all.
WITH RECURSIVE tops (id, unit) AS (
    SELECT n.id, n.unit FROM nodes n JOIN units u ON u.seq = n.unit
    WHERE u.occurred_end < ? AND NOT EXISTS (SELECT 1 FROM nodes p WHERE p.id = n.parent)
      AND n.level = (SELECT max(level) FROM nodes)
    UNION ALL
    SELECT c.id, c.unit FROM tops JOIN nodes c ON c.parent = tops.id
)
SELECT unit FROM tops;

-- blank_turn --
UPDATE turns SET text = '', metadata = '{}', tokens = 0 WHERE seq = ?;

-- insert_expired --
INSERT INTO expired (turn, at) VALUES (?, ?) ON CONFLICT DO NOTHING;

-- unspoken_entities --
SELECT seq, id, name, merged_into FROM entities WHERE seq NOT IN (SELECT entity FROM mentions);

-- unspoken_names --
SELECT n.entity, n.name FROM entity_names n WHERE n.decided = 0
  AND NOT EXISTS (SELECT 1 FROM mentions m WHERE m.entity = n.entity AND lower(m.name) = lower(n.name));

-- all_facts --
SELECT DISTINCT id FROM facts ORDER BY id;
