"""Importers of the files of other systems."""
