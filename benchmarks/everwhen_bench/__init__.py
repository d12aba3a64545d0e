"""Measuring: retrieval on LoCoMo and LongMemEval, time expressions, speed; all can be scored again.

Beside the package, not in its wheel. Above: `everwhen bench` in a checkout, scripts, training. Below: all of everwhen.
"""
