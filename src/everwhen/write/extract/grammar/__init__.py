"""Text to words with their grammar: prose without code and quotations, parsed, and the word lists that go with it."""
