"""What replaces what."""
