-- Every statement of the SQLite store, named, with its purpose.

-- bank_values --
-- All that the bank says of itself.
SELECT key, value FROM bank;

-- put_bank_value --
INSERT INTO bank (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value;

-- count_recalls --
-- Several processes add up.
INSERT INTO bank (key, value) VALUES ('recalls', :recalls)
ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(value AS INTEGER) + :recalls AS TEXT);

-- count_accesses --
-- The same for memories: a JSON list of [id, count, last time]; nothing for one that is gone. One statement for all:
-- while SQLite runs it, Python's other threads run too.
INSERT INTO accesses (unit, count, last_at)
SELECT u.seq, json_extract(given.value, '$[1]'), json_extract(given.value, '$[2]')
FROM json_each(:counts) given CROSS JOIN units u ON u.id = json_extract(given.value, '$[0]') WHERE true
ON CONFLICT (unit) DO UPDATE SET count = count + excluded.count, last_at = max(last_at, excluded.last_at);

-- accesses --
-- What is recalled most.
SELECT unit, count, last_at FROM accesses ORDER BY count DESC, last_at DESC, unit LIMIT ?;

-- known_turns --
-- Those of a JSON list of ids that are stored already, with their words.
SELECT id, text FROM turns WHERE id IN (SELECT value FROM json_each(?));

-- insert_turn --
INSERT INTO turns (seq, id, session, segment, role, speaker, text, said_at, zone, recorded_at, tokens, metadata)
VALUES (:seq, :id, :session, :segment, :role, :speaker, :text, :said_at, :zone, :recorded_at, :tokens, :metadata);

-- insert_unit --
INSERT INTO units (seq, id, kind, network, level, turn, context, context_turn, mentioned_at, recorded_at, pieces, terms)
VALUES (:seq, :id, 'turn', :network, 0, :turn, :context, (SELECT seq FROM turns WHERE id = :before), :said_at, :recorded_at,
        :pieces, :terms);

-- insert_unit_turn --
INSERT INTO unit_turns (unit, turn) VALUES (?, ?);

-- insert_vector --
INSERT INTO vectors (unit, piece, vector) VALUES (?, ?, ?);

-- drop_all_vectors --
DELETE FROM vectors;

-- drop_all_codes --
DELETE FROM token_codes;

-- last_number --
-- The last number that was given in a table, whatever has become of its row.
SELECT seq FROM sqlite_sequence WHERE name = ?;

-- put_codes --
INSERT INTO token_codes (unit, codes) VALUES (?, ?) ON CONFLICT (unit) DO UPDATE SET codes = excluded.codes;

-- put_codes_of_turn --
-- The same by the turn's id; nothing where the turn is gone.
INSERT INTO token_codes (unit, codes) SELECT seq, :codes FROM units WHERE id = :id AND kind = 'turn'
ON CONFLICT (unit) DO UPDATE SET codes = excluded.codes;

-- token_codes --
-- The list leads: one look-up by the key for each of its numbers.
SELECT c.unit, c.codes FROM json_each(?) wanted CROSS JOIN token_codes c ON c.unit = wanted.value;

-- turns_without_codes --
-- Turns without codes of a format, in the order of arrival.
SELECT u.id FROM units u LEFT JOIN token_codes c ON c.unit = u.seq
WHERE u.kind = 'turn' AND (c.unit IS NULL OR substr(c.codes, 1, length(:format)) <> :format)
ORDER BY u.seq;

-- turns --
-- A page of the turn calendar, after a place in it, of all sessions or of one; a bound that is null asks for nothing.
SELECT seq, id, session, segment, role, speaker, text, said_at, zone, recorded_at, tokens, metadata
FROM turns
WHERE {session}
  AND (:start IS NULL OR said_at >= :start)
  AND (:end IS NULL OR said_at < :end)
  AND (said_at, seq) > (:after_at, :after_seq)
  AND NOT EXISTS (SELECT 1 FROM expired x WHERE x.turn = turns.seq)
ORDER BY said_at, seq LIMIT :page;

-- turns_by_id --
SELECT seq, id, session, segment, role, speaker, text, said_at, zone, recorded_at, tokens, metadata
FROM turns WHERE id IN (SELECT value FROM json_each(?))
ORDER BY said_at, seq;

-- last_turn --
-- The turn before: the last one said in a session, up to and including an instant.
SELECT seq, id, session, segment, role, speaker, text, said_at, zone, recorded_at, tokens, metadata
FROM turns WHERE session = ? AND said_at <= ? AND NOT EXISTS (SELECT 1 FROM expired x WHERE x.turn = turns.seq)
ORDER BY said_at DESC, seq DESC LIMIT 1;

-- segment_speakers --
SELECT speaker FROM turns WHERE segment = ? ORDER BY seq LIMIT ?;

-- sessions --
SELECT session, count(*), min(said_at), max(said_at), json_group_array(DISTINCT speaker),
       (SELECT t.zone FROM turns t WHERE t.session = turns.session ORDER BY t.said_at, t.seq LIMIT 1)
FROM turns WHERE NOT EXISTS (SELECT 1 FROM expired x WHERE x.turn = turns.seq)
  AND said_at <= :as_of AND recorded_at <= :known_at
GROUP BY session ORDER BY min(said_at), min(seq);

-- units --
-- Units with what recall shows of them.
SELECT u.seq, u.id, u.kind, u.network, coalesce(u.text, t.text), coalesce(t.said_at, u.mentioned_at),
       CASE WHEN n.unit IS NULL THEN coalesce(t.zone, 'UTC') ELSE (SELECT value FROM bank WHERE key = 'zone') END,
       coalesce(t.session, n.session, ''), coalesce(t.speaker, ''), coalesce(d.tokens, n.tokens, t.tokens, 0),
       CASE WHEN u.kind <> 'turn' THEN (SELECT json_group_array(id) FROM (
                SELECT s.id FROM unit_turns p JOIN turns s ON s.seq = p.turn WHERE p.unit = u.seq ORDER BY s.said_at, s.seq))
       END,
       coalesce(t.metadata, '{}'), u.occurred_start, u.occurred_end, u.grain, d.confidence, u.level
FROM units u LEFT JOIN turns t ON t.seq = u.turn LEFT JOIN derived d ON d.unit = u.seq
LEFT JOIN nodes n ON n.unit = u.seq
WHERE u.seq IN (SELECT value FROM json_each(?));

-- units_with_metadata --
-- Units whose turn has every one of the wanted keys (a JSON list), and the wanted value where that is plain
-- text (a JSON object). A first sieve: the caller compares. What SQLite cannot read (it is nested 1,000 deep, or
-- damaged) matches nothing, and does not keep the others from being found.
SELECT given.seq, given.metadata FROM (
    SELECT u.seq, CASE WHEN json_valid(t.metadata) THEN t.metadata ELSE '{}' END AS metadata
    FROM units u JOIN turns t ON t.seq = u.turn WHERE t.metadata <> '{}'
) given
WHERE NOT EXISTS (
    SELECT 1 FROM json_each(:keys) k
    WHERE NOT EXISTS (SELECT 1 FROM json_each(given.metadata) m WHERE m.key = k.value)
  )
  AND NOT EXISTS (
    SELECT 1 FROM json_each(:wanted) w
    WHERE NOT EXISTS (SELECT 1 FROM json_each(given.metadata) m WHERE m.key = w.key AND m.value IS w.value)
  )
UNION ALL
-- A fact has no metadata of its own: what it says of itself stands for them.
SELECT u.seq, json_object('domain', f.domain, 'subject', k.subject, 'predicate', k.predicate,
       'valid_from', f.valid_from, 'valid_to', f.valid_to)
FROM units u JOIN facts f ON f.id = u.id AND f.superseded_at IS NULL
JOIN fact_slots s ON s.seq = f.slot JOIN fact_keys k ON k.seq = s.key
WHERE u.kind = 'fact';

-- index_rows --
-- What the derived index holds of the units after a seq, in the order of commit. Nodes have an index of their own.
SELECT u.seq, u.mentioned_at, u.recorded_at, u.kind, u.network, u.pieces, u.terms, t.session, t.speaker, t.role,
    coalesce(rtrim(t.text) LIKE '%?', 0)
FROM units u LEFT JOIN turns t ON t.seq = u.turn
WHERE u.seq > ? AND u.kind <> 'node' ORDER BY u.seq LIMIT ?;

-- index_vectors --
SELECT vector FROM vectors v
WHERE unit > ? AND unit <= ? AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.unit = v.unit) ORDER BY unit, piece;

-- index_rows_of --
-- The same of some units: what was changed is read again.
SELECT u.seq, u.mentioned_at, u.recorded_at, u.kind, u.network, u.pieces, u.terms, t.session, t.speaker, t.role,
    coalesce(rtrim(t.text) LIKE '%?', 0)
FROM units u LEFT JOIN turns t ON t.seq = u.turn
WHERE u.seq IN (SELECT value FROM json_each(:units)) AND (u.kind = 'node') = :nodes ORDER BY u.seq;

-- index_vectors_of --
SELECT vector FROM vectors WHERE unit IN (SELECT value FROM json_each(?)) ORDER BY unit, piece;

-- index_node_rows --
SELECT u.seq, u.mentioned_at, u.recorded_at, u.kind, u.network, u.pieces, u.terms, NULL, NULL, NULL, 0
FROM nodes n CROSS JOIN units u ON u.seq = n.unit WHERE n.unit > ? ORDER BY n.unit LIMIT ?;

-- index_node_vectors --
SELECT v.vector FROM nodes n CROSS JOIN vectors v ON v.unit = n.unit
WHERE n.unit > ? AND n.unit <= ? ORDER BY n.unit, v.piece;

-- last_unit --
SELECT coalesce(max(seq), 0) FROM units;

-- count_units --
SELECT count(*), coalesce(sum(pieces), 0) FROM units WHERE seq <= :seen AND (kind = 'node') = :nodes;

-- units_for_reembedding --
SELECT seq, id FROM units ORDER BY seq;

-- turn_contexts --
-- What of the turn before is searched with each turn of a JSON list of ids.
SELECT t.id, u.context FROM units u JOIN turns t ON t.seq = u.turn
WHERE u.kind = 'turn' AND t.id IN (SELECT value FROM json_each(?));

-- set_pieces --
UPDATE units SET pieces = ? WHERE seq = ?;

-- stats --
SELECT (SELECT count(*) FROM turns) - (SELECT count(*) FROM expired), (SELECT count(DISTINCT session) FROM turns),
       (SELECT count(DISTINCT segment) FROM turns), (SELECT count(*) FROM vectors),
       (SELECT min(said_at) FROM turns), (SELECT max(said_at) FROM turns);

-- turns_without_unit --
SELECT count(*) FROM turns t WHERE NOT EXISTS (SELECT 1 FROM units u WHERE u.turn = t.seq AND u.kind = 'turn')
  AND t.seq NOT IN (SELECT turn FROM expired);

-- units_without_turn --
-- A fact may come from a document, or from nothing but somebody's word: it leads to its versions.
SELECT u.seq FROM units u
WHERE (u.turn IS NOT NULL AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.seq = u.turn))
   OR (u.kind NOT IN ('fact', 'turn') AND NOT EXISTS (SELECT 1 FROM unit_turns p WHERE p.unit = u.seq))
   OR (u.kind = 'fact' AND NOT EXISTS (SELECT 1 FROM facts f WHERE f.id = u.id));

-- units_with_wrong_pieces --
SELECT count(*) FROM units u
WHERE u.pieces < 1 OR u.pieces <> (SELECT count(*) FROM vectors v WHERE v.unit = u.seq);

-- turns_with_wrong_times --
-- Every instant has one fixed form; whatever has not would be ordered wrongly.
SELECT count(*) FROM turns
WHERE said_at NOT GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9].[0-9][0-9][0-9][0-9][0-9][0-9]Z'
   OR recorded_at NOT GLOB '[0-9][0-9][0-9][0-9]-[01][0-9]-[0-3][0-9]T[0-2][0-9]:[0-5][0-9]:[0-5][0-9].[0-9][0-9][0-9][0-9][0-9][0-9]Z';

-- turns_with_wrong_metadata --
SELECT count(*) FROM turns WHERE NOT json_valid(metadata);

-- units_unlike_their_turn --
-- The hard filters read the unit: it must say what the turn says.
SELECT u.seq FROM units u JOIN turns t ON t.seq = u.turn
WHERE u.kind = 'turn' AND (u.id <> t.id OR u.mentioned_at <> t.said_at OR u.recorded_at <> t.recorded_at);

-- zones --
SELECT DISTINCT zone FROM turns;

-- vectors_of_wrong_size --
SELECT count(*) FROM vectors WHERE length(vector) <> ?;

-- unit_terms --
-- A page of units with their text and stored terms.
SELECT u.seq, coalesce(t.speaker, ''), coalesce(u.text, t.text), u.context, u.terms
FROM units u LEFT JOIN turns t ON t.seq = u.turn
WHERE u.seq > :after ORDER BY u.seq LIMIT :page;

-- set_terms --
UPDATE units SET terms = ? WHERE seq = ?;
