"""The memory as tools of the Model Context Protocol: over stdio (`everwhen server mcp`) and HTTP (`/mcp/{bank}`)."""
