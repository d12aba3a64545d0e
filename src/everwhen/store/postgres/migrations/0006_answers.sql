-- What servers have answered to idempotency keys, and what one of them is answering now: they share it, whichever a
-- balancer chooses. `asked` is a digest of who asked what with which key, `digest` one of the request's body. A claim
-- (`claim`, good until `until`) is of the server that does the write. This table is of servers, not of a bank: a bank
-- that a write makes has no number before it.
CREATE TABLE answers (
    asked  bytea PRIMARY KEY,
    bank   text COLLATE "C" NOT NULL,
    digest bytea NOT NULL,
    at     timestamptz NOT NULL,
    claim  text COLLATE "C",
    until  timestamptz,
    status integer,
    media  text,
    body   bytea
);
CREATE INDEX answers_by_age ON answers (at);
CREATE INDEX answers_by_bank ON answers (bank);
CREATE INDEX answers_by_claim ON answers (claim) WHERE claim IS NOT NULL;

-- The server processes that are there: each says so again before `until`. They share what a key may ask.
CREATE TABLE servers (
    name  text COLLATE "C" PRIMARY KEY,
    until timestamptz NOT NULL
);
