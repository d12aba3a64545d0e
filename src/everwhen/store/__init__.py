"""Storage: protocols, one folder for each database, the search index made of its rows, files of this machine."""
