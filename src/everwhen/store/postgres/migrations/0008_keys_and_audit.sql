-- The API keys of all servers over this database, as a server without one has them in a file: of a key only its digest.
-- `banks` is a JSON list of patterns.
CREATE TABLE keys (
    id         text COLLATE "C" PRIMARY KEY,
    name       text NOT NULL,
    scope      text NOT NULL,
    banks      text NOT NULL,
    digest     bytea NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    revoked_at text COLLATE "C"
);

-- What they wrote down of writes, deletes, exports and denied calls: a line of JSON each, without content. The oldest go
-- first.
CREATE TABLE audit (
    id   text COLLATE "C" PRIMARY KEY,
    at   timestamptz NOT NULL,
    line text NOT NULL
);
CREATE INDEX audit_by_age ON audit (at);
