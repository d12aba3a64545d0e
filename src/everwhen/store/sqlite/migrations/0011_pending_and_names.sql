-- The to-do list of extraction as a table of its own: asking what waits costs what waits, not the whole bank.
-- Triggers keep it equal to "turns without a row in extractions", whoever writes either table.

CREATE TABLE pending (
    turn    INTEGER PRIMARY KEY REFERENCES turns (seq) ON DELETE CASCADE,
    session TEXT NOT NULL,
    said_at TEXT NOT NULL
);
CREATE INDEX pending_by_session ON pending (session, said_at, turn);

CREATE TRIGGER turn_waits AFTER INSERT ON turns
WHEN NOT EXISTS (SELECT 1 FROM extractions WHERE turn = NEW.seq)
BEGIN
    INSERT OR REPLACE INTO pending (turn, session, said_at) VALUES (NEW.seq, NEW.session, NEW.said_at);
END;

CREATE TRIGGER turn_is_extracted AFTER INSERT ON extractions
BEGIN
    DELETE FROM pending WHERE turn = NEW.turn;
END;

CREATE TRIGGER turn_waits_again AFTER DELETE ON extractions
BEGIN
    INSERT OR REPLACE INTO pending (turn, session, said_at)
    SELECT seq, session, said_at FROM turns WHERE seq = OLD.turn;
END;

INSERT INTO pending (turn, session, said_at)
SELECT seq, session, said_at FROM turns t WHERE NOT EXISTS (SELECT 1 FROM extractions e WHERE e.turn = t.seq);

-- Grows whenever somebody gets another name: whoever holds all names in memory knows by it whether they are still all.
CREATE TABLE names_version (
    value INTEGER NOT NULL
);
INSERT INTO names_version (value) VALUES (1);

CREATE TRIGGER name_was_given AFTER INSERT ON entity_names
BEGIN
    UPDATE names_version SET value = value + 1;
END;

CREATE TRIGGER name_was_taken AFTER DELETE ON entity_names
BEGIN
    UPDATE names_version SET value = value + 1;
END;

CREATE TRIGGER identity_was_changed AFTER UPDATE OF name, type, merged_into ON entities
BEGIN
    UPDATE names_version SET value = value + 1;
END;

CREATE TRIGGER identity_was_removed AFTER DELETE ON entities
BEGIN
    UPDATE names_version SET value = value + 1;
END;
