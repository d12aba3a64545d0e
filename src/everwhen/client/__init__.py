"""A memory that a server keeps: `Client` and its asynchronous twin, with the methods and types of `Memory`.

calls    each method as steps: what to send, what to make of the answer; no input or output
facts    the same for `client.facts`
wire     sending a step and reading the answer
front    `Client`, `AsyncClient`
"""

from everwhen.client.front import AsyncClient, Client

__all__ = ["AsyncClient", "Client"]
