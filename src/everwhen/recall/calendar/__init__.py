"""Times in recall: evidence and its features, the answer to "when", timeline, comparison, dates beside words."""
