"""The command line: an operation becomes a command, and a table says how each type of result is shown."""
