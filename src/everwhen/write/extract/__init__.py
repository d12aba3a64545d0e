"""From turns to structure: one protocol (`base`), and the extractors that keep it."""
