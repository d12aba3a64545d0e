"""Studies: one file for each, after the tables of a paper; every row is asked of the same banks."""
