"""Language models: questions, and answers of a given shape."""
