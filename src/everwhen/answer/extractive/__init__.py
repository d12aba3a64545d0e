"""An answer in the memory's own words, no model: what was said, a date, a number, a yes or no, or an honest refusal."""
