"""What can be done with a memory, each thing said once: arguments, checks, help, result, scope, address, command."""
