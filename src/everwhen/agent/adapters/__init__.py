"""The bank in other people's agents: a pydantic-ai toolset, a LangGraph store, Anthropic's memory tool."""
