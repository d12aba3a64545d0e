"""The memory as tools of the Model Context Protocol: over stdio (`everwhen mcp`) and HTTP (`/mcp/{bank}` of a server).

tools      the tools and resources, whoever keeps the memory
arguments  the arguments of operations as a model writes them
results    how what was found is shown to a model
answer     answers that stay inside `max_tokens`
reach      where a tool finds the memory: here, or at a server on this machine
mounted    the same tools inside the HTTP server, each caller with its own key and bank
"""
