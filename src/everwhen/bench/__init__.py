"""Measuring: retrieval on LoCoMo and LongMemEval, time expressions, speed; all can be scored again."""
