"""The seven pages, one module each."""
