"""Memory for coding agents: what `everwhen setup` writes, the hook that agents run, and the process that answers it."""
