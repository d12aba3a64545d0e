"""`python -m everwhen` is the `everwhen` command."""

from everwhen.cli import main

main()
