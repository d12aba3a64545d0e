"""A memory around somebody else's client: what is said is remembered, and what helps is recalled, at each call."""
