-- What somebody said who may not change what is known waits for a person's yes or no.
CREATE INDEX facts_proposed ON facts (bank_id, slot) WHERE superseded_at IS NULL AND act = 'propose';
