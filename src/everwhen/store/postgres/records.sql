-- The statements that read, find and complete the records of an export (`store/sql/records.py`). Tables and columns are
-- filled in from the description of the records.

-- record_count --
SELECT count(*) FROM {table} WHERE bank_id = :bank AND {where};

-- record_bound --
-- The last key of the next page.
SELECT k FROM (
    SELECT {key} AS k FROM {table} WHERE bank_id = :bank AND {where} AND {since} ORDER BY k LIMIT :page
) AS page ORDER BY k DESC LIMIT 1;

-- record_rows --
SELECT {columns} FROM {table} WHERE bank_id = :bank AND {where} AND {since} AND {key} <= :until ORDER BY {order};

-- record_parts --
-- What belongs to the records of a page.
SELECT {columns} FROM {table} WHERE bank_id = :bank AND {parent} BETWEEN :first AND :last ORDER BY {order};

-- record_names --
SELECT {columns} FROM {table} WHERE bank_id = :bank AND seq = ANY (:numbers::bigint[]);

-- record_numbers --
SELECT {columns} FROM {table} WHERE bank_id = :bank AND {first} = ANY (:names);

-- last_turn_until --
SELECT id FROM turns WHERE bank_id = :bank AND seq <= ? ORDER BY seq DESC LIMIT 1;

-- complete_turns --
-- A turn waits to be read.
INSERT INTO pending (bank_id, turn, said_at, session)
SELECT :bank, seq, said_at, session FROM turns WHERE bank_id = :bank AND seq = ANY (:rows::bigint[]);

-- complete_extractions --
DELETE FROM pending WHERE bank_id = :bank AND turn = ANY (:rows::bigint[]);

-- complete_units --
UPDATE units u SET session = t.session FROM turns t
WHERE u.bank_id = :bank AND u.seq = ANY (:rows::bigint[]) AND t.bank_id = :bank AND t.seq = u.turn;

-- all_tombstones --
SELECT digest, at FROM tombstones WHERE bank_id = :bank;
