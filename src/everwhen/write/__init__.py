"""The write path: messages become turns, turns become what can be searched."""
