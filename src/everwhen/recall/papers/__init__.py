"""What the source documents describe and the default recall does not use: each loaded only where a recipe names it."""
