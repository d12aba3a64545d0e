-- The statements that read and find the records of an export (`store/sql/records.py`). Tables and columns are filled in
-- from the description of the records; lists are JSON.

-- record_count --
SELECT count(*) FROM {table} WHERE {where};

-- record_bound --
-- The last key of the next page.
SELECT k FROM (SELECT {key} AS k FROM {table} WHERE {where} AND {since} ORDER BY k LIMIT :page) ORDER BY k DESC LIMIT 1;

-- record_rows --
SELECT {columns} FROM {table} WHERE {where} AND {since} AND {key} <= :until ORDER BY {order};

-- record_parts --
-- What belongs to the records of a page.
SELECT {columns} FROM {table} WHERE {parent} BETWEEN :first AND :last ORDER BY {order};

-- record_names --
SELECT {columns} FROM {table} WHERE seq IN (SELECT value FROM json_each(:numbers));

-- record_numbers --
SELECT {columns} FROM {table} WHERE {first} IN (SELECT value FROM json_each(:names));

-- last_turn_until --
SELECT id FROM turns WHERE seq <= ? ORDER BY seq DESC LIMIT 1;

-- all_tombstones --
SELECT digest, at FROM tombstones;
