"""Keeping what is to be kept, and nothing else: forgetting, retention, export, backup, repair."""
