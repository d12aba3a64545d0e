"""An answer in the memory's own words, no model: what was said, a date, a number, a yes or no, or an honest refusal.

kinds       what kind of answer is asked for
timing      dates, lengths and order, computed by `when` and `compare`
reading     what the recalled turns reply, as the reader reads them
counting    numbers that were said, sums, and things counted
numbers     numbers as people say them
wording     the answer in words
"""

from everwhen.agent.extractive.answerer import ask

__all__ = ["ask"]
