"""The bank in other people's agents: a LangGraph store, Anthropic's memory tool, and the documents behind both."""
