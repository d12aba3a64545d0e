"""An answer in the memory's own words, no model: a sentence, a date, a number, a yes or no, or an honest refusal.

kinds       what kind of answer is asked for
terms       what the question is about, by how rare its words are
evidence    the sentences that may answer
typed       the words of a sentence that are of the kind asked for
choosing    the best sentence
timing      dates, lengths and order, computed by `when` and `compare`
counting    numbers said, else events counted
deciding    yes or no
abstaining  whether there is an answer at all
wording     the answer in words
"""

from everwhen.agent.extractive.answering import ask

__all__ = ["ask"]
