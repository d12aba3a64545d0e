"""Doors to models: what turns text into vectors and counts its tokens."""
