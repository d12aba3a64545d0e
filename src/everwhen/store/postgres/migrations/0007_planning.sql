-- A bank's number says nothing of how large it is. With statistics of it the planner thinks that a bank which is new beside
-- a very large one is empty, and joins all of it with all of it; without them every bank counts as one of two hundred.
DO '
DECLARE one text;
BEGIN
    FOREACH one IN ARRAY regexp_split_to_array(btrim(''
        counters bank keeping tombstones turns unit_turns token_codes postings posting_totals accesses
        expired removals fact_keys fact_slots facts fact_confirmations fact_sources fact_conflicts
        fact_reports fact_predicates extractions pending claims derived events entities mentions
        past_mentions entity_names identity_changes entity_log moments links extraction_failures model_usage
        nodes past_nodes tree_marks units vectors terms
    '', E''\n ''), ''\s+'') LOOP
        EXECUTE format(''ALTER TABLE %I ALTER COLUMN bank_id SET STATISTICS 0'', one);
    END LOOP;
END';
