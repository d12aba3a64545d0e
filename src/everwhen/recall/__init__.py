"""The read path: question, candidates, features, fusion, budget; `pipeline.recall` composes them by a frozen recipe."""
