-- The statements of a search: each is one question to one bank. Their lists and conditions depend on what is asked, and
-- are filled in from the fragments below. A unit passes a filter by its own columns, which its vectors have as well.

-- passes_snapshot --
-- What was written before the search began: a bank's numbers grow with its commits.
AND {row}.{unit} <= :last_visible_unit;

-- passes_start --
AND {row}.mentioned_at >= :start::timestamptz;

-- passes_end --
AND {row}.mentioned_at < :end::timestamptz;

-- passes_known --
AND {row}.recorded_at <= :known_at::timestamptz;

-- passes_kinds --
AND {row}.kind = ANY (:kinds::text[]);

-- passes_no_nodes --
AND {row}.kind <> 'node';

-- passes_networks --
AND {row}.network = ANY (:networks::text[]);

-- passes_units --
AND {row}.{unit} = ANY (:allowed::bigint[]);

-- passes_reach --
-- A node rests on all that it was made of: one that began too early does not pass.
AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.bank_id = :bank AND n.unit = {row}.{unit} AND n.first_at < :start::timestamptz);

-- said_by_speakers --
AND {row}.speaker = ANY (:speakers{place}::text[]);

-- said_by_role --
AND {row}.role = :role{place};

-- vector_index --
-- Whether the bank's vectors have an index (by its name), how much was derived, at most, and how many units there are.
SELECT EXISTS (SELECT 1 FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
               WHERE c.relnamespace = 'everwhen'::regnamespace AND c.relname = :name AND i.indisvalid),
       coalesce(sum(CASE name WHEN 'units' THEN last ELSE -last END), 0)::bigint,
       coalesce(sum(last) FILTER (WHERE name = 'units'), 0)::bigint
FROM counters WHERE bank_id = :bank AND name IN ('units', 'turns');

-- nearest --
-- The best of each list; it may name a unit more than once, by several of its pieces.
SELECT l.place, l.unit, l.cosine FROM ({lists}) l ORDER BY l.place, l.cosine DESC, l.mentioned_at, l.unit;

-- nearest_timed --
-- The same of units with a time, and their times.
SELECT l.place, l.unit, l.cosine, u.kind, u.mentioned_at, u.occurred_start, u.occurred_end, u.grain, f.valid_from, f.valid_to
FROM ({lists}) l
CROSS JOIN LATERAL (SELECT * FROM units u WHERE u.bank_id = :bank AND u.seq = l.unit LIMIT 1) u
LEFT JOIN LATERAL (
    SELECT f.valid_from, f.valid_to FROM facts f
    WHERE f.bank_id = :bank AND u.kind = 'fact' AND f.id = u.id AND f.standing = 'believed'
      AND f.recorded_at <= :believed_at AND (f.superseded_at IS NULL OR f.superseded_at > :believed_at) OFFSET 0
) f ON true
ORDER BY l.place, l.cosine DESC, l.mentioned_at, l.unit;

-- nearest_list --
(SELECT {place} AS place, n.unit, -n.apart AS cosine, n.mentioned_at FROM (
     SELECT v.unit, v.mentioned_at, v.vector <#> :vector AS apart FROM vectors v WHERE v.bank_id = :bank {among}
     ORDER BY apart, v.mentioned_at, v.unit LIMIT :limit{place}
 ) n);

-- nearest_lists_of_all_and_some --
-- List 0 of everybody, and list 1 of those who said it. Most of the second are among the nearest of all, so that each vector
-- is compared once; where too few are, the second is read by itself.
(WITH near AS MATERIALIZED (
     SELECT v.unit, v.mentioned_at, v.speaker, v.role, v.vector <#> :vector AS apart
     FROM vectors v WHERE v.bank_id = :bank {passes} ORDER BY apart, v.mentioned_at, v.unit LIMIT 4 * :limit0::bigint
 ),
 own AS MATERIALIZED (
     SELECT v.unit, v.mentioned_at, v.apart FROM near v WHERE true {among} ORDER BY v.apart, v.mentioned_at, v.unit LIMIT :limit1
 )
 (SELECT 0 AS place, n.unit, -n.apart AS cosine, n.mentioned_at FROM near n ORDER BY n.apart, n.mentioned_at, n.unit LIMIT :limit0)
 UNION ALL
 SELECT 1, n.unit, -n.apart, n.mentioned_at FROM own n WHERE (SELECT count(*) FROM own) = :limit1
 UNION ALL
 SELECT 1, n.unit, -n.apart, n.mentioned_at FROM (
     SELECT v.unit, v.mentioned_at, v.vector <#> :vector AS apart
     FROM vectors v WHERE v.bank_id = :bank {passes} {among} AND (SELECT count(*) FROM own) < :limit1
     ORDER BY apart, v.mentioned_at, v.unit LIMIT :limit1
 ) n);

-- nearest_list_of_index --
-- In the words of the index of a bank (`vector_index`); the bank's number stands in them, as it does there.
(SELECT {place} AS place, n.unit, -n.apart AS cosine, n.mentioned_at FROM (
     SELECT v.unit, v.mentioned_at, v.vector::halfvec({dimension}) <#> :vector::halfvec({dimension}) AS apart
     FROM vectors v WHERE v.bank_id = :bank AND v.bank_id = {number} {among}
     ORDER BY v.vector::halfvec({dimension}) <#> :vector::halfvec({dimension}) LIMIT :limit{place}
 ) n);

-- among_turns_of_window --
AND v.kind = 'turn' AND v.mentioned_at >= coalesce(:start{place}::timestamptz, '-infinity')
AND v.mentioned_at < coalesce(:end{place}::timestamptz, 'infinity');

-- among_derived --
AND v.kind <> 'turn' AND v.kind = ANY (:derived::text[]);

-- best_by_words --
-- BM25 over the postings of the question's terms: `score` in store/index.py has the formula. Numerator and denominator are
-- doubled here as well, since `halves` counts a word of the text twice and one of the context once. In a large bank a term
-- in very many units produces no candidates of its own; it only adds to the score of those that the other terms found. The
-- rarest term always produces some: if it is in very many units, the newest of them.
WITH whole AS MATERIALIZED (
    SELECT coalesce(sum(t.units), 0)::double precision AS units,
           greatest(coalesce(sum(t.halves), 0), 1)::double precision / 2 / greatest(sum(t.units), 1) AS mean_length
    FROM posting_totals t WHERE t.bank_id = :bank {totals}
),
question_terms AS MATERIALIZED (
    SELECT t.term, (:k1 + 1) * ln(1 + (b.units - t.document_frequency + 0.5) / (t.document_frequency + 0.5)) AS weight,
           2 * :k1 * (1 - :b) AS base, 2 * :k1 * :b / b.mean_length AS slope,
           sum(t.document_frequency) OVER so_far <= :many OR row_number() OVER so_far = 1 AS rare
    FROM whole b, (SELECT s.term, {document_frequency} AS document_frequency FROM terms s
                  WHERE s.bank_id = :bank AND s.term = ANY (:terms::bigint[])) t
    WINDOW so_far AS (ORDER BY t.document_frequency, t.term)
),
scored AS MATERIALIZED (
    SELECT p.unit, sum(a.weight * p.halves / (p.halves + a.base + a.slope * p.length)) AS score
    FROM question_terms a CROSS JOIN LATERAL (
        SELECT p.unit, p.halves, p.length FROM postings p WHERE p.bank_id = :bank AND p.term = a.term {postings}
        ORDER BY p.unit DESC LIMIT :many
    ) p
    WHERE a.rare GROUP BY p.unit ORDER BY score DESC
)
SELECT l.place, l.unit, l.score FROM ({lists}) l ORDER BY l.place, l.score DESC, l.mentioned_at, l.unit;

-- best_by_words_list --
(SELECT {place} AS place, s.unit, s.score + coalesce(more.score, 0) AS score, s.mentioned_at FROM (
     SELECT s.unit, s.score, v.mentioned_at FROM (SELECT * FROM scored ORDER BY score DESC OFFSET 0) s
     CROSS JOIN LATERAL (
         SELECT v.mentioned_at FROM vectors v
         WHERE v.bank_id = :bank AND v.unit = s.unit AND v.piece = 0 {passes} {among} LIMIT 1
     ) v
     ORDER BY s.score DESC, v.mentioned_at, s.unit LIMIT 4 * :limit
 ) s
 CROSS JOIN LATERAL (
     SELECT sum(a.weight * p.halves / (p.halves + a.base + a.slope * p.length)) AS score
     FROM question_terms a JOIN postings p ON p.bank_id = :bank AND p.term = a.term AND p.unit = s.unit WHERE NOT a.rare
 ) more
 ORDER BY 3 DESC, s.mentioned_at, s.unit LIMIT :limit);

-- links_and_units --
-- What leaves some units, what was made of what, and what is known of all that these name: three kinds of rows.
WITH stored AS MATERIALIZED (
    SELECT l.source, l.target, l.weight FROM unnest(:units::bigint[]) AS w (unit)
    CROSS JOIN LATERAL (
        SELECT * FROM links l WHERE l.bank_id = :bank AND l.source = w.unit AND l.type = ANY (:types::text[])
          AND l.weight >= :least OFFSET 0
    ) l
),
-- Those who share an identity, but for one that very many mention.
identities AS MATERIALIZED (
    SELECT DISTINCT m.unit, e.root FROM unnest(:units::bigint[]) AS w (unit)
    CROSS JOIN LATERAL (SELECT * FROM mentions m WHERE m.bank_id = :bank AND m.unit = w.unit OFFSET 0) m
    CROSS JOIN LATERAL (SELECT e.root FROM entities e WHERE e.bank_id = :bank AND e.seq = m.entity LIMIT 1) e
    WHERE :by_entity
),
named_by AS MATERIALIZED (
    SELECT i.root, array_agg(DISTINCT n.unit) AS units
    FROM (SELECT DISTINCT root FROM identities) i JOIN entities o ON o.bank_id = :bank AND o.root = i.root
    CROSS JOIN LATERAL (
        SELECT DISTINCT n.unit FROM mentions n WHERE n.bank_id = :bank AND n.entity = o.seq
        ORDER BY n.unit LIMIT :fan_out + 1
    ) n
    GROUP BY i.root HAVING count(DISTINCT n.unit) <= :fan_out
),
edges AS MATERIALIZED (
    SELECT source, target, weight FROM stored
    UNION ALL
    SELECT DISTINCT i.unit, t.unit, 1.0 FROM identities i JOIN named_by n USING (root)
    CROSS JOIN unnest(n.units) AS t (unit) WHERE t.unit <> i.unit
),
made AS MATERIALIZED ({provenance}),
named AS (
    SELECT unnest(:units::bigint[]) AS unit UNION SELECT target FROM edges
    UNION SELECT made.unit FROM made UNION SELECT made.turn FROM made
)
SELECT 0 AS what, source, target, weight, NULL AS kind FROM edges
UNION ALL SELECT 1, unit, turn, 0.0, NULL FROM made
UNION ALL SELECT 2, v.unit, 0, max({cosine}), v.kind
FROM named n CROSS JOIN LATERAL (SELECT * FROM vectors v WHERE v.bank_id = :bank AND v.unit = n.unit {passes} OFFSET 0) v
GROUP BY v.unit, v.kind;

-- provenance_of --
SELECT p.unit, t.seq AS turn FROM unnest(:units::bigint[]) AS w (unit)
CROSS JOIN LATERAL (SELECT * FROM unit_turns p WHERE p.bank_id = :bank AND p.unit = w.unit OFFSET 0) p
CROSS JOIN LATERAL (
    SELECT t.seq FROM units t WHERE t.bank_id = :bank AND t.turn = p.turn AND t.kind = 'turn' OFFSET 0
) t
WHERE t.seq <> p.unit
UNION
SELECT p.unit, t.seq FROM unnest(:units::bigint[]) AS w (unit)
CROSS JOIN LATERAL (
    SELECT * FROM units t WHERE t.bank_id = :bank AND t.seq = w.unit AND t.kind = 'turn' LIMIT 1
) t
CROSS JOIN LATERAL (SELECT * FROM unit_turns p WHERE p.bank_id = :bank AND p.turn = t.turn OFFSET 0) p
WHERE p.unit <> t.seq
  AND NOT EXISTS (SELECT 1 FROM nodes n WHERE n.bank_id = :bank AND n.unit = p.unit);

-- cosine_of --
-- Of a vector of length one.
-(v.vector <#> :vector);

-- no_cosine --
0.0;

-- own_units --
-- What passes of some units, with the one of them that stands before each in its session.
SELECT u.seq, u.session, u.mentioned_at, lag(u.mentioned_at) OVER told AS earlier_at, lag(u.seq) OVER told AS earlier
FROM unnest(:units::bigint[]) AS w (seq)
CROSS JOIN LATERAL (SELECT * FROM units u WHERE u.bank_id = :bank AND u.seq = w.seq {passes} LIMIT 1) u
WINDOW told AS (PARTITION BY u.session ORDER BY u.mentioned_at, u.seq);

-- units_beside --
-- A row for each of some units that pass, and for each turn right before or after one of them. Only the former, the
-- requested ones, have a place and the length of their session. {words} are the terms of a whole session, in its first row.
-- Lengths are doubled, as `halves` is: a word of the text counts twice, one of the context once.
WITH own AS MATERIALIZED (
    SELECT u.seq, u.session FROM unnest(:units::bigint[]) AS w (seq)
    CROSS JOIN LATERAL (SELECT * FROM units u WHERE u.bank_id = :bank AND u.seq = w.seq {passes} LIMIT 1) u
),
told AS MATERIALIZED (
    SELECT o.session, o.first, s.seqs, s.halves, s.words
    FROM (SELECT session, min(seq) AS first FROM own GROUP BY session) o
    CROSS JOIN LATERAL (
        SELECT array_agg(u.seq ORDER BY u.mentioned_at, u.seq) AS seqs, sum(u.halves)::bigint AS halves, {words} AS words
        FROM units u WHERE u.bank_id = :bank AND u.session = o.session {passes}
    ) s
),
placed AS MATERIALIZED (
    SELECT o.seq, s.place - 1 AS place, t.seqs[s.place - 1] AS before, t.seqs[s.place + 1] AS after, t.halves
    FROM own o LEFT JOIN told t ON t.session = o.session
    CROSS JOIN LATERAL (SELECT array_position(t.seqs, o.seq) AS place) s
),
wanted AS MATERIALIZED (
    SELECT p.seq, bool_or(p.own) AS own, max(p.place) AS place, max(p.before) AS before, max(p.after) AS after,
           max(p.halves) AS halves
    FROM (
        SELECT seq, true AS own, place, before, after, halves FROM placed
        UNION ALL SELECT before, false, NULL, NULL, NULL, NULL FROM placed
        UNION ALL SELECT after, false, NULL, NULL, NULL, NULL FROM placed
    ) p WHERE p.seq IS NOT NULL GROUP BY p.seq
)
SELECT u.seq, p.own AS requested, (extract(epoch FROM u.mentioned_at) * 1000000)::bigint AS at, u.session,
       coalesce(p.place, 0) AS place, p.before, p.after, t.speaker, t.role,
       coalesce(rtrim(t.text) LIKE '%?', false) AS is_question, u.halves AS doubled_length, u.terms,
       (SELECT max({cosine}) FROM vectors v WHERE v.bank_id = :bank AND v.unit = u.seq) AS cosine,
       p.halves AS doubled_session_length, right(t.text, :ending::integer) AS ending, s.words AS session_terms
FROM wanted p
CROSS JOIN LATERAL (SELECT * FROM units u WHERE u.bank_id = :bank AND u.seq = p.seq LIMIT 1) u
LEFT JOIN LATERAL (SELECT * FROM turns t WHERE t.bank_id = :bank AND t.seq = u.turn LIMIT 1) t ON true
LEFT JOIN told s ON s.first = p.seq
ORDER BY u.seq;

-- packed_words --
string_agg(u.terms, ''::bytea);

-- no_words --
NULL::bytea;

-- totals --
SELECT coalesce(sum(t.units), 0)::bigint, coalesce(sum(t.halves), 0)::bigint
FROM posting_totals t WHERE t.bank_id = :bank {totals};

-- document_frequency --
-- In how many units each of some terms occurs.
SELECT s.term, {document_frequency} FROM terms s WHERE s.bank_id = :bank AND s.term = ANY (:terms::bigint[]);

-- ever_said --
-- Those of the question's terms that stand anywhere in what passes. Term by term: of a bank that is new beside a very
-- large one the planner believes that it is empty, and would join all of it with all of it.
SELECT a.term FROM unnest(:question_terms::bigint[]) AS a (term)
CROSS JOIN LATERAL (
    SELECT 1 FROM postings p CROSS JOIN LATERAL (
        SELECT 1 FROM vectors v WHERE v.bank_id = :bank AND v.unit = p.unit AND v.piece = 0 {passes} {among} LIMIT 1
    ) v
    WHERE p.bank_id = :bank AND p.term = a.term LIMIT 1
) found;

-- units_around --
-- The units of the same session that stand at most so far from some that pass, in order.
WITH own AS MATERIALIZED ({own})
SELECT o.seq, b.seq FROM own o LEFT JOIN LATERAL ({around}) b ON true ORDER BY o.seq, b.mentioned_at, b.seq;

-- around_unit --
(SELECT u.seq, u.mentioned_at FROM units u WHERE u.bank_id = :bank AND u.session = o.session {passes}
   AND (u.mentioned_at, u.seq) < (o.mentioned_at, o.seq) ORDER BY u.mentioned_at DESC, u.seq DESC LIMIT :reach)
UNION ALL
(SELECT u.seq, u.mentioned_at FROM units u WHERE u.bank_id = :bank AND u.session = o.session {passes}
   AND (u.mentioned_at, u.seq) > (o.mentioned_at, o.seq) ORDER BY u.mentioned_at, u.seq LIMIT :reach);

-- around_units --
-- The same as a list of numbers, for `units`.
ARRAY(WITH own AS MATERIALIZED ({own}) SELECT b.seq FROM own o CROSS JOIN LATERAL ({around}) b);
