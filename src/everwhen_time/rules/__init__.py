"""The rules: one module for each idea. Languages give them words and word orders."""
