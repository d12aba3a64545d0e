"""Facts: what is true from when to when, when it was learned, and how far it can still be trusted."""
