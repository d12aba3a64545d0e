"""What the SQL databases have in common: the store of a bank over named statements."""
