"""Puts the API together: routers, problem documents, the principal of a request."""

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from werkbank.domain.errors import WerkbankError
from werkbank.domain.problems import UNEXPECTED, Problem, problem_of
from werkbank.observability import logger
from werkbank.rest import (
    confirmations,
    files,
    folders,
    knowledge,
    mandate,
    me,
    memories,
    preferences,
    runs,
    usage,
    workflows,
)
from werkbank.rest.services import Services

PROBLEM_TYPE = "application/problem+json"


def create_app(services: Services) -> FastAPI:
    """Return the API over these services."""
    app = FastAPI(
        title="Werkbank", version="1", openapi_url="/api/openapi.json", docs_url=None, redoc_url=None,
        description="Files, conversations, runs and knowledge of one user. Errors are RFC 9457 problem documents.",
    )  # fmt: skip
    app.state.services = services
    for module in (
        me, files, folders, workflows, runs, confirmations, knowledge, memories, preferences, usage, mandate,
    ):  # fmt: skip
        app.include_router(module.router, prefix="/api")
    app.add_exception_handler(WerkbankError, _on_our_error)
    app.add_exception_handler(RequestValidationError, _on_invalid_request)
    app.add_exception_handler(HTTPException, _on_http_error)
    app.add_exception_handler(Exception, _on_unexpected)
    return app


def _answer(problem: Problem) -> JSONResponse:
    return JSONResponse(problem.to_wire(), status_code=problem.status, media_type=PROBLEM_TYPE)


def _on_our_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, WerkbankError)
    return _answer(problem_of(error))


def _on_invalid_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    lines = [f"{'.'.join(str(part) for part in item['loc'][1:]) or 'body'}: {item['msg']}" for item in error.errors()]
    return _answer(Problem(title="The input is not valid", status=422, detail="; ".join(lines)))


def _on_http_error(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return _answer(Problem(title=str(error.detail), status=error.status_code, detail=str(error.detail)))


def _on_unexpected(request: Request, error: Exception) -> Response:
    logger.error("request failed", extra={"path": request.url.path, "error": type(error).__name__})
    return _answer(UNEXPECTED)
