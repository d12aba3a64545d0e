"""The application: routes, errors, middleware, the OpenAPI document.

Used by: `everwhen server`, worker processes, tests. Uses: the routes and `ServerState`; the web UI, if it is installed.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from prometheus_client import CONTENT_TYPE_PLAIN_0_0_4
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from everwhen import __version__
from everwhen.errors import EverwhenError
from everwhen.serve import responses, special_routes
from everwhen.serve.middleware import AuthMiddleware, BodyLimitMiddleware, RequestLogMiddleware
from everwhen.serve.routes import operation_routes, problems, state_of
from everwhen.serve.server_settings import ServerSettings
from everwhen.serve.state import ServerState

health = APIRouter(tags=["health"])
"""For whoever keeps the server running: no key, and nothing private."""
ROUTERS = (
    health, special_routes.banks, operation_routes(special_routes.SPECIAL), special_routes.transfer,
    special_routes.maintenance,
)  # fmt: skip
PAGE = "everwhen.ui.app"
"""Module of the web UI, imported by name so that the server can be installed without the UI."""
SMALLEST_ZIPPED = 1000
"""Bytes from which an answer is compressed."""


@health.get("/healthz", response_model=dict[str, str])
async def healthz() -> Response:
    """The process lives."""
    return JSONResponse({"status": "ok"})


@health.get("/readyz", response_model=dict[str, str], responses=problems(503))
async def readyz(request: Request) -> Response:
    """The model is loaded, and requests are answered."""
    state = state_of(request)
    if not state.ready.is_set():
        return responses.answer(
            503, state.problem or "the server is starting", "Unavailable", {"Retry-After": "1"}
        )
    return JSONResponse({"status": "ready"})


@health.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """Counters, timings and queue depth, as Prometheus reads them."""
    return Response(state_of(request).metrics.text(), media_type=CONTENT_TYPE_PLAIN_0_0_4)


def create_app(serving: ServerSettings) -> FastAPI:
    """The server as an ASGI application. `app.state.server` is what it holds; a page is mounted at `/ui`."""
    state = ServerState(serving)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        async with AsyncExitStack() as stack:
            stack.push_async_callback(state.close)
            await state.open()
            await _mount_mcp(app, state, stack)
            _mount_page(app, state, stack)
            yield

    app = _routed(
        lifespan=lifespan,
        # A request passes these from top to bottom: it is logged even where it is refused, and its key is checked
        # before its body is read.
        middleware=[
            Middleware(RequestLogMiddleware, state=state),
            Middleware(GZipMiddleware, minimum_size=SMALLEST_ZIPPED, compresslevel=5),
            Middleware(AuthMiddleware, state=state),
            Middleware(BodyLimitMiddleware, state=state),
        ],
    )
    app.state.server = state
    app.add_exception_handler(EverwhenError, responses.handle_library_error)
    app.add_exception_handler(HTTPException, responses.handle_http_error)
    app.add_exception_handler(RequestValidationError, responses.handle_invalid_request)
    return app


def openapi_document() -> dict[str, Any]:
    """OpenAPI of all routes, without a server."""
    return _routed().openapi()


def _routed(**more: Any) -> FastAPI:
    app = FastAPI(
        title="everwhen",
        version=__version__,
        description="Memory that knows when: a temporal memory engine for AI agents.",
        docs_url=None,  # Swagger's page comes from a CDN; /openapi.json is enough for any client
        redoc_url=None,
        redirect_slashes=False,
        strict_content_type=False,  # `JsonRequest` has none
        generate_unique_id_function=lambda route: route.name.strip("_"),
        **more,
    )
    for router in ROUTERS:
        app.include_router(router)
    app.openapi = lambda: _completed_openapi(app)  # type: ignore[method-assign]
    return app


def from_environment() -> FastAPI:
    """For worker processes: the settings come from the process that started them."""
    from everwhen.serve.telemetry import to_standard_error

    serving = ServerSettings.from_environment()
    to_standard_error(serving.log_level)
    return create_app(serving)


async def _mount_mcp(app: FastAPI, state: ServerState, stack: AsyncExitStack) -> None:
    """MCP over streamable HTTP at `/mcp/{bank}`."""
    from everwhen.serve.mcp.http_app import mounted

    tools = await stack.enter_async_context(mounted(state))
    app.router.routes.append(Route("/mcp", endpoint=tools))
    app.mount("/mcp", tools)


def _mount_page(app: FastAPI, state: ServerState, stack: AsyncExitStack) -> None:
    """The web UI at `/ui`; where it cannot be had, an answer that says why."""
    missing = (
        "the page needs the extra `ui`: pip install 'everwhen[ui]'" if find_spec("nicegui") is None else ""
    )
    if state.serving.workers > 1:  # a page lives in one process, and its socket could reach another
        missing = "the page is served by one process alone; start the server without --workers to see it"
    if missing:
        app.mount("/ui", MissingUI(missing))
        return
    page = import_module(PAGE).UIApp(state)
    stack.push_async_callback(page.close)
    app.router.routes.append(Route("/ui", endpoint=RedirectResponse("/ui/")))
    app.mount("/ui", page)


class MissingUI:
    """Says why there is no page."""

    def __init__(self, sentence: str) -> None:
        self._sentence = sentence

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            answer = responses.answer(404, self._sentence, "NotFound")
            await answer(scope, receive, send)
        else:
            await send({"type": "websocket.close", "code": 1008})


def _completed_openapi(app: FastAPI) -> dict[str, Any]:
    """OpenAPI, with what FastAPI cannot know: how problems look, and that keys are asked for."""
    if app.openapi_schema:
        return app.openapi_schema
    made = FastAPI.openapi(app)
    parts = made.setdefault("components", {})
    parts.setdefault("schemas", {})["Problem"] = responses.SCHEMA
    parts["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    for path, methods in made["paths"].items():
        if path.startswith("/v1"):
            for method in methods.values():
                method["security"] = [{"key": []}]
                for one in method.get("parameters", ()):
                    one["schema"].pop("title", None)
    for name, schema in parts["schemas"].items():
        if name.endswith(
            "In"
        ):  # a model of a request's body: FastAPI's titles only repeat the names of its fields
            for one in schema["properties"].values():
                one.pop("title", None)
    return made
