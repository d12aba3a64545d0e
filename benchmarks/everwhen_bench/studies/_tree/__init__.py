"""What the studies of the memory tree are made of: one module for each table."""
