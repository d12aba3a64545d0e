"""The routes under `/v1`, one file for each area; the names and arguments are those of `Memory`."""
