"""A memory that a server keeps: `Client` and its asynchronous twin, with the methods and types of `Memory`.

request     an operation as a request, or as several, and the shape of its answer
transport   sending a request, trying again, and reading the answer
client      `Client`, `AsyncClient`
"""

from everwhen.api.client.client import AsyncClient, Client

__all__ = ["AsyncClient", "Client"]
