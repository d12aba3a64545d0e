"""Events, entities, narratives and opinions by rules: a dependency parse and the time grammar, no LLM."""
