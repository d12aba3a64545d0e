"""Answers with and without a model: what a question sees of a bank, tools over it, the loop, and checked citations."""
