"""Memory for coding agents: what `everwhen setup` writes into their settings, the hook that they run, and the process
that answers it."""
