"""The write path: messages become turns, turns become segments, and everything derived follows."""
