"""Answers, not only evidence: questions of LoCoMo and LongMemEval answered by a language model over several
memories side by side, scored by words and by a judge.

questions   what is asked, and what is right
systems     what the model gets to read: recent turns, dense retrieval, everwhen, everwhen with a stage off
scores      token F1, ROUGE-L, exact: words against words
judge       whether an answer is right, by the rules of its kind of question
journal     every context, answer and judgement, as a JSONL file: a run goes on where it stopped
prompts     what the models are told
run         the phases, and the figures
"""
