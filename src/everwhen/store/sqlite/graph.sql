-- Every statement of the graph part of the SQLite store, named, with its purpose.

-- count_pending --
-- The to-do list up to a turn: turns that nothing has been made of yet.
SELECT count(*) FROM pending WHERE turn <= ?;

-- something_pending --
SELECT EXISTS (SELECT 1 FROM pending WHERE turn <= ?);

-- newest_turn --
SELECT coalesce(max(seq), 0) FROM turns;

-- claim_owners --
SELECT DISTINCT owner FROM claims;

-- release_leases_of --
DELETE FROM claims WHERE owner = ?;

-- renew_claims --
UPDATE claims SET expires = ? WHERE owner = ?;

-- drop_old_claims --
DELETE FROM claims WHERE expires < ?;

-- next_pending --
-- The session of the oldest turn that nobody has extracted or claimed.
SELECT session FROM pending p WHERE NOT EXISTS (SELECT 1 FROM claims c WHERE c.turn = p.turn) ORDER BY turn LIMIT 1;

-- first_pending_of_session --
SELECT said_at, turn FROM pending p
WHERE session = ? AND NOT EXISTS (SELECT 1 FROM claims c WHERE c.turn = p.turn)
ORDER BY said_at, turn LIMIT 1;

-- turns_from --
-- The next turns of a session from a place on, and whether each is taken.
SELECT seq, id, session, segment, role, speaker, text, said_at, zone, recorded_at, tokens, metadata,
       NOT EXISTS (SELECT 1 FROM pending p WHERE p.turn = t.seq) OR EXISTS (SELECT 1 FROM claims c WHERE c.turn = t.seq)
FROM turns t WHERE session = ? AND (said_at, seq) >= (?, ?) ORDER BY said_at, seq LIMIT ?;

-- turns_before --
SELECT seq, id, session, segment, role, speaker, text, said_at, zone, recorded_at, tokens, metadata
FROM turns WHERE session = ? AND (said_at, seq) < (?, ?) AND NOT EXISTS (SELECT 1 FROM expired x WHERE x.turn = turns.seq)
ORDER BY said_at DESC, seq DESC LIMIT ?;

-- turns_after --
SELECT seq, id, session, segment, role, speaker, text, said_at, zone, recorded_at, tokens, metadata
FROM turns WHERE session = ? AND (said_at, seq) > (?, ?) ORDER BY said_at, seq LIMIT ?;

-- insert_claim --
INSERT OR REPLACE INTO claims (turn, owner, expires) VALUES (?, ?, ?);

-- turn_seqs --
SELECT id, seq FROM turns WHERE id IN (SELECT value FROM json_each(?));

-- turns_told_of --
-- What a derived unit takes from its turns.
SELECT id, seq, speaker, said_at, recorded_at FROM turns WHERE id IN (SELECT value FROM json_each(?));

-- turn_units --
-- The raw unit of each turn.
SELECT t.id, u.seq FROM turns t JOIN units u ON u.turn = t.seq AND u.kind = 'turn'
WHERE t.id IN (SELECT value FROM json_each(?));

-- first_vectors --
SELECT t.id, v.vector FROM turns t JOIN units u ON u.turn = t.seq AND u.kind = 'turn'
JOIN vectors v ON v.unit = u.seq AND v.piece = 0 WHERE t.id IN (SELECT value FROM json_each(?));

-- known_unit --
SELECT seq FROM units WHERE id = ?;

-- known_units --
SELECT id, seq FROM units WHERE id IN (SELECT value FROM json_each(?));

-- insert_derived_unit --
INSERT INTO units (seq, id, kind, network, level, turn, text, context, occurred_start, occurred_end, grain, mentioned_at,
                   recorded_at, pieces, terms)
VALUES (:seq, :id, :kind, :network, 0, :turn, :text, :context, :start, :end, :grain, :said_at, :recorded_at, :pieces,
        :terms);

-- insert_derived --
INSERT INTO derived (unit, extractor, version, confidence, tokens) VALUES (?, ?, ?, ?, ?);

-- insert_event --
INSERT INTO events (unit, subject, verb, object, status, polarity, quantity, expression, inferred, aliases)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- superseded_units --
-- Derived units of a kind that rest on nothing but the given turns.
SELECT DISTINCT u.seq, u.id FROM units u JOIN unit_turns p ON p.unit = u.seq
WHERE u.kind = :kind AND p.turn IN (SELECT seq FROM turns WHERE id IN (SELECT value FROM json_each(:turns)))
  AND NOT EXISTS (
    SELECT 1 FROM unit_turns q JOIN turns t ON t.seq = q.turn
    WHERE q.unit = u.seq AND t.id NOT IN (SELECT value FROM json_each(:turns)));

-- derived_from --
-- Derived units that rest on any of the given turns.
SELECT DISTINCT u.seq FROM units u JOIN unit_turns p ON p.unit = u.seq
WHERE u.kind IN ('event', 'narrative') AND p.turn IN (SELECT value FROM json_each(?));

-- told_with --
-- Turns with those that an event rests on together with one of them, and so on: a version of a plan rests on the plan's
-- turn, too. Those without words cannot be read again.
WITH RECURSIVE reached (turn) AS (
    SELECT value FROM json_each(?)
    UNION
    SELECT other.turn FROM reached r JOIN unit_turns own ON own.turn = r.turn
    JOIN units u ON u.seq = own.unit AND u.kind = 'event' JOIN unit_turns other ON other.unit = own.unit
    WHERE other.turn NOT IN (SELECT turn FROM expired))
SELECT t.seq, t.id FROM reached r JOIN turns t ON t.seq = r.turn;

-- all_turn_seqs --
SELECT seq FROM turns WHERE seq NOT IN (SELECT turn FROM expired);

-- delete_vectors --
DELETE FROM vectors WHERE unit IN (SELECT value FROM json_each(?));

-- delete_unit_turns --
DELETE FROM unit_turns WHERE unit IN (SELECT value FROM json_each(?));

-- delete_units --
DELETE FROM units WHERE seq IN (SELECT value FROM json_each(?)) RETURNING seq;

-- insert_removal --
INSERT INTO removals (unit) VALUES (?);

-- drop_old_removals --
-- All but the newest so many.
DELETE FROM removals WHERE seq <= (SELECT max(seq) FROM removals) - ?;

-- kept_removals --
-- The place before the first removal that is still listed, and that of the last one that ever was.
SELECT coalesce((SELECT min(seq) - 1 FROM removals), last), last
FROM (SELECT coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'removals'), 0) AS last);

-- removals_after --
SELECT DISTINCT unit FROM removals WHERE seq > ?;

-- known_entities --
-- Identities as resolution sees them: each name with the identity at the end of all merges.
SELECT r.seq, r.id, r.name, r.type, n.name
FROM entity_names n JOIN identities i ON i.entity = n.entity JOIN entities r ON r.seq = i.root
ORDER BY r.seq, n.name;

-- names_version --
-- What is the same as long as nobody got or lost a name; a bank that another one replaced has another epoch.
SELECT coalesce((SELECT value FROM bank WHERE key = 'epoch'), '0') || '.' || (SELECT value FROM names_version);

-- all_names --
SELECT DISTINCT name FROM entity_names;

-- last_seen --
SELECT seq, last_at FROM entities WHERE last_at IS NOT NULL AND seq IN (SELECT value FROM json_each(?));

-- seen_together --
-- Identities mentioned in the same units as one.
SELECT DISTINCT o.root FROM mentions m JOIN identities i ON i.entity = m.entity
JOIN mentions n ON n.unit = m.unit JOIN identities o ON o.entity = n.entity
WHERE i.root = :entity AND o.root <> :entity LIMIT 500;

-- entity_id --
SELECT id FROM entities WHERE seq = ?;

-- mentions_of_entity --
SELECT unit, name, type FROM mentions WHERE entity = ?;

-- insert_entity --
INSERT INTO entities (seq, id, name, type) VALUES (?, ?, ?, ?);

-- seen_entity --
UPDATE entities SET last_at = max(coalesce(last_at, ''), (SELECT mentioned_at FROM units WHERE seq = ?)) WHERE seq = ?;

-- insert_mention --
INSERT OR IGNORE INTO mentions (unit, entity, name, type, recorded_at) VALUES (?, ?, ?, ?, ?);

-- insert_moment --
INSERT OR REPLACE INTO moments (unit, kind, at) VALUES (?, ?, ?);

-- timeline --
-- Some units on the timeline of their kind, with so many on each side of each, in the order of time. What lies beyond the
-- next of them is nearer to that one.
WITH placed AS MATERIALIZED (
    SELECT unit, kind, at, lag(at, 1, '') OVER line AS at_before, lag(unit, 1, 0) OVER line AS before,
           lead(at, 1, '~') OVER line AS at_after, lead(unit, 1, 0) OVER line AS after
    FROM moments WHERE unit IN (SELECT value FROM json_each(:units))
    WINDOW line AS (PARTITION BY kind ORDER BY at, unit)
)
SELECT unit, kind, at FROM placed
UNION
SELECT b.unit, b.kind, b.at FROM placed p CROSS JOIN moments b ON b.unit IN (
    SELECT m.unit FROM moments m WHERE m.kind = p.kind AND (m.at, m.unit) < (p.at, p.unit)
      AND (m.at, m.unit) > (p.at_before, p.before)
    ORDER BY m.at DESC, m.unit DESC LIMIT :count)
UNION
SELECT a.unit, a.kind, a.at FROM placed p CROSS JOIN moments a ON a.unit IN (
    SELECT m.unit FROM moments m WHERE m.kind = p.kind AND (m.at, m.unit) > (p.at, p.unit)
      AND (m.at, m.unit) < (p.at_after, p.after)
    ORDER BY m.at, m.unit LIMIT :count)
ORDER BY kind, at, unit;

-- drop_links --
DELETE FROM links WHERE source IN (SELECT value FROM json_each(?)) AND type = ?;

-- present_units --
SELECT seq FROM units WHERE seq IN (SELECT value FROM json_each(?));

-- insert_link --
INSERT INTO links (source, type, target, weight) VALUES (?, ?, ?, ?);

-- insert_replaces --
-- The next version of an event; the one before it stays as it is.
INSERT OR REPLACE INTO links (source, type, target, weight)
SELECT :unit, 'replaces', seq, 1.0 FROM units WHERE id = :event AND seq <> :unit;

-- links_of_type --
SELECT source, target, weight FROM links WHERE source IN (SELECT value FROM json_each(?)) AND type = ?
ORDER BY source, weight DESC, target;

-- links_of --
SELECT source, target, type, weight FROM links
WHERE source = :unit AND type IN (SELECT value FROM json_each(:types)) ORDER BY weight DESC, target LIMIT :limit;

-- entity_neighbours --
-- Units that share an identity with a unit, the nearest in time first.
SELECT DISTINCT n.unit, abs(julianday(v.mentioned_at) - julianday(u.mentioned_at)) AS apart
FROM units u JOIN mentions m ON m.unit = u.seq JOIN identities i ON i.entity = m.entity
JOIN identities o ON o.root = i.root JOIN mentions n ON n.entity = o.entity JOIN units v ON v.seq = n.unit
WHERE u.seq = :unit AND n.unit <> :unit ORDER BY apart, n.unit LIMIT :limit;

-- links_of_units --
-- The stored links that leave some units, for a walk.
SELECT l.source, l.target, l.type, l.weight FROM json_each(:units) a JOIN links l ON l.source = a.value
WHERE l.type IN (SELECT value FROM json_each(:types)) AND l.weight >= :floor;

-- mentioned_by --
SELECT DISTINCT m.unit, m.entity FROM json_each(?) a JOIN mentions m ON m.unit = a.value;

-- mentioning --
-- The units that mention an entity; the limit keeps a frequent one from being read whole.
SELECT DISTINCT unit FROM mentions WHERE entity = ? ORDER BY unit LIMIT ?;

-- merged_entities --
SELECT seq, merged_into FROM entities WHERE merged_into IS NOT NULL;

-- provenance --
-- Derived units with the raw units of their turns, from either end; from a turn's end without the nodes above it.
SELECT p.unit, t.seq FROM json_each(:units) a JOIN unit_turns p ON p.unit = a.value
JOIN units t ON t.turn = p.turn AND t.kind = 'turn' WHERE t.seq <> p.unit
UNION
SELECT p.unit, t.seq FROM json_each(:units) a JOIN units t ON t.seq = a.value AND t.kind = 'turn'
JOIN unit_turns p ON p.turn = t.turn WHERE p.unit <> t.seq AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.unit = p.unit);

-- insert_extraction --
INSERT OR REPLACE INTO extractions (turn, extractor, version, done_at) VALUES (?, ?, ?, ?);

-- release_leases --
DELETE FROM claims WHERE turn IN (SELECT value FROM json_each(?));

-- drop_extraction --
DELETE FROM extractions WHERE turn IN (SELECT value FROM json_each(?));

-- insert_failure --
INSERT INTO extraction_failures (turn, at, reason) VALUES (?, ?, ?);

-- drop_failures --
DELETE FROM extraction_failures WHERE turn IN (SELECT value FROM json_each(?));

-- insert_usage --
INSERT INTO model_usage (at, purpose, model, calls, input_tokens, output_tokens, cost) VALUES (?, ?, ?, ?, ?, ?, ?);

-- model_usage --
-- What models took in this bank so far; of money, what is known.
SELECT coalesce(sum(calls), 0), coalesce(sum(input_tokens), 0), coalesce(sum(output_tokens), 0), sum(cost)
FROM model_usage;

-- event_columns --
-- How an event is read, but for when another one took its place, which comes behind.
u.id, e.subject, e.verb, e.object, u.occurred_start, u.occurred_end, u.grain, e.status, e.aliases, d.confidence,
(SELECT json_group_array(id) FROM (SELECT t.id FROM unit_turns p JOIN turns t ON t.seq = p.turn
                                   WHERE p.unit = u.seq ORDER BY t.said_at, t.seq)),
u.text, e.expression, e.inferred, e.polarity, e.quantity, s.said_at, s.zone, d.extractor || '/' || d.version, u.seq,
u.network,
(SELECT o.id FROM links l JOIN units o ON o.seq = l.target WHERE l.source = u.seq AND l.type = 'replaces');

-- events --
-- The event calendar; a parameter that is null asks for nothing. With :then, only the versions that counted then.
SELECT {event},
       (SELECT min(c.said_at) FROM links l JOIN units n ON n.seq = l.source JOIN turns c ON c.seq = n.turn
        WHERE l.target = u.seq AND l.type = 'replaces')
FROM events e JOIN units u ON u.seq = e.unit JOIN derived d ON d.unit = e.unit JOIN turns s ON s.seq = u.turn
WHERE (:start IS NULL OR u.occurred_end IS NULL OR u.occurred_end > :start)
  AND (:end IS NULL OR u.occurred_start IS NULL OR u.occurred_start < :end)
  AND (:verb IS NULL OR e.verb = :verb OR e.verb LIKE :verb || ' %')
  AND (:status IS NULL OR e.status = :status)
  AND (:subject IS NULL OR e.subject = :subject COLLATE NOCASE
       OR e.subject LIKE :subject || ' and %' OR e.subject LIKE '% and ' || :subject
       OR (:named IS NULL AND e.unit IN (
               SELECT m.unit FROM mentions m JOIN identities i ON i.entity = m.entity JOIN entities r ON r.seq = i.root
               WHERE r.name = :subject COLLATE NOCASE AND e.subject = m.name COLLATE NOCASE))
       OR (:named IS NOT NULL AND e.unit IN (
               SELECT value ->> 0 FROM json_each(:named) WHERE value ->> 1 = e.subject COLLATE NOCASE)))
  AND (NOT :then OR (s.said_at <= :as_of AND u.recorded_at <= :known_at AND NOT EXISTS (
           SELECT 1 FROM links l JOIN units n ON n.seq = l.source JOIN turns c ON c.seq = n.turn
           WHERE l.target = u.seq AND l.type = 'replaces' AND c.said_at <= :as_of AND n.recorded_at <= :known_at)))
  AND (:units IS NULL OR u.seq IN (SELECT value FROM json_each(:units)))
ORDER BY coalesce(u.occurred_start, u.occurred_end), u.occurred_end, u.mentioned_at, u.seq;

-- events_told --
-- Some events by their units, and those that came from some turns (both JSON lists): looked up, never scanned.
SELECT {event},
       (SELECT min(c.said_at) FROM links l JOIN units n ON n.seq = l.source JOIN turns c ON c.seq = n.turn
        WHERE l.target = u.seq AND l.type = 'replaces' AND c.said_at <= :as_of AND n.recorded_at <= :known_at)
FROM units u CROSS JOIN events e ON e.unit = u.seq JOIN derived d ON d.unit = u.seq JOIN turns s ON s.seq = u.turn
WHERE u.seq IN (SELECT value FROM json_each(:units)
                UNION SELECT p.unit FROM json_each(:turns) w CROSS JOIN turns t ON t.id = w.value
                      CROSS JOIN unit_turns p ON p.turn = t.seq)
  AND s.said_at <= :as_of AND u.recorded_at <= :known_at
ORDER BY u.mentioned_at, u.seq;

-- entities --
-- Identities with the names they go by and when they were first and last spoken of.
-- The type is what most mentions say it is: a parser is unsure of a name that it sees once.
WITH known AS MATERIALIZED (SELECT entity, root FROM identities),  -- a view that follows merges: once, not for each
typed AS MATERIALIZED (
    SELECT root, type FROM (
        SELECT k.root, v.type, row_number() OVER (PARTITION BY k.root ORDER BY count(*) DESC, v.type) AS place
        FROM mentions v JOIN known k ON k.entity = v.entity WHERE v.type <> 'OTHER' GROUP BY k.root, v.type)
    WHERE place = 1
)
SELECT r.id, r.name, coalesce(t.type, r.type), json_group_array(DISTINCT m.name), min(u.mentioned_at),
       max(u.mentioned_at), count(DISTINCT u.turn)
FROM known i JOIN entities r ON r.seq = i.root LEFT JOIN typed t ON t.root = r.seq
JOIN mentions m ON m.entity = i.entity JOIN units u ON u.seq = m.unit AND u.kind = 'turn'
GROUP BY r.seq ORDER BY count(DISTINCT u.turn) DESC, r.name, r.seq;

-- units_of_entity --
SELECT DISTINCT u.seq FROM mentions m JOIN identities i ON i.entity = m.entity JOIN entities r ON r.seq = i.root
JOIN units u ON u.seq = m.unit WHERE r.id = ? ORDER BY u.mentioned_at DESC, u.seq DESC LIMIT ?;

-- seen_with --
SELECT o.name, count(DISTINCT n.unit) FROM entities r JOIN identities i ON i.root = r.seq
JOIN mentions m ON m.entity = i.entity JOIN mentions n ON n.unit = m.unit
JOIN identities j ON j.entity = n.entity JOIN entities o ON o.seq = j.root
WHERE r.id = :entity AND o.seq <> r.seq GROUP BY o.seq ORDER BY count(DISTINCT n.unit) DESC, o.name LIMIT 100;

-- entity_by_id --
SELECT seq, name, type FROM entities WHERE id = ?;

-- set_merged --
UPDATE entities SET merged_into = ? WHERE seq = ?;

-- rename_entity --
UPDATE entities SET name = ? WHERE seq = ?;

-- mentions_under_names --
SELECT m.unit, m.entity, m.name, m.type FROM mentions m JOIN identities i ON i.entity = m.entity
WHERE i.root = ? AND lower(m.name) IN (SELECT lower(value) FROM json_each(?));

-- delete_mention --
DELETE FROM mentions WHERE unit = ? AND entity = ? AND name = ?;

-- insert_entity_name --
INSERT INTO entity_names (entity, name, decided) VALUES (?, ?, ?)
ON CONFLICT (entity, name) DO UPDATE SET decided = max(decided, excluded.decided);

-- drop_entity_name --
DELETE FROM entity_names WHERE entity = ? AND lower(name) = lower(?);

-- drop_names_of --
DELETE FROM entity_names WHERE entity = ?;

-- drop_seen_names --
-- Names that only extraction gave, before everything is extracted again.
DELETE FROM entity_names WHERE decided = 0 AND entity NOT IN (SELECT merged_into FROM entities WHERE merged_into IS NOT NULL)
  AND entity NOT IN (SELECT seq FROM entities WHERE merged_into IS NOT NULL);

-- insert_entity_log --
INSERT INTO entity_log (at, action, detail) VALUES (?, ?, ?);

-- last_entity_log --
SELECT seq, action, detail FROM entity_log WHERE undone = 0 ORDER BY seq DESC LIMIT 1;

-- set_undone --
UPDATE entity_log SET undone = 1 WHERE seq = ?;

-- delete_entity --
DELETE FROM entities WHERE seq = ?;

-- drop_mentions --
-- Who units mention, before their turns are extracted again.
DELETE FROM mentions WHERE unit IN (SELECT value FROM json_each(?));

-- drop_all_links --
-- All links from and to some units.
DELETE FROM links WHERE source IN (SELECT value FROM json_each(:units)) OR target IN (SELECT value FROM json_each(:units));

-- drop_moments --
DELETE FROM moments WHERE unit IN (SELECT value FROM json_each(?));

-- drop_unknown_entities --
-- Identities that nothing mentions and nobody decided about.
DELETE FROM entities WHERE seq NOT IN (SELECT entity FROM mentions) AND merged_into IS NULL
  AND seq NOT IN (SELECT merged_into FROM entities WHERE merged_into IS NOT NULL)
  AND seq NOT IN (SELECT entity FROM entity_names WHERE decided = 1);

-- derived_texts --
SELECT u.seq, u.id, u.text FROM units u JOIN derived d ON d.unit = u.seq WHERE u.seq > ? ORDER BY u.seq LIMIT ?;

-- graph_counts --
SELECT (SELECT count(*) FROM events), (SELECT count(*) FROM units WHERE kind = 'narrative'),
       (SELECT count(DISTINCT i.root) FROM identities i JOIN mentions m ON m.entity = i.entity),
       (SELECT count(*) FROM links);

-- events_without_derivation --
SELECT count(*) FROM units u WHERE u.kind IN ('event', 'narrative')
  AND NOT EXISTS (SELECT 1 FROM derived d WHERE d.unit = u.seq);

-- events_without_part --
SELECT count(*) FROM units u WHERE u.kind = 'event' AND NOT EXISTS (SELECT 1 FROM events e WHERE e.unit = u.seq);

-- derived_of_pending_turns --
SELECT count(DISTINCT p.unit) FROM unit_turns p JOIN derived d ON d.unit = p.unit
WHERE NOT EXISTS (SELECT 1 FROM extractions e WHERE e.turn = p.turn);

-- failures --
SELECT reason, count(DISTINCT turn) FROM extraction_failures GROUP BY reason ORDER BY count(DISTINCT turn) DESC LIMIT 10;
