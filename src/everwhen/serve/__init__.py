"""The server: HTTP under `/v1`, MCP under `/mcp`, metrics. A thin layer over `Memory`; needs the extra `serve`.

app           the application: middleware, routes, errors
state         what a running server holds
banks         banks that are open, the least recently used closed first
keys, auth    who may do what in which bank
routes/       the operations at their addresses, the few that do more, and what is no operation
mcp/          the same memory as tools of the Model Context Protocol
"""
