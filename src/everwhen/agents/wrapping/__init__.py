"""A memory around somebody else's client: what is said is remembered, and what helps is recalled, at each call.

remembering   what is done around a call, whatever the client: recall before, remember after; never an error
wire          the requests and answers of OpenAI's and Anthropic's protocols: who said what, and where memories go
sdk           the clients of the packages `openai` and `anthropic`, synchronous and not
agent         agents of pydantic-ai
"""
