"""The memory as tools of the Model Context Protocol: over stdio (`everwhen server mcp`) and HTTP (`/mcp/{bank}`).

tools         the tools, whoever keeps the memory
resources     the profile, the newest part of the timeline, and questions that a user picks from a menu
arguments     the arguments of operations as a model writes them
strict_tool   a tool's schema, and its errors in the words of tools
results       how what was found is shown to a model, inside `max_tokens`
local_memory  where a tool finds the memory: here, or at a server on this machine
http_app      the same inside the HTTP server, each caller with its own key and bank
"""
