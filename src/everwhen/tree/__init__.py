"""The Temporal Memory Tree: summaries of what was said, by exchange, session, day, week and month, and a profile on
top."""
