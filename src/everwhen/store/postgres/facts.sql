-- The statements of facts in PostgreSQL's words. :slot and :key are numbers of rows.

-- fact_columns --
-- How a version is read at present; its zone is that of the first turn that told it.
f.seq, f.id, f.version, f.slot, k.seq, k.subject, k.predicate, f.object, f.object_key, f.domain, f.grain,
f.valid_from, f.claimed_to, f.valid_to, f.stated_at, f.recorded_at, f.superseded_at, f.confidence, f.origin,
f.standing, f.act, f.outcome, f.reason, f.support, f.confirmed_at, f.tokens,
(SELECT t.zone FROM fact_sources s JOIN turns t ON t.bank_id = :bank AND t.id = s.source
 WHERE s.bank_id = :bank AND s.fact = f.id ORDER BY s.at, s.source LIMIT 1);

-- fact_columns_then --
-- The same with support and confirmation as the log had them at :known_at.
f.seq, f.id, f.version, f.slot, k.seq, k.subject, k.predicate, f.object, f.object_key, f.domain, f.grain,
f.valid_from, f.claimed_to, f.valid_to, f.stated_at, f.recorded_at, f.superseded_at, f.confidence, f.origin,
f.standing, f.act, f.outcome, f.reason,
1 + (SELECT coalesce(sum(c.support), 0) FROM fact_confirmations c
     WHERE c.bank_id = :bank AND c.fact = f.id AND c.at <= :known_at),
(SELECT max(c.confirmed_at) FROM fact_confirmations c WHERE c.bank_id = :bank AND c.fact = f.id AND c.at <= :known_at),
f.tokens,
(SELECT t.zone FROM fact_sources s JOIN turns t ON t.bank_id = :bank AND t.id = s.source
 WHERE s.bank_id = :bank AND s.fact = f.id ORDER BY s.at, s.source LIMIT 1);

-- fact_key --
SELECT seq, subject, predicate, last_at FROM fact_keys WHERE bank_id = :bank AND subject_key = ? AND predicate_key = ?;

-- insert_fact_key --
WITH n AS (UPDATE counters SET last = last + 1 WHERE bank_id = :bank AND name = 'fact_keys' RETURNING last)
INSERT INTO fact_keys (bank_id, seq, subject_key, predicate_key, subject, predicate, last_at)
SELECT :bank, n.last, ?, ?, ?, ?, '-infinity' FROM n RETURNING seq;

-- touch_fact_key --
UPDATE fact_keys SET last_at = greatest(last_at, ?) WHERE bank_id = :bank AND seq = ? RETURNING last_at;

-- keys_of_predicates --
-- The (subject, predicate) pairs under any of some predicate keys.
SELECT seq, subject, predicate, last_at, predicate_key FROM fact_keys
WHERE bank_id = :bank AND predicate_key = ANY (?::text[]) ORDER BY seq;

-- fact_slot --
SELECT seq FROM fact_slots WHERE bank_id = :bank AND key = ? AND name = ?;

-- insert_fact_slot --
WITH n AS (UPDATE counters SET last = last + 1 WHERE bank_id = :bank AND name = 'fact_slots' RETURNING last)
INSERT INTO fact_slots (bank_id, seq, key, name) SELECT :bank, n.last, ?, ? FROM n RETURNING seq;

-- all_fact_keys --
SELECT seq FROM fact_keys WHERE bank_id = :bank ORDER BY subject_key, predicate_key;

-- all_fact_ids --
SELECT id FROM facts WHERE bank_id = :bank GROUP BY id ORDER BY min(seq);

-- slots_of_key --
SELECT seq FROM fact_slots WHERE bank_id = :bank AND key = ? ORDER BY seq;

-- started --
-- Believed versions of a slot by when they start: which, and in which order, is filled in.
SELECT {columns} FROM facts f
JOIN fact_slots s ON s.bank_id = :bank AND s.seq = f.slot JOIN fact_keys k ON k.bank_id = :bank AND k.seq = s.key
WHERE f.bank_id = :bank AND f.slot = :slot AND f.superseded_at IS NULL AND f.standing = 'believed'
  AND {which};

-- unsettled_of_key --
-- What of a key is not superseded, believed or not, in the order in which it was recorded.
SELECT {columns} FROM facts f
JOIN fact_slots s ON s.bank_id = :bank AND s.seq = f.slot JOIN fact_keys k ON k.bank_id = :bank AND k.seq = s.key
WHERE f.bank_id = :bank AND s.key = :key AND f.superseded_at IS NULL
  AND (f.standing <> 'overruled' OR f.act = 'propose')
ORDER BY f.recorded_at, f.seq;

-- disputed_in_slot --
SELECT {columns} FROM facts f
JOIN fact_slots s ON s.bank_id = :bank AND s.seq = f.slot JOIN fact_keys k ON k.bank_id = :bank AND k.seq = s.key
WHERE f.bank_id = :bank AND f.slot = :slot AND f.superseded_at IS NULL AND f.standing = 'disputed'
ORDER BY f.seq;

-- proposed_in_slot --
SELECT {columns} FROM facts f JOIN fact_slots s ON s.bank_id = :bank AND s.seq = f.slot
JOIN fact_keys k ON k.bank_id = :bank AND k.seq = s.key
WHERE f.bank_id = :bank AND f.slot = :slot AND f.superseded_at IS NULL AND f.act = 'propose' ORDER BY f.seq;

-- proposals --
-- All that waits for a person's yes or no.
SELECT {columns} FROM facts f JOIN fact_slots s ON s.bank_id = :bank AND s.seq = f.slot
JOIN fact_keys k ON k.bank_id = :bank AND k.seq = s.key
WHERE f.bank_id = :bank AND f.superseded_at IS NULL AND f.act = 'propose' ORDER BY f.recorded_at, f.seq;

-- newest_version --
SELECT {columns} FROM facts f
JOIN fact_slots s ON s.bank_id = :bank AND s.seq = f.slot JOIN fact_keys k ON k.bank_id = :bank AND k.seq = s.key
WHERE f.bank_id = :bank AND f.id = :id ORDER BY f.version DESC LIMIT 1;

-- supersede_fact --
-- From this transaction time on the version is no longer believed; nothing is deleted.
UPDATE facts SET superseded_at = :at, outcome = :outcome, reason = :reason, held_to = :held_to
WHERE bank_id = :bank AND seq = :seq;

-- insert_fact --
WITH n AS (UPDATE counters SET last = last + 1 WHERE bank_id = :bank AND name = 'facts' RETURNING last)
INSERT INTO facts (bank_id, seq, id, version, slot, object, object_key, domain, grain, valid_from, claimed_to, valid_to,
                   stated_at, recorded_at, superseded_at, confidence, origin, standing, act, outcome, reason,
                   support, confirmed_at, tokens, held_from)
SELECT :bank, n.last, :id, :version, :slot, :object, :object_key, :domain, :grain, :valid_from::timestamptz,
       :claimed_to::timestamptz, :valid_to::timestamptz, :stated_at::timestamptz, :recorded_at::timestamptz,
       :superseded_at::timestamptz, :confidence, :origin, :standing, :act, :outcome, :reason,
       :support, :confirmed_at::timestamptz, :tokens, :held_from::timestamptz
FROM n RETURNING seq;

-- insert_confirmation --
WITH n AS (UPDATE counters SET last = last + 1 WHERE bank_id = :bank AND name = 'fact_confirmations' RETURNING last)
INSERT INTO fact_confirmations (bank_id, seq, fact, at, confirmed_at, support)
SELECT :bank, n.last, :fact, :at::timestamptz, :confirmed_at::timestamptz, :support FROM n;

-- sum_up_confirmations --
-- The same in the row that is believed now, so that reading the present needs no log.
UPDATE facts SET support = support + :support, confirmed_at = greatest(confirmed_at, :confirmed_at)
WHERE bank_id = :bank AND seq = :seq;

-- insert_fact_source --
INSERT INTO fact_sources (bank_id, fact, source, turn, at)
SELECT :bank, :fact, :source, EXISTS (SELECT 1 FROM turns WHERE bank_id = :bank AND id = :source), :at::timestamptz
ON CONFLICT DO NOTHING;

-- insert_fact_unit_turn --
INSERT INTO unit_turns (bank_id, unit, turn)
SELECT :bank, u.seq, t.seq FROM units u JOIN turns t ON t.bank_id = :bank AND t.id = :source
WHERE u.bank_id = :bank AND u.id = :fact ON CONFLICT DO NOTHING;

-- delete_fact_source --
DELETE FROM fact_sources WHERE bank_id = :bank AND fact = :fact AND source = :source;

-- delete_fact_unit_turn --
DELETE FROM unit_turns WHERE bank_id = :bank AND unit = (SELECT seq FROM units WHERE bank_id = :bank AND id = :fact)
  AND turn = (SELECT seq FROM turns WHERE bank_id = :bank AND id = :source);

-- adopt_sources --
INSERT INTO fact_sources (bank_id, fact, source, turn, at)
SELECT :bank, :fact, source, turn, at FROM fact_sources WHERE bank_id = :bank AND fact = :other ON CONFLICT DO NOTHING;

-- adopt_unit_turns --
INSERT INTO unit_turns (bank_id, unit, turn)
SELECT :bank, u.seq, p.turn FROM units u
JOIN units o ON o.bank_id = :bank AND o.id = :other
JOIN unit_turns p ON p.bank_id = :bank AND p.unit = o.seq
WHERE u.bank_id = :bank AND u.id = :fact ON CONFLICT DO NOTHING;

-- insert_fact_unit --
WITH n AS (UPDATE counters SET last = last + 1 WHERE bank_id = :bank AND name = 'units' RETURNING last)
INSERT INTO units (bank_id, seq, id, kind, network, level, text, context, mentioned_at, recorded_at, pieces)
SELECT :bank, n.last, :id, 'fact', 'world', 0, :text, '', :mentioned_at::timestamptz, :recorded_at::timestamptz, :pieces
FROM n RETURNING seq;

-- insert_conflict --
INSERT INTO fact_conflicts (bank_id, id, key, incumbent, challenger, why, opened_at) VALUES (:bank, ?, ?, ?, ?, ?, ?);

-- settle_conflict --
UPDATE fact_conflicts SET resolved_at = ?, kept = ? WHERE bank_id = :bank AND id = ?;

-- conflict --
SELECT id, incumbent, challenger, why, opened_at, resolved_at, kept FROM fact_conflicts WHERE bank_id = :bank AND id = ?;

-- open_conflicts --
SELECT id, incumbent, challenger, why, opened_at, resolved_at, kept FROM fact_conflicts
WHERE bank_id = :bank AND resolved_at IS NULL ORDER BY opened_at, id;

-- open_conflicts_of_key --
SELECT id, incumbent, challenger, why, opened_at, resolved_at, kept FROM fact_conflicts
WHERE bank_id = :bank AND key = ? AND resolved_at IS NULL ORDER BY opened_at, id;

-- facts_now --
-- What is believed at present and valid at an instant. In a slot only the version that started last before the
-- instant can be valid then, so a key with a million versions costs no more than one with two.
SELECT {columns} FROM fact_keys k JOIN fact_slots s ON s.bank_id = :bank AND s.key = k.seq
CROSS JOIN LATERAL (
    SELECT * FROM facts b
    WHERE b.bank_id = :bank AND b.slot = s.seq AND b.superseded_at IS NULL AND b.standing = 'believed'
      AND b.valid_from <= :instant
    ORDER BY b.valid_from DESC LIMIT 1
) f
WHERE k.bank_id = :bank AND {where} AND (f.valid_to IS NULL OR f.valid_to > :instant)
ORDER BY k.subject_key, k.predicate_key, f.valid_from, f.seq;

-- facts_known_at --
-- The same as it was known at a transaction time.
SELECT {columns} FROM fact_keys k JOIN fact_slots s ON s.bank_id = :bank AND s.key = k.seq
CROSS JOIN LATERAL (
    SELECT * FROM facts b
    WHERE b.bank_id = :bank AND b.slot = s.seq AND b.standing = 'believed' AND b.valid_from <= :instant
      AND b.recorded_at <= :known_at AND (b.superseded_at IS NULL OR b.superseded_at > :known_at)
    ORDER BY b.valid_from DESC LIMIT 1
) f
WHERE k.bank_id = :bank AND {where} AND (f.valid_to IS NULL OR f.valid_to > :instant)
ORDER BY k.subject_key, k.predicate_key, f.valid_from, f.seq;

-- fact_history --
-- Every version that is believed now, in valid-time order.
SELECT {columns} FROM fact_keys k JOIN fact_slots s ON s.bank_id = :bank AND s.key = k.seq
JOIN facts f ON f.bank_id = :bank AND f.slot = s.seq
WHERE k.bank_id = :bank AND {where} AND f.superseded_at IS NULL AND f.standing = 'believed'
ORDER BY f.valid_from, f.seq;

-- fact_versions --
-- Every version ever recorded, in the order of recording.
SELECT {columns} FROM fact_keys k JOIN fact_slots s ON s.bank_id = :bank AND s.key = k.seq
JOIN facts f ON f.bank_id = :bank AND f.slot = s.seq
WHERE k.bank_id = :bank AND {where}
ORDER BY f.recorded_at, f.seq;

-- open_fading_facts --
-- Where age counts from and what it counts for, of believed facts in force: the few columns that a scan needs.
SELECT f.seq, f.valid_from, f.confirmed_at, f.confidence, f.domain, k.predicate FROM facts f
JOIN fact_slots s ON s.bank_id = :bank AND s.seq = f.slot JOIN fact_keys k ON k.bank_id = :bank AND k.seq = s.key
WHERE f.bank_id = :bank AND f.seq > :after AND f.superseded_at IS NULL AND f.standing = 'believed'
  AND (f.valid_to IS NULL OR f.valid_to > :instant) AND f.valid_from <= :instant
ORDER BY f.seq LIMIT :page;

-- facts_by_seq --
SELECT {columns} FROM facts f
JOIN fact_slots s ON s.bank_id = :bank AND s.seq = f.slot JOIN fact_keys k ON k.bank_id = :bank AND k.seq = s.key
WHERE f.bank_id = :bank AND f.seq = ANY (:seqs::bigint[]) ORDER BY f.seq;

-- believed_by_id --
-- The believed version of each of some facts.
SELECT {columns} FROM facts f
JOIN fact_slots s ON s.bank_id = :bank AND s.seq = f.slot JOIN fact_keys k ON k.bank_id = :bank AND k.seq = s.key
WHERE f.bank_id = :bank AND f.id = ANY (:ids::text[])
  AND f.standing = 'believed' AND f.recorded_at <= :known_at
  AND (f.superseded_at IS NULL OR f.superseded_at > :known_at)
ORDER BY f.seq;

-- sources_named --
SELECT fact, source FROM fact_sources WHERE bank_id = :bank AND source = ANY (:turns::text[]) ORDER BY at, source;

-- found_facts --
-- The facts that a recall shows: those that it found, and those of its turns.
(SELECT unnest(:facts::text[]) UNION SELECT fact FROM fact_sources WHERE bank_id = :bank AND source = ANY (:turns::text[]));

-- versions_shown --
-- All that a recall may show of some facts: their own versions, and what holds at an instant in their slots.
(SELECT f.seq FROM facts f WHERE f.bank_id = :bank AND f.id IN {found}
 UNION SELECT (
     SELECT b.seq FROM facts b
     WHERE b.bank_id = :bank AND b.slot = o.slot AND b.superseded_at IS NULL AND b.standing = 'believed'
       AND b.valid_from <= :instant
     ORDER BY b.valid_from DESC LIMIT 1
 ) FROM (SELECT DISTINCT slot FROM facts WHERE bank_id = :bank AND id IN {found}) o);

-- believed_found --
SELECT {columns} FROM facts f
JOIN fact_slots s ON s.bank_id = :bank AND s.seq = f.slot JOIN fact_keys k ON k.bank_id = :bank AND k.seq = s.key
WHERE f.bank_id = :bank AND f.id IN {found}
  AND f.standing = 'believed' AND f.recorded_at <= :known_at
  AND (f.superseded_at IS NULL OR f.superseded_at > :known_at)
ORDER BY f.seq;

-- ended_when --
-- For each version that may be shown what ended where it began: its predecessor, as a reader is told of it.
SELECT {columns}, g.seq FROM facts g JOIN facts f ON f.bank_id = :bank AND f.seq = (
    SELECT b.seq FROM facts b WHERE b.bank_id = :bank AND b.slot = g.slot AND b.standing = 'believed'
      AND b.valid_from < g.valid_from
      AND b.recorded_at <= :known_at AND (b.superseded_at IS NULL OR b.superseded_at > :known_at)
    ORDER BY b.valid_from DESC LIMIT 1
)
JOIN fact_slots s ON s.bank_id = :bank AND s.seq = f.slot JOIN fact_keys k ON k.bank_id = :bank AND k.seq = s.key
WHERE g.bank_id = :bank AND g.seq IN {shown};

-- holding_in_slots --
-- For each of some facts what holds at an instant in its slots.
SELECT {columns}, o.id FROM (
    SELECT DISTINCT id, slot FROM facts WHERE bank_id = :bank AND id IN {found}
) o
JOIN facts f ON f.bank_id = :bank AND f.seq = (
    SELECT b.seq FROM facts b
    WHERE b.bank_id = :bank AND b.slot = o.slot AND b.superseded_at IS NULL AND b.standing = 'believed'
      AND b.valid_from <= :instant
    ORDER BY b.valid_from DESC LIMIT 1
)
JOIN fact_slots s ON s.bank_id = :bank AND s.seq = f.slot JOIN fact_keys k ON k.bank_id = :bank AND k.seq = s.key
WHERE f.valid_to IS NULL OR f.valid_to > :instant
ORDER BY o.id, o.slot;

-- sources_shown --
-- Where the facts that may be shown came from, and whether that is a turn.
WITH told AS MATERIALIZED (SELECT DISTINCT g.id FROM facts g WHERE g.bank_id = :bank AND g.seq IN {shown})
SELECT o.fact, o.source, t.seq IS NOT NULL FROM told
CROSS JOIN LATERAL (SELECT * FROM fact_sources o WHERE o.bank_id = :bank AND o.fact = told.id AND o.at <= :known_at OFFSET 0) o
LEFT JOIN LATERAL (SELECT t.seq FROM turns t WHERE t.bank_id = :bank AND t.id = o.source LIMIT 1) t ON true
ORDER BY o.at, o.source;

-- facts_naming --
-- Believed facts with a term (its hash) in them.
SELECT {columns} FROM postings p JOIN units u ON u.bank_id = :bank AND u.seq = p.unit AND u.kind = 'fact'
JOIN facts f ON f.bank_id = :bank AND f.id = u.id AND f.superseded_at IS NULL AND f.standing = 'believed'
JOIN fact_slots s ON s.bank_id = :bank AND s.seq = f.slot JOIN fact_keys k ON k.bank_id = :bank AND k.seq = s.key
WHERE p.bank_id = :bank AND p.term = ('x' || encode(:term::bytea, 'hex'))::bit(64)::bigint
ORDER BY f.seq;

-- facts_of_corrected_sources --
-- Believed facts that share a source with one that the user corrected, and when that was.
SELECT {columns}, max(c.superseded_at) FROM facts c
JOIN fact_sources cs ON cs.bank_id = :bank AND cs.fact = c.id
JOIN fact_sources o ON o.bank_id = :bank AND o.source = cs.source AND o.fact <> c.id
JOIN facts f ON f.bank_id = :bank AND f.id = o.fact AND f.superseded_at IS NULL AND f.standing = 'believed'
JOIN fact_slots s ON s.bank_id = :bank AND s.seq = f.slot JOIN fact_keys k ON k.bank_id = :bank AND k.seq = s.key
WHERE c.bank_id = :bank AND c.outcome = 'corrected' AND f.stated_at < c.superseded_at
GROUP BY f.bank_id, f.seq, k.bank_id, k.seq ORDER BY f.seq;

-- facts_corrected_before --
-- Believed facts with a value that the user had corrected away before it was asserted again.
SELECT {columns}, max(c.superseded_at) FROM facts c
JOIN facts f ON f.bank_id = :bank AND f.slot = c.slot AND f.object_key = c.object_key AND f.superseded_at IS NULL
     AND f.standing = 'believed' AND f.id <> c.id AND f.act <> 'correct'
JOIN fact_slots s ON s.bank_id = :bank AND s.seq = f.slot JOIN fact_keys k ON k.bank_id = :bank AND k.seq = s.key
WHERE c.bank_id = :bank AND c.outcome = 'corrected' AND f.stated_at >= c.superseded_at
GROUP BY f.bank_id, f.seq, k.bank_id, k.seq ORDER BY f.seq;

-- facts_from_sources --
-- Ids of the facts that came from some sources.
SELECT DISTINCT fact FROM fact_sources WHERE bank_id = :bank AND source = ANY (?::text[]) ORDER BY fact;

-- sources_of_facts --
-- The sources of some facts, those first that came first, up to a transaction time.
SELECT fact, source FROM fact_sources
WHERE bank_id = :bank AND fact = ANY (:ids::text[]) AND at <= :known_at ORDER BY at, source;

-- insert_report --
WITH n AS (UPDATE counters SET last = last + 1 WHERE bank_id = :bank AND name = 'fact_reports' RETURNING last)
INSERT INTO fact_reports (bank_id, seq, kind, ref, at) SELECT :bank, n.last, ?, ?, ?::timestamptz FROM n;

-- reports --
SELECT kind, ref, at FROM fact_reports WHERE bank_id = :bank AND at <= ? ORDER BY seq;

-- declared_predicates --
SELECT key, name, multi, domain, synonyms FROM fact_predicates WHERE bank_id = :bank ORDER BY key;

-- declare_predicate --
INSERT INTO fact_predicates (bank_id, key, name, multi, domain, synonyms) VALUES (:bank, ?, ?, ?, ?, ?)
ON CONFLICT (bank_id, key) DO UPDATE SET name = excluded.name, multi = excluded.multi, domain = excluded.domain,
                                         synonyms = excluded.synonyms;

-- fact_texts --
-- What is embedded of every fact, for another embedder.
SELECT id, text FROM units WHERE bank_id = :bank AND kind = 'fact' ORDER BY seq;

-- facts_overlapping --
-- Believed versions that share an instant with the next one of their slot: there must be none.
SELECT count(*) FROM (
    SELECT valid_to, lead(valid_from) OVER (PARTITION BY slot ORDER BY valid_from) AS next
    FROM facts WHERE bank_id = :bank AND superseded_at IS NULL AND standing = 'believed'
) pairs WHERE next IS NOT NULL AND (valid_to IS NULL OR valid_to > next);

-- facts_believed_twice --
SELECT count(*) FROM (
    SELECT 1 FROM facts WHERE bank_id = :bank AND superseded_at IS NULL AND standing = 'believed'
    GROUP BY id HAVING count(*) > 1
) twice;

-- erase_confirmations --
DELETE FROM fact_confirmations WHERE bank_id = :bank AND fact = ?;

-- erase_sources --
DELETE FROM fact_sources WHERE bank_id = :bank AND fact = ?;

-- erase_fact --
-- Forgetting reaches every version, known_at included.
DELETE FROM facts WHERE bank_id = :bank AND id = ?;
