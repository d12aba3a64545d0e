"""Banks in PostgreSQL with pgvector: many banks in one database, each with its own rows in every table."""
