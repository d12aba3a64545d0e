"""An answer in the memory's own words, no model: what was said, a date, a number, a yes or no, or an honest refusal.

answerer       one question, by whichever of these ways fits
time_answers   dates, lengths and order, computed by `when` and `compare`
turn_replies   what the recalled turns reply, as the reader reads them
reply          one of these replies
valid_replies  which of them hold, by what the facts say
count_answers  numbers that were said, sums, and things counted
phrases        the answer in words
fitted_weights what was fitted: how sure an answer is, when a reply replaces another
"""

from everwhen.answer.extractive.answerer import ask

__all__ = ["ask"]
