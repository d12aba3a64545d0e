-- The statements of turns and units in PostgreSQL's words. Names, parameters and columns are those of the SQLite store;
-- :bank is given with every statement, and lists are arrays. A bank's numbers come from `counters`.

-- bank_values --
-- All that the bank says of itself.
SELECT key, value FROM bank WHERE bank_id = :bank;

-- put_bank_value --
INSERT INTO bank (bank_id, key, value) VALUES (:bank, ?, ?)
ON CONFLICT (bank_id, key) DO UPDATE SET value = excluded.value;

-- count_recalls --
-- Several processes add up.
INSERT INTO bank (bank_id, key, value) VALUES (:bank, 'recalls', :recalls::bigint::text)
ON CONFLICT (bank_id, key) DO UPDATE SET value = (bank.value::bigint + :recalls::bigint)::text;

-- count_accesses --
-- The same for memories: a JSON list of [id, count, last time]; nothing for one that is gone.
INSERT INTO accesses (bank_id, unit, count, last_at)
SELECT :bank, u.seq, (given.value ->> 1)::bigint, (given.value ->> 2)::timestamptz
FROM jsonb_array_elements(:counts::jsonb) AS given (value)
JOIN units u ON u.bank_id = :bank AND u.id = given.value ->> 0
ON CONFLICT (bank_id, unit) DO UPDATE
SET count = accesses.count + excluded.count, last_at = greatest(accesses.last_at, excluded.last_at);

-- accesses --
-- What is recalled most.
SELECT unit, count, last_at FROM accesses WHERE bank_id = :bank ORDER BY count DESC, last_at DESC, unit LIMIT ?;

-- known_turns --
-- Those of a list of ids that are stored already, with their words.
SELECT id, text FROM turns WHERE bank_id = :bank AND id = ANY (?::text[]);

-- insert_turn --
-- Whoever is new waits to be extracted. Each value is the list of a column, as in every statement of `run_batch`.
WITH given AS (
    SELECT * FROM unnest(
        :seq::bigint[], :id::text[], :session::text[], :segment::text[], :role::text[], :speaker::text[], :text::text[],
        :said_at::timestamptz[], :zone::text[], :recorded_at::timestamptz[], :tokens::bigint[], :metadata::text[])
        AS g (seq, id, session, segment, role, speaker, text, said_at, zone, recorded_at, tokens, metadata)
),
stored AS (
    INSERT INTO turns (bank_id, seq, id, session, segment, role, speaker, text, said_at, zone, recorded_at, tokens, metadata,
                       facets)
    SELECT :bank, seq, id, session, segment, role, speaker, text, said_at, zone, recorded_at, tokens, metadata,
           CASE WHEN metadata <> '{}' AND pg_input_is_valid(metadata, 'jsonb') THEN metadata::jsonb END
    FROM given RETURNING seq, said_at, session
)
INSERT INTO pending (bank_id, turn, said_at, session) SELECT :bank, seq, said_at, session FROM stored;

-- insert_unit --
-- Its terms are set when they are posted, as those of every unit.
INSERT INTO units (bank_id, seq, id, kind, network, level, turn, context, context_turn, mentioned_at, recorded_at, pieces,
                   session)
SELECT :bank, g.seq, g.id, 'turn', g.network, 0, g.turn, g.context,
       (SELECT t.seq FROM turns t WHERE t.bank_id = :bank AND t.id = g.before), g.said_at, g.recorded_at, g.pieces,
       (SELECT t.session FROM turns t WHERE t.bank_id = :bank AND t.seq = g.turn)
FROM unnest(:seq::bigint[], :id::text[], :network::text[], :turn::bigint[], :context::text[], :before::text[],
            :said_at::timestamptz[], :recorded_at::timestamptz[], :pieces::bigint[])
    AS g (seq, id, network, turn, context, before, said_at, recorded_at, pieces);

-- insert_unit_turn --
INSERT INTO unit_turns (bank_id, unit, turn) SELECT :bank, * FROM unnest(?::bigint[], ?::bigint[]);

-- insert_vector --
-- With what the filters of a search read of the unit.
INSERT INTO vectors (bank_id, unit, piece, vector, mentioned_at, recorded_at, kind, network, role, speaker)
SELECT :bank, g.unit, g.piece, g.vector, own.mentioned_at, own.recorded_at, own.kind, own.network, own.role, own.speaker
FROM unnest(?::bigint[], ?::bigint[], ?::halfvec[]) AS g (unit, piece, vector)
CROSS JOIN LATERAL (
    SELECT u.mentioned_at, u.recorded_at, u.kind, u.network, t.role, t.speaker
    FROM units u LEFT JOIN turns t ON t.bank_id = :bank AND t.seq = u.turn
    WHERE u.bank_id = :bank AND u.seq = g.unit LIMIT 1
) own;

-- drop_all_vectors --
DELETE FROM vectors WHERE bank_id = :bank;

-- drop_all_codes --
DELETE FROM token_codes WHERE bank_id = :bank;

-- take_numbers --
-- So many new numbers of a kind; the last of them.
UPDATE counters SET last = last + :count WHERE bank_id = :bank AND name = :name RETURNING last;

-- posted_units --
-- What the postings have of some units: a unit's terms are ten bytes each, the hash and the count; null for none yet.
SELECT seq, kind = 'node', terms, halves FROM units WHERE bank_id = :bank AND seq = ANY (:units::bigint[]);

-- unpost_units --
-- Take units out of the postings, by their numbers and all their terms. Both are lists, so that each posting is looked up.
WITH gone AS (
    DELETE FROM postings WHERE bank_id = :bank AND term = ANY (:terms::bigint[]) AND unit = ANY (:units::bigint[])
    RETURNING term, node
),
lost AS (
    SELECT term, count(*) FILTER (WHERE NOT node) AS units, count(*) FILTER (WHERE node) AS nodes FROM gone GROUP BY term
),
fewer AS (
    UPDATE terms t SET units = t.units - l.units, nodes = t.nodes - l.nodes FROM lost l
    WHERE t.bank_id = :bank AND t.term = ANY (:terms::bigint[]) AND t.term = l.term
      AND t.units + t.nodes > l.units + l.nodes
),
spent AS (
    DELETE FROM terms t USING lost l
    WHERE t.bank_id = :bank AND t.term = ANY (:terms::bigint[]) AND t.term = l.term
      AND t.units + t.nodes <= l.units + l.nodes
)
UPDATE posting_totals t SET units = t.units - lost.units, halves = t.halves - lost.halves
FROM (SELECT node, count(*) AS units, coalesce(sum(halves), 0)::bigint AS halves
      FROM unnest(:nodes::boolean[], :halves::bigint[]) AS g (node, halves) GROUP BY node) lost
WHERE t.bank_id = :bank AND t.node = lost.node;

-- set_posted --
-- What the postings have of some units, packed, and twice the length of each.
WITH given AS (SELECT * FROM unnest(:units::bigint[], :packed::bytea[], :halves::bigint[]) AS g (unit, packed, halves)),
posted AS (
    UPDATE units u SET terms = g.packed, halves = g.halves FROM given g WHERE u.bank_id = :bank AND u.seq = g.unit
    RETURNING u.kind = 'node' AS node, g.halves
)
UPDATE posting_totals t SET units = t.units + new.units, halves = t.halves + new.halves
FROM (SELECT node, count(*) AS units, sum(halves)::bigint AS halves FROM posted GROUP BY node) new
WHERE t.bank_id = :bank AND t.node = new.node;

-- post_terms --
-- Where the terms of some units stand: one element for each term of each unit; and in how many each stands.
WITH posted AS (
    INSERT INTO postings (bank_id, term, unit, length, halves, node)
    SELECT :bank, * FROM unnest(:terms::bigint[], :units::bigint[], :lengths::real[], :halves::smallint[], :nodes::boolean[])
    RETURNING term, node
)
INSERT INTO terms AS t (bank_id, term, units, nodes)
SELECT :bank, term, count(*) FILTER (WHERE NOT node), count(*) FILTER (WHERE node) FROM posted GROUP BY term ORDER BY term
ON CONFLICT (bank_id, term) DO UPDATE SET units = t.units + excluded.units, nodes = t.nodes + excluded.nodes;

-- put_codes --
INSERT INTO token_codes (bank_id, unit, codes) SELECT :bank, * FROM unnest(?::bigint[], ?::bytea[])
ON CONFLICT (bank_id, unit) DO UPDATE SET codes = excluded.codes;

-- put_codes_of_turn --
-- The same by the turn's id; nothing where the turn is gone.
INSERT INTO token_codes (bank_id, unit, codes)
SELECT :bank, seq, :codes::bytea FROM units WHERE bank_id = :bank AND id = :id AND kind = 'turn'
ON CONFLICT (bank_id, unit) DO UPDATE SET codes = excluded.codes;

-- token_codes --
SELECT c.unit, c.codes FROM unnest(?::bigint[]) AS w (unit)
CROSS JOIN LATERAL (SELECT unit, codes FROM token_codes WHERE bank_id = :bank AND unit = w.unit LIMIT 1) c;

-- turns_without_codes --
-- Turns without codes of a format, in the order of arrival.
SELECT u.id FROM units u LEFT JOIN token_codes c ON c.bank_id = :bank AND c.unit = u.seq
WHERE u.bank_id = :bank AND u.kind = 'turn'
  AND (c.unit IS NULL OR substr(c.codes, 1, length(:format::bytea)) <> :format::bytea)
ORDER BY u.seq;

-- turns --
-- A page of the turn calendar, after a place in it, of all sessions or of one; a bound that is null asks for nothing.
SELECT seq, id, session, segment, role, speaker, text, said_at, zone, recorded_at, tokens, metadata
FROM turns t
WHERE t.bank_id = :bank AND {session}
  AND (:start::timestamptz IS NULL OR said_at >= :start::timestamptz)
  AND (:end::timestamptz IS NULL OR said_at < :end::timestamptz)
  AND (said_at, seq) > (coalesce(nullif(:after_at::text, '')::timestamptz, '-infinity'), :after_seq::bigint)
  AND NOT EXISTS (SELECT 1 FROM expired x WHERE x.bank_id = :bank AND x.turn = t.seq)
ORDER BY said_at, seq LIMIT :page;

-- turns_by_id --
SELECT seq, id, session, segment, role, speaker, text, said_at, zone, recorded_at, tokens, metadata
FROM turns WHERE bank_id = :bank AND id = ANY (?::text[])
ORDER BY said_at, seq;

-- last_turn --
-- The turn before: the last one said in a session, up to and including an instant.
SELECT seq, id, session, segment, role, speaker, text, said_at, zone, recorded_at, tokens, metadata
FROM turns t WHERE t.bank_id = :bank AND session = ? AND said_at <= ?
  AND NOT EXISTS (SELECT 1 FROM expired x WHERE x.bank_id = :bank AND x.turn = t.seq)
ORDER BY said_at DESC, seq DESC LIMIT 1;

-- segment_speakers --
SELECT speaker FROM turns WHERE bank_id = :bank AND segment = ? ORDER BY seq LIMIT ?;

-- sessions --
SELECT session, sum(turns)::bigint, min(first), max(last), json_agg(speaker ORDER BY first, number)::text,
       (array_agg(zone ORDER BY first, number))[1]
FROM (SELECT session, speaker, count(*) AS turns, min(said_at) AS first, max(said_at) AS last, min(seq) AS number,
             (array_agg(zone ORDER BY said_at, seq))[1] AS zone
      FROM turns t
      WHERE t.bank_id = :bank AND NOT EXISTS (SELECT 1 FROM expired x WHERE x.bank_id = :bank AND x.turn = t.seq)
        AND said_at <= :as_of AND recorded_at <= :known_at
      GROUP BY session, speaker) said
GROUP BY session ORDER BY min(first), min(number);

-- units --
-- Units with what recall shows of them; the list of them is filled in. One by one, by their keys: what the planner thinks
-- of the size of a bank must not matter.
SELECT u.seq, u.id, u.kind, u.network, coalesce(u.text, t.text), coalesce(t.said_at, u.mentioned_at),
       CASE WHEN n.unit IS NULL THEN coalesce(t.zone, 'UTC')
            ELSE (SELECT value FROM bank b WHERE b.bank_id = :bank AND b.key = 'zone') END,
       coalesce(t.session, n.session, ''), coalesce(t.speaker, ''), coalesce(d.tokens, n.tokens, t.tokens, 0),
       CASE WHEN u.kind <> 'turn' THEN (
                SELECT coalesce(json_agg(s.id ORDER BY s.said_at, s.seq)::text, '[]') FROM unit_turns p
                JOIN turns s ON s.bank_id = :bank AND s.seq = p.turn WHERE p.bank_id = :bank AND p.unit = u.seq)
       END,
       coalesce(t.metadata, '{}'), u.occurred_start, u.occurred_end, u.grain, d.confidence, u.level
FROM (SELECT DISTINCT unnest({wanted}) AS seq) w
CROSS JOIN LATERAL (SELECT * FROM units u WHERE u.bank_id = :bank AND u.seq = w.seq LIMIT 1) u
LEFT JOIN LATERAL (SELECT * FROM turns t WHERE t.bank_id = :bank AND t.seq = u.turn LIMIT 1) t ON true
LEFT JOIN LATERAL (SELECT * FROM derived d WHERE d.bank_id = :bank AND d.unit = u.seq LIMIT 1) d ON true
LEFT JOIN LATERAL (SELECT * FROM nodes n WHERE n.bank_id = :bank AND n.unit = u.seq LIMIT 1) n ON true;

-- units_with_metadata --
-- Units whose turn has every one of the wanted keys (a JSON list), and the wanted value where that is plain
-- text (a JSON object). A first sieve: the caller compares. What PostgreSQL cannot read may match.
SELECT u.seq, t.metadata FROM turns t JOIN units u ON u.bank_id = :bank AND u.turn = t.seq
WHERE t.bank_id = :bank AND t.metadata <> '{}' AND (t.facets IS NULL OR NOT pg_input_is_valid(:keys::text, 'jsonb') OR (
    jsonb_exists_all(t.facets, ARRAY(SELECT jsonb_array_elements_text(:keys::text::jsonb)))
    AND t.facets @> :wanted::jsonb))
UNION ALL
-- A fact has no metadata of its own: what it says of itself stands for them.
SELECT u.seq, json_build_object('domain', f.domain, 'subject', k.subject, 'predicate', k.predicate,
       'valid_from', f.valid_from, 'valid_to', f.valid_to)::text
FROM units u JOIN facts f ON f.bank_id = :bank AND f.id = u.id AND f.superseded_at IS NULL
JOIN fact_slots s ON s.bank_id = :bank AND s.seq = f.slot JOIN fact_keys k ON k.bank_id = :bank AND k.seq = s.key
WHERE u.bank_id = :bank AND u.kind = 'fact';

-- speakers --
-- Who has spoken, and in which role: one look at the index for each, however many turns there are.
WITH RECURSIVE heard (role, speaker) AS (
    (SELECT role, speaker FROM turns WHERE bank_id = :bank ORDER BY role, speaker LIMIT 1)
    UNION ALL
    SELECT next.role, next.speaker FROM heard h CROSS JOIN LATERAL (
        SELECT t.role, t.speaker FROM turns t WHERE t.bank_id = :bank AND (t.role, t.speaker) > (h.role, h.speaker)
        ORDER BY t.role, t.speaker LIMIT 1) next
)
SELECT h.role, h.speaker FROM heard h CROSS JOIN LATERAL (
    SELECT 1 FROM turns t WHERE t.bank_id = :bank AND (t.role, t.speaker) = (h.role, h.speaker)
      AND NOT EXISTS (SELECT 1 FROM expired x WHERE x.bank_id = :bank AND x.turn = t.seq) LIMIT 1) said;

-- neighbours --
-- For each of some vectors the units of some kinds with a cosine above a floor, by their nearest piece, best first.
SELECT asked.place, near.unit, near.cosine
FROM unnest(:vectors::halfvec[]) WITH ORDINALITY AS asked (vector, place)
CROSS JOIN LATERAL (
    SELECT n.unit, max(n.cosine) AS cosine FROM {nearest} n
    GROUP BY n.unit HAVING max(n.cosine) > :floor::double precision
    ORDER BY cosine DESC, n.unit LIMIT :limit
) near ORDER BY asked.place, near.cosine DESC, near.unit;

-- neighbours_exactly --
(SELECT v.unit, -(v.vector <#> asked.vector) AS cosine FROM vectors v
 WHERE v.bank_id = :bank AND v.kind = ANY (:kinds::text[]));

-- neighbours_of_index --
-- In the words of the index of a bank (`vector_index`). A unit of several pieces comes more than once.
(SELECT v.unit, -(v.vector::halfvec({dimension}) <#> asked.vector::halfvec({dimension})) AS cosine FROM vectors v
 WHERE v.bank_id = :bank AND v.bank_id = {number} AND v.kind = ANY (:kinds::text[])
 ORDER BY v.vector::halfvec({dimension}) <#> asked.vector::halfvec({dimension}) LIMIT 2 * :limit);

-- units_holding --
-- For each of some words, by its first term, the first so many units of some kinds that have every term of it: those that
-- have the first term in their own words, then those that have it in their context. `places` and `more` are the words
-- that have more terms, and these. A common word is not read beyond the limit.
SELECT asked.place, found.unit FROM unnest(:firsts::bigint[]) WITH ORDINALITY AS asked (term, place)
CROSS JOIN LATERAL (
    SELECT held.unit FROM (
        (SELECT p.unit FROM postings p WHERE p.bank_id = :bank AND p.term = asked.term AND p.halves >= 2 ORDER BY p.unit)
        UNION ALL
        (SELECT p.unit FROM postings p WHERE p.bank_id = :bank AND p.term = asked.term AND p.halves < 2 ORDER BY p.unit)
    ) held
    CROSS JOIN LATERAL (
        SELECT u.kind FROM units u WHERE u.bank_id = :bank AND u.seq = held.unit OFFSET 0) own
    WHERE own.kind = ANY (:kinds::text[]) AND NOT EXISTS (
        SELECT 1 FROM unnest(:places::bigint[], :more::bigint[]) AS also (place, term)
        WHERE also.place = asked.place AND (
            SELECT o.unit FROM postings o WHERE o.bank_id = :bank AND o.term = also.term AND o.unit = held.unit) IS NULL)
    LIMIT :limit
) found;

-- units_for_reembedding --
SELECT seq, id FROM units WHERE bank_id = :bank ORDER BY seq;

-- turn_contexts --
-- What of the turn before is searched with each turn of a list of ids.
SELECT t.id, u.context FROM turns t JOIN units u ON u.bank_id = :bank AND u.turn = t.seq
WHERE t.bank_id = :bank AND u.kind = 'turn' AND t.id = ANY (?::text[]);

-- set_pieces --
UPDATE units SET pieces = ? WHERE bank_id = :bank AND seq = ?;

-- stats --
SELECT (SELECT count(*) FROM turns WHERE bank_id = :bank) - (SELECT count(*) FROM expired WHERE bank_id = :bank),
       (SELECT count(DISTINCT session) FROM turns WHERE bank_id = :bank),
       (SELECT count(DISTINCT segment) FROM turns WHERE bank_id = :bank),
       (SELECT count(*) FROM vectors WHERE bank_id = :bank),
       (SELECT min(said_at) FROM turns WHERE bank_id = :bank), (SELECT max(said_at) FROM turns WHERE bank_id = :bank);

-- turns_without_unit --
SELECT count(*) FROM turns t
WHERE t.bank_id = :bank
  AND NOT EXISTS (SELECT 1 FROM units u WHERE u.bank_id = :bank AND u.turn = t.seq AND u.kind = 'turn')
  AND NOT EXISTS (SELECT 1 FROM expired x WHERE x.bank_id = :bank AND x.turn = t.seq);

-- units_without_turn --
-- A fact may come from a document, or from nothing but somebody's word: it leads to its versions.
SELECT u.seq FROM units u
WHERE u.bank_id = :bank AND (
    (u.turn IS NOT NULL AND NOT EXISTS (SELECT 1 FROM turns t WHERE t.bank_id = :bank AND t.seq = u.turn))
    OR (u.kind NOT IN ('fact', 'turn') AND NOT EXISTS (SELECT 1 FROM unit_turns p WHERE p.bank_id = :bank AND p.unit = u.seq))
    OR (u.kind = 'fact' AND NOT EXISTS (SELECT 1 FROM facts f WHERE f.bank_id = :bank AND f.id = u.id)));

-- units_with_wrong_pieces --
SELECT count(*) FROM units u
WHERE u.bank_id = :bank
  AND (u.pieces < 1 OR u.pieces <> (SELECT count(*) FROM vectors v WHERE v.bank_id = :bank AND v.unit = u.seq));

-- turns_with_wrong_times --
-- Every time is one that the database can order; an open one would be none.
SELECT count(*) FROM turns WHERE bank_id = :bank AND NOT (isfinite(said_at) AND isfinite(recorded_at));

-- turns_with_wrong_metadata --
SELECT count(*) FROM turns WHERE bank_id = :bank AND NOT metadata IS JSON;

-- units_unlike_their_turn --
-- The hard filters read the unit: it must say what the turn says.
SELECT u.seq FROM units u JOIN turns t ON t.bank_id = :bank AND t.seq = u.turn
WHERE u.bank_id = :bank AND u.kind = 'turn'
  AND (u.id <> t.id OR u.mentioned_at <> t.said_at OR u.recorded_at <> t.recorded_at);

-- zones --
SELECT DISTINCT zone FROM turns WHERE bank_id = :bank;

-- vectors_of_wrong_size --
-- A size is told in bytes of 32-bit floats.
SELECT count(*) FROM vectors WHERE bank_id = :bank AND 4 * vector_dims(vector) <> ?;

-- unit_terms --
-- A page of units with their text and stored terms.
SELECT u.seq, coalesce(t.speaker, ''), coalesce(u.text, t.text), u.context, u.terms
FROM units u LEFT JOIN turns t ON t.bank_id = :bank AND t.seq = u.turn
WHERE u.bank_id = :bank AND u.seq > :after ORDER BY u.seq LIMIT :page;

-- set_terms --
-- Nothing: terms are set where they are posted.
UPDATE units SET terms = ? WHERE bank_id = :bank AND seq = ? AND false;
