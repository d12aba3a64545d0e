"""`python -m everwhen` is the `everwhen` command."""

from everwhen.cli.app import main

main()
