"""What one can do with a memory: the operations, and the classes that have them as methods."""
