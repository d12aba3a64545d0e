-- What a search needs beside what it compares, so that it reads no other table for what it does not find.

-- The session of a unit that was said, or told of in a turn; `halves` is twice its length in words, as in `postings`.
ALTER TABLE units ADD COLUMN session text COLLATE "C", ADD COLUMN halves bigint;
CREATE INDEX units_by_session ON units (bank_id, session, mentioned_at, seq)
    INCLUDE (recorded_at, kind, network) WHERE session IS NOT NULL;

-- What the filters of a search read, as the unit and its turn have it.
ALTER TABLE vectors
    ADD COLUMN mentioned_at timestamptz NOT NULL,
    ADD COLUMN recorded_at  timestamptz NOT NULL,
    ADD COLUMN kind         text COLLATE "C" NOT NULL,
    ADD COLUMN network      text COLLATE "C" NOT NULL,
    ADD COLUMN role         text COLLATE "C",
    ADD COLUMN speaker      text COLLATE "C";
CREATE INDEX vectors_by_time ON vectors (bank_id, mentioned_at);
CREATE INDEX vectors_by_speaker ON vectors (bank_id, speaker);
CREATE INDEX vectors_derived ON vectors (bank_id, kind) WHERE kind <> 'turn';

-- In how many units each term stands: in nodes of the tree, and in all others.
CREATE TABLE terms (
    bank_id bigint NOT NULL,
    term    bigint NOT NULL,
    units   integer NOT NULL,
    nodes   integer NOT NULL,
    PRIMARY KEY (bank_id, term)
) WITH (fillfactor = 80);
