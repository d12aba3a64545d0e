"""A memory that a server keeps: `Client` and its asynchronous twin, with the methods and types of `Memory`.

request     an operation as a request, and the shape of its answer
steps       the operations that travel in several requests, or in one of their own making
transport   sending a request, trying again, and reading the answer
client      `Client`, `AsyncClient`
"""

from everwhen.client.client import AsyncClient, Client

__all__ = ["AsyncClient", "Client"]
