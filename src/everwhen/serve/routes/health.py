"""`/healthz`, `/readyz`, `/metrics`: for whoever keeps the server running. No key, and nothing private."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response
from starlette.responses import JSONResponse, PlainTextResponse

from everwhen.serve.problems import answer
from everwhen.serve.routing import problems, state_of

router = APIRouter(tags=["health"])


@router.get("/healthz", response_model=dict[str, str])
async def healthz() -> Response:
    """The process lives."""
    return JSONResponse({"status": "ok"})


@router.get("/readyz", response_model=dict[str, str], responses=problems(503))
async def readyz(request: Request) -> Response:
    """The model is loaded, and requests are answered."""
    state = state_of(request)
    if not state.ready.is_set():
        return answer(503, state.problem or "the server is starting", "Unavailable", {"Retry-After": "1"})
    return JSONResponse({"status": "ready"})


@router.get("/metrics", response_class=PlainTextResponse)
async def metrics(request: Request) -> Response:
    """Counters, timings and queue depth, as Prometheus reads them."""
    return Response(state_of(request).metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")
