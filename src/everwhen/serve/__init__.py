"""The server: HTTP under `/v1`, MCP under `/mcp`, metrics. A thin layer over `Memory`; needs the extra `serve`."""
