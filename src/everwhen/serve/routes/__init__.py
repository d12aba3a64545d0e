"""The routes under `/v1`. `operations` makes them of the operations; the others have what no operation says."""
