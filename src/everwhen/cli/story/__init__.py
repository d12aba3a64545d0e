"""The story of `everwhen demo`, with what is true in it."""
