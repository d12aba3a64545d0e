"""Answers: from a question over one bank to words with citations, by a model with tools or, without one, by extraction.

bank        what the agent is given of a memory: reading, of one bank
extractive  an answer in the memory's own words, no model
loop        the model's: guidance, initial retrieval, tools, answer
"""
