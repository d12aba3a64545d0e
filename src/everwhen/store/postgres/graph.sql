-- The statements of the memory graph in PostgreSQL's words.

-- count_pending --
-- The to-do list up to a turn: turns that nothing has been made of yet.
SELECT count(*) FROM pending WHERE bank_id = :bank AND turn <= ?;

-- something_pending --
SELECT EXISTS (SELECT 1 FROM pending WHERE bank_id = :bank AND turn <= ?);

-- newest_turn --
SELECT coalesce(max(seq), 0) FROM turns WHERE bank_id = :bank;

-- claim_owners --
SELECT DISTINCT owner FROM claims WHERE bank_id = :bank;

-- release_leases_of --
DELETE FROM claims WHERE bank_id = :bank AND owner = ?;

-- renew_claims --
UPDATE claims SET expires = ? WHERE bank_id = :bank AND owner = ?;

-- drop_old_claims --
DELETE FROM claims WHERE bank_id = :bank AND expires < ?;

-- next_pending --
-- The session of the oldest turn that nobody has extracted or claimed.
SELECT session FROM pending p
WHERE p.bank_id = :bank AND NOT EXISTS (SELECT 1 FROM claims c WHERE c.bank_id = :bank AND c.turn = p.turn)
ORDER BY turn LIMIT 1;

-- first_pending_of_session --
SELECT said_at, turn FROM pending p
WHERE p.bank_id = :bank AND session = ?
  AND NOT EXISTS (SELECT 1 FROM claims c WHERE c.bank_id = :bank AND c.turn = p.turn)
ORDER BY said_at, turn LIMIT 1;

-- turns_from --
-- The next turns of a session from a place on, and whether each is taken.
SELECT seq, id, session, segment, role, speaker, text, said_at, zone, recorded_at, tokens, metadata,
       NOT EXISTS (SELECT 1 FROM pending p WHERE p.bank_id = :bank AND p.turn = t.seq)
       OR EXISTS (SELECT 1 FROM claims c WHERE c.bank_id = :bank AND c.turn = t.seq)
FROM turns t WHERE t.bank_id = :bank AND session = ? AND (said_at, seq) >= (?, ?) ORDER BY said_at, seq LIMIT ?;

-- turns_before --
SELECT seq, id, session, segment, role, speaker, text, said_at, zone, recorded_at, tokens, metadata
FROM turns t WHERE t.bank_id = :bank AND session = ? AND (said_at, seq) < (?, ?)
  AND NOT EXISTS (SELECT 1 FROM expired x WHERE x.bank_id = :bank AND x.turn = t.seq)
ORDER BY said_at DESC, seq DESC LIMIT ?;

-- turns_after --
SELECT seq, id, session, segment, role, speaker, text, said_at, zone, recorded_at, tokens, metadata
FROM turns WHERE bank_id = :bank AND session = ? AND (said_at, seq) > (?, ?) ORDER BY said_at, seq LIMIT ?;

-- insert_claim --
INSERT INTO claims (bank_id, turn, owner, expires) VALUES (:bank, ?, ?, ?)
ON CONFLICT (bank_id, turn) DO UPDATE SET owner = excluded.owner, expires = excluded.expires;

-- turn_seqs --
SELECT id, seq FROM turns WHERE bank_id = :bank AND id = ANY (?::text[]) ORDER BY seq;

-- turns_told_of --
-- What a derived unit takes from its turns.
SELECT id, seq, speaker, said_at, recorded_at FROM turns WHERE bank_id = :bank AND id = ANY (?::text[]);

-- turn_units --
-- The raw unit of each turn. OFFSET 0 has each looked up by its id, rather than all units of the kind be read.
SELECT t.id, u.seq FROM turns t CROSS JOIN LATERAL (
    SELECT o.seq, o.turn, o.kind FROM units o WHERE o.bank_id = :bank AND o.id = t.id OFFSET 0) u
WHERE t.bank_id = :bank AND t.id = ANY (?::text[]) AND u.turn = t.seq AND u.kind = 'turn';

-- first_vectors --
SELECT t.id, v.vector FROM turns t JOIN units u ON u.bank_id = :bank AND u.turn = t.seq AND u.kind = 'turn'
JOIN vectors v ON v.bank_id = :bank AND v.unit = u.seq AND v.piece = 0
WHERE t.bank_id = :bank AND t.id = ANY (?::text[]);

-- known_unit --
SELECT seq FROM units WHERE bank_id = :bank AND id = ?;

-- known_units --
SELECT id, seq FROM units WHERE bank_id = :bank AND id = ANY (?::text[]);

-- insert_derived_unit --
INSERT INTO units (bank_id, seq, id, kind, network, level, turn, text, context, occurred_start, occurred_end, grain,
                   mentioned_at, recorded_at, pieces, session)
SELECT :bank, g.seq, g.id, g.kind, g.network, 0, g.turn, g.text, g.context, g.start, g.end, g.grain, g.said_at,
       g.recorded_at, g.pieces, (SELECT t.session FROM turns t WHERE t.bank_id = :bank AND t.seq = g.turn)
FROM unnest(:seq::bigint[], :id::text[], :kind::text[], :network::text[], :turn::bigint[], :text::text[], :context::text[],
            :start::timestamptz[], :end::timestamptz[], :grain::text[], :said_at::timestamptz[],
            :recorded_at::timestamptz[], :pieces::bigint[])
    AS g (seq, id, kind, network, turn, text, context, start, "end", grain, said_at, recorded_at, pieces);

-- insert_derived --
INSERT INTO derived (bank_id, unit, extractor, version, confidence, tokens)
SELECT :bank, * FROM unnest(?::bigint[], ?::text[], ?::text[], ?::double precision[], ?::bigint[]);

-- insert_event --
INSERT INTO events (bank_id, unit, subject, verb, object, status, polarity, quantity, expression, inferred, aliases)
SELECT :bank, * FROM unnest(?::bigint[], ?::text[], ?::text[], ?::text[], ?::text[], ?::bigint[], ?::text[], ?::text[],
                            ?::bigint[], ?::text[]);

-- superseded_units --
-- Derived units of a kind that rest on nothing but the given turns.
SELECT DISTINCT u.seq, u.id FROM turns g JOIN unit_turns p ON p.bank_id = :bank AND p.turn = g.seq
JOIN units u ON u.bank_id = :bank AND u.seq = p.unit
WHERE g.bank_id = :bank AND g.id = ANY (:turns::text[]) AND u.kind = :kind AND NOT EXISTS (
    SELECT 1 FROM unit_turns q JOIN turns t ON t.bank_id = :bank AND t.seq = q.turn
    WHERE q.bank_id = :bank AND q.unit = u.seq AND t.id <> ALL (:turns::text[]))
ORDER BY u.seq;

-- derived_from --
-- Derived units that rest on any of the given turns.
SELECT DISTINCT u.seq FROM unit_turns p JOIN units u ON u.bank_id = :bank AND u.seq = p.unit
WHERE p.bank_id = :bank AND p.turn = ANY (?::bigint[]) AND u.kind IN ('event', 'narrative') ORDER BY u.seq;

-- told_with --
-- Turns with those that an event rests on together with one of them, and so on: a version of a plan rests on the plan's
-- turn, too. Those without words cannot be read again. OFFSET 0 has rows looked up, rather than a bank be read.
WITH RECURSIVE reached (turn) AS (
    SELECT unnest(?::bigint[])
    UNION
    SELECT other.turn FROM reached r
    CROSS JOIN LATERAL (SELECT p.unit FROM unit_turns p WHERE p.bank_id = :bank AND p.turn = r.turn OFFSET 0) own
    CROSS JOIN LATERAL (SELECT u.kind FROM units u WHERE u.bank_id = :bank AND u.seq = own.unit OFFSET 0) u
    CROSS JOIN LATERAL (SELECT p.turn FROM unit_turns p WHERE p.bank_id = :bank AND p.unit = own.unit OFFSET 0) other
    WHERE u.kind = 'event'
      AND (SELECT x.turn FROM expired x WHERE x.bank_id = :bank AND x.turn = other.turn) IS NULL)
SELECT t.seq, t.id FROM reached r CROSS JOIN LATERAL (
    SELECT o.seq, o.id FROM turns o WHERE o.bank_id = :bank AND o.seq = r.turn OFFSET 0) t;

-- all_turn_seqs --
SELECT seq FROM turns t
WHERE t.bank_id = :bank AND NOT EXISTS (SELECT 1 FROM expired x WHERE x.bank_id = :bank AND x.turn = t.seq);

-- delete_vectors --
DELETE FROM vectors WHERE bank_id = :bank AND unit = ANY (?::bigint[]);

-- delete_unit_turns --
DELETE FROM unit_turns WHERE bank_id = :bank AND unit = ANY (?::bigint[]);

-- delete_units --
DELETE FROM units WHERE bank_id = :bank AND seq = ANY (?::bigint[]) RETURNING seq;

-- insert_removal --
WITH n AS (
    UPDATE counters SET last = last + cardinality(?1::bigint[]) WHERE bank_id = :bank AND name = 'removals' RETURNING last
)
INSERT INTO removals (bank_id, seq, unit)
SELECT :bank, n.last - cardinality(?1::bigint[]) + g.place, g.unit
FROM n CROSS JOIN unnest(?1::bigint[]) WITH ORDINALITY AS g (unit, place);

-- drop_old_removals --
-- All but the newest so many.
DELETE FROM removals WHERE bank_id = :bank AND seq <= (SELECT max(seq) FROM removals WHERE bank_id = :bank) - ?;

-- insert_moment --
INSERT INTO moments (bank_id, unit, kind, at) SELECT :bank, * FROM unnest(?::bigint[], ?::text[], ?::timestamptz[])
ON CONFLICT (bank_id, unit) DO UPDATE SET kind = excluded.kind, at = excluded.at;

-- timeline --
-- Some units on the timeline of their kind, with so many on each side of each, in the order of time. What lies beyond the
-- next of them is nearer to that one.
WITH placed AS MATERIALIZED (
    SELECT unit, kind, at, lag(at) OVER line AS at_before, lag(unit) OVER line AS before, lead(at) OVER line AS at_after,
           lead(unit) OVER line AS after
    FROM moments WHERE bank_id = :bank AND unit = ANY (:units::bigint[])
    WINDOW line AS (PARTITION BY kind ORDER BY at, unit)
)
SELECT unit, kind, at FROM placed
UNION
SELECT b.unit, p.kind, b.at FROM placed p CROSS JOIN LATERAL (
    SELECT m.unit, m.at FROM moments m WHERE m.bank_id = :bank AND m.kind = p.kind AND (m.at, m.unit) < (p.at, p.unit)
      AND (m.at, m.unit) > (coalesce(p.at_before, '-infinity'), coalesce(p.before, 0))
    ORDER BY m.at DESC, m.unit DESC LIMIT :count) b
UNION
SELECT a.unit, p.kind, a.at FROM placed p CROSS JOIN LATERAL (
    SELECT m.unit, m.at FROM moments m WHERE m.bank_id = :bank AND m.kind = p.kind AND (m.at, m.unit) > (p.at, p.unit)
      AND (m.at, m.unit) < (coalesce(p.at_after, 'infinity'), coalesce(p.after, 0))
    ORDER BY m.at, m.unit LIMIT :count) a
ORDER BY kind, at, unit;

-- drop_links --
DELETE FROM links WHERE bank_id = :bank AND source = ANY (?::bigint[]) AND type = ?;

-- present_units --
SELECT seq FROM units WHERE bank_id = :bank AND seq = ANY (?::bigint[]);

-- insert_link --
INSERT INTO links (bank_id, source, type, target, weight)
SELECT :bank, * FROM unnest(?::bigint[], ?::text[], ?::bigint[], ?::double precision[]);

-- insert_replaces --
-- The next version of an event; the one before it stays as it is.
INSERT INTO links (bank_id, source, type, target, weight)
SELECT :bank, :unit, 'replaces', seq, 1.0 FROM units WHERE bank_id = :bank AND id = :event AND seq <> :unit
ON CONFLICT (bank_id, source, type, target) DO UPDATE SET weight = excluded.weight;

-- links_of_type --
SELECT source, target, weight FROM links WHERE bank_id = :bank AND source = ANY (?::bigint[]) AND type = ?
ORDER BY source, weight DESC, target;

-- links_of --
SELECT source, target, type, weight FROM links
WHERE bank_id = :bank AND source = :unit AND type = ANY (:types::text[]) ORDER BY weight DESC, target LIMIT :limit;

-- entity_neighbours --
-- Units that share an identity with a unit, the nearest in time first.
-- Step by step and by keys, whatever the planner thinks of a bank that has just been filled.
WITH own AS MATERIALIZED (
    SELECT DISTINCT i.root FROM mentions m
    CROSS JOIN LATERAL (SELECT root FROM entities i WHERE i.bank_id = :bank AND i.seq = m.entity LIMIT 1) i
    WHERE m.bank_id = :bank AND m.unit = :unit
), shared AS MATERIALIZED (
    SELECT DISTINCT n.unit FROM own
    CROSS JOIN LATERAL (SELECT seq FROM entities o WHERE o.bank_id = :bank AND o.root = own.root OFFSET 0) o
    CROSS JOIN LATERAL (SELECT unit FROM mentions n WHERE n.bank_id = :bank AND n.entity = o.seq OFFSET 0) n
    WHERE n.unit <> :unit
)
SELECT s.unit, abs(extract(epoch FROM v.mentioned_at - u.mentioned_at))::double precision AS apart
FROM shared s
CROSS JOIN LATERAL (SELECT mentioned_at FROM units v WHERE v.bank_id = :bank AND v.seq = s.unit LIMIT 1) v
CROSS JOIN (SELECT mentioned_at FROM units WHERE bank_id = :bank AND seq = :unit) u
ORDER BY apart, s.unit LIMIT :limit;

-- links_of_units --
-- The stored links that leave some units, for a walk.
SELECT source, target, type, weight FROM links
WHERE bank_id = :bank AND source = ANY (:units::bigint[]) AND type = ANY (:types::text[]) AND weight >= :floor
ORDER BY array_position(:units::bigint[], source), type, target;

-- provenance --
-- Derived units with the raw units of their turns, from either end; from a turn's end without the nodes above it.
SELECT p.unit, t.seq FROM unit_turns p JOIN units t ON t.bank_id = :bank AND t.turn = p.turn AND t.kind = 'turn'
WHERE p.bank_id = :bank AND p.unit = ANY (:units::bigint[]) AND t.seq <> p.unit
UNION
SELECT p.unit, t.seq FROM units t JOIN unit_turns p ON p.bank_id = :bank AND p.turn = t.turn
WHERE t.bank_id = :bank AND t.seq = ANY (:units::bigint[]) AND t.kind = 'turn' AND p.unit <> t.seq
  AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.bank_id = :bank AND n.unit = p.unit);

-- insert_extraction --
-- What is extracted waits no longer.
WITH waited AS (DELETE FROM pending WHERE bank_id = :bank AND turn = ANY (?1::bigint[]))
INSERT INTO extractions (bank_id, turn, extractor, version, done_at)
SELECT :bank, * FROM unnest(?1::bigint[], ?2::text[], ?3::text[], ?4::timestamptz[])
ON CONFLICT (bank_id, turn) DO UPDATE
SET extractor = excluded.extractor, version = excluded.version, done_at = excluded.done_at;

-- release_leases --
DELETE FROM claims WHERE bank_id = :bank AND turn = ANY (?::bigint[]);

-- drop_extraction --
-- The turns wait again.
WITH gone AS (DELETE FROM extractions WHERE bank_id = :bank AND turn = ANY (?::bigint[]) RETURNING turn)
INSERT INTO pending (bank_id, turn, session, said_at)
SELECT :bank, t.seq, t.session, t.said_at FROM gone g CROSS JOIN LATERAL (
    SELECT o.seq, o.session, o.said_at FROM turns o WHERE o.bank_id = :bank AND o.seq = g.turn LIMIT 1) t
ON CONFLICT (bank_id, turn) DO NOTHING;

-- insert_failure --
WITH n AS (UPDATE counters SET last = last + 1 WHERE bank_id = :bank AND name = 'extraction_failures' RETURNING last)
INSERT INTO extraction_failures (bank_id, seq, turn, at, reason) SELECT :bank, n.last, ?, ?::timestamptz, ? FROM n;

-- drop_failures --
DELETE FROM extraction_failures WHERE bank_id = :bank AND turn = ANY (?::bigint[]);

-- insert_usage --
WITH n AS (UPDATE counters SET last = last + 1 WHERE bank_id = :bank AND name = 'model_usage' RETURNING last)
INSERT INTO model_usage (bank_id, seq, at, purpose, model, calls, input_tokens, output_tokens, cost)
SELECT :bank, n.last, ?::timestamptz, ?, ?, ?, ?, ?, ?::double precision FROM n;

-- model_usage --
-- What models took in this bank so far; of money, what is known.
SELECT coalesce(sum(calls), 0)::bigint, coalesce(sum(input_tokens), 0)::bigint, coalesce(sum(output_tokens), 0)::bigint,
       sum(cost)
FROM model_usage WHERE bank_id = :bank;

-- event_columns --
-- How an event is read, but for when another one took its place, which comes behind.
u.id, e.subject, e.verb, e.object, u.occurred_start, u.occurred_end, u.grain, e.status, e.aliases, d.confidence,
(SELECT coalesce(json_agg(t.id ORDER BY t.said_at, t.seq)::text, '[]') FROM unit_turns p
 JOIN turns t ON t.bank_id = :bank AND t.seq = p.turn WHERE p.bank_id = :bank AND p.unit = u.seq),
u.text, e.expression, e.inferred, e.polarity, e.quantity, s.said_at, s.zone, d.extractor || '/' || d.version, u.seq,
u.network,
(SELECT o.id FROM links l JOIN units o ON o.bank_id = :bank AND o.seq = l.target
 WHERE l.bank_id = :bank AND l.source = u.seq AND l.type = 'replaces' ORDER BY o.seq LIMIT 1);

-- events --
-- The event calendar; a parameter that is null asks for nothing. With :then, only the versions that counted then.
-- LIKE has no escapes here: a name is what it is.
SELECT {event},
       (SELECT min(c.said_at) FROM links l JOIN units n ON n.bank_id = :bank AND n.seq = l.source
        JOIN turns c ON c.bank_id = :bank AND c.seq = n.turn
        WHERE l.bank_id = :bank AND l.target = u.seq AND l.type = 'replaces')
FROM events e JOIN units u ON u.bank_id = :bank AND u.seq = e.unit
JOIN derived d ON d.bank_id = :bank AND d.unit = e.unit JOIN turns s ON s.bank_id = :bank AND s.seq = u.turn
WHERE e.bank_id = :bank
  AND (:start::timestamptz IS NULL OR u.occurred_end IS NULL OR u.occurred_end > :start::timestamptz)
  AND (:end::timestamptz IS NULL OR u.occurred_start IS NULL OR u.occurred_start < :end::timestamptz)
  AND (:verb::text IS NULL OR e.verb = :verb::text OR e.verb ILIKE :verb::text || ' %' ESCAPE '')
  AND (:status::text IS NULL OR e.status = :status::text)
  AND (:subject::text IS NULL OR lower(e.subject) = lower(:subject::text COLLATE "C")
       OR e.subject ILIKE :subject::text || ' and %' ESCAPE '' OR e.subject ILIKE '% and ' || :subject::text ESCAPE ''
       OR (:named::jsonb IS NULL AND EXISTS (
               SELECT 1 FROM mentions m JOIN entities i ON i.bank_id = :bank AND i.seq = m.entity
               JOIN entities r ON r.bank_id = :bank AND r.seq = i.root
               WHERE m.bank_id = :bank AND m.unit = e.unit AND lower(r.name) = lower(:subject::text COLLATE "C")
                 AND lower(e.subject) = lower(m.name)))
       OR (:named::jsonb IS NOT NULL AND EXISTS (
               SELECT 1 FROM jsonb_array_elements(:named::jsonb) AS given (value)
               WHERE (given.value ->> 0)::bigint = e.unit
                 AND lower((given.value ->> 1) COLLATE "C") = lower(e.subject))))
  AND (NOT :then OR (s.said_at <= :as_of AND u.recorded_at <= :known_at AND NOT EXISTS (
           SELECT 1 FROM links l JOIN units n ON n.bank_id = :bank AND n.seq = l.source
           JOIN turns c ON c.bank_id = :bank AND c.seq = n.turn
           WHERE l.bank_id = :bank AND l.target = u.seq AND l.type = 'replaces' AND c.said_at <= :as_of
             AND n.recorded_at <= :known_at)))
  AND (:units::bigint[] IS NULL OR u.seq = ANY (:units::bigint[]))
ORDER BY coalesce(u.occurred_start, u.occurred_end) NULLS FIRST, u.occurred_end NULLS FIRST, u.mentioned_at, u.seq;

-- events_told --
-- Some events by their units, and those that came from some turns.
SELECT {event},
       (SELECT min(c.said_at) FROM links l JOIN units n ON n.bank_id = :bank AND n.seq = l.source
        JOIN turns c ON c.bank_id = :bank AND c.seq = n.turn
        WHERE l.bank_id = :bank AND l.target = u.seq AND l.type = 'replaces' AND c.said_at <= :as_of
          AND n.recorded_at <= :known_at)
FROM (SELECT unnest(:units::bigint[]) AS unit
      UNION SELECT p.unit FROM turns t JOIN unit_turns p ON p.bank_id = :bank AND p.turn = t.seq
            WHERE t.bank_id = :bank AND t.id = ANY (:turns::text[])) wanted
JOIN units u ON u.bank_id = :bank AND u.seq = wanted.unit JOIN events e ON e.bank_id = :bank AND e.unit = u.seq
JOIN derived d ON d.bank_id = :bank AND d.unit = u.seq JOIN turns s ON s.bank_id = :bank AND s.seq = u.turn
WHERE s.said_at <= :as_of AND u.recorded_at <= :known_at
ORDER BY u.mentioned_at, u.seq;

-- drop_all_links --
-- All links from and to some units.
WITH leaving AS (DELETE FROM links WHERE bank_id = :bank AND source = ANY (:units::bigint[])
                 AND target <> ALL (:units::bigint[]))
DELETE FROM links WHERE bank_id = :bank AND target = ANY (:units::bigint[]);

-- drop_moments --
DELETE FROM moments WHERE bank_id = :bank AND unit = ANY (?::bigint[]);

-- derived_texts --
SELECT u.seq, u.id, u.text FROM units u JOIN derived d ON d.bank_id = :bank AND d.unit = u.seq
WHERE u.bank_id = :bank AND u.seq > ? ORDER BY u.seq LIMIT ?;

-- graph_counts --
SELECT (SELECT count(*) FROM events WHERE bank_id = :bank),
       (SELECT count(*) FROM units WHERE bank_id = :bank AND kind = 'narrative'),
       (SELECT count(DISTINCT i.root) FROM mentions m JOIN entities i ON i.bank_id = :bank AND i.seq = m.entity
        WHERE m.bank_id = :bank),
       (SELECT count(*) FROM links WHERE bank_id = :bank);

-- events_without_derivation --
SELECT count(*) FROM units u WHERE u.bank_id = :bank AND u.kind IN ('event', 'narrative')
  AND NOT EXISTS (SELECT 1 FROM derived d WHERE d.bank_id = :bank AND d.unit = u.seq);

-- events_without_part --
SELECT count(*) FROM units u WHERE u.bank_id = :bank AND u.kind = 'event'
  AND NOT EXISTS (SELECT 1 FROM events e WHERE e.bank_id = :bank AND e.unit = u.seq);

-- derived_of_pending_turns --
SELECT count(DISTINCT p.unit) FROM unit_turns p JOIN derived d ON d.bank_id = :bank AND d.unit = p.unit
WHERE p.bank_id = :bank AND NOT EXISTS (SELECT 1 FROM extractions e WHERE e.bank_id = :bank AND e.turn = p.turn);

-- failures --
SELECT reason, count(DISTINCT turn) FROM extraction_failures WHERE bank_id = :bank
GROUP BY reason ORDER BY count(DISTINCT turn) DESC LIMIT 10;
