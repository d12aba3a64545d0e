-- What somebody said who may not change what is known waits for a person's yes or no.
CREATE INDEX facts_proposed ON facts (slot) WHERE superseded_at IS NULL AND act = 'propose';
